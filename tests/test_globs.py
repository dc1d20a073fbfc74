"""Globs: which paths they match, and that none takes long."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth

from mkdocs_contentgen.globs import Glob, is_glob


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/in/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/in/deep/a.py", True),
        ("src/**/*.py", "src/in/deep/a.pyc", False),
        ("src/**", "src/in/a", True),
        ("src/**", "other/a", False),
        ("**/a", "a", True),
        ("**/**/b/*", "x/b/b/c", True),
        ("*.py", "src/a.py", False),
        ("[ab]?.py", "ax.py", True),
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "src/a.pyi", False),
        ("a\nb*", "a\nbc", True),
    ],
)
def test_matches(pattern: str, path: str, *, expected: bool) -> None:
    """`*` stands for any name, and `**` for any number of folders."""
    assert Glob(pattern).matches(path) is expected


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [("src/**/*.py", "src"), ("a/b?/c", "a"), ("*.py", ""), ("a/b.py", "a"), ("b.py", "")],
)
def test_the_folder(pattern: str, folder: str) -> None:
    """Only that folder has to be searched."""
    assert Glob(pattern).folder == folder
    assert is_glob(pattern) is not pattern.endswith("b.py")


@pytest.mark.parametrize(("piece", "name"), [("*a", "a"), ("**/", "a/"), ("**/*a/", "a/")])
def test_growth(piece: str, name: str) -> None:
    """A path of twice the length takes about twice as long, whatever the pattern is."""
    glob = Glob(piece * 12 + "b")
    assert growth(glob.matches, lambda size: name * size + "c", 4000) < LINEAR

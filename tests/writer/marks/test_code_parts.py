"""Code that no source has."""

from __future__ import annotations

import pytest
from golden_file import cases
from growth import LINEAR, growth

from mkdocs_contentgen.writer.marks.code_parts import find_code, find_unknown_parts, is_given

CASES = cases("code_parts")


@pytest.mark.parametrize(("code", "source"), CASES["code_of_a_source"])
def test_code_of_a_source(code: str, source: str) -> None:
    """Each part stands in the source, and what follows a command stands beside it."""
    assert is_given(code, source)


@pytest.mark.parametrize(("code", "source"), CASES["code_of_no_source"])
def test_code_of_no_source(code: str, source: str) -> None:
    """A part that only begins like one of the source, or stands elsewhere, is invented."""
    assert not is_given(code, source)


@pytest.mark.parametrize(("text", "code"), CASES["code_in_prose"])
def test_code_in_prose(text: str, code: str) -> None:
    """Flags, variables, functions, files and paths are code without being marked as such."""
    assert "|".join(part.of(text) for part in find_code(text, "")) == code


@pytest.mark.parametrize(("source", "found"), [("of 1.2.0", 0), ("of v1.2.0.", 0), ("v1.2.01", 1)])
def test_a_version_in_prose(source: str, found: int) -> None:
    """A source can have a version without its `v`."""
    assert len(find_code("Since v1.2.0, it works.", source)) == found


@pytest.mark.parametrize(("code", "parts"), CASES["blocks_of_code"])
def test_blocks_of_code(code: str, parts: str) -> None:
    """In a block, neither comments nor plain words are looked for, but for those of commands."""
    source = "uv sync --frozen, docker run image"
    found = find_unknown_parts(code, source)
    assert "|".join(part.of(code) for part in found) == parts


@pytest.mark.parametrize("piece", ["a.", "--a", "a_", "a/", "A_", "ab ", "$ a ", "# "])
def test_code_is_found_in_linear_time(piece: str) -> None:
    """No text takes long."""
    for find in (find_code, find_unknown_parts):
        assert growth(lambda text, find=find: find(text, ""), piece.__mul__, 4_000) < LINEAR  # type: ignore[misc]

"""A git repository that people commit to."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sandbox_site import Site, make_site

WITHOUT_UPKEEP = ("-c", "maintenance.auto=false", "-c", "init.templateDir=")
"""Repositories of tests are too small to be packed, and use no sample of a hook."""


def git(root: Path, *arguments: str, name: str = "Ada") -> str:
    """Run git as the person `name`, and return what it printed."""
    person = ["-c", f"user.name={name}", "-c", "user.email=x@example.org"]
    command = ["git", "-C", str(root), *person, *WITHOUT_UPKEEP, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def made_repository(root: Path) -> Iterator[Site]:
    """Make a site in a repository without settings of a person, for the tests of a module."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        site = make_site(root, monkeypatch)
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(root / "no-such-file"))
        git(root, "init", "-q", "-b", "main")
        yield site


def commit(root: Path, name: str = "Ada") -> None:
    """Commit everything but the cache in the name of a person."""
    git(root, "add", "-A", "--", ":!.cache")
    git(root, "commit", "-q", "--allow-empty", "-m", "x", name=name)


def propose(site: Site) -> None:
    """Propose the draft, commit the file, and lose the cache, as on another machine."""
    site.run("propose", "index.md")
    commit(site.root)
    shutil.rmtree(site.root / ".cache")


def edit_file(path: Path, old: str, new: str) -> None:
    """Change a file in an editor, at one place."""
    content = path.read_text("utf-8")
    assert content.count(old) == 1
    path.write_text(content.replace(old, new), "utf-8")

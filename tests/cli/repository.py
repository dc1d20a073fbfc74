"""A git repository that people commit to."""

from __future__ import annotations

import subprocess
from pathlib import Path

WITHOUT_UPKEEP = ("-c", "maintenance.auto=false", "-c", "init.templateDir=")
"""Repositories of tests are too small to be packed, and use no sample of a hook."""


def git(root: Path, *arguments: str, name: str = "Ada") -> str:
    """Run git as the person `name`, and return what it printed."""
    person = ["-c", f"user.name={name}", "-c", "user.email=x@example.org"]
    command = ["git", "-C", str(root), *person, *WITHOUT_UPKEEP, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(root: Path, name: str = "Ada") -> None:
    """Commit everything but the cache in the name of a person."""
    git(root, "add", "-A", "--", ":!.cache")
    git(root, "commit", "-q", "--allow-empty", "-m", "x", name=name)


def edit_file(path: Path, old: str, new: str) -> None:
    """Change a file in an editor, at one place."""
    content = path.read_text("utf-8")
    assert content.count(old) == 1
    path.write_text(content.replace(old, new), "utf-8")

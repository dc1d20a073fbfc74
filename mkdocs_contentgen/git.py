"""Ask git about files: who wrote their lines, and what they said in earlier commits.

Where there is no git, no repository or no commit, there is no answer, and no error.
"""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

_TIMEOUT = 60  # seconds: a repository on a network drive is slow, and nobody waits for ever

_UNCOMMITTED = "0" * 40
"""The commit that `git blame` gives lines that are not committed yet."""


def run_git(directory: Path, *arguments: str) -> str | None:
    """Return what git prints, run in a directory, or None if it fails or is not there."""
    printed = _run(directory, *arguments)
    return None if printed is None else printed.decode("utf-8", "replace")


def _run(directory: Path, *arguments: str) -> bytes | None:
    """Return the bytes that git prints, or None if it fails or is not there."""
    command = ["git", "-C", os.fspath(directory), "--no-pager", *arguments]
    try:
        ran = subprocess.run(  # noqa: S603
            command, capture_output=True, check=False, timeout=_TIMEOUT, stdin=subprocess.DEVNULL
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):  # ValueError: a NUL in an argument
        return None
    return ran.stdout if ran.returncode == 0 else None


def user_name(directory: Path = Path()) -> str:
    """Return the name of the person who works here, or an empty string."""
    return (run_git(directory, "config", "user.name") or "").strip()


def line_authors(path: Path) -> list[tuple[str, str]]:
    """Return each line of a file as it is now, and who wrote it; nothing if git cannot tell.

    Lines that are not committed yet are by the person who works here, or by nobody (an empty
    string) if git knows no name.
    """
    arguments = ("blame", "--line-porcelain", "--no-textconv", "--", path.name)
    printed = run_git(path.parent, *arguments) or ""
    found = []
    commit = ""
    author = ""
    is_first = True
    # For each line, git prints its commit, then fields such as `author`, then a tab and the line.
    for printed_line in printed.split("\n"):
        if printed_line.startswith("\t"):
            by = author
            if commit == _UNCOMMITTED:
                by = user_name(path.parent)
            found.append((printed_line[1:], by))
            is_first = True
        elif is_first:
            commit, _, _ = printed_line.partition(" ")
            is_first = False
        elif printed_line.startswith("author "):
            author = printed_line.removeprefix("author ")
    return found


def is_committed(path: Path) -> bool:
    """Tell whether the last commit has a file exactly as it is now."""
    if run_git(path.parent, "ls-files", "--error-unmatch", "--", path.name) is None:
        return False
    return run_git(path.parent, "diff", "--quiet", "HEAD", "--", path.name) is not None


def file_at(directory: Path, name: str, revision: str, limit: int) -> bytes | None:
    """Return the content of a file in a commit, or None if it was not there.

    `name` is the path of the file from the directory of the repository, or from `directory` if it
    begins with `./`. Raises OSError, before git reads the file, if it has more than `limit` bytes.
    """
    # A revision that begins as an option does is none.
    if revision.startswith("-"):
        return None
    size = run_git(directory, "cat-file", "-s", f"{revision}:{name}")
    if size is None:
        return None
    if int(size) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes")
    return _run(directory, "cat-file", "blob", f"{revision}:{name}")


def commits_of(path: Path, limit: int) -> list[str]:
    """Return the last commits that changed a file, the newest first."""
    printed = run_git(path.parent, "log", f"--max-count={limit}", "--format=%H", "--", path.name)
    return (printed or "").split()


def top_level(directory: Path) -> Path | None:
    """Return the directory of the repository that a directory is in, or None."""
    printed = run_git(directory, "rev-parse", "--show-toplevel")
    if not printed:
        return None
    return Path(printed.rstrip("\n"))


def common_commit(directory: Path, revision: str) -> str | None:
    """Return the last commit that a revision and the current one have in common.

    That is the commit of the revision itself if they have none in common, and None if the revision
    is no commit of the repository.
    """
    if revision.startswith("-"):
        return None
    commit = run_git(directory, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if commit is None:
        return None
    common = run_git(directory, "merge-base", commit.strip(), "HEAD")
    return (common or commit).strip()


def changed_files(directory: Path, commit: str) -> set[Path]:
    """Return the files of a repository that are not as they were in a commit, new ones included."""
    top = top_level(directory)
    if top is None:
        return set()
    changed = run_git(top, "diff", "--name-only", "--no-renames", "-z", commit, "--")
    new = run_git(top, "ls-files", "--others", "--exclude-standard", "-z")
    names = f"{changed or ''}{new or ''}".split("\0")
    return {top / name for name in names if name}

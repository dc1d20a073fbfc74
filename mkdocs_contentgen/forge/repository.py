"""Change the git repository of a job: branches, commits, pushes."""

from __future__ import annotations

from pathlib import Path

from .. import git
from ..display import escape_controls
from ..errors import ForgeError
from ..git import GitFailedError, Person
from ..review.vouching import JOBS_OF_GITHUB

_MAX_SAID = 300


def change_repository(
    directory: Path,
    *arguments: str,
    author: Person = JOBS_OF_GITHUB,
    committer: Person = JOBS_OF_GITHUB,
) -> str:
    """Run git in a directory, and return what it prints. Raises ForgeError with what it said."""
    try:
        return git.change_repository(directory, *arguments, author=author, committer=committer)
    except GitFailedError as error:
        reason = f"git {arguments[0]} {error}"
        if error.printed:
            lines = error.printed.strip().splitlines()
            reason += f": {escape_controls('; '.join(lines))[:_MAX_SAID]}"
        raise ForgeError(reason) from error

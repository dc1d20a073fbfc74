"""Change the git repository of a job: branches, commits, pushes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ..display import escape_controls
from ..errors import GitHubError

Person = tuple[str, str]
"""Name and address of an author or a committer."""

BOT: Person = (
    "github-actions[bot]",
    "41898282+github-actions[bot]@users.noreply.github.com",
)
"""The account that GitHub shows for jobs."""

_TIMEOUT = 300  # seconds, for a push over a slow network
_MAX_SAID = 300


def change_repository(
    directory: Path, *arguments: str, author: Person = BOT, committer: Person = BOT
) -> str:
    """Run git in a directory, and return what it prints. Raises GitHubError with what it said.

    The hooks of the repository do not run.
    """
    command = ["git", "-C", os.fspath(directory), "-c", f"core.hooksPath={os.devnull}", *arguments]
    people = {
        "GIT_AUTHOR_NAME": author[0],
        "GIT_AUTHOR_EMAIL": author[1],
        "GIT_COMMITTER_NAME": committer[0],
        "GIT_COMMITTER_EMAIL": committer[1],
    }
    try:
        ran = subprocess.run(  # noqa: S603
            command,
            capture_output=True,
            check=False,
            env={**os.environ, **people, "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise GitHubError(f"git {arguments[0]} cannot be run ({type(error).__name__})") from error
    if ran.returncode:
        lines = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        said = escape_controls("; ".join(lines))[:_MAX_SAID]
        raise GitHubError(f"git {arguments[0]} failed: {said}")
    return ran.stdout.decode("utf-8", "replace")

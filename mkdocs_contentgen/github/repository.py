"""Read and change the git repository of a job: what it has checked out, commits, pushes."""

from __future__ import annotations

import re
from pathlib import Path

from .. import git
from ..display import escape_controls
from ..errors import ConfigurationError, GitHubError
from ..git import GitFailedError, Person, repository_problem, run_git, top_level
from ..review.vouching import JOBS_OF_GITHUB
from .events import Change

_GITHUB = "noreply@github.com"
"""The address of the committer of what GitHub merges, squashes and rebases."""

_MAX_SAID = 800
_SECRET_IN_ADDRESS = re.compile(r"(?<=://)[^@/\s]+(?=@)")

_SAYS_NOTHING = ("hint:", "To ", "error: failed to push some refs")
"""How lines begin that git prints beside the reason."""

_MOVED = "stale info"
"""What git says of a lease that does not hold: the branch is not where it was."""


def change_repository(
    directory: Path,
    *arguments: str,
    author: Person = JOBS_OF_GITHUB,
    committer: Person = JOBS_OF_GITHUB,
) -> str:
    """Run git in a directory, and return what it prints. Raises GitHubError with what it said."""
    try:
        return git.change_repository(directory, *arguments, author=author, committer=committer)
    except GitFailedError as error:
        reason = f"git {arguments[0]} {error}"
        if error.printed:
            reason += f": {_what_git_said(error.printed)}"
        raise GitHubError(reason) from error


def _what_git_said(printed: str) -> str:
    """Return the reason for an error of git on one line, without a password."""
    lines = []
    for line in printed.splitlines():
        said = line.removeprefix("remote:").strip()
        if said and not line.startswith(_SAYS_NOTHING):
            lines.append(said)
    said = _SECRET_IN_ADDRESS.sub("***", "; ".join(lines))
    return escape_controls(said)[:_MAX_SAID]


def job_repository(directory: Path) -> Path:
    """Return the top folder of the repository of a job. Raises ConfigurationError without one."""
    problem = repository_problem(directory)
    top = top_level(directory)
    if problem or top is None:
        said = escape_controls(problem)
        raise ConfigurationError(said or "git does not name the folder of the repository")
    return top


def push_branch(directory: Path, branch: str, known: str) -> None:
    """Push the current commit to a branch that is still at the commit `known`, or is not there.

    `known` is empty for a branch that is not there. Raises GitHubError.
    """
    reference = f"refs/heads/{branch}"
    _push(directory, reference, known, f"HEAD:{reference}")


def restore_branch(directory: Path, branch: str, known: str, earlier: str) -> None:
    """Put a branch that is at the commit `known` back to an earlier one, or remove it.

    `earlier` is empty for a branch that was not there. Raises GitHubError.
    """
    reference = f"refs/heads/{branch}"
    _push(directory, reference, known, f"{earlier}:{reference}")


def _push(directory: Path, reference: str, known: str, what: str) -> None:
    lease = f"--force-with-lease={reference}:{known}"
    try:
        change_repository(directory, "push", "-q", lease, "origin", what)
    except GitHubError as error:
        if _MOVED not in str(error):
            raise
        branch = reference.removeprefix("refs/heads/")
        raise GitHubError(f"somebody has pushed to {branch} while this job ran") from error


def base_of(directory: Path, change: Change) -> str:
    """Return the commit that a change is to be compared with.

    For the merge commit that GitHub makes of a pull request, that is its first parent: the base in
    an event can be older. Raises ConfigurationError if the head of the change, or its base, is not
    checked out.
    """
    if not _is_ancestor(directory, change.head, "HEAD"):
        raise ConfigurationError(
            f"the commit {change.head[:12]} of the pull request is not checked out; run this job "
            "`on: pull_request`, since `pull_request_target` has another commit, and check the "
            "repository out with `fetch-depth: 0`"
        )
    # The commit itself, and then its parents.
    commits = (run_git(directory, "rev-list", "--parents", "--max-count=1", "HEAD") or "").split()
    is_merge_of_head = len(commits) == 3 and commits[2] == change.head
    if is_merge_of_head:
        return commits[1]
    return common_base(directory, change)


def common_base(directory: Path, change: Change) -> str:
    """Return the last commit that a change has in common with its base.

    Raises ConfigurationError if that is not known.
    """
    known = [change.base]
    if change.base_branch:
        known.append(f"refs/remotes/origin/{change.base_branch}")
    newest = ""
    for base in known:
        common = (run_git(directory, "merge-base", base, change.head) or "").strip()
        if common and (not newest or _is_ancestor(directory, newest, common)):
            newest = common
    if not newest:
        raise ConfigurationError(
            f"the commit {change.base[:12]} that the pull request is based on is not here; check "
            "the repository out with `fetch-depth: 0`"
        )
    return newest


def is_squashed(directory: Path, commit: str) -> bool:
    """Tell whether GitHub has made one commit of a pull request, which loses who committed what."""
    printed = run_git(directory, "show", "--no-patch", "--format=%ce %P", commit) or ""
    committer, *parents = printed.split() or [""]
    return committer == _GITHUB and len(parents) == 1


def _is_ancestor(directory: Path, earlier: str, later: str) -> bool:
    return run_git(directory, "merge-base", "--is-ancestor", earlier, later) is not None

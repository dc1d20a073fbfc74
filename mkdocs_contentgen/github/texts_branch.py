"""The branch that a job proposes texts on: where it begins, and what is on it.

What was paid for and what people have written is never lost: the branch is gone on with unless all
of it was merged, and each push says where the branch has to be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import GitHubError
from ..git import run_git
from .api import GitHub
from .events import PullRequest
from .repository import change_repository, job_repository, push_branch, restore_branch


@dataclass(frozen=True)
class Start:
    """Where a job begins that proposes texts."""

    branch: str
    base: str
    """The commit that the job was started for."""

    remote_commit: str
    """What the branch is at on GitHub, or an empty string if it is not there."""

    pull_request: PullRequest | None = None
    """The open pull request of the branch, or None."""

    rejected: PullRequest | None = None
    """The pull request with the texts of the branch that a person has closed, or None."""


def start_branch(directory: Path, github: GitHub, branch: str) -> Start:
    """Check out the branch of the texts, and return where it begins.

    What the branch has is gone on with and brought up to date: people may have changed texts there,
    and others are paid for. Only where all of it was merged, it begins anew at the current commit.
    The texts of a pull request that a person has closed stay, too, so that nobody pays for them
    again. Raises GitHubError.
    """
    job_repository(directory)
    pull_request = github.open_pull_request(branch)
    last = pull_request or github.last_pull_request(branch)
    reference = f"refs/heads/{branch}"
    listed = change_repository(directory, "ls-remote", "origin", reference)
    remote_commit = listed.partition("\t")[0].strip()
    base = change_repository(directory, "rev-parse", "HEAD").strip()
    start = Start(branch, base, remote_commit, pull_request)
    commit = remote_commit
    if remote_commit:
        change_repository(directory, "fetch", "-q", "origin", reference)
    elif last is not None and last.was_rejected:
        commit = _fetch_rejected(directory, last)
    if last is not None and last.was_rejected and not _has_texts_since(directory, last, commit):
        start = replace(start, rejected=last)
    is_merged = last is not None and last.merged_at is not None and last.head.sha == remote_commit
    if not commit or is_merged:
        change_repository(directory, "checkout", "-q", "-B", branch)
        return start
    change_repository(directory, "checkout", "-q", "-B", branch, commit)
    _merge(directory, base, start)
    return start


def _fetch_rejected(directory: Path, pull_request: PullRequest) -> str:
    """Fetch the commit of a closed pull request whose branch is gone, and return it."""
    try:
        change_repository(
            directory, "fetch", "-q", "origin", f"refs/pull/{pull_request.number}/head"
        )
    except GitHubError as error:
        raise GitHubError(
            f"{rejected_message(pull_request)}; its texts are gone, so that nobody can tell what "
            "has changed: reopen it, or name another --branch"
        ) from error
    return change_repository(directory, "rev-parse", "FETCH_HEAD").strip()


def _has_texts_since(directory: Path, closed: PullRequest, commit: str) -> bool:
    """Tell whether a branch has changes that its closed pull request does not have."""
    if run_git(directory, "cat-file", "-e", closed.head.sha) is None:
        return False
    return run_git(directory, "diff", "--quiet", closed.head.sha, commit) is None


def rejected_message(pull_request: PullRequest) -> str:
    """Return what a job says that asks for nothing, since a person has closed what it proposed."""
    name = pull_request.html_url or f"pull request {pull_request.number}"
    return (
        f"{name} was closed without a merge, and no request and no source has changed since, so "
        "nothing was asked for; reopen it, or change a request"
    )


def _merge(directory: Path, base: str, start: Start) -> None:
    """Bring the branch that is checked out up to date. Raises GitHubError for a conflict."""
    try:
        change_repository(directory, "merge", "-q", "--no-edit", base)
    except GitHubError as error:
        run_git(directory, "merge", "--abort")
        of_pull_request = ""
        if start.pull_request:
            of_pull_request = f" of {start.pull_request.html_url or 'the open pull request'}"
        raise GitHubError(
            f"the branch {start.branch}{of_pull_request} conflicts with the current one; merge "
            "them by hand, or delete the branch if nothing on it is needed"
        ) from error


def reserve_branch(directory: Path, start: Start) -> Start:
    """Push an empty commit to the branch, so that nothing is paid for that cannot be pushed.

    `git push --dry-run` does not ask the rules of a repository. Raises GitHubError.
    """
    change_repository(
        directory, "commit", "-q", "--allow-empty", "-m", "Check that texts can be pushed"
    )
    try:
        push_branch(directory, start.branch, start.remote_commit)
    except GitHubError as error:
        raise GitHubError(
            f"{error}; nothing was asked for, since no text could be pushed: the token needs "
            f"`contents: write`, and the rules of the repository have to let it push to "
            f"{start.branch}"
        ) from error
    commit = change_repository(directory, "rev-parse", "HEAD").strip()
    return replace(start, remote_commit=commit)


def give_back(directory: Path, start: Start, reserved: Start) -> list[str]:
    """Take back the empty commit that no text follows, and return what a person should know."""
    try:
        restore_branch(directory, start.branch, reserved.remote_commit, start.remote_commit)
    except GitHubError as error:
        return [f"the branch {start.branch} has an empty commit: {error}"]
    return []


def commit_texts(directory: Path, approved: Path) -> bool:
    """Commit the proposed files. Return whether there was anything to commit."""
    if not approved.exists():
        return False
    change_repository(directory, "add", "--", str(approved))
    # git ends with an error if there is a difference.
    is_unchanged = run_git(directory, "diff", "--cached", "--quiet") is not None
    if is_unchanged:
        return False
    change_repository(directory, "commit", "-q", "-m", "Propose generated texts")
    return True


def brings_texts(directory: Path, approved: Path, start: Start) -> bool:
    """Tell whether the branch has texts that the base does not have."""
    compared = run_git(directory, "diff", "--quiet", start.base, "HEAD", "--", str(approved))
    return compared is None

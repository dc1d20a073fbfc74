"""The branch that a job proposes texts on: where it begins, and what is on it.

What was paid for and what people have written is never lost: a job continues the branch unless all
of it was merged, and each push says at which commit the branch has to be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import ConfigurationError, GitHubError
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

    rejected_texts_are_gone: bool = False
    """Whether nobody can tell what has changed since it was closed."""

    @property
    def is_answered(self) -> bool:
        """Whether the texts of the branch have a pull request, or had one that was closed."""
        return self.pull_request is not None or self.rejected is not None


def start_branch(directory: Path, github: GitHub, branch: str, base_branch: str) -> Start:
    """Check out the branch of the texts, and return where it begins.

    `base_branch` is what the job runs for, and its pull request has to be for. Otherwise, the
    commits of one branch would get into the pull request for another one.

    A branch that is there is continued and brought up to date: people may have changed its texts,
    and they are paid for. The texts of a pull request that a person has closed stay for the same
    reason. Only where all of it was merged, the branch starts again at the current commit. Raises
    GitHubError, and ConfigurationError for a pull request that is for another branch.
    """
    job_repository(directory)
    pull_request = github.open_pull_request(branch)
    if pull_request is not None and pull_request.base.ref != base_branch:
        name = pull_request.html_url or "the open pull request"
        raise ConfigurationError(
            f"{name} is for {pull_request.base.ref}, and this job for {base_branch}; name another "
            "--branch for it"
        )
    last = pull_request or github.last_pull_request(branch)
    base = change_repository(directory, "rev-parse", "HEAD").strip()
    remote_commit = _fetch(directory, f"refs/heads/{branch}")
    start = Start(branch, base, remote_commit, pull_request)
    commit = remote_commit
    if last is not None and last.was_rejected:
        # GitHub keeps the commits of a pull request whose branch was deleted.
        commit = commit or _fetch(directory, f"refs/pull/{last.number}/head")
        if not _has_texts_since(directory, last, commit):
            start = replace(start, rejected=last, rejected_texts_are_gone=not commit)
    if not commit or _is_merged(last, remote_commit):
        change_repository(directory, "checkout", "-q", "-B", branch)
        return start
    change_repository(directory, "checkout", "-q", "-B", branch, commit)
    _merge(directory, base, start)
    return start


def _fetch(directory: Path, reference: str) -> str:
    """Fetch a branch of GitHub, and return its commit, or an empty string if it is not there."""
    listed = change_repository(directory, "ls-remote", "origin", reference)
    commit = listed.partition("\t")[0].strip()
    if commit:
        change_repository(directory, "fetch", "-q", "origin", reference)
    return commit


def _is_merged(last: PullRequest | None, commit: str) -> bool:
    """Tell whether the last pull request of a branch was merged with this commit as its head."""
    return last is not None and last.merged_at is not None and last.head.sha == commit


def _has_texts_since(directory: Path, closed: PullRequest, commit: str) -> bool:
    """Tell whether a branch is known to have changes that its closed pull request does not have."""
    if not commit or run_git(directory, "cat-file", "-e", closed.head.sha) is None:
        return False
    return run_git(directory, "diff", "--quiet", closed.head.sha, commit) is None


def rejected_message(start: Start) -> str:
    """Return what a job says that asks for nothing, since a person has closed what it proposed."""
    pull_request = start.rejected
    name = pull_request.html_url if pull_request else ""
    if start.rejected_texts_are_gone:
        why = "its texts are gone, so that nobody can tell what has changed"
        cure = "reopen it, or name another --branch"
    else:
        why = "no request and no source has changed since"
        cure = "reopen it, or change a request"
    return f"{name} was closed without a merge, and {why}; nothing was asked for; {cure}"


def rejected_again_message(pull_request: PullRequest) -> str:
    """Return what a job says that asked for a text, and got none that a person has not closed."""
    return (
        f"{pull_request.html_url} was closed without a merge, and no text has changed since; "
        "reopen it to have its texts reviewed"
    )


def _merge(directory: Path, base: str, start: Start) -> None:
    """Bring the branch that is checked out up to date. Raises GitHubError for a conflict."""
    if run_git(directory, "merge-base", base, "HEAD") is None:
        raise GitHubError(
            f"the branch {start.branch} has no commit in common with the current one here; check "
            "the repository out with `fetch-depth: 0`"
        )
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

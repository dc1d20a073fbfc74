"""Read what GitHub gives a job: the environment, and the event that has started it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from ..errors import ConfigurationError
from ..files import reason_of

LOGIN = r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}"
"""An account or an organization. Those of managed users have an underscore, as in `jo-doe_acme`."""

_REPOSITORY = re.compile(rf"{LOGIN}/[A-Za-z0-9._-]{{1,100}}")
_MAX_EVENT = 25 * 1024 * 1024
"""Bytes of an event, which is what GitHub sends at most."""

Commit = Annotated[str, Meta(pattern=r"^[0-9a-f]{40}\Z")]


class Repository(msgspec.Struct, frozen=True):
    """A repository in an event."""

    full_name: str


class Branch(msgspec.Struct, frozen=True):
    """One of the two branches of a pull request."""

    sha: Commit
    ref: str
    repo: Repository | None = None
    """None if the fork was deleted."""


class PullRequest(msgspec.Struct, frozen=True):
    """A pull request in an event or an answer."""

    number: int
    head: Branch
    base: Branch
    state: str = "open"
    html_url: str = ""
    merged_at: str | None = None
    """The time, or None for one that was not merged."""

    @property
    def was_rejected(self) -> bool:
        """Whether a person has closed it without merging it."""
        return self.state == "closed" and self.merged_at is None

    @property
    def is_from_fork(self) -> bool:
        """Whether its branch is in another repository, whose runs may only read."""
        if self.head.repo is None or self.base.repo is None:
            return True
        return self.head.repo.full_name != self.base.repo.full_name


class Reviewer(msgspec.Struct, frozen=True):
    """The account that has reviewed."""

    login: str
    type: str = "User"
    """`Bot` for an app."""


class PullRequestReview(msgspec.Struct, frozen=True):
    """A review in an event or an answer."""

    id: int
    state: str
    user: Reviewer | None = None
    """None if the account was deleted."""

    commit_id: Commit | None = None
    """What was reviewed, or None if that commit is gone."""


class MergeGroup(msgspec.Struct, frozen=True):
    """Pull requests in a merge queue, as one commit."""

    head_sha: Commit
    base_sha: Commit


class JobEvent(msgspec.Struct, frozen=True):
    """The event that has started a job, as far as it is about a pull request."""

    pull_request: PullRequest | None = None
    review: PullRequestReview | None = None
    merge_group: MergeGroup | None = None

    def change(self) -> Change:
        """Return what a check is about. Raises ConfigurationError for another event."""
        if self.pull_request is not None:
            return change_of(self.pull_request)
        if self.merge_group is not None:
            return Change(self.merge_group.head_sha, self.merge_group.base_sha)
        raise ConfigurationError(
            "the event that started this job has no pull request; run it `on: pull_request` or "
            "`on: merge_group`"
        )


@dataclass(frozen=True)
class Change:
    """The two commits that a pull request or a merge queue compares."""

    head: str
    base: str
    """It can be older than the commit that the change is based on."""

    base_branch: str = ""
    """The branch of the base, which may have moved on, or an empty string in a merge queue."""


def change_of(pull_request: PullRequest) -> Change:
    """Return the two commits of a pull request."""
    base = pull_request.base
    return Change(pull_request.head.sha, base.sha, base.ref)


@dataclass(frozen=True)
class GitHubJob:
    """What a job on GitHub knows."""

    repository: str
    """Owner and name."""

    api_url: str
    graphql_url: str
    server_url: str
    token: str = field(repr=False)
    event: JobEvent = field(default_factory=JobEvent)
    summary: Path | None = None
    """The file of the summary that GitHub shows for the job."""


def read_job(environment: Mapping[str, str]) -> GitHubJob:
    """Return what GitHub gives a job. Raises ConfigurationError outside of one."""
    repository = environment.get("GITHUB_REPOSITORY", "")
    if not _REPOSITORY.fullmatch(repository):
        raise ConfigurationError(
            "GITHUB_REPOSITORY is not set to OWNER/NAME; this command is for a job on GitHub, and "
            "`contentgen report` prints the same report anywhere"
        )
    token = environment.get("GITHUB_TOKEN", "").strip()  # a secret may end with a line break
    if not token:
        raise ConfigurationError(
            "GITHUB_TOKEN is not set; give the step `env: {GITHUB_TOKEN: ${{ github.token }}}`"
        )
    if not (token.isascii() and token.isprintable()):
        raise ConfigurationError("GITHUB_TOKEN has characters that no token has; copy it again")
    summary = environment.get("GITHUB_STEP_SUMMARY", "")
    api_url = environment.get("GITHUB_API_URL") or "https://api.github.com"
    return GitHubJob(
        repository,
        api_url,
        environment.get("GITHUB_GRAPHQL_URL") or f"{api_url.removesuffix('/v3')}/graphql",
        environment.get("GITHUB_SERVER_URL") or "https://github.com",
        token,
        _read_event(environment.get("GITHUB_EVENT_PATH", "")),
        Path(summary) if summary else None,
    )


def _read_event(name: str) -> JobEvent:
    """Return the event in a file, or an empty one without a file."""
    if not name:
        return JobEvent()
    path = Path(name)
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_EVENT + 1)
        if len(content) > _MAX_EVENT:
            raise ConfigurationError(f"GITHUB_EVENT_PATH: {name} is not an event of GitHub")
        return msgspec.json.decode(content, type=JobEvent)
    except OSError as error:
        raise ConfigurationError(f"GITHUB_EVENT_PATH: {reason_of(error)}") from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ConfigurationError(f"GITHUB_EVENT_PATH: {name} is not an event of GitHub") from error

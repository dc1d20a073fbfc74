"""What the event of a job decides: which two commits are compared."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mkdocs_contentgen.errors import ConfigurationError
from mkdocs_contentgen.github.events import Change, JobEvent, PullRequest, read_job

HEAD = "a" * 40
BASE = "b" * 40
PULL_REQUEST = {
    "number": 7,
    "head": {"sha": HEAD, "ref": "texts", "repo": None},
    "base": {"sha": BASE, "ref": "main", "repo": {"full_name": "octo/docs"}},
}


def event(**fields: object) -> JobEvent:
    """Return an event as it is read from its file."""
    return msgspec.json.decode(msgspec.json.encode(fields), type=JobEvent)


def test_a_pull_request() -> None:
    """Its head and base, and the branch that the base is of."""
    assert event(pull_request=PULL_REQUEST).change() == Change(HEAD, BASE, "main")


def test_a_merge_queue() -> None:
    """The queued commit and the one before it."""
    group = {"head_sha": HEAD, "base_sha": BASE, "head_ref": "x", "base_ref": "refs/heads/main"}
    assert event(merge_group=group).change() == Change(HEAD, BASE)


@pytest.mark.parametrize("fields", [{}, {"action": "push", "ref": "refs/heads/main"}])
def test_another_event(fields: dict[str, object]) -> None:
    """The message names the events that a check is for."""
    with pytest.raises(ConfigurationError, match="on: merge_group"):
        event(**fields).change()


def test_a_deleted_fork() -> None:
    """A repository that is gone is not this one."""
    assert event(pull_request=PULL_REQUEST).pull_request == msgspec.convert(
        PULL_REQUEST, PullRequest
    )
    assert msgspec.convert(PULL_REQUEST, PullRequest).is_from_fork


@pytest.mark.parametrize(
    ("fields", "was_rejected"),
    [
        ({"state": "open"}, False),
        ({"state": "closed", "merged_at": None}, True),
        ({"state": "closed", "merged_at": "2026-11-28T10:00:00Z"}, False),
    ],
)
def test_closed_and_merged(fields: dict[str, object], *, was_rejected: bool) -> None:
    """GitHub calls a merged pull request closed, too."""
    assert msgspec.convert({**PULL_REQUEST, **fields}, PullRequest).was_rejected is was_rejected


def test_a_review_of_nobody() -> None:
    """Its account and its commit can be null."""
    review = event(review={"id": 1, "state": "approved", "user": None, "commit_id": None}).review
    assert review is not None
    assert (review.user, review.commit_id) == (None, None)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"review": ' + b"[" * 200_000])
def test_a_file_that_is_no_event(tmp_path: Path, content: bytes) -> None:
    """It is an error with its name, whatever is in it."""
    file = tmp_path / "event.json"
    file.write_bytes(content)
    job = {"GITHUB_REPOSITORY": "octo/docs", "GITHUB_TOKEN": "x", "GITHUB_EVENT_PATH": str(file)}
    with pytest.raises(ConfigurationError, match="is not an event of GitHub"):
        read_job(job)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without an end")
def test_an_event_without_an_end() -> None:
    """No more of a file is read than GitHub sends."""
    job = {"GITHUB_REPOSITORY": "octo/docs", "GITHUB_TOKEN": "x", "GITHUB_EVENT_PATH": "/dev/zero"}
    with pytest.raises(ConfigurationError, match="is not an event of GitHub"):
        read_job(job)

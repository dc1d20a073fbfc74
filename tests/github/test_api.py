"""Requests to GitHub's API: how often one is sent, and how far a listing is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from github_double import REPOSITORY, TOKEN, Fault, GitHubDouble, github_double
from ports import free_port

from mkdocs_contentgen.errors import GitHubError
from mkdocs_contentgen.github.api import GitHub
from mkdocs_contentgen.github.events import Job


@pytest.fixture
def double() -> Iterator[GitHubDouble]:
    """Serve GitHub's API."""
    with github_double() as double:
        yield double


def api(url: str, waits: list[float]) -> GitHub:
    """Return the API at an address, which notes the seconds that it would wait."""
    return GitHub(Job(REPOSITORY, url, "https://github.example", TOKEN), sleep=waits.append)


@pytest.mark.parametrize(
    ("comments", "found", "requests"),
    [(0, 0, 1), (99, 99, 1), (100, 100, 2), (101, 101, 2), (2001, 2000, 20)],
)
def test_the_pages_of_a_listing(
    double: GitHubDouble, comments: int, found: int, requests: int
) -> None:
    """A page that is not full is the last one, and no more than 20 are read."""
    for _ in range(comments):
        double.add_comment("Nice")
    with api(double.url, []) as github:
        assert len(list(github.comments(7))) == found
    assert len(double.received) == requests


@pytest.mark.parametrize(("faults", "waits"), [(3, [2, 4, 8]), (4, [2, 4, 8])])
def test_how_often_a_request_is_sent(double: GitHubDouble, faults: int, waits: list[float]) -> None:
    """A request that does no harm is sent four times at most, each time after a longer pause."""
    double.faults += [Fault("GET", "comments", 502) for _ in range(faults)]
    waited: list[float] = []
    with api(double.url, waited) as github:
        if faults < 4:
            assert list(github.comments(7)) == []
        else:
            with pytest.raises(GitHubError, match="GitHub answered 502"):
                list(github.comments(7))
    assert len(double.received) == 4
    assert waited == waits


def test_a_comment_is_sent_once(double: GitHubDouble) -> None:
    """What may have been processed is not sent again."""
    double.faults.append(Fault("POST", "comments", 502))
    waited: list[float] = []
    with api(double.url, waited) as github, pytest.raises(GitHubError):
        github.write_comment(7, "Nice")
    assert (len(double.received), waited) == (1, [])


def test_github_cannot_be_reached() -> None:
    """A connection is tried as often, but for what may not be sent twice."""
    url = f"http://127.0.0.1:{free_port()}"
    waited: list[float] = []
    with api(url, waited) as github:
        with pytest.raises(GitHubError, match="GitHub cannot be reached"):
            list(github.comments(7))
        assert waited == [2, 4, 8]
        with pytest.raises(GitHubError, match="GitHub cannot be reached"):
            github.write_comment(7, "Nice")
    assert waited == [2, 4, 8]

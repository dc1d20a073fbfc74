"""Requests to GitHub's API: whose token it is, pages, faults, and limits that are waited for."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx
import pytest
from github_double import BOT, REPOSITORY, TOKEN, Fault, GitHubDouble
from ports import free_port

from mkdocs_contentgen.errors import ConfigurationError, GitHubError
from mkdocs_contentgen.github.api import GitHub, Waiting, time_until_free
from mkdocs_contentgen.github.events import GitHubJob, read_job

SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes."


@dataclass
class Time:
    """A time that passes only while somebody sleeps."""

    seconds: float = 1_000.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.seconds += seconds

    def now(self) -> float:
        """Return the seconds since 1970."""
        return self.seconds


def connect(github: GitHubDouble, time: Time, longest: float = 600.0) -> GitHub:
    """Return the API for a job that waits in this time."""
    job = GitHubJob(
        REPOSITORY, github.url, f"{github.url}/graphql", "https://github.example", TOKEN
    )
    return GitHub(job, Waiting(time.sleep, time.now, longest))


@pytest.mark.parametrize(
    ("status", "headers", "text", "wait"),
    [
        (403, {"retry-after": "7"}, SECONDARY, 7),
        (429, {"retry-after": "7", "x-ratelimit-reset": "5000"}, "", 7),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1090"}, "", 91),
        (429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "900"}, "", 1),
        (429, {"retry-after": "0"}, "", 0),
        (429, {"retry-after": "0 s"}, "", 0),
        (403, {}, SECONDARY, 240),
        (429, {}, "", 240),
        (429, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 240),
        (403, {"x-ratelimit-remaining": "12", "x-ratelimit-reset": "1090"}, "Forbidden", None),
        (403, {}, "Resource not accessible by integration", None),
        (200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1090"}, SECONDARY, 91),
        (403, {"retry-after": "1m30s"}, "", 90),
        (429, {"retry-after": "9" * 9}, "", 366 * 24 * 3600),
        (429, {"retry-after": "9" * 400}, "", 240),
        (429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 400}, "", 366 * 24 * 3600),
        (422, {"retry-after": "7"}, "", None),
        (500, {"retry-after": "7"}, "", None),
    ],
)
def test_how_long_a_limit_takes(
    status: int, headers: dict[str, str], text: str, wait: float | None
) -> None:
    """A named time counts, then the end of the hour, then minutes that double; 403 alone does not.

    The time is 1000, and the request has met two limits before.
    """
    assert time_until_free(status, httpx.Headers(headers), text, 1000, 2) == wait


def test_limits_are_waited_for(github: GitHubDouble) -> None:
    """The request is sent again after the time that GitHub names, also one that writes."""
    time = Time()
    reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1063"}
    github.faults = [
        Fault("POST", "comments", 403, "API rate limit exceeded", reset),
        Fault("POST", "comments", 403, SECONDARY, {"Retry-After": "30"}),
        Fault("POST", "comments", 429, SECONDARY),
    ]
    with connect(github, time) as api:
        api.write_comment(7, "x")
    assert time.slept == [64, 30, 240]
    assert [comment["body"] for comment in github.comments] == ["x"]


def test_limits_that_take_longer_than_a_job_waits(github: GitHubDouble) -> None:
    """The time of all limits together counts, and the message says how long it would take."""
    time = Time()
    github.faults = [
        Fault("GET", "comments", 429, SECONDARY, {"Retry-After": "100"}),
        Fault("GET", "comments", 429, SECONDARY, {"Retry-After": "100"}),
    ]
    with (
        connect(github, time, longest=150) as api,
        pytest.raises(GitHubError, match="passes in 2 minutes; wait longer with --max-wait"),
    ):
        list(api.comments(7))
    assert time.slept == [100]


@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        ({}, "GitHub does not say when its limit passes"),
        ({"Retry-After": "9" * 9}, "its limit passes in 527040 minutes"),
    ],
)
def test_limits_that_name_no_time(
    github: GitHubDouble, headers: dict[str, str], passes: str
) -> None:
    """The message does not pass our own guess off as what GitHub has said."""
    github.faults.append(Fault("GET", "comments", 429, SECONDARY, headers))
    with connect(github, Time(), longest=5) as api, pytest.raises(GitHubError, match=passes):
        list(api.comments(7))


LIMIT_OF_GRAPHQL = b'{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}'


def test_a_limit_of_graphql(github: GitHubDouble) -> None:
    """It comes with status 200, and is waited for as others are."""
    time = Time()
    github.faults.append(
        Fault("POST", "graphql", 200, headers={"Retry-After": "30"}, content=LIMIT_OF_GRAPHQL)
    )
    with connect(github, time) as api:
        assert api.own_login() == BOT
    assert time.slept == [30]


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, b"<html>"),
        (200, b""),
        (200, b"[" * 200_000),
        (200, b'[{"id": 1, "x": ' + b"[" * 200_000),
        (200, b'[{"id": 1, "body": "\\ud800"}]'),
        (404, b"[" * 200_000),
        (502, b"<html>"),
    ],
)
def test_answers_that_are_not_of_the_api(github: GitHubDouble, status: int, content: bytes) -> None:
    """Pages of a proxy, and what no parser reads, are errors."""
    github.faults = [Fault("GET", "comments", status, content=content)] * 4
    with connect(github, Time()) as api, pytest.raises(GitHubError, match="GitHub answered"):
        list(api.comments(7))


@pytest.mark.parametrize("viewer", ["null", '{"viewer": {"login": ""}}', '{"viewer": null}'])
def test_a_token_of_nobody(github: GitHubDouble, viewer: str) -> None:
    """An account without a login would own the comments of deleted accounts."""
    content = f'{{"data": {viewer}}}'.encode()
    github.faults.append(Fault("POST", "graphql", 200, content=content))
    with connect(github, Time()) as api, pytest.raises(GitHubError):
        api.own_login()


@pytest.mark.parametrize("parameters", [None, [1], {"dismiss_stale_reviews_on_push": "x"}])
def test_rules_that_nobody_knows(github: GitHubDouble, parameters: object) -> None:
    """They are an error of GitHub's."""
    github.rules = [{"type": "pull_request", "parameters": parameters}]
    with connect(github, Time()) as api, pytest.raises(GitHubError):
        api.dismisses_approvals("main")


def test_a_limit_that_never_ends(github: GitHubDouble) -> None:
    """A server that names no seconds is not asked for ever."""
    limit = Fault("GET", "comments", 429, SECONDARY, {"Retry-After": "0"})
    github.faults = [limit] * 50
    with connect(github, Time()) as api, pytest.raises(GitHubError, match="answered 429"):
        list(api.comments(7))
    assert len(github.received) < 20


def test_faults_of_the_server(github: GitHubDouble) -> None:
    """What does no harm is sent again, four times at most."""
    time = Time()
    github.faults = [Fault("GET", "comments", 502)] * 3
    with connect(github, time) as api:
        assert list(api.comments(7)) == []
        github.faults = [Fault("GET", "comments", 502)] * 4
        with pytest.raises(GitHubError, match="answered 502"):
            list(api.comments(7))
    assert time.slept == [2, 4, 8, 2, 4, 8]


def test_a_comment_is_sent_once(github: GitHubDouble) -> None:
    """What may have been processed is not sent again."""
    time = Time()
    github.faults.append(Fault("POST", "comments", 502))
    with connect(github, time) as api, pytest.raises(GitHubError):
        api.write_comment(7, "Nice")
    assert (len(github.received), time.slept) == (1, [])


def test_github_cannot_be_reached() -> None:
    """A connection is tried as often, but for what may not be sent twice."""
    time = Time()
    url = f"http://127.0.0.1:{free_port()}"
    with connect(GitHubDouble(url), time) as api:
        with pytest.raises(GitHubError, match="GitHub cannot be reached"):
            list(api.comments(7))
        assert time.slept == [2, 4, 8]
        with pytest.raises(GitHubError, match="GitHub cannot be reached"):
            api.write_comment(7, "Nice")
    assert time.slept == [2, 4, 8]


def test_all_pages(github: GitHubDouble) -> None:
    """A list is read to its end, though a page has fewer items than it was asked for."""
    for number in range(95):
        github.add_comment(str(number))
    with connect(github, Time()) as api:
        assert [comment.body for comment in api.comments(7)] == [str(n) for n in range(95)]
    assert len(github.received) == 4


@pytest.mark.parametrize("kind", ["job", "app", "person"])
def test_whose_token_it_is(github: GitHubDouble, kind: str) -> None:
    """GraphQL says so for each, and is asked once; `GET /user` is for persons alone."""
    github.kind = kind  # type: ignore[assignment]
    github.login = "docs-app[bot]"
    with connect(github, Time()) as api:
        assert api.own_login() == "docs-app[bot]"
        assert api.own_login() == "docs-app[bot]"
    assert github.received == [("POST", "/graphql")]


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, "https://api.github.com/graphql"),
        ({"GITHUB_API_URL": "https://ghe.example/api/v3"}, "https://ghe.example/api/graphql"),
        ({"GITHUB_GRAPHQL_URL": "https://g.example/q"}, "https://g.example/q"),
    ],
)
def test_where_graphql_is(variables: dict[str, str], address: str) -> None:
    """A job on a server of one's own has another address."""
    job = read_job({"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_TOKEN": TOKEN, **variables})
    assert job.graphql_url == address
    assert TOKEN not in repr(job)


def test_a_secret_with_a_line_break() -> None:
    """A token that was pasted with one is the token without it."""
    assert read_job({"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_TOKEN": f"{TOKEN}\n"}).token == TOKEN


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"GITHUB_TOKEN": "gh\xe4"}, "GITHUB_TOKEN"),
        ({"GITHUB_TOKEN": "a\x00b"}, "GITHUB_TOKEN"),
        ({"GITHUB_API_URL": "https://["}, "GITHUB_API_URL"),
        ({"GITHUB_GRAPHQL_URL": "http://ghe.example"}, "GITHUB_GRAPHQL_URL"),
    ],
)
def test_variables_that_cannot_be_used(variables: dict[str, str], named: str) -> None:
    """The error names the variable, and not the token."""
    job = {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_TOKEN": TOKEN, **variables}
    with pytest.raises(ConfigurationError, match=named) as caught:
        GitHub(read_job(job))
    assert job["GITHUB_TOKEN"] not in str(caught.value)

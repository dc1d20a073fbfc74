"""Send requests to GitHub's REST API.

What surely was not processed is sent again, after the time that GitHub names. What may have been
processed is sent again only if that does no harm, so that no comment is there twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote, urlsplit

import httpx
import msgspec

from ..display import counted, escape_controls
from ..errors import ConfigurationError, GitHubError
from ..service.waits import read_retry_after
from .events import GitHubJob, PullRequest, PullRequestReview

_TRIES = 4
_TIMEOUT = 30.0
_UNNAMED_WAIT = 60.0
"""Seconds that GitHub asks for, at least, after a limit that names no time. Each try doubles it."""

_LONGEST_LIMIT = 366 * 24 * 3600.0
"""Seconds. A limit that names a longer time is not a limit of GitHub, and is cut to this."""

_MOST_LIMITS = 10
"""How often a request waits for a limit."""

_PER_PAGE = 100
_SHORTEST_PAGE = 30
"""Items of a page that has another one after it, whatever was asked for."""

_MAX_PAGES = 100
_MAX_MESSAGE = 200
_HARMLESS = frozenset({"GET", "PATCH", "PUT", "DELETE"})
"""Methods of requests that have the same effect when they are sent twice."""

_LIMIT_STATUS = 429
_STATUSES_OF_LIMITS = (200, 403, _LIMIT_STATUS)
"""The first one is that of GraphQL."""

_LIMIT = "rate limit"
"""What GitHub's messages about limits contain, in lower case."""

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})

_WHO_AM_I = "query { viewer { login } }"
"""The token of an app or of a job may ask this, and is refused by `GET /user`."""

_MAY_NOT_OPEN = "not permitted to create or approve pull requests"
"""What GitHub says where the settings of a repository forbid pull requests of jobs."""

_T = TypeVar("_T")


class Account(msgspec.Struct, frozen=True):
    """An account of GitHub."""

    login: str = ""
    """Empty for the author of a commit whose address belongs to no account."""

    name: str | None = None
    id: int = 0


class Comment(msgspec.Struct, frozen=True):
    """A comment on a pull request."""

    id: int
    user: Account | None = None
    body: str | None = None


class _Permission(msgspec.Struct, frozen=True):
    permission: str


class _Commit(msgspec.Struct, frozen=True):
    sha: str
    author: Account | None = None


class _Viewer(msgspec.Struct, frozen=True):
    viewer: Account


class _GraphQL(msgspec.Struct, frozen=True):
    data: _Viewer | None = None


class _RuleParameters(msgspec.Struct, frozen=True):
    dismiss_stale_reviews_on_push: bool = False
    require_last_push_approval: bool = False


class _Refusal(msgspec.Struct, frozen=True):
    message: str = ""


class _Rule(msgspec.Struct, frozen=True):
    type: str
    parameters: msgspec.Raw = msgspec.Raw(b"{}")
    """Rules of each type have others."""


@dataclass(frozen=True)
class Waiting:
    """How a job waits until a limit of GitHub has passed."""

    sleep: Callable[[float], None] = time.sleep
    """Waits for a number of seconds."""

    now: Callable[[], float] = time.time
    """Returns the seconds since 1970, which is how GitHub gives the end of a limit."""

    longest: float = 600.0
    """Seconds that a job waits altogether; it pays for each minute."""


class GitHub:
    """The API of a repository, for one job."""

    def __init__(self, job: GitHubJob, waiting: Waiting | None = None) -> None:
        """Raise ConfigurationError for an address that must not get the token."""
        _check_address("GITHUB_API_URL", job.api_url)
        _check_address("GITHUB_GRAPHQL_URL", job.graphql_url)
        self._waiting = waiting or Waiting()
        self._waits_until = self._waiting.now() + self._waiting.longest
        self._graphql = job.graphql_url
        self._login = ""
        self._repository = f"/repos/{job.repository}"
        self._owner = job.repository.partition("/")[0]
        self._client = httpx.Client(
            base_url=job.api_url,
            headers={
                "Authorization": f"Bearer {job.token}",
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
                "User-Agent": "mkdocs-contentgen",
            },
            timeout=_TIMEOUT,
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.close()

    def own_login(self) -> str:
        """Return the login that comments are written with, such as `docs-app[bot]`."""
        if not self._login:
            answer = self._send("POST", self._graphql, {"query": _WHO_AM_I}, is_harmless=True)
            found = _decode(answer.content, _GraphQL).data
            if found is None or not found.viewer.login:
                raise GitHubError("GitHub does not say whose token this is; give the job another")
            self._login = found.viewer.login
        return self._login

    def comments(self, number: int) -> Iterator[Comment]:
        """Yield the comments on a pull request, the oldest first."""
        return self._pages(f"{self._repository}/issues/{number}/comments", Comment)

    def write_comment(self, number: int, body: str) -> Comment:
        """Write a comment on a pull request, and return it."""
        path = f"{self._repository}/issues/{number}/comments"
        return _decode(self._send("POST", path, {"body": body}).content, Comment)

    def change_comment(self, comment: int, body: str) -> None:
        """Replace the text of a comment."""
        self._send("PATCH", f"{self._repository}/issues/comments/{comment}", {"body": body})

    def delete_comment(self, comment: int) -> None:
        """Delete a comment, if it is there."""
        try:
            self._send("DELETE", f"{self._repository}/issues/comments/{comment}")
        except GitHubError as error:
            if error.status != 404:
                raise

    def open_pull_request(self, branch: str) -> PullRequest | None:
        """Return the open pull request of a branch of this repository, or None."""
        return self._newest_pull_request(branch, "open")

    def last_pull_request(self, branch: str) -> PullRequest | None:
        """Return the newest pull request of a branch, also a closed one, or None."""
        return self._newest_pull_request(branch, "all")

    def _newest_pull_request(self, branch: str, state: str) -> PullRequest | None:
        head = quote(f"{self._owner}:{branch}", safe="")
        fields = f"state={state}&head={head}&sort=created&direction=desc&per_page=1"
        found = self._get(f"{self._repository}/pulls?{fields}", list[PullRequest])
        return found[0] if found else None

    def create_pull_request(self, branch: str, base: str, title: str, body: str) -> PullRequest:
        """Open a pull request of a branch, or return the one that is open already."""
        fields = {"title": title, "head": branch, "base": base, "body": body}
        try:
            answer = self._send("POST", f"{self._repository}/pulls", fields)
        except GitHubError:
            # Another run may have opened it, or this one, although the answer was lost.
            found = self.open_pull_request(branch)
            if found is None:
                raise
            return found
        return _decode(answer.content, PullRequest)

    def change_pull_request(self, number: int, body: str) -> None:
        """Replace the text of a pull request."""
        self._send("PATCH", f"{self._repository}/pulls/{number}", {"body": body})

    def request_review(self, number: int, *, login: str = "", team: str = "") -> None:
        """Ask an account or a team of the organization for a review."""
        fields: dict[str, list[str]] = {"reviewers": [], "team_reviewers": []}
        if login:
            fields["reviewers"].append(login)
        if team:
            fields["team_reviewers"].append(team)
        self._send("POST", f"{self._repository}/pulls/{number}/requested_reviewers", fields)

    def pull_request(self, number: int) -> PullRequest:
        """Return a pull request as it is now."""
        return self._get(f"{self._repository}/pulls/{number}", PullRequest)

    def reviews(self, number: int, known: int) -> list[PullRequestReview]:
        """Return the reviews of a pull request as they are now, the oldest first.

        The review `known` is among them: GitHub may list a new one a moment later.
        """
        path = f"{self._repository}/pulls/{number}/reviews"
        review = self._get(f"{path}/{known}", PullRequestReview)
        try:
            found = list(self._pages(path, PullRequestReview))
        except GitHubError as error:
            # The pull request and this review were found, so it is not that they may not be read.
            if error.status != 404:
                raise
            found = []
        if all(listed.id != known for listed in found):
            found.append(review)
        return found

    def dismisses_approvals(self, branch: str) -> bool:
        """Tell whether rulesets ask for a new approval after each push, for pulls to a branch.

        Branches that are protected in the older way are not known by this.
        """
        path = f"{self._repository}/rules/branches/{quote(branch, safe='')}"
        try:
            rules = list(self._pages(path, _Rule))
        except GitHubError as error:
            if error.status not in (403, 404):
                raise
            return False
        for rule in rules:
            if rule.type == "pull_request":
                found = _decode(rule.parameters, _RuleParameters)
                if found.dismiss_stale_reviews_on_push or found.require_last_push_approval:
                    return True
        return False

    def account(self, login: str) -> Account:
        """Return an account with its name."""
        return self._get(f"/users/{quote(login, safe='')}", Account)

    def may_write(self, login: str) -> bool:
        """Tell whether an account can write to the repository."""
        path = f"{self._repository}/collaborators/{quote(login, safe='')}/permission"
        try:
            return self._get(path, _Permission).permission in ("admin", "write")
        except GitHubError as error:
            if error.status != 404:
                raise
            return False  # it is not a collaborator

    def authors_of(self, path: str, head: str, commits: Collection[str]) -> set[str]:
        """Return the logins of those who wrote commits to a file, out of its history up to `head`.

        The login is empty for a commit whose address belongs to no account, and for one that
        GitHub does not list.
        """
        fields = f"sha={head}&path={quote(path, safe='')}"
        left = set(commits)
        logins = set()
        for commit in self._pages(f"{self._repository}/commits?{fields}", _Commit):
            if commit.sha in left:
                left.remove(commit.sha)
                logins.add(commit.author.login if commit.author else "")
            if not left:
                break
        if left:
            logins.add("")
        return logins

    def _pages(self, path: str, kind: type[_T]) -> Iterator[_T]:
        """Yield the items of a list, page after page."""
        joined = "&" if "?" in path else "?"
        before: list[_T] = []
        for page in range(1, _MAX_PAGES + 1):
            answer = self._send("GET", f"{path}{joined}per_page={_PER_PAGE}&page={page}")
            found: list[_T] = _decode(answer.content, list[kind])  # type: ignore[valid-type]
            if found == before:
                return  # both are empty, or the server has no pages
            yield from found
            has_next = answer.names_next_page
            if has_next is None:
                # It names no page, and may have shorter ones than it was asked for.
                has_next = len(found) >= _SHORTEST_PAGE
            if not has_next:
                return
            before = found
        raise GitHubError(f"GitHub has more than {_MAX_PAGES * _PER_PAGE} items at {path}")

    def _get(self, path: str, kind: type[_T]) -> _T:
        return _decode(self._send("GET", path).content, kind)

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        is_harmless: bool = False,
    ) -> _Answer:
        """Send a request, more than once if that does no harm. Raises GitHubError."""
        is_harmless = is_harmless or method in _HARMLESS
        faults = 0
        limits = 0
        while True:
            try:
                answer = self._client.request(method, path, json=body)
            except httpx.HTTPError as error:
                faults += 1
                if not is_harmless or faults == _TRIES:
                    raise GitHubError(
                        f"GitHub cannot be reached ({type(error).__name__})"
                    ) from error
                self._waiting.sleep(2.0**faults)
                continue
            if answer.is_success and not _is_limit_of_graphql(answer):
                names_next_page = "next" in answer.links if answer.links else None
                return _Answer(answer.content, names_next_page)
            now = self._waiting.now()
            wait = time_until_free(answer.status_code, answer.headers, answer.text, now, limits)
            if wait is not None:
                limits += 1
                if now + wait > self._waits_until or limits > _MOST_LIMITS:
                    raise _limit_error(answer, method, path, now)
                self._waiting.sleep(wait)
                continue
            faults += 1
            if answer.status_code < 500 or not is_harmless or faults == _TRIES:
                raise _error(answer, method, path)
            self._waiting.sleep(2.0**faults)


@dataclass(frozen=True)
class _Answer:
    content: bytes
    names_next_page: bool | None
    """None for an answer that names no page at all."""


def _decode(content: bytes | msgspec.Raw, kind: type[_T]) -> _T:
    """Return what is in an answer. Raises GitHubError."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise GitHubError("GitHub answered something that is not of its API", 502) from error


def _check_address(name: str, value: str) -> None:
    """Raise ConfigurationError for an address that is neither encrypted nor on this machine."""
    try:
        address = urlsplit(value)
    except ValueError as error:
        raise ConfigurationError(f"{name}: is not an address ({error})") from error
    if address.scheme != "https" and address.hostname not in _LOOPBACK:
        raise ConfigurationError(f"{name}: is not an https address; it would get the token")


def time_until_free(
    status: int, headers: httpx.Headers, text: str, now: float, earlier: int
) -> float | None:
    """Return after how many seconds a limit has passed, or None for an answer that is not a limit.

    `now` is in seconds since 1970, and `earlier` the number of limits that this request has met
    before.
    """
    if status not in _STATUSES_OF_LIMITS:
        return None
    speaks_of_limit = _LIMIT in text.lower()
    named = _named_wait(headers, now)
    if named is not None:
        return named
    if status == _LIMIT_STATUS or speaks_of_limit:
        return _UNNAMED_WAIT * 2.0**earlier
    return None  # it is forbidden


def _named_wait(headers: httpx.Headers, now: float) -> float | None:
    """Return after how many seconds a limit has passed, or None if GitHub names no time."""
    after = read_retry_after(headers.get_list).seconds
    if after is not None:
        return min(after, _LONGEST_LIMIT)
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        wait = max(0.0, float(reset) - now) + 1  # the clocks may differ
        return min(wait, _LONGEST_LIMIT)
    return None


def _is_limit_of_graphql(answer: httpx.Response) -> bool:
    """Tell whether GraphQL has refused a request for a limit, which it does with status 200."""
    is_of_graphql = answer.request.url.path.endswith("/graphql")
    return is_of_graphql and '"errors"' in answer.text and _LIMIT in answer.text.lower()


def _message_in(answer: httpx.Response) -> str:
    """Return what GitHub said in an answer, or an empty string."""
    try:
        return _decode(answer.content, _Refusal).message
    except GitHubError:  # a page of a proxy
        return ""


def _error(answer: httpx.Response, method: str, path: str) -> GitHubError:
    """Return the error of an answer, with what GitHub said and what to do."""
    said = _message_in(answer)
    reason = f"GitHub answered {answer.status_code} to {method} {quote(path, safe='/?=&')}"
    if said:
        reason += f": {escape_controls(said)[:_MAX_MESSAGE]}"
    cure = _cure(answer.status_code, said)
    return GitHubError(f"{reason}; {cure}" if cure else reason, answer.status_code)


def _cure(status: int, said: str) -> str:
    """Return what to do about an answer, or an empty string."""
    if status == 401:
        return "the token has expired or is wrong; run the job again"
    if status == 403 and _MAY_NOT_OPEN in said:
        return (
            "in the repository's Settings, under Actions > General, tick \"Allow GitHub Actions to "
            'create and approve pull requests", or give the job the token of a GitHub App'
        )
    if status == 403:
        return "the token may not do this; look at `permissions` of the workflow"
    return ""


def _limit_error(answer: httpx.Response, method: str, path: str, now: float) -> GitHubError:
    """Return the error of a limit that is too long to wait for. Its status is always 429."""
    wait = _named_wait(answer.headers, now)
    if wait is None:
        passes = "GitHub does not say when its limit passes"
        then = "later"
    else:
        passes = f"its limit passes in {counted(ceil(wait / 60), 'minute')}"
        then = "then"
    return GitHubError(
        f"GitHub answered {answer.status_code} to {method} {quote(path, safe='/?=&')}: {passes}; "
        f"wait longer with --max-wait, or run the job again {then}",
        _LIMIT_STATUS,
    )

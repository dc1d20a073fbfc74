"""Send requests to GitHub's REST API.

What surely was not processed is sent again, after the time that GitHub names. What may have been
processed is sent again only if that does no harm, so that no comment is there twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlsplit

import httpx
import msgspec

from ..display import escape_controls
from ..errors import ConfigurationError, GitHubError
from .events import Job, PullRequest, Review

_TRIES = 4
_TIMEOUT = 30.0
_LONGEST_WAIT = 120.0
"""Seconds that a job waits for a limit to pass; it pays for each minute."""

_PER_PAGE = 100
_MAX_PAGES = 20
_MAX_MESSAGE = 200
_HARMLESS = frozenset({"GET", "PATCH", "PUT", "DELETE"})
"""Methods of requests that have the same effect when they are sent twice."""

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})

_T = TypeVar("_T")


class Account(msgspec.Struct, frozen=True):
    """An account of GitHub."""

    login: str
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


class _Comparison(msgspec.Struct, frozen=True):
    commits: list[_Commit] = []


@dataclass(frozen=True)
class _Answer:
    status: int
    content: bytes


class GitHub:
    """The API of a repository, for one job."""

    def __init__(self, job: Job, sleep: Callable[[float], None] = time.sleep) -> None:
        """`sleep` waits for a number of seconds."""
        address = urlsplit(job.api_url)
        if address.scheme != "https" and address.hostname not in _LOOPBACK:
            raise ConfigurationError("GITHUB_API_URL: is no https address; it would get the token")
        self._sleep = sleep
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
        """Return the login that comments are written with."""
        try:
            return self._get("/user", Account).login
        except GitHubError as error:
            if error.status not in (401, 403):
                raise
            return "github-actions[bot]"  # the token of a job may not ask who it is

    def comments(self, number: int) -> Iterator[Comment]:
        """Yield the comments on a pull request, the oldest first."""
        path = f"{self._repository}/issues/{number}/comments"
        for page in range(1, _MAX_PAGES + 1):
            found = self._get(f"{path}?per_page={_PER_PAGE}&page={page}", list[Comment])
            yield from found
            if len(found) < _PER_PAGE:
                return

    def write_comment(self, number: int, body: str) -> Comment:
        """Write a comment on a pull request, and return it."""
        path = f"{self._repository}/issues/{number}/comments"
        return self._decode(self._send("POST", path, {"body": body}), Comment)

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
        head = quote(f"{self._owner}:{branch}", safe="")
        path = f"{self._repository}/pulls?state=open&head={head}&per_page=1"
        found = self._get(path, list[PullRequest])
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
        return self._decode(answer, PullRequest)

    def change_pull_request(self, number: int, body: str) -> None:
        """Replace the text of a pull request."""
        self._send("PATCH", f"{self._repository}/pulls/{number}", {"body": body})

    def request_review(self, number: int, *, login: str = "", team: str = "") -> None:
        """Ask an account or a team of the organization for a review."""
        fields = {"reviewers": [login] if login else [], "team_reviewers": [team] if team else []}
        self._send("POST", f"{self._repository}/pulls/{number}/requested_reviewers", fields)

    def pull_request(self, number: int) -> PullRequest:
        """Return a pull request as it is now."""
        return self._get(f"{self._repository}/pulls/{number}", PullRequest)

    def review(self, number: int, review: int) -> Review:
        """Return a review of a pull request as it is now."""
        return self._get(f"{self._repository}/pulls/{number}/reviews/{review}", Review)

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
            return False  # it is no collaborator

    def authors_of(self, path: str, base: str, head: str) -> set[str]:
        """Return the logins of those who committed to a file between two commits.

        The login is empty for a commit whose address belongs to no account.
        """
        fields = f"sha={head}&path={quote(path, safe='')}&per_page={_PER_PAGE}"
        commits = self._get(f"{self._repository}/commits?{fields}", list[_Commit])
        compared = self._get(f"{self._repository}/compare/{base}...{head}", _Comparison)
        between = {commit.sha for commit in compared.commits}
        logins = set()
        for commit in commits:
            if commit.sha in between:
                logins.add(commit.author.login if commit.author else "")
        return logins

    def _get(self, path: str, kind: type[_T]) -> _T:
        return self._decode(self._send("GET", path), kind)

    def _decode(self, answer: _Answer, kind: type[_T]) -> _T:
        try:
            return msgspec.json.decode(answer.content, type=kind)
        except msgspec.MsgspecError as error:
            raise GitHubError("GitHub answered something that is not of its API", 502) from error

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> _Answer:
        """Send a request, more than once if that does no harm. Raises GitHubError."""
        for number in range(1, _TRIES + 1):
            try:
                answer = self._client.request(method, path, json=body)
            except httpx.HTTPError as error:
                if method not in _HARMLESS or number == _TRIES:
                    raise GitHubError(
                        f"GitHub cannot be reached ({type(error).__name__})"
                    ) from error
                self._sleep(2.0**number)
                continue
            if answer.is_success:
                return _Answer(answer.status_code, answer.content)
            wait = _waiting_time(answer, method, number)
            if wait is None or number == _TRIES:
                raise _error(answer, method, path)
            self._sleep(wait)
        raise AssertionError("the last try returns or raises")


def _waiting_time(answer: httpx.Response, method: str, number: int) -> float | None:
    """Return after how many seconds a request may be sent again, or None if it may not."""
    if answer.status_code in (403, 429):
        after = answer.headers.get("Retry-After", "")
        names_time = after.isdigit()
        is_used_up = answer.headers.get("X-RateLimit-Remaining") == "0"
        is_limited = names_time or is_used_up or "rate limit" in answer.text.lower()
        if not is_limited:
            return None  # it is forbidden
        if names_time:
            wait = float(after)
        else:
            wait = 2.0**number
        return wait if wait <= _LONGEST_WAIT else None
    if answer.status_code >= 500 and method in _HARMLESS:
        return 2.0**number
    return None


def _message_in(answer: httpx.Response) -> str:
    """Return what GitHub said in an answer, or an empty string."""
    try:
        found = answer.json()
    except ValueError:  # a page of a proxy
        return ""
    if not isinstance(found, dict):
        return ""
    return str(found.get("message", ""))


def _error(answer: httpx.Response, method: str, path: str) -> GitHubError:
    """Return the error of an answer, with what GitHub said and what to do."""
    said = _message_in(answer)
    reason = f"GitHub answered {answer.status_code} to {method} {quote(path, safe='/?=&')}"
    if said:
        reason += f": {escape_controls(said)[:_MAX_MESSAGE]}"
    cures = {
        401: "the token has expired or is wrong; run the job again",
        403: "the token may not do this; look at `permissions` of the workflow",
    }
    cure = cures.get(answer.status_code, "")
    return GitHubError(f"{reason}; {cure}" if cure else reason, answer.status_code)

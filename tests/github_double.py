"""A double of GitHub's API, which answers and refuses what GitHub's documentation says.

It was never compared with GitHub itself. What it is strict about:

- `GET /user` is 403 for the token of a job or of an app, which GraphQL's `viewer` answers;
- lists have 30 items a page, whatever was asked for, and a `Link` to the next one;
- a review that was followed by another keeps its state; a push that changes files dismisses
  approvals where the settings say so; users and commits can be null;
- the token of a job opens no pull request unless the settings allow it, and asks no team;
- commits belong to an account by their address, or to nobody;
- a token that only reads writes nothing, and a comment has at most 65,536 characters.

Pushes go to a repository on this machine, whose hook refuses what rules of a repository refuse.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Lock
from typing import Any, Literal
from unittest.mock import patch
from urllib.parse import parse_qsl, unquote

import certifi
from service_double import Server

REPOSITORY = "octo/docs"
TOKEN = "ghs_5ecret"
BOT = "github-actions[bot]"

_FORBIDDEN = 403, {"message": "Resource not accessible by integration"}
_NOT_FOUND = 404, {"message": "Not Found"}
_PAGE = 30
_LONGEST_COMMENT = 65_536

Answer = tuple[int, object]


@dataclass
class Fault:
    """An answer that takes the place of the next one to a method and path."""

    method: str
    path: str
    """A regular expression."""

    status: int
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""
    """The body of the answer, in the place of one with the message."""

    was_processed: bool = False
    """Whether the request is processed all the same."""


@dataclass
class GitHubDouble:
    """The API of one repository."""

    url: str = ""
    token: str = TOKEN
    kind: Literal["job", "app", "person"] = "job"
    """Whose token it is."""

    login: str = BOT
    may_write: bool = True
    may_open_pull_requests: bool = True
    """Whether the settings allow jobs to create pull requests; new repositories do not."""

    dismisses_stale_approvals: bool = False
    """Whether a branch that is protected in the older way dismisses approvals after a push."""

    rules: list[dict[str, Any]] = field(default_factory=list)
    """The rules of rulesets for all branches."""

    remote: Path | None = None
    """The repository, which has the branches of pull requests and their commits."""

    comments: list[dict[str, Any]] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    """The pull requests; the first one has number 7."""

    reviews: list[dict[str, Any]] = field(default_factory=list)
    """The reviews of pull request 7, the oldest first."""

    permissions: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """The names of accounts by their logins."""

    addresses: dict[str, str] = field(default_factory=dict)
    """The logins of accounts by the addresses in commits."""

    requested: list[dict[str, Any]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    received: list[tuple[str, str]] = field(default_factory=list)
    next_id: int = 1
    lock: Lock = field(default_factory=Lock)

    def add_comment(self, body: str, login: str | None = None, kind: str = "Bot") -> dict[str, Any]:
        """Add a comment of an account, by default that of the token."""
        user = {"login": login or self.login, "type": kind}
        comment = {"id": self.next_id, "body": body, "user": user}
        self.next_id += 1
        self.comments.append(comment)
        return comment

    def add_pull(self, head: str, base: str, **fields: object) -> dict[str, Any]:
        """Add an open pull request of a branch."""
        repo = {"full_name": REPOSITORY}
        number = 7 + len(self.pulls)
        pull = {
            "number": number,
            "state": "open",
            "merged_at": None,
            "html_url": f"https://github.example/{REPOSITORY}/pull/{number}",
            "user": None,
            "head": {"sha": "1" * 40, "ref": head, "repo": repo},
            "base": {"sha": "2" * 40, "ref": base, "repo": repo},
            **fields,
        }
        self.pulls.append(pull)
        return pull

    def add_review(
        self, state: str, commit: str | None, login: str | None = "jo-doe", kind: str = "User"
    ) -> dict[str, Any]:
        """Add a review of pull request 7; without a login, its account was deleted."""
        user = {"login": login, "type": kind} if login else None
        review = {"id": len(self.reviews) + 1, "state": state, "user": user, "commit_id": commit}
        self.reviews.append(review)
        return review

    def answer(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        """Return status and body of the answer to a request; a list is not cut into pages yet."""
        path, _, query = path.partition("?")
        path = unquote(path)
        if path == "/graphql":
            return self._graphql(body)
        if path == "/user":
            return (200, {"login": self.login}) if self.kind == "person" else _FORBIDDEN
        if method == "GET":
            return self._read(path, dict(parse_qsl(query)))
        if not self.may_write:
            return _FORBIDDEN
        if path.startswith(f"/repos/{REPOSITORY}/pulls"):
            return self._change_pulls(method, path, body)
        return self._change_comments(method, path, body)

    def _graphql(self, body: dict[str, Any]) -> Answer:
        if "viewer" in body["query"]:
            return 200, {"data": {"viewer": {"login": self.login}}}
        return 200, {"data": None, "errors": [{"message": "not in this double"}]}

    def _change_comments(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        if len(body.get("body", "")) > _LONGEST_COMMENT:
            return 422, {"message": "Body is too long (maximum is 65536 characters)"}
        if method == "POST" and path == f"/repos/{REPOSITORY}/issues/7/comments":
            return 201, self.add_comment(body["body"])
        found = re.fullmatch(rf"/repos/{REPOSITORY}/issues/comments/(\d+)", path)
        known = [it for it in self.comments if found and it["id"] == int(found[1])]
        if not known:
            return _NOT_FOUND
        if method == "DELETE":
            self.comments.remove(known[0])
            return 204, None
        known[0]["body"] = body["body"]
        return 200, known[0]

    def _read(self, path: str, fields: dict[str, str]) -> Answer:
        root = f"/repos/{REPOSITORY}"
        if path == f"{root}/issues/7/comments":
            return 200, self.comments
        if path == f"{root}/pulls":
            return 200, self._pulls_of(fields["head"], fields.get("state", "open"))
        if path == f"{root}/commits":
            return 200, self._commits(fields["sha"], fields["path"])
        if re.fullmatch(rf"{root}/rules/branches/[\w/-]+", path):
            return 200, self.rules
        if found := re.fullmatch(rf"{root}/collaborators/([\w-]+)/permission", path):
            if found[1] not in self.permissions:
                return _NOT_FOUND
            return 200, {"permission": self.permissions[found[1]]}
        if found := re.fullmatch(r"/users/([\w-]+)", path):
            return 200, {"login": found[1], "id": 42, "name": self.names.get(found[1])}
        return self._read_pull(path.removeprefix(f"{root}/pulls/"))

    def _read_pull(self, path: str) -> Answer:
        number, _, rest = path.partition("/")
        found = [pull for pull in self.pulls if str(pull["number"]) == number]
        if not found:
            return _NOT_FOUND
        self._follow_branch(found[0])
        if not rest:
            return 200, found[0]
        self._dismiss_stale(found[0])
        if rest == "reviews":
            return 200, self.reviews
        reviews = [it for it in self.reviews if rest == f"reviews/{it['id']}"]
        return (200, reviews[0]) if reviews else _NOT_FOUND

    def _pulls_of(self, head: str, state: str) -> list[dict[str, Any]]:
        found = []
        for pull in self.pulls:
            self._follow_branch(pull)
            if f"octo:{pull['head']['ref']}" == head and state in ("all", pull["state"]):
                found.append(pull)
        return found[::-1]

    def _follow_branch(self, pull: dict[str, Any]) -> None:
        """Put an open pull request at the commit of its branch."""
        commit = self._git("rev-parse", "--verify", "-q", f"refs/heads/{pull['head']['ref']}")
        if pull["state"] == "open" and commit:
            pull["head"]["sha"] = commit[0]
            self._git("update-ref", f"refs/pull/{pull['number']}/head", commit[0])

    def _dismiss_stale(self, pull: dict[str, Any]) -> None:
        if not self.dismisses_stale_approvals:
            return
        for review in self.reviews:
            changed = self._git("diff", "--name-only", review["commit_id"], pull["head"]["sha"])
            if review["state"] == "APPROVED" and changed:
                review["state"] = "DISMISSED"

    def _commits(self, head: str, path: str) -> list[dict[str, Any]]:
        listed = []
        for line in self._git("log", "--format=%H %ae", head, "--", path):
            sha, _, address = line.partition(" ")
            login = self.addresses.get(address)
            own = re.fullmatch(r"\d+\+(.+)@users\.noreply\.github\.com", address)
            if own:
                login = own[1]
            listed.append({"sha": sha, "author": {"login": login} if login else None})
        return listed

    def _git(self, *arguments: str) -> Sequence[str]:
        if self.remote is None:
            return ()
        command = ["git", "-C", str(self.remote), *arguments]
        ran = subprocess.run(command, check=False, capture_output=True, text=True)
        return ran.stdout.splitlines()

    def _change_pulls(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        if path.endswith("/requested_reviewers"):
            if "nobody" in body["reviewers"]:
                return 422, {"message": "Reviews may only be requested from collaborators."}
            if body["team_reviewers"] and self.kind == "job":
                return 422, {"message": "Could not resolve to a node with the global id of 'T_x'."}
            self.requested.append(body)
            return 201, {}
        if method == "PATCH":
            pull = next(it for it in self.pulls if path.endswith(f"/{it['number']}"))
            pull["body"] = body["body"]
            return 200, pull
        if self.kind == "job" and not self.may_open_pull_requests:
            message = "GitHub Actions is not permitted to create or approve pull requests."
            return 403, {"message": message}
        if any(it["state"] == "open" and it["head"]["ref"] == body["head"] for it in self.pulls):
            return 422, {"message": "Validation Failed"}
        pull = self.add_pull(body["head"], body["base"], body=body["body"])
        self._follow_branch(pull)
        return 201, pull

    def fault(self, method: str, path: str) -> Fault | None:
        """Return the fault that is there for a request, once."""
        for fault in self.faults:
            if fault.method == method and re.search(fault.path, path):
                self.faults.remove(fault)
                return fault
        return None


def page_of(items: list[Any], path: str) -> tuple[list[Any], dict[str, str]]:
    """Return the page of a list that a path asks for, and the headers that name the next one."""
    bare, _, query = path.partition("?")
    fields = dict(parse_qsl(query))
    size = min(int(fields.get("per_page", _PAGE)), _PAGE)
    page = int(fields.get("page", 1))
    headers = {}
    if len(items) > page * size:
        following = f"http://127.0.0.1{bare}?page={page + 1}"
        headers["Link"] = f'<{following}>; rel="next"'
    return items[(page - 1) * size : page * size], headers


class _Handler(BaseHTTPRequestHandler):
    double: GitHubDouble

    def _handle(self) -> None:
        double = self.double
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        headers: dict[str, str] = {}
        with double.lock:
            double.received.append((self.command, self.path))
            if self.headers["Authorization"] != f"Bearer {double.token}":
                self._send(401, {"message": "Bad credentials"}, {})
                return
            fault = double.fault(self.command, self.path)
            status, answer = 0, None
            if fault is None or fault.was_processed:
                status, answer = double.answer(self.command, self.path, body)
            if isinstance(answer, list):
                answer, headers = page_of(answer, self.path)
        if fault:
            self._send(fault.status, {"message": fault.message}, fault.headers, fault.content)
        else:
            self._send(status, answer, headers)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _handle  # noqa: N815

    def _send(
        self, status: int, answer: object, headers: dict[str, str], content: bytes = b""
    ) -> None:
        if not content and answer is not None:
            content = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Print nothing."""


def first_certificate() -> str:
    """Return a file with one of the certificates that httpx trusts: loading all takes 30 ms."""
    bundle = Path(certifi.where())
    file = Path(os.environ["HOME"], "first.pem")
    if not file.exists():
        start, end, _ = bundle.read_text("utf-8").partition("-----END CERTIFICATE-----\n")
        file.write_text(start[start.index("-----BEGIN") :] + end, "utf-8")
    return str(file)


@contextmanager
def github_double() -> Iterator[GitHubDouble]:
    """Serve the double on this machine, for which no command needs a certificate."""
    double = GitHubDouble()
    handler = type("Handler", (_Handler,), {"double": double})
    certificates = patch.dict(os.environ, SSL_CERT_FILE=first_certificate())
    with certificates, Server(("127.0.0.1", 0), handler) as server:
        double.url = f"http://127.0.0.1:{server.server_address[1]}"
        with server.serving():
            yield double


_REFUSAL = """#!/bin/sh
while read old new reference; do
  case $reference in
    PATTERN)
      if [ -z "$(git rev-list $new --not --all FILES)" ]; then continue; fi
      echo 'error: GH013: Repository rule violations found for '$reference'.'
      echo '- RULE'
      exit 1;;
  esac
done
"""


def refuse_pushes(remote: Path, pattern: str, rule: str, *, files: str = "") -> None:
    """Give a repository a rule that refuses new commits on branches, as a hook of git.

    With `files`, only commits are refused that change such files.
    """
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    script = _REFUSAL.replace("PATTERN", pattern).replace("RULE", rule)
    hook.write_text(script.replace("FILES", f"-- {files}" if files else ""))
    hook.chmod(0o755)

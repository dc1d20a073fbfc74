"""A double of GitHub's REST API, written from its documentation, with the faults that it has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl

from service_double import Server

REPOSITORY = "octo/docs"
TOKEN = "ghs_5ecret"
BOT = "github-actions[bot]"


@dataclass
class Fault:
    """An answer that takes the place of the next one to a method and path."""

    method: str
    path: str
    """A regular expression."""

    status: int
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    was_processed: bool = False
    """Whether the request is processed all the same."""


@dataclass
class GitHubDouble:
    """The API of one repository."""

    url: str = ""
    token: str = TOKEN
    may_write: bool = True
    comments: list[dict[str, Any]] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    """The pull requests; those that the API opens begin at number 7."""

    permissions: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """The names of accounts by their logins."""

    review_state: str = "APPROVED"
    authors: list[str] = field(default_factory=list)
    """The logins of those who committed to any file of the pull request."""

    requested: list[dict[str, Any]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    received: list[tuple[str, str]] = field(default_factory=list)
    next_id: int = 1
    lock: Lock = field(default_factory=Lock)

    def add_comment(self, body: str, login: str = BOT) -> dict[str, Any]:
        """Add a comment of an account."""
        comment = {"id": self.next_id, "body": body, "user": {"login": login, "type": "Bot"}}
        self.next_id += 1
        self.comments.append(comment)
        return comment

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, object]:
        """Return status and body of the answer to a request."""
        path, _, query = path.partition("?")
        comments = f"/repos/{REPOSITORY}/issues/7/comments"
        if path == "/user":
            return 403, {"message": "Resource not accessible by integration"}
        if method == "GET" and path == comments:
            page = int((re.search(r"\bpage=(\d+)", query) or ["", "1"])[1])
            size = int((re.search(r"per_page=(\d+)", query) or ["", "30"])[1])
            return 200, self.comments[(page - 1) * size : page * size]
        if method == "GET":
            return self._read(path, query)
        if not self.may_write:
            return 403, {"message": "Resource not accessible by integration"}
        if method == "POST" and path == comments:
            if len(body["body"]) > 65_536:
                return 422, {"message": "Body is too long (maximum is 65536 characters)"}
            return 201, self.add_comment(body["body"])
        if path.startswith(f"/repos/{REPOSITORY}/pulls"):
            return self._change_pulls(method, path, body)
        found = re.fullmatch(rf"/repos/{REPOSITORY}/issues/comments/(\d+)", path)
        known = [it for it in self.comments if found and it["id"] == int(found[1])]
        if not known:
            return 404, {"message": "Not Found"}
        if method == "DELETE":
            self.comments.remove(known[0])
            return 204, None
        known[0]["body"] = body["body"]
        return 200, known[0]

    def _read(self, path: str, query: str) -> tuple[int, object]:
        root = f"/repos/{REPOSITORY}"
        fields = dict(parse_qsl(query))
        if path == f"{root}/pulls":
            pulls = [it for it in self.pulls if it["state"] == "open"]
            return 200, [it for it in pulls if f"octo:{it['head']['ref']}" == fields["head"]]
        if found := re.fullmatch(rf"{root}/pulls/(\d+)", path):
            return 200, next(it for it in self.pulls if it["number"] == int(found[1]))
        if found := re.fullmatch(rf"{root}/pulls/7/reviews/(\d+)", path):
            user = {"login": "jo-doe", "type": "User"}
            review = {"id": int(found[1]), "state": self.review_state, "user": user}
            return 200, {**review, "commit_id": "0" * 40}
        if found := re.fullmatch(rf"{root}/collaborators/([\w-]+)/permission", path):
            if found[1] not in self.permissions:
                return 404, {"message": "Not Found"}
            return 200, {"permission": self.permissions[found[1]]}
        if found := re.fullmatch(r"/users/([\w-]+)", path):
            return 200, {"login": found[1], "id": 42, "name": self.names.get(found[1])}
        commits = [
            {"sha": str(number) * 40, "author": {"login": login} if login else None}
            for number, login in enumerate(self.authors)
        ]
        if path == f"{root}/commits":
            return 200, [*commits, {"sha": "f" * 40, "author": {"login": "earlier"}}]
        if path.startswith(f"{root}/compare/"):
            return 200, {"commits": commits}
        return 404, {"message": "Not Found"}

    def _change_pulls(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, object]:
        if path.endswith("/requested_reviewers"):
            if "nobody" in body["reviewers"]:
                return 422, {"message": "Reviews may only be requested from collaborators."}
            self.requested.append(body)
            return 201, {}
        if method == "PATCH":
            pull = next(it for it in self.pulls if path.endswith(f"/{it['number']}"))
            pull["body"] = body["body"]
            return 200, pull
        if any(it["state"] == "open" and it["head"]["ref"] == body["head"] for it in self.pulls):
            return 422, {"message": "Validation Failed"}
        return 201, self.add_pull(body["head"], body["base"], body=body["body"])

    def add_pull(self, head: str, base: str, **fields: object) -> dict[str, Any]:
        """Add an open pull request of a branch."""
        repo = {"full_name": REPOSITORY}
        number = 7 + len(self.pulls)
        pull = {
            "number": number,
            "state": "open",
            "html_url": f"https://github.example/{REPOSITORY}/pull/{number}",
            "head": {"sha": "1" * 40, "ref": head, "repo": repo},
            "base": {"sha": "2" * 40, "ref": base, "repo": repo},
            **fields,
        }
        self.pulls.append(pull)
        return pull

    def fault(self, method: str, path: str) -> Fault | None:
        """Return the fault that is there for a request, once."""
        for fault in self.faults:
            if fault.method == method and re.search(fault.path, path):
                self.faults.remove(fault)
                return fault
        return None


class _Handler(BaseHTTPRequestHandler):
    double: GitHubDouble

    def _handle(self) -> None:
        double = self.double
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        with double.lock:
            double.received.append((self.command, self.path))
            if self.headers["Authorization"] != f"Bearer {double.token}":
                self._send(401, {"message": "Bad credentials"}, {})
                return
            fault = double.fault(self.command, self.path)
            status, answer = 0, None
            if fault is None or fault.was_processed:
                status, answer = double.answer(self.command, self.path, body)
        if fault:
            self._send(fault.status, {"message": fault.message}, fault.headers)
        else:
            self._send(status, answer, {})

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _handle  # noqa: N815

    def _send(self, status: int, answer: object, headers: dict[str, str]) -> None:
        content = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Print nothing."""


@contextmanager
def github_double() -> Iterator[GitHubDouble]:
    """Serve the double on this machine."""
    double = GitHubDouble()
    handler = type("Handler", (_Handler,), {"double": double})
    with Server(("127.0.0.1", 0), handler) as server:
        double.url = f"http://127.0.0.1:{server.server_address[1]}"
        with server.serving():
            yield double

"""A double of GitHub's REST API, written from its documentation, with the faults that it has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

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
        if method != "GET" and not self.may_write:
            return 403, {"message": "Resource not accessible by integration"}
        if method == "POST" and path == comments:
            if len(body["body"]) > 65_536:
                return 422, {"message": "Body is too long (maximum is 65536 characters)"}
            return 201, self.add_comment(body["body"])
        found = re.fullmatch(rf"/repos/{REPOSITORY}/issues/comments/(\d+)", path)
        known = [it for it in self.comments if found and it["id"] == int(found[1])]
        if not known:
            return 404, {"message": "Not Found"}
        if method == "DELETE":
            self.comments.remove(known[0])
            return 204, None
        known[0]["body"] = body["body"]
        return 200, known[0]

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
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    double.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

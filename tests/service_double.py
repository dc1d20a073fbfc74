"""A service on loopback that takes nothing but what the interface document allows.

It is written from the document alone, so that the client's mistakes are not repeated here.
"""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast
from urllib.parse import parse_qsl, urlsplit

USER = "user-7"
TOKEN = "Tk-5ecret.very~long/token+value="

LENGTH = {"short", "medium", "long"}
FIELDS: dict[str, dict[str, set[str] | None]] = {
    "/generate-article": {
        "topic": None,
        "length": LENGTH,
        "focus": {"research", "analysis", "review"},
        "audience": {"general", "academic", "expert"},
    },
    "/generate-blog": {
        "topic": None,
        "length": LENGTH,
        "style": {"casual", "professional", "technical"},
        "format": {"howto", "listicle", "narrative"},
    },
    "/generate-news": {
        "topic": None,
        "length": LENGTH,
        "tone": {"neutral", "investigative", "editorial"},
    },
}


def environment() -> dict[str, str]:
    """Return the environment of a process, without settings of whoever runs the tests."""
    return {name: v for name, v in os.environ.items() if not name.startswith("CONTENTGEN_")}


@dataclass(frozen=True)
class Received:
    """One request as it came over the wire; `number` counts from 1."""

    number: int
    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: dict[str, str]

    @property
    def topic(self) -> str:
        """The topic that was asked for."""
        return self.body["topic"]


Answer = Callable[[Received, "Handler"], None]


@dataclass
class ServiceDouble:
    """The state of a running double. Tests set `answer`, and read the rest."""

    base_url: str
    answer: Answer
    received: list[Received] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    """The topics of the requests that were answered to the last byte: those that cost money."""

    in_flight: int = 0
    most_in_flight: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def topics(self) -> list[str]:
        """The topics that were asked for, in the order of their arrival."""
        return [request.topic for request in self.received]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process whose builds ask this service."""
        return {
            **environment(),
            "CONTENTGEN_BASE_URL": self.base_url,
            "CONTENTGEN_USER_ID": USER,
            "CONTENTGEN_TOKEN": TOKEN,
            "NO_MKDOCS_2_WARNING": "1",
        }


class Handler(BaseHTTPRequestHandler):
    """Reads a request, notes what the interface does not allow, and lets the test answer."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Handle a request."""
        double = cast("Server", self.server).double
        length = int(self.headers.get("Content-Length", 0))
        raw = self.rfile.read(length)
        address = urlsplit(self.path)
        with double.lock:
            received = Received(
                len(double.received) + 1,
                self.command,
                address.path,
                parse_qsl(address.query, keep_blank_values=True),
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(raw),
            )
            double.received.append(received)
            double.violations += violations(received)
            double.in_flight += 1
            double.most_in_flight = max(double.most_in_flight, double.in_flight)
        try:
            double.answer(received, self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with double.lock:
                double.in_flight -= 1

    def do_GET(self) -> None:
        """Note that nothing but POST is allowed."""
        cast("Server", self.server).double.violations.append(f"{self.command} {self.path}")
        self.send_error(405)

    do_PUT = do_HEAD = do_OPTIONS = do_DELETE = do_GET  # noqa: N815  http.server's names

    def send(self, body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
        """Send a whole answer."""
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""


class Server(ThreadingHTTPServer):
    """Carries the state of the double to its handlers."""

    daemon_threads = True
    request_queue_size = 128
    double: ServiceDouble
    _is_open = True

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Handle requests until the block ends; meanwhile, sleep rather than look for its end."""
        thread = threading.Thread(target=self._serve, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._is_open = False
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread up
            thread.join()

    def _serve(self) -> None:
        while self._is_open:
            self.handle_request()

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing of clients that hang up, only of mistakes in the tests."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def article_for(request: Received) -> str:
    """Return an answer's HTML: never the same twice, and with the topic in it."""
    return (
        '<article><h1 style="color: #2c3e50">'
        f"{_escaped(request.topic)}</h1><p>Text number {request.number}.</p>"
        "<h2>A section</h2><p>More of it.</p></article>"
    )


def generated(html: str | None = None, *, delay: float = 0.0) -> Answer:
    """Return what answers with `html`, or an article about the topic, after `delay` seconds."""

    def answer(request: Received, handler: Handler) -> None:
        time.sleep(delay)
        content = article_for(request) if html is None else html
        handler.send(json.dumps({"success": True, "content": content}).encode())
        double = cast(Server, handler.server).double
        with double.lock:
            double.answered.append(request.topic)

    return answer


def hold(service: ServiceDouble) -> threading.Event:
    """Let the service answer with articles once the event is set."""
    release = threading.Event()

    def answer(request: Received, handler: Handler) -> None:
        release.wait(300)
        generated()(request, handler)

    service.answer = answer
    return release


def raw(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """Return what answers with exactly these bytes."""
    return lambda request, handler: handler.send(body, status, headers)


SECRET = b"{authorization}"
"""In what `wire` is to send, stands for the value of the Authorization header that came."""


def wire(data: bytes) -> Answer:
    """Return what answers with exactly these bytes, status line and all, and hangs up."""

    def answer(request: Received, handler: Handler) -> None:
        handler.wfile.write(data.replace(SECRET, request.headers["authorization"].encode()))
        handler.close_connection = True

    return answer


def forever(start: bytes, again: bytes, pause: float = 0.0) -> Answer:
    """Return what answers `start`, and then `again` and again until the client hangs up."""

    def answer(request: Received, handler: Handler) -> None:
        handler.wfile.write(start)
        while True:
            handler.wfile.write(again)
            time.sleep(pause)

    return answer


def silence(request: Received, handler: Handler) -> None:
    """Answer nothing until the client hangs up."""
    handler.rfile.read()
    handler.close_connection = True


def reset(request: Received, handler: Handler) -> None:
    """Break the connection, as a program that dies or a firewall does."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # Closing the socket object would wait for the files that were made of it.
    os.close(handler.connection.detach())
    handler.close_connection = True


def violations(request: Received) -> Iterator[str]:
    """Find everything about a request that the interface document does not allow."""
    fields = FIELDS.get(request.path)
    if request.method != "POST" or fields is None:
        yield f"{request.method} {request.path} is not an operation"
        return
    if request.query != [("user_id", USER)]:
        yield f"query {request.query}"
    if request.headers.get("content-type") != "application/json":
        yield f"content-type {request.headers.get('content-type')}"
    if not re.fullmatch(r"Bearer \S+", request.headers.get("authorization", "")):
        yield "authorization is not a bearer token"
    if not isinstance(request.body, dict) or "topic" not in request.body:
        yield f"body {request.body}"
        return
    for name, value in request.body.items():
        if name not in fields:
            yield f"{name} is not a field of {request.path}"
        elif not isinstance(value, str) or not value or value not in (fields[name] or {value}):
            yield f"{name} is {value!r}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


@contextmanager
def running(tls: ssl.SSLContext | None = None) -> Iterator[ServiceDouble]:
    """Serve a double on a free port until the block ends."""
    with Server(("127.0.0.1", 0), Handler) as server:
        host, port = server.server_address[:2]
        scheme = "https" if tls else "http"
        server.double = ServiceDouble(f"{scheme}://{host!s}:{port}", generated())
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        with server.serving():
            yield server.double


@contextmanager
def listening(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """Let `talk` deal with each connection to a free port, and yield `127.0.0.1:PORT`.

    For what comes before a request, or instead of one.
    """

    def serve() -> None:
        with suppress(OSError):  # the listener is closed when the block ends
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=deal, args=(connection,), daemon=True).start()

    def deal(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            talk(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # wakes the thread up, which closing does not
            thread.join()

"""Serve the writer with uvicorn until a signal ends it."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import uvicorn

from ..ledger import Ledger
from .app import Log, Server
from .configuration import Configuration
from .connections import MAX_CONNECTIONS, Connection, Settings

_OTHER_FILES = 200
"""Open files besides those connections."""

LAST_ANSWERS_TIMEOUT = 5
"""Seconds to send the last answers. A client that does not read them cannot delay the stop."""

MAX_WAITING_LINES = 10_000
"""The maximum number of log lines that wait to be written. Further lines are dropped."""

LAST_LINES_TIMEOUT = 2.0
"""Seconds to write the remaining log lines when the server stops."""


@contextmanager
def _log_to_stdout() -> Iterator[Log]:
    """Yield a function that writes records as lines of JSON to stdout.

    It neither blocks nor fails, so that no text is lost to a full disk or a stopped reader.
    """
    lines: queue.Queue[str] = queue.Queue(MAX_WAITING_LINES)

    def log(record: dict[str, object]) -> None:
        with suppress(queue.Full):
            lines.put_nowait(f"{json.dumps(record)}\n")

    def write_lines() -> None:
        while line := lines.get():
            # Not with sys.stdout: while a thread waits in it, Python cannot end.
            with suppress(OSError):
                os.write(sys.stdout.fileno(), line.encode())

    if sys.stdout is None:  # the process was started without one
        yield lambda record: None
        return
    writer = threading.Thread(target=write_lines, name="log", daemon=True)
    writer.start()
    try:
        yield log
    finally:
        with suppress(queue.Full):
            lines.put_nowait("")
        writer.join(LAST_LINES_TIMEOUT)


def _raise_file_limit() -> None:
    """Allow more open files than the usual 1024, so that uvicorn refuses connections beyond."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + _OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def serve(
    configuration: Configuration, ledger: Ledger, listener: socket.socket, *, authenticated: bool
) -> None:
    """Serve until SIGTERM or SIGINT. Texts in progress are finished; a second signal cancels them.

    Raises ConfigurationError and LedgerError if it cannot start.
    """
    _raise_file_limit()
    with _log_to_stdout() as log:
        server = Server(configuration, ledger, log, authenticated=authenticated)
        settings = Settings(
            server.app,
            http=Connection,
            ws="none",
            # Whatever clients send is not worth a line there: a full pipe would stop the server.
            log_level="error",
            access_log=False,
            lifespan="off",
            # For connections with a request: all others are closed before.
            limit_concurrency=MAX_CONNECTIONS + 1,
            timeout_graceful_shutdown=LAST_ANSWERS_TIMEOUT,
            server_header=False,
            proxy_headers=False,  # the application reads them
        )
        settings.is_trusted = server.is_trusted
        process = _Process(settings, server, log, configuration.fields.first_token_timeout)
        async with server.running():
            await process.serve([listener])


class _Process(uvicorn.Server):
    """A server that answers requests until the texts in progress are finished."""

    def __init__(self, settings: uvicorn.Config, server: Server, log: Log, timeout: float) -> None:
        super().__init__(settings)
        self._served = server
        self._log = log
        self._timeout = timeout
        self._draining: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._draining is None:
            self._loop.call_soon_threadsafe(self._start_draining)
        else:
            self.force_exit = self.should_exit = True

    def _start_draining(self) -> None:
        self._draining = self._draining or asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                await self._served.jobs.drain()
        except TimeoutError:
            self._log({"warning": f"{len(self._served.jobs)} texts were not finished in time"})
        self.should_exit = True


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address, also of IPv6. Raises OSError."""
    try:
        ((family, *_, address), *_) = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except UnicodeError:  # a name that no host can have
        raise socket.gaierror from None
    listener = socket.create_server(address[:2], family=family, backlog=2048)
    # asyncio does it for sockets of its own. Otherwise, the body of an answer waits for 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener

"""Serve the writer with uvicorn until a signal ends it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from contextlib import suppress
from types import FrameType

import uvicorn

from ..ledger import Ledger
from .app import Server
from .configuration import Configuration

MAX_CONNECTIONS = 800
"""The maximum number of connections: most systems allow a process 1024 open files.

Requests over further ones get status 503."""

LAST_ANSWERS_TIMEOUT = 5
"""Seconds to send the last answers. A client that does not read them cannot delay the stop."""


def _log(record: dict[str, object]) -> None:
    """Write a record as a line of JSON to stdout. No text is lost to a full disk."""
    with suppress(OSError):
        os.write(sys.stdout.fileno(), f"{json.dumps(record)}\n".encode())


async def serve(
    configuration: Configuration, ledger: Ledger, listener: socket.socket, *, authenticated: bool
) -> None:
    """Serve until SIGTERM or SIGINT. Texts in progress are finished; a second signal cancels them.

    Raises ConfigurationError and LedgerError if it cannot start.
    """
    server = Server(configuration, ledger, _log, authenticated=authenticated)
    settings = uvicorn.Config(
        server.app,
        ws="none",
        log_level="error",  # whatever clients send is not worth a line there
        access_log=False,
        lifespan="off",
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=LAST_ANSWERS_TIMEOUT,
        server_header=False,
        forwarded_allow_ips=list(configuration.fields.trusted_proxies),
    )
    process = _Process(settings, server, configuration.fields.first_token_timeout)
    async with server.running():
        await process.serve([listener])


class _Process(uvicorn.Server):
    """A server that answers requests until the texts in progress are finished."""

    def __init__(self, settings: uvicorn.Config, server: Server, timeout: float) -> None:
        super().__init__(settings)
        self._served = server
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
        await self._served.jobs.drain(self._timeout)
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

"""Serve the writer with uvicorn until a signal ends it."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from types import FrameType

import uvicorn

from ..ledger import Ledger
from .app import Server
from .configuration import Configuration

MAX_CONNECTIONS = 2000
"""Connections above which uvicorn answers with status 503."""


def write_log(record: dict[str, object]) -> None:
    """Write a record as a line of JSON to stdout."""
    sys.stdout.write(f"{json.dumps(record)}\n")
    sys.stdout.flush()


def serve(
    configuration: Configuration, ledger: Ledger, listener: socket.socket, *, authenticated: bool
) -> None:
    """Serve until SIGTERM or SIGINT. Texts in progress are finished; a second signal drops them.

    Raises ConfigurationError and LedgerError if it cannot start.
    """
    asyncio.run(_serve(configuration, ledger, listener, authenticated=authenticated))


async def _serve(
    configuration: Configuration, ledger: Ledger, listener: socket.socket, *, authenticated: bool
) -> None:
    server = Server(configuration, ledger, write_log, authenticated=authenticated)
    settings = uvicorn.Config(
        server.app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        limit_concurrency=MAX_CONNECTIONS,
        server_header=False,
        # Nothing here needs the address of a client, and any client can send these headers.
        proxy_headers=False,
    )
    async with server.running():
        await _Process(settings, server, configuration.fields.call_timeout).serve([listener])


class _Process(uvicorn.Server):
    """A server that goes on answering while the texts in progress are finished."""

    def __init__(self, settings: uvicorn.Config, server: Server, timeout: float) -> None:
        super().__init__(settings)
        self._served = server
        self._timeout = timeout
        self._draining: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain after the first signal, and end at once after the second."""
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
            write_log({"warning": f"{len(self._served.jobs)} texts were not finished in time"})
        self.should_exit = True


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address. Raises OSError."""
    return socket.create_server((host, port), backlog=2048)

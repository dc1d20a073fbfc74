"""Serve the writer with uvicorn until a signal ends it."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import uvicorn

from ..errors import ConfigurationError
from .app import Server
from .configuration import check_prices, load_server_configuration
from .ledger import open_ledger

MAX_CONNECTIONS = 800
"""The maximum number of connections: most systems allow a process 1024 open files.

Requests over further ones get status 503."""

LAST_ANSWERS_TIMEOUT = 5
"""Seconds to send the last answers. A client that does not read them cannot delay the stop."""


def _log(record: dict[str, object]) -> None:
    """Write a record as a line of JSON to stdout. Does nothing on a full disk."""
    with suppress(OSError):
        os.write(sys.stdout.fileno(), f"{json.dumps(record)}\n".encode())


def run(path: Path, listen: Callable[[], socket.socket], announce: Callable[[str], None]) -> None:
    """Serve the configuration in a file until SIGTERM or SIGINT.

    `listen` returns a socket that listens, and `announce` gets a line about the server. Texts in
    progress are finished; a second signal cancels them. Raises ConfigurationError and LedgerError
    if the server cannot start, and ReplacedLedgerError if its ledger was removed or replaced.
    """
    fields, options = load_server_configuration(path)
    with open_ledger(fields.ledger, path.parent) as ledger:
        users = ledger.users()
        if not users:
            raise ConfigurationError(
                f"the ledger {ledger.name} has no users, so nobody could ask for a text; add one "
                "with `contentgen writer user add NAME`"
            )
        for user in users.values():
            check_prices(path, fields, "a user's limit", user.limits.get("cost_per_month"))
        server = Server(fields, options, ledger, _log)
        with listen() as listener:
            host, port, *_ = listener.getsockname()
            if ":" in host:  # IPv6
                host = f"[{host}]"
            announce(
                f"Writing with {options.fields.model} on http://{host}:{port} (Ctrl-C ends it)"
            )
            asyncio.run(_serve(server, fields.first_token_timeout, listener))


async def _serve(server: Server, timeout: float, listener: socket.socket) -> None:
    # Otherwise, threads of the ledger wait 5 ms for the event loop at each query.
    sys.setswitchinterval(0.0005)
    # Otherwise, a burst of requests waits for the garbage collector, which looks again and again at
    # the modules.
    gc.collect()
    gc.freeze()
    settings = uvicorn.Config(
        server.app,
        ws="none",
        log_level="error",  # whatever clients send is not worth a line there
        access_log=False,
        lifespan="off",
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=LAST_ANSWERS_TIMEOUT,
        server_header=False,
    )
    process = _Process(settings, server, timeout)
    server.jobs.on_lost_ledger = process.start_draining
    async with server.running():
        await process.serve([listener])
    if server.jobs.lost_ledger:
        raise server.jobs.lost_ledger


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
            self._loop.call_soon_threadsafe(self.start_draining)
        else:
            self.force_exit = True
            self.should_exit = True

    def start_draining(self) -> None:
        """Finish the texts in progress, and end."""
        self._draining = self._draining or asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        await self._served.jobs.drain(self._timeout)
        self.should_exit = True

"""Connections that send no request, and what becomes of them. No time passes here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest
from mkdocs_contentgen.writer.server.connections import (
    HEADERS_TIMEOUT,
    MAX_CONNECTIONS,
    MAX_OF_ONE,
    WRITE_TIMEOUT,
    Connection,
    Settings,
)
from simulated_time import SimulatedTime
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Wire(asyncio.Transport):
    """A client's end of a connection."""

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 4711), "sockname": ("127.0.0.1", 80)})
        self.sent = b""
        self.is_open = True
        self.connection: Connection

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Receive what the server sends."""
        self.sent += bytes(data)

    def close(self) -> None:
        """End, as both kinds of ends do."""
        if self.is_open:
            self.is_open = False
            self.connection.connection_lost(None)

    abort = close

    def is_closing(self) -> bool:
        """Tell whether it has ended."""
        return not self.is_open


class House:
    """A server with the connections to it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.gate = asyncio.Event()
        self.settings = Settings(self._answer, interface="asgi3", lifespan="off", log_config=None)
        self.settings.limit_concurrency = MAX_CONNECTIONS + 1
        self.settings.is_trusted = "127.0.0.1".__eq__
        self._state, self._loop = ServerState(), loop

    async def _answer(self, scope: object, receive: object, send: object) -> None:
        await self.gate.wait()
        await PlainTextResponse("ok")(scope, receive, send)  # type: ignore[arg-type]  # uvicorn's

    def connect(self, address: str = "127.0.0.1", data: bytes = b"") -> Wire:
        """Open a connection, and send something."""
        wire = Wire(address)
        wire.connection = Connection(self.settings, self._state, {}, self._loop)
        wire.connection.connection_made(wire)
        if data and wire.is_open:
            wire.connection.data_received(data)
        return wire


def simulate(run: Callable[[House], object]) -> None:
    """Run a test in a loop in which nothing really waits."""
    with asyncio.Runner(loop_factory=SimulatedTime) as runner:

        async def main() -> None:
            await run(House(asyncio.get_running_loop()))  # type: ignore[misc]  # a coroutine

        runner.run(main())


@pytest.mark.parametrize("start", [b"", REQUEST[:10]])
def test_no_request(start: bytes) -> None:
    """A connection without one ends after ten seconds, however slowly its headers come."""

    async def run(house: House) -> None:
        wire = house.connect(data=start)
        for _ in range(9):
            await asyncio.sleep(HEADERS_TIMEOUT / 10)
            if start:
                wire.connection.data_received(b"x")
        assert wire.is_open
        await asyncio.sleep(HEADERS_TIMEOUT / 5)
        assert not wire.is_open
        assert house.settings.silent == house.settings.by_address == {}

    simulate(run)


def test_a_request_that_takes_long() -> None:
    """A request has all the time that it needs, and so has the next one after it."""

    async def run(house: House) -> None:
        wire = house.connect(data=REQUEST)
        await asyncio.sleep(10 * HEADERS_TIMEOUT)
        assert wire.is_open
        assert house.settings.silent == {}
        house.gate.set()
        await asyncio.sleep(1)
        assert wire.sent.endswith(b"ok")
        assert list(house.settings.silent) == [wire.connection]
        wire.connection.data_received(REQUEST[:5])
        await asyncio.sleep(HEADERS_TIMEOUT - 1)
        wire.connection.data_received(REQUEST[5:])
        await asyncio.sleep(3)
        assert wire.sent.count(b"ok") == 2
        await asyncio.sleep(60)
        assert not wire.is_open

    simulate(run)


def test_too_many_connections() -> None:
    """Those that wait make room for others; requests go on, and more of these get 503."""

    async def run(house: House) -> None:
        busy = [house.connect(data=REQUEST) for _ in range(100)]
        idle = [house.connect() for _ in range(3 * MAX_CONNECTIONS)]
        assert sum(it.is_open for it in busy + idle) == MAX_CONNECTIONS
        busy += [house.connect(data=REQUEST) for _ in range(MAX_CONNECTIONS - 100)]
        assert all(it.is_open for it in busy)
        assert not any(it.is_open for it in idle)
        one_more = house.connect(data=REQUEST)
        await asyncio.sleep(0.1)
        assert b" 503 " in one_more.sent
        house.gate.set()
        await asyncio.sleep(0.1)
        assert all(it.sent.endswith(b"ok") for it in busy)

    simulate(run)


def test_too_many_of_one_address() -> None:
    """Its oldest ones without a request go first, then new ones; those of others stay."""

    async def run(house: House) -> None:
        other = house.connect("203.0.113.8")
        idle = [house.connect("203.0.113.7") for _ in range(MAX_OF_ONE + 10)]
        assert [it.is_open for it in idle] == [False] * 10 + [True] * MAX_OF_ONE
        busy = [house.connect("203.0.113.7", REQUEST) for _ in range(MAX_OF_ONE)]
        assert not any(it.is_open for it in idle)
        assert not house.connect("203.0.113.7", REQUEST).is_open
        assert all(it.is_open for it in [*busy, other])
        proxy = [house.connect(data=REQUEST) for _ in range(MAX_OF_ONE + 10)]
        assert all(it.is_open for it in proxy)
        house.gate.set()

    simulate(run)


def test_what_is_not_http() -> None:
    """It is answered with JSON, as all else."""

    async def run(house: House) -> None:
        wire = house.connect(data=b"SSH-2.0-OpenSSH\r\n\r\n")
        head, body = wire.sent.split(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert json.loads(body)["success"] is False
        assert not wire.is_open

    simulate(run)


def test_an_answer_that_nobody_reads() -> None:
    """A client that lets answers pile up is not waited for."""

    async def run(house: House) -> None:
        wire, reader = (house.connect(data=REQUEST) for _ in range(2))
        for it in (wire, reader):
            it.connection.pause_writing()
        await asyncio.sleep(WRITE_TIMEOUT - 1)
        assert wire.is_open
        reader.connection.resume_writing()
        await asyncio.sleep(2)
        assert (wire.is_open, reader.is_open) == (False, True)

    simulate(run)

"""Close connections that send no request, so that they keep nobody else from the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 2000
"""The maximum number of connections. With more, those that wait for a request are closed."""

MAX_OF_ONE = MAX_CONNECTIONS // 4
"""The maximum number of connections of one address that is not that of a trusted proxy."""

HEADERS_TIMEOUT = 10.0
"""Seconds for the headers of a request, from the start of the connection or their first byte."""

WRITE_TIMEOUT = 30.0
"""Seconds for which a client may leave an answer unread."""


class Settings(uvicorn.Config):
    """The settings, and the connections that wait for a request, the oldest first."""

    is_trusted: Callable[[str], bool] = staticmethod(lambda address: False)

    def __init__(self, *arguments: Any, **options: Any) -> None:  # those of uvicorn
        super().__init__(*arguments, **options)
        self.silent: dict[Connection, None] = {}
        self.by_address: dict[str, set[Connection]] = {}


class Connection(H11Protocol):
    """A connection that is closed if no request arrives, or others need its place."""

    config: Settings

    def connection_made(  # type: ignore[override]  # uvicorn's own transports are these
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._address = self.client[0] if self.client else ""
        mine = self.config.by_address.setdefault(self._address, set())
        mine.add(self)
        self._wait()
        if len(mine) > MAX_OF_ONE and not self.config.is_trusted(self._address):
            (self._oldest(mine) or self)._end()
        elif len(self.connections) > MAX_CONNECTIONS and (other := self._oldest(self.connections)):
            other._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        mine = self.config.by_address.get(self._address, set())
        mine.discard(self)
        if not mine:
            self.config.by_address.pop(self._address, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._timer is None:
            self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(WRITE_TIMEOUT, self._end)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread.cancel()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and self.cycle.response_complete:
            self.config.silent[self] = None  # uvicorn's own timer closes it

    def send_400_response(self, msg: str) -> None:
        body = json.dumps({"success": False, "error": "this is not valid HTTP/1.1"}).encode()
        head = (
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        if not self.transport.is_closing():
            self.transport.write(head.encode() + body)
            self.transport.close()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(HEADERS_TIMEOUT, self._end)
        self.config.silent[self] = None

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.config.silent.pop(self, None)

    def _oldest(self, among: Collection[object]) -> Connection | None:
        """Return the connection among these that has waited longest, but not this one."""
        others = (it for it in self.config.silent if it is not self and it in among)
        return next(others, None)

    def _end(self) -> None:
        self._stop_waiting()
        self.transport.abort()

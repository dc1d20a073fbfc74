"""Clock and stop event of a generation."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..errors import ContentgenError, NoText


@dataclass(frozen=True)
class Clock:
    """Sources of time and randomness, which tests replace."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


class Stop:
    """An event that keeps a run from sending more requests.

    `reason` is the error for the requests that were not sent, or None if the run is not stopped.
    """

    def __init__(self) -> None:
        self.reason: ContentgenError | NoText | None = None
        self._event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def set(self, reason: ContentgenError | NoText) -> None:
        """Stop the run; the first reason counts. Any thread and signal handler may call this."""
        self.reason = self.reason or reason
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._event.set)

    async def or_done(self, waiting: Awaitable[object]) -> None:
        """Wait until `waiting` is done or the run is stopped."""
        self._loop = asyncio.get_running_loop()
        if self.reason:  # set() may have been called before the loop ran
            self._event.set()
        either = [asyncio.ensure_future(waiting), asyncio.ensure_future(self._event.wait())]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        for future in either:
            future.cancel()

"""Clock, worker thread and stop event of a generation."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar, TypeVarTuple

from ..errors import ContentgenError, NoText

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Clock:
    """Sources of time and randomness, which tests replace."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


class WorkerThread:
    """Runs blocking calls one after the other in a separate thread."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "contentgen")

    async def run(self, call: Callable[[*_Arguments], _Result], *arguments: *_Arguments) -> _Result:
        """Run a call in the thread, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, call, *arguments)

    def close(self) -> None:
        """Wait for pending calls, and end the thread."""
        self._executor.shutdown()


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

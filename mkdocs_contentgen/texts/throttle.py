"""Rate limiting: concurrency, pauses that the service asks for, back-off, and stopping."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..concurrency import backoff
from ..errors import (
    ContentgenError,
    NoText,
    NotSentError,
    ServiceError,
    UnreachableError,
    UnusableServiceError,
)
from .policy import Limits

FIRST_BACKOFF = 0.5
"""Maximum seconds before the second try."""


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


class Throttle:
    """Limits the requests in flight, and pauses or stops all requests after a failure.

    A pause that is longer than the timeout of a request stops the run.
    """

    def __init__(self, stop: Stop, clock: Clock, limits: Limits) -> None:
        self.in_flight = 0
        self._stop = stop
        self._clock = clock
        self._limits = limits
        self._window: float = limits.concurrency
        self._request_done = asyncio.Event()
        self._send_lock = asyncio.Lock()
        self._paused_until = 0.0

    @property
    def pause(self) -> float:
        """The remaining seconds of the pause that the service asked for, or 0."""
        return max(0, self._paused_until - self._clock.monotonic())

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Count a request as in flight as long as the block runs."""
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self._request_done.set()

    async def wait_for_turn(self) -> float:
        """Wait until one more request may be sent, or the run is stopped.

        Returns the seconds spent waiting for other requests, which do not count for the deadline
        of this one; a pause does.
        """
        waited = 0.0
        while True:
            started = self._clock.monotonic()
            async with self._send_lock:  # first come, first served
                while self.in_flight + 1 > self._window and not self._stop.reason:
                    self._request_done.clear()
                    await self._stop.or_done(self._request_done.wait())
                waited += self._clock.monotonic() - started
                pause = self.pause
                if self._stop.reason or pause <= 0:
                    return waited
            # Jitter, so that the requests do not all go out at the end of the pause.
            await self._stop.or_done(self._clock.sleep(pause * (1 + self._clock.random() / 10)))

    def answered(self) -> None:
        """Allow slightly more requests at once after an answer, up to `concurrency`."""
        self._window = min(self._limits.concurrency, self._window + 1 / self._window)

    def failed(self, failure: ServiceError, *, attempt: int) -> None:
        """Pause, narrow the window or stop the run, as a failure demands.

        `attempt` counts the tries of that request from 0.
        """
        if isinstance(failure, UnusableServiceError):
            self._stop.set(failure)
        if not isinstance(failure, NotSentError):
            return
        delay = failure.retry_after
        if delay is None:
            delay = backoff(FIRST_BACKOFF, attempt, self._clock.random())
        if delay > self._limits.timeout:
            self._stop.set(failure)
            return
        self._paused_until = max(self._paused_until, self._clock.monotonic() + delay)
        if not isinstance(failure, UnreachableError):
            # The service accepts as many requests at once as are in flight now.
            self._window = max(1, min(self._window, self.in_flight))

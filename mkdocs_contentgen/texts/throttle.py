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

TURN_INTERVAL = 0.1
"""Seconds between two checks whether one more request may be sent."""


@dataclass(frozen=True)
class Clock:
    """Sources of time and randomness, which tests replace."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


class Throttle:
    """Limits the requests in flight, and pauses or stops all requests after a failure.

    A pause that is longer than the timeout of a request stops the run.
    """

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self.in_flight = 0
        self.stop_reason: ContentgenError | NoText | None = None
        """The error for the requests that were not sent, or None if the run is not stopped."""

        self._clock = clock
        self._limits = limits
        self._window: float = limits.concurrency
        self._paused_until = 0.0

    def stop(self, reason: ContentgenError | NoText) -> None:
        """Send no more requests. Those that were not sent get the first `reason` as their error.

        After the failure of a request, they are said not to be sent because of it. Requests in
        flight are awaited, since they may have been paid for, and of texts in parts the part that
        is being written. Any thread and signal handler may call this.
        """
        if isinstance(reason, ServiceError):
            message = f"it was not requested, since another request failed: {reason}"
            reason = NoText("stopped", message, cause=reason)
        self.stop_reason = self.stop_reason or reason

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

    async def wait_for_turn(self) -> float:
        """Wait until one more request may be sent, or the run is stopped.

        Returns the seconds spent waiting for other requests, which do not count for the deadline
        of this one; a pause does.
        """
        waited = 0.0
        while not self.stop_reason and (self.pause or self.in_flight + 1 > self._window):
            is_paused, started = self.pause > 0, self._clock.monotonic()
            await self._clock.sleep(TURN_INTERVAL)
            if not is_paused:
                waited += self._clock.monotonic() - started
        return waited

    def answered(self) -> None:
        """Allow slightly more requests at once after an answer, up to `concurrency`."""
        self._window = min(self._limits.concurrency, self._window + 1 / self._window)

    def failed(self, failure: ServiceError, *, attempt: int) -> None:
        """Pause, narrow the window or stop the run, as a failure demands.

        `attempt` counts the tries of that request from 0.
        """
        if isinstance(failure, UnusableServiceError):
            self.stop(failure)
        if not isinstance(failure, NotSentError):
            return
        delay, jitter = failure.retry_after, self._clock.random()
        if delay is None:
            delay = backoff(FIRST_BACKOFF, attempt, jitter)
        elif delay > self._limits.timeout:
            self.stop(failure)
            return
        else:  # so that several machines do not all send at the end of the pause
            delay *= 1 + jitter / 10
        self._paused_until = max(self._paused_until, self._clock.monotonic() + delay)
        if not isinstance(failure, UnreachableError):
            # The service accepts as many requests at once as are in flight now.
            self._window = max(1, min(self._window, self.in_flight))

"""Limit the client's concurrent requests (no limit per minute), pause, back off, and stop.

A service does not say how many requests at once it takes, and several machines can share its limit.
So the number is found as TCP finds its rate: each answer allows slightly more requests at once (one
more for each window of answers), and a refusal at once only as many as are in flight. Only a
refusal narrows the window: if no connection can be made, the service did not see the request.

A pause holds all requests of the run, since the next one would be refused as well. It counts for
the deadline of a request: otherwise a service that always asks to wait would be asked for ever. The
time in which a request waits for others does not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..concurrency import Backoff, Clock
from ..errors import (
    ContentgenError,
    MissingReason,
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


class Throttle:
    """Limits the requests in flight, and pauses or stops all requests after a failure.

    A pause that is longer than the timeout of a request stops the run.
    """

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self.in_flight = 0
        self.stop_reason: ContentgenError | MissingReason | None = None
        """The error for the requests that were not sent, or None if the run is not stopped."""

        self._clock = clock
        self._limits = limits
        self._window: float = limits.concurrency
        self._backoff = Backoff(clock, FIRST_BACKOFF)

    def stop(self, reason: ContentgenError | MissingReason) -> None:
        """Send no more requests. Those that were not sent get the first `reason` as their error.

        If another request has failed, the error says that they were not sent because of it.
        Requests in flight are awaited, since they may have been paid for. Of a text that is written
        in parts, only the current part is awaited. Any thread and signal handler may call this.
        """
        if isinstance(reason, ServiceError):
            message = f"it was not requested, since another request failed: {reason}"
            reason = MissingReason("stopped", message, cause=reason)
        self.stop_reason = self.stop_reason or reason

    @property
    def pause(self) -> float:
        """The remaining seconds of the pause that the service asked for, or 0."""
        return self._backoff.remaining

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Count a request as in flight as long as the block runs."""
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1

    def _may_send(self) -> bool:
        """Tell whether one more request may be sent now."""
        return not self.pause and self.in_flight + 1 <= self._window

    async def wait_for_turn(self) -> float:
        """Wait until one more request may be sent, or the run is stopped.

        Returns the seconds spent waiting for other requests, which do not count for the deadline
        of this one; a pause does.
        """
        waited = 0.0
        while not self.stop_reason and not self._may_send():
            is_paused = self.pause > 0
            started = self._clock.monotonic()
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
        if isinstance(failure, UnusableServiceError):  # which is no NotSentError
            self.stop(failure)
        if not isinstance(failure, NotSentError):
            return
        if failure.retry_after is None:
            self._backoff.pause(self._backoff.seconds_after(attempt))
        elif failure.retry_after <= self._limits.timeout:
            self._backoff.pause(self._backoff.spread(failure.retry_after))
        else:
            self.stop(failure)
            return
        if not isinstance(failure, UnreachableError):
            # The service accepts as many requests at once as are in flight now.
            self._window = max(1, min(self._window, self.in_flight))

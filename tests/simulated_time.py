"""An event loop in which nothing really waits, for tests and benchmarks of hours of waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from selectors import DefaultSelector, SelectorKey
from typing import TypeVar, TypeVarTuple

Arguments = TypeVarTuple("Arguments")
Returned = TypeVar("Returned")


class _NoWaiting(DefaultSelector):
    """Notes the seconds that it would have waited."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout:
            self.skipped += timeout
        return ready


class SimulatedTime(asyncio.SelectorEventLoop):
    """A loop in which hours pass at once, and what threads would do is done in its own."""

    def __init__(self) -> None:
        self._clock = _NoWaiting()
        self._started = time.perf_counter()
        super().__init__(self._clock)

    def time(self) -> float:
        """Return the seconds that have passed."""
        return time.perf_counter() - self._started + self._clock.skipped

    def run_in_executor(
        self, executor: object, call: Callable[[*Arguments], Returned], *arguments: *Arguments
    ) -> asyncio.Future[Returned]:
        """Call at once; what came of it is there after all else had its turn, as with a thread."""
        done = self.create_future()
        try:
            self.call_soon(done.set_result, call(*arguments))
        except Exception as error:  # noqa: BLE001  as an executor does
            self.call_soon(done.set_exception, error)
        return done

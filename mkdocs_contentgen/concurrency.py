"""Blocking calls in a thread, and the back-off between the tries of a request.

Whoever waits gets a Clock, so that tests of hours of waiting take no time.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeVar, TypeVarTuple

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")


async def run_in(
    executor: Executor, call: Callable[[*_Arguments], _Result], *arguments: *_Arguments
) -> _Result:
    """Run a blocking call in a thread of the executor, and return its result."""
    return await asyncio.get_running_loop().run_in_executor(executor, call, *arguments)


@dataclass(frozen=True)
class Clock:
    """Sources of time and randomness, which tests replace."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random
    """Returns a number from 0 to 1."""


class Backoff:
    """The pause that all requests to one server make after a failed one.

    `first` is the longest pause after the first try of a request, in seconds. It doubles with each
    further try. Up to half of it is left out at random, so that not all requests are tried again at
    the same time.
    """

    def __init__(self, clock: Clock, first: float) -> None:
        self._clock = clock
        self._first = first
        self._paused_until = 0.0

    @property
    def remaining(self) -> float:
        """The remaining seconds of the pause, or 0."""
        return max(0.0, self._paused_until - self._clock.monotonic())

    def seconds_after(self, attempt: int) -> float:
        """Return the seconds to wait after a failed try. `attempt` counts the tries from 0."""
        return self._first * 2.0**attempt * (0.5 + self._clock.random() / 2)

    def spread(self, seconds: float) -> float:
        """Return a pause that a server asks for, up to a tenth longer.

        So several machines do not all send at its end.
        """
        return seconds * (1 + self._clock.random() / 10)

    def pause(self, seconds: float) -> None:
        """Pause all requests from now on, unless they already pause for longer."""
        self._paused_until = max(self._paused_until, self._clock.monotonic() + seconds)

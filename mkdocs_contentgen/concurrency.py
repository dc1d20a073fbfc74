"""A thread for blocking calls, and the back-off between the tries of a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")


class WorkerThread:
    """Runs blocking calls one after the other in a separate thread."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "contentgen")

    async def run(self, call: Callable[[*_Arguments], _Result], *arguments: *_Arguments) -> _Result:
        """Run a call in the thread, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, call, *arguments)

    def close(self, *, cancel_pending: bool = False) -> None:
        """Wait for the current call and the pending ones, or cancel those, and end the thread."""
        self._executor.shutdown(cancel_futures=cancel_pending)


def backoff(first: float, attempt: int, jitter: float) -> float:
    """Return the seconds to wait after a failed try. `attempt` counts the tries from 0.

    They are at most `first` after the first try, and double with each further one. `jitter` is a
    random number from 0 to 1, so that not all requests are tried again at the same time.
    """
    return first * 2.0**attempt * (0.5 + jitter / 2)

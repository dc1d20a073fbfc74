"""Blocking calls in a thread, and the back-off between the tries of a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar, TypeVarTuple

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")


async def run_in(
    executor: Executor, call: Callable[[*_Arguments], _Result], *arguments: *_Arguments
) -> _Result:
    """Run a blocking call in a thread of the executor, and return its result."""
    return await asyncio.get_running_loop().run_in_executor(executor, call, *arguments)


def backoff(first: float, attempt: int, jitter: float) -> float:
    """Return the seconds to wait after a failed try. `attempt` counts the tries from 0.

    They are at most `first` after the first try, and double with each further one. `jitter` is a
    random number from 0 to 1, so that not all requests are tried again at the same time.
    """
    return first * 2.0**attempt * (0.5 + jitter / 2)

"""A thread for blocking calls."""

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

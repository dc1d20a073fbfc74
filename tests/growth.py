"""How the time of a function grows with its input, on a machine that has other things to do."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial


def once(function: Callable[[], object]) -> float:
    """Return the CPU time of this process for a call, in seconds.

    No garbage is collected meanwhile: how long that takes depends on the tests before.
    """
    gc.disable()
    try:
        started = time.process_time()
        function()
        return time.process_time() - started
    finally:
        gc.enable()


def seconds(function: Callable[[], object], times: int = 3) -> float:
    """Return the least CPU time of several calls, in seconds."""
    return min(once(function) for _ in range(times))


def growth(function: Callable[[str], object], make: Callable[[int], str], size: int) -> float:
    """Return how often longer an input of twice the size takes: 2 if linear, 4 if quadratic.

    What a busy machine made look worse is measured again, up to eight times.
    """
    texts = make(2 * size), make(size)
    large = small = float("inf")
    for number in range(8):
        large, small = (
            min(least, once(partial(function, text)))
            for least, text in zip((large, small), texts, strict=True)
        )
        if large / small < 2.5 and (number or small > 0.1):
            break
    return large / small

"""How the time of a function grows with its input, on a machine that has other things to do."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial

LINEAR = 1.7
"""What `growth` stays below for linear time, whatever else the machine does."""


LONG = 0.05
"""Seconds that are not measured again to be sure."""


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


def growth(
    function: Callable[[str], object], make: Callable[[int], str], size: int, factor: int = 8
) -> float:
    """Return how often longer each part takes where there are `size` of them, not a `factor`-th.

    That is 1 for linear time, and the factor for quadratic time; less where a call takes time of
    its own. What a busy machine made look worse is measured again, up to eight times.
    """
    large_text, small_text = make(size), make(size // factor)
    least = float("inf")
    for _ in range(8):
        small = once(partial(function, small_text))
        if small < LONG:
            small = min(small, seconds(partial(function, small_text), times=2))
        least = min(least, once(partial(function, large_text)) / small / factor)
        if least < LINEAR:
            break
    return least

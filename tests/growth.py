"""How the time of a function grows with its input, on a machine that has other things to do."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(function: Callable[[], object], times: int = 3) -> float:
    """Return the CPU time of this process for a call, the best of several."""
    taken = []
    for _ in range(times):
        started = time.process_time()
        function()
        taken.append(time.process_time() - started)
    return min(taken)


def growth(function: Callable[[str], object], make: Callable[[int], str], size: int) -> float:
    """Return how often longer an input of twice the size takes: 2 if linear, 4 if quadratic.

    What a busy machine made look worse is measured again, up to four times.
    """
    small, large = make(size), make(2 * size)
    least = float("inf")
    for _ in range(4):
        ratio = seconds(lambda: function(large)) / seconds(lambda: function(small))
        least = min(least, ratio)
        if least < 2.5:
            break
    return least

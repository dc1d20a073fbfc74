"""Compare sequences."""

from __future__ import annotations

from collections.abc import Iterable


def common_length(one: Iterable[object], other: Iterable[object]) -> int:
    """Return how many items at the start of two sequences are equal."""
    length = 0
    for item, other_item in zip(one, other, strict=False):
        if item != other_item:
            break
        length += 1
    return length

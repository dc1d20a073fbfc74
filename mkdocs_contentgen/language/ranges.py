"""Parts of a text that a person has to look at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Range:
    """The start and the end of a part of a text."""

    start: int
    end: int

    is_weak: bool = False
    """Whether a source has the same figures or words, in another form or for something else."""

    def of(self, text: str) -> str:
        """Return the part of a text."""
        return text[self.start : self.end]


def without_overlaps(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges in order, without those that begin within another."""
    kept: list[Range] = []
    for part in sorted(ranges):
        if not kept or part.start >= kept[-1].end:
            kept.append(part)
    return kept


def overlaps(start: int, end: int, ranges: Sequence[Range]) -> bool:
    """Tell whether one of the ranges, which are in order and apart, has a part of this one."""
    before = bisect_left(ranges, end, key=lambda part: part.start)
    return before > 0 and ranges[before - 1].end > start

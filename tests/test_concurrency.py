"""The back-off of all who ask a server, with a clock that is handed in."""

from __future__ import annotations

import pytest

from mkdocs_contentgen.concurrency import Backoff, Clock


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, [1, 2, 4]), (1.0, [2, 4, 8])])
def test_seconds_after(chance: float, seconds: list[float]) -> None:
    """They double with each try, and half of them is random."""
    backoff = Backoff(Clock(random=lambda: chance), first=2)
    assert [backoff.seconds_after(attempt) for attempt in range(3)] == seconds
    assert backoff.spread(100) == pytest.approx(100 + 10 * chance)


def test_the_longer_pause_counts() -> None:
    """A shorter pause does not end a longer one, and none is left when its time is over."""
    now = 1000.0
    backoff = Backoff(Clock(monotonic=lambda: now), first=1)
    assert backoff.remaining == 0
    backoff.pause(3600)
    now += 600
    backoff.pause(5)
    assert backoff.remaining == 3000
    now += 4000
    assert backoff.remaining == 0

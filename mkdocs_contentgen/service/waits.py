"""Read for how long a server asks to wait."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) *([a-z]*) *")
_UNITS = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("", "s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
}
"""The seconds in each unit of a duration such as `1m30s`. Without a unit, it is seconds."""


@dataclass(frozen=True)
class RetryAfter:
    """For how long a server asks to wait."""

    seconds: float | None = None
    """None if it does not say so, nobody can read it, or it names a date that has passed."""

    unread: str = ""
    """A header that says so and cannot be read, or an empty string. It is untrusted."""


def read_retry_after(values_of: Callable[[str], Sequence[str]]) -> RetryAfter:
    """Return for how long a server asks to wait. `values_of` returns the values of a header."""
    unread = ""
    # The header of OpenAI and Azure is more exact, so it goes first.
    for name, unit in (("retry-after-ms", "ms"), ("Retry-After", "")):
        waits = []
        unread_values = []
        for value in values_of(name):
            value = value.strip()
            seconds = parse_wait(value, unit)
            if seconds is None:
                unread_values.append(value)
            elif seconds >= 0:
                waits.append(seconds)
        # A server and the gateway before it can each send one. The longest is safe for both.
        if waits:
            return RetryAfter(max(waits))
        if any(unread_values):
            unread = f"{name}: {', '.join(unread_values)}"
    return RetryAfter(unread=unread)


def parse_wait(value: str, unit: str = "") -> float | None:
    """Return the seconds in a waiting time, or None if it cannot be read.

    It is a number, in `unit` where it names none, a duration such as `5s` and `1m30s`, or a date.
    For a date that has passed, the seconds are negative.
    """
    seconds = _parse_duration(value.lower(), unit)
    if seconds is not None:
        return seconds
    with suppress(ValueError, OverflowError):
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:  # it is in UTC, as all dates of HTTP are
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp() - time.time()
    return None


def _parse_duration(value: str, unit: str) -> float | None:
    """Return the seconds in a duration, or None if a value is not a duration."""
    parts = list(_DURATION.finditer(value))
    if not parts or "".join(part[0] for part in parts) != value:
        return None
    seconds = 0.0
    for part in parts:
        if not part[2] and len(parts) > 1:  # only a single number can be without a unit
            return None
        name = part[2] or unit
        if name not in _UNITS:
            return None
        seconds += float(part[1]) * _UNITS[name]
    return seconds


def format_seconds(seconds: float) -> str:
    """Return a number of seconds with at most one decimal place."""
    return f"{seconds:.1f}".removesuffix(".0")

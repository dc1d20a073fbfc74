"""For how long a server asks to wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from mkdocs_contentgen.service.waits import RetryAfter, parse_wait, read_retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("7", 7),
        ("999999999", 999999999),
        ("9" * 400, None),
        ("-1", None),
        ("1.5", 1.5),
        ("5s", 5),
        ("5 seconds", 5),
        ("1m30s", 90),
        ("1m 30s", 90),
        ("250ms", 0.25),
        ("2h", 7200),
        ("1.5.5", None),
        ("5 parsecs", None),
        ("5m3", None),
        ("1e3", None),
        ("٣", None),
        ("soon", None),
        ("", None),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
        ("Wed, 21 Oct 2015 07:28:00 +999999", None),
        ("Wed, 99 Oct 2015 99:99:99 GMT", None),
    ],
)
def test_a_waiting_time(value: str, seconds: float | None) -> None:
    """It is a number, a duration or a date; whatever else counts as not said."""
    assert parse_wait(value) == seconds


def test_a_date() -> None:
    """A date is turned into the seconds from now."""
    seconds = parse_wait(format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True))
    assert seconds is not None
    assert 290 < seconds <= 300


@pytest.mark.parametrize("zone", ["", " GMT"])
def test_a_date_that_has_passed(zone: str) -> None:
    """It is so many seconds ago. Without a zone, it is in UTC."""
    seconds = parse_wait(f"{PASSED.removesuffix(' GMT')}{zone}")
    assert seconds is not None
    assert seconds < 0


PASSED = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, RetryAfter()),
        ({"Retry-After": [""]}, RetryAfter()),
        ({"Retry-After": [" 120 "]}, RetryAfter(120)),
        ({"Retry-After": ["soon"]}, RetryAfter(unread="Retry-After: soon")),
        ({"Retry-After": ["5", "20", "soon"]}, RetryAfter(20)),
        ({"retry-after-ms": ["4500"]}, RetryAfter(4.5)),
        ({"retry-after-ms": ["4500"], "Retry-After": ["5"]}, RetryAfter(4.5)),
        ({"retry-after-ms": ["4.5s"]}, RetryAfter(4.5)),
        ({"retry-after-ms": ["soon"], "Retry-After": ["5"]}, RetryAfter(5)),
        ({"retry-after-ms": ["soon"]}, RetryAfter(unread="retry-after-ms: soon")),
        ({"Retry-After": ["0"]}, RetryAfter(0)),
        ({"Retry-After": ["0 s"]}, RetryAfter(0)),
        ({"retry-after-ms": ["0"]}, RetryAfter(0)),
        ({"Retry-After": [PASSED]}, RetryAfter()),
        ({"Retry-After": [PASSED, "5"]}, RetryAfter(5)),
        ({"Retry-After": [PASSED, "soon"]}, RetryAfter(unread="Retry-After: soon")),
    ],
)
def test_the_headers(headers: Mapping[str, Sequence[str]], wait: RetryAfter) -> None:
    """Milliseconds go before seconds, and the longest of several times is safe.

    A date that has passed names no time: the clock of its server is wrong. Zero is a time.
    """
    assert read_retry_after(lambda name: headers.get(name, [])) == wait

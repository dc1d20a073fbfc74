"""The names of months and weekdays in languages that the table of words does not have: from CLDR.

babel has them. It is only imported for a text in such a language: that takes a tenth of a second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from .dates import make_weekday, month_date
from .value import Value

_LEAST_INFLECTED = 5
"""A name of so many letters, or more, can have an ending."""

_WIDTH = "wide"
"""CLDR has shorter names, too, which are other words in many languages."""


@dataclass(frozen=True)
class Calendar:
    """The names of a language, as they are written within a sentence."""

    months: Mapping[str, int]
    """The number of each month, from 1."""

    weekdays: Mapping[str, int]
    """The number of each weekday, from 0 for Monday."""

    pattern: re.Pattern[str]
    """Matches any of the names, as group 1, with its ending."""

    def with_dates(self, text: str, values: Sequence[Value]) -> list[Value]:
        """Return the values of a text with its dates in place of what was taken for figures."""
        dates = []
        for match in self.pattern.finditer(text):
            if match[1] in self.months:
                dates.append(month_date(text, match, self.months[match[1]]))
            else:
                dates.append(make_weekday(*match.span(), self.weekdays[match[1]]))
        return _together(dates, values)


@cache
def calendar_of(language: str) -> Calendar | None:
    """Return the names of months and weekdays in a language, by its primary tag, or None."""
    from babel import Locale, UnknownLocaleError

    try:
        locale = Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        return None
    months: dict[str, int] = {}
    weekdays: dict[str, int] = {}
    for context in ("format", "stand-alone"):
        for number, name in locale.months[context][_WIDTH].items():
            months[name] = number
        for number, name in locale.days[context][_WIDTH].items():
            weekdays[name] = number
    names = sorted((*months, *weekdays), key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)({'|'.join(map(_pattern_of, names))})(?:\w{{0,4}}(?!\w))?")
    return Calendar(months, weekdays, pattern)


def _pattern_of(name: str) -> str:
    """Return a pattern for a name. Only a longer one has endings: `Mayo` is no `May`."""
    pattern = re.escape(name)
    can_have_ending = len(name) >= _LEAST_INFLECTED and not name[-1].isdigit()
    if not can_have_ending:
        pattern += r"(?!\w)"
    return pattern


def _together(dates: Sequence[Value], values: Sequence[Value]) -> list[Value]:
    """Return dates and values in the order of the text, without values that overlap a date."""
    found = list(dates)
    left = list(reversed(dates))
    for value in values:
        while left and left[-1].end <= value.start:
            left.pop()
        if not left or value.end <= left[-1].start:
            found.append(value)
    return sorted(found, key=lambda value: value.start)

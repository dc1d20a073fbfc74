"""Find the values in a text.

A text is read once, from left to right, and its words are looked up in a table: a pattern of all
units and numbers in all languages would take ten times as long.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from ..words import EAST_ASIAN
from .calendar import calendar_of
from .dates import (
    CLOCKS,
    EAST_DATE,
    EAST_TIME,
    EAST_WEEKDAY,
    WEEKDAY,
    date_in_figures,
    east_date,
    east_time,
    east_weekday,
    hour_with_sign,
    hours_of_bare_figure,
    make_weekday,
    month_date,
    time_in_words,
    time_of_day,
    two_times,
)
from .figure import FIGURE, read_figure
from .numbers import EAST_NUMBER, east_number, magnitude_alone, number_in_words
from .parameters import readings_of_parameters
from .value import Readings, Value, of_figure
from .vocabulary import (
    Vocabulary,
    all_months,
    guess_language,
    has_vocabulary,
    magnitudes,
    source_vocabulary,
    vocabulary,
)

_TOKEN = re.compile(
    rf"(?P<east_date>{EAST_DATE})"
    rf"|(?P<east_time>{EAST_TIME})"
    rf"|(?P<clocks>{CLOCKS})"
    rf"|(?P<figure>{FIGURE})"
    rf"|(?P<east_weekday>{EAST_WEEKDAY})"
    rf"|(?P<east_number>{EAST_NUMBER})"
    r"|(?P<elision>\b[A-Za-z]{1,5}['’](?=[^\W\d_]{3}))"  # as in `nell’aprile`
    rf"|(?P<word>[^\W\d_{EAST_ASIAN}]+(?:[-'’][^\W\d_{EAST_ASIAN}]+)*)"
)
"""Where a value can begin."""

_DAY_BESIDE = re.compile(r"\d(?:st|nd|rd|th)? $")
"""A day just before a month."""

_DAY_AFTER = re.compile(r"\.? \d")
"""A day just after a month."""

_BEFORE_MONTH = re.compile(
    r"\b(?:in|of|since|until|by|last|next|this|early|late|mid|during|from|between|through|"
    r"and|or|to|on|before|after)[ -]$",
    re.IGNORECASE,
)
"""What stands before a month that is another word too, such as `May`."""

_BEFORE = 12
"""The most characters of what stands before a month."""

_CONNECTORS = frozenset(
    "to and or bis und oder à a et ou y o e до и إلى – — - ~ 〜 至 到 から".split()
)
"""What stands between two figures that share a unit."""

_CONNECTORS_OF_DAYS = frozenset(
    "to through thru – — - ~ 〜 bis à a al até tot по do до 至 到 から".split()
)
"""What stands between two weekdays that are a range."""

_DAY_WITH_YEAR = re.compile(r"\d{4}/(\d{1,2}/\d{1,2})")
"""The reading of a date, with its month and day as group 1."""

_YEARS_IN_SHORT = re.compile(
    r"(?<![\d.,-])(?P<century>1[4-9]|20)(?P<tens>\d\d)\s?(?:--?|[/–—])\s?(?P<last>\d\d)(?![\d.,-]\d|\d)"
)
"""A period of years of which the last one is written with two digits, such as `2016-17`."""

_MAX_GAP = 6
"""The most characters between two figures that share a unit, as in `12 to 24 hours`."""


def find_values(text: str, language: str = "") -> list[Value]:
    """Return the values in a text, in order. `language` is a BCP 47 tag, or empty to guess it."""
    tag = language.lower().partition("-")[0] or guess_language(text)
    return _with_calendar(text, _read(text, vocabulary((tag,))), tag)


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def known_values(given: str, language: str = "") -> Readings:
    """Return the readings of all values in what is given.

    It is read in English, in the language that it seems to be in, and in that of the text.
    """
    tag = language.lower().partition("-")[0]
    tags = dict.fromkeys(["en", guess_language(given), tag])
    values = _with_calendar(given, _read(given, source_vocabulary(tuple(tags))), tag)
    found: set[str] = set()
    for value in values:
        found |= value.known
    found |= readings_of_parameters(given, values)
    found |= _years_in_short(given)
    return frozenset(found - _days_with_years(found))


def _years_in_short(text: str) -> set[str]:
    """Return the last years of periods such as `2016-17`, with all digits."""
    years: set[str] = set()
    for match in _YEARS_IN_SHORT.finditer(text):
        if match["last"] > match["tens"]:
            years.add(match["century"] + match["last"])
    return years


def _with_calendar(text: str, values: list[Value], tag: str) -> list[Value]:
    """Return the values of a text with its dates, if its language is not in the table of words."""
    if not tag or has_vocabulary(tag):
        return values
    calendar = calendar_of(tag)
    if calendar is None:
        return values
    return calendar.with_dates(text, values)


def _days_with_years(found: set[str]) -> set[str]:
    """Return the readings of days in any year that a source has with the year.

    With `May 11, 2015` in a source, the 11th of May of any other year is another day.
    """
    days: set[str] = set()
    for reading in found:
        match = _DAY_WITH_YEAR.fullmatch(reading)
        if match:
            days.add(f"~{match[1]}")
    return days


def _read(text: str, words: Vocabulary) -> list[Value]:
    found: list[Value] = []
    end = 0
    for token in _TOKEN.finditer(text):
        if token.start() < end:
            continue
        # Nearly all tokens are words that begin no value.
        if token.lastgroup == "word":
            word = token[0].casefold()
            if word not in words.first_words and "-" not in word:
                continue
        several = _two_values(text, token, words)
        if several:
            found += several
            end = found[-1].end
            continue
        value = _read_token(text, token, words)
        if value is None:
            continue
        if found and value.start < found[-1].end:
            # In `12–18 April`, `12–18` was taken for two figures, and 18 is the day of the month.
            figures = found.pop()
            found += _read_part(text, figures.start, value.start, words)
        found.append(value)
        end = value.end
    return _share_units(text, found)


def _two_values(text: str, token: re.Match[str], words: Vocabulary) -> list[Value]:
    """Return the times of `9:00-17:00` or the weekdays of `Monday-Friday`, none for all else."""
    if token["clocks"]:
        return two_times(text, token)
    first, hyphen, last = (token["word"] or "").casefold().partition("-")
    if hyphen and first in words.weekdays and last in words.weekdays:
        weekdays = []
        for part in re.finditer(r"[^-]+", token[0]):
            start = token.start() + part.start()
            number = words.weekdays[part[0].casefold()]
            weekdays.append(make_weekday(start, start + len(part[0]), number))
        return weekdays
    return []


def _read_part(text: str, start: int, end: int, words: Vocabulary) -> list[Value]:
    """Return the values in a part of a text, with their places in the text."""
    found = []
    for value in _read(text[start:end], words):
        found.append(replace(value, start=value.start + start, end=value.end + start))
    return found


def _read_token(text: str, token: re.Match[str], words: Vocabulary) -> Value | None:
    """Return the value that begins at a token, or None if there is none."""
    match token.lastgroup:
        case "east_date":
            return east_date(token)
        case "east_time":
            return east_time(token)
        case "east_weekday":
            return east_weekday(token)
        case "east_number":
            return east_number(text, token)
        case "elision":
            return None
        case "word":
            return _value_of_word(text, token, words)
    value = date_in_figures(token) or time_of_day(text, token) or hour_with_sign(text, token)
    if value is not None:
        return value
    figure = read_figure(text, token)
    return of_figure(figure) if figure else None


def _value_of_word(text: str, token: re.Match[str], words: Vocabulary) -> Value | None:
    """Return the month, the weekday or the number that begins with a word."""
    word = token[0].casefold()
    if word in words.times:
        return time_in_words(token, words.times[word])
    if word in words.months or word in words.weekdays:
        return _month_or_weekday(text, token, words)
    if word in all_months():
        date = month_date(text, token, all_months()[word])
        has_day_or_year = (date.start, date.end) != token.span()
        if has_day_or_year:
            return date
    first = word.partition("-")[0]
    if first in words.numbers or magnitudes().get(first) == 1000:
        number = number_in_words(text, token.start(), words)
        is_alone = number is not None and number.end == token.end()
        if is_alone and word in words.ambiguous:
            return None
        if number is not None or first in words.numbers:
            return number
    if word in magnitudes():
        return magnitude_alone(token, magnitudes()[word])
    return None


def _month_or_weekday(text: str, token: re.Match[str], words: Vocabulary) -> Value | None:
    """Return the date or the weekday with such a name, or None where the name is another word."""
    word = token[0].casefold()
    if _is_other_word(text, token, words):
        return None
    if word in words.months:
        return month_date(text, token, words.months[word])
    return make_weekday(*token.span(), words.weekdays[word])


def _is_other_word(text: str, token: re.Match[str], words: Vocabulary) -> bool:
    """Tell whether the name of a month or weekday is none here, such as `may` or `march`."""
    if words.need_capitals and not token[0][0].isupper():
        return True
    if token[0].casefold() not in words.ambiguous:
        return False
    before = text[max(0, token.start() - _BEFORE) : token.start()]
    has_day = _DAY_BESIDE.search(before) or _DAY_AFTER.match(text, token.end())
    return not (has_day or _BEFORE_MONTH.search(before))


def _share_units(text: str, found: list[Value]) -> list[Value]:
    """Let a figure also be read with the unit or the month of the next one.

    So `12 to 24 hours` has 12 hours, `12–18 April` the 12th of April, and `9 to 5 pm` nine o'clock.
    A range of weekdays has those between them, too.
    """
    shared = list(found)
    for index in range(len(found) - 1):
        value = found[index]
        following = found[index + 1]
        gap = text[value.end : following.start]
        if len(gap) > _MAX_GAP:
            continue
        if gap.strip() in _CONNECTORS:
            shared[index] = _with_scale_of(value, following)
            shared[index + 1] = _with_hours(following)
        if gap.strip() in _CONNECTORS_OF_DAYS:
            shared[index + 1] = _with_days_between(value, shared[index + 1])
    return shared


def _with_hours(value: Value) -> Value:
    """Return a figure that can also be an hour, as in `from 9 to 5`."""
    hour = _bare_hour(value)
    if hour is None:
        return value
    return replace(value, parts=(value.parts[0] | hours_of_bare_figure(hour),))


def _bare_hour(value: Value) -> int | None:
    """Return the hour that a figure without unit can be, or None."""
    figure = value.figure
    if figure is None or figure.magnitude > 1 or figure.unit or len(value.parts) > 1:
        return None
    if not figure.written.isdigit() or int(figure.written) > 24:
        return None
    return int(figure.written)


def _with_days_between(first: Value, last: Value) -> Value:
    """Return the last weekday of a range, which says those between them, too."""
    numbers = []
    for value in (first, last):
        for reading in value.parts[0]:
            if reading.startswith(WEEKDAY):
                numbers.append(int(reading.removeprefix(WEEKDAY)))
    if len(numbers) < 2:
        return last
    begin, end = numbers
    days = range(begin + 1, end if end > begin else end + 7)
    return replace(last, implied=last.implied.union(f"{WEEKDAY}{day % 7}" for day in days))


def _with_scale_of(value: Value, following: Value) -> Value:
    """Return a plain figure that can also have the unit or the month of the following value."""
    figure = value.figure
    if figure is None or figure.magnitude > 1 or figure.unit:
        return value
    if following.month:
        days = [f"{following.month}/{day}" for day in figure.bare_readings()]
        in_any_year = [f"~{day}" for day in days]
        return replace(value, implied=value.implied.union(days, in_any_year))
    hour = _bare_hour(value)
    if hour is not None and (following.is_time or _bare_hour(following) is not None):
        return replace(value, parts=(value.parts[0] | hours_of_bare_figure(hour),))
    if following.figure is None:
        return value
    scale = following.figure
    scaled = replace(figure, magnitude=scale.magnitude, unit=scale.unit).readings()
    parts = zip(value.parts, scaled, strict=True)
    return replace(value, parts=tuple(plain | with_unit for plain, with_unit in parts))

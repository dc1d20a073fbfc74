"""Dates, weekdays and times of day."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from .figure import ascii_digits
from .value import Readings, Value

EAST_DATE = (
    r"(?:\d{2,4}|[〇零○一二三四五六七八九]{4}(?= ?年)) ?[年년](?![間间])"
    r"(?:\s?\d{1,2} ?[月월](?:\s?\d{1,2} ?[日号號일])?)?"
    r"|\d{1,2} ?[月월](?:\s?\d{1,2} ?[日号號일])?"
)
"""A date in Chinese, Japanese or Korean, of which the year or the month is known."""

EAST_WEEKDAY = (
    r"(?:星期|礼拜|禮拜|周|週)[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일"
)
"""A weekday in Chinese, Japanese or Korean."""

EAST_TIME = (
    r"(?P<east_half>午前|午後|上午|下午|早上|晚上|오전|오후)?\s?(?P<east_hour>\d{1,2})"
    r"(?:[時时](?!間|间)|[点點]|시(?!간))(?:\s?(?P<east_minute>\d{1,2})[分분])?"
)
"""A time of day in Chinese, Japanese or Korean."""

_EAST_DATE = re.compile(
    r"(?:(\d{2,4}) ?[年년])?\s?(?:(\d{1,2}) ?[月월])?\s?(?:(\d{1,2}) ?[日号號일])?"
)
"""The year, the month and the day of such a date, as groups 1 to 3."""

_EAST_AFTERNOON = ("午後", "下午", "晚上", "오후")
"""The words for the second half of the day."""

_EAST_DIGITS = str.maketrans("〇零○一二三四五六七八九", "000123456789")
"""The digits of a year in Chinese characters, such as `一九九九年`."""

_EAST_WEEKDAYS = {character: number for number, character in enumerate("一二三四五六日")}
_EAST_WEEKDAYS |= {character: number for number, character in enumerate("月火水木金土日")}
_EAST_WEEKDAYS |= {character: number for number, character in enumerate("월화수목금토일")}
_EAST_WEEKDAYS["天"] = 6

WEEKDAY = "weekday "
"""The start of the reading of a weekday, which its number follows, from 0 for Monday."""

_YEAR_FIRST = re.compile(
    r"(?P<year>[12]\d{3})(?P<separator>[-/.])(?P<month>\d{1,2})(?P=separator)(?P<day>\d{1,2})"
)
_YEAR_LAST = re.compile(
    r"(?P<first>\d{1,2})(?P<separator>[-/.])(?P<second>\d{1,2})(?P=separator)(?P<year>[12]\d{3})"
)
"""A date in figures, of which the first or the second is the month."""

_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?:(?P<separator>[:.])(?P<minute>\d{2}))?(?::\d{2})?")
"""A time of day in figures, with or without minutes and seconds."""

CLOCKS = (
    r"(?<![\w.:/-])(?P<opening>\d{1,2}:\d{1,2})[-–](?P<closing>\d{1,2}:\d{1,2})(?![\d:]|[-–]\d)"
)
"""Two times of day with nothing between them but a dash, such as `17:30-21:30`.

Data have minutes of one digit, too: `9:0-17:0`.
"""

_HOURS = re.compile(r"(\d{1,2})(?::(\d{2}))?[-–](\d{1,2})(?::(\d{2}))?")
"""Two hours, such as `9-17`, which are times if a word after them says so."""

_HALF_OF_DAY = re.compile(
    r"[ \u00a0\u202f]?(?:(?P<morning>a(?:\.\s?m\.|m\b)"
    r"|de la mañana\b|da manhã\b|du matin\b|d(?:i|el) mattin[ao]\b|morgens\b|утра\b|صباح)"
    r"|(?P<evening>p(?:\.\s?m\.|m\b)"
    r"|de la (?:tarde|noche)\b|da (?:tarde|noite)\b|d(?:u soir|e l[’']après-midi)\b"
    r"|d(?:i sera|el pomeriggio)\b|nachmittags\b|abends\b|вечера\b|مساء))",
    re.IGNORECASE,
)
"""What says after a time which half of the day is meant, such as `pm`."""

_O_CLOCK = re.compile(r"[ \u00a0\u202f]?(?:o['’]clock|Uhr\b)")
"""What says that a figure is a time of day."""

_HOUR_SIGN = re.compile(r"[ \u00a0\u202f]?h(?:[ \u00a0\u202f]?(?P<minute>\d{2}))?(?!\w)")
"""What stands after the hour in French and Portuguese, as in `16 h 30`."""

_LONGEST_DAY = 12
"""The most characters of the day before a month, such as `28th of `."""

_DAY_BEFORE = re.compile(r"(?<!\d)(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?\s{0,2}(?:of |de |do )?$")
"""The day before the name of a month."""

_AFTER_MONTH = re.compile(
    r"(?:\.?\s{1,2}(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\d:%])(?!\.\d))?"
    r"(?:[.,]?\s{1,2}(?:of |de |del )?(?P<year>[12]\d{3})(?!\d))?"
)
"""The day and the year after it."""


def make_date(
    start: int,
    end: int,
    *,
    year: int | None = None,
    month: int | None = None,
    day: int | None = None,
) -> Value:
    """Return a date, of which the year or the month is known.

    A source that says `28 May` can mean any year that it has elsewhere, so it implies the reading
    `~5/28`. `28 May 2024` is stated by this reading as well as by `2024/5/28`.
    """
    parts: list[set[str]] = []
    implied: set[str] = set()
    instead: set[str] = set()
    if month:
        if day:
            without_year = f"{month}/{day}"
        else:
            without_year = f"month {month}"
        in_any_year = f"~{without_year}"
        implied.add(without_year)
        if year:
            if day:
                with_year = f"{year}/{month}/{day}"
            else:
                with_year = f"{year}/{month}"
            parts.append({with_year})
            instead.add(in_any_year)
        else:
            parts.append({without_year})
            implied.add(in_any_year)
    if month and day:  # A source that has the day has the month, too.
        implied.add(f"month {month}")
        implied.add(f"{year}/{month}" if year else f"~month {month}")
    if year:
        parts.append({str(year)})
    return Value(
        start,
        end,
        tuple(map(frozenset, parts)),
        implied=frozenset(implied),
        instead=frozenset(instead),
        month=month if day else None,
    )


def east_date(token: re.Match[str]) -> Value | None:
    """Return the date of a match of EAST_DATE."""
    match = _EAST_DATE.fullmatch(ascii_digits(token[0]).translate(_EAST_DIGITS))
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    return make_date(token.start(), token.end(), year=year, month=month, day=day)


def east_weekday(token: re.Match[str]) -> Value:
    """Return the weekday of a match of EAST_WEEKDAY."""
    # The day is the last character of `星期日`, and the first of `日曜日` and `일요일`.
    is_first = re.search("[曜요]", token[0])
    if is_first:
        character = token[0][0]
    else:
        character = token[0][-1]
    return make_weekday(*token.span(), _EAST_WEEKDAYS[character])


def make_weekday(start: int, end: int, number: int) -> Value:
    """Return the weekday with a number, from 0 for Monday."""
    return Value(start, end, (frozenset({f"{WEEKDAY}{number}"}),))


def month_date(text: str, token: re.Match[str], month: int) -> Value:
    """Return the date that has the name of a month, with the day and the year beside it."""
    start, end = token.span()
    before = _DAY_BEFORE.search(text, max(0, start - _LONGEST_DAY), start)
    after = _AFTER_MONTH.match(text, end)
    day = None
    if before:
        day = _day(before["day"])
    if before and day:
        start = before.start()
        if after and after["day"]:
            after = None  # in `28 May 12`, the 12 is something else
    elif after and after["day"]:
        day = _day(after["day"])
        if day is None:
            after = None  # in `May 99`, so is the 99
    year = None
    if after:
        end = after.end()
        year = None
        if after["year"]:
            year = int(after["year"])
    return make_date(start, end, year=year, month=month, day=day)


def _day(figure: str) -> int | None:
    """Return the day of a month, or None for a figure that is none."""
    day = int(figure)
    return day if 1 <= day <= 31 else None


def date_in_figures(token: re.Match[str]) -> Value | None:
    """Return the date of a figure such as 2024-03-15, 15.3.2024 or 3/15/2024."""
    start, end = token.span()
    digits = ascii_digits(token["digits"])
    match = _YEAR_FIRST.fullmatch(digits)
    if match:
        month = int(match["month"])
        if not 1 <= month <= 12:
            return None
        return make_date(start, end, year=int(match["year"]), month=month, day=int(match["day"]))
    match = _YEAR_LAST.fullmatch(digits)
    if match is None:
        return None
    first = int(match["first"])
    second = int(match["second"])
    year = int(match["year"])
    if second > 12:
        return make_date(start, end, year=year, month=first, day=second)
    day_first = make_date(start, end, year=year, month=second, day=first)
    if first > 12 or match["separator"] == ".":
        return day_first
    # `3/4/2024` is the third of April, or the fourth of March.
    month_first = make_date(start, end, year=year, month=first, day=second)
    both = zip(day_first.parts, month_first.parts, strict=True)
    return replace(
        day_first,
        parts=tuple(one | other for one, other in both),
        implied=day_first.implied | month_first.implied,
        instead=day_first.instead | month_first.instead,
    )


def east_time(token: re.Match[str]) -> Value:
    """Return the time of a match of EAST_TIME, which can be a number, too: `三点建议` are three."""
    hour = int(token["east_hour"])
    half = token["east_half"]
    hours = _hours(hour, is_half_known=bool(half), is_afternoon=half in _EAST_AFTERNOON)
    minute = (token["east_minute"] or "00").zfill(2)
    readings = {f"{found}:{minute}" for found in hours}
    if not (half or token["east_minute"]):
        readings.add(str(hour))
    return _time(token.start(), token.end(), frozenset(readings), hour)


def _hours(hour: int, *, is_half_known: bool, is_afternoon: bool) -> set[int]:
    """Return the hours of the day that can be meant by one of a clock of twelve hours."""
    if is_half_known and hour <= 12:
        return {hour % 12 + (12 if is_afternoon else 0)}
    if hour <= 12:  # of the morning or the evening
        return {hour, (hour + 12) % 24}
    return {hour % 24}


def hour_with_sign(text: str, token: re.Match[str]) -> Value | None:
    """Return a time such as `16 h 30` or `17h`. Without minutes, it can be so many hours."""
    digits = ascii_digits(token["digits"])
    sign = _HOUR_SIGN.match(text, token.end())
    if sign is None or token["currency"] or not digits.isdigit() or int(digits) > 24:
        return None
    readings = {f"{int(digits)}:{sign['minute'] or '00'}"}
    if not sign["minute"]:
        readings.add(f"{int(digits)} hour")
    return _time(token.start(), sign.end(), frozenset(readings), int(digits))


def time_of_day(text: str, token: re.Match[str]) -> Value | None:
    """Return a time such as 17:00, 5 pm, 5:30 a.m. or 17 Uhr."""
    digits = ascii_digits(token["digits"])
    match = _CLOCK.fullmatch(digits)
    if match is None:
        return _hours_in_range(text, token, digits)
    if token["currency"] or int(match["hour"]) > 24:
        return None
    half = _HALF_OF_DAY.match(text, token.end())
    words_after = half or _O_CLOCK.match(text, token.end())
    if not words_after and match["separator"] != ":":
        return None
    hour = int(match["hour"])
    hours = _hours(hour, is_half_known=bool(half), is_afternoon=bool(half and half["evening"]))
    minute = match["minute"] or "00"
    readings = frozenset(f"{found}:{minute}" for found in hours)
    end = words_after.end() if words_after else token.end()
    return _time(token.start(), end, readings, hour)


def two_times(text: str, token: re.Match[str]) -> list[Value]:
    """Return the two times of a match of CLOCKS."""
    half = _HALF_OF_DAY.match(text, token.end())
    words_after = half or _O_CLOCK.match(text, token.end())
    end = words_after.end() if words_after else token.end()
    opening, opening_minute = map(int, token["opening"].split(":"))
    closing, closing_minute = map(int, token["closing"].split(":"))
    if max(opening, closing) > 24 or max(opening_minute, closing_minute) > 59:
        return []
    # One hour after noon says that both are of a clock of 24 hours.
    is_after_noon = max(opening, closing) > 12 or 0 in (opening, closing)
    if half is None and is_after_noon:
        opening_hours = {opening % 24}
        closing_hours = {closing % 24}
    else:
        opening_hours = _hours(opening, is_half_known=False, is_afternoon=False)
        is_evening = half is not None and bool(half["evening"])
        closing_hours = _hours(closing, is_half_known=half is not None, is_afternoon=is_evening)
    return [
        _time(
            token.start("opening"),
            token.end("opening"),
            _readings(opening_hours, opening_minute),
            opening,
        ),
        _time(token.start("closing"), end, _readings(closing_hours, closing_minute), closing),
    ]


def _readings(hours: Iterable[int], minute: int) -> frozenset[str]:
    """Return the times that a time can be, if it can have each of these hours."""
    return frozenset(f"{hour}:{minute:02}" for hour in hours)


def _hours_in_range(text: str, token: re.Match[str], digits: str) -> Value | None:
    """Return the two times of `9–17 Uhr`, `9-5 pm` or `9-17 h`, of which the first has no word."""
    match = _HOURS.fullmatch(digits)
    half = _HALF_OF_DAY.match(text, token.end())
    words_after = half or _O_CLOCK.match(text, token.end())
    if match is None or words_after is None or token["currency"]:
        return None
    first, last = int(match[1]), int(match[3])
    if max(first, last) > 24:
        return None
    opening = _hours(first, is_half_known=False, is_afternoon=False)
    closing = _hours(last, is_half_known=bool(half), is_afternoon=bool(half and half["evening"]))
    parts = (
        frozenset(f"{hour}:{match[2] or '00'}" for hour in opening),
        frozenset(f"{hour}:{match[4] or '00'}" for hour in closing),
    )
    looser = frozenset({str(first), str(last)})
    return Value(token.start(), words_after.end(), parts, looser=looser, is_time=True)


def time_in_words(token: re.Match[str], clock: str) -> Value:
    """Return the time of a word such as `noon`."""
    return Value(token.start(), token.end(), (frozenset({clock}),), is_time=True)


def hours_of_bare_figure(hour: int) -> Readings:
    """Return the times that a figure beside a time can be, as 9 in `from 9 to 5 pm`."""
    hours = _hours(hour, is_half_known=False, is_afternoon=False)
    return frozenset(f"{found}:00" for found in hours)


def _time(start: int, end: int, readings: Readings, hour: int) -> Value:
    return Value(start, end, (readings,), looser=frozenset({str(hour)}), is_time=True)

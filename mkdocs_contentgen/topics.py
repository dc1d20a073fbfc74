"""Read from a request whether its text has items, and how many."""

from __future__ import annotations

import re

from .requests import BlogRequest, Request

_NUMBERS = {
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
}

_MOST_ITEMS = 50
"""A higher number in a topic is not the number of its items."""

_UNITS = (
    "second|minute|hour|day|week|month|year|step|percent|stunde|tag|jahr|(?:kilo|giga|mega)byte"
)
_ITEMS = re.compile(
    rf"(?:the |top |die |les )*(\d{{1,3}}|(?:{'|'.join(_NUMBERS)})\b)"
    rf"(?! ?(?:\d|[.:,/%-]|(?:{_UNITS})|[年月日天分小]))"
)
"""Matches a number at the start of a topic, but no time, size, date or other kind of number."""


def is_listicle(request: Request) -> bool:
    """Tell whether a request asks for a numbered list."""
    return isinstance(request, BlogRequest) and request.format == "listicle"


def items_of(topic: str) -> int | None:
    """Return the number of items that a topic such as `Ten ways to …` names, or None."""
    match = _ITEMS.match(topic.casefold())
    if match is None:
        return None
    if match[1].isdecimal():
        number = int(match[1])
    else:
        number = _NUMBERS[match[1]]
    return number if 2 <= number <= _MOST_ITEMS else None

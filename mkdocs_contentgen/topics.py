"""Read from a request whether its text has items, and how many."""

from __future__ import annotations

import re

from .requests import BlogRequest, Request

_NUMBERS = dict(
    zip(
        "three four five six seven eight nine ten eleven twelve fifteen twenty".split(),
        [*range(3, 13), 15, 20],
        strict=True,
    )
)
_MOST_ITEMS = 50
_ITEMS = re.compile(
    rf"(?:the |top |die |les )*(\d{{1,3}}|(?:{'|'.join(_NUMBERS)})\b)"
    r"(?! ?(?:\d|[.:,/%-]|(?:second|minute|hour|day|week|month|year|step|percent|stunde|tag|jahr"
    r"|(?:kilo|giga|mega)byte)|[年月日天分小]))"
)


def is_listicle(request: Request) -> bool:
    """Tell whether a request asks for a numbered list."""
    return isinstance(request, BlogRequest) and request.format == "listicle"


def items_of(topic: str) -> int | None:
    """Return the number of items that a topic such as `Ten ways to …` names, or None."""
    match = _ITEMS.match(topic.casefold())
    if match is None:
        return None
    number = int(match[1]) if match[1].isdecimal() else _NUMBERS[match[1]]
    return number if 2 <= number <= _MOST_ITEMS else None

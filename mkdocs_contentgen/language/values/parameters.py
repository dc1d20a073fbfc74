"""Figures of code and data, whose unit stands in a name, a comment or a heading beside them.

`timeout_ms=500` says 500 milliseconds, `timedelta(days=30)` 30 days, `2 * 1024 * 1024` 2 MiB, and
`3600  # seconds` one hour. All this is read only in sources: a text has to say the unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from functools import cache
from math import prod

from .figure import Figure
from .value import Value, of_figure
from .vocabulary import units

_BEFORE = 120
"""How many characters before a figure may name its unit."""

_AFTER = 100
"""How many characters after a figure may name its unit."""

_NAME = re.compile(
    r"(?P<name>[^\W\d]\w{0,60}(?:-\w{1,40}){0,4})[\"'`*]{0,4}"
    r"(?:\s?:\s?[\w.\[\]| ]{1,30}(?==))?\s?(?:=|:|\|)[\s\"'`*(]{0,4}$"
)
"""The name of a parameter, a constant or a key just before its figure, with its type."""

_NAME_AROUND = re.compile(
    r"(?P<name>[^\W\d]\w{0,60})[\"']?\s*:\s*\{[^{}]{0,80}"
    r"[\"']?(?:default|minimum|maximum|value)[\"']?\s*:\s*$"
)
"""The name of a parameter whose figure stands in its schema."""

_WORD_OF_NAME = re.compile(r"[A-Z]?[a-zµ]+|[A-Z]+(?![a-z])|[A-Z]")
"""A word of `timeoutMs`, `timeout_ms` or `TIMEOUT_MS`."""

_ENDS = re.compile(r"[\n\"{}]")

_SPANS_OF_TIME = frozenset(
    "timeout interval delay expiry ttl duration wait backoff age lifetime period sleep".split()
)
"""Last words of names whose figures are seconds if nothing says another unit."""

_NAMED_UNIT = re.compile(
    r"(?:\b(?:in|en|em|в)\s|[(\[]|(?:#|//|\|)\s?(?:in\s)?)(?P<unit>[^\W\d_]{1,20})(?!\w)"
)
"""A unit in brackets, a comment or the next cell, or in `in seconds`."""

_PRODUCT = re.compile(
    r"(?<![\w.*])(?P<factors>\d[\d_]{0,20}(?:\s?\*\s?\d[\d_]{0,20}){1,6})(?![\w.]|\s?\*)"
    r"|(?<![\w.])(?P<base>\d{1,4})\s?(?P<operator>\*\*|<<)\s?(?P<power>\d{1,2})(?!\w)"
)
"""A product or a power, such as `2 * 1024 * 1024`, `2**20` or `1 << 20`."""

_WITH_UNDERSCORES = re.compile(r"(?<![\w.])\d{1,3}(?:_\d{3})+(?!\w)")
_IN_CONSTANT = re.compile(r"(?<=[A-Za-z]_)\d{1,6}(?![^\W_])")
"""The figure of a name such as `HTTP_429_TOO_MANY_REQUESTS`."""

_TIMES = (
    ("nanosecond", 1),
    ("microsecond", 1000),
    ("millisecond", 1000),
    ("second", 1000),
    ("minute", 60),
    ("hour", 60),
    ("day", 24),
    ("week", 7),
)
"""Units of time, each with how many of the one before it there are in it."""

_SIZES = (("KiB", "kB"), ("MiB", "MB"), ("GiB", "GB"), ("TiB", "TB"))
"""Units of 1024, 1024², … bytes: the exact one, and what people say for it."""

_MOST_DIGITS = 6
"""More digits are no figure that somebody says in words, such as `0.000277778 hours`."""

_MOST_BYTES = 1024 ** len(_SIZES) * 10**_MOST_DIGITS
"""More bytes are no size that somebody says, and can be too many to be divided."""


def readings_of_parameters(text: str, values: Iterable[Value]) -> set[str]:
    """Return what the figures of a source say with the units beside them, and in other units."""
    found: set[str] = set()
    for figure in _all_figures(text, values):
        if figure.unit:
            found |= in_other_units(figure)
            continue
        for unit in _units_beside(text, figure):
            with_unit = replace(figure, unit=unit)
            found = found.union(*with_unit.readings(), in_other_units(with_unit))
        found |= _as_sizes(figure)
    return found | _amounts_of_code(text)


def _all_figures(text: str, values: Iterable[Value]) -> Iterator[Figure]:
    """Yield the figures of a source, and those that only code writes."""
    for value in values:
        if value.figure is not None and value.figure.magnitude == 1:
            yield value.figure
    for match in _PRODUCT.finditer(text):
        yield _whole(match, _product(match))
    for match in _WITH_UNDERSCORES.finditer(text):
        yield _whole(match, int(match[0]))


def _amounts_of_code(text: str) -> set[str]:
    """Return the readings of figures that are written as only code writes them."""
    found: set[str] = set()
    for match in _PRODUCT.finditer(text):
        found |= of_figure(_whole(match, _product(match))).known
    for pattern in (_WITH_UNDERSCORES, _IN_CONSTANT):
        for match in pattern.finditer(text):
            found |= of_figure(_whole(match, int(match[0]))).known
    return found


def _product(match: re.Match[str]) -> int:
    if match["factors"]:
        return prod(map(int, match["factors"].split("*")))
    base = int(match["base"])
    power = int(match["power"])
    if match["operator"] == "<<":
        return base << power
    product: int = base**power
    return product


def _whole(match: re.Match[str], number: int) -> Figure:
    return Figure(match.start(), match.end(), match[0], ((Decimal(number),),))


def _units_beside(text: str, figure: Figure) -> set[str]:
    """Return the units that the name, a comment or the words beside a figure give it."""
    found: set[str] = set()
    before = text[max(0, figure.start - _BEFORE) : figure.start]
    named = _NAME.search(before)
    if named:
        found |= _units_of_name(named["name"])
    around = _NAME_AROUND.search(before)
    if around:
        found |= _units_of_name(around["name"])
    # A string of data is only about itself, however many of them stand on a line.
    line_before = _ENDS.split(before)[-1]
    line_after = _ENDS.split(text[figure.end : figure.end + _AFTER], maxsplit=1)[0]
    for beside in (line_before, line_after):
        for match in _NAMED_UNIT.finditer(beside):
            found.add(units().get(match["unit"].casefold(), ""))
    return found - {""}


@cache
def _units_of_name(name: str) -> frozenset[str]:
    """Return the unit in the name of a parameter, such as milliseconds for `timeout_ms`."""
    words = [word.casefold() for word in _WORD_OF_NAME.findall(name)]
    for word in reversed(words):
        # One letter, as in `x` or `m`, is a name like any other.
        if len(word) > 1 and word in units():
            return frozenset({units()[word]})
    if words and words[-1] in _SPANS_OF_TIME:
        return frozenset({"second"})
    return frozenset()


def in_other_units(figure: Figure) -> set[str]:
    """Return the readings of a span of time in other units, such as 1 hour for 60 minutes."""
    names = [name for name, _ in _TIMES]
    found: set[str] = set()
    if figure.unit not in names or len(figure.amounts) > 1 or figure.magnitude > 1:
        return found
    place = names.index(figure.unit)
    for amount in figure.amounts[0]:
        if not isinstance(amount, Decimal):
            continue
        smaller = larger = amount
        for unit, factor in _TIMES[place + 1 :]:
            larger /= factor
            found |= _said_in_words(larger, unit)
        for index in range(place, 0, -1):
            smaller *= _TIMES[index][1]
            found |= _said_in_words(smaller, names[index - 1])
    return found


def _said_in_words(amount: Decimal, unit: str) -> set[str]:
    """Return the reading of an amount, or nothing where it has too many digits."""
    normal = amount.normalize()
    if not normal or len(normal.as_tuple().digits) > _MOST_DIGITS:
        return set()
    return {f"{normal:f} {unit}"}


def _as_sizes(figure: Figure) -> set[str]:
    """Return how many KiB, MiB, … a whole number of bytes is."""
    found: set[str] = set()
    for amount in figure.amounts[0]:
        if not isinstance(amount, Decimal) or not 1024 <= amount <= _MOST_BYTES or amount % 1024:
            continue
        for names in _SIZES:
            amount /= 1024
            if amount < 1 or amount % 1:
                break
            found.update(f"{amount.normalize():f} {name}" for name in names)
    return found

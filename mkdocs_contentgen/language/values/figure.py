"""A figure with its magnitude and its unit: `1,000`, `5–8 hours`, `$4 million`, `twenty-five`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain
from typing import Generic, TypeVar

from ..words import EAST_ASIAN, HANGUL
from .vocabulary import LETTER, magnitudes, units

Amount = Decimal | str
"""A number, or digits and points that are no number, such as the version `3.12.1`."""

FIGURE = (
    # Neither `H2O` nor `utf-8` nor `C++20` has a figure, but `mid-2023` has.
    rf"(?:(?<![\w-])(?i:pre|mid|post|early|late|since)-(?=[12]\d{{3}}(?!\d))"
    rf"|(?<![{LETTER}\d_.])(?:(?<![{LETTER}\d][-+/])|(?<=\d[AaPp][Mm]-))(?<!\+\+))"
    r"(?:(?P<currency>US\$|[$€£¥₹]|(?:USD|EUR|GBP|CHF)\b"
    r"|(?<!\d)(?<!\d[ \u00a0\u202f])[%٪]|百分之)\s?)?"
    r"(?P<digits>\d{1,3}(?: \d{3})+(?:,\d{1,3})?(?!\d)"
    r"|\d(?:[\d.,:/'’–\u00a0\u202f\u066b\u066c-]{0,40}\d)?)"
)
"""The start of a figure: a currency, or a percent sign as in Turkish, and digits."""

_FEET_AND_INCHES = re.compile(r"\d['’]\d{1,2}")
"""A height such as `5'11"`, whose figures a source can have apart."""

_IN_WORD = re.compile(rf"[{LETTER}\d_]")
"""What stands after a figure that is a part of a word."""

_ARABIC_SIGNS = str.maketrans("\u066b\u066c", ".,")
"""The decimal separator and the thousands separator of Arabic, as English writes them."""

_CURRENCIES = {"US$": "$", "USD": "$", "EUR": "€", "GBP": "£", "٪": "%", "百分之": "%"}
"""Other spellings of what stands before a figure, with the one that readings have."""

_MONEY = frozenset({"$", "€", "£", "¥", "₹", "CHF"})
"""The units that are money."""

_SIZES = (1000, 10**6, 10**9, 10**12)
"""The magnitudes that a whole number can have: 2,000,000 is in millions."""

_GROUPED = re.compile(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*(?:[.,]\d+)?|\d{1,2}(?:,\d{2})+,\d{3}")
"""Digits in groups, such as `1.000,5`, and `1,00,000` as in India."""

_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|re|e|º|ª)(?!\w)")
"""The ending of an ordinal number."""

_PLURAL_OF_YEAR = re.compile(r"['’]?s(?!\w)")
"""The ending of a decade, such as `1990s`."""

_AGE = re.compile(r"[岁歳세]|\w(?:[ -]old\b| of age\b| alt\b| de edad\b| de idade\b)")
"""The end of a word for years that says an age, or such a word with what follows."""

_ATTACHED_MAGNITUDE = re.compile(r"(?:bn|tn|mn|[kKMB])(?!\w)")
_ATTACHED_MAGNITUDES = {
    "k": 1000,
    "K": 1000,
    "mn": 10**6,
    "M": 10**6,
    "bn": 10**9,
    "B": 10**9,
    "tn": 10**12,
}
"""Magnitudes that stand at a figure without a space, as in `5k`."""

_MILLION_OF_MONEY = re.compile(r"m(?!\w)")
"""Behind money, `m` is a million; elsewhere, it is a metre."""

_NAME = re.compile(
    rf"[ \u00a0\u202f]{{0,2}}-?"
    rf"(?P<name>[%‰٪\uff05℃℉$€£¥₹]|°\s?[CF]?|[{EAST_ASIAN}{HANGUL}]{{1,6}}"
    rf"|[^\W\d_{EAST_ASIAN}{HANGUL}]+(?:/[hs]\b|[²2]\b)?)"
    rf"(?P<second> [^\W\d_{EAST_ASIAN}]+)?"
)
"""The word or the two words after a figure."""

_TENTHS = re.compile("成(?![员員分份本为為果功就立熟])|割(?![りるれっ合当])")
"""Tenths of a whole in Chinese and Japanese: `三成` and `3割` are 30 %."""

_OF = re.compile(r" d(?:[ei](?= )|['’])")
"""What stands between a magnitude and a unit, as in `millones de dólares`."""

_Entry = TypeVar("_Entry", int, str)


@dataclass(frozen=True)
class Figure:
    """A figure in a text, or several in one such as `5–8`."""

    start: int
    end: int

    written: str
    """Its digits, or an empty string for a number word."""

    amounts: tuple[tuple[Amount, ...], ...]
    """How each figure can be read: `1,000` is one thousand, or one."""

    magnitude: int = 1
    unit: str = ""

    is_age: bool = False
    """Whether it is the age of somebody, which sources often write without a unit."""

    spans: tuple[tuple[int, int], ...] = ()
    """Where the digits of each figure start and end in the text, if it has several."""

    def readings(self) -> Iterator[frozenset[str]]:
        """Yield the readings of each figure, with its magnitude and its unit."""
        has_several = len(self.amounts) > 1
        for number, amounts in enumerate(self.amounts, start=1):
            found = {self._reading(amount) for amount in amounts}
            is_last = number == len(self.amounts)
            if self.is_age or not is_last:  # in `5–8 hours`, 5 can have a unit of its own
                found |= {_plain(amount) for amount in amounts}
            if has_several:  # what is written the same way is the same
                found.add(f"{self.written} {self.unit}".rstrip())
            yield frozenset(found)

    def bare_readings(self) -> frozenset[str]:
        """Return the readings without magnitude and unit."""
        return frozenset(map(_plain, self._all_amounts))

    @property
    def _all_amounts(self) -> list[Amount]:
        return list(chain.from_iterable(self.amounts))

    def implied_readings(self) -> frozenset[str]:
        """Return the whole numbers with their magnitudes, such as `magnitude 1000000`."""
        found: set[str] = set()
        if self.magnitude > 1:
            found.add(f"magnitude {self.magnitude}")
        for amount in self._all_amounts:
            if isinstance(amount, Decimal):
                found.add(_plain(amount * self.magnitude))
                found |= {f"magnitude {size}" for size in _SIZES if size <= amount < size * 1000}
        return frozenset(found)

    def _reading(self, amount: Amount) -> str:
        if isinstance(amount, str):
            return f"{amount} {self.unit}".rstrip()
        if self.unit:
            return f"{_plain(amount * self.magnitude)} {self.unit}"
        if self.magnitude > 1:
            return _plain(amount * self.magnitude)
        return f"{amount:f}"  # `3.10` can be a version, which `3.1` does not state


def _plain(amount: Amount) -> str:
    if isinstance(amount, str):
        return amount
    return f"{amount.normalize():f}"


def ascii_digits(text: str) -> str:
    """Return digits of any script, and their separators, as those of English."""
    if text.isascii():
        return text
    digits = "".join(str(unicodedata.digit(letter, letter)) for letter in text)
    return digits.translate(_ARABIC_SIGNS)


def read_figure(text: str, token: re.Match[str]) -> Figure | None:
    """Return the figure that a match of FIGURE begins, or None if it is part of a word."""
    written = ascii_digits(token["digits"])
    amounts = []
    spans = []
    start = token.start("digits")
    separators = r"['’]" if _FEET_AND_INCHES.fullmatch(written) else r"[–:/-]"
    for part in re.split(separators, written):
        amounts.append(tuple(_read_amounts(part)))
        spans.append((start, start + len(part)))
        start += len(part) + 1
    figure = Figure(token.start(), token.end(), written, tuple(amounts), spans=tuple(spans))
    if token["currency"]:
        currency = _CURRENCIES.get(token["currency"], token["currency"])
        figure = _with_currency(text, figure, currency)
    else:
        figure = with_unit(text, figure)
    if _IN_WORD.match(text, figure.end):
        return None
    return figure


def _read_amounts(digits: str) -> Iterator[Amount]:
    """Yield how digits can be read."""
    if digits.isdigit():  # as most are
        yield Decimal(digits)
        return
    digits = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    is_fraction = re.fullmatch(r"\d+[.,]\d+", digits)
    grouped = _GROUPED.fullmatch(digits)
    if digits.isdigit():  # once the spaces are gone
        yield Decimal(digits)
    if grouped:
        # What stands after another separator than the first one is a fraction.
        separator = grouped[1] or ","
        yield Decimal(digits.replace(separator, "").replace(",", "."))
    if is_fraction:
        yield Decimal(digits.replace(",", "."))
    if not (digits.isdigit() or grouped or is_fraction):
        yield digits


def with_unit(text: str, figure: Figure) -> Figure:
    """Return a figure with the magnitude and the unit that stand after it."""
    decade = _PLURAL_OF_YEAR.match(text, figure.end)
    if decade and re.fullmatch(r"[12]\d{3}", figure.written):
        return replace(figure, end=decade.end(), unit="decade of")
    ordinal = _ORDINAL.match(text, figure.end)
    if ordinal:
        return replace(figure, end=ordinal.end())
    tenths = _TENTHS.match(text, figure.end)
    if tenths:
        return replace(figure, end=tenths.end(), magnitude=10, unit="%")
    figure = _with_magnitude(text, figure)
    unit_start = figure.end
    if figure.magnitude > 1:
        between = _OF.match(text, figure.end)
        unit_start = between.end() if between else figure.end
    unit = find_name(text, unit_start, units())
    if unit:
        is_age = unit.entry == "year" and _AGE.match(text, unit.end - 1) is not None
        return replace(figure, end=unit.end, unit=unit.entry, is_age=is_age)
    return figure


def _with_magnitude(text: str, figure: Figure) -> Figure:
    magnitude = figure.magnitude
    end = figure.end
    attached = _ATTACHED_MAGNITUDE.match(text, end)
    if attached:
        magnitude *= _ATTACHED_MAGNITUDES[attached[0]]
        end = attached.end()
    following = find_name(text, end, magnitudes())
    while following:
        unit = find_name(text, end, units())
        # `千米` are kilometres, and `千` a thousand. `5 miles` are no Spanish thousands.
        if unit and unit.end >= following.end:
            break
        magnitude *= following.entry
        end = following.end
        following = find_name(text, end, magnitudes())
    return replace(figure, end=end, magnitude=magnitude)


def _with_currency(text: str, figure: Figure, currency: str) -> Figure:
    """Return a figure after a currency, such as `$4 million` or `$4m`."""
    million = _MILLION_OF_MONEY.match(text, figure.end)
    if million:
        return replace(figure, end=million.end(), magnitude=10**6, unit=currency)
    figure = _with_magnitude(text, figure)
    unit = find_name(text, figure.end, units())
    end = figure.end
    if unit and unit.entry in _MONEY:  # as in `$4 million dollars`
        end = unit.end
    return replace(figure, end=end, unit=currency)


@dataclass(frozen=True)
class FoundName(Generic[_Entry]):
    """A word that is in a table."""

    entry: _Entry
    """What the table has for it."""

    end: int
    """Where it ends in the text."""


def find_name(text: str, start: int, table: Mapping[str, _Entry]) -> FoundName[_Entry] | None:
    """Return the word or the two words after a figure if they are in a table."""
    match = _NAME.match(text, start)
    if match is None:
        return None
    name = match["name"]
    if re.match(f"[{EAST_ASIAN}{HANGUL}]", name):  # words are not apart, or have particles
        for size in range(len(name), 0, -1):
            if name[:size] in table:
                return FoundName(table[name[:size]], match.start("name") + size)
        return None
    if match["second"]:
        both = f"{name}_{match['second'].strip()}".casefold()
        if both in table:
            return FoundName(table[both], match.end())
    for spelling in (name, name.casefold(), re.sub(r"\s", "", name.casefold())):
        if spelling in table:
            return FoundName(table[spelling], match.end("name"))
    return None

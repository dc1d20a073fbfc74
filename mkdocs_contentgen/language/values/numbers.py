"""Numbers in words: `twenty-five million`, `fünfundzwanzig`, `三个`, `millions of`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from .figure import Figure, find_name, with_unit
from .value import Value, of_figure
from .vocabulary import Vocabulary, magnitudes

LEAST_NUMBER = 3
"""`One` and `two` are too often no statement."""

_EAST_DIGITS = {digit: number for number, digit in enumerate("一二三四五六七八九", 1)}
_EAST_DIGITS |= {"两": 2, "兩": 2}
_EAST_POWERS_OF_TEN = {"十": 10, "百": 100, "千": 1000}
_EAST_NUMERALS = "".join([*_EAST_DIGITS, *_EAST_POWERS_OF_TEN])
_PERCENT = "百分之"
EAST_NUMBER = rf"(?:[数數]|{_PERCENT})?[{_EAST_NUMERALS}]+|[数數](?=[万萬亿億])"
"""A number in Chinese characters, of which a percentage has a sign before it.

`数`, several, can stand before a magnitude, too.
"""

_ENOUGH = re.compile("十分(?![間间钟鐘後后前以])")
"""`十分` is `very` or `enough` more often than ten minutes."""

_WORD = r"(?P<word>[^\W\d_]+(?:['’](?=[\u0400-\u04ff])[^\W\d_]+)?)"  # as in `п’ять`
_PART = re.compile(_WORD)
_NEXT_PART = re.compile(rf"(?:[ -](?:and|und|et|y|e|и)[ -]|[ -]){_WORD}")
"""A word of a number, and a further one after a space, a hyphen or `and`."""

_SHARE = re.compile(r"\b(?:half|quarter of|third of) $", re.IGNORECASE)
_LONGEST_SHARE = len("quarter of ")
"""What stands before `a million` that is not a million."""

_ARABIC = re.compile("[\u0600-\u06ff]")
"""The start of a word in Arabic, where ones stand before tens."""


def number_in_words(text: str, start: int, words: Vocabulary) -> Value | None:
    """Return the number in the word at `start` and those after it, if it is not too small.

    An ordinal such as `twenty-fifth` is none where the words of ordinals are none.
    """
    number, end = _read_number(text, start, words)
    if number < LEAST_NUMBER:
        return None
    if _SHARE.search(text, max(0, start - _LONGEST_SHARE - 1), start):
        return None
    return of_figure(with_unit(text, _whole_number(start, end, number)))


def _read_number(text: str, start: int, words: Vocabulary) -> tuple[int, int]:
    """Return the number in the words from `start` on, or 0, and where they end."""
    total = 0
    current = 0  # what the next magnitude multiplies
    end = start
    for part in _parts(text, start):
        number = words.numbers.get(part.word)
        magnitude = magnitudes().get(part.word)
        if number is None and _is_ordinal(text, end, part, current, words):
            return 0, start
        if number == 100:
            current = max(current, 1) * number
        elif number == 20 and current % 100 == 4:  # quatre-vingts
            current += 76
        elif number is not None and _are_one_number(current, part, number, words):
            current += number
        elif magnitude and current:
            total += current * magnitude
            current = 0
        elif magnitude == 1000 and part.is_first and part.following in words.numbers:
            total = magnitude  # `mille deux cents`
        else:
            break
        end = part.end
    return total + current, end


def _is_ordinal(text: str, before: int, part: _Part, current: int, words: Vocabulary) -> bool:
    """Tell whether a word makes an ordinal of what ends at `before`, such as `twenty-fifth`."""
    ordinal = words.ordinals.get(part.word)
    if ordinal is None:
        return False
    if text.startswith(" ", before) and text.startswith("-", part.end):
        return False  # `twenty third-party tools`
    return _are_one_number(current, part, ordinal, words)


@dataclass(frozen=True)
class _Part:
    """A word that can be a part of a number, such as `five` of `twenty-five`."""

    word: str
    """In lower case."""

    end: int

    is_first: bool

    following: str
    """The next word that can be a part, in lower case, or an empty string."""


def _parts(text: str, start: int) -> Iterator[_Part]:
    """Yield the word at `start`, and those after it that can be parts of one number with it."""
    match = _PART.match(text, start)
    while match:
        following = _NEXT_PART.match(text, match.end())
        next_word = following["word"].casefold() if following else ""
        yield _Part(match["word"].casefold(), match.end(), match.start() == start, next_word)
        match = following


def _are_one_number(current: int, part: _Part, number: int, words: Vocabulary) -> bool:
    """Tell whether a number goes on with another word: `four and eight` are two numbers."""
    if part.word in words.articles and not part.is_first:
        return False  # `a million and a half`
    if current and words.numbers.get(part.following) == 100:
        return False  # `two hundred and three hundred`
    rest = current % 100
    if rest == 0:
        return current == 0 or number < 100
    if rest < 10:
        # Elsewhere, `between five and twenty` has two numbers.
        return _ARABIC.match(part.word) is not None and number >= 10 and number % 10 == 0
    if rest == 10:
        return 6 <= number < 10  # `dix-sept`, `diez y seis`
    if rest in (60, 80) and 10 <= number < 20:
        return True  # `soixante et onze`
    return rest % 10 == 0 and number < 10


def magnitude_alone(token: re.Match[str], magnitude: int) -> Value:
    """Return the value of `millions` without a number."""
    return Value(token.start(), token.end(), (frozenset({f"magnitude {magnitude}"}),))


def east_number(text: str, token: re.Match[str]) -> Value | None:
    """Return a number in Chinese characters with its unit, without which it can be any word."""
    numerals = token[0].removeprefix(_PERCENT).lstrip("数數")
    is_percentage = token[0].startswith(_PERCENT)
    if numerals != token[0] and not is_percentage:
        return _several(text, token)
    if _ENOUGH.match(text, token.start()):
        return None
    total = 0
    current = 0  # what the next ten or hundred multiplies
    for numeral in numerals:
        if numeral in _EAST_DIGITS:
            current = _EAST_DIGITS[numeral]
        else:
            total += max(current, 1) * _EAST_POWERS_OF_TEN[numeral]
            current = 0
    if total + current < LEAST_NUMBER:
        return None
    number = _whole_number(token.start(), token.end(), total + current)
    if is_percentage:
        return of_figure(replace(number, unit="%"))
    figure = with_unit(text, number)
    if figure.end > token.end():
        return of_figure(figure)
    return None


def _several(text: str, token: re.Match[str]) -> Value | None:
    """Return the magnitude of `数百万`, millions."""
    magnitude = find_name(text, token.end(), magnitudes())
    if magnitude is None:
        return None
    readings = frozenset({f"magnitude {magnitude.entry}"})
    return Value(token.start(), magnitude.end, (readings,))


def _whole_number(start: int, end: int, number: int) -> Figure:
    return Figure(start, end, "", ((Decimal(number),),))

"""Numbers that languages write in one word, such as `zweihundertfünfzig`, `ventidue`, `وخمسون`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Numbers = Mapping[str, int]


def compound_numbers(tag: str, words: Numbers) -> dict[str, int]:
    """Return the numbers of a language that are put together of its words of numbers.

    In German, Dutch and Italian, they go up to 999, and with thousands up to 12,900, or 999,000 for
    thousands only. `words` are the words of the table, with 1 and 2.
    """
    joined = _JOINED.get(tag)
    return joined(words) if joined else {}


def _german(words: Numbers) -> dict[str, int]:
    ones = {word: number for word, number in _between(words, 2, 9).items() if word != "zwo"}
    ones["ein"] = 1
    small = _between(words, 3, 90) | {"eins": 1, "zwei": 2}
    small |= _tens_with(ones, small, lambda one, ten: f"{one}und{ten}")
    return _with_hundreds(small, ones, "hundert", "tausend")


def _dutch(words: Numbers) -> dict[str, int]:
    def join(one: str, ten: str) -> str:
        joint = "ën" if one.endswith("e") else "en"
        return f"{one}{joint}{ten}"

    ones = _between(words, 2, 9)
    small = _between(words, 1, 90)
    small |= _tens_with(ones | {"een": 1}, small, join)
    return _with_hundreds(small, ones, "honderd", "duizend")


def _italian(words: Numbers) -> dict[str, int]:
    def join(one: str, ten: str) -> str:
        # `ventuno` and `ventotto` have lost a vowel.
        start = ten[:-1] if one[0] in "uo" else ten
        return f"{start}{one}"

    ones = _between(words, 2, 9)
    small = _between(words, 1, 90) | {"tré": 3}
    small |= _tens_with(ones | {"uno": 1, "un": 1, "tré": 3}, small, join)
    for word, number in list(small.items()):
        if word.startswith("ott"):
            small[word.removeprefix("o")] = number  # of `centotto`
    return _with_hundreds(small, ones, "cento", "mila")


def _arabic(words: Numbers) -> dict[str, int]:
    """Return the numbers with what is written before a word without a space, such as `and`."""
    found: dict[str, int] = {}
    for word, number in words.items():
        for prefix in "بوفل":
            found[f"{prefix}{word}"] = number
    return found


_JOINED: dict[str, Callable[[Numbers], dict[str, int]]] = {
    "de": _german,
    "nl": _dutch,
    "it": _italian,
    "ar": _arabic,
}


def _tens_with(ones: Numbers, small: Numbers, join: Callable[[str, str], str]) -> dict[str, int]:
    """Return the numbers that are put together of ones and of the tens among small numbers."""
    found: dict[str, int] = {}
    for ten, tens in _between(small, 20, 90).items():
        for one, number in ones.items():
            found[join(one, ten)] = tens + number
    return found


def _with_hundreds(
    small: dict[str, int], ones: dict[str, int], hundred: str, thousand: str
) -> dict[str, int]:
    """Return the numbers below a hundred, those up to 999, and as many thousands."""
    found = dict(small)
    for one, hundreds in ({"": 1} | ones).items():
        found[f"{one}{hundred}"] = hundreds * 100
        for rest, number in small.items():
            found[f"{one}{hundred}{rest}"] = hundreds * 100 + number
    round_hundreds = {word: number for word, number in found.items() if number % 100 == 0}
    for word, number in list(found.items()):
        if number > 1:
            found[f"{word}{thousand}"] = number * 1000
        if 1 < number <= 12:
            for rest, hundreds in round_hundreds.items():
                found[f"{word}{thousand}{rest}"] = number * 1000 + hundreds
    return found


def _between(words: Numbers, first: int, last: int) -> dict[str, int]:
    return {word: number for word, number in words.items() if first <= number <= last}

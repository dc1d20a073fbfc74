"""Numbers that German, Dutch and Italian write in one word: `zweihundertfünfzig`, `ventidue`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Numbers = Mapping[str, int]


def compound_numbers(tag: str, words: Numbers) -> dict[str, int]:
    """Return the numbers of a language that are put together of its words of numbers.

    They go up to 999, and with thousands up to 12,900, or 999,000 for thousands only. `words` are
    the words below a hundred, with 1 and 2.
    """
    joined = _JOINED.get(tag)
    return joined(words) if joined else {}


def _german(words: Numbers) -> dict[str, int]:
    ones = {word: number for word, number in _between(words, 2, 9).items() if word != "zwo"}
    ones["ein"] = 1
    small = _between(words, 3, 90) | {"eins": 1, "zwei": 2}
    for ten, tens in _tens(words).items():
        for one, number in ones.items():
            small[f"{one}und{ten}"] = tens + number
    return _with_hundreds(small, ones, "hundert", "tausend")


def _dutch(words: Numbers) -> dict[str, int]:
    ones = _between(words, 2, 9)
    small = _between(words, 1, 90)
    for ten, tens in _tens(words).items():
        for one, number in (ones | {"een": 1}).items():
            joint = "ën" if one.endswith("e") else "en"
            small[f"{one}{joint}{ten}"] = tens + number
    return _with_hundreds(small, ones, "honderd", "duizend")


def _italian(words: Numbers) -> dict[str, int]:
    ones = _between(words, 2, 9)
    small = _between(words, 1, 90) | {"tré": 3}
    for ten, tens in _tens(words).items():
        for one, number in (ones | {"uno": 1, "un": 1, "tré": 3}).items():
            # `ventuno` and `ventotto` have lost a vowel.
            start = ten[:-1] if one[0] in "uo" else ten
            small[f"{start}{one}"] = tens + number
    for word, number in list(small.items()):
        if word.startswith("ott"):
            small[word.removeprefix("o")] = number  # of `centotto`
    return _with_hundreds(small, ones, "cento", "mila")


_JOINED: dict[str, Callable[[Numbers], dict[str, int]]] = {
    "de": _german,
    "nl": _dutch,
    "it": _italian,
}


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


def _tens(words: Numbers) -> dict[str, int]:
    return _between(words, 20, 90)

"""The words of figures, dates and times in many languages: the table `quantities.toml`."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.resources import files

LETTER = r"A-Za-z\u00c0-\u024f\u0370-\u052f"
"""The letters of words that can have a figure in them, such as `H2O`."""

_TABLE = tomllib.loads(files(__package__).joinpath("quantities.toml").read_text("utf-8"))

_SAMPLE = 1500
"""Characters that are enough to tell a language."""


_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
}


@dataclass(frozen=True)
class Vocabulary:
    """The words of some languages, in lower case."""

    months: dict[str, int] = field(default_factory=dict)
    """The number of each month, from 1."""

    weekdays: dict[str, int] = field(default_factory=dict)
    """The number of each weekday, from 0 for Monday."""

    numbers: dict[str, int] = field(default_factory=dict)
    ambiguous: frozenset[str] = frozenset()
    """Months, weekdays and numbers that are other words, too, such as `may`."""

    need_capitals: bool = False
    """Whether months and weekdays have capital letters."""


def guess_language(*texts: str) -> str:
    """Return the BCP 47 tag of the language of the first text that tells, English if none does."""
    for text in texts:
        tag = _language_of(text[:_SAMPLE])
        if tag:
            return tag
    return "en"


def common_words(language: str) -> frozenset[str]:
    """Return the words that say which language a text is in, and nothing else."""
    return _common().get(language.lower().partition("-")[0], frozenset())


def languages_with_common_words() -> Iterable[str]:
    """Return the tags of the languages whose common words are known."""
    return _common()


def has_vocabulary(language: str) -> bool:
    """Tell whether the months, weekdays and number words of a language are known."""
    tag = language.lower().partition("-")[0]
    return tag in _TABLE["languages"] or tag in ("ja", "zh")


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _language_of(text: str) -> str:
    """Return the language that most words of a text suit, or an empty string."""
    words = Counter(re.findall(r"[^\W\d_]+", text.casefold()))
    letters = sum(len(word) * number for word, number in words.items())
    for tag, pattern in _SCRIPTS.items():
        if len(pattern.findall(text)) * 4 > letters:
            return tag
    counts = {
        tag: sum(words[word] for word in words.keys() & common) for tag, common in _common().items()
    }
    best = max(counts, key=counts.__getitem__)
    if counts[best]:
        return best
    return "ru" if re.search("[\u0430-\u044f]", text, re.IGNORECASE) else ""


@cache
def units() -> dict[str, str]:
    """Return the name of each unit by its spellings."""
    return {spelling: unit for unit, line in _TABLE["units"].items() for spelling in line.split()}


@cache
def magnitudes() -> dict[str, int]:
    """Return the factor of each magnitude by its spellings."""
    lines = _TABLE["magnitudes"].items()
    return {spelling: int(number) for number, line in lines for spelling in line.split()}


@cache
def _common() -> dict[str, frozenset[str]]:
    languages = _TABLE["languages"].items()
    return {tag: frozenset(words["common"].split()) for tag, words in languages}


@cache
def all_months() -> dict[str, int]:
    """Return the number of each month in all languages, without what is another word in one."""
    found: dict[str, int] = {}
    for language in _TABLE["languages"].values():
        found.update(_numbered(language["months"], 1))
    other_words = {
        word for language in _TABLE["languages"].values() for word in language["ambiguous"].split()
    }
    return {word: number for word, number in found.items() if word not in other_words}


@cache
def vocabulary(tags: tuple[str, ...]) -> Vocabulary:
    """Return the words of the languages with these tags."""
    found = Vocabulary()
    languages = [_TABLE["languages"][tag] for tag in tags if tag in _TABLE["languages"]]
    for language in languages:
        found.months.update(_numbered(language["months"], 1))
        found.weekdays.update(_numbered(language["weekdays"], 0))
        spelled = language["numbers"].split()
        found.numbers.update(zip(spelled[1::2], map(int, spelled[::2]), strict=True))
    if "de" in tags:
        found.numbers.update(_german_numbers(found.numbers))
    if "ar" in tags:
        found.numbers.update(_with_prefixes(found.numbers))
    ambiguous = " ".join(language["ambiguous"] for language in languages)
    return replace(
        found,
        ambiguous=frozenset(ambiguous.split()),
        need_capitals=all(tag in ("en", "de", "nl") for tag in tags),
    )


def _numbered(names: Iterable[str], first: int) -> Iterator[tuple[str, int]]:
    for number, spellings in enumerate(names, first):
        for spelling in spellings.split():
            yield spelling, number


def _with_prefixes(numbers: dict[str, int]) -> dict[str, int]:
    """Return the numbers with what Arabic writes before a word without a space, such as `and`."""
    return {f"{prefix}{word}": number for prefix in "بوفل" for word, number in numbers.items()}


def _german_numbers(numbers: dict[str, int]) -> dict[str, int]:
    """Return the numbers that German writes in one word, such as `fünfundzwanzig`."""
    units = {word: number for word, number in numbers.items() if number < 10}
    units |= {"ein": 1, "zwei": 2}
    tens = {word: number for word, number in numbers.items() if 20 <= number < 100}
    return {
        f"{unit}und{ten}": amount + number
        for ten, amount in tens.items()
        for unit, number in units.items()
    }

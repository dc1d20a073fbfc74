"""The words of figures, dates and times in many languages: the table `quantities.toml`."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib.resources import files

from .compounds import compound_numbers

LETTER = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u052f"
"""The letters of words that can have a figure in them, such as `H2O`. `\u00d7` is not a letter."""

_LANGUAGES_WITH_UNITS = frozenset("en de fr es pt it ru ar zh ja ko".split())
"""The languages in which the words of units, such as `days`, are known."""

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
"""The scripts that tell a language, by its tag."""


@dataclass(frozen=True)
class Vocabulary:
    """The words of some languages, in lower case."""

    months: Mapping[str, int]
    """The number of each month, from 1."""

    weekdays: Mapping[str, int]
    """The number of each weekday, from 0 for Monday."""

    numbers: Mapping[str, int]

    times: Mapping[str, str]
    """The times of day that have a word, such as `noon`."""

    ordinals: Mapping[str, int]
    """The number of each word such as `seventh`. Such a word states no number itself."""

    ambiguous: frozenset[str] = frozenset()
    """Months, weekdays and numbers that are other words, too, such as `may`."""

    articles: frozenset[str] = frozenset()
    """Words for one that are only the start of a number, as in `a million`."""

    need_capitals: bool = False
    """Whether months and weekdays have capital letters."""

    @cached_property
    def first_words(self) -> frozenset[str]:
        """The words with which a value can begin, without those with a hyphen."""
        return frozenset().union(
            self.months, self.weekdays, self.numbers, self.times, all_months(), magnitudes()
        )


def guess_language(*texts: str) -> str:
    """Return the BCP 47 tag of the language of the first text that tells, English if none does."""
    for text in texts:
        tag = _language_of(text[:_SAMPLE])
        if tag:
            return tag
    return "en"


def common_words(language: str) -> frozenset[str]:
    """Return the most common words of a language, such as `the`, by which it is recognised."""
    return _common().get(language.lower().partition("-")[0], frozenset())


def languages_with_common_words() -> Iterable[str]:
    """Return the tags of the languages whose common words are known."""
    return _common()


def has_vocabulary(language: str) -> bool:
    """Tell whether the months, weekdays and number words of a language are known."""
    tag = language.lower().partition("-")[0]
    return tag in _TABLE["languages"] or tag in ("ja", "zh")


def has_unit_words(language: str) -> bool:
    """Tell whether the words of units in a language, such as `days`, are known."""
    return language.lower().partition("-")[0] in _LANGUAGES_WITH_UNITS


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _language_of(text: str) -> str:
    """Return the language that most words of a text suit, or an empty string."""
    words = Counter(re.findall(r"[^\W\d_]+", text.casefold()))
    letters = sum(len(word) * number for word, number in words.items())
    for tag, pattern in _SCRIPTS.items():
        if len(pattern.findall(text)) * 4 > letters:
            return tag
    counts: dict[str, int] = {}
    for tag, common in _common().items():
        counts[tag] = sum(words[word] for word in words.keys() & common)
    best = max(counts, key=counts.__getitem__)
    if counts[best]:
        return best
    if re.search("[\u0430-\u044f]", text, re.IGNORECASE):
        return "ru"
    return ""


@cache
def units() -> dict[str, str]:
    """Return the name of each unit by its spellings."""
    found: dict[str, str] = {}
    for unit, spellings in _TABLE["units"].items():
        found.update(dict.fromkeys(spellings.split(), unit))
    return found


@cache
def magnitudes() -> dict[str, int]:
    """Return the factor of each magnitude by its spellings."""
    found: dict[str, int] = {}
    for factor, spellings in _TABLE["magnitudes"].items():
        found.update(dict.fromkeys(spellings.split(), int(factor)))
    return found


@cache
def _common() -> dict[str, frozenset[str]]:
    languages = _TABLE["languages"].items()
    return {tag: frozenset(words["common"].split()) for tag, words in languages}


@cache
def all_months() -> dict[str, int]:
    """Return the number of each month in all languages, without what is another word in one."""
    found: dict[str, int] = {}
    other_words: set[str] = set()
    for language in _TABLE["languages"].values():
        found.update(_numbered(language["months"], 1))
        other_words.update(language["ambiguous"].split())
    months = {}
    for word, number in found.items():
        if word not in other_words:
            months[word] = number
    return months


def spellings_of_months() -> Iterator[list[str]]:
    """Yield the spellings of each month in each language, such as `october` and `oct`."""
    for language in _TABLE["languages"].values():
        for spellings in language["months"]:
            yield spellings.split()


@cache
def vocabulary(tags: tuple[str, ...]) -> Vocabulary:
    """Return the words of the languages with these tags."""
    months: dict[str, int] = {}
    weekdays: dict[str, int] = {}
    numbers: dict[str, int] = {}
    times: dict[str, str] = {}
    ordinals: dict[str, int] = {}
    ambiguous: set[str] = set()
    articles: set[str] = set()
    for tag in tags:
        language = _TABLE["languages"].get(tag)
        if language is None:
            continue
        months.update(_numbered(language["months"], 1))
        weekdays.update(_numbered(language["weekdays"], 0))
        own_numbers = dict(_number_words(language["numbers"]))
        numbers.update(own_numbers)
        numbers.update(compound_numbers(tag, own_numbers))
        times.update(_times_of_day(language.get("times", {})))
        ordinals.update(_number_words(language.get("ordinals", "")))
        ambiguous.update(language["ambiguous"].split())
        articles.update(language.get("articles", "").split())
    return Vocabulary(
        months,
        weekdays,
        numbers,
        times,
        ordinals,
        ambiguous=frozenset(ambiguous),
        articles=frozenset(articles),
        need_capitals=all(tag in ("en", "de", "nl") for tag in tags),
    )


@cache
def source_vocabulary(tags: tuple[str, ...]) -> Vocabulary:
    """Return the words of the languages with these tags as sources are read.

    Sources may have no capital letters, and what can be a month is taken for one.
    """
    words = vocabulary(tags)
    # The `seventh` year in a row makes seven years, and is the 7th. A `third` is mostly a share.
    numbers = {word: number for word, number in words.ordinals.items() if number > 3}
    numbers.update(words.numbers)
    return replace(words, numbers=numbers, need_capitals=False, ambiguous=frozenset())


def _number_words(line: str) -> Iterator[tuple[str, int]]:
    """Yield the words of numbers in a line such as `3 three 4 four 12 dozen`."""
    entries = line.split()
    for place in range(0, len(entries), 2):
        number, word = entries[place : place + 2]
        yield word.casefold(), int(number)


def _times_of_day(words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the words of times with their times."""
    for clock, spellings in words.items():
        for spelling in spellings.split():
            yield spelling, clock


def _numbered(names: Iterable[str], first: int) -> Iterator[tuple[str, int]]:
    """Yield the spellings of names, each with the number of its name, from `first` on."""
    for number, spellings in enumerate(names, first):
        for spelling in spellings.split():
            yield spelling, number

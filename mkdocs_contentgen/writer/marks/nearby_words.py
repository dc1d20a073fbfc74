"""Look up which words of the sources stand near each other.

What a text says of a thing stands near the same words in its sources, in whatever order and form.
So a figure or a negation that stands elsewhere there is about something else.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ...language.sentences import sentence_ranges
from ...language.values import common_words, guess_language
from ...language.words import STEM, UNSPACED, plain_case

_IS_UNSPACED = re.compile(f"[{UNSPACED}]")

_TOKEN = re.compile(
    rf"(?P<figure>\d+(?:[.,:/]\d+)*)|(?P<character>[{UNSPACED}])"
    rf"|[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*"
)

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

_ZEROS = re.compile(r"\.0+\Z")
"""The decimals of a whole number that is written with some."""

_LEAST_LETTERS = 3
"""Shorter words say nothing of a thing."""


_EVERYWHERE = 100
"""A word with more places is not looked for together with others."""


class Word(NamedTuple):
    """A word or a figure; in scripts without spaces, a character."""

    text: str
    """It in lower case."""

    start: int
    end: int
    stem: str
    """What is compared of it; empty for a figure, and for a word that says nothing of a thing."""

    is_figure: bool


def words_in(text: str) -> frozenset[str]:
    """Return which words are in a text, in lower case, without their places."""
    return frozenset(_WORD.findall(plain_case(text)))


def read_words(text: str, language: str, start: int = 0) -> list[Word]:
    """Return the words of a text with their places, which are counted from `start`."""
    common = common_words(language)
    words: list[Word] = []
    for match in _TOKEN.finditer(text):
        word = plain_case(match[0])
        stem = ""
        kind = match.lastgroup
        if kind == "figure":
            word = _ZEROS.sub("", word) if word.count(".") == 1 else word
        elif kind == "character":
            following = text[match.end() : match.end() + 1]
            stem = word + following if _IS_UNSPACED.match(following) else ""
        elif len(word) >= _LEAST_LETTERS and word not in common:
            stem = word[:STEM]
        place = start + match.start()
        words.append(Word(word, place, start + match.end(), stem, kind == "figure"))
    return words


def read_sentences(
    text: str, given: str, language: str, has_cue: Callable[[str], bool]
) -> Iterator[list[Word]]:
    """Yield the words of each sentence of a text for which `has_cue` returns True."""
    tag = language or guess_language(text, given)
    for sentence in sentence_ranges(text, language):
        said = sentence.of(text)
        if has_cue(said):
            yield read_words(said, tag, sentence.start)


def stems_around(
    words: Sequence[Word], first: int, last: int, before: int, after: int
) -> frozenset[str]:
    """Return the stems of some words before and after a part of them, without empty ones."""
    around = [*words[max(0, first - before) : first], *words[last + 1 : last + 1 + after]]
    return frozenset(word.stem for word in around) - {""}


class NearbyWords:
    """The words of what is given, by their places."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._places: dict[str, list[int]] = {}
        self._places_of_words: dict[str, list[int]] = {}
        for place, word in enumerate(words):
            self._places_of_words.setdefault(word.text, []).append(place)
            if word.stem:
                self._places.setdefault(word.stem, []).append(place)
        self._words = [word.text for word in words]
        self._stems = [word.stem for word in words]
        self._near: dict[tuple[frozenset[str], int], frozenset[str]] = {}

    def known(self, stems: Collection[str]) -> frozenset[str]:
        """Return those of some stems that stand somewhere."""
        return frozenset(stem for stem in stems if stem in self._places)

    def places_of(self, words: Sequence[str]) -> Sequence[int]:
        """Return where some words follow each other, or the first of them if it is everywhere."""
        places = self._places_of_words.get(words[0], [])
        if len(words) == 1 or len(places) > _EVERYWHERE:
            return places
        rest = list(words)
        return [place for place in places if self._words[place : place + len(rest)] == rest]

    def number_near(self, stems: Collection[str], place: int, distance: int) -> int:
        """Return how many of some known stems stand within a distance of a place, in words."""
        return sum(self._is_near(stem, place, distance) for stem in stems)

    def _is_near(self, stem: str, place: int, distance: int) -> bool:
        places = self._places[stem]
        next_place = bisect_left(places, place - distance)
        return next_place < len(places) and places[next_place] <= place + distance

    def stems_near(self, words: frozenset[str], distance: int) -> frozenset[str]:
        """Return the stems that stand somewhere within a distance of one of some words."""
        key = (words, distance)
        if key not in self._near:
            found: set[str] = set()
            for word in words & self._places_of_words.keys():
                for place in self._places_of_words[word]:
                    found.update(self._stems[max(0, place - distance) : place + distance + 1])
            self._near[key] = frozenset(found - {""})
        return self._near[key]


def nearby_words(text: str, given: str, language: str) -> NearbyWords:
    """Return the words of what is given, read in the language of a text."""
    return _nearby_words(given, language or guess_language(text, given))


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _nearby_words(given: str, language: str) -> NearbyWords:
    return NearbyWords(read_words(given, language))

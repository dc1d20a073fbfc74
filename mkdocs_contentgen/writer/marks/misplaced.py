"""Find the figures of a text that its sources have for something else.

`Mouscron is 13th in the league` where a source says that Lille are 13th, and `the collection is
valued at £100,000` where that is what the auction may fetch. A figure is at its place if one of the
passages that have it shares enough of the words around it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ...language.ranges import Range, overlaps
from .nearby_words import NearbyWords, Word, nearby_words, range_of, read_sentences, stems_around

_DIGIT = re.compile(r"\d")

_AROUND = 5
"""How many words on each side of a figure say what it is about."""

_LEAST_AROUND = 3
"""How many of these have to stand in the sources, so that their places can be compared."""

_DISTANCE = 20
"""How far from the figure such a word may stand in a source, in words."""

_MOST_SHARED = 0.26
"""The share of such words near a figure that is about something else: one of four."""

_BESIDE = 4
"""Where one of them stands beside the figure in a source, it is at its place, in words."""

_MOST_PLACES = 8
"""A figure with more places in the sources is at its place somewhere."""


def find_misplaced(text: str, code: Sequence[Range], given: str, language: str = "") -> list[Range]:
    """Return the ranges of the figures in `text` that `given` has for something else.

    `code` are the ranges of code in the text, in order and apart, in which no figure is looked at.
    """
    found: list[Range] = []
    if not _has_figure(text):
        return found
    known = nearby_words(text, given, language)
    for words in read_sentences(text, given, language, _has_figure):
        for place in _misplaced(words, known):
            figure = words[place]
            is_in_code = overlaps(figure.start, figure.end, code)
            if not is_in_code and not _is_in_address(text, figure):
                found.append(range_of(figure, figure, is_weak=True))
    return found


def _has_figure(text: str) -> bool:
    return _DIGIT.search(text) is not None


def _is_in_address(text: str, figure: Word) -> bool:
    """Tell whether a figure is a part of an address or a path."""
    before = text[max(0, figure.start - 1) : figure.start]
    return before in ("/", ":", "@") or text[figure.end : figure.end + 1] == "/"


def _misplaced(words: Sequence[Word], known: NearbyWords) -> Iterator[int]:
    """Yield the places of such figures, but for one that can be the number of an item."""
    for place, word in enumerate(words):
        if place == 0 or not word.is_figure:
            continue
        places = known.places_of_figure(word.text)
        if not 0 < len(places) <= _MOST_PLACES:
            continue
        around = known.known(stems_around(words, place, _AROUND, _AROUND))
        if len(around) < _LEAST_AROUND:
            continue
        if not any(_is_at(there, around, known) for there in places):
            yield place


def _is_at(place: int, around: Collection[str], known: NearbyWords) -> bool:
    """Tell whether a figure at a place of a source is about what these words say."""
    if known.number_near(around, place, _BESIDE):
        return True
    return known.number_near(around, place, _DISTANCE) > _MOST_SHARED * len(around)

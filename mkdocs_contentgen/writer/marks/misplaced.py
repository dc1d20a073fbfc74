"""Find the figures and the code of a text that its sources have for something else.

`Mouscron is 13th in the league` where a source says that Lille are 13th, and `--frozen` in a
sentence that is about `--locked` there. Such a part is at its place if one of the passages that
have it shares enough of the words around it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...language.ranges import Range, overlaps
from .nearby_words import NearbyWords, Word, nearby_words, read_sentences, stems_around

_DIGIT = re.compile(r"\d")

_AROUND = 6
"""How many words on each side of a part say what it is about."""

_LEAST_AROUND = 4
"""How many of these have to stand in the sources, so that their places can be compared."""

_DISTANCE = 20
"""How far from the part such a word may stand in a source, in words."""

_MOST_SHARED = 0.26
"""The share of such words near a part that is about something else: one of four."""

_BESIDE = 4
"""Where one of them stands beside the part in a source, it is at its place, in words."""

_MOST_PLACES = 8
"""What has more places in the sources is at its place somewhere."""


def find_misplaced(text: str, code: Sequence[Range], given: str, language: str = "") -> list[Range]:
    """Return the ranges of figures and code in `text` that `given` has for something else.

    `code` are the ranges of code spans in the text, in order and apart.
    """
    found: list[Range] = []
    if not code and not _has_figure(text):
        return found
    known = nearby_words(text, given, language)
    has_part = _has_figure if not code else bool
    for words in read_sentences(text, given, language, has_part):
        for part in _parts(text, words, code):
            if _is_misplaced(words, part, known):
                found.append(replace(part.range, is_weak=True))
    return found


class _Part(NamedTuple):
    """A figure, or a code span, in a sentence."""

    first: int
    last: int
    """The places of its first and its last word in the sentence."""

    range: Range
    """Its range in the text."""


def _has_figure(text: str) -> bool:
    return _DIGIT.search(text) is not None


def _parts(text: str, words: Sequence[Word], code: Sequence[Range]) -> Iterator[_Part]:
    """Yield each figure and each code span of a sentence.

    A figure at its start can be the number of an item.
    """
    end = 0
    for place, word in enumerate(words):
        if place < end:
            continue
        if overlaps(word.start, word.end, code):
            span = code[bisect_right(code, word.start, key=lambda span: span.end)]
            end = bisect_left(words, span.end, key=lambda word: word.start)
            yield _Part(place, end - 1, span)
        elif word.is_figure and place > 0 and not _is_in_address(text, word):
            yield _Part(place, place, Range(word.start, word.end))


def _is_in_address(text: str, figure: Word) -> bool:
    """Tell whether a figure is a part of an address or a path."""
    before = text[max(0, figure.start - 1) : figure.start]
    return before in ("/", ":", "@") or text[figure.end : figure.end + 1] == "/"


def _is_misplaced(words: Sequence[Word], part: _Part, known: NearbyWords) -> bool:
    own = words[part.first : part.last + 1]
    places = known.places_of([word.text for word in own])
    if not 0 < len(places) <= _MOST_PLACES:
        return False
    near = stems_around(words, part.first, part.last, _AROUND, _AROUND)
    around = known.known(near.difference(word.stem for word in own))
    if len(around) < _LEAST_AROUND:
        return False
    return not any(_is_at(place, around, known) for place in places)


def _is_at(place: int, around: Collection[str], known: NearbyWords) -> bool:
    """Tell whether a part at a place of a source is about what these words say."""
    if known.number_near(around, place, _BESIDE):
        return True
    return known.number_near(around, place, _DISTANCE) > _MOST_SHARED * len(around)

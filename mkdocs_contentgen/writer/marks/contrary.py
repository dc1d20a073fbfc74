"""Find what a text negates or turns round, and no source does near the same words.

`The service does not collect addresses` where the sources speak of collected addresses and no
negation is near, and `revenue declined` where it increased. The clauses need not have the same
words, as for `find_opposites`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from ...language.languages import PHRASES
from ...language.ranges import Range
from ...language.words import STEM
from .clause_words import NEGATIONS, OPEN, OPPOSITE_LINES, STATE_LINES, read_pairs
from .nearby_words import (
    NearbyWords,
    Word,
    nearby_words,
    read_sentences,
    stems_around,
    words_in,
)

_PAIRS = read_pairs(OPPOSITE_LINES)
"""Map each word with an opposite to its pair and side. Data have states in other words."""


def _negative_words(lines: Iterable[str]) -> frozenset[str]:
    """Return the words after the bar of each line."""
    pairs = read_pairs(lines)
    return frozenset(word for word, (_, is_positive) in pairs.items() if not is_positive)


_STEMS_OF_PAIRS = frozenset(word[:STEM] for word in _PAIRS)

_NEGATIVE = (
    NEGATIONS
    | OPEN
    | frozenset(PHRASES["negative"].split())
    | _negative_words([*STATE_LINES, *OPPOSITE_LINES])
)
"""Words of a source that can be what a text negates, such as `unsupported` and `only`."""

_CUES = NEGATIONS | _PAIRS.keys()
"""What a text negates or turns round something with."""

_BEFORE = 3
_AFTER = 6
"""How many words before and after a negation say what it is about."""

_LEAST_AROUND = 2
"""How many of these have to stand in the sources."""

_DISTANCE = 8
"""How far from such a word a negation or an opposite may stand in a source, in words."""

_LEAST_TURNED = 0.6
"""The share of the words around that stand near the opposite in a source."""


def find_contrary(text: str, given: str, language: str = "") -> list[Range]:
    """Return the ranges of negations and opposites in `text` that `given` has nowhere near."""
    found: list[Range] = []
    if not _has_cue(text):
        return found
    known = nearby_words(text, given, language)
    for words in read_sentences(text, given, language, _has_cue):
        negations = [place for place, word in enumerate(words) if word.text in NEGATIONS]
        for place in negations:
            if _is_added(words, place, known):
                end = words[_next_content(words, place)].end
                found.append(Range(words[place].start, end))
        if not negations:
            found += [Range(word.start, word.end) for word in _turned(words, known)]
    return found


def _has_cue(text: str) -> bool:
    """Tell whether a text has a negation or a word with an opposite."""
    return not words_in(text).isdisjoint(_CUES)


def _is_added(words: Sequence[Word], place: int, known: NearbyWords) -> bool:
    """Tell whether nothing near the words around a negation is negative in the sources."""
    around = _known_around(words, place, known)
    if len(around) < _LEAST_AROUND:
        return False
    return around.isdisjoint(known.stems_near(_NEGATIVE, _DISTANCE))


def _known_around(words: Sequence[Word], place: int, known: NearbyWords) -> frozenset[str]:
    """Return the known stems around a place, or none where a word there leaves it open."""
    near = words[max(0, place - _BEFORE) : place + 1 + _AFTER]
    if any(word.text in OPEN for word in near):
        return frozenset()
    return known.known(stems_around(words, place, place, _BEFORE, _AFTER))


def _next_content(words: Sequence[Word], place: int) -> int:
    """Return the place of the first word after a negation that says what is negated."""
    for following in range(place + 1, min(len(words), place + 1 + _AFTER)):
        if words[following].stem:
            return following
    return place


def _turned(words: Sequence[Word], known: NearbyWords) -> Iterator[Word]:
    """Yield the words of which the sources have only the opposite near these words."""
    for place, word in enumerate(words):
        if word.text not in _PAIRS:
            continue
        pair, side = _PAIRS[word.text]
        around = _known_around(words, place, known) - _STEMS_OF_PAIRS
        least = max(_LEAST_AROUND, _LEAST_TURNED * len(around))
        same = known.stems_near(_words_of(pair, is_positive=side), _DISTANCE)
        opposite = known.stems_near(_words_of(pair, is_positive=not side), _DISTANCE)
        if around.isdisjoint(same) and len(around & opposite) >= least:
            yield word


@cache
def _words_of(pair: int, *, is_positive: bool) -> frozenset[str]:
    """Return the words of one side of a pair."""
    return frozenset(word for word, key in _PAIRS.items() if key == (pair, is_positive))

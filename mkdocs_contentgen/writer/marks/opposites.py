"""Find the clauses of a text that say the opposite of a clause of the sources in the same words.

`Backups are encrypted` where a source says `Backups are not encrypted`, `--no-cache enables the
cache`, `before` for `after`. Only where nearly all words are the same is a clause compared, and
only where no clause of the sources says it as the text does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cache, lru_cache

from ...language.ranges import Range
from ...language.values import common_words, guess_language
from ...language.words import plain_case
from .clause_words import (
    CLAUSE_STARTS,
    JOINS,
    NEGATIONS,
    OPEN,
    OPPOSITE_LINES,
    ORDER_LINES,
    STATE_LINES,
    is_preposition,
    read_pairs,
)

_STARTS = CLAUSE_STARTS | JOINS
_START = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(_STARTS))})(?![\w-])", re.IGNORECASE)
"""A word that begins another clause."""

_BREAK = re.compile(r"[,;:()|–—。！？]|[.!?](?=\s|$)|\n(?=[ \t]{0,12}(?:\n|[-*+#>|]|\d{1,3}[.)]))")
"""Punctuation or a break that ends a clause."""

_WORD = re.compile(r"[^\W_]+(?:['’_.-][^\W_]+)*")

_LEAST_WORDS = 2
_FEW_WORDS = 3
"""Content words of a clause that says enough to be compared, and of one that has few of them."""

_SHARED = 0.8
"""The share of the words of a clause that the other one has."""

_STEM = 6
_MOST_WITH_WORD = 100
"""Clauses with a word that are looked at."""

_RAREST = 3
"""The rarest words of a clause, of which a clause with the same words has one."""


_OPPOSITES = read_pairs([*STATE_LINES, *OPPOSITE_LINES, *ORDER_LINES])
"""Map each word to its pair and side."""

_WORDS_WITH_A_SIDE = NEGATIONS | OPEN | _OPPOSITES.keys()


@dataclass(frozen=True)
class _Clause:
    start: int
    text: str
    stems: frozenset[str]
    is_negated: bool
    sides: frozenset[tuple[int, bool]]
    """The kinds of words with an opposite in it, each with its side."""

    is_open: bool

    @property
    def marked(self) -> Range:
        """What a reader has to look at: the words that make it an opposite, or all of it."""
        signs = []
        words = list(_WORD.finditer(self.text))
        for word in words:
            normal = plain_case(word[0])
            is_state = not is_preposition(normal, is_last=word is words[-1])
            if normal in NEGATIONS or (normal in _OPPOSITES and is_state):
                signs.append(word)
        marked = signs or words
        return Range(self.start + marked[0].start(), self.start + marked[-1].end())

    def is_opposite_of(self, other: _Clause) -> bool:
        """Tell whether two clauses with the same words contradict each other.

        They do if they have exactly one difference: two can cancel each other out.
        """
        differences = int(self.is_negated != other.is_negated)
        for kind, side in self.sides:
            if (kind, not side) in other.sides and (kind, side) not in other.sides:
                differences += 1
        return differences == 1


def find_opposites(text: str, given: str, language: str = "") -> list[Range]:
    """Return the ranges in `text` that make a clause the opposite of one in `given`."""
    tag = language or guess_language(text, given)
    sources = _index(given, tag)
    found: list[Range] = []
    for clause in _clauses(text, _words_to_drop(tag), sources.stems):
        if clause.is_open:
            continue
        same = [other for other in sources.near(clause) if _have_same_words(clause, other)]
        if same and all(clause.is_opposite_of(other) for other in same):
            found.append(clause.marked)
    return found


@cache
def _words_to_drop(language: str) -> frozenset[str]:
    """Return the words that make no difference between two clauses."""
    return common_words(language) - _WORDS_WITH_A_SIDE


def _have_same_words(clause: _Clause, other: _Clause) -> bool:
    shared = len(clause.stems & other.stems)
    if len(clause.stems) <= _FEW_WORDS and shared < len(clause.stems):
        return False
    return shared >= _SHARED * len(clause.stems) and shared >= _SHARED * len(other.stems)


class _Index:
    """The clauses of what is given, by their words."""

    def __init__(self, clauses: list[_Clause]) -> None:
        self._clauses = clauses
        self._by_stem: dict[str, list[int]] = {}
        self.stems = self._by_stem.keys()
        for number, clause in enumerate(clauses):
            for stem in clause.stems:
                self._by_stem.setdefault(stem, []).append(number)

    def near(self, clause: _Clause) -> Iterator[_Clause]:
        """Yield the clauses that have one of the rarest words of a clause."""
        known = clause.stems & self.stems
        rarest = sorted(known, key=lambda stem: (len(self._by_stem[stem]), stem))
        # Where a fifth of the words may differ, that can be the rarest one.
        size = 1 if len(clause.stems) <= _FEW_WORDS else _RAREST
        numbers: set[int] = set()
        for stem in rarest[:size]:
            numbers.update(self._by_stem[stem][:_MOST_WITH_WORD])
        for number in sorted(numbers):
            yield self._clauses[number]


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _index(given: str, language: str) -> _Index:
    found: dict[tuple[object, ...], _Clause] = {}
    for clause in _clauses(given, _words_to_drop(language), None):
        found.setdefault((clause.stems, clause.is_negated, clause.sides), clause)
    return _Index(list(found.values()))


def _clauses(text: str, dropped: frozenset[str], known: Set[str] | None) -> Iterator[_Clause]:
    """Yield the clauses of a text that have enough words, and most of those that are known."""
    for place in _between(_BREAK, text, Range(0, len(text))):
        words = _words(place.of(text))
        if _STARTS.isdisjoint(words):
            yield from _clause(text, place, words, dropped, known)
            continue
        for part in _between(_START, text, place):
            yield from _clause(text, part, _words(part.of(text)), dropped, known)


def _between(pattern: re.Pattern[str], text: str, place: Range) -> Iterator[Range]:
    """Yield the parts of a part of a text that are between the matches of a pattern."""
    start = place.start
    for match in pattern.finditer(text, place.start, place.end):
        if match.start() > start:
            yield Range(start, match.start())
        start = match.end()
    yield Range(start, place.end)


def _clause(
    text: str, place: Range, found: list[str], dropped: frozenset[str], known: Set[str] | None
) -> Iterator[_Clause]:
    """Yield a clause, if it says something. What has many words is looked at as sets of them."""
    words = frozenset(found) - dropped
    others = words - _WORDS_WITH_A_SIDE
    stems = frozenset(word[:_STEM] for word in others if len(word) > 2 or word.isdigit())
    if len(stems) < _LEAST_WORDS:
        return
    if known is not None and len(stems & known) < _SHARED * len(stems):
        return  # as most clauses
    sides = set()
    for word in words & _OPPOSITES.keys():
        if not is_preposition(word, is_last=word == found[-1]):
            sides.add(_OPPOSITES[word])
    yield _Clause(
        place.start,
        place.of(text),
        stems,
        not words.isdisjoint(NEGATIONS),
        frozenset(sides),
        not words.isdisjoint(OPEN),
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(plain_case(text))

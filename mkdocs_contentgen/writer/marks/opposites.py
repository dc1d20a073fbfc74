"""Find the clauses of a text that say the opposite of a clause of the sources in the same words.

`Backups are encrypted` where a source says `Backups are not encrypted`, `--no-cache enables the
cache`, `before` for `after`. Only where nearly all words are the same is a clause compared, and
only where no clause of the sources says it as the text does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from ...language.languages import PHRASES
from ...language.ranges import Range
from ...language.values import common_words, guess_language

_NEGATIONS = frozenset(PHRASES["negation"].split())
_OPEN = frozenset(PHRASES["open_question"].split())
_SIGNIFICANT_WORDS = _NEGATIONS | _OPEN

_START = "|".join(sorted([*PHRASES["clause_start"].split(), *PHRASES["and"].split()]))
_BREAK = re.compile(
    r"[,;:()|–—。！？]|[.!?](?=\s|$)"
    r"|\n(?=[ \t]{0,12}(?:\n|[-*+#>|]|\d{1,3}[.)]))"
    rf"|(?<![\w-])(?:{_START})(?![\w-])",
    re.IGNORECASE,
)
"""A sign, a break or a word that ends a clause."""

_WORD = re.compile(r"[^\W_]+(?:['’_.-][^\W_]+)*")

_LEAST_WORDS = 2
_FEW_WORDS = 3
"""Content words of a clause that says enough to be compared, and of one that has few of them."""

_SHARED = 0.8
"""The share of the words of a clause that the other one has."""

_STEM = 6
_MOST_WITH_WORD = 100
"""Clauses with a word that are looked at."""

_MOST_CLAUSES = 30
"""Clauses of the sources that are compared with one of the text."""


def _read_opposites() -> dict[str, tuple[int, bool]]:
    """Return for each word that has an opposite its kind, and which of both sides it is on."""
    found: dict[str, tuple[int, bool]] = {}
    lines = [*PHRASES["state"].splitlines(), *PHRASES["opposite"].splitlines()]
    for kind, line in enumerate(lines):
        one, _, other = line.partition("|")
        for word in one.split():
            found[word] = (kind, True)
        for word in other.split():
            found[word] = (kind, False)
    return found


_OPPOSITES = _read_opposites()


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
            normal = _normal(word[0])
            is_preposition = normal == "on" and word is not words[-1]
            if normal in _NEGATIONS or (normal in _OPPOSITES and not is_preposition):
                signs.append(word)
        marked = signs or words
        return Range(self.start + marked[0].start(), self.start + marked[-1].end())

    def is_opposite_of(self, other: _Clause) -> bool:
        """Tell whether one of two clauses with the same words is the other one's opposite."""
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
    for clause in _clauses(text, _words_to_drop(tag)):
        if clause.is_open or len(clause.stems) < _LEAST_WORDS:
            continue
        same = [other for other in sources.near(clause) if _have_same_words(clause, other)]
        if same and all(clause.is_opposite_of(other) for other in same):
            found.append(clause.marked)
    return found


@cache
def _words_to_drop(language: str) -> frozenset[str]:
    """Return the words that make no difference between two clauses."""
    return common_words(language) - _SIGNIFICANT_WORDS - _OPPOSITES.keys()


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
        for number, clause in enumerate(clauses):
            for stem in clause.stems:
                self._by_stem.setdefault(stem, []).append(number)

    def near(self, clause: _Clause) -> Iterator[_Clause]:
        """Yield the clauses that share most words with one, by its rarest words."""
        known = [stem for stem in clause.stems if stem in self._by_stem]
        if len(known) < _SHARED * len(clause.stems):
            return  # as for most clauses
        rarest = sorted(known, key=lambda stem: (len(self._by_stem[stem]), stem))
        counts: Counter[int] = Counter()
        for stem in rarest[:_FEW_WORDS]:
            counts.update(self._by_stem[stem][:_MOST_WITH_WORD])
        for number, _ in counts.most_common(_MOST_CLAUSES):
            yield self._clauses[number]


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _index(given: str, language: str) -> _Index:
    found: dict[tuple[object, ...], _Clause] = {}
    for clause in _clauses(given, _words_to_drop(language)):
        found.setdefault((clause.stems, clause.is_negated, clause.sides), clause)
    return _Index(list(found.values()))


def _clauses(text: str, dropped: frozenset[str]) -> Iterator[_Clause]:
    """Yield the clauses of a text, without those of a single word."""
    start = 0
    for mark in _BREAK.finditer(text):
        if mark.start() > start:
            yield from _clause(text[start : mark.start()], start, dropped)
        start = mark.end()
    yield from _clause(text[start:], start, dropped)


def _clause(text: str, start: int, dropped: frozenset[str]) -> Iterator[_Clause]:
    """Yield a clause, if it says something. What has many words is looked at as sets of them."""
    found = _WORD.findall(_normal(text))
    words = frozenset(found) - dropped
    if len(words) < _LEAST_WORDS:
        return
    with_opposite = words & _OPPOSITES.keys()
    if "on" in with_opposite and found[-1] != "on":  # a preposition
        with_opposite -= {"on"}
    others = words - _SIGNIFICANT_WORDS - _OPPOSITES.keys()
    yield _Clause(
        start,
        text,
        frozenset(word[:_STEM] for word in others if len(word) > 2 or word.isdigit()),
        not words.isdisjoint(_NEGATIONS),
        frozenset(_OPPOSITES[word] for word in with_opposite),
        not words.isdisjoint(_OPEN),
    )


def _normal(text: str) -> str:
    return text.casefold().replace("’", "'")

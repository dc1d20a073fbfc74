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
from functools import lru_cache

from ...language.languages import PHRASES
from ...language.ranges import Range
from ...language.values import common_words, guess_language

_NEGATIONS = frozenset(PHRASES["negation"].split())
_OPEN = frozenset(PHRASES["open_question"].split())
_STARTS = frozenset(PHRASES["clause_start"].split()) | frozenset(PHRASES["and"].split())

_TOKEN = re.compile(
    r"[^\W_]+(?:['’_.-][^\W_]+)*"
    r"|[,;:()|–—。！？]|[.!?](?=\s|$)"
    r"|\n(?=[ \t]{0,12}(?:\n|[-*+#>|]|\d{1,3}[.)]))"
)
"""A word, or a sign or a break that ends a clause."""

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
    range: Range
    stems: frozenset[str]
    is_negated: bool
    sides: frozenset[tuple[int, bool]]
    """The kinds of words with an opposite in it, each with its side."""

    signs: tuple[Range, ...]
    """Where its negations and the words with an opposite stand."""

    is_open: bool

    @property
    def marked(self) -> Range:
        """What a reader has to look at: its signs, or all of it where it lacks one."""
        if self.signs:
            return Range(self.signs[0].start, self.signs[-1].end)
        return self.range

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
    for clause in _clauses(text, common_words(tag)):
        if clause.is_open or len(clause.stems) < _LEAST_WORDS:
            continue
        same = [other for other in sources.near(clause) if _have_same_words(clause, other)]
        if same and all(clause.is_opposite_of(other) for other in same):
            found.append(clause.marked)
    return found


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
        rarest = sorted(clause.stems, key=lambda stem: (len(self._by_stem.get(stem, ())), stem))
        counts: Counter[int] = Counter()
        for stem in rarest[:_FEW_WORDS]:
            counts.update(self._by_stem.get(stem, [])[:_MOST_WITH_WORD])
        for number, _ in counts.most_common(_MOST_CLAUSES):
            yield self._clauses[number]


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _index(given: str, language: str) -> _Index:
    found: dict[tuple[object, ...], _Clause] = {}
    for clause in _clauses(given, common_words(language)):
        found.setdefault((clause.stems, clause.is_negated, clause.sides), clause)
    return _Index(list(found.values()))


def _clauses(text: str, common: frozenset[str]) -> Iterator[_Clause]:
    """Yield the clauses of a text."""
    tokens: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        word = token[0].casefold()
        if not word[0].isalnum() or word in _STARTS:
            if tokens:
                yield _clause(tokens, common)
            tokens = []
        else:
            tokens.append(token)
    if tokens:
        yield _clause(tokens, common)


def _clause(tokens: list[re.Match[str]], common: frozenset[str]) -> _Clause:
    stems: set[str] = set()
    signs: list[Range] = []
    sides: set[tuple[int, bool]] = set()
    is_negated = False
    is_open = False
    for token in tokens:
        word = token[0].casefold().replace("’", "'")
        if word in _NEGATIONS:
            is_negated = True
            signs.append(Range(*token.span()))
        elif word in _OPPOSITES and (word != "on" or token is tokens[-1]):  # a preposition
            sides.add(_OPPOSITES[word])
            signs.append(Range(*token.span()))
        elif word in _OPEN:
            is_open = True
        elif word not in common and (len(word) > 2 or word.isdigit()):
            stems.add(word[:_STEM])
    place = Range(tokens[0].start(), tokens[-1].end())
    return _Clause(place, frozenset(stems), is_negated, frozenset(sides), tuple(signs), is_open)

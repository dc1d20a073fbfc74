"""Find statements that contradict a yes or no in JSON, YAML or a table of the sources.

`"WiFi": "no"` and "offers free Wi-Fi", `required: false` and "`limit` is required". Only yes and no
are compared. Where a sentence leaves it open, where two keys differ, or where prose of the sources
names the same thing, nothing is marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...language.languages import PHRASES
from ...language.ranges import Range
from ...language.sentences import sentence_ranges
from ...language.words import plain_case, singular
from .clause_words import (
    CLAUSE_STARTS,
    JOINS,
    NEGATIONS,
    OPEN,
    STATE_LINES,
    is_preposition,
    read_pairs,
)
from .data_facts import Fact, read_facts, words_of_key

_RATHER = frozenset(("rather", "instead"))
"""What stands before something that is not so."""

_CONTAINERS = frozenset(
    "attribute feature option setting property amenity amenities detail info data parameter schema "
    "component config configuration flag default service facility facilities item result".split()
)
"""Keys that say nothing of the keys in them, in the singular."""

_LEFT_OUT = frozenset(
    "restaurants restaurant business has have is are allow allows accept accepts offer offers with "
    "good for by only the a enable use supports support requires accessible serves provides".split()
)
"""Words of keys that a sentence seldom has."""

_OTHER_WORDS = {"ambience": ("ambiance", "atmosphere", "vibe", "setting")}
"""Words that stand for a word of a key in a sentence."""

_CARDS = ("card", "creditcard")
"""Subjects that are untrue where only cash is taken."""

_CASH_ONLY = re.compile(r"\b(?:cash[ -]only|only\s(?:\w+\s){0,3}?(?:in\s)?cash|cash\sonly)\b", re.I)

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[,;:()–—]|\.(?=\s)")
_ENDS_CLAUSE = frozenset(",;()–—.") | CLAUSE_STARTS
_VERBS = frozenset(PHRASES["verb_after_and"].split())
"""Verbs that begin another clause after `and`."""

_SPECIFIC = 7
"""Letters of a word that means the same without what it is in, such as `romantic`."""

_MOST_BEFORE = 6
_MOST_AFTER = 4
"""How far from its subject a negation may stand, in words."""

_MOST_IN_CLAUSE = 20
"""Words of a clause that are looked at on each side of a subject."""

_MOST_CLAIMS = 50
"""Different claims about a subject that are compared with each other."""

_MOST_WORDS_OF_KEY = 4


_STATES = read_pairs(STATE_LINES)
"""For each word of a state its kind, and whether it is no opposite."""


@dataclass(frozen=True)
class _Claim:
    """What data say of a subject: that it is so, or that it is not."""

    subject: str
    """Its words without spaces, in the singular."""

    kind: int | None
    """The kind of its state, or None for something that is there or not."""

    is_true: bool
    around: str = ""
    """The word of what it is in, which a sentence has to have, or an empty string."""

    rivals: frozenset[str] = frozenset()
    """Words of the other columns, of which a sentence has to have none."""

    needs_state: bool = False
    """Whether a sentence has to have a word of its state, since its subject is more than that."""


@dataclass(frozen=True)
class _Token:
    word: str
    start: int
    end: int

    @property
    def stem(self) -> str:
        return singular(self.word)


def find_contradicted(text: str, given: str, language: str = "") -> list[Range]:
    """Return the ranges in `text`, with its code, that contradict data in `given`."""
    claims = _claims(given)
    found: list[Range] = []
    if not claims:
        return found
    for sentence in sentence_ranges(text, language):
        tokens = [
            _Token(plain_case(match[0]), match.start(), match.end())
            for match in _TOKEN.finditer(text, sentence.start, sentence.end)
        ]
        if not any(token.word in OPEN for token in tokens):
            found += _find_in_sentence(sentence.of(text), tokens, claims, given)
    return sorted(set(found))


def _find_in_sentence(
    sentence: str, tokens: Sequence[_Token], claims: dict[str, list[_Claim]], given: str
) -> Iterator[Range]:
    words = frozenset(token.stem for token in tokens)
    for first in range(len(tokens)):
        joined = ""
        for last in range(first, min(first + _MOST_WORDS_OF_KEY, len(tokens))):
            joined += tokens[last].stem
            for claim in claims.get(joined, ()):
                if not _is_about(words, claim):
                    continue
                said = _what_is_said(tokens, first, last, claim)
                if said is None or said.is_true == claim.is_true:
                    continue
                if not _is_in_prose(claim, given, said):
                    yield said.range
    if _CASH_ONLY.search(sentence):
        yield from _find_cash(tokens, claims)


def _is_about(words: frozenset[str], claim: _Claim) -> bool:
    """Tell whether a sentence with these words is about what the key of a claim is in."""
    if words & claim.rivals:
        return False
    if not claim.around or (len(claim.subject) >= _SPECIFIC and not claim.rivals):
        return True
    return not words.isdisjoint({claim.around, *_OTHER_WORDS.get(claim.around, ())})


def _find_cash(tokens: Sequence[_Token], claims: dict[str, list[_Claim]]) -> Iterator[Range]:
    """Yield the word `cash` in a sentence that says that only cash is taken, if cards are."""
    takes_cards = [claim for name in _CARDS for claim in claims.get(name, ()) if claim.is_true]
    for token in tokens:
        if takes_cards and token.word == "cash":
            yield Range(token.start, token.end)


@dataclass(frozen=True)
class _Said:
    is_true: bool
    range: Range
    words: Sequence[_Token]


def _what_is_said(tokens: Sequence[_Token], first: int, last: int, claim: _Claim) -> _Said | None:
    """Return what a sentence says of a subject, from the first to the last of its words."""
    if len(tokens) <= last - first + 1:
        return None  # a heading or a cell, which says nothing
    begin, end = _clause(tokens, first, last)
    state = _state_in(tokens, begin, end, first, last, claim.kind)
    if claim.kind is not None and state is None and claim.needs_state:
        return None
    about = [*range(max(begin, first - _MOST_BEFORE), first)]
    about += range(last + 1, min(end, last + 1 + _MOST_AFTER))
    if state is not None:
        about += range(min(last, state), state)
    negations = [place for place in about if _is_negation(tokens, place, first, last)]
    if any(_has_and(tokens, place, first) for place in negations):
        return None  # `no pool and a sauna`: which of them is there is not clear
    is_true = not negations
    used = [first, last, *negations]
    if state is not None:
        is_true = is_true == _STATES[tokens[state].word][1]
        used.append(state)
    words = [tokens[place] for place in range(first, last + 1)]
    return _Said(is_true, Range(tokens[min(used)].start, tokens[max(used)].end), words)


def _is_negation(tokens: Sequence[_Token], place: int, first: int, last: int) -> bool:
    """Tell whether the word at a place makes its opposite of what is said of a subject."""
    word = tokens[place].word
    if place < first:
        return word in NEGATIONS or word in _RATHER
    return word in NEGATIONS and not _has_and(tokens, last, place)


def _clause(tokens: Sequence[_Token], first: int, last: int) -> tuple[int, int]:
    """Return where the clause around some words begins and ends."""
    begin = first
    while begin > max(0, first - _MOST_IN_CLAUSE) and not _begins_clause(tokens, begin - 1):
        begin -= 1
    end = last + 1
    while end < min(len(tokens), last + _MOST_IN_CLAUSE) and not _begins_clause(tokens, end):
        end += 1
    return begin, end


def _begins_clause(tokens: Sequence[_Token], place: int) -> bool:
    """Tell whether a word or a punctuation mark begins another clause."""
    if tokens[place].word in JOINS:
        return place + 1 < len(tokens) and tokens[place + 1].word in _VERBS
    return tokens[place].word in _ENDS_CLAUSE


def _has_and(tokens: Sequence[_Token], first: int, last: int) -> bool:
    """Tell whether `and` stands between two words."""
    return any(tokens[place].word in JOINS for place in range(first, last))


def _state_in(
    tokens: Sequence[_Token], begin: int, end: int, first: int, last: int, kind: int | None
) -> int | None:
    """Return the place of the word of a state that is nearest to a subject in its clause."""
    nearest: int | None = None
    for place in range(begin, end):
        if first <= place <= last or tokens[place].word not in _STATES:
            continue
        its_kind, is_positive = _STATES[tokens[place].word]
        if kind is None and is_positive:
            continue  # what is there needs no word that says so
        if kind is not None and its_kind != kind:
            continue
        if is_preposition(tokens[place].word, is_last=place + 1 == end):
            continue
        if nearest is None or _distance(place, first, last) < _distance(nearest, first, last):
            nearest = place
    return nearest


def _distance(place: int, first: int, last: int) -> int:
    return first - place if place < first else place - last


def _is_in_prose(claim: _Claim, given: str, said: _Said) -> bool:
    """Tell whether prose of the sources names the subject, too, so that it is left open."""
    if claim.kind is not None:
        return False
    return _is_no_key(tuple(token.stem for token in said.words), given)


@lru_cache(maxsize=1024)  # a text can have the same words very often
def _is_no_key(stems: tuple[str, ...], given: str) -> bool:
    """Tell whether words stand somewhere in what is given where they are no key."""
    pattern = r"[\W_]{0,2}".join(f"{re.escape(stem)}s?" for stem in stems)
    for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", given, re.IGNORECASE):
        if not re.match(r"[\"'`]?\s?[:=|]", given[match.end() : match.end() + 3]):
            return True
    return False


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _claims(given: str) -> dict[str, list[_Claim]]:
    """Return what data say, by subject, without what they say both ways."""
    by_subject: dict[str, list[_Claim]] = {}
    for fact in read_facts(given):
        is_true = fact.is_true
        if is_true is None or fact.is_argument:
            continue
        for claim in _claims_of(fact, is_true):
            by_subject.setdefault(claim.subject, []).append(claim)
    for subject, claims in list(by_subject.items()):
        different = list(dict.fromkeys(claims))[:_MOST_CLAIMS]
        by_subject[subject] = [claim for claim in different if not _is_disputed(claim, different)]
    return by_subject


def _is_disputed(claim: _Claim, claims: Sequence[_Claim]) -> bool:
    for other in claims:
        is_same = (other.kind, other.around) == (claim.kind, claim.around)
        if is_same and other.is_true != claim.is_true:
            return True
    return False


def _claims_of(fact: Fact, is_true: bool) -> Iterator[_Claim]:
    """Yield what a fact says, for each form of its subject."""
    words = words_of_key(fact.key)
    if not words:
        return
    state = _STATES.get(words[-1])
    if state is not None:
        subject = "".join(map(singular, words[:-1]))
        if not fact.is_missing:
            yield from _claims_of_state(fact, subject, state, is_true)
    elif fact.headers:
        yield _claim_of_cell(fact, is_true)
    elif words != ("default",):
        yield from _claims_of_thing(fact, words, is_true)


def _claims_of_state(
    fact: Fact, subject: str, state: tuple[int, bool], is_true: bool
) -> Iterator[_Claim]:
    """Yield what a key with the word of a state says: `cache_enabled`, or `enabled` of a cache."""
    kind, is_positive = state
    needs_state = not subject
    if not subject:
        parents = [key for key in fact.path[:-1] if singular(key.lower()) not in _CONTAINERS]
        name = fact.name or (parents[-1] if parents else "")
        subject = "".join(map(singular, words_of_key(name)))
    if subject:
        yield _Claim(subject, kind, is_true == is_positive, needs_state=needs_state)


def _claims_of_thing(fact: Fact, words: Sequence[str], is_true: bool) -> Iterator[_Claim]:
    """Yield what a key says of something that is there or not, such as `wifi`."""
    kept = [word for word in words if word not in _LEFT_OUT]
    around = _around(fact)
    for form in {tuple(words), tuple(kept)}:
        subject = "".join(map(singular, form))
        if len(subject) > 1:
            yield _Claim(subject, None, is_true, around)


def _claim_of_cell(fact: Fact, is_true: bool) -> _Claim:
    """Return what a cell says of its row, for what its column is about."""
    rivals: set[str] = set()
    for header in fact.headers:
        if header != fact.key:
            rivals.update(map(singular, words_of_key(header)))
    own = [singular(word) for word in words_of_key(fact.key)]
    around = own[0] if own else ""
    subject = "".join(map(singular, words_of_key(fact.name)))
    return _Claim(subject, None, is_true, around, frozenset(rivals - set(own)))


def _around(fact: Fact) -> str:
    """Return the word of what a key is in, or an empty string if that says nothing."""
    if len(fact.path) < 2:
        return ""
    words = [word for word in words_of_key(fact.path[-2]) if word not in _LEFT_OUT]
    if not words or singular(words[-1]) in _CONTAINERS:
        return ""
    return singular(words[-1])

"""Find the sentences of a text that a person should read beside the sources.

A sentence that nothing in the sources resembles is often invented, although no single figure or
name of it is. About half of its content words are in no source then. On data and code, such as
JSON, that says nothing: there, every sentence in words is new.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ...language.languages import PHRASES
from ...language.ranges import Range
from ...language.sentences import sentence_ranges
from ...language.values import common_words, guess_language
from ...language.words import STEM, content_stems, content_words, split_words
from .data_facts import read_facts
from .nearby_words import nearby_words, read_words, stems_around, words_in

_MIN_SENTENCE = 5
"""A sentence with fewer content words says too little to be compared."""

_MOST_UNKNOWN = 0.47
"""The share of a sentence that may be unknown.

With it, good paraphrase and summaries have at most 0.45 sentences to read in 100 words.
"""

_INTRODUCTION = (":", "：")
"""The ends of a sentence that says nothing itself, but what it introduces does."""

_MOST_SIGNS = 0.09
"""The share of brackets, bars, quotation marks and the like in prose. Data and code have more."""

_MOST_KEYS = 0.2
"""The share of words in prose that look like the keys of data. YAML has more."""

_SIGN_OF_DATA = re.compile(r"[{}\[\]|<>\"=_();]")
"""A character that data and code have, and prose seldom has."""

_TOKEN = re.compile(r"\w++(?:[.,:/%-]\w++)*+")


@dataclass(frozen=True)
class _Claim:
    """A kind of claim, such as a reason, that a source has to make for the same things."""

    words: frozenset[str]
    said_by: frozenset[str]
    """The words by which a source makes it."""

    around: tuple[int, int]
    """How many words before and after say what it is about."""

    least: int
    """How many of these have to stand in the sources."""


def _claim(name: str, others: str, around: tuple[int, int], least: int) -> _Claim:
    words = frozenset(PHRASES[name].split())
    return _Claim(words, words | frozenset(PHRASES[others].casefold().split()), around, least)


_CLAIMS = (
    _claim("reason", "given_reason", around=(6, 8), least=2),
    _claim("at_present", "given_present", around=(4, 5), least=3),
)

_NEAR = 20
"""How far from the words around a claim a source may make it, in words."""


def find_sentences_to_read(text: str, given: str, language: str = "") -> list[Range]:
    """Return the ranges of the sentences in `text` that hardly share a word with `given`."""
    if not is_prose(given):
        return []
    tag = language or guess_language(text, given)
    common = common_words(tag)
    known = content_stems(given)
    found: list[Range] = []
    for sentence in sentence_ranges(text, language):
        said = sentence.of(text)
        if _is_unlike(said, given, common, known) or _claims_more(said, given, tag):
            found.append(_stripped(text, sentence))
    return found


def _claims_more(sentence: str, given: str, language: str) -> bool:
    """Tell whether a sentence gives a reason, or says what is so now, and no source does."""
    said = words_in(sentence)
    for claim in _CLAIMS:
        if said.isdisjoint(claim.words):
            continue
        nearby = nearby_words(sentence, given, language)
        words = read_words(sentence, language)
        for place, word in enumerate(words):
            if word.text in claim.words:
                around = nearby.known(stems_around(words, place, place, *claim.around))
                near = nearby.stems_near(claim.said_by, _NEAR)
                if len(around) >= claim.least and around.isdisjoint(near):
                    return True
    return False


def _is_unlike(sentence: str, given: str, common: frozenset[str], known: frozenset[str]) -> bool:
    """Tell whether too large a share of a sentence is unknown.

    Each known figure or name counts as half a known word. A sentence with the right ones is more
    often a paraphrase, but an invented one can have them, too.
    """
    if sentence.rstrip().endswith(_INTRODUCTION):
        return False
    words = [word[:STEM] for word in content_words(sentence) if word not in common]
    if len(words) < _MIN_SENTENCE:
        return False
    unknown = sum(word not in known for word in words)
    if unknown <= _MOST_UNKNOWN * len(words):
        return False
    return unknown > _MOST_UNKNOWN * (len(words) + _count_known(sentence, given) / 2)


def _count_known(sentence: str, given: str) -> int:
    """Return how many figures, names and identifiers of a sentence stand in what is given."""
    return sum(found in _statements(given) for found in _find_statements(sentence))


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _statements(text: str) -> frozenset[str]:
    return frozenset(_find_statements(text))


def _find_statements(text: str) -> Iterator[str]:
    """Yield the figures, the identifiers, and the words with a capital but the first one."""
    for match in _TOKEN.finditer(text):
        word = match[0]
        has_capital = word[0].isupper() and match.start() > 0
        if has_capital or not word.isalpha():
            yield word.casefold()


@lru_cache(maxsize=64)
def is_prose(text: str) -> bool:
    """Tell whether a source is prose, neither data nor code, whatever its white space."""
    signs = len(_SIGN_OF_DATA.findall(text))
    if signs > _MOST_SIGNS * len("".join(text.split())):
        return False
    words = split_words(text)
    return len(read_facts(text)) <= _MOST_KEYS * len(words)


def _stripped(text: str, sentence: Range) -> Range:
    """Return the range of a sentence without the white space around it."""
    words = sentence.of(text)
    first = sentence.start + len(words) - len(words.lstrip())
    return Range(first, sentence.start + len(words.rstrip()))

"""Compare terms that exclude each other, such as `at least` and `at most`, between two languages.

A good translation says much in other words. So a term counts only where a sentence of the original
has one of them alone, and its translation another one alone. A negation turns them around, so
sentences with one are left out. In translations of two documentations by people, into eleven
languages, 5,000 sentences have such a term, and 13 of them a message; two are wrong translations.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ..language.words import HANGUL, UNSPACED
from .compared_words import BlockText, negates, sentence_pairs

_TABLE = tomllib.loads(files(__package__).joinpath("exclusive_terms.toml").read_text("utf-8"))

_WORD_START = re.compile(f"(?<![^\\W{UNSPACED}{HANGUL}\u0600-\u06ff])")
"""Matches where a term can begin. Some scripts write particles or other words before a word."""


def compare_exclusive_terms(pair: BlockText) -> list[str]:
    """Return a message for each term that stands for one that excludes it."""
    rows = _rows(pair.from_language, pair.language)
    found = []
    for original, translation in sentence_pairs(pair):
        topics = [match.lastgroup for match in rows.of_original.finditer(original.lower())]
        if not topics or negates(original, pair.from_language):
            continue
        if negates(translation, pair.language):
            continue
        for topic in dict.fromkeys(topics):
            said = _only_term(rows.originals[str(topic)], original.lower())
            translated = _only_term(rows.translations[str(topic)], translation.lower())
            if said and translated and said.place != translated.place:
                found.append(f"the original has '{said.word}', and not '{translated.word}'")
    return found


class _Term(NamedTuple):
    place: int
    """Which of the terms that exclude each other it is."""

    word: str


def _only_term(patterns: Sequence[re.Pattern[str]], text: str) -> _Term | None:
    """Return the one of several terms that a text has, or None if it has none or two."""
    found = []
    for place, pattern in enumerate(patterns):
        for match in pattern.finditer(text):
            # Apart from each pattern, since so many characters take a millisecond to compile.
            if _WORD_START.match(text, match.start()):
                found.append(_Term(place, match[0]))
                break
    return found[0] if len(found) == 1 else None


@dataclass(frozen=True)
class _Rows:
    """The terms of two languages, by what they are about."""

    of_original: re.Pattern[str]
    """Matches any term of the original's language, in a group with the name of what it is about."""

    originals: dict[str, Sequence[re.Pattern[str]]]
    translations: dict[str, Sequence[re.Pattern[str]]]


@cache
def _rows(from_language: str, language: str) -> _Rows:
    """Return the terms that both languages have."""
    groups = []
    originals: dict[str, Sequence[re.Pattern[str]]] = {}
    translations: dict[str, Sequence[re.Pattern[str]]] = {}
    for topic, row in _TABLE.items():
        # Signs are the same in all languages.
        terms = row.get("all") or row.get(from_language)
        translated = row.get("all") or row.get(language)
        if terms and translated:
            groups.append(f"(?P<{topic}>{'|'.join(terms)})")
            originals[topic] = _patterns(terms)
            translations[topic] = _patterns(translated)
    of_original = re.compile(f"{_WORD_START.pattern}(?:{'|'.join(groups)})")
    return _Rows(of_original, originals, translations)


def _patterns(terms: Sequence[str]) -> list[re.Pattern[str]]:
    return [re.compile(term) for term in terms]

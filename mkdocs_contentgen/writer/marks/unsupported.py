"""Find the sentences of a text that a person should read beside the sources.

A sentence that nothing in the sources resembles is often invented, although no single figure or
name of it is. More than half of its content words are in no source then. On data, such as JSON,
that says nothing: there, every sentence in words is new.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...language.ranges import Range
from ...language.sentences import sentence_ends
from ...language.values import common_words, guess_language
from ...language.words import content_stems, content_words

_MIN_SENTENCE = 4
"""A sentence with fewer content words says too little to be compared."""

_MOST_SIGNS = 0.06
"""The share of brackets, bars and quotation marks in prose. Data have more of them."""

_SIGN_OF_DATA = re.compile(r"[{}\[\]|<>\"=]")
"""A sign that data have, and prose seldom has."""


def find_sentences_to_read(text: str, given: str, language: str = "") -> list[Range]:
    """Return the ranges of the sentences in `text` that hardly share a word with `given`."""
    if not is_prose(given):
        return []
    common = common_words(language or guess_language(text, given))
    known = content_stems(given)
    found: list[Range] = []
    start = 0
    for end in [*sentence_ends(text, language), len(text)]:
        words = 0
        unknown = 0
        for word in content_words(text[start:end]):
            if word in common:
                continue
            words += 1
            if not content_stems(word) <= known:
                unknown += 1
        if words >= _MIN_SENTENCE and 2 * unknown > words:
            found.append(_stripped(text, start, end))
        start = end
    return found


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def is_prose(text: str) -> bool:
    """Tell whether a source is prose, and no data."""
    return len(_SIGN_OF_DATA.findall(text)) <= _MOST_SIGNS * len(text)


def _stripped(text: str, start: int, end: int) -> Range:
    """Return the range of a sentence without the white space around it."""
    sentence = text[start:end]
    first = start + len(sentence) - len(sentence.lstrip())
    return Range(first, start + len(sentence.rstrip()))

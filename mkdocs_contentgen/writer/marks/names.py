"""Find the names in a text that no source has.

A name is a word with a capital letter inside a sentence, or several beside each other. At the start
of a sentence each word has one, and in German each noun, so there a name has two words at least.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...language.languages import PHRASES
from ...language.ranges import Range
from ...language.sentences import SENTENCE_SIGNS
from ...language.values import guess_language
from .known_names import POSSESSIVE, WORD, KnownNames

_CAPITAL = f"[{''.join(filter(str.isupper, map(chr, range(0x41, 0x530))))}]"
"""A capital letter of Latin, Greek or Cyrillic."""

_CAPITALIZED = rf"{_CAPITAL}(?:['’-]?\w)*+"
"""A word that begins with a capital letter."""

_NAME = re.compile(
    rf"(?<!\w)(?<!\w['’-])(?:(?!{_CAPITAL})\w++['’-])*+"
    rf"({_CAPITALIZED}(?: (?:(?:of|de|del|la|van|von|der|den|du|bin|al) ){{0,2}}{_CAPITALIZED})*)"
)
"""Words that begin with capital letters, such as `Jane Smith`, as group 1.

What precedes them in the first word, such as `d’`, is matched too: so a word is tried only once.
"""

_OWNER = r"['’]s "
"""The end of the first of two names, as in `Jane's Norsund`."""

_MORE_INITIALS = re.compile(rf"\.{_CAPITAL}(?!\w)")
"""What follows the first letter of an abbreviation such as `D.C`."""

_OPENERS = frozenset(PHRASES["opener"].split())
"""Words that often begin a sentence, and so have a capital letter."""

_ENDINGS_OF_VERBS = ("ing", "ed")
"""The endings of English words that begin a sentence before a name: `Starring Jane Smith`."""

PRONOUNS = frozenset({"I", "Sie", "Ihnen", "Ihr", "Ihre", "Ihren", "Ihrem", "Ihrer", "Он", "Она"})
"""Pronouns with a capital letter."""

_BEFORE_SENTENCE = f"{SENTENCE_SIGNS}:：•·|"
"""What stands before the first word of a sentence, an item or a cell."""


def find_names(text: str, given: str, language: str = "") -> list[Range]:
    """Return the ranges of the names in `text` that do not stand in `given`.

    A name of which all words stand there, but apart from each other, is a weak statement.
    """
    language = language or guess_language(text, given)
    known = KnownNames(given, language, guess_language(given))
    nouns_have_capitals = language.lower().startswith("de")
    ranges = []
    for match in _NAME.finditer(text):
        is_first = begins_sentence(text, match.start())
        start = _start_of_name(match, is_first=is_first)
        end = _end_of_name(match)
        words = _words_of(text[start:end])
        if not _is_name(text[start:end], words, in_capitals=is_first or nouns_have_capitals):
            continue
        if known.have_together(words) or _has_known_parts(text[start:end], known):
            continue
        if is_first and len(words) > 1 and _may_be_no_name(words[0], known):
            rest = words[1:]
            is_name = _is_name(" ".join(rest), rest, in_capitals=nouns_have_capitals)
            if not is_name or known.have_together(rest):
                continue
        ranges.append(Range(start, end, is_weak=known.have_apart(words)))
    return ranges


def _words_of(name: str) -> tuple[str, ...]:
    return tuple(POSSESSIVE.sub("", word) for word in WORD.findall(name))


def _has_known_parts(name: str, known: KnownNames) -> bool:
    """Tell whether a name is of two that stand in the sources, such as `Spanish-Latvian`."""
    between = _OWNER if " " in name else "-"
    parts = re.split(between, name)
    return len(parts) > 1 and all(known.have_together(_words_of(part)) for part in parts)


def _may_be_no_name(word: str, known: KnownNames) -> bool:
    """Tell whether the first word of a sentence may be no part of the name after it."""
    return word.lower().endswith(_ENDINGS_OF_VERBS) or known.have_uncapitalized(word)


def _is_name(name: str, words: Sequence[str], *, in_capitals: bool) -> bool:
    """Tell whether words with capital letters are a name.

    `in_capitals` says that any word may have a capital letter there, as at the start of a sentence.
    """
    if not words or name in PRONOUNS or words[-1] in PRONOUNS:  # `Messen Sie`
        return False
    return len(words) > 1 or not (in_capitals or _is_acronym(words[0]))


def begins_sentence(text: str, start: int) -> bool:
    """Tell whether a word at a position is the first of its sentence."""
    before = text[max(0, start - 12) : start].rstrip(" \"'“”„‘’»«([*–—-")
    return not before or before[-1] in _BEFORE_SENTENCE or before.endswith("\n")


def _start_of_name(match: re.Match[str], *, is_first: bool) -> int:
    """Return where a name starts: after a word such as `The` that is first in its sentence."""
    first, _, _ = match[1].partition(" ")
    if is_first and first.lower() in _OPENERS:
        return min(match.start(1) + len(first) + 1, match.end(1))
    return match.start(1)


def _end_of_name(match: re.Match[str]) -> int:
    """Return where a name ends: before the initials of an abbreviation, as in `Paris (U.K.)`."""
    last = match[1].rpartition(" ")[2]
    is_cut = len(last) == 1 and _MORE_INITIALS.match(match.string, match.end(1))
    return match.end(1) - 2 if is_cut and last != match[1] else match.end(1)


def _is_acronym(word: str) -> bool:
    """Tell whether a single word with a capital is an acronym, or `I`."""
    letters = [character for character in word if character.isalpha()]
    return len(letters) < 2 or sum(character.isupper() for character in letters) * 2 > len(letters)

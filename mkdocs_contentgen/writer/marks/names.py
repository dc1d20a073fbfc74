"""Find the names in a text that no source has.

A name is a word with a capital letter inside a sentence, or several beside each other. At the start
of a sentence each word has one, and in German each noun, so there a name has two words at least.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ...language.languages import PHRASES
from ...language.ranges import Range
from ...language.sentences import SENTENCE_SIGNS
from ...language.values import guess_language

_CAPITAL = "[" + "".join(sign for sign in map(chr, range(0x41, 0x530)) if sign.isupper()) + "]"
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

_OPENERS = frozenset(PHRASES["opener"].split())
"""Words that often begin a sentence, and so have a capital letter."""

PRONOUNS = frozenset({"I", "Sie", "Ihnen", "Ihr", "Ihre", "Ihren", "Ihrem", "Ihrer", "Он", "Она"})
"""Pronouns with a capital letter."""

_TITLES = frozenset(
    "mr mrs ms dr prof professor president minister senator mayor king queen sir lady lord captain "
    "pope pastor bishop archbishop governor attorney general chief ceo chairman director judge "
    "justice officer sergeant colonel coach former "
    "herr frau doktor präsident präsidentin madame monsieur señor señora signor signora "
    "господин госпожа президент".split()
)
"""Titles, which a text may put before a name of its sources."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
"""The ending of a possessive: `’s`, or `’` alone."""

_MOST_WORDS = 20
"""The words of a name that are looked up, since a text can be one name from start to end."""

_MOST_BETWEEN = 3
"""How far apart the words of one name may stand in a source, in words."""

_BEFORE_SENTENCE = f"{SENTENCE_SIGNS}:：•·|"
"""What stands before the first word of a sentence, an item or a cell."""

_INFLECTED = re.compile("[\u0370-\u052f]")
"""A letter of Greek or Cyrillic: of words in these, the last two letters can change."""


def find_names(text: str, given: str, language: str = "") -> list[Range]:
    """Return the ranges of the names in `text` that do not stand in `given`.

    A name of which all words stand there, but apart from each other, is a weak statement.
    """
    known = _KnownWords(given)
    nouns_have_capitals = (language or guess_language(text, given)).lower().startswith("de")
    ranges = []
    for match in _NAME.finditer(text):
        is_first = begins_sentence(text, match.start())
        start = _start_of_name(match, is_first=is_first)
        end = match.end(1)
        name = text[start:end]
        words = tuple(_POSSESSIVE.sub("", word) for word in _WORD.findall(name))
        if not _is_name(name, words, in_capitals=is_first or nouns_have_capitals):
            continue
        if not known.have_together(words):
            ranges.append(Range(start, end, is_weak=known.have_apart(words)))
    return ranges


class _KnownWords:
    """The words in what is given, with their places."""

    def __init__(self, given: str) -> None:
        self._index = _index(given)
        self._are_together: dict[tuple[str, ...], bool] = {}
        """What was found for a name: a text can have it very often, and so can what is given."""

    def have_together(self, name: tuple[str, ...]) -> bool:
        """Tell whether the words of a name stand near each other."""
        if name not in self._are_together:
            self._are_together[name] = _are_together(self._places(name))
        return self._are_together[name]

    def have_apart(self, name: tuple[str, ...]) -> bool:
        """Tell whether a name has several words that all stand somewhere."""
        places = self._places(name)
        return len(places) > 1 and all(places)

    def _places(self, name: tuple[str, ...]) -> list[list[int]]:
        """Return the places of each word of a name, without titles."""
        wanted = [word for word in name[:_MOST_WORDS] if word[0].isupper()]
        while len(wanted) > 1 and wanted[0].casefold() in _TITLES:
            del wanted[0]
        return [self._index.get(_normal(word), []) for word in wanted]


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
    """Return where a name starts: behind a word such as `The` that is first in its sentence."""
    first, _, _ = match[1].partition(" ")
    if is_first and first.lower() in _OPENERS:
        return min(match.start(1) + len(first) + 1, match.end(1))
    return match.start(1)


def _is_acronym(word: str) -> bool:
    """Tell whether a single word with a capital is an acronym, or `I`."""
    letters = [sign for sign in word if sign.isalpha()]
    return len(letters) < 2 or sum(sign.isupper() for sign in letters) * 2 > len(letters)


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _index(given: str) -> dict[str, list[int]]:
    """Return the places of each word in what is given, in words."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(_WORD.findall(given)):
        for form in {_normal(word), *map(_normal, re.split("['’]", word))}:
            places.setdefault(form, []).append(place)
    return places


def _normal(word: str) -> str:
    """Return a word as it is compared: without case, possessive, and the ends of inflection."""
    word = _POSSESSIVE.sub("", word).casefold()
    if _INFLECTED.search(word):
        return word[: max(3, len(word) - 2)]
    return word.removesuffix("s") if len(word) > 3 else word


def _are_together(places: list[list[int]]) -> bool:
    """Tell whether the words of a name stand near each other. Each has several places, or none."""
    if not all(places):
        return False
    # `Texas Governor Jane Smith` is Jane Smith, where a source says Texas elsewhere.
    return _are_near(places) or (len(places) > 2 and _are_near(places[-2:]))


def _are_near(places: list[list[int]]) -> bool:
    """Tell whether there are places of which each is a few words behind the one before."""
    near = set(places[0])
    for following in places[1:]:
        behind: set[int] = set()
        for place in near:
            behind.update(range(place + 1, place + _MOST_BETWEEN + 1))
        near = behind.intersection(following)
    return bool(near)

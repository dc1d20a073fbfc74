"""The names that a source has, and the other forms in which a text can write them.

A name of a text counts as known if its words stand near each other in a source. Each word may be
inflected or derived (`Korean` for `Korea`), shortened (`St` for `Street`) or joined (`Wi-Fi` for
`WiFi`), the whole may be an acronym there, or a place may stand as its code (`CA`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from ...language.languages import PHRASES
from ...language.places import other_names_of
from ...language.values import spellings_of_months
from ...language.words import COMBINING_MARKS, plain_case, singular

_TITLES = frozenset(
    "mr mrs ms dr prof professor president minister senator mayor king queen sir lady lord captain "
    "pope pastor bishop archbishop governor attorney general chief ceo chairman director judge "
    "justice officer sergeant colonel coach manager former cfo cto coo am pm "
    "herr frau doktor präsident präsidentin madame monsieur señor señora signor signora "
    "господин госпожа президент".split()
)
"""Titles, which a text may put before a name of its sources."""

WORD = re.compile(r"\w+(?:['’]\w+)*")
POSSESSIVE = re.compile(r"['’]s?$")
"""The ending of a possessive: `’s`, or only `’`."""

_MOST_WORDS = 20
"""The words of a name that are looked up, since a text can be one name from start to end."""

_MOST_BETWEEN = 3
"""How far apart the words of one name may stand in a source, in words."""

_INFLECTED = re.compile("[\u0370-\u052f]")
"""A letter of Greek or Cyrillic: of words in these, the last two letters can change."""

_OF_PEOPLE = ("", "n", "an", "ian", "ean", "ese", "ish", "ic", "i", "er")
_OF_PLACES = ("", "a", "ia", "e", "y", "o", "ium", "land", "lands", "any", "os")
"""The endings of `Korean` and `Korea`, `Belgian` and `Belgium`, `Scottish` and `Scotland`."""

_LEAST_STEM = 3
_LEAST_COMMON = 5
"""Letters that two words have in common if one is derived from the other."""

_DERIVED = frozenset(["", "s", "es", "ed", "ing", "er", "ers", "al", "ic", "ics", "ism", "ist"])
"""What stands after the common letters of such words: `Paralympic` and `Paralympics`."""


def _listed_forms() -> dict[str, set[str]]:
    """Return the other forms of words that no rule says, such as `st` and `street`."""
    found: dict[str, set[str]] = {}
    lines = map(str.split, PHRASES["same_name"].splitlines())
    for forms in (*lines, *spellings_of_months()):
        for form in forms:
            found.setdefault(form, set()).update(forms)
    return found


_LISTED_FORMS = _listed_forms()

_ACRONYM = re.compile(r"(?<![\w.])(?:[A-Z]{2,6}(?![\w-])|(?:[A-Z]\.){2,6})")
_CAPITALIZED_RUN = re.compile(
    r"(?<![\w'’-])[A-Z][\w'’]*+(?:(?:[ -]|, (?=and\b))"
    r"(?:(?:of|the|and|for|de|des|du|der|und|y|e) ){0,2}[A-Z][\w'’]*+){1,7}"
)
_DROPPED = re.compile(rf"[{COMBINING_MARKS}'’]+")
_CODE = re.compile(r"(?<![\w.])[A-Z]{2,3}(?![\w.]\w)")
_MOST_INITIALS = 6


class KnownNames:
    """The names in what is given."""

    def __init__(self, given: str, language: str, source_language: str) -> None:
        self._given = given
        self._languages = tuple(dict.fromkeys((language, source_language)))
        self._index = _index(given)
        self._are_together: dict[tuple[str, ...], bool] = {}
        """What was found for a name: a text can have it very often, and so can what is given."""

    def have_together(self, name: tuple[str, ...]) -> bool:
        """Tell whether the words of a name stand near each other, in any form."""
        if name not in self._are_together:
            self._are_together[name] = self._have(name)
        return self._are_together[name]

    def have_apart(self, name: tuple[str, ...]) -> bool:
        """Tell whether a name has several words that all stand somewhere."""
        places = self._places(name)
        return len(places) > 1 and all(places)

    def have_uncapitalized(self, word: str) -> bool:
        """Tell whether a word stands somewhere without a capital letter."""
        return word.lower() in _lower_case_words(self._given)

    def _have(self, name: tuple[str, ...]) -> bool:
        places = self._places(name)
        if _are_together(places):
            return True
        for number, word in enumerate(self._wanted(name)):
            places[number] = places[number] + self._places_in_other_form(word)
        if _are_together(places) or self._is_joined(name) or self._is_short(name):
            return True
        # `CFO Jane Smith` is Jane Smith, whatever her title is called in a source.
        return len(name) > 2 and name[0].isupper() and _are_together(self._places(name[1:]))

    def _wanted(self, name: tuple[str, ...]) -> list[str]:
        """Return the words of a name that count, without titles."""
        wanted = [word for word in name[:_MOST_WORDS] if word[0].isupper()]
        while len(wanted) > 1 and wanted[0].casefold() in _TITLES:
            del wanted[0]
        return wanted

    def _places(self, name: tuple[str, ...]) -> list[list[int]]:
        """Return the places of each word of a name, without titles."""
        return [self._index.get(_normal(word), []) for word in self._wanted(name)]

    def _places_in_other_form(self, word: str) -> list[int]:
        """Return the places of a word that is derived or shortened, or an acronym."""
        found: set[int] = set()
        for form in _other_forms(word.casefold()):
            found.update(self._index.get(form, ()))
        if word.isupper():
            found.update(_initials(self._given).get(word, ()))
        return sorted(found)

    def _is_joined(self, name: tuple[str, ...]) -> bool:
        """Tell whether a name is written in fewer words or more, as `Wi-Fi` for `WiFi`."""
        letters = _without_accents("".join(name))
        return len(letters) > 3 and letters in _joined_words(self._given)

    def _is_short(self, name: tuple[str, ...]) -> bool:
        """Tell whether a name stands there as its acronym or its code."""
        initials = "".join(word[0] for word in name if word[0].isupper())
        if len(initials) > 1 and initials in _acronyms(self._given):
            return True
        is_in_one_language = len(set(self._languages)) == 1
        codes = _codes(self._given)
        if is_in_one_language and not codes:
            return False
        others = other_names_of(" ".join(name), self._languages)
        if others.codes & codes:
            return True
        for other in others.names:
            words = [self._index.get(_normal(word), []) for word in WORD.findall(other)]
            if _are_together(words):
                return True
        return False


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _index(given: str) -> dict[str, list[int]]:
    """Return the places of each word in what is given, in words."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(WORD.findall(given)):
        for form in {_normal(word), *map(_normal, re.split("['’]", word))}:
            places.setdefault(form, []).append(place)
    return places


@lru_cache(maxsize=64)
def _joined_words(given: str) -> frozenset[str]:
    """Return each two words beside each other as one, in lower case."""
    words = WORD.findall(_without_accents(given, " "))
    return frozenset({*words, *(first + second for first, second in pairwise(words))})


@lru_cache(maxsize=64)
def _lower_case_words(given: str) -> frozenset[str]:
    """Return the words without a capital letter."""
    return frozenset(word for word in WORD.findall(given) if word[0].islower())


@lru_cache(maxsize=64)
def _acronyms(given: str) -> frozenset[str]:
    """Return the words of capital letters, such as `US` and `U.S.`."""
    return frozenset(match[0].replace(".", "") for match in _ACRONYM.finditer(given))


@lru_cache(maxsize=64)
def _codes(given: str) -> frozenset[str]:
    """Return what can be the code of a state or a country."""
    return frozenset(match[0] for match in _CODE.finditer(given))


@lru_cache(maxsize=64)
def _initials(given: str) -> dict[str, list[int]]:
    """Return the acronyms that names in what is given can have, with their places in words."""
    found: dict[str, list[int]] = {}
    place = 0
    end = 0
    for run in _CAPITALIZED_RUN.finditer(given):
        place += len(WORD.findall(given[end : run.start()]))
        end = run.start()
        words = WORD.findall(run[0])
        for first in range(len(words)):
            initials = ""
            for word in words[first : first + 2 * _MOST_INITIALS]:
                if word[0].isupper():
                    initials += word[0]
                if 1 < len(initials) <= _MOST_INITIALS:
                    # The last word counts, as what the acronym stands before follows it.
                    found.setdefault(initials, []).append(place + first + len(initials) - 1)
    return found


def _without_accents(text: str, other: str = "") -> str:
    """Return the letters and figures of a text in lower case, with `other` for other signs."""
    letters = _DROPPED.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return re.sub(r"[\W_]+", other, letters)


def _normal(word: str) -> str:
    """Return a word as it is compared: without case, possessive, and the ends of inflection."""
    word = plain_case(POSSESSIVE.sub("", word))
    if _INFLECTED.search(word):
        return word[: max(3, len(word) - 2)]
    return singular(word)


@lru_cache(maxsize=4096)  # the same few names are in all paragraphs
def _other_forms(word: str) -> frozenset[str]:
    """Return the normal forms of words of which one is derived from a word in lower case."""
    return frozenset(_derived_forms(word))


def _derived_forms(word: str) -> Iterator[str]:
    word = POSSESSIVE.sub("", word)
    yield from map(_normal, _LISTED_FORMS.get(word, ()))
    person = word.removesuffix("s")
    yield from _with_endings(person, _OF_PEOPLE, _OF_PLACES)
    yield from _with_endings(person, _OF_PLACES, _OF_PEOPLE)
    for ending in _DERIVED:
        stem = word.removesuffix(ending)
        if len(stem) >= _LEAST_COMMON and (ending == "" or stem != word):
            yield from (_normal(stem + other) for other in _DERIVED)


def _with_endings(word: str, endings: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Yield the normal forms of a word with each of other endings."""
    for ending in endings:
        stem = word.removesuffix(ending)
        if len(stem) < _LEAST_STEM or (ending and stem == word):
            continue
        for other in others:
            if len(stem) > _LEAST_STEM or len(ending) + len(other) < 4:
                yield _normal(stem + other)


def _are_together(places: Sequence[Sequence[int]]) -> bool:
    """Tell whether the words of a name stand near each other. Each has several places, or none.

    A name without words, such as only a number, does not.
    """
    if not places or not all(places):
        return False
    # `Texas Governor Jane Smith` is Jane Smith, where a source says Texas elsewhere.
    return _are_near(places) or (len(places) > 2 and _are_near(places[-2:]))


def _are_near(places: Sequence[Sequence[int]]) -> bool:
    """Tell whether there are places of which each is a few words after the one before."""
    near = set(places[0])
    for following in places[1:]:
        after: set[int] = set()
        for place in near:
            after.update(range(place + 1, place + _MOST_BETWEEN + 1))
        near = after.intersection(following)
    return bool(near)

"""Compare what a translation and its original say in words: negations, rates, places and names.

Every language says them in its own way, so this compares only what the table
`compared_words.toml` knows of both languages. A good translation may say `unless` for `if not`,
and gets no message: few words of an original are looked for, and many words count as their
translation.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from ..language.ranges import Range, overlaps
from ..language.sentences import sentence_ends
from ..language.values import common_words
from ..language.words import OBJECT
from ..writer.marks.names import PRONOUNS, begins_sentence, find_names

_TABLE = tomllib.loads(files(__package__).joinpath("compared_words.toml").read_text("utf-8"))

_RATE = re.compile(
    r"\b(?:per|each|every|an?(?! second))\s(second|minute|hour|day|week|month|year)\b",
    re.IGNORECASE,
)
"""What is said of a time, in English."""

_SEMICOLON = re.compile("[;；؛]")
"""What can be a full stop in another language."""

_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")
_ASCII_WORD = re.compile(r"[A-Za-z0-9][\w-]*", re.ASCII)
_NAME_WORDS = frozenset(_TABLE["names"]["translated"].split())
"""Words of names that have another form in other languages, such as `university`."""

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
"""A letter of Latin, with accents too."""

_STEM = re.compile(r"(?<!\w)[^\W\d_]{5}")
"""How a longer word begins, which is compared between languages."""

_DASHES = "-–—"
_OPENING = ("(", "[", '"', "“", "„", "«", "‹", "「", "¿", "¡")
"""What opens a quotation or a sentence."""

_ENDING = re.compile("[’'](?:s|[^\\W\\d_A-Z]{1,4})?$")
"""A possessive, and what Turkish puts after a name: `Acme’s` and `Acme’da`."""


_ACRONYM_BEHIND = re.compile(r"\s?[(\uff08]([A-Z]{2,8})[)\uff09]")
"""An acronym in brackets."""

_LONGEST_SMALL = 3
_LEAST_OF_TITLE = 3
_LONGEST_TITLE = 60
"""A text is a title if no word of more letters than the first number is in lower case."""

_HYPHENATED = re.compile(r"(?<![^\W_])[^\W_]+(?:-[^\W_]+)+")
"""A word with hyphens."""

_CONTRACTION = re.compile("(?:n[’']t|[’'](?:m|re|ve|ll|d))$")
"""What an English verb is after another word."""

_FIRST_OF_CONTRACTION = frozenset("i it he she that what who where here there let how".split())
"""What has an `’s` that is a verb."""

_ARTICLE = re.compile(
    r"\b(?:d(?:er|ie|as|en|em|es)|(?:k|m|d|s)?eine?[mnrs]?|i(?:m|ns)|[zv]um|zur|vom|am|ans|beim) $",
    re.IGNORECASE,
)
"""A German article before a noun."""

_BEFORE = 12
"""The most characters of what stands before a noun."""

_SHARE_OF_NAME = 0.75
"""How much of a name has to stand in a translation, which may change its end."""

_LEAST_OF_NAME = 3
"""The minimum number of letters of that part."""

_PLACE_LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl")
"""The languages for which the table has the names of places."""


@dataclass(frozen=True)
class CommonWords:
    """What whole texts have in lower case, too: `Settings` is no name beside `settings`."""

    original: frozenset[str] = frozenset()
    translation: frozenset[str] = frozenset()

    all_of_original: frozenset[str] = frozenset()
    """All words of the original, as as_compared() has them: a name can stand in each block."""


def common_words_of(original: str, translation: str) -> CommonWords:
    """Return what the blocks of two whole texts are compared with."""
    words = frozenset(as_compared(word) for word in _ASCII_WORD.findall(original))
    return CommonWords(_in_small_letters(original), _in_small_letters(translation), words)


def _in_small_letters(text: str) -> frozenset[str]:
    """Return the words that a text has in lower case somewhere, so that they are not names."""
    return frozenset(word for word in _WORD.findall(text) if word.islower())


NO_COMMON_WORDS = CommonWords()


@dataclass(frozen=True)
class BlockText:
    """The text of a block and that of its translation, without code."""

    original: str
    translation: str
    from_language: str
    """The primary tag of the original's language, such as `en`."""

    language: str
    is_heading: bool = False
    common_words: CommonWords = NO_COMMON_WORDS
    links: Sequence[Range] = ()
    """Where the original has links. Their words are titles of pages in most texts."""

    translated_links: Sequence[Range] = ()
    """Where the translation has links."""

    original_with_code: str = ""
    """All of the original, with its code and its addresses: they vouch for words, too."""

    translation_with_code: str = ""
    """All of the translation, likewise."""

    @property
    def is_latin(self) -> bool:
        """Whether both are written in Latin letters."""
        return _is_mostly_latin(self.original) and self.is_translation_latin

    @property
    def is_translation_latin(self) -> bool:
        """Whether the translation is written in Latin letters."""
        return _is_mostly_latin(self.translation)


def _is_mostly_latin(text: str) -> bool:
    letters = re.findall(r"[^\W\d_]", text)
    return 2 * sum(1 for letter in letters if _LATIN.match(letter)) > len(letters)


def compare_negations(pair: BlockText) -> list[str]:
    """Return a message if one of the two negates what the other does not."""
    rows = _TABLE["negations"]
    if pair.from_language not in rows or pair.language not in rows:
        return []
    of_original = _Negations(**rows[pair.from_language])
    of_translation = _Negations(**rows[pair.language])
    for original, translation in sentence_pairs(pair):
        words = of_original.clear_words(original)
        if len(words) > of_translation.count(translation):
            return [f"a negation of the original is missing ('{words[-1]}')"]
        added = of_translation.clear_words(translation)
        if added and not of_original.count(original):
            return [f"it has a negation that the original has not ('{added[0]}')"]
    return []


@dataclass(frozen=True)
class _Negations:
    """The patterns of a language."""

    clear: str
    """Matches words that always negate, such as `not`."""

    wide: str
    """Matches words that may negate, such as `unless`."""

    idioms: str
    """Matches what has such a word, and negates nothing, such as `no doubt`."""

    def clear_words(self, text: str) -> list[str]:
        """Return the words with which a text certainly negates."""
        without_idioms = re.sub(self.idioms, " ", text, flags=re.IGNORECASE)
        return re.findall(self.clear, without_idioms, re.IGNORECASE)

    def count(self, text: str) -> int:
        """Return how often a text negates, or may do so."""
        return len(re.findall(f"{self.idioms}|{self.wide}|{self.clear}", text, re.IGNORECASE))


def sentence_pairs(pair: BlockText) -> Iterator[tuple[str, str]]:
    """Yield each sentence with its translation, or all of a block where their numbers differ."""
    originals = _split(pair.original, pair.from_language)
    translations = _split(pair.translation, pair.language)
    if len(originals) == len(translations):
        yield from zip(originals, translations, strict=True)
    else:
        yield pair.original, pair.translation


def _split(text: str, language: str) -> list[str]:
    """Return the sentences of a text, and the parts of those with semicolons."""
    ends = {*sentence_ends(text, language), len(text)}
    ends |= {match.end() for match in _SEMICOLON.finditer(text)}
    return [text[start:end] for start, end in pairwise([0, *sorted(ends)]) if start < end]


def stems_of(text: str) -> set[str]:
    """Return how the longer words of a block begin, without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    return set(_STEM.findall(letters))


def as_compared(text: str) -> str:
    """Return a text in which names are alike that differ in case or hyphens: `WiFi`, `Wi-Fi`."""
    return text.casefold().replace("-", "")


def missing_rates(pair: BlockText) -> list[str]:
    """Return a message for each time of an English original that its translation does not name."""
    if pair.from_language != "en":
        return []
    found = []
    rates = {match[1].lower(): match[0] for match in _RATE.finditer(pair.original)}
    for unit, said in rates.items():
        if not re.search(_TABLE["rates"][unit], pair.translation, re.IGNORECASE):
            found.append(f"'{said}' of the original is missing")
    return found


def compare_names(pair: BlockText) -> tuple[list[Range], list[str]]:
    """Return the ranges of the names that the original has not, and a message for what is missing.

    Names are compared between languages with Latin letters. Those of places are looked up, and of
    names with words that are translated, such as `University of Oxford`, the other words count.
    """
    if not pair.is_latin or pair.is_heading or _is_title(pair.original):
        return [], []
    places = _places_in(pair.original, capitals=True)
    messages = _missing_names(pair)
    if pair.language in _PLACE_LANGUAGES:
        messages = [*_missing_places(pair, places), *messages]
    added = _added_names(pair, places)
    if not messages:
        # A word alone is a title or the name of a button in most texts. A name that is replaced is
        # missing, too.
        added = [name for name in added if len(_WORD.findall(name.of(pair.translation))) > 1]
    return [*added, *_added_places(pair, places, added)], messages


def _is_title(text: str) -> bool:
    """Tell whether the longer words of a text have capital letters, as a title in English has."""
    if len(text) >= _LONGEST_TITLE:
        return False
    long_words = 0
    for word in _WORD.findall(text):
        if len(word) <= _LONGEST_SMALL:
            continue
        if word[0].islower():
            return False
        long_words += 1
    return long_words >= _LEAST_OF_TITLE


def _missing_names(pair: BlockText) -> list[str]:
    """Return a message for each name of an original that its translation does not have."""
    found = []
    for name in find_names(pair.original, "", pair.from_language):
        if overlaps(name.start, name.end, pair.links):
            continue
        if _is_shortened(pair.original, name, pair.translation):
            continue
        words = _own_words(pair.original, name, pair.from_language)
        missing = [word for word in words if _is_missing(word, pair)]
        if missing:
            found.append(f"'{' '.join(missing)}' of the original is missing")
    return found


def _is_missing(word: str, pair: BlockText) -> bool:
    """Tell whether a translation lacks a word of a name, which has no other form there."""
    if _is_translated(word) or word.casefold() in pair.common_words.original:
        return False
    text = pair.translation_with_code or pair.translation
    if _has(text, word):
        return False
    has_all_parts = all(_has(text, part) for part in _capital_parts(word))
    return not has_all_parts


def _own_words(text: str, name: Range, language: str) -> list[str]:
    """Return the words that have a capital letter because they are part of a name.

    `name` is the range of the name in the text. The first word of a sentence has a capital letter
    whatever it is, and so has any noun in German.
    """
    words: list[str] = _WORD.findall(name.of(text))
    own = [word for word in words if word[0].isupper() and not _is_no_name(word, language)]
    is_first = begins_sentence(text, name.start) or _begins_part(text, name.start)
    if language == "de" and _ARTICLE.search(text, max(0, name.start - _BEFORE), name.start):
        is_first = True  # `das Projekt Acme`: the first word is a noun
    if not is_first:
        return own
    others = own[1:]
    may_be_noun = language == "de" and len(others) == 1
    return [] if may_be_noun else others


def _is_no_name(word: str, language: str) -> bool:
    """Tell whether a word is none of a name, whatever its first letter: `You`, `I’m`, `Don’t`."""
    if word in PRONOUNS:
        return True
    if language == "en" and _CONTRACTION.search(word):
        return True
    return _ENDING.sub("", word).casefold() in common_words(language) | _FIRST_OF_CONTRACTION


def _capital_parts(word: str) -> list[str]:
    """Return the parts of a word with hyphens that have a capital letter: `Unix` of `Unix-like`."""
    return [part for part in word.split("-") if part[0].isupper()]


def _begins_part(text: str, start: int) -> bool:
    """Tell whether a word is the first in quotes, or after a symbol, or after code and a dash."""
    if text[:start].endswith(_OPENING):
        return True
    before = text[:start].rstrip()
    if not before:
        return False
    last = before[-1]
    if last in _DASHES:
        return before.rstrip(f"{_DASHES} ").endswith(OBJECT)
    is_symbol = unicodedata.category(last) == "So"
    return is_symbol and last != OBJECT


def _is_translated(word: str) -> bool:
    """Tell whether a word of a name has another form in other languages."""
    return word.casefold() in _NAME_WORDS or bool(_places_named(word))


def _has(text: str, word: str) -> bool:
    """Tell whether a text has a word, whatever its ending, and also within a German compound."""
    folded, spaced_words = _in_lower_case(text)
    if "-" in word or any(letter.isupper() for letter in word[1:]):
        word = as_compared(word)  # `Wi-Fi` for `WiFi`
    whole = _ENDING.sub("", word).casefold()
    stem = whole[: max(_LEAST_OF_NAME, round(len(whole) * _SHARE_OF_NAME))]
    begins_word = f" {stem}" in spaced_words
    is_in_compound = len(stem) > _LEAST_OF_NAME and stem in folded
    return begins_word or is_in_compound


@lru_cache(maxsize=8)  # for all words of a block
def _in_lower_case(text: str) -> tuple[str, str]:
    """Return a text in lower case, and its words with a space before each."""
    folded = text.casefold()
    words = re.findall(r"[^\W_]+", folded)
    joined = [as_compared(word) for word in _HYPHENATED.findall(folded)]
    return folded, f" {' '.join([*words, *joined])}"


def _added_names(pair: BlockText, places: set[int]) -> list[Range]:
    """Return the ranges of the names in a translation that the original has not.

    `places` are those that the original names.
    """
    names = find_names(pair.original, "", pair.from_language)  # all, since nothing is given
    # `University of Oxford` becomes `Universität Oxford`: for each word of an original name that
    # has another form in the translation, one word there may be unknown.
    unknown_allowed = sum(_count_translated(name.of(pair.original)) for name in names)
    found = []
    for name in find_names(pair.translation, pair.original, pair.language):
        words = _own_words(pair.translation, name, pair.language)
        if not _has_to_be_known(pair, name, words, has_names=bool(names)):
            continue
        if len(words) == 1 and as_compared(words[0]) in pair.common_words.all_of_original:
            continue
        common = pair.common_words.translation
        others = [word for word in words if word.casefold() not in common]
        unknown = [word for word in others if not _is_known(word, pair, places)]
        if len(unknown) > unknown_allowed:
            found.append(name)
        else:
            unknown_allowed -= len(unknown)
    return found


def _count_translated(name: str) -> int:
    """Return how many words of a name have another form in other languages."""
    return sum(map(_is_translated, _WORD.findall(name)))


def _has_to_be_known(pair: BlockText, name: Range, words: list[str], *, has_names: bool) -> bool:
    """Tell whether the original has to have a name that is in the translation.

    `words` are those of _own_words(), and `has_names` says whether the original has any names.
    """
    if overlaps(name.start, name.end, pair.translated_links):
        return False
    if _is_shortened(pair.translation, name, pair.original):
        return False
    if len(words) == 1 and pair.language not in _PLACE_LANGUAGES:
        return False  # it can be a month, or a place
    return pair.language != "de" or not _can_be_nouns(pair, name, words, has_names=has_names)


def _is_shortened(text: str, name: Range, other: str) -> bool:
    """Tell whether a name is explained by an acronym that the other text has, as in `… (SSR)`."""
    match = _ACRONYM_BEHIND.match(text, name.end)
    return match is not None and match[1] in other


def _is_known(word: str, pair: BlockText, places: set[int]) -> bool:
    """Tell whether the original has a word of a name, or names the same place."""
    text = pair.original_with_code or pair.original
    return _has(text, word) or not places.isdisjoint(_places_named(word))


def _can_be_nouns(pair: BlockText, name: Range, words: list[str], *, has_names: bool) -> bool:
    """Tell whether the words of a German name can be nouns, which have capital letters, too.

    `Seite der Einstellungen`, `API-Dokumentation` and `Projekt Acme` can, and `Jane Miller` for
    Jane Smith cannot: the original has Jane, and not Miller.
    """
    has_other_words = name.of(pair.translation).split() != words  # such as `der`
    if has_other_words or not words:
        return True
    is_compound = len(words) == 1 and "-" in words[0]
    is_after_acronym = len(words) == 2 and words[0].isupper()
    if is_compound or is_after_acronym:
        return True
    if _has(pair.original, words[0]):
        # The original can have it in lower case, or with another ending.
        is_first_changed = words[0] not in pair.original
        return is_first_changed or _has(pair.original, words[-1])
    # They can stand for a name of the original that has another form in German.
    return has_names or _has(pair.original, words[-1])


def _missing_places(pair: BlockText, places: set[int]) -> list[str]:
    """Return a message for each place of an original that its translation does not name."""
    missing = places - _places_in(pair.translation)
    return [
        f"'{_place_name(number, pair)}' of the original is missing" for number in sorted(missing)
    ]


def _added_places(pair: BlockText, places: set[int], found: list[Range]) -> list[Range]:
    """Return the ranges of the places in a translation that the original does not name."""
    if pair.language not in _PLACE_LANGUAGES:
        return []
    added = []
    for match in _WORD.finditer(pair.translation):
        if not match[0][0].isupper():
            continue
        named = _places_named(match[0])
        part = Range(*match.span())
        if named and named.isdisjoint(places) and not overlaps(part.start, part.end, found):
            added.append(part)
    return added


def _places_in(text: str, *, capitals: bool = False) -> set[int]:
    """Return the places that a text names, with `capitals` only those with a capital letter.

    A place is a number: that of its line in the table, which has its names in all languages.
    """
    places: set[int] = set()
    for word in _WORD.findall(text):
        if word[0].isupper() or not capitals:
            places |= _places_named(word)
    return places


def _place_name(place: int, pair: BlockText) -> str:
    """Return the word of the original for a place."""
    words: list[str] = _WORD.findall(pair.original)
    return next(word for word in words if place in _places_named(word))


def _places_named(word: str) -> set[int]:
    """Return the places that a word can name, most often none."""
    exact, stems, longest = _places_by_name()
    folded = word.casefold()
    found = set(exact.get(folded, ()))
    for size in range(_LEAST_OF_NAME, min(len(folded), longest) + 1):
        found |= stems.get(folded[:size], set())
    return found


@cache
def _places_by_name() -> tuple[dict[str, set[int]], dict[str, set[int]], int]:
    """Return the places by whole names and by the starts of names, and the longest start."""
    exact: dict[str, set[int]] = {}
    stems: dict[str, set[int]] = {}
    for number, line in enumerate(_TABLE["places"]["names"].strip().split("\n")):
        for name in line.split():
            table = stems if name.endswith("*") else exact
            table.setdefault(name.removesuffix("*"), set()).add(number)
    return exact, stems, max(map(len, stems))

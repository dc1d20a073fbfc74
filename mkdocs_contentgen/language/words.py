"""Count the words of a text, and recognise its script."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

EAST_ASIAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The letters of Chinese and Japanese, as a part of a regular expression's character class."""

HANGUL = "\uac00-\ud7a3"
"""The letters of Korean, whose words have particles after them."""

UNSPACED = f"\u0e00-\u0eff{EAST_ASIAN}"
"""The letters of all scripts without spaces between words: Thai and Lao, too."""

COMBINING_MARKS = "".join(
    letter for letter in map(chr, range(0x300, 0xE00)) if unicodedata.category(letter)[0] == "M"
)
"""Accents, and the vowel signs of Hebrew, Arabic and Indic scripts: no letters to `re`."""

OBJECT = "\ufffc"
"""Stands for each character of code and the like, where only the prose of a text is looked at."""

_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_LETTERS = rf"[^\W_{UNSPACED}]+(?:[{COMBINING_MARKS}]+[^\W_{UNSPACED}]*)*"
_WORD = re.compile(rf"[{UNSPACED}]|{_LETTERS}(?:['’.,:/-]{_LETTERS})*")
_CHARACTERS_PER_WORD = 2
"""The characters of a script without spaces that count as a word."""

_RUN = re.compile(rf"[{UNSPACED}]+|[^\W\d_{UNSPACED}]+")
"""A word without figures, or all characters up to the next space or sign in other scripts."""

_LEAST_LETTERS = 4
"""Shorter words are hardly content."""

_LONGEST_WITH_S = 3
"""Letters of the longest word that ends with `s` also in the singular, such as `gas`."""

STEM = 6
"""Letters of a content word that are compared."""

_EAST_ASIAN_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA")
"""How the names of these letters in Unicode begin."""


def split_words(text: str) -> list[str]:
    """Return the words in lower case. In scripts without spaces, each character is one."""
    return _WORD.findall(text.casefold())


def separate_words(text: str) -> str:
    """Return a text with spaces around each character that counts as a word."""
    return _IS_UNSPACED.sub(r" \g<0> ", text)


def count_words(words: Iterable[str]) -> int:
    """Return the number of words. In scripts without spaces, two characters count as a word."""
    words = list(words)
    unspaced = len(_IS_UNSPACED.findall("".join(words)))
    spaced = len(words) - unspaced  # since each character without spaces is in the list as a word
    return spaced + math.ceil(unspaced / _CHARACTERS_PER_WORD)


def count_scripts(text: str) -> Counter[str]:
    """Return the amount of text in each script. The names are those of Unicode, such as `Latin`.

    A number is in no script. Japanese mixes scripts, so it is one with Chinese.
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", text))
    # The first letter of a word tells its script. There are far fewer letters than words.
    first_letters = Counter(word[0] for word in words)
    counts: Counter[str] = Counter()
    for letter, number_of_words in first_letters.items():
        if letter.isalpha():
            weight = 1 if _IS_UNSPACED.match(letter) else _CHARACTERS_PER_WORD
            counts[_script_of(letter)] += number_of_words * weight
    return counts


def _script_of(letter: str) -> str:
    """Return the name of the script of a letter, as a message shows it."""
    name = unicodedata.name(letter, "").split(" ", 1)[0]
    return "Chinese or Japanese" if name in _EAST_ASIAN_SCRIPTS else name.capitalize()


def singular(word: str) -> str:
    """Return a word without a final `s`, unless it is too short to be a plural."""
    return word.removesuffix("s") if len(word) > _LONGEST_WITH_S else word


def plain_case(text: str) -> str:
    """Return a text in lower case with straight apostrophes, in which words are compared."""
    return text.casefold().replace("’", "'")


def content_words(text: str) -> list[str]:
    """Return the longer words of a text in lower case; of Chinese, each two characters."""
    words: list[str] = []
    for word in _RUN.findall(text.casefold()):
        if _IS_UNSPACED.match(word):
            words += [word[place : place + 2] for place in range(len(word) - 1)]
        elif len(word) >= _LEAST_LETTERS:
            words.append(word)
    return words


@lru_cache(maxsize=256)  # what is given is the same for all paragraphs of a text
def content_stems(text: str) -> frozenset[str]:
    """Return the first letters of the content words, which are compared without their endings."""
    return frozenset(word[:STEM] for word in content_words(text))

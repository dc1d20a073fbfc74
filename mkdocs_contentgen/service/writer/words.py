"""Count the words of a text, and recognise its script."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

# Scripts that write words without spaces between them.
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_LETTERS = rf"[^\W_{_UNSPACED}]+"
_WORD = re.compile(rf"(?P<unspaced>[{_UNSPACED}])|{_LETTERS}(?:['’.,:/-]{_LETTERS})*")
_CHARACTERS_PER_WORD = 2
_SAME_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}


def split_words(text: str) -> list[str]:
    """Return the words in lower case. In scripts without spaces, each character is one."""
    return [match[0] for match in _WORD.finditer(text.casefold())]


def count_words(text: str) -> int:
    """Return the number of words. In scripts without spaces, two characters count as a word."""
    unspaced = [bool(match["unspaced"]) for match in _WORD.finditer(text)]
    return unspaced.count(False) + -(-unspaced.count(True) // _CHARACTERS_PER_WORD)


def count_scripts(text: str) -> Counter[str]:
    """Return how much of a text is in each script, as Unicode names it, such as `LATIN`.

    A number is in no script. Japanese, which mixes scripts, is `CJK`.
    """
    counts: Counter[str] = Counter()
    words = _WORD.finditer(unicodedata.normalize("NFKC", text))
    for letter, number in Counter(match[0][0] for match in words).items():
        if letter.isalpha():
            name = unicodedata.name(letter, "").split(" ", 1)[0]
            weight = 1 if _IS_UNSPACED.match(letter) else _CHARACTERS_PER_WORD
            counts[_SAME_SCRIPT.get(name, name)] += number * weight
    return counts

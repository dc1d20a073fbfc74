"""Read the answer to a request for several blocks: the words of each, by its number.

Models keep to the form that they are asked for in many ways. `[7] ` is asked for, since no block
has these signs in its own words: there, each bracket has a backslash before it. Other forms are
only read where an answer has this one nowhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import zip_longest

from .answers import without_fence_lines
from .talk import without_closing

_BEFORE = r"^[ \t]{0,9}(?:[-*+>•] |#{1,6} )?"
"""What may stand before the number of a block: the mark of an item or a heading."""

_ASKED = re.compile(
    _BEFORE
    + r"(?P<bold>\*\*)?\\?\[(?P<number>\d{1,5})\\?\](?!\()(?P<end>\*\*)?[:.]?(?:\*\*)?[ \t]*",
    re.MULTILINE,
)
"""The start of a block as it is asked for: `[7] `."""

_OTHER = re.compile(
    _BEFORE
    + r"(?P<bold>\*\*)?(?:(?:block|blok|bloc|bloque|bloco|blocco)\s)?(?P<number>\d{1,5})"
    + r"(?P<end>\*\*)?\s?[:.)|=](?:\*\*)?[ \t]+",
    re.MULTILINE | re.IGNORECASE,
)
"""Other starts of a block: `7: `, `7. `, `**Block 7:** `."""

_ELEMENT = re.compile(
    r"^[ \t]*<(?P<name>p|li|div|h[1-6]|td|th)>(?P<words>.*)</(?P=name)>[ \t]*$", re.MULTILINE
)
"""A line that is in an element of HTML."""

_EMPTY_LINE = re.compile(r"\n[ \t]*\n")
_NUMBER = re.compile(r"\[?(\d{1,5})\]?")
"""A number in the JSON of an answer, as group 1."""

_NUMBERS = ("number", "block", "id", "index", "n")
"""The names of the field that has the number of a block, in JSON."""

_TEXTS = ("text", "translation", "translated", "content")
"""The names of the field that has its words."""


def read_numbered_blocks(
    answer: str, asked: Collection[int], *, is_cut: bool = False
) -> dict[int, list[str]]:
    """Return the texts that an answer has for each of the numbers that were asked for.

    Of an answer that was cut off, the last block may not be whole, and is left out.
    """
    answer = _without_elements(without_fence_lines(answer)).strip("\n")
    found = list(_entries_of_json(answer)) or list(_entries(answer))
    if is_cut:
        del found[-1:]
    texts: dict[int, list[str]] = {}
    for number, text in found:
        if number in asked and text and text not in texts.get(number, ()):
            texts.setdefault(number, []).append(text)
    return texts


def has_block_start(text: str) -> bool:
    """Tell whether another block begins within the text of a block."""
    return re.search(r"(?<!\\)\[\d{1,5}\](?!\()", text) is not None


def last_block(answer: str) -> tuple[int, str]:
    """Return how many blocks an unfinished answer has begun, and the text of the last one."""
    starts = list(_ASKED.finditer(answer))
    begin = starts[-1].end() if starts else 0
    return len(starts), answer[begin:]


def _entries(answer: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers and the texts of the blocks in an answer."""
    starts = list(_ASKED.finditer(answer)) or list(_OTHER.finditer(answer))
    for start, following in zip_longest(starts, starts[1:]):
        if following:
            end = following.start()
        else:
            end = len(answer)
        # A block has one line. What stands apart is said to the person who asked.
        text = _EMPTY_LINE.split(answer[start.end() : end].strip(), maxsplit=1)[0]
        if end == len(answer):
            text = without_closing(text)
        # Bold that begins before the number, and does not end behind it, ends behind the text.
        if start["bold"] and not start["end"]:
            text = text.removesuffix("**")
        yield int(start["number"]), _without_elements(_in_one_line(text)).strip()


def _entries_of_json(answer: str) -> Iterator[tuple[int, str]]:
    """Yield the entries of an answer in JSON: an object by numbers, or a list of objects."""
    if not answer.lstrip().startswith(("{", "[{")):
        return
    value: object = None
    with suppress(ValueError, RecursionError):
        value = json.loads(answer)
    value = _without_envelope(value)
    if isinstance(value, dict):
        for number, text in value.items():
            named = _NUMBER.fullmatch(number)
            if named and isinstance(text, str):
                yield int(named[1]), _in_one_line(text)
    elif isinstance(value, list):
        for item in value:
            entry = _entry_of_object(item)
            if entry:
                yield entry


def _without_envelope(value: object) -> object:
    """Return what is within an object with a single field, such as `{"translations": [...]}`."""
    if isinstance(value, dict) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, list | dict):
            return only
    return value


def _entry_of_object(item: object) -> tuple[int, str] | None:
    """Return the number and the text in an object, or None if it lacks one of them."""
    if not isinstance(item, dict):
        return None
    numbers = [item[name] for name in _NUMBERS if isinstance(item.get(name), int)]
    texts = [item[name] for name in _TEXTS if isinstance(item.get(name), str)]
    if not numbers or not texts:
        return None
    return numbers[0], _in_one_line(texts[0])


def _without_elements(text: str) -> str:
    """Drop the tags around lines: a model may put a whole line into an element, or its words."""
    return _ELEMENT.sub(r"\g<words>", text)


def _in_one_line(text: str) -> str:
    return " ".join(text.split("\n")).strip()

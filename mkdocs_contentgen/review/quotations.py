"""Follow which of a draft's invented quotations a person has settled.

The remarks of a draft name the quotations that are in no source. A quotation is settled when none
of its letters is marked as a statement to check, or when it is gone with its marks. Letters are
compared, since spaces and punctuation differ between the text of a model and that of its HTML. A
quotation that cannot be found in a text counts as open until the text has no mark any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..html.document import Document
from ..remark import Remark


@dataclass(frozen=True)
class MarkedText:
    """The letters of a text as it is now, and which of them are in a statement to check."""

    letters: str
    is_marked: bytes
    """A byte for each letter, which is 1 within a mark."""

    marks: Counter[str]
    """The letters of each mark."""


def marked_text(document: Document) -> MarkedText:
    """Return the letters of a document, and those that are marked."""
    letters: list[str] = []
    is_marked = bytearray()
    for string in document.article.strings:
        found = _letters(string)
        letters.append(found)
        flag = b"\1" if string.find_parent("mark") else b"\0"
        is_marked += flag * len(found)
    marks: Counter[str] = Counter()
    for mark in document.article.find_all("mark"):
        marks[_letters(mark.get_text())] += 1
    return MarkedText("".join(letters), bytes(is_marked), marks)


def open_remarks(
    remarks: Iterable[Remark], before: MarkedText, after: MarkedText
) -> tuple[Remark, ...]:
    """Return the remarks on a text after a change, without those on quotations settled by it."""
    left = []
    for remark in remarks:
        if not remark.is_about_quotation or _is_open(remark, before, after):
            left.append(remark)
    return tuple(left)


def _is_open(remark: Remark, before: MarkedText, after: MarkedText) -> bool:
    """Return whether a remark on a quotation still holds for a text after a change.

    It is settled once the quotation has no mark any more, or was taken out.
    """
    has_lost_last_mark = bool(before.marks) and not after.marks
    if has_lost_last_mark:
        return False
    quotation = _letters(str(remark.values.get("quotation", "")))
    if not quotation:  # the remark has a part of it, or a number
        return True
    places = list(_places(quotation, after))
    if places:
        return any(any(after.is_marked[begin:end]) for begin, end in places)
    was_there = any(_places(quotation, before))
    # Words that were put in its place, and marked, are no less invented.
    has_new_marks = bool(after.marks - before.marks)
    return has_new_marks or not was_there


def _places(quotation: str, text: MarkedText) -> Iterator[tuple[int, int]]:
    begin = text.letters.find(quotation)
    while begin >= 0:
        end = begin + len(quotation)
        yield begin, end
        begin = text.letters.find(quotation, end)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))

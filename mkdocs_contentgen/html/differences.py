"""What differs between two versions of a document, by blocks and words."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import islice
from typing import Literal

from ..files import sha256
from .document import Document, Piece

_MAX_PAIRS = 4_000_000
"""Pairs of equal pieces or words that are compared, which takes about a second."""

_MAX_CANDIDATES = 50

# Japanese and Chinese have no spaces between words.
_TOKEN = re.compile(
    r"(?:<[^<>]*>|[\u3040-\u30ff\u4e00-\u9fff]|[^\s<\u3040-\u30ff\u4e00-\u9fff]+)\s*|\s+"
)

_TAG = re.compile("<[^<>]*>")
_REL = re.compile(' rel="[^"]*"')

Word = tuple[Literal["equal", "old", "new"], str]
"""A part of the HTML of two versions."""


@dataclass(frozen=True)
class Row:
    """What stands at one place in two versions."""

    before: Piece | None
    after: Piece | None
    words: Sequence[Word] = ()
    """The HTML of both, where they differ."""

    def words_to_read(self) -> list[Word]:
        """Return the words as plain text, with the tags that differ.

        Those of the element itself are there only with other attributes than class and style, or
        if nothing else differs.
        """
        names = "|".join({it.element.name for it in (self.before, self.after) if it})
        own = "(?!)" if "|" in names else rf'</?{names}(?: (?:class|style)="[^"]*")*>'
        for hidden in (own, "(?!)"):
            words = [(kind, _to_read(kind, html, hidden)) for kind, html in self.words]
            if any(text for kind, text in words if kind != "equal"):
                break
        return [word for word in words if word[1]]

    @property
    def digest(self) -> str:
        """The SHA-256 of the HTML of both."""
        return sha256(f"{_html(self.before)}\0{_html(self.after)}")

    @property
    def is_equal(self) -> bool:
        """Whether both versions are the same here."""
        return _html(self.before) == _html(self.after)


def _to_read(kind: str, html: str, hidden: str) -> str:
    """Return HTML as plain text with the tags that differ, except those that `hidden` matches."""

    def show(tag: re.Match[str]) -> str:
        if kind == "equal" or re.fullmatch(hidden, tag[0]):
            return ""
        return _REL.sub("", tag[0])  # which the sanitizer gives each link

    # Text has no `<` of its own, but can look like an attribute.
    return unescape(_TAG.sub(show, html))


def compare(before: Document, after: Document, *, marks: bool = True) -> list[Row]:
    """Return the pieces of two versions side by side. They all are equal if the HTML is.

    Without `marks`, it makes no difference what is marked as a statement to check.
    """
    old, new = before.pieces(marks=marks), after.pieces(marks=marks)
    budget = _Budget(_MAX_PAIRS)
    rows: list[Row] = []
    matcher = _Matcher([it.html for it in old], _former_html(old, new), budget)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            rows += [Row(one, other) for one, other in zip(old[a:b], new[c:d], strict=True)]
        else:
            rows += _side_by_side(old[a:b], new[c:d])
    return [_with_words(row, budget) for row in rows]


def _former_html(old: Sequence[Piece], new: Sequence[Piece]) -> list[str]:
    """Return the HTML in `new`, but for each element that was changed, that in `old`.

    An element is a change of another one of its kind if a third of its words is the same.
    """
    known, kept = {it.html for it in old}, {it.html for it in new}
    left = {it.html: (it.element.name, _words(it)) for it in old if it.html not in kept}
    found = []
    for piece in new:
        html, words = piece.html, _words(piece) if piece.html not in known else frozenset()
        for candidate, (kind, others) in islice(left.items(), _MAX_CANDIDATES) if words else ():
            most = max(len(words), len(others))
            if kind == piece.element.name and 3 * len(words & others) >= most:
                html = candidate
                break
        left.pop(html, None)
        found.append(html)
    return found


def _words(piece: Piece) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", piece.element.get_text()) if piece.part == "all" else ())


def _side_by_side(old: Sequence[Piece], new: Sequence[Piece]) -> Iterator[Row]:
    """Yield rows of different pieces, together as long as they are of the same kind."""
    number = 0
    for one, other in zip(old, new, strict=False):
        if (one.part, one.element.name) != (other.part, other.element.name):
            break
        yield Row(one, other)
        number += 1
    yield from (Row(it, None) for it in old[number:])
    yield from (Row(None, it) for it in new[number:])


def _with_words(row: Row, budget: _Budget) -> Row:
    if row.is_equal:
        return row
    old, new = _TOKEN.findall(_html(row.before)), _TOKEN.findall(_html(row.after))
    keys = [[token.strip() for token in tokens] for tokens in (old, new)]
    words: list[Word] = []
    for kind, a, b, c, d in _Matcher(keys[0], keys[1], budget).get_opcodes():
        if kind == "equal":
            words.append(("equal", "".join(new[c:d])))
            continue
        words += [("old", "".join(old[a:b]))] if a < b else []
        words += [("new", "".join(new[c:d]))] if c < d else []
    if all(kind == "equal" for kind, _ in words):  # another space
        words = [("old", "".join(old)), ("new", "".join(new))]
    return replace(row, words=words)


def _html(piece: Piece | None) -> str:
    return piece.html if piece else ""


@dataclass
class _Budget:
    pairs: int


class _Matcher(difflib.SequenceMatcher[str]):
    """Matches two lists until the budget is spent; the rest does not match."""

    def __init__(self, old: list[str], new: list[str], budget: _Budget) -> None:
        super().__init__(a=old, b=new)
        self._budget = budget
        # difflib ignores items that are more frequent.
        max_count = len(new) // 100 + 1 if len(new) >= 200 else len(new)
        counts = {word: n for word, n in Counter(new).items() if n <= max_count}
        self._pairs = [1 + counts.get(word, 0) for word in old]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        """Return the longest match, or an empty one if the budget does not allow for the search."""
        self._budget.pairs -= sum(self._pairs[alo:ahi])
        if self._budget.pairs < 0:
            return difflib.Match(alo, blo, 0)
        return super().find_longest_match(alo, ahi, blo, bhi)

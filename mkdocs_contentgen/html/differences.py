"""What differs between two versions of a document, by blocks and words.

Why this way: the pieces of both versions are matched as wholes first, so that a row stands for one
element in both, and a person can take one difference back. An element with a third of its words in
common counts as the same one, changed; without that, each changed word would show a whole block as
removed and another as added. Words are matched only within a row. difflib does the matching, since
it finds what a person would call the same; it takes quadratic time where everything repeats, which
a hostile text can bring about, so all matching of a comparison shares a budget of pairs.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import islice
from typing import Literal, NamedTuple

from ..files import sha256
from .document import Document, Piece

_MAX_PAIRS = 4_000_000
"""Pairs of equal pieces or words that are compared, which takes about a second."""

_MAX_CANDIDATES = 50
"""With how many removed elements a new one is compared, to find the one that it is a change of."""

# Japanese and Chinese have no spaces between words.
_TOKEN = re.compile(
    r"(?:<[^<>]*>|[\u3040-\u30ff\u4e00-\u9fff]|[^\s<\u3040-\u30ff\u4e00-\u9fff]+)\s*|\s+"
)

_TAG = re.compile("<[^<>]*>")
_OWN_TAG = '</?{name}(?: (?:class|style)="[^"]*")*>'
_NAME = re.compile("<([a-z0-9]+)")
_ADDRESS = re.compile(' (?:href|src)="([^"]*)"')
_REL = re.compile(' rel="[^"]*"')

Word = tuple[Literal["equal", "old", "new"], str]
"""A run of words or tags in the HTML of two versions, and which of them has it."""


@dataclass(frozen=True)
class Row:
    """A piece in two versions."""

    before: Piece | None
    after: Piece | None
    words: Sequence[Word] = ()
    """The HTML of both, where they differ."""

    def words_to_read(self) -> list[Word]:
        """Return the words as plain text, with the tags that differ.

        The tags of the element itself are left out if they have only `class` and `style`, unless
        nothing else differs.
        """
        words = self._words_as(lambda kind, html: _to_read(kind, html, self._is_own_tag))
        if all(kind == "equal" for kind, _ in words):
            words = self._words_as(lambda kind, html: _to_read(kind, html, lambda tag: False))
        return words

    def _words_as(self, convert: Callable[[str, str], str]) -> list[Word]:
        """Return the words in another form, without those that are empty in it."""
        words = []
        for kind, html in self.words:
            text = convert(kind, html)
            if text:
                words.append((kind, text))
        return words

    def _is_own_tag(self, tag: str) -> bool:
        """Tell whether a tag is that of the element itself, with `class` and `style` at most.

        If the versions have different elements here, a reader wants to see the tags of both.
        """
        names = {piece.element.name for piece in (self.before, self.after) if piece}
        if len(names) > 1:
            return False
        return re.fullmatch(_OWN_TAG.format(name=names.pop()), tag) is not None

    def plain_words(self) -> list[Word]:
        """Return the words without HTML: addresses of links and pictures follow arrows.

        If nothing else differs, the names of the elements that differ are in brackets.
        """
        words = self._words_as(lambda kind, html: _to_plain(kind, html, False))
        if all(kind == "equal" for kind, _ in words):
            words = self._words_as(lambda kind, html: _to_plain(kind, html, True))
        return words

    @property
    def digest(self) -> str:
        """The SHA-256 of the HTML of both."""
        return sha256(f"{_html(self.before)}\0{_html(self.after)}")

    @property
    def is_equal(self) -> bool:
        """Whether both versions are the same here."""
        return _html(self.before) == _html(self.after)


def _to_read(kind: str, html: str, is_hidden: Callable[[str], bool]) -> str:
    """Return HTML as plain text with the tags that differ, except those that are hidden."""

    def show(tag: re.Match[str]) -> str:
        if kind == "equal" or is_hidden(tag[0]):
            return ""
        return _REL.sub("", tag[0])  # which the sanitizer gives each link

    # A `<` always begins a tag here. What looks like an attribute may be text, so it is looked for
    # only in tags.
    return unescape(_TAG.sub(show, html))


def _to_plain(kind: str, html: str, with_names: bool) -> str:
    """Return HTML as plain text with the addresses of what differs, and names of elements."""

    def show(tag: re.Match[str]) -> str:
        name = _NAME.match(tag[0])
        if kind == "equal" or name is None:
            return ""
        address = _ADDRESS.search(tag[0])
        if address:
            return f"→ {address[1]} "
        return f"[{name[1]}] " if with_names else ""

    return unescape(_TAG.sub(show, html))


def compare(before: Document, after: Document, *, marks: bool = True) -> list[Row]:
    """Return the pieces of two versions side by side. They all are equal if the HTML is.

    Without `marks`, it makes no difference what is marked as a statement to check.
    """
    old = before.pieces(marks=marks)
    new = after.pieces(marks=marks)
    budget = _Budget(_MAX_PAIRS)
    rows: list[Row] = []
    matcher = _Matcher([piece.html for piece in old], _former_html(old, new), budget)
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        old_pieces = old[old_start:old_end]
        new_pieces = new[new_start:new_end]
        if kind == "equal":  # or changed, see _former_html()
            rows += [Row(one, other) for one, other in zip(old_pieces, new_pieces, strict=True)]
        else:
            rows += _side_by_side(old_pieces, new_pieces)
    return [_with_words(row, budget) for row in rows]


def _former_html(old: Sequence[Piece], new: Sequence[Piece]) -> list[str]:
    """Return for each piece of `new` the HTML that it had in `old`, or its own if it is new.

    So a changed piece is matched as if it were the same. An element counts as changed if `old` has
    one of its kind with a third of the words in common.
    """
    old_html = {piece.html for piece in old}
    new_html = {piece.html for piece in new}
    # What is gone may have been changed.
    candidates: dict[str, _Candidate] = {}
    for piece in old:
        if piece.html not in new_html:
            # Their words are found once: each is compared with many others.
            candidates[piece.html] = _Candidate(piece, _words(piece))
    former_html = []
    for piece in new:
        if piece.html in old_html:
            former_html.append(piece.html)
            continue
        found = _find_former(piece, islice(candidates.values(), _MAX_CANDIDATES))
        if found:
            del candidates[found]  # it is not two elements now
        former_html.append(found or piece.html)
    return former_html


class _Candidate(NamedTuple):
    """A piece of the earlier version that may have been changed, and the words in it."""

    piece: Piece
    words: frozenset[str]


def _find_former(piece: Piece, candidates: Iterable[_Candidate]) -> str:
    """Return the HTML of the element that a piece is a change of, or an empty string."""
    words = _words(piece)
    if not words:
        return ""
    for former, former_words in candidates:
        most = max(len(words), len(former_words))
        is_same_kind = former.element.name == piece.element.name
        if is_same_kind and 3 * len(words & former_words) >= most:
            return former.html
    return ""


def _words(piece: Piece) -> frozenset[str]:
    """Return the words of an element, or none for the start or end tag of one."""
    if piece.part != "all":
        return frozenset()
    return frozenset(re.findall(r"\w+", piece.element.get_text()))


def _side_by_side(old: Sequence[Piece], new: Sequence[Piece]) -> Iterator[Row]:
    """Yield rows of different pieces, together as long as they are of the same kind."""
    number = 0
    for one, other in zip(old, new, strict=False):
        if (one.part, one.element.name) != (other.part, other.element.name):
            break
        yield Row(one, other)
        number += 1
    for piece in old[number:]:
        yield Row(piece, None)
    for piece in new[number:]:
        yield Row(None, piece)


def _with_words(row: Row, budget: _Budget) -> Row:
    """Return a row with the words that differ in it."""
    if row.is_equal:
        return row
    old: list[str] = _TOKEN.findall(_html(row.before))
    new: list[str] = _TOKEN.findall(_html(row.after))
    # The space after a word makes no difference.
    matcher = _Matcher([word.strip() for word in old], [word.strip() for word in new], budget)
    words: list[Word] = []
    space = ""  # between words that stay and the removed ones after them
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        removed = "".join(old[old_start:old_end])
        added = "".join(new[new_start:new_end])
        if kind == "equal":
            words.append(("equal", added))
            space = "" if added[-1:].isspace() else removed[len(removed.rstrip()) :]
            continue
        if removed:
            words.append(("old", f"{space}{removed}"))
        if added:
            words.append(("new", added))
    if all(kind == "equal" for kind, _ in words):  # only white space after words differs
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
        max_count = len(new)
        if len(new) >= 200:  # then difflib ignores words that are more frequent
            max_count = len(new) // 100 + 1
        counts = {}
        for word, count in Counter(new).items():
            if count <= max_count:
                counts[word] = count
        self._pairs = [1 + counts.get(word, 0) for word in old]
        """With how many words of the new list each word of the old one is compared."""

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        """Return the longest match, or an empty one if the budget does not allow for the search."""
        self._budget.pairs -= sum(self._pairs[alo:ahi])
        if self._budget.pairs < 0:
            return difflib.Match(alo, blo, 0)
        return super().find_longest_match(alo, ahi, blo, bhi)

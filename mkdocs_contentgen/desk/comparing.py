"""Two versions of a text: what differs, and how to take one difference back."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeVar
from xml.etree.ElementTree import Element

from ..errors import EditError
from ..html.blocks import LOOSE, Block, Pair, remove_block, restore_block, set_content

_Name = tuple[str, str]
_MAX_WORDS, _MAX_CANDIDATES, _MAX_PRODUCT = 2_000, 50, 100_000
_T = TypeVar("_T")


@dataclass(frozen=True)
class Row:
    """A block in two versions of a text, one of which is None where it is in the other one only.

    A block that was moved has two rows: where it was, and where it is.
    """

    kind: Literal["equal", "changed", "added", "removed", "moved here", "moved away"]
    before: Block | None
    after: Block | None

    @property
    def texts(self) -> tuple[str, str]:
        """The plain text of both."""
        return (self.before.text if self.before else "", self.after.text if self.after else "")

    def words(self) -> Iterator[tuple[str, str]]:
        """Yield parts of both texts, each as `equal`, `old` or `new`."""
        texts = self.texts
        if self.before and self.after and texts[0] == texts[1]:
            texts = _without_marks(self.before.html), _without_marks(self.after.html)
        one, other = map(_tokens, texts)
        for kind, a, b, c, d in _matcher(one, other).get_opcodes():
            if kind == "equal":
                yield "equal", "".join(one[a:b])
                continue
            if a < b:
                yield "old", "".join(one[a:b])
            if c < d:
                yield "new", "".join(other[c:d])


def compare(old: Sequence[Block], new: Sequence[Block]) -> list[Row]:
    """Return the blocks of two versions side by side."""
    names = [_name(it) for it in old]
    former = _former_names(old, new)
    rows: list[Row] = []
    for kind, a, b, c, d in _matcher(names, former).get_opcodes():
        if kind == "equal":
            rows += map(_both, old[a:b], new[c:d])
        else:
            rows += [Row("removed", it, None) for it in old[a:b]]
            rows += [Row("added", None, it) for it in new[c:d]]
    gone = {_name(it.before): it.before for it in rows if it.before and not it.after}
    origins = {it.number: gone.get(name) for it, name in zip(new, former, strict=True)}
    found: list[Row] = []
    for row in rows:
        origin = origins[row.after.number] if row.after and not row.before else None
        found.append(replace(row, kind="moved here", before=origin) if origin else row)
    moved = {it.before.number for it in found if it.kind == "moved here" and it.before}
    return [
        replace(row, kind="moved away")
        if row.kind == "removed" and row.before and row.before.number in moved
        else row
        for row in found
    ]


def take_back(article: Element, rows: Sequence[Row], number: int) -> Block | None:
    """Take the difference in a row back, and return the earlier block that is there again.

    Raises EditError.
    """
    row = rows[number]
    before, after = row.before, row.after
    if row.kind == "moved away":
        raise EditError("take this back where the block is now")
    if row.kind == "changed" and before and after:
        set_content(after, before.element)
        return before
    place = number
    if row.kind == "moved here":
        twins = (n for n, it in enumerate(rows) if it.kind == "moved away" and it.before is before)
        place = next(twins)
    if before:
        restore_block(article, before, _pairs(reversed(rows[:place])), _pairs(rows[place + 1 :]))
    if after:
        remove_block(article, after)
    return before


def _pairs(rows: Iterable[Row]) -> list[Pair]:
    """Return the blocks that both versions have at the same place."""
    return [
        (it.before, it.after)
        for it in rows
        if it.before and it.after and it.kind in ("equal", "changed")
    ]


def _both(before: Block, after: Block) -> Row:
    is_equal = _without_marks(before.html) == _without_marks(after.html)
    return Row("equal" if is_equal else "changed", before, after)


def _name(block: Block) -> _Name:
    # An item without the list in it has no text beside blocks any more.
    return block.parent.tag if block.kind == LOOSE else block.kind, block.text


def _without_marks(html: str) -> str:
    return re.sub("</?mark(?: [^<>]*)?>", "", html)


def _tokens(text: str) -> list[str]:
    """Return the words of a text with what follows each; what is too long is one word."""
    tokens = re.findall(r"\w+\s*|\W", text)
    return [
        *tokens[:_MAX_WORDS],
        *(["".join(tokens[_MAX_WORDS:])] if len(tokens) > _MAX_WORDS else []),
    ]


def _matcher(one: Sequence[_T], other: Sequence[_T]) -> difflib.SequenceMatcher[_T]:
    # Of long texts, what occurs often is left out of the search, which would take minutes.
    is_long = len(one) * len(other) > _MAX_PRODUCT
    return difflib.SequenceMatcher(None, one, other, autojunk=is_long)


def _former_names(old_blocks: Sequence[Block], new_blocks: Sequence[Block]) -> list[_Name]:
    """Return the names in `new`, but for each that was changed the name that it had in `old`.

    A block is a change of another one of its kind if a third of its words is the same, or else if
    it follows the same block in the same part of the text.
    """
    old, new = ([_name(it) for it in blocks] for blocks in (old_blocks, new_blocks))
    parts = {_name(it): [outer.tag for outer in it.ancestors] for it in old_blocks}
    kept, known = set(new), set(old)
    left = {name: _words(name) for name in old if name not in kept}
    former = list(new)
    for index, name in enumerate(new):
        words = Counter() if name in known else _words(name)
        for candidate in list(left)[:_MAX_CANDIDATES] if words else ():
            most = max(words.total(), left[candidate].total())
            if candidate[0] == name[0] and 3 * (words & left[candidate]).total() >= most:
                former[index] = candidate
                del left[candidate]
                break
    following = dict(pairwise([None, *old]))
    for index, name in enumerate(former):
        next_one = following.get(former[index - 1] if index else None)
        if next_one not in left or name in known or next_one[0] != name[0]:
            continue
        if parts[next_one] == [outer.tag for outer in new_blocks[index].ancestors]:
            former[index] = next_one
            del left[next_one]
    return former


def _words(name: _Name) -> Counter[str]:
    return Counter(re.findall(r"\w+", name[1])[:_MAX_WORDS])

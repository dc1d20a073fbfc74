"""Take back one difference between two versions of a document.

The pieces of a document are a sequence of whole elements, and of the start and end tags of what
contains them. Two compared versions are rows of such pieces. So a difference is taken back by
taking the piece of the earlier version in its row, and that of the later version in every other
row. Then classes, rules, pictures and code come back as they were, at the place where they were.
Start and end tags go together, and an element comes back within what it was in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import EditError, UnsafeHTMLError
from .differences import Row
from .document import Document, Piece


def take_back(before: Document, after: Document, rows: Sequence[Row], number: int) -> Document:
    """Return the later version, but with what the earlier one has in a row.

    The rows are those of compare() without marks; statements come back with their marks. Raises
    EditError if this difference cannot be taken back alone.
    """
    marked = _with_marks(before) | _with_marks(after)
    chosen = _rows_to_take_back(rows, number)
    pieces = []
    for index, row in enumerate(rows):
        piece = row.before if index in chosen else row.after
        if piece:
            pieces.append(marked[id(piece.element), piece.part])
    html = "".join(("\n" if it.begins_line else "") + it.html for it in pieces)
    try:
        document = Document(html.strip(), after.image_hosts)
    except UnsafeHTMLError as error:
        raise EditError(f"the text cannot be shown then: {error}") from error
    if [it.html.strip() for it in document.pieces()] != [it.html.strip() for it in pieces]:
        raise EditError("this cannot be taken back alone; take back what is around it first")
    return document


def _with_marks(document: Document) -> dict[tuple[int, str], Piece]:
    return {(id(it.element), it.part): it for it in document.pieces()}


def _rows_to_take_back(rows: Sequence[Row], number: int) -> set[int]:
    """Return the numbers of the rows that have to be as they were, with a row."""
    before = _Nesting([row.before for row in rows])
    after = _Nesting([row.after for row in rows])
    chosen: set[int] = set()
    waiting = [number]
    while waiting:
        index = waiting.pop()
        if index in chosen:
            continue
        chosen.add(index)
        waiting += [*before.partners(index), *after.partners(index)]
        # What it was in, and is gone, comes back with it.
        waiting += [it for it in before.around(index) if rows[it].after is None]
        # An element comes and goes with its content, unless that is in both versions.
        removed, added = before.content(index), after.content(index)
        waiting += removed if all(rows[it].after is None for it in removed) else ()
        waiting += added if all(rows[it].before is None for it in added) else ()
    chosen |= _crossing(rows, before, after, chosen)
    return chosen | _emptied(rows, after, chosen)


def _crossing(rows: Sequence[Row], before: _Nesting, after: _Nesting, chosen: set[int]) -> set[int]:
    """Return the rows of added elements that begin within one that comes back, or end in one."""
    found: set[int] = set()
    opened: list[int] = []
    for index, row in enumerate(rows):
        nesting = before if index in chosen else after
        piece = row.before if index in chosen else row.after
        if piece is None or piece.part == "all" or index in found:
            continue
        if piece.part == "start":
            opened.append(index)
            continue
        start = nesting.start_of[index]
        while opened and opened[-1] != start and after.is_added(rows, opened[-1]):
            found |= {opened[-1], after.end_of[opened.pop()]}
        if opened and opened[-1] == start:
            opened.pop()
        elif after.is_added(rows, start):
            found |= {start, index}
            opened = [it for it in opened if it != start]
    return found


def _emptied(rows: Sequence[Row], after: _Nesting, chosen: set[int]) -> set[int]:
    """Return the rows of added elements that would contain nothing any more."""
    found: set[int] = set()
    for start, end in sorted(after.end_of.items(), reverse=True):  # inner ones first
        inner = range(start + 1, end)
        gone = chosen | found
        is_empty = all((rows[it].before if it in gone else rows[it].after) is None for it in inner)
        if is_empty and after.is_added(rows, start) and any(rows[it].after for it in inner):
            found |= {start, end}
    return found


class _Nesting:
    """Which rows of a version contain which."""

    def __init__(self, pieces: Sequence[Piece | None]) -> None:
        self.end_of: dict[int, int] = {}
        """The row of the end tag by that of the start tag."""

        self.start_of: dict[int, int] = {}
        """The row of the start tag by that of the end tag."""

        self._parent: dict[int, int] = {}
        """The row of the start tag that a row is in."""

        opened: list[int] = []
        for index, piece in enumerate(pieces):
            if piece is None:
                continue
            if piece.part == "end":
                start = opened.pop()
                self.end_of[start] = index
                self.start_of[index] = start
            elif opened:
                self._parent[index] = opened[-1]
            if piece.part == "start":
                opened.append(index)

    def partners(self, index: int) -> Iterator[int]:
        """Yield the row of the end tag of a start tag, or of the start tag of an end tag."""
        for partners in (self.end_of, self.start_of):
            if index in partners:
                yield partners[index]

    def around(self, index: int) -> Iterator[int]:
        """Yield the row of each start tag that a row is in."""
        while index in self._parent:
            index = self._parent[index]
            yield index

    def content(self, index: int) -> range:
        """Return the rows between a start tag and its end tag."""
        return range(index + 1, self.end_of.get(index, index))

    def is_added(self, rows: Sequence[Row], start: int) -> bool:
        """Tell whether a start tag and its end tag are in the later version alone."""
        end = self.end_of.get(start)
        return end is not None and rows[start].before is None and rows[end].before is None

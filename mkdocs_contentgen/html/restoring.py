"""Take back one difference between two versions of a document.

The pieces of a document are a sequence of whole elements, and of the start and end tags of what
contains them. Two compared versions are rows of such pieces. So a difference is taken back by
taking the piece of the earlier version in its row, and that of the later version in every other
row. Then classes, rules, pictures and code come back as they were, where they were.
Start and end tags go together, and an element comes back within what it was in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import EditError, UnsafeHTMLError
from .differences import Row
from .document import Document, Piece, join_pieces


def take_back(before: Document, after: Document, rows: Sequence[Row], number: int) -> Document:
    """Return the later version, but with what the earlier one has in a row.

    The rows are those of compare() for these documents, without marks; statements come back with
    their marks. Raises EditError if this difference cannot be taken back by itself.
    """
    marked = _with_marks(before) | _with_marks(after)
    chosen = _rows_to_take_back(rows, number)
    pieces = []
    for index, row in enumerate(rows):
        piece = _piece(row, is_back=index in chosen)
        if piece:
            pieces.append(marked[id(piece.element), piece.part])
    try:
        document = Document(join_pieces(pieces), after.image_hosts)
    except UnsafeHTMLError as error:
        raise EditError(f"the text cannot be shown then: {error}") from error
    wanted = [piece.html.strip() for piece in pieces]
    if [piece.html.strip() for piece in document.pieces()] != wanted:
        raise EditError("this cannot be taken back by itself; take back what is around it first")
    return document


def _with_marks(document: Document) -> dict[tuple[int, str], Piece]:
    """Return the pieces of a document with their marks, by their elements and parts."""
    pieces: dict[tuple[int, str], Piece] = {}
    for piece in document.pieces():
        pieces[id(piece.element), piece.part] = piece
    return pieces


def _rows_to_take_back(rows: Sequence[Row], number: int) -> set[int]:
    """Return the rows that come back as they were if the row `number` does."""
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
        # An element comes back with those that it was in, if they are gone.
        for start in before.around(index):
            if rows[start].after is None:
                waiting.append(start)
        # An element comes and goes with its content, unless some of that is in both versions.
        content_before = before.content(index)
        if all(rows[inner].after is None for inner in content_before):
            waiting += content_before
        content_after = after.content(index)
        if all(rows[inner].before is None for inner in content_after):
            waiting += content_after
    chosen |= _crossing(rows, before, after, chosen)
    return chosen | _emptied(rows, after, chosen)


def _crossing(rows: Sequence[Row], before: _Nesting, after: _Nesting, chosen: set[int]) -> set[int]:
    """Return the rows of added elements that would overlap with an element that comes back.

    One tag of such an element is within the one that comes back, and the other is outside. For
    example, the quotation was removed, and the <div> was added. If the quotation comes back, the
    <div> has to go:

        <blockquote> <p>a</p> <div> <p>b</p> </blockquote> <p>c</p> </div>
    """
    coming_back = [element for element in before.end_of.items() if element[0] in chosen]
    crossing: set[int] = set()
    for start, end in after.end_of.items():
        if start in chosen or not after.is_added(rows, start):
            continue
        for other_start, other_end in coming_back:
            begins_before = start < other_start < end < other_end
            begins_within = other_start < start < other_end < end
            if begins_before or begins_within:
                crossing |= {start, end}
    return crossing


def _emptied(rows: Sequence[Row], after: _Nesting, chosen: set[int]) -> set[int]:
    """Return the rows of added elements that would contain nothing any more."""
    found: set[int] = set()
    for start, end in sorted(after.end_of.items(), reverse=True):  # inner ones first
        content = range(start + 1, end)
        had_content = any(rows[inner].after for inner in content)
        if not had_content or not after.is_added(rows, start):
            continue
        gone = chosen | found
        if all(_piece(rows[inner], is_back=inner in gone) is None for inner in content):
            found |= {start, end}
    return found


def _piece(row: Row, *, is_back: bool) -> Piece | None:
    """Return the piece of a row: the earlier one if it comes back, or else the later one."""
    return row.before if is_back else row.after


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
        """Tell whether a start tag and its end tag are only in the later version."""
        end = self.end_of.get(start)
        return end is not None and rows[start].before is None and rows[end].before is None

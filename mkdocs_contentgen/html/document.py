"""The document of a text: what people, comparisons and updates read and change.

A document consists of blocks, such as paragraphs, headings, items and cells, which contain no other
blocks. Text that stands beside blocks, or loose in a list or a section, is a block, too.

Why this way: a person changes one block, and every other has to stay byte for byte, or each change
would be one of the whole approved file. So the HTML of a service is read once, into elements, and
written by one module. Each word belongs to one block. Blocks hold their elements and no
positions, so that a change of one moves no other. The document keeps no list of them, since a
change makes and removes some.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from bs4 import Tag

from ..errors import UnsafeHTMLError
from ..text import Text
from .block import Block, Leaf, is_block
from .elements import BLOCK_LEVEL, GROUPS, TEXT_BLOCKS
from .html_reader import read_article
from .html_writer import LOOSE, is_hint, one_line, start_tag, to_html, to_references
from .inline_styles import adapted_classes
from .marked_sentences import MarkedSentence, Sentences, is_weak, strong_first
from .tags import closest, tags_in

_CONFLICT_START = re.compile(r"^(?:=(?=={6})|\|(?=\|{6}))", re.MULTILINE)
"""The first character of a line that begins with `=======` or `|||||||`, as in a merge conflict."""

_IMAGE_HOST = re.compile(r"https://([^\s/\\@?#:\"'<>]+)", re.IGNORECASE)
"""Matches an address; the group is its host."""

_MAX_PASSES = 5
"""How often HTML is read again until it stays the same."""

_Part = Literal["all", "start", "end"]


@dataclass(frozen=True)
class Piece:
    """An element of a document, or the start or end tag of one that contains blocks."""

    element: Tag
    part: _Part
    html: str
    begins_line: bool
    """Whether it is the first piece on its line of the approved file."""


def join_pieces(pieces: Iterable[Piece]) -> str:
    """Return the HTML of pieces, on lines."""
    lines = [f"\n{piece.html}" if piece.begins_line else piece.html for piece in pieces]
    return "".join(lines).strip()


class Document:
    """The document of a text."""

    def __init__(self, html: str, image_hosts: Collection[str] = ()) -> None:
        """Read and sanitize HTML. Raises UnsafeHTMLError. `image_hosts` is the option."""
        self.article = read_article(html, image_hosts)
        self.image_hosts = image_hosts
        self.source = html
        """The HTML that it was read from, whatever was changed since."""

    def digests(self) -> set[str]:
        """Return the digest of each block."""
        return {block.digest for block in self.blocks()}

    def blocks(self) -> list[Block]:
        """Return the blocks as they are now."""
        return self._numbered(filter(is_block, self._leaf_elements()))

    def leaves(self) -> list[Block]:
        """Return the blocks, and all else that has no blocks in it: pictures, lines, empty cells.

        So a leaf has another number than the same block in `blocks()`.
        """
        return self._numbered(self._leaf_elements())

    def as_leaves(self) -> list[Leaf]:
        """Return what its leaves say, as data that can be compared with that of another one."""
        known: dict[int, str] = {}
        return [leaf.as_leaf(known) for leaf in self.leaves()]

    def _leaf_elements(self) -> list[Tag]:
        whole = []
        for element, part in self._parts():
            if part == "all":
                whole.append(element)
        return whole

    def _numbered(self, elements: Iterable[Tag]) -> list[Block]:
        return [Block(number, element, self.image_hosts) for number, element in enumerate(elements)]

    def sentences_to_read(self) -> list[str]:
        """Return the sentences that a person should read beside the sources."""
        sentences = []
        for hint in self.article.find_all(is_hint):
            sentences.append(one_line(hint.get_text()))
        return sentences

    def marked_sentences(self) -> list[str]:
        """Return the sentences with statements to check, in which these stand in `‹…›`.

        Those that have only weak marks come last. The cells of a row of a table are one sentence.
        """
        sentences: list[MarkedSentence] = []
        seen: set[int] = set()
        for block in self.blocks() if self.count_statements() else ():
            element = closest(block.element, ("tr",)) or block.element
            if id(element) in seen:  # it is another cell of the same row
                continue
            seen.add(id(element))
            sentences += Sentences(element).marked()
        return [sentence.with_quotes() for sentence in strong_first(sentences)]

    def statements(self) -> list[str]:
        """Return the statements to check, those with weak marks last."""
        strong: list[str] = []
        weak: list[str] = []
        for block in self.blocks() if self.count_statements() else ():
            sentences = Sentences(block.element)
            for mark in sentences.tags("mark"):
                statement = one_line(sentences.text[mark.begin : mark.end])
                if is_weak(mark.tag):
                    weak.append(statement)
                else:
                    strong.append(statement)
        return strong + weak

    def count_statements(self) -> int:
        """Return the number of statements to check."""
        return len(self.article.find_all("mark"))

    def count_sentences(self) -> int:
        """Return the number of sentences with statements to check."""
        marks_in: dict[int, int] = {}
        blocks: dict[int, Tag] = {}
        for mark in self.article.find_all("mark"):
            block = closest(mark, TEXT_BLOCKS) or mark
            blocks[id(block)] = block
            marks_in[id(block)] = marks_in.get(id(block), 0) + 1
        count = 0
        for key, number in marks_in.items():
            # One statement is in one sentence, whatever that is.
            count += 1 if number == 1 else len(Sentences(blocks[key]).marked())
        return count

    def to_lines(self, *, marks: bool = True) -> str:
        """Return the HTML as approved files have it: on lines, for readable diffs.

        Without `marks`, nothing is marked as to be checked or read any more.
        """
        html = join_pieces(self.pieces(marks=marks))
        # A line of code that begins as a marker of git does would be taken for a merge conflict.
        html = _CONFLICT_START.sub(to_references, html)
        return f"{html}\n"

    def drop_idle_styles(self) -> None:
        """Remove the inline styles without an effect: they make diffs hard to read."""
        for tag in (self.article, *self.article.find_all(style=True)):
            style = str(tag.get("style", ""))
            if style and not adapted_classes(tag.name, style):
                del tag["style"]

    def read_back(self, *, marks: bool = False) -> Document:
        """Return the document that a file of it will have: its `source` is the HTML to write.

        That HTML is the same when it is read again. It has one block a line, and by default no
        marks. Reading it once is not always enough: where a mark was, there can be a space too
        many. Raises UnsafeHTMLError, as for HTML that is too large once it has all of its end tags.
        """
        html = self.to_lines(marks=marks)
        for _ in range(_MAX_PASSES):
            again = Document(html, self.image_hosts)
            html = again.to_lines()  # with the marks that are left
            if html == again.source:
                return again
        raise UnsafeHTMLError("the HTML changes each time that it is read")

    def pieces(self, *, marks: bool = True) -> list[Piece]:
        """Return the pieces that the HTML consists of, in their order."""
        parts = self._parts()
        found = []
        for index, (element, part) in enumerate(parts):
            before = None
            if index:
                before = parts[index - 1][0]
            after = None
            if index + 1 < len(parts):
                after = parts[index + 1][0]
            html = _html_of_part(element, part, marks=marks)
            # Beside a block, white space is not seen. Anywhere else it is kept.
            is_apart = _is_apart(before, element)
            if is_apart:
                html = html.lstrip(" ")
            if _is_apart(element, after):
                html = html.rstrip(" ")
            begins_line = is_apart and not _is_in_row(element, part)
            found.append(Piece(element, part, html, begins_line))
        return found

    def _parts(self) -> list[tuple[Tag, _Part]]:
        """Return the elements of the pieces, in their order."""
        return list(_split(self.article, self._find_containers()))

    def _find_containers(self) -> set[int]:
        """Return the `id()` of each element that is around something that stands apart.

        Its start tag and its end tag are pieces, as well as what is in it. A block stands apart,
        and so does loose text with something beside it. (Two loose texts stay two, even if a person
        removes the block between them.)
        """
        containers: set[int] = set()
        for tag in tags_in(self.article):
            stands_apart = tag.name in BLOCK_LEVEL or (tag.name == LOOSE and _has_siblings(tag))
            if not stands_apart:
                continue
            for parent in tag.parents:
                if id(parent) in containers:  # what is around it was added with it
                    break
                containers.add(id(parent))
        return containers


def _is_in_row(element: Tag, part: _Part) -> bool:
    """Tell whether a piece is on the line that the row of a table begins."""
    if element.name == "tr":
        return part == "end"
    return closest(element, ("tr",)) is not None


def _split(element: Tag, containers: Collection[int]) -> Iterator[tuple[Tag, _Part]]:
    """Yield an element as a whole, or the parts of one that is around what stands apart."""
    is_container = element.name in GROUPS or id(element) in containers
    if element.name == "pre" or not is_container:
        yield element, "all"
        return
    yield element, "start"
    for child in element.children:
        if isinstance(child, Tag):
            yield from _split(child, containers)
    yield element, "end"


def _html_of_part(element: Tag, part: _Part, *, marks: bool) -> str:
    """Return the HTML of an element, or its start or end tag."""
    if part == "start":
        return start_tag(element)
    if part == "end":
        return f"</{element.name}>"
    return to_html(element, marks=marks)


def _is_apart(one: Tag | None, other: Tag | None) -> bool:
    """Tell whether two neighbours stand on lines of their own; None is an end of the document."""
    if one is None or other is None:
        return True
    names = {one.name, other.name}
    is_beside_block = not names.isdisjoint(BLOCK_LEVEL)
    are_both_loose = names == {LOOSE}
    return is_beside_block or are_both_loose


def _has_siblings(tag: Tag) -> bool:
    return tag.next_sibling is not None or tag.previous_sibling is not None


@dataclass(frozen=True)
class ReadText:
    """A text with its document, which was read from its HTML once."""

    text: Text
    document: Document


def document_of(html: str) -> Document:
    """Return the document of a text, with the images of all hosts. Raises UnsafeHTMLError.

    Which of them are shown, a page decides.
    """
    return Document(html, image_hosts_of(html))


def document_or_none(html: str) -> Document | None:
    """Return the document of a text as document_of(), or None for one that no build can show."""
    try:
        return document_of(html)
    except UnsafeHTMLError:
        return None


def leaves_or_none(html: str) -> list[Leaf] | None:
    """Return what the leaves of a text say, or None for one that no build can show."""
    document = document_or_none(html)
    return None if document is None else document.as_leaves()


def image_hosts_of(html: str) -> set[str]:
    """Return the hosts of all images in HTML, to read it with all of them.

    Whether an image is shown is decided later, when a page is built or a text is approved.
    """
    return set(_IMAGE_HOST.findall(html))

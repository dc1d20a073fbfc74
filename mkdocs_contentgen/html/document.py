"""The document of a text: what people, comparisons and updates read and change.

A document consists of blocks, such as paragraphs, headings, items and cells, which contain no other
blocks. Text that stands beside blocks, or loose in a list or a section, is a block, too.

The same element always gives the same HTML and the same light Markdown, which is one line with
`**bold**`, `*italic*`, `~~struck~~`, `` `code` ``, `[links](<address>)`, and
`==statements to check==`. Other inline elements stay HTML in it.

Why this way: a person changes one block, and every other has to stay byte for byte, or each change
would be one of the whole approved file. So the HTML of a service is read once, into elements, and
written by this module alone. Each word belongs to one block: text that stands loose gets an element
of its own, which is not written. Blocks hold their elements and no positions, so that a change of
one moves no other. The document keeps no list of them, since a change makes and removes some.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Literal, NamedTuple
from xml.etree.ElementTree import Element

from bs4 import Tag
from bs4.element import NavigableString, PageElement

from ..errors import EditError, UnsafeHTMLError
from ..files import short_digest
from ..text import MAX_BLOCK
from .article import image_hosts_of, parse_article
from .elements import BLOCK_LEVEL, CELLS, GROUPS, TEXT_BLOCKS, TO_READ, VOID, WEAK
from .sentences import sentence_ends
from .tags import closest, tag_of, tags_in, unwrap_all

_LOOSE = "text"
"""The tag of the elements that loose text is put into. They are not written."""

Kind = Literal["p", "h2", "h3", "li", "blockquote"]
"""What a new block can be."""

MAX_PASTED = 100_000
"""The maximum length of a Markdown text that is added at once, in characters."""

_LISTS_AND_TABLES = frozenset({"ul", "ol", "dl", "table", "figure", "blockquote", "header"})
"""Elements in which a block of another kind has no place."""

_MAX_NAMED = 60
"""How many characters of a block name it in a message."""

_MAX_SYNTAX = 500
"""How many `==`, or `<`, the Markdown of a block can have."""

_MAX_CITED = 50
"""How many addresses are kept of a sentence with statements to check."""

_MORE_BLOCKS = re.compile(r"\n[ \t]*(?:\n|[-*+] |\d{1,3}[.)] |#{1,6} |> )")
"""Where another block begins in Markdown: behind an empty line, or an item, heading or quote."""

_TITLE = "<h1>.</h1>"
"""Stands before HTML that is read as an article, which needs a title. It is taken out again."""

_WHITE_SPACE = " \t\n\r\f"
"""What HTML takes for white space. A no-break space is none."""

_SPACE = re.compile(rf"[{_WHITE_SPACE}]+")
_CODE_SPACES = re.compile(" {2,}|\t")
"""The white space in code that a formatter would collapse."""

_CONFLICT_SIGN = re.compile(r"^(?:=(?=={6})|\|(?=\|{6}))", re.MULTILINE)
"""The first sign of a line that begins with `=======` or `|||||||`, as in a merge conflict."""

_SYNTAX = {"strong": "**", "em": "*", "s": "~~", "mark": "=="}
"""What stands around inline elements in Markdown."""

_SPECIAL = re.compile(r"[\\`*_\[\]<]|==|~~|&(?=#?\w+;)")
"""What light Markdown would not read as text."""

_SCRIPTS = {
    "sup": str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ"),
    "sub": str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"),
}
"""The characters for powers and indices in plain text, in which `10<sup>6</sup>` is 10⁶."""

_CODE = re.compile(r"[^`\s](?:[^`]*[^`\s])?")
"""Code that can stand between two backticks."""

_REL = re.compile(' rel="[^"]*"')
_WEAK_CLASS = f' class="{WEAK}"'

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
        # The sanitizer works on an ElementTree. Beautiful Soup has what edits need: each element
        # knows its parent, and each text is a node.
        article = parse_article(html, image_hosts)
        _wrap_loose_text(article)
        self.article = tag_of(article)
        _strip_line_breaks(self.article)
        _unwrap_idle_marks(self.article)
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
        signs = []
        for sign in self.article.find_all(_is_reading_sign):
            signs.append(_one_line(sign.get_text()))
        return signs

    def marked_sentences(self) -> list[str]:
        """Return the sentences with statements to check, in which these stand in `‹…›`.

        Those with weak marks alone come last. The cells of a row of a table are one sentence.
        """
        sentences: list[MarkedSentence] = []
        seen: set[int] = set()
        for block in self.blocks() if self.count_statements() else ():
            element = closest(block.element, ("tr",)) or block.element
            if id(element) in seen:  # it is another cell of the same row
                continue
            seen.add(id(element))
            sentences += Sentences(element).marked()
        return [sentence.with_signs() for sentence in strong_first(sentences)]

    def statements(self) -> list[str]:
        """Return the statements to check, those with weak marks last."""
        strong: list[str] = []
        weak: list[str] = []
        for block in self.blocks() if self.count_statements() else ():
            sentences = Sentences(block.element)
            for mark in sentences.tags("mark"):
                statement = _one_line(sentences.text[mark.begin : mark.end])
                if is_weak(mark.tag):
                    weak.append(statement)
                else:
                    strong.append(statement)
        return strong + weak

    def count_statements(self) -> int:
        """Return the number of statements to check."""
        return len(self.article.find_all("mark"))

    def to_lines(self, *, marks: bool = True) -> str:
        """Return the HTML as approved files have it: on lines, for readable diffs.

        Without `marks`, nothing is marked as to be checked or read any more.
        """
        html = join_pieces(self.pieces(marks=marks))
        # A line of code that begins as a marker of git does would be taken for a merge conflict.
        html = _CONFLICT_SIGN.sub(_to_references, html)
        return f"{html}\n"

    def pieces(self, *, marks: bool = True) -> list[Piece]:
        """Return the pieces that the HTML consists of, in their order."""
        parts = self._parts()
        found = []
        for index, (element, part) in enumerate(parts):
            before = None
            if index:
                before = parts[index - 1][0]
            behind = None
            if index + 1 < len(parts):
                behind = parts[index + 1][0]
            html = _html_of_part(element, part, marks=marks)
            # Beside a block, white space is not seen. Anywhere else it is kept.
            is_apart = _is_apart(before, element)
            if is_apart:
                html = html.lstrip(" ")
            if _is_apart(element, behind):
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
            stands_apart = tag.name in BLOCK_LEVEL or (tag.name == _LOOSE and _has_siblings(tag))
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
    return _to_html(element, marks=marks)


def _is_apart(one: Tag | None, other: Tag | None) -> bool:
    """Tell whether two neighbours stand on lines of their own; None is an end of the document."""
    if one is None or other is None:
        return True
    names = {one.name, other.name}
    is_beside_block = not names.isdisjoint(BLOCK_LEVEL)
    are_both_loose = names == {_LOOSE}
    return is_beside_block or are_both_loose


def _has_siblings(tag: Tag) -> bool:
    return tag.next_sibling is not None or tag.previous_sibling is not None


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence with statements to check."""

    parts: list[tuple[str, int | None]]
    """Its parts, and the number of the statement that each is."""

    cited: list[str]
    """The addresses that it links to."""

    is_weak: bool = False
    """Whether a source has the same figures or words, in another form, for each statement."""

    def with_signs(self) -> str:
        """Return the sentence on one line, with its statements in `‹…›`."""
        text = ""
        for part, number in self.parts:
            text += part if number is None else f"‹{part}›"
        return _one_line(text)


def strong_first(sentences: Iterable[MarkedSentence]) -> list[MarkedSentence]:
    """Return marked sentences in their order, but those with weak marks alone at the end."""
    return sorted(sentences, key=lambda sentence: sentence.is_weak)


def is_weak(mark: Tag) -> bool:
    """Tell whether a source has what a mark is around, in another form."""
    return WEAK in str(mark.get("class", "")).split()


@dataclass(frozen=True)
class Block:
    """A block of a document. It stays the same while others change."""

    number: int
    element: Tag
    image_hosts: Collection[str] = ()

    @property
    def kind(self) -> str:
        """The tag, or `text` for loose text."""
        return self.element.name

    @property
    def text(self) -> str:
        """The plain text."""
        return _one_line(self.element.get_text())

    @property
    def first_words(self) -> str:
        """The beginning of the plain text in quotes, to name the block in a message."""
        text = self.text
        if len(text) > _MAX_NAMED:
            return f"'{text[:_MAX_NAMED]}…'"
        return f"'{text}'"

    @property
    def html(self) -> str:
        """The content as HTML."""
        return _inner_html(self.element).strip(" ")

    @property
    def form(self) -> tuple[str, str, str]:
        """Its tag, its HTML and its language: all that the other properties depend on."""
        return self.kind, _to_html(self.element), language_of(self.element)

    @property
    def digest(self) -> str:
        """The beginning of the SHA-256 of the plain text: approved files have many of them."""
        return short_digest(self.text)

    @property
    def content_digest(self) -> str:
        """The beginning of the SHA-256 of its HTML, without marks, and without inline styles.

        An approval takes both off, which changes nothing that the block says.
        """
        html = _to_html(_as_approved(self.element), marks=False)
        # Loose text has a space where the line of a file ends.
        return short_digest(f"{self.kind} {html.strip(' ')}")

    @property
    def inner_digest(self) -> str:
        """The beginning of the SHA-256 of its content, as in `content_digest`, without its tag."""
        return short_digest(_inner_html(_as_approved(self.element), marks=False).strip(" "))

    @property
    def links(self) -> list[str]:
        """The addresses of the links in it."""
        return [str(link["href"]) for link in self.element.find_all("a")]

    def to_markdown(self, *, marks: bool = True) -> str:
        """Return the content as light Markdown, with HTML where that would be read differently.

        The Markdown of a `<pre>` is its code, without marks.
        """
        if self.kind == "pre":
            return self.element.get_text()
        element = _without_reading_signs(self.element)
        markdown = _write_line(element, marks=marks)
        is_plain = "\\" not in markdown and not tags_in(element)
        if is_plain:
            return markdown
        from .markdown_reader import read_line

        # Where elements touch or contain each other, Markdown can be read as other elements.
        html = _inner_html(element, marks=marks).strip(" ")
        read = read_line(markdown)
        if _comparable(read) == _comparable(html):
            return markdown
        return _write_line(element, marks=marks, only_html=True)

    @property
    def statements(self) -> list[str]:
        """The statements to check."""
        sentences = Sentences(self.element)
        marks = sentences.tags("mark")
        return [_one_line(sentences.text[mark.begin : mark.end]) for mark in marks]

    def set_markdown(self, markdown: str) -> None:
        """Replace the content. Raises EditError for what is too long or empty, or not kept.

        A mark stays weak around the same words. The Markdown of a `<pre>` is its code as it is.
        """
        if markdown.count("==") > _MAX_SYNTAX or markdown.count("<") > _MAX_SYNTAX:
            raise EditError(f"a block has at most {_MAX_SYNTAX:,} signs of one kind")
        if len(markdown) > MAX_BLOCK:
            raise EditError(f"a block has at most {MAX_BLOCK:,} characters, not {len(markdown):,}")
        if self.kind == "pre":
            self._set_code(markdown)
            return
        if _MORE_BLOCKS.search(markdown.strip()):
            raise EditError("this is more than one block; add the others below with +")
        from .markdown_reader import check_kept, read_line

        html = read_line(_collapse(markdown).strip(" "))
        new = read_content(html, self.image_hosts)
        check_kept(html, new)
        if not new.get_text().strip():
            raise EditError("the block would be empty; remove it instead")
        weak = set()
        for mark in self.element.find_all("mark"):
            if is_weak(mark):
                weak.add(mark.get_text())
        for mark in new.find_all("mark"):
            if mark.get_text() in weak:
                mark["class"] = WEAK
        self.set_content(new)

    def _set_code(self, code: str) -> None:
        """Replace the code of a `<pre>`. What was marked in it is marked where it still stands."""
        if not code.strip():
            raise EditError("the block would be empty; remove it instead")
        marked = [mark.get_text() for mark in self.element.find_all("mark")]
        holder = self.element.find("code") or self.element
        holder.string = _read_code(code)
        for words in marked:
            if words in code:
                self.mark_statement(words)

    def set_content(self, element: Tag) -> None:
        """Replace the content by a copy of that of an element."""
        self.element.clear()
        # A list of its own, since each node leaves `contents` when it is moved.
        self.element.extend(list(copy(element).contents))

    def confirm_statement(self, number: int) -> None:
        """Take the mark off a statement."""
        Sentences(self.element).tags("mark")[number].tag.unwrap()

    def mark_statement(self, words: str) -> None:
        """Mark words as a statement to check again. Raises EditError if they are not there."""
        for text in self.element.find_all(string=True):
            begin = text.find(words)
            if begin < 0 or text.find_parent("mark"):
                continue
            mark = Tag(name="mark")
            mark.string = words
            before = text[:begin]
            behind = text[begin + len(words) :]
            text.replace_with(NavigableString(before), mark, NavigableString(behind))
            return
        raise EditError("these words are not there any more, or are formatted; use Undo")

    def remove_sentence(self, number: int) -> str:
        """Remove the sentence with a statement, and return it. May remove the block."""
        sentences = Sentences(self.element)
        mark = sentences.tags("mark")[number]
        first, last = sentences.at(mark.begin)
        text = sentences.text
        if (text[:first] + text[last:]).strip():
            sentences.cut(first, last)
        else:
            self.remove()
        return _one_line(text[first:last])

    def insert(self, kind: Kind, markdown: str) -> None:
        """Insert a block behind it: an item behind an item. Raises EditError."""
        new = Block(0, Tag(name="p"), self.image_hosts)  # in no document yet, so it has no number
        new.set_markdown(markdown)
        self.insert_content(new.element, kind)

    def insert_blocks(self, markdown: str) -> None:
        """Insert the blocks of a Markdown text behind it, and behind the list or table it is in.

        Raises EditError.
        """
        if len(markdown) > MAX_PASTED:
            raise EditError(f"at most {MAX_PASTED:,} characters can be added at once")
        from .markdown_reader import check_kept, read_blocks

        html = read_blocks(markdown)
        try:
            new = Document(f"<article>{_TITLE}{html}</article>", self.image_hosts).article
        except UnsafeHTMLError as error:
            raise EditError(f"this text cannot be shown: {error}") from error
        new.find_all("h1")[0].extract()
        check_kept(html, new)
        if not new.get_text().strip():
            raise EditError("there are no words to add")
        place = self.element
        for parent in self.element.parents:
            if parent.name in _LISTS_AND_TABLES:
                place = parent  # and not the first one: a list can be in an item of another
        blocks = [block.extract() for block in new.find_all(True, recursive=False)]
        place.insert_after(*blocks)

    def insert_content(self, content: Tag, kind: Kind = "p") -> Tag:
        """Insert a block with the content of an element behind it, and return it.

        Raises EditError behind a cell of a table.
        """
        if self.kind in CELLS:
            raise EditError("no block can follow a cell of a table")
        new = copy(content)
        if self.kind == "li":
            new.name = "li"
        else:
            new.name = "p" if kind == "li" else kind
        self.element.insert_after(new)
        return new

    def remove(self) -> None:
        """Remove it, and what is empty without it. A cell becomes empty."""
        if self.kind in CELLS:
            self.element.clear()
            return
        node = self.element
        while parent := node.parent:
            node.extract()
            is_article = parent.parent is None
            if parent.contents or parent.name in CELLS or is_article:
                return
            node = parent


def is_block(element: Tag) -> bool:
    """Tell whether an element without blocks in it is a block: it has text."""
    return element.name != "hr" and bool(element.get_text().strip())


def document_of(html: str) -> Document:
    """Return the document of a text, with the images of all hosts. Raises UnsafeHTMLError.

    Which of them are shown, a page decides.
    """
    return Document(html, image_hosts_of(html))


def document_or_none(html: str, at_hand: Document | None = None) -> Document | None:
    """Return the document of a text as document_of(), or None for one that no build can show.

    `at_hand` is what is returned if it was read from this HTML.
    """
    if at_hand is not None and at_hand.source == html:
        return at_hand
    try:
        return document_of(html)
    except UnsafeHTMLError:
        return None


def read_content(html: str, image_hosts: Collection[str] = ()) -> Tag:
    """Return a paragraph with the content of a block. Raises EditError."""
    try:
        article = Document(f"<article>{_TITLE}<p>{html}</p></article>", image_hosts).article
    except UnsafeHTMLError as error:
        raise EditError(f"this text cannot be shown: {error}") from error
    found = article.find_all(True, recursive=False)
    if [tag.name for tag in found] != ["h1", "p"]:
        raise EditError("a block is text, without other blocks in it")
    return found[1]


def _read_code(code: str) -> str:
    """Return code as an article can have it. Raises EditError."""
    html = f"<article>{_TITLE}<pre><code>{escape(code)}</code></pre></article>"
    try:
        return Document(html).article.find_all("pre")[0].get_text()
    except UnsafeHTMLError as error:
        raise EditError(f"this text cannot be shown: {error}") from error


def _comparable(html: str) -> str:
    # Parsers escape quotation marks in texts, and links get their `rel` from the sanitizer.
    # Markdown does not say that a mark is weak.
    html = _REL.sub("", html).replace(_WEAK_CLASS, "").replace("&quot;", '"')
    return html.replace("&#32;", " ").replace("&#9;", "\t")  # those of code


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _wrap_loose_text(element: Element, *, is_marked: bool = False) -> bool:
    """Put the text beside blocks in an element into elements of its own, at any depth.

    A statement to check that contains blocks becomes one in each of them; `is_marked` says that the
    element is in such a statement. Returns whether the element stands apart from text beside it: it
    is a block, or has blocks in it.
    """
    is_marked = is_marked or element.tag == "mark"
    children_apart = [_wrap_loose_text(child, is_marked=is_marked) for child in element]
    has_blocks = element.tag in GROUPS or any(children_apart)
    if has_blocks and element.tag != "pre":
        _wrap_runs(element, children_apart, is_marked=is_marked)
        if element.tag == "mark":
            element.tag = "span"
        return True
    is_block_itself = element.tag in BLOCK_LEVEL
    if is_block_itself and is_marked:
        _mark_content(element)
    return is_block_itself


def _wrap_runs(element: Element, children_apart: Sequence[bool], *, is_marked: bool) -> None:
    """Put each run of text and inline elements between the blocks of an element into one.

    `children_apart` says of each child whether it stands apart, and is no part of such a run.
    """
    run = _new_run(element.text)
    element.text = None
    content = [run]
    for child, stands_apart in zip(element[:], children_apart, strict=True):
        if not stands_apart:
            run.append(child)  # with its tail
            continue
        run = _new_run(child.tail)
        child.tail = None
        content += [child, run]
    kept = []
    for part in content:
        is_empty_run = part.tag == _LOOSE and not len(part) and not (part.text or "").strip()
        if is_empty_run:
            continue
        if part.tag == _LOOSE and is_marked:
            _mark_content(part)
        kept.append(part)
    element[:] = kept


def _new_run(text: str | None) -> Element:
    run = Element(_LOOSE)
    run.text = text
    return run


def _mark_content(element: Element) -> None:
    """Put the content of an element into a `<mark>`, if it has text."""
    if "".join(element.itertext()).strip():
        mark = Element("mark")
        mark.text = element.text
        mark[:] = element[:]
        element.text = None
        element[:] = [mark]


def _strip_line_breaks(article: Tag) -> None:
    """Remove the white space beside `<br>` outside of code, which a browser does not show."""
    for line_break in tags_in(article, ("br",)):
        if closest(line_break, ("pre", "code")):
            continue
        before = line_break.previous_sibling
        behind = line_break.next_sibling
        if isinstance(before, NavigableString):
            before.replace_with(before.rstrip(_WHITE_SPACE))
        if isinstance(behind, NavigableString):
            behind.replace_with(behind.lstrip(_WHITE_SPACE))


def _unwrap_idle_marks(article: Tag) -> None:
    """Remove the marks that are no statement of their own: empty ones, and those within others."""
    idle = set()
    for mark in tags_in(article, ("mark",)):
        is_empty = not mark.get_text().strip()
        if is_empty or closest(mark, ("mark",)):
            idle.add(id(mark))
    if idle:  # texts are joined, so that white space is collapsed as if there had been no mark
        unwrap_all(article, lambda tag: id(tag) in idle)


_White = Literal["collapse", "code", "keep"]
"""What becomes of white space.

It is collapsed as a browser does. Of inline code, each space is kept, and line breaks become
spaces. In `<pre>`, all of it is kept.
"""


def _to_html(node: PageElement, *, marks: bool = True, white: _White = "collapse") -> str:
    """Return a node as HTML, optionally without `<mark>` or with the white space of code."""
    if not isinstance(node, Tag):
        text = escape(str(node), quote=False)
        if white == "collapse":
            return _collapse(text)
        if white == "code":
            return _collapse_code(text)
        return text.replace("\r\n", "\n").replace("\r", "\n")  # as it is read from a file
    if node.name in VOID:
        return start_tag(node)
    inner = _inner_html(node, marks=marks, white=white)
    if node.name == _LOOSE or (_is_sign(node) and not marks):
        return inner
    return f"{start_tag(node)}{inner}</{node.name}>"


def _is_reading_sign(element: Tag) -> bool:
    """Tell whether an element is around a sentence to read."""
    return element.name == "span" and element.get("class") == TO_READ


def unwrap_signs(element: Tag) -> None:
    """Take the marks and signs off that ask a person to check or to read something."""
    unwrap_all(element, _is_sign)


def _is_sign(element: Tag) -> bool:
    return element.name == "mark" or _is_reading_sign(element)


def _as_approved(element: Tag) -> Tag:
    """Return an element without inline styles, marks and signs."""
    if not any(tag.has_attr("style") or _is_sign(tag) for tag in (element, *tags_in(element))):
        return element
    plain = copy(element)
    for tag in (plain, *tags_in(plain)):
        tag.attrs.pop("style", None)
    unwrap_signs(plain)
    return plain


def _without_reading_signs(element: Tag) -> Tag:
    """Return an element without the signs of sentences to read, which nobody edits."""
    if not any(map(_is_reading_sign, tags_in(element))):
        return element
    plain = copy(element)
    unwrap_all(plain, _is_reading_sign)
    return plain


def _inner_html(element: Tag, *, marks: bool = True, white: _White = "collapse") -> str:
    """Return the content of an element as HTML."""
    if element.name == "pre":
        white = "keep"
    elif element.name == "code" and white == "collapse":
        white = "code"
    html = "".join(_to_html(child, marks=marks, white=white) for child in element.children)
    if element.name in TEXT_BLOCKS and white == "collapse":
        return html.strip(" ")
    return html


def _collapse(text: str) -> str:
    """Return text with white space as a browser shows it."""
    return _SPACE.sub(" ", text)


def _collapse_code(text: str) -> str:
    """Return code on one line, in which formatters leave the spaces, which are content.

    A line break is one space, as a browser shows it, with the white space around it.
    """
    line = _SPACE.sub(_collapse_break, text)
    return _CODE_SPACES.sub(_to_references, line)


def _collapse_break(match: re.Match[str]) -> str:
    """Return white space as one space if it has a line break, or else as it is."""
    has_break = "\n" in match[0] or "\r" in match[0]
    return " " if has_break else match[0]


def _to_references(match: re.Match[str]) -> str:
    """Return each character as a reference, which no formatter changes."""
    return "".join(f"&#{ord(character)};" for character in match[0])


def start_tag(element: Tag) -> str:
    """Return the start tag of an element, with its attributes in alphabetical order."""
    attributes = ""
    for name, value in sorted(element.attrs.items()):
        attributes += f' {name}="{escape(str(value))}"'
    return f"<{element.name}{attributes}>"


def _write_line(element: Tag, *, marks: bool = True, only_html: bool = False) -> str:
    """Return the content of an element as light Markdown.

    With `only_html`, there is no Markdown for inline elements.
    """
    return _collapse(_write_content(element, marks, only_html)).strip(" ")


def _write_content(element: Tag, marks: bool, only_html: bool) -> str:
    return "".join(_write(child, marks, only_html) for child in element.children)


def _write(node: PageElement, marks: bool, only_html: bool) -> str:
    if not isinstance(node, Tag):
        return _SPECIAL.sub(_escape_for_markdown, str(node))
    inner = _write_content(node, marks, only_html)
    if node.name == "mark" and not marks:
        return inner
    markdown = "" if only_html else _in_markdown(node, inner)
    return markdown or _in_html(node, inner)


def _escape_for_markdown(match: re.Match[str]) -> str:
    return "".join(f"\\{character}" for character in match[0])


def _in_markdown(tag: Tag, inner: str) -> str:
    """Return an inline element in Markdown, or an empty string if there is none for it."""
    if tag.name == "code":
        return _code_in_markdown(tag)
    if tag.name == "a":
        has_only_address = tag.attrs.keys() - {"rel"} == {"href"}
        if has_only_address:
            return f"[{inner}](<{tag['href']}>)"
        return ""
    syntax = _SYNTAX.get(tag.name)
    is_weak_mark = tag.name == "mark" and is_weak(tag)  # set_markdown() makes it weak again
    if syntax is None or (tag.attrs and not is_weak_mark):
        return ""
    if not inner or inner != inner.strip():  # beside a space, the syntax would be text
        return ""
    return f"{syntax}{inner}{syntax}"


def _code_in_markdown(code: Tag) -> str:
    """Return code between backticks, or an empty string if it would be read as other code."""
    text = code.get_text()
    if code.attrs or not _CODE.fullmatch(text) or _CODE_SPACES.search(text):
        return ""
    return f"`{text}`"


def _in_html(tag: Tag, inner: str) -> str:
    """Return an inline element as HTML in Markdown."""
    if tag.name in VOID:
        return start_tag(tag)
    if tag.name == "code":
        inner = _collapse_code(inner)
    return f"{start_tag(tag)}{inner}</{tag.name}>"


class _Span(NamedTuple):
    """A node of a block, and where its text begins and ends in the text of the block."""

    node: PageElement
    begin: int
    end: int


@dataclass(frozen=True)
class TagSpan:
    """A tag of a block, and where its text begins and ends in the text of the block."""

    tag: Tag
    begin: int
    end: int


class Sentences:
    """The text of an element with the positions of its sentences and its tags."""

    def __init__(self, element: Tag) -> None:
        self._spans = _spans_in(element, 0)
        # The text of a tag here is only the space behind it: what is in it has spans of its own.
        self.text = "".join(_text_of(span.node) for span in self._spans)
        self._element = element

    @cached_property
    def _borders(self) -> list[int]:
        """Where the sentences begin, and the last one ends."""
        return [0, *self._find_ends(language_of(self._element)), len(self.text)]

    def tags(self, name: str) -> list[TagSpan]:
        """Return the tags with this name, and where their texts begin and end, in their order.

        Of two that begin at the same place, the outer one comes first.
        """
        found = []
        for node, begin, end in self._spans:
            if isinstance(node, Tag) and node.name == name:
                found.append(TagSpan(node, begin, end))
        return sorted(found, key=lambda span: (span.begin, -span.end))

    def at(self, position: int) -> tuple[int, int]:
        """Return where the sentence at a position begins and ends.

        The end of the text belongs to the last sentence.
        """
        # Without the last border, so that a position at the end of the text is not behind it.
        end = bisect_right(self._borders, position, hi=len(self._borders) - 1)
        return self._borders[end - 1], self._borders[end]

    def marked(self) -> list[MarkedSentence]:
        """Return the sentences with statements to check."""
        links = self.tags("a")
        marks_of_sentences: dict[tuple[int, int], dict[int, TagSpan]] = {}
        for number, mark in enumerate(self.tags("mark")):
            sentence = self.at(mark.begin)
            marks_of_sentences.setdefault(sentence, {})[number] = mark
        sentences = []
        for (first, last), marks in marks_of_sentences.items():
            parts = self._parts(first, last, marks)
            addresses = _addresses_between(first, last, links)
            has_weak_marks_alone = all(is_weak(mark.tag) for mark in marks.values())
            sentences.append(MarkedSentence(parts, addresses, has_weak_marks_alone))
        return sentences

    def _parts(
        self, first: int, last: int, marks: Mapping[int, TagSpan]
    ) -> list[tuple[str, int | None]]:
        """Return the text from `first` to `last`, in parts.

        `marks` are those of its statements, by their numbers in the element.
        """
        parts: list[tuple[str, int | None]] = []
        position = first
        for number, mark in marks.items():
            parts.append((self.text[position : mark.begin], None))
            parts.append((self.text[mark.begin : mark.end], number))
            position = mark.end
        parts.append((self.text[position:last], None))
        return [(_collapse(text), number) for text, number in parts if text]

    def cut(self, first: int, last: int) -> None:
        """Remove a part of the text from the element, and the tags in it."""
        for node, begin, end in self._spans:
            # A tag without text, such as `<img>`, is inside if it stands before the end.
            is_inside = first <= begin < last and end <= last
            overlaps = begin < last and end > first
            if is_inside:
                node.extract()
            # A tag that reaches out of the part stays, around what is left of its text.
            elif overlaps and not isinstance(node, Tag):
                text = str(node)
                before = text[: max(0, first - begin)]
                behind = text[max(0, last - begin) :]
                node.replace_with(before + behind)

    def _find_ends(self, language: str) -> list[int]:
        """Return where sentences end: not in code, nor within a statement to check."""
        prose = list(self.text)
        for code in self.tags("code"):
            length = code.end - code.begin
            prose[code.begin : code.end] = "X" * length  # a sentence can begin with code
        inside_marks: set[int] = set()
        for mark in self.tags("mark"):
            inside_marks.update(range(mark.begin + 1, mark.end))
        ends = sentence_ends("".join(prose), language)
        return [end for end in ends if end not in inside_marks]


def _addresses_between(first: int, last: int, links: Sequence[TagSpan]) -> list[str]:
    """Return the addresses of the links that begin from `first` on, and before `last`.

    `links` are in the order of their beginnings.
    """
    start = bisect_left(links, first, key=_begin_of)
    end = bisect_left(links, last, key=_begin_of)
    return [str(link.tag["href"]) for link in links[start:end][:_MAX_CITED]]


def _begin_of(span: TagSpan) -> int:
    return span.begin


def language_of(element: Tag) -> str:
    """Return the language tag of an element, or an empty string if it has none."""
    for tag in (element, *element.parents):
        if tag.get("lang"):
            return str(tag["lang"])
    return ""


def _spans_in(element: Tag, offset: int) -> list[_Span]:
    """Return the spans of what is in an element whose text begins at `offset`.

    Each tag is behind what is in it. Tags that set words apart, such as `<br>`, have a space at the
    end of their text.
    """
    spans: list[_Span] = []
    for child in element.children:
        begin = offset
        if isinstance(child, Tag):
            inner = _spans_in(child, begin)
            spans += inner
            offset = inner[-1].end if inner else begin
        offset += len(_text_of(child))
        spans.append(_Span(child, begin, offset))
    return spans


def _text_of(node: PageElement) -> str:
    """Return the text of a string, or the space behind a tag that sets words apart."""
    if isinstance(node, Tag):
        return " " if node.name in ("br", "td", "th") else ""
    script = _SCRIPTS.get(node.parent.name) if node.parent else None
    if script:
        return str(node).translate(script)
    return str(node)

"""A block of a document: what it says, and the changes that people and updates make to it.

A block holds its element and no position, so that a change of one moves no other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Literal

from bs4 import Tag
from bs4.element import NavigableString

from ..errors import EditError
from ..files import short_digest
from ..text import MAX_BLOCK
from .descriptions import Description, description_names
from .elements import CELLS, WEAK
from .html_reader import read_code, read_content, read_pasted
from .html_writer import as_approved, collapse, first_words, inner_html, one_line, to_html
from .light_markdown import to_light_markdown
from .marked_sentences import Sentences, is_weak, language_of

Kind = Literal["p", "h2", "h3", "li", "blockquote"]
"""What a new block can be."""

MAX_PASTED = 100_000
"""The maximum length of a Markdown text that is added at once, in characters."""

_LISTS_AND_TABLES = frozenset({"ul", "ol", "dl", "table", "figure", "blockquote", "header"})
"""Elements that have no blocks of another kind directly in them."""

_SHORT_DIGEST_LENGTH = 8
"""Hex digits of the short digest of a block."""

_MAX_SYNTAX = 500
"""How many `==`, or `<`, the Markdown of a block can have."""

_MORE_BLOCKS = re.compile(r"\n[ \t]*(?:\n|[-*+] |\d{1,3}[.)] |#{1,6} |> )")
"""Where another block begins in Markdown: after an empty line, or an item, heading or quote."""


@dataclass(frozen=True)
class Leaf:
    """What a block of a document says, or what has no blocks in it, as data to be compared."""

    kind: Literal["block", "picture", "other"]
    text: str
    """The plain text."""

    names: Sequence[str]
    """Name it in a message: its first words in quotes if it has any, and its descriptions."""

    digest: str
    """That of its words, `Block.digest`."""

    content_digest: str
    """That of all that it says, `Block.content_digest`."""

    short_content_digest: str
    """`Block.short_content_digest`."""

    around: str
    """The start tags that it is in."""


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
        return one_line(self.element.get_text())

    @property
    def first_words(self) -> str:
        """The beginning of the plain text in quotes, to name the block in a message."""
        return first_words(self.text)

    @property
    def html(self) -> str:
        """The content as HTML."""
        return inner_html(self.element).strip(" ")

    @property
    def form(self) -> tuple[str, str, str]:
        """Its tag, its HTML and its language: all that the other properties depend on."""
        return self.kind, to_html(self.element), language_of(self.element)

    @property
    def digest(self) -> str:
        """The beginning of the SHA-256 of the plain text: approved files have many of them."""
        return short_digest(self.text)

    @property
    def content_digest(self) -> str:
        """The beginning of the SHA-256 of its HTML, without marks, and without inline styles.

        An approval takes both off, which changes nothing that the block says.
        """
        html = to_html(as_approved(self.element), marks=False)
        # Loose text has a space where the line of a file ends.
        return short_digest(f"{self.kind} {html.strip(' ')}")

    @property
    def short_content_digest(self) -> str:
        """The beginning of `content_digest`, as the headers of approved files have it.

        Files can have thousands of blocks, and nobody gains from forging one.
        """
        return self.content_digest[:_SHORT_DIGEST_LENGTH]

    @property
    def inner_digest(self) -> str:
        """The beginning of the SHA-256 of its content, as in `content_digest`, without its tag."""
        return short_digest(inner_html(as_approved(self.element), marks=False).strip(" "))

    @property
    def links(self) -> list[str]:
        """The addresses of the links in it."""
        return [str(link["href"]) for link in self.element.find_all("a")]

    def as_leaf(self, known: dict[int, str]) -> Leaf:
        """Return what it says. `known` keeps the start tags around it for those beside it."""
        words = [self.first_words] if self.text else []
        return Leaf(
            kind=_kind_of_leaf(self.element),
            text=self.text,
            digest=self.digest,
            content_digest=self.content_digest,
            short_content_digest=self.short_content_digest,
            around=_tags_around(self.element, known),
            names=[*words, *description_names(self.element)],
        )

    def to_markdown(self, *, marks: bool = True) -> str:
        """Return the content as light Markdown, with HTML where that would be read differently.

        The Markdown of a `<pre>` is its code, without marks.
        """
        if self.kind == "pre":
            return self.element.get_text()
        return to_light_markdown(self.element, marks=marks)

    @property
    def statements(self) -> list[str]:
        """The statements to check."""
        sentences = Sentences(self.element)
        marks = sentences.tags("mark")
        return [one_line(sentences.text[mark.begin : mark.end]) for mark in marks]

    def set_markdown(self, markdown: str) -> None:
        """Replace the content. Raises EditError for what is too long or empty, or not kept.

        A mark stays weak around the same words. The Markdown of a `<pre>` is its code as it is.
        """
        if markdown.count("==") > _MAX_SYNTAX or markdown.count("<") > _MAX_SYNTAX:
            raise EditError(f"a block has at most {_MAX_SYNTAX:,} `==` or `<`")
        if len(markdown) > MAX_BLOCK:
            raise EditError(f"a block has at most {MAX_BLOCK:,} characters, not {len(markdown):,}")
        if self.kind == "pre":
            self._set_code(markdown)
            return
        if _MORE_BLOCKS.search(markdown.strip()):
            raise EditError("this is more than one block; add the others below with +")
        from .markdown_reader import check_kept, read_line

        html = read_line(collapse(markdown).strip(" "))
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
        holder.string = read_code(code)
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

    def confirm_sentence(self, number: int) -> list[str]:
        """Take the marks off the sentence with a statement, and return all its statements."""
        sentences = Sentences(self.element)
        marks = sentences.tags("mark")
        sentence = sentences.at(marks[number].begin)
        confirmed = []
        for mark in marks:
            if sentences.at(mark.begin) == sentence:
                confirmed.append(one_line(sentences.text[mark.begin : mark.end]))
                mark.tag.unwrap()
        return confirmed

    def mark_statement(self, words: str) -> None:
        """Mark words as a statement to check again. Raises EditError if they are not there."""
        for text in self.element.find_all(string=True):
            begin = text.find(words)
            if begin < 0 or text.find_parent("mark"):
                continue
            mark = Tag(name="mark")
            mark.string = words
            before = text[:begin]
            after = text[begin + len(words) :]
            text.replace_with(NavigableString(before), mark, NavigableString(after))
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
        return one_line(text[first:last])

    def insert(self, kind: Kind, markdown: str) -> None:
        """Insert a block after it: an item after an item. Raises EditError."""
        new = Block(0, Tag(name="p"), self.image_hosts)  # in no document yet, so it has no number
        new.set_markdown(markdown)
        self.insert_content(new.element, kind)

    def insert_blocks(self, markdown: str) -> None:
        """Insert the blocks of a Markdown text after it, and after the list or table it is in.

        Raises EditError.
        """
        if len(markdown) > MAX_PASTED:
            raise EditError(f"at most {MAX_PASTED:,} characters can be added at once")
        from .markdown_reader import check_kept, read_blocks

        html = read_blocks(markdown)
        new = read_pasted(html, self.image_hosts)
        check_kept(html, new)
        if not new.get_text().strip():
            raise EditError("there are no words to add")
        neighbour = self.element
        for parent in self.element.parents:
            if parent.name in _LISTS_AND_TABLES:
                neighbour = parent  # and not the first one: a list can be in an item of another
        blocks = [block.extract() for block in new.find_all(True, recursive=False)]
        neighbour.insert_after(*blocks)

    def insert_content(self, content: Tag, kind: Kind = "p") -> Tag:
        """Insert a block with the content of an element after it, and return it.

        Raises EditError after a cell of a table.
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


def as_block(description: Description, number: int = 0) -> Block:
    """Return a description as a block of its own, whose kind is the name of the attribute."""
    name, words = description
    element = Tag(name=name)
    element.append(NavigableString(words))
    return Block(number, element)


def is_block(element: Tag) -> bool:
    """Tell whether an element without blocks in it is a block: it has text."""
    # Most have a word in their first string: to join all takes three times as long.
    return element.name != "hr" and any(string.strip() for string in element.strings)


def _kind_of_leaf(element: Tag) -> Literal["block", "picture", "other"]:
    if is_block(element):
        return "block"
    if element.name == "img" or element.find("img"):
        return "picture"
    return "other"


def _tags_around(element: Tag, known: dict[int, str]) -> str:
    """Return the start tags that an element is in. `known` has them by the `id()` of a parent."""
    parent = element.parent
    if parent is None:
        return ""
    if id(parent) not in known:
        attributes = {name: value for name, value in parent.attrs.items() if name != "style"}
        tag = f"<{parent.name} {sorted(attributes.items())}>"
        known[id(parent)] = _tags_around(parent, known) + tag
    return known[id(parent)]

"""Write HTML as plain Markdown, which the writer or people read.

Nothing is HTML in it but powers and indices. It is not for pages, in which no text may be syntax:
see `markdown_writer`. Nor is it for editing, where all elements of a line have to stay: see
`Block.to_markdown()`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from textwrap import indent
from xml.etree.ElementTree import Element

from .elements import BLOCK_LEVEL, CELLS, HEADINGS, THOUGHTS
from .markdown_blocks import BlockWriter, code_in_ticks, fenced_code, language_of
from .sanitizer import parse_clean
from .simplify import simplify

_DELIMITERS = {"strong": "**", "em": "*", "s": "~~", "del": "~~", "q": '"'}
"""What stands before and after elements."""

_CODE = frozenset({"code", "kbd", "samp"})
_SCRIPTS = ("sup", "sub")
"""The elements that stay: without them, `10<sup>6</sup>` would be 106."""

_RENAMED = {"a": "span", "summary": "p"}
"""Elements that are others for the writer: a link would make one line of the blocks in it, and a
summary in bold would be a heading."""

_BREAK = "\v"
"""Stands for `<br>` until a line is written. Clean HTML has no such character."""

_SPACE = re.compile(r"[ \t\r\f]+")
_LINE_END = re.compile(r" ?\n[ \n]*")
_AROUND_BREAK = re.compile(rf"[ \n]?{_BREAK}[ \n{_BREAK}]*")

_CODE_SPAN = re.compile("(`[^`\n]+`)")
_EMPHASIS = re.compile("[*_]")
_EMPHASIS_OR_HTML = re.compile(r"[*_]|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
_H1 = re.compile(r"<h1[\s>]", re.IGNORECASE)
_TITLE = re.compile(r"<(/?)title(?=[\s/>])", re.IGNORECASE)
_THOUGHT = re.compile(rf"<(/?)(?:{'|'.join(THOUGHTS)})(?=[\s/>])", re.IGNORECASE)


def to_plain_markdown(html: str) -> str:
    """Return HTML of a model as Markdown, without links and images.

    Markdown beside its elements stays as it is, and so does code in backticks. Raises
    UnsafeHTMLError for HTML that is too large or nested too deeply.
    """
    if not _H1.search(html):
        html = _TITLE.sub(r"<\1h1", html)
    # The sanitizer drops a dialog with what it contains.
    root = _read(_THOUGHT.sub(r"<\1dialog", html))
    for element in root.iter():
        element.tag = _RENAMED.get(element.tag, element.tag)
    _add_missing_lists(root)
    _join_code(root)
    writer = _PlainWriter()
    chunks = []
    between = root.text or ""
    for child in root:
        after = child.tail or ""
        child.tail = None
        text = writer.blocks(simplify(_holder(child)))
        if child.tag == "br":
            between += f"  \n{after}"
        elif _is_inline(child):
            between += text + after
        else:
            chunks += [between, text]
            between = after
    chunks.append(between)
    return "\n\n".join(chunk.strip() for chunk in chunks if chunk.strip())


def to_readable_markdown(html: str) -> str:
    """Return the HTML of a text as Markdown for people, with `==statements to check==`.

    Raises UnsafeHTMLError for HTML that is too large or nested too deeply.
    """
    return _ReadableWriter().blocks(simplify(_read(html)))


def to_editable_markdown(html: str) -> str:
    """Return HTML that a person pastes as Markdown for the editor, with its links.

    Raises UnsafeHTMLError for HTML that is too large or nested too deeply.
    """
    return _EditableWriter().blocks(simplify(_read(html)))


def _read(html: str) -> Element:
    """Return the tree of HTML without lists of definitions, which Markdown does not have."""
    root = parse_clean(html)
    _label_definitions(root)
    return root


def _label_definitions(root: Element) -> None:
    """Make each term a label of its definition: `**Cache:** what is kept`."""
    for definitions in list(root.iter("dl")):
        children: list[Element] = []
        for child in definitions:
            term = children[-1] if children else None
            if child.tag == "dd" and term is not None and term.tag == "dt":
                children.pop()
                term.tag = "strong"
                term.tail = f" {child.text or ''}"
                child.text = None
                child.insert(0, term)
                _end_with_colon(term)
            children.append(child)
        definitions[:] = children


def _end_with_colon(element: Element) -> None:
    if len(element):
        element[-1].tail = f"{_without_colon(element[-1].tail)}:"
    else:
        element.text = f"{_without_colon(element.text)}:"


def _without_colon(text: str | None) -> str:
    return (text or "").rstrip().removesuffix(":")


def _add_missing_lists(root: Element) -> None:
    """Put items that stand in no list into one."""
    for parent in list(root.iter()):
        if parent.tag in ("ul", "ol"):
            continue
        children: list[Element] = []
        for is_item, group in groupby(parent, lambda child: child.tag == "li"):
            if not is_item:
                children += group
                continue
            items = Element("ul")
            items.extend(group)
            last = items[-1]
            items.tail, last.tail = last.tail, None
            children.append(items)
        parent[:] = children


def _holder(child: Element) -> Element:
    holder = Element("div")
    holder.append(child)
    return holder


def _is_inline(element: Element) -> bool:
    return all(inner.tag not in BLOCK_LEVEL for inner in element.iter())


class _PlainWriter(BlockWriter):
    """Writes what the writer reads."""

    delimiters: Mapping[str, str] = _DELIMITERS
    syntax = _EMPHASIS
    """Matches what is escaped in text."""

    pipe = r"\|"
    """What is written for the character that ends a cell."""

    def line(self, element: Element) -> str:
        """Return the content of a block, with breaks if it may have several lines."""
        _join_code(element)
        text = _LINE_END.sub("\n", _SPACE.sub(" ", self._content(element)))
        if element.tag in CELLS or element.tag in HEADINGS:
            text = text.replace("\n", " ").replace(_BREAK, " ").strip()
            return text.replace("|", self.pipe) if element.tag in CELLS else text
        return _AROUND_BREAK.sub("  \n", text.strip())

    def paragraph(self, element: Element) -> str:
        """Return a paragraph, at whose start Markdown stays Markdown."""
        return self.line(element)

    def code(self, pre: Element, *, is_nested: bool) -> str:
        """Return a block of code with a fence."""
        return fenced_code(self._code_in(pre), language_of(pre))

    def join(self, tags: Sequence[str], texts: Sequence[str]) -> str:
        """Return blocks with an empty line between two, whatever they are."""
        return "\n\n".join(texts)

    def item(self, bullet: str, text: str) -> str:
        """Return an item of a list, indented by the width of its bullet."""
        width = len(bullet) + 1
        return f"{bullet} {indent(text, ' ' * width).strip()}"

    def join_items(self, items: Sequence[str]) -> str:
        """Return a list without empty lines between its items."""
        return "\n".join(items)

    def escape(self, text: str) -> str:
        """Return text in an element, in which `syntax` is none, unless it is code."""
        parts = _CODE_SPAN.split(text)
        # Between the spans of code, which are every second part.
        for index in range(0, len(parts), 2):
            parts[index] = self.syntax.sub(r"\\\g<0>", parts[index])
        return "".join(parts)

    def _link(self, text: str, element: Element) -> str:
        """Return a link with its address, and with its title if it has one."""
        address = element.get("href", "")
        title = element.get("title", "").replace('"', r"\"")
        if text == address and not title:
            return f"<{address}>"
        if title:
            address += f' "{title}"'
        return f"[{text}]({address})"

    def _content(self, element: Element) -> str:
        parts = [self.escape(element.text or "")]
        for child in element:
            parts += [self._inline(child), self.escape(child.tail or "")]
        return "".join(parts)

    def _inline(self, element: Element) -> str:
        """Return an element within a line. Those that have no Markdown are their content."""
        tag = element.tag
        if tag == "br":
            return _BREAK
        if tag in _CODE:
            return code_in_ticks(self._code_in(element).strip())
        text = self._content(element)
        inner = text.strip()
        if not inner:
            return text
        # Beside spaces, the delimiters would be text.
        start, _, end = text.partition(inner)
        if tag == "a":
            inner = self._link(inner, element)
        elif tag in _SCRIPTS:
            inner = f"<{tag}>{inner}</{tag}>"
        else:
            delimiter = self.delimiters.get(tag, "")
            inner = f"{delimiter}{inner}{delimiter}"
        return f"{start}{inner}{end}"

    def _code_in(self, element: Element) -> str:
        """Return the code in an element, with the delimiters of its marks."""
        parts = [element.text or ""]
        for child in element:
            delimiter = self.delimiters.get(child.tag, "")
            parts += [delimiter, self._code_in(child), delimiter, child.tail or ""]
        return "".join(parts)


class _EditableWriter(_PlainWriter):
    """Writes what the editor reads, in which a tag would be HTML."""

    syntax = _EMPHASIS_OR_HTML


class _ReadableWriter(_PlainWriter):
    """Writes what people read, who see what is text."""

    bullet = "•"
    pipe = "|"
    delimiters: Mapping[str, str] = {**_DELIMITERS, "mark": "=="}

    def escape(self, text: str) -> str:
        """Return text as it is."""
        return text


def _join_code(root: Element) -> None:
    """Make one element of code that touches other code, and set keys apart.

    In Markdown, two of them that touch are one with backticks in it.
    """
    for parent in list(root.iter()):
        children: list[Element] = []
        for child in parent:
            before = children[-1] if children else None
            if before is None or before.tail or not {before.tag, child.tag} <= _CODE:
                children.append(child)
            elif "kbd" in (before.tag, child.tag):
                before.tail = " "
                children.append(child)
            else:
                before.tail, child.tail = child.tail, None
                child.tag = "span"
                before.append(child)
        parent[:] = children

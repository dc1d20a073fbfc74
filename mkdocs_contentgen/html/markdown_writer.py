"""Write the HTML of articles as Markdown.

The text of an article is escaped, so that it is no syntax to Python-Markdown, its usual extensions,
and plugins with templates or includes. The result can still be read as another text, so each
block is HTML, too, for whoever reads it back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from textwrap import indent
from xml.etree.ElementTree import Element

from .elements import BLOCK_LEVEL, VOID
from .markdown_blocks import BlockWriter, code_in_ticks, fenced_code, language_of
from .simplify import simplify

_LISTS = ("ul", "ol")
_EMPHASIS = {"strong": "**", "em": "*"}
_MAX_CELLS = 20_000
"""How many cells a table has at most that is written as Markdown: it has all cells of its grid."""

_INVISIBLE = (
    "\x80-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00\ufeff"
)
_SPECIAL = re.compile(
    rf"[\\`*\[\]{{<|~^#{_INVISIBLE}]"  # those that are syntax anywhere
    r"|(?<![^\W_])_|_(?![^\W_])"  # those within words are text
    r"|&(?=#?\w{1,32};)"  # the start of a character reference
    r"|(?P<twice>[(=%@!?:])(?=(?P=twice))|(?<!:)/(?=/)"  # `!!! note`, `==mark==`, `((`
    # `++ctrl++`, `$x$` (but not `$5`), `@name`, `:emoji:`
    r"|\+(?=\+[\w\"'])|\$(?!\d)|(?<=\S)\$|(?<!\w)@(?=\w)|:(?=[a-z][\w+-]*:)"
)
"""Matches the characters of a text that would be syntax within a line."""

_LINE_START = re.compile(r"[-+>:/]|(?:\d+|[A-Za-z]|[ivxlcdmIVXLCDM]+)[.)](?!\S)")
"""Matches what would be syntax at the start of a line. Its last character is escaped."""

_SPECIAL_IN_LINE = re.compile(rf"[^\w ,;()./?%\xa1-\U0010ffff-]|_|[.-](?=[.-])|[{_INVISIBLE}]")
"""Matches what may be syntax in HTML within a line, or in an attribute: all but known signs."""

_SPECIAL_IN_BLOCK = re.compile(rf"[&<>{{`~\t{_INVISIBLE}]")
"""Matches those in a block of HTML, in which Python-Markdown reads nothing, but templates do."""

_BESIDE_EMPHASIS = re.compile("[0-9A-Za-z*<>]")
"""Matches the characters beside emphasis with which its asterisks would be ambiguous."""

_TEMPLATE = re.compile(rf"\{{[{{%#!+~=>-]|-8<|[{_INVISIBLE}]")
"""What templates and snippets read in code, too."""

_OUTER = ("li", "blockquote")
"""Blocks whose code has no fence."""

_SPACE = re.compile(r"[ \t\r\n\f]+")

_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\xa0": "&nbsp;"}


@dataclass(frozen=True)
class WrittenBlock:
    """A block of an article as Markdown, and as HTML, which its Markdown has to be read as."""

    tag: str
    markdown: str
    """What is best to read: the HTML if the block would be too large as Markdown."""

    html: str


def write_blocks(
    article: Element, extensions: Collection[str] = (), link: Callable[[str], str] = str
) -> list[WrittenBlock]:
    """Return the blocks of an article for a site with these extensions of Python-Markdown.

    `link` returns what Markdown has for an address. HTML has the address itself, since MkDocs
    does not change HTML.
    """
    writer = _Writer(link)
    written = []
    for block in simplify(article, has_admonitions="admonition" in extensions):
        html = _to_html(block)
        is_too_large = block.tag == "table" and _grid_size(block) > _MAX_CELLS
        markdown = html if is_too_large else writer.block(block)
        written.append(WrittenBlock(block.tag, markdown, html))
    return written


def join_blocks(tags: Sequence[str], texts: Sequence[str]) -> str:
    """Return blocks that are written as `texts`, with comments between those that would merge."""
    parts = []
    tag_before = ""
    for tag, text in zip(tags, texts, strict=True):
        if _merges(tag_before, tag):
            parts.append("<!-- -->")
        parts.append(text)
        tag_before = tag
    return "\n\n".join(parts)


def _merges(before: str, tag: str) -> bool:
    """Tell whether Markdown would read two blocks as one."""
    return (before in _LISTS and tag in _LISTS) or before == tag == "blockquote"


class _Writer(BlockWriter):
    """Writes Markdown of which no text is syntax."""

    def __init__(self, link: Callable[[str], str]) -> None:
        self._link = link

    def line(self, element: Element) -> str:
        """Return the content of a block on one line."""
        return " ".join(self._content(element, in_emphasis=False).split())

    def paragraph(self, element: Element) -> str:
        """Return a paragraph whose beginning is no syntax."""
        return _escape_start(self.line(element))

    def code(self, pre: Element, *, is_nested: bool) -> str:
        """Return a block of code: in another block it has no fence, which many extensions lack."""
        return _nested_code(pre) if is_nested else _fenced_code(pre)

    def join(self, tags: Sequence[str], texts: Sequence[str]) -> str:
        """Return blocks, kept apart where they would be read as one."""
        merging = []
        for tag in tags:
            # Indented code after a list would belong to its last item.
            merging.append("ul" if tag == "pre" else tag)
        return join_blocks(merging, texts)

    def item(self, bullet: str, text: str) -> str:
        """Return an item of a list, indented by four spaces, as Python-Markdown has it."""
        return f"{bullet} {indent(text, '    ').strip()}"

    def join_items(self, items: Sequence[str]) -> str:
        """Return a list, with empty lines between its items if one of them needs empty lines."""
        tight = "\n".join(items)
        if "\n\n" in tight:
            return "\n\n".join(items)
        return tight

    def _content(self, element: Element, *, in_emphasis: bool) -> str:
        """Return the content of an element within a line."""
        written = _escape(element.text or "")
        for number, child in enumerate(element, start=1):
            after = (child.tail or "")[:1]
            if not after and number < len(element):
                after = "<"  # of the next child
            if child.tag == "a" and written.endswith("!"):
                written = f"{written[:-1]}&#33;"  # the link would be an image
            is_apart = not _BESIDE_EMPHASIS.search(written[-1:] + after)
            if child.tag == "code":
                is_apart = not written.endswith("`")  # it would be code with backticks in it
            written += self._inline(child, in_emphasis=in_emphasis, is_apart=is_apart)
            written += _escape(child.tail or "")
        return written

    def _inline(self, element: Element, *, in_emphasis: bool, is_apart: bool) -> str:
        """Return an inline element; `is_apart` says that no word or tag is beside it."""
        tag = element.tag
        if tag == "img":
            alt = _to_entities(element.get("alt", ""))
            return f"![{alt}]({_target(element, element.get('src', ''))})"
        if tag == "code":
            return _code(element) if is_apart else _code_as_html(element)
        if tag in VOID:
            return f"<{tag}>"
        text = self._content(element, in_emphasis=in_emphasis or tag in _EMPHASIS)
        inner = text.strip()
        # Markdown has no space at the edges of emphasis and links. `inner` is not empty: simplify()
        # leaves out elements without content.
        start, _, end = text.partition(inner)
        if tag == "a":
            address = self._link(element.get("href", ""))
            return f"{start}[{inner}]({_target(element, address)}){end}"
        is_plain = is_apart and not in_emphasis
        if tag in _EMPHASIS and is_plain and not _has_emphasis(element):
            return f"{start}{_EMPHASIS[tag]}{inner}{_EMPHASIS[tag]}{end}"
        return f"{start}{_start_tag(element)}{inner}</{tag}>{end}"


def _code(element: Element) -> str:
    """Return code within a line between backticks, or as HTML if it would be read as syntax."""
    code = " ".join((element.text or "").split())
    if len(element) or _TEMPLATE.search(code) or "|" in code:
        return _code_as_html(element)
    return code_in_ticks(code)


def _code_as_html(element: Element) -> str:
    return " ".join(_to_html(element, _SPECIAL_IN_LINE).split())


def _fenced_code(pre: Element) -> str:
    """Return code with a fence, or as HTML if it would be read as syntax there."""
    if _is_written_as_html(pre):
        return _to_html(pre)
    return fenced_code("".join(pre.itertext()), language_of(pre))


def _nested_code(pre: Element) -> str:
    """Return code in a list or a quotation: with an indentation, or on one line as HTML."""
    if _is_written_as_html(pre):
        return _to_html(pre, _SPECIAL_IN_LINE)
    return indent("".join(pre.itertext()), "    ")


def _is_written_as_html(pre: Element) -> bool:
    """Tell whether a block of code would be read as syntax between fences."""
    return bool(len(pre[0]) or _TEMPLATE.search("".join(pre.itertext())))


def has_code_without_fence(article: Element) -> bool:
    """Tell whether a block of code that says its language has no fence that could say it."""
    nested: set[Element] = set()
    for tag in _OUTER:
        for outer in article.iter(tag):
            nested.update(outer.iter("pre"))
    for pre in article.iter("pre"):
        if len(pre) and language_of(pre) and (pre in nested or _is_written_as_html(pre)):
            return True
    return False


def _to_html(
    element: Element, special: re.Pattern[str] = _SPECIAL_IN_BLOCK, *, is_verbatim: bool = False
) -> str:
    """Return an element as HTML, with its blocks on lines, and `special` characters as entities.

    By default, it is a block that Python-Markdown and templates leave as it is.
    """
    if element.tag in VOID:
        return _start_tag(element)
    is_verbatim = is_verbatim or element.tag == "pre"

    def write(text: str | None) -> str:
        text = text or ""
        return _to_entities(text if is_verbatim else _SPACE.sub(" ", text), special)

    html = write(element.text)
    for child in element:
        if child.tag in BLOCK_LEVEL:
            html += "\n"
        html += _to_html(child, special, is_verbatim=is_verbatim) + write(child.tail)
    if len(element) and element[-1].tag in BLOCK_LEVEL:
        html += "\n"
    return f"{_start_tag(element)}{html}</{element.tag}>"


def _start_tag(element: Element) -> str:
    attributes = ""
    for name, value in element.items():
        # Addresses have no other character that is special.
        is_address = name in ("href", "src")
        if is_address:
            escaped = value.replace("&", "&amp;")
        else:
            escaped = _to_entities(value)
        attributes += f' {name}="{escaped}"'
    return f"<{element.tag}{attributes}>"


def _has_emphasis(element: Element) -> bool:
    return any(element.find(f".//{tag}") is not None for tag in _EMPHASIS)


def _grid_size(table: Element) -> int:
    head, body = table
    rows = len(body) + 1  # with that of the headers
    columns = len(head[0])
    return columns * rows


def _target(element: Element, address: str) -> str:
    """Return an address and the title of a link or an image, for their brackets."""
    title = _to_entities(element.get("title", ""))
    return f'{address} "{title}"' if title else address


def _escape(text: str) -> str:
    """Return text of which nothing is syntax within a line."""
    return _SPECIAL.sub(lambda match: _escape_character(match[0]), text)


def _escape_start(line: str) -> str:
    """Return a line whose beginning is no syntax."""
    start = _LINE_START.match(line)
    if start is None:
        return line
    last = start.end() - 1
    return f"{line[:last]}{_escape_character(line[last])}{line[last + 1 :]}"


def _escape_character(character: str) -> str:
    if character in "*_#+->.":
        return f"\\{character}"
    return _entity(character)


def _to_entities(text: str, special: re.Pattern[str] = _SPECIAL_IN_LINE) -> str:
    """Return text with its `special` characters as entities, by default those in attributes."""
    return special.sub(lambda match: _entity(match[0]), text)


def _entity(character: str) -> str:
    return _NAMED.get(character) or f"&#{ord(character)};"

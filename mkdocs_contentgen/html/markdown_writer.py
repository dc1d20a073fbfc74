"""Write the blocks of an article into a page of Markdown, in one of two forms.

A plain block is ordinary Markdown. Any other is HTML, with entities for all characters that
Markdown, an extension or a template could interpret. Headings are always Markdown, since headings
in HTML are missing from the table of contents; so are blocks in lists and the like, where
Python-Markdown does not expect HTML. Their text is escaped in the same way.

Blocks may lose attributes and children for which Markdown has no form: the caller compares what the
page shows, and has those blocks escaped that differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement

from ..errors import ApprovalError
from .sanitizer import VOID_TAGS

DELIMITERS = frozenset("{{ {% {# {! -8< :::".split())
"""The default opening delimiters of templates and includes."""

INLINE = frozenset(
    "a abbr b bdi bdo br button cite code data del dfn em i img input ins kbd label mark q rp rt "
    "ruby s samp small span strong sub sup svg time u var wbr".split()
)
WRAPPERS = frozenset("article section header footer div".split())
"""Elements that only group others."""

PRESENTATIONAL = re.compile(r"class|style|rel|loading|role|tabindex|ai-disclosure|aria-.*")
SPACE = re.compile(r"[ \t\n\r\f]+")
SYNONYMS = {"b": "strong", "i": "em"}

_MAX_DEPTH = 5
_MAX_LINE = 20_000  # Python-Markdown takes quadratic time in its length

_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\xa0": "&nbsp;"}
_INVISIBLE = "[\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]"
_SPECIAL = re.compile(r"[\\`<\[\]{|]|(?<! )\*|\*(?! )|(?<![^\W_])_|_(?![^\W_])|&#?\w+;")
_LINE_START = re.compile(r"[!#$%)+,\-./:;=>?@^~]|\d+[.)](?: |$)")
_MERGED = re.compile(r"(?:-|\d+\.) .*\n(?:- |\d+\. |    )|>.*\n>")
_PLAIN_ATTRIBUTE = re.compile(r"(?!.*&\#?\w+;)[\w /:?#@!$&+,;=.%~-]*")

# What is escaped in HTML, in `<pre>`, in attributes, and in lines that are Markdown.
_IN_HTML = rf"[#$&*<>@\[-^`{{-~]|{_INVISIBLE}"
_IN_PRE = rf"{_IN_HTML}|[\t\r]| (?=\n|\Z)|\A\n"
_IN_ATTRIBUTE = rf"[^\w ,./:?=%\-]|{_INVISIBLE}|[\t\n\r]|(?<= ) "
_IN_LINE = rf"[!-/:-@\[-`{{-~]|{_INVISIBLE}|\d(?=[a-z])"

_WriteLine = Callable[[Element], str]
"""Returns the inline content of a block on one line."""


def flow(element: Element) -> list[Element]:
    """Return the blocks in `element`, with bare text in paragraphs and without empty paragraphs.

    Elements that only group others are replaced by their content.
    """
    blocks = [Element("p")]

    def add(parent: Element) -> None:
        SubElement(blocks[-1], "span").text = parent.text
        for child in parent:
            if all(part.tag in INLINE for part in child.iter()):
                blocks[-1].append(copy(child))
                blocks[-1][-1].tail = None
            elif child.tag in WRAPPERS and not child.attrib:
                blocks.append(Element("p"))
                add(child)
                blocks.append(Element("p"))
            else:
                blocks.extend((child, Element("p")))
            SubElement(blocks[-1], "span").text = child.tail

    add(element)
    return [
        block
        for block in blocks
        if SPACE.sub("", "".join(block.itertext()))
        or any(part.tag not in ("p", "span") for part in block.iter())
    ]


class _NotMarkdownError(Exception):
    """A block, or one in it, cannot be written as Markdown in the form that was tried."""


@dataclass
class Writer:
    """Writes blocks. The output never contains any of the delimiters of templates."""

    delimiters: Collection[str]

    escaped: set[Element] = field(default_factory=set)
    """The blocks that are not plain."""

    words: set[str] = field(default_factory=set)
    """The abbreviations of the page, which are escaped in these blocks."""

    ids: set[str] = field(default_factory=set)
    """The ids that their headings have to state."""

    def write(self, block: Element, place: str, *, nested: bool) -> list[str]:
        """Return the lines of a block, which need an empty line before and after them.

        A `nested` block is one that the caller indents. Raises ApprovalError, with `place`, for one
        that needs HTML, and if a delimiter remains.
        """
        forms: list[Callable[[], list[str]]] = []
        if block not in self.escaped:
            forms.append(lambda: self._markdown(block, int(nested), _plain_line))
        if nested or re.fullmatch("h[1-6]", block.tag):
            forms.append(lambda: self._markdown(block, int(nested), self._escaped_line))
        if not nested:
            forms.append(lambda: self._html_block(block))
        for form in forms:
            with suppress(_NotMarkdownError):
                text = "\n".join(form())
                if not any(delimiter in text for delimiter in self.delimiters):
                    return text.split("\n")
        raise ApprovalError(
            f"{place}: <{block.tag}> can be written neither as Markdown nor as HTML; put the "
            "marker between empty lines, outside of lists, quotes and tabs"
        )

    def escape(self, text: str | None, pattern: str = _IN_HTML) -> str:
        """Escape what matches `pattern`, and the first character of delimiters and words."""
        starts = "|".join(map(re.escape, {*self.delimiters, *self.words}))
        return re.sub(f"(?={starts}).|{pattern}", _entity, text or "")

    def _markdown(self, block: Element, depth: int, line: _WriteLine) -> list[str]:
        match block.tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                anchor = f" {{ #{block.get('id')} }}" if block.get("id") in self.ids else ""
                return [f"{'#' * int(block.tag[1])} {line(block)}{anchor}"]
            case _ if depth == _MAX_DEPTH:
                raise _NotMarkdownError
            case "p" if len(text := line(block)) <= _MAX_LINE:
                return [text]
            case "hr":
                return ["***"]  # dashes could be read as front matter
            case "pre":
                return _code(block, nested=bool(depth))
            case "ul" | "ol":
                return self._list(block, depth, line)
            case "blockquote":
                parts = [self._markdown(part, depth + 1, line) for part in flow(block)]
                return [f"> {text}".rstrip() for text in join(parts)]
            case "table":
                rows = [f"| {' | '.join(map(line, row))} |" for row in block.iter("tr")]
                return [*rows[:1], *(re.sub("[^|]+", " --- ", row) for row in rows[:1]), *rows[1:]]
        raise _NotMarkdownError

    def _list(self, block: Element, depth: int, line: _WriteLine) -> list[str]:
        written = []
        for number, item in enumerate(block, 1):
            parts = flow(item)
            blocks = [self._markdown(part, depth + 1, line) for part in parts]
            is_tight = [part.tag for part in parts] in (["p", "ul"], ["p", "ol"])
            first, *rest = ([*blocks[0], *blocks[1]] if is_tight else join(blocks)) or [""]
            marker = f"{number}." if block.tag == "ol" else "-"
            written.append([f"{marker} {first}", *(f"    {text}".rstrip() for text in rest)])
        if any("" in lines for lines in written):
            written[1:] = [["", *lines] for lines in written[1:]]
        return [text for lines in written for text in lines]

    def _escaped_line(self, block: Element) -> str:
        return SPACE.sub(" ", self._escaped(block, _IN_LINE)).strip(" ")

    def _html_block(self, block: Element) -> list[str]:
        html = self._html(block, _IN_HTML)
        # Markdown takes a line that begins with an inline element for a paragraph.
        html = f"<div>{html}</div>" if block.tag in INLINE else html
        return html.split("\n")

    def _html(self, element: Element, pattern: str) -> str:
        """Return an element as HTML, with what matches `pattern` in its text escaped."""
        attributes = (
            f' {name}="{self.escape(value, _IN_ATTRIBUTE)}"' for name, value in element.items()
        )
        start = f"<{element.tag}{''.join(attributes)}>"
        if element.tag in VOID_TAGS:
            return start
        inner = self._escaped(element, _IN_PRE if element.tag == "pre" else pattern)
        return inner if start == "<span>" else f"{start}{inner}</{element.tag}>"

    def _escaped(self, element: Element, pattern: str) -> str:
        parts = [self.escape(element.text, pattern)]
        for child in element:
            parts += [self._html(child, pattern), self.escape(child.tail, pattern)]
        return "".join(parts)


def join(blocks: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of blocks, with comments that keep adjacent lists and quotes apart."""
    joined: list[str] = []
    preceding = ""
    for lines in blocks:
        is_merged = _MERGED.match(f"{preceding}\n{lines[0]}")
        joined += ["", "<!-- -->", "", *lines] if is_merged else ["", *lines]
        preceding = lines[0]
    return joined[1:]


def _code(block: Element, *, nested: bool) -> list[str]:
    """Return a `<pre>` as a code block: with a fence, or nested with an indentation."""
    text = "".join(block.itertext()).rstrip("\n")
    if nested:
        return [f"    {line}".rstrip() for line in text.split("\n")]
    fence = max(["```", *(f"{ticks}`" for ticks in re.findall("`+", text))], key=len)
    return [fence, *text.split("\n"), fence]


def _plain_line(block: Element) -> str:
    line = SPACE.sub(" ", _plain(block)).strip(" ")
    if block.tag == "p" and _LINE_START.match(line):
        raise _NotMarkdownError
    return line


def _plain(element: Element) -> str:
    parts = [_plain_text(element.text)]
    for child in element:
        parts += [_plain_markup(child), _plain_text(child.tail)]
    return "".join(parts)


def _plain_text(text: str | None) -> str:
    text = SPACE.sub(" ", text or "")
    if _SPECIAL.search(text):
        raise _NotMarkdownError
    return re.sub(_INVISIBLE, _entity, text)


def _plain_markup(element: Element) -> str:
    """Return an inline element as Markdown, or as HTML if Markdown has nothing for it."""
    if not all(map(_PLAIN_ATTRIBUTE.fullmatch, element.attrib.values())):
        raise _NotMarkdownError
    text = SPACE.sub(" ", element.text or "")
    if element.tag == "code" and not len(element) and text == text.strip() and "`" not in text:
        return f"`{text}`"
    inner = _plain(element)
    match [element.tag, *sorted(element.attrib)]:
        case ["strong" | "em"] if inner == inner.strip(" "):
            marks = "**" if element.tag == "strong" else "*"
            return f"{marks}{inner}{marks}"
        case ["a", "href"]:
            return f"[{inner}]({element.get('href')})"
        case ["a", "href", "title"]:
            return f'[{inner}]({element.get("href")} "{element.get("title")}")'
        case ["img", "alt", "src"]:
            return f"![{element.get('alt')}]({element.get('src')})"
        case ["span"]:
            return inner
    attributes = "".join(f' {name}="{value}"' for name, value in element.items())
    end = "" if element.tag in VOID_TAGS else f"{inner}</{element.tag}>"
    return f"<{element.tag}{attributes}>{end}"


def _entity(match: re.Match[str]) -> str:
    return _NAMED.get(match[0]) or f"&#x{ord(match[0]):x};"

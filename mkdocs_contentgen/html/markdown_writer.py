"""Write the blocks of an article into a page of Markdown, in one of two forms.

A plain block is ordinary Markdown. Any other is HTML, with entities for all characters that
Markdown, an extension or a template could interpret. Headings are always Markdown, since headings
in HTML are missing from the table of contents; so are blocks in lists and the like, where
Python-Markdown does not expect HTML. Their text is escaped in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from .sanitizer import VOID_TAGS

DELIMITERS = frozenset("{{ {% {# {! 8< :::".split())
"""The default opening delimiters of templates and includes."""

INLINE = frozenset(
    "a abbr b bdi bdo br button cite code data del dfn em i img input ins kbd label mark q rp rt "
    "ruby s samp small span strong sub sup svg time u var wbr".split()
)
WRAPPERS = frozenset("article section header footer div".split())
"""Elements that only group others."""

LIST_ITEM = re.compile(r"(?:[-+*]|\d+[.)])[ \t]")
SPACE = re.compile(r"[ \t\n\r\f]+")
SYNONYMS = {"b": "strong", "i": "em"}

PRESENTATIONAL = re.compile(r"class|style|rel|loading|role|tabindex|ai-disclosure|aria-.*")
_MAX_DEPTH = 5
_MAX_LINE = 20_000  # Python-Markdown takes quadratic time in its length

_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\xa0": "&nbsp;"}
_INVISIBLE = "[\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]"
_SPECIAL = re.compile(
    r"[\\`<\[\]{|]|(?<! )\*|\*(?! )|(?<![^\W_])_|_(?![^\W_])|&#?\w+;"  # within a line
    r"|^ ?(?:(?![\"'(&])[!-/:-@^~]|\d+[.)](?: |$))"  # at the beginning of a line
)
_PLAIN_TITLE = re.compile(r"(?:[\w,.;:-]++(?: (?! ))?)*")
_PLAIN_URL = re.compile(r"(?!.*&\#?\w+;)[\w/:?#@!$&+,;=.%~-]+")

# What is escaped in HTML, in `<pre>`, in attributes, and in lines that are Markdown.
_IN_HTML = rf"[#$&*<>@\[-^`{{-~]|{_INVISIBLE}"
_IN_PRE = rf"{_IN_HTML}|[\t\r]| (?=\n|\Z)|\A\n"
_IN_ATTRIBUTE = rf"[^\w ,./:?=%\-]|{_INVISIBLE}|[\t\n\r]|(?<= ) "
_IN_LINE = rf"[!-/:-@\[-`{{-~]|{_INVISIBLE}|\d(?=[a-z])"


def flow(element: Element) -> list[Element]:
    """Return the blocks in `element`, with bare text in paragraphs and without empty paragraphs.

    Elements that only group others are replaced by their content.
    """
    blocks = [Element("p")]

    def add_text(text: str | None) -> None:
        paragraph = blocks[-1]
        if len(paragraph):
            paragraph[-1].tail = (paragraph[-1].tail or "") + (text or "")
        else:
            paragraph.text = (paragraph.text or "") + (text or "")

    def add(parent: Element) -> None:
        add_text(parent.text)
        for child in parent:
            if is_inline(child):
                blocks[-1].append(copy(child))
                blocks[-1][-1].tail = None
            elif child.tag in WRAPPERS and not attributes(child):
                blocks.append(Element("p"))
                add(child)
                blocks.append(Element("p"))
            else:
                blocks.extend((child, Element("p")))
            add_text(child.tail)

    add(element)
    return [b for b in blocks if b.tag != "p" or len(b) or SPACE.sub("", b.text or "")]


def is_inline(element: Element) -> bool:
    """Tell whether an element and all its descendants are inline."""
    return all(part.tag in INLINE for part in element.iter())


def attributes(element: Element) -> dict[str, str]:
    """Return the attributes of an element, without the presentational ones."""
    return {name: value for name, value in element.items() if not PRESENTATIONAL.fullmatch(name)}


class _NotMarkdownError(Exception):
    """A block, or one in it, cannot be written as Markdown in the form that was tried."""


@dataclass
class Writer:
    """Writes blocks. The output never contains any of the delimiters of templates."""

    delimiters: Collection[str]

    words: set[str] = field(default_factory=set)
    """The abbreviations of the page, which are escaped in blocks that are not plain."""

    ids: set[str] = field(default_factory=set)
    """The ids that their headings have to state."""

    def write(self, block: Element, plain: bool, nested: bool) -> list[str]:
        """Return the lines of a block, which need an empty line before and after them.

        With `plain`, it is plain Markdown if possible. A `nested` block is one that the caller
        indents. Raises ValueError for one that needs HTML, and if a delimiter remains.
        """
        for form in (True, False) if plain else (False,):
            with suppress(_NotMarkdownError):
                lines = self._markdown(block, depth=int(nested), plain=form)
                if self._has_no_delimiter("\n".join(lines)):
                    return lines
        if nested:
            raise ValueError(
                f"<{block.tag}> is HTML, which cannot stand where Markdown is indented; put the "
                "marker between empty lines, outside of lists, quotes and tabs"
            )
        html = self._html(block, _IN_HTML)
        # Markdown takes a line that begins with an inline element for a paragraph.
        html = f"<div>{html}</div>" if block.tag in INLINE else html
        if self._has_no_delimiter(html):
            return html.split("\n")
        raise ValueError(
            f"<{block.tag}> cannot be written without what a plugin reads as a template"
        )

    def title(self, text: str) -> str:
        """Return a text as HTML for a context that is not converted as Markdown."""
        return self._escape(text, f"[&<>{{]|{_INVISIBLE}")

    def _markdown(self, block: Element, depth: int, *, plain: bool) -> list[str]:
        is_line = all(map(is_inline, block)) and not attributes(block).keys() - {"id"}
        if is_line and re.fullmatch("h[1-6]", block.tag):
            anchor = f" {{ #{block.get('id')} }}" if block.get("id") in self.ids else ""
            return [f"{'#' * int(block.tag[1])} {self._line(block, plain=plain)}{anchor}"]
        if (plain or depth) and depth < _MAX_DEPTH and not attributes(block):
            match block.tag:
                case "p" if is_line and len(line := self._line(block, plain=plain)) <= _MAX_LINE:
                    return [line]
                case "hr":
                    return ["***"]  # dashes could be read as front matter
                case "pre":
                    return _code(block, nested=bool(depth))
                case "ul" | "ol":
                    return self._list(block, depth, plain=plain)
                case "blockquote":
                    parts = [self._markdown(part, depth + 1, plain=plain) for part in flow(block)]
                    return [f"> {line}".rstrip() for line in join(parts)]
                case "table":
                    return self._table(block, plain=plain)
        raise _NotMarkdownError

    def _list(self, block: Element, depth: int, *, plain: bool) -> list[str]:
        written = []
        for number, item in enumerate(block, 1):
            parts = flow(item)
            tags = [part.tag for part in parts]
            if item.tag != "li" or attributes(item) or not re.match("p|h[1-6]", "".join(tags)):
                raise _NotMarkdownError
            blocks = [self._markdown(part, depth + 1, plain=plain) for part in parts]
            is_tight = tags in (["p", "ul"], ["p", "ol"])
            first, *rest = [*blocks[0], *blocks[1]] if is_tight else join(blocks)
            marker = f"{number}." if block.tag == "ol" else "-"
            written.append([f"{marker} {first}", *(f"    {line}".rstrip() for line in rest)])
        if any("" in lines for lines in written):
            written[1:] = [["", *lines] for lines in written[1:]]
        return [line for lines in written for line in lines]

    def _table(self, block: Element, *, plain: bool) -> list[str]:
        parts = [part for part in block.iter() if part.tag not in INLINE]
        rows = list(block.iter("tr"))
        width = len(rows[0]) if rows else 0
        body_rows = ["tr", *["td"] * width] * (len(rows) - 1)
        tags = ["table", "thead", "tr", *["th"] * width, "tbody", *body_rows]
        if [part.tag for part in parts] != tags or any(map(attributes, parts)) or not body_rows:
            raise _NotMarkdownError
        head, *body = (
            f"| {' | '.join(self._line(cell, plain=plain) for cell in row)} |" for row in rows
        )
        return [head, f"|{' --- |' * width}", *body]

    def _line(self, block: Element, *, plain: bool) -> str:
        """Return the inline content of a block on one line."""
        line = _inline(block) if plain else self._content(block, _IN_LINE)
        return SPACE.sub(" ", line).strip(" ")

    def _html(self, element: Element, pattern: str) -> str:
        """Return an element as HTML, with what matches `pattern` in its text escaped."""
        attrs = (
            f' {name}="{self._escape(value, _IN_ATTRIBUTE)}"'
            for name, value in attributes(element).items()
        )
        start = f"<{element.tag}{''.join(attrs)}>"
        if element.tag in VOID_TAGS:
            return start
        inner = self._content(element, _IN_PRE if element.tag == "pre" else pattern)
        return inner if start == "<span>" else f"{start}{inner}</{element.tag}>"

    def _content(self, element: Element, pattern: str) -> str:
        parts = [self._escape(element.text, pattern)]
        for child in element:
            parts += [self._html(child, pattern), self._escape(child.tail, pattern)]
        return "".join(parts)

    def _escape(self, text: str | None, pattern: str) -> str:
        """Escape what matches `pattern`, and the first character of delimiters and words."""
        delimiters = "|".join(map(re.escape, self.delimiters))
        words = "|".join(map(re.escape, self.words)) or "(?!)"
        starts = rf"(?={delimiters}).|(?<![^\W\d_])(?=(?:{words})(?![^\W\d_]))."
        if pattern in (_IN_HTML, _IN_LINE):
            text = SPACE.sub(" ", text or "")
        return re.sub(f"{starts}|{pattern}", _entity, text or "")

    def _has_no_delimiter(self, text: str) -> bool:
        return not any(delimiter in text for delimiter in self.delimiters)


def join(blocks: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of blocks, with comments that keep adjacent lists and quotes apart."""
    joined: list[str] = []
    preceding = ""
    for lines in blocks:
        lists = LIST_ITEM.match(preceding) and re.match(rf"{LIST_ITEM.pattern}|    ", lines[0])
        quotes = preceding[:1] == lines[0][:1] == ">"
        joined += ["", "<!-- -->", ""] if lists or quotes else [""] if joined else []
        joined += lines
        preceding = lines[0]
    return joined


def _code(block: Element, *, nested: bool) -> list[str]:
    """Return a `<pre>` as a code block: with a fence, or nested with an indentation."""
    code = block[0] if len(block) == 1 else block
    text = (code.text or "").rstrip("\n")
    if code.tag != "code" or len(code) or attributes(code):
        raise _NotMarkdownError
    if nested:
        return [f"    {line}".rstrip() for line in text.split("\n")]
    fence = max(["```", *(f"{ticks}`" for ticks in re.findall("`+", text))], key=len)
    return [fence, *text.split("\n"), fence]


def _inline(element: Element) -> str:
    """Return the content of an element as plain Markdown."""
    parts = [_plain(element.text, is_start=element.tag == "p")]
    for child in element:
        parts += [_markup(child), _plain(child.tail)]
    return "".join(parts)


def _plain(text: str | None, *, is_start: bool = False) -> str:
    text = SPACE.sub(" ", text or "")
    if _SPECIAL.search(text if is_start else f"x{text}"):
        raise _NotMarkdownError
    return re.sub(_INVISIBLE, _entity, text)


def _markup(element: Element) -> str:
    """Return an inline element as Markdown, or as HTML if Markdown has nothing for it."""
    tag, attrs = SYNONYMS.get(element.tag, element.tag), attributes(element)
    if not all(_PLAIN_URL.fullmatch(v) or _PLAIN_TITLE.fullmatch(v) for v in attrs.values()):
        raise _NotMarkdownError
    text = SPACE.sub(" ", element.text or "")
    match [tag, *attrs]:
        case ["strong" | "em"]:
            marks = "**" if tag == "strong" else "*"
            inner = _inline(element)
            start = inner[: len(inner) - len(inner.lstrip(" "))]
            return f"{start}{marks}{inner.strip(' ')}{marks}{inner[len(inner.rstrip(' ')) :]}"
        case ["code"] if not len(element) and text == text.strip() and "`" not in text:
            return f"`{text}`"
        case ["a", "href"]:
            return f"[{_inline(element)}]({attrs['href']})"
        case ["a", "href", "title"]:
            return f'[{_inline(element)}]({attrs["href"]} "{attrs["title"]}")'
        case ["img", "src", "alt"] | ["img", "alt", "src"]:
            return f"![{attrs['alt']}]({attrs['src']})"
        case ["span"]:
            return _inline(element)
    start = "".join([tag, *(f' {name}="{value}"' for name, value in attrs.items())])
    return f"<{start}>" if tag in VOID_TAGS else f"<{start}>{_inline(element)}</{tag}>"


def _entity(match: re.Match[str]) -> str:
    return _NAMED.get(match[0]) or f"&#x{ord(match[0]):x};"

"""Write the elements of an article as Markdown that no extension or plugin misinterprets.

Each block has an escaping level. Level 0 escapes as little as possible; 1 also what typographic
and short code extensions look for; 2 all punctuation; 3 writes HTML. At all levels, the delimiters
of templates and includes are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from .sanitizer import VOID_TAGS

HIGHEST_LEVEL = 3

DELIMITERS = frozenset("{{ {% {# {! 8< :::".split())
"""The default opening delimiters of templates and includes."""

INLINE = frozenset(
    "a abbr b bdi bdo br button cite code data del dfn em i img input ins kbd label mark q rp rt "
    "ruby s samp small span strong sub sup svg time u var wbr".split()
)
WRAPPERS = frozenset("article section header footer div".split())
"""Elements that only group others."""

LIST_ITEM = re.compile(r"(?:[-+*]|\d+[.)])[ \t]")

_PRESENTATIONAL = re.compile(r"class|style|rel|loading|role|tabindex|ai-disclosure|aria-.*")
_VISIBLE_WITHOUT_TEXT = frozenset("br hr img input svg wbr".split())
_MAX_DEPTH = 5
_MAX_LINE = 20_000  # Python-Markdown takes quadratic time in its length

_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\xa0": "&nbsp;"}
_INVISIBLE = "\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
_PUNCTUATION = r"!-/:-@\[-`{-~"
_UNDERSCORE = r"(?<![^\W_])_|_(?![^\W_])"
_MINIMAL = (
    rf"[<{{`{_INVISIBLE}]|&(?=\#?\w+;)"
    rf"|(?P<escape>[\\\[\]]|(?<! )\*|\*(?! )|{_UNDERSCORE})"
)
_REPEATED = "|".join(rf"\{c}(?=\{c})|(?<=\{c})\{c}" for c in ",.;:!?()-")
_TYPOGRAPHIC = (
    rf"[^\w\s,.;:!?()\-\x80-\U0010ffff]|[{_INVISIBLE}]|{_UNDERSCORE}|{_REPEATED}|(?<=\w)[.:](?=\w)"
)
_ALL_PUNCTUATION = rf"[{_PUNCTUATION}{_INVISIBLE}]|\d(?=[a-z])"
_HTML_TEXT = f"[&<>{{{_INVISIBLE}]"
_ATTRIBUTE = rf"[^\w ,./:?=%\-]|[{_INVISIBLE}]"
_LIST_NUMBER = re.compile(r"(\d+)[.)](?=\s|$)")
_PRESERVED_SPACE = r"[\t\n\r]|(?<= ) "
_NO_MARKUP_AFTER = ("*", "`", "\\")
_PLAIN_TEXT = re.compile(r"(?:[\w,.;:-]++(?: (?! ))?)*")
_PLAIN_URL = re.compile(r"(?!.*&\#?\w+;)[\w/:?#@!$&+,;=.%~()-]+")
SPACE = re.compile(r"[ \t\n\r\f]+")


def flow(element: Element, unwrap: Collection[str] = WRAPPERS) -> list[Element]:
    """Return the blocks in `element`, with bare text in paragraphs and without empty paragraphs.

    Elements in `unwrap` that have no attributes are replaced by their content.
    """
    flow = _Flow(unwrap)
    flow.add(element)
    flow.end_paragraph()
    return flow.blocks


class _Flow:
    """Collects blocks, and wraps the inline content between them in paragraphs."""

    def __init__(self, unwrap: Collection[str]) -> None:
        self.blocks: list[Element] = []
        self._unwrap = unwrap
        self._paragraph = Element("p")

    def add(self, parent: Element) -> None:
        """Add the content of an element. Call end_paragraph() after the last one."""
        self._add_text(parent.text)
        for child in parent:
            if is_inline(child):
                copy = Element(child.tag, child.attrib)
                copy.text = child.text
                copy.extend(child)
                self._paragraph.append(copy)
            else:
                self._add_block(child)
            self._add_text(child.tail)

    def end_paragraph(self) -> None:
        """End the current paragraph, if there is one."""
        if has_content(self._paragraph):
            self.blocks.append(self._paragraph)
        self._paragraph = Element("p")

    def _add_block(self, block: Element) -> None:
        self.end_paragraph()
        if block.tag in self._unwrap and not attributes(block):
            self.add(block)
        elif block.tag != "p" or has_content(block):
            self.blocks.append(block)
        self.end_paragraph()

    def _add_text(self, text: str | None) -> None:
        if text and len(self._paragraph):
            last = self._paragraph[-1]
            last.tail = (last.tail or "") + text
        elif text:
            self._paragraph.text = (self._paragraph.text or "") + text


def is_inline(element: Element) -> bool:
    """Tell whether an element and all its descendants are inline."""
    return all(part.tag in INLINE for part in element.iter())


def has_content(element: Element) -> bool:
    """Tell whether an element shows anything."""
    return any(part.tag in _VISIBLE_WITHOUT_TEXT for part in element.iter()) or any(
        text.strip(" \t\n\r\f") for text in element.itertext()
    )


def attributes(element: Element) -> dict[str, str]:
    """Return the attributes of an element, without the presentational ones."""
    return {name: value for name, value in element.items() if not _PRESENTATIONAL.fullmatch(name)}


class _NeedsHTMLError(Exception):
    """A block must be written as HTML, and so must the blocks that contain it."""


@dataclass
class Writer:
    """Writes blocks as Markdown.

    The output never contains any of the `delimiters`, and escapes the `words`, which the site has
    defined as abbreviations.
    """

    delimiters: Collection[str] = DELIMITERS
    words: set[str] = field(default_factory=set)

    def write(self, block: Element, level: int, *, nested: bool = False) -> list[str]:
        """Return the lines of a block at `level`, or at the lowest one above that works.

        They need an empty line before and after them. A `nested` block is one that the caller
        indents: its code is not fenced. Raises ValueError if a delimiter remains at all levels.
        """
        for attempt in range(level, HIGHEST_LEVEL + 1):
            try:
                lines = self._block(block, attempt, 1 if nested else 0)
            except _NeedsHTMLError:
                html = self._html(block, attempt)
                # Markdown takes a line that begins with an inline element for a paragraph.
                lines = [f"<div>{html}</div>" if block.tag in INLINE else html]
            if self._has_no_delimiter("\n".join(lines)):
                return lines
        raise ValueError(
            f"<{block.tag}> cannot be written without what a plugin reads as a template"
        )

    def title(self, text: str) -> str:
        """Return a text as HTML for a context that is not converted as Markdown."""
        return self._escape(text, _HTML_TEXT)

    def _block(self, block: Element, level: int, depth: int) -> list[str]:
        is_line = _has_only_inline(block) and not attributes(block)
        if is_line and re.fullmatch("h[1-6]", block.tag):
            # Headings in HTML are missing from the table of contents.
            return [f"{'#' * int(block.tag[1])} {self._line(block, min(level, 2))}"]
        if level < HIGHEST_LEVEL and depth < _MAX_DEPTH and not attributes(block):
            match block.tag:
                case "p" if is_line and len(line := self._line(block, level)) <= _MAX_LINE:
                    return [line]
                case "hr":
                    return ["***"]  # dashes could be read as front matter
                case "pre":
                    return self._code(block, level, depth)
                case "ul" | "ol":
                    return self._list(block, level, depth)
                case "blockquote":
                    inner = join(self._block(part, level, depth + 1) for part in flow(block))
                    return [f"> {line}".rstrip() for line in inner]
                case "table":
                    return self._table(block, level)
        raise _NeedsHTMLError

    def _code(self, block: Element, level: int, depth: int) -> list[str]:
        code = block[0] if len(block) == 1 else Element("none")
        if code.tag != "code" or len(code) or attributes(code):
            raise _NeedsHTMLError
        text = (code.text or "").rstrip("\n")
        around = f"{block.text or ''}{code.tail or ''}".strip()
        if around or not self._has_no_delimiter(text) or "<!--" in text or (level and not depth):
            raise _NeedsHTMLError
        lines = text.split("\n")
        if depth:
            return [f"    {line}".rstrip() for line in lines]
        longest = max(map(len, re.findall("`+", text)), default=0)
        fence = "`" * max(longest + 1, 3)
        return [fence, *lines, fence]

    def _list(self, block: Element, level: int, depth: int) -> list[str]:
        if any(item.tag != "li" or attributes(item) for item in block):
            raise _NeedsHTMLError
        written = []
        for number, parts in enumerate(map(flow, block), 1):
            if not parts or not re.fullmatch("p|h[1-6]", parts[0].tag):
                raise _NeedsHTMLError
            blocks = [self._block(part, level, depth + 1) for part in parts]
            is_tight = [part.tag for part in parts] in (["p", "ul"], ["p", "ol"])
            first, *rest = [*blocks[0], *blocks[1]] if is_tight else join(blocks)
            marker = f"{number}." if block.tag == "ol" else "-"
            written.append([f"{marker} {first}", *(f"    {line}".rstrip() for line in rest)])
        if any("" in lines for lines in written):
            written[1:] = [["", *lines] for lines in written[1:]]
        return [line for lines in written for line in lines]

    def _table(self, block: Element, level: int) -> list[str]:
        rows = list(block.iter("tr"))
        cells = [cell for row in rows for cell in row]
        width = len(rows[0]) if rows else 0
        parts = [*block, *rows, *cells]
        tags = [part.tag for part in parts]
        plain = ["thead", "tbody", *["tr"] * len(rows), *["th"] * width]
        if (
            tags != [*plain, *["td"] * (width * (len(rows) - 1))]
            or not (width and len(block[0]) == 1 and len(block[1]))
            or any(len(row) != width for row in rows)
            or any(attributes(part) for part in parts)
            or not all(map(_has_only_inline, cells))
        ):
            raise _NeedsHTMLError
        head, *body = (
            f"| {' | '.join(self._line(cell, level, in_cell=True) for cell in row)} |"
            for row in rows
        )
        return [head, f"|{' --- |' * width}", *body]

    def _line(self, block: Element, level: int, *, in_cell: bool = False) -> str:
        """Return the inline content of a block on one line."""
        line = re.sub("  +", " ", self._inline(block, level, in_cell=in_cell)).strip(" ")
        text = (block.text or "").lstrip(" \t\n\r\f")
        if text and (marker := _LIST_NUMBER.match(line)):
            line = f"{marker[1]}{_entity(marker[0][-1])}{line[marker.end() :]}"
        elif text and text[0] == line[0] and text[0] in "#-+=~|!?:>%@/^$;":
            line = _entity(line[0]) + line[1:]
        if block.tag[0] == "h" and line.endswith("#"):
            line = f"{line[:-1]}{_entity('#')}"
        return line

    def _inline(self, element: Element, level: int, *, in_cell: bool, ancestors: str = "") -> str:
        parts = [self._text(element.text, level, in_cell=in_cell)]
        for child in element:
            preceding = parts[-1]
            markup = self._element(child, level, preceding, in_cell=in_cell, ancestors=ancestors)
            if markup.startswith("[") and preceding.endswith("!"):
                parts[-1] = f"{preceding[:-1]}{_entity('!')}"
            if markup:
                parts.append(markup)
            if text := self._text(child.tail, level, in_cell=in_cell):
                parts.append(text)
        return "".join(parts)

    def _element(
        self, element: Element, level: int, preceding: str, *, in_cell: bool, ancestors: str
    ) -> str:
        """Return an inline element, given the text `preceding` it and the tags of its ancestors."""
        tag = {"b": "strong", "i": "em"}.get(element.tag, element.tag)
        attrs = attributes(element)
        if tag == "img":
            return self._image(element, level)
        if tag in VOID_TAGS:
            return f"<{tag}>"
        inner = self._inline(element, level, in_cell=in_cell, ancestors=f"{ancestors} {tag}")
        if not has_content(element) or (tag == "span" and not attrs):
            return inner
        written: str | None = None
        if level < 2 and preceding[-1:] not in _NO_MARKUP_AFTER:
            if tag in ("strong", "em") and not attrs:
                written = self._emphasis(tag, inner, ancestors)
            elif tag == "code" and not attrs and not len(element):
                written = self._code_span(element.text or "", in_cell=in_cell)
            elif tag == "a":
                written = self._link(attrs, inner)
        return written or f"{self._start_tag(tag, attrs, level)}{inner}</{tag}>"

    def _emphasis(self, tag: str, inner: str, ancestors: str) -> str | None:
        if "strong" in ancestors or "em" in ancestors:
            return None
        marker = "**" if tag == "strong" else "*"
        text = inner.lstrip(" ")
        core = text.rstrip(" ")
        return f"{' ' * (len(inner) - len(text))}{marker}{core}{marker}{text[len(core) :]}"

    def _code_span(self, text: str, *, in_cell: bool) -> str | None:
        text = SPACE.sub(" ", text)
        is_plain = text == text.strip() and self._has_no_delimiter(text)
        is_plain = is_plain and not re.search(r"[`\\]|<!--" + (r"|\|" if in_cell else ""), text)
        return f"`{text}`" if is_plain else None

    def _link(self, attrs: dict[str, str], inner: str) -> str | None:
        url, title = attrs.get("href", ""), attrs.get("title", "")
        if not (_PLAIN_URL.fullmatch(url) and _PLAIN_TEXT.fullmatch(title) and inner.strip()):
            return None
        if attrs.keys() - {"href", "title"} or not self._has_no_delimiter(f"{url} {title}"):
            return None
        if "(" in url or ")" in url:
            url = f"<{url}>"
        return f'[{inner}]({url} "{title}")' if title else f"[{inner}]({url})"

    def _image(self, element: Element, level: int) -> str:
        attrs = attributes(element)
        source, text = attrs.get("src", ""), attrs.get("alt", "")
        is_plain = (
            _PLAIN_URL.fullmatch(source) and _PLAIN_TEXT.fullmatch(text) and "(" not in source
        )
        if (
            level < 2
            and is_plain
            and attrs.keys() <= {"src", "alt"}
            and self._has_no_delimiter(source)
        ):
            return f"![{text}]({source})"
        return self._start_tag("img", attrs, level)

    def _html(self, element: Element, level: int, *, verbatim: bool = False) -> str:
        """Return an element as HTML on one line."""
        verbatim = verbatim or element.tag == "pre"
        start = self._start_tag(element.tag, attributes(element), level)
        if element.tag in VOID_TAGS:
            return start
        parts = [start, self._html_text(element.text, level, verbatim=verbatim)]
        for child in element:
            parts.append(self._html(child, level, verbatim=verbatim))
            parts.append(self._html_text(child.tail, level, verbatim=verbatim))
        return f"{''.join(parts)}</{element.tag}>"

    def _html_text(self, text: str | None, level: int, *, verbatim: bool) -> str:
        text = text or ""
        pattern = _ALL_PUNCTUATION if level == HIGHEST_LEVEL else _HTML_TEXT
        if verbatim:
            return self._escape(text, rf"{pattern}|[\t\n\r]")
        return self._escape(SPACE.sub(" ", text), pattern)

    def _start_tag(self, tag: str, attrs: dict[str, str], level: int) -> str:
        pattern = _ATTRIBUTE if level < 2 else _ALL_PUNCTUATION
        values = [
            f' {name}="{self._escape(value, rf"{pattern}|{_PRESERVED_SPACE}")}"'
            for name, value in attrs.items()
        ]
        return f"<{tag}{''.join(values)}>"

    def _text(self, text: str | None, level: int, *, in_cell: bool) -> str:
        """Return escaped text of a paragraph."""
        pattern = (_MINIMAL, _TYPOGRAPHIC, _ALL_PUNCTUATION, _ALL_PUNCTUATION)[level]
        written = self._escape(SPACE.sub(" ", text or ""), pattern)
        return written.replace("|", _entity("|")) if in_cell else written

    def _escape(self, text: str, pattern: str) -> str:
        """Escape what matches `pattern`, and the first character of delimiters and words."""
        delimiters = "|".join(map(re.escape, self.delimiters))
        words = "|".join(map(re.escape, self.words)) or "(?!)"
        unsafe_starts = rf"(?={delimiters}).|(?<![^\W\d_])(?=(?:{words})(?![^\W\d_]))."
        return re.sub(
            f"{unsafe_starts}|{pattern}",
            lambda match: f"\\{match[0]}" if match.lastgroup == "escape" else _entity(match[0]),
            text,
        )

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


def _has_only_inline(block: Element) -> bool:
    return all(is_inline(child) for child in block)


def _entity(character: str) -> str:
    return _NAMED.get(character) or f"&#x{ord(character):x};"

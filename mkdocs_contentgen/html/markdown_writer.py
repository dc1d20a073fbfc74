"""Writing the elements of an article as Markdown that no extension or plugin takes for its own.

Each block has a level of caution: 0 is for reading, 1 spells out what typography and short forms
look for, 2 all punctuation, 3 is HTML. Templates and includes get nothing to read at any level.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from .sanitizer import VOID_TAGS

HIGHEST_LEVEL = 3

DELIMITERS = frozenset("{{ {% {# {! 8< :::".split())
"""What templates and includes begin with, where no option says otherwise."""

INLINE = frozenset(
    "a abbr b bdi bdo br button cite code data del dfn em i img input ins kbd label mark q rp rt "
    "ruby s samp small span strong sub sup svg time u var wbr".split()
)
WRAPPERS = frozenset("article section header footer div".split())
"""Elements that group others and mean nothing to a reader."""

LIST_ITEM = re.compile(r"(?:[-+*]|\d+[.)])[ \t]")

_APPEARANCE = re.compile(r"class|style|rel|loading|role|tabindex|ai-disclosure|aria-.*")
_MEDIA = frozenset("br hr img input svg wbr".split())
_MAX_DEPTH = 5
_MAX_LINE = 20_000  # Python-Markdown takes time that grows with its square

_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\xa0": "&nbsp;"}
_INVISIBLE = "\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
_PUNCTUATION = r"!-/:-@\[-`{-~"
_UNDERSCORE = r"(?<![^\W_])_|_(?![^\W_])"
_READABLE = (
    rf"[<{{`{_INVISIBLE}]|&(?=\#?\w+;)"
    rf"|(?P<escape>[\\\[\]]|(?<! )\*|\*(?! )|{_UNDERSCORE})"
)
_REPEATED = "|".join(rf"\{c}(?=\{c})|(?<=\{c})\{c}" for c in ",.;:!?()-")
_TYPOGRAPHIC = (
    rf"[^\w\s,.;:!?()\-\x80-\U0010ffff]|[{_INVISIBLE}]|{_UNDERSCORE}|{_REPEATED}|(?<=\w)[.:](?=\w)"
)
_ALL = rf"[{_PUNCTUATION}{_INVISIBLE}]|\d(?=[a-z])"
_HTML_TEXT = f"[&<>{{{_INVISIBLE}]"
_ATTRIBUTE = rf"[^\w ,./:?=%\-]|[{_INVISIBLE}]"
_NUMBER_OF_ITEM = re.compile(r"(\d+)[.)](?=\s|$)")
_KEPT_SPACE = r"[\t\n\r]|(?<= ) "
_JOINED = ("*", "`", "\\")
_PLAIN = re.compile(r"(?:[\w,.;:-]+(?: (?! ))?)*")
_ADDRESS = re.compile(r"(?!.*&\#?\w+;)[\w/:?#@!$&+,;=.%~()-]+")
SPACE = re.compile(r"[ \t\n\r\f]+")


def flow(element: Element, unwrap: Collection[str] = WRAPPERS) -> list[Element]:
    """Return the blocks in `element`: without groups, bare text in paragraphs, no empty ones."""
    flow = _Flow(unwrap)
    flow.add(element)
    flow.end_paragraph()
    return flow.blocks


class _Flow:
    """Collects blocks, with a paragraph around what stands between them."""

    def __init__(self, unwrap: Collection[str]) -> None:
        self.blocks: list[Element] = []
        self._unwrap = unwrap
        self._paragraph = Element("p")

    def add(self, parent: Element) -> None:
        """Add what is in an element; `end_paragraph()` has to follow."""
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
        """Let what follows begin a new paragraph."""
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
    """Tell whether an element can stand in a paragraph, with all that is in it."""
    return all(part.tag in INLINE for part in element.iter())


def has_content(element: Element) -> bool:
    """Tell whether an element shows anything."""
    return any(part.tag in _MEDIA for part in element.iter()) or any(
        text.strip(" \t\n\r\f") for text in element.itertext()
    )


def attributes(element: Element) -> dict[str, str]:
    """Return the attributes that say something, apart from how an element looks."""
    return {name: value for name, value in element.items() if not _APPEARANCE.fullmatch(name)}


class _OnlyHTMLError(Exception):
    """A block cannot be said in Markdown; nor can those around it, since HTML is no block there."""


@dataclass
class Writer:
    """Writes blocks as Markdown.

    `delimiters` are texts that stand nowhere in what is written, and `words` those that the site
    has abbreviations of.
    """

    delimiters: Collection[str] = DELIMITERS
    words: set[str] = field(default_factory=set)

    def write(self, block: Element, level: int, *, nested: bool = False) -> list[str]:
        """Return the lines of a block, which need an empty line before and behind them.

        A `nested` one is to be indented: there, a fence may be no code. Raises ValueError for a
        block that has a delimiter at all levels.
        """
        for cautious in range(level, HIGHEST_LEVEL + 1):
            try:
                lines = self._block(block, cautious, 1 if nested else 0)
            except _OnlyHTMLError:
                html = self._html(block, cautious)
                # What begins with an inline element is no block to Markdown.
                lines = [f"<div>{html}</div>" if block.tag in INLINE else html]
            if self._is_clear("\n".join(lines)):
                return lines
        raise ValueError(
            f"<{block.tag}> cannot be written without what a plugin reads as a template"
        )

    def title(self, text: str) -> str:
        """Return a text as HTML for a place where no Markdown is read."""
        return self._spelled(text, _HTML_TEXT)

    def _block(self, block: Element, level: int, depth: int) -> list[str]:
        is_line = _holds_inline(block) and not attributes(block)
        if is_line and re.fullmatch("h[1-6]", block.tag):
            # As HTML, it would be in no table of contents.
            return [f"{'#' * int(block.tag[1])} {self._line(block, min(level, 2))}"]
        if level < HIGHEST_LEVEL and depth < _MAX_DEPTH and not attributes(block):
            match block.tag:
                case "p" if is_line and len(line := self._line(block, level)) <= _MAX_LINE:
                    return [line]
                case "hr":
                    return ["***"]  # dashes might begin a front matter
                case "pre":
                    return self._code(block, level, depth)
                case "ul" | "ol":
                    return self._list(block, level, depth)
                case "blockquote":
                    inner = join(self._block(part, level, depth + 1) for part in flow(block))
                    return [f"> {line}".rstrip() for line in inner]
                case "table":
                    return self._table(block, level)
        raise _OnlyHTMLError

    def _code(self, block: Element, level: int, depth: int) -> list[str]:
        code = block[0] if len(block) == 1 else Element("none")
        if code.tag != "code" or len(code) or attributes(code):
            raise _OnlyHTMLError
        text = (code.text or "").rstrip("\n")
        around = f"{block.text or ''}{code.tail or ''}".strip()
        if around or not self._is_clear(text) or "<!--" in text or (level and not depth):
            raise _OnlyHTMLError
        lines = text.split("\n")
        if depth:
            return [f"    {line}".rstrip() for line in lines]
        longest = max(map(len, re.findall("`+", text)), default=0)
        fence = "`" * max(longest + 1, 3)
        return [fence, *lines, fence]

    def _list(self, block: Element, level: int, depth: int) -> list[str]:
        if any(item.tag != "li" or attributes(item) for item in block):
            raise _OnlyHTMLError
        written = []
        for number, parts in enumerate(map(flow, block), 1):
            if not parts or not re.fullmatch("p|h[1-6]", parts[0].tag):
                raise _OnlyHTMLError
            blocks = [self._block(part, level, depth + 1) for part in parts]
            is_tight = [part.tag for part in parts] in (["p", "ul"], ["p", "ol"])
            first, *rest = [*blocks[0], *blocks[1]] if is_tight else join(blocks)
            mark = f"{number}." if block.tag == "ol" else "-"
            written.append([f"{mark} {first}", *(f"    {line}".rstrip() for line in rest)])
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
            or not all(map(_holds_inline, cells))
        ):
            raise _OnlyHTMLError
        head, *body = (
            f"| {' | '.join(self._line(cell, level, in_cell=True) for cell in row)} |"
            for row in rows
        )
        return [head, f"|{' --- |' * width}", *body]

    def _line(self, block: Element, level: int, *, in_cell: bool = False) -> str:
        """Write what is in a block on one line."""
        line = re.sub("  +", " ", self._inline(block, level, in_cell=in_cell)).strip(" ")
        text = (block.text or "").lstrip(" \t\n\r\f")
        if text and (mark := _NUMBER_OF_ITEM.match(line)):
            line = f"{mark[1]}{_entity(mark[0][-1])}{line[mark.end() :]}"
        elif text and text[0] == line[0] and text[0] in "#-+=~|!?:>%@/^$;":
            line = _entity(line[0]) + line[1:]
        if block.tag[0] == "h" and line.endswith("#"):
            line = f"{line[:-1]}{_entity('#')}"
        return line

    def _inline(self, element: Element, level: int, *, in_cell: bool, within: str = "") -> str:
        parts = [self._text(element.text, level, in_cell=in_cell)]
        for child in element:
            before = parts[-1]
            piece = self._element(child, level, before, in_cell=in_cell, within=within)
            if piece.startswith("[") and before.endswith("!"):
                parts[-1] = f"{before[:-1]}{_entity('!')}"
            if piece:
                parts.append(piece)
            if text := self._text(child.tail, level, in_cell=in_cell):
                parts.append(text)
        return "".join(parts)

    def _element(
        self, element: Element, level: int, before: str, *, in_cell: bool, within: str
    ) -> str:
        """Write an element of a paragraph, behind the text `before`, in the tags `within`."""
        tag = {"b": "strong", "i": "em"}.get(element.tag, element.tag)
        said = attributes(element)
        if tag == "img":
            return self._image(element, level)
        if tag in VOID_TAGS:
            return f"<{tag}>"
        inner = self._inline(element, level, in_cell=in_cell, within=f"{within} {tag}")
        if not has_content(element) or (tag == "span" and not said):
            return inner
        written: str | None = None
        if level < 2 and before[-1:] not in _JOINED:
            if tag in ("strong", "em") and not said:
                written = self._emphasis(tag, inner, within)
            elif tag == "code" and not said and not len(element):
                written = self._code_span(element.text or "", in_cell=in_cell)
            elif tag == "a":
                written = self._link(said, inner)
        return written or f"{self._start(tag, said, level)}{inner}</{tag}>"

    def _emphasis(self, tag: str, inner: str, within: str) -> str | None:
        if "strong" in within or "em" in within:
            return None
        mark = "**" if tag == "strong" else "*"
        text = inner.lstrip(" ")
        behind = text.rstrip(" ")
        return f"{' ' * (len(inner) - len(text))}{mark}{behind}{mark}{text[len(behind) :]}"

    def _code_span(self, text: str, *, in_cell: bool) -> str | None:
        text = SPACE.sub(" ", text)
        is_plain = text == text.strip() and self._is_clear(text)
        is_plain = is_plain and not re.search(r"[`\\]|<!--" + (r"|\|" if in_cell else ""), text)
        return f"`{text}`" if is_plain else None

    def _link(self, said: dict[str, str], inner: str) -> str | None:
        address, title = said.get("href", ""), said.get("title", "")
        if not (_ADDRESS.fullmatch(address) and _PLAIN.fullmatch(title) and inner.strip()):
            return None
        if said.keys() - {"href", "title"} or not self._is_clear(f"{address} {title}"):
            return None
        if "(" in address or ")" in address:
            address = f"<{address}>"
        return f'[{inner}]({address} "{title}")' if title else f"[{inner}]({address})"

    def _image(self, element: Element, level: int) -> str:
        said = attributes(element)
        source, text = said.get("src", ""), said.get("alt", "")
        is_plain = _ADDRESS.fullmatch(source) and _PLAIN.fullmatch(text) and "(" not in source
        if level < 2 and is_plain and said.keys() <= {"src", "alt"} and self._is_clear(source):
            return f"![{text}]({source})"
        return self._start("img", said, level)

    def _html(self, element: Element, level: int, *, verbatim: bool = False) -> str:
        """Write an element as HTML on one line."""
        verbatim = verbatim or element.tag == "pre"
        start = self._start(element.tag, attributes(element), level)
        if element.tag in VOID_TAGS:
            return start
        parts = [start, self._html_text(element.text, level, verbatim=verbatim)]
        for child in element:
            parts.append(self._html(child, level, verbatim=verbatim))
            parts.append(self._html_text(child.tail, level, verbatim=verbatim))
        return f"{''.join(parts)}</{element.tag}>"

    def _html_text(self, text: str | None, level: int, *, verbatim: bool) -> str:
        text = text or ""
        pattern = _ALL if level == HIGHEST_LEVEL else _HTML_TEXT
        if verbatim:
            return self._spelled(text, rf"{pattern}|[\t\n\r]")
        return self._spelled(SPACE.sub(" ", text), pattern)

    def _start(self, tag: str, said: dict[str, str], level: int) -> str:
        pattern = _ATTRIBUTE if level < 2 else _ALL
        values = [
            f' {name}="{self._spelled(value, rf"{pattern}|{_KEPT_SPACE}")}"'
            for name, value in said.items()
        ]
        return f"<{tag}{''.join(values)}>"

    def _text(self, text: str | None, level: int, *, in_cell: bool) -> str:
        """Write text of a paragraph."""
        pattern = (_READABLE, _TYPOGRAPHIC, _ALL, _ALL)[level]
        written = self._spelled(SPACE.sub(" ", text or ""), pattern)
        return written.replace("|", _entity("|")) if in_cell else written

    def _spelled(self, text: str, pattern: str) -> str:
        """Write as entities what matches, and the beginnings of delimiters and guarded words."""
        delimiters = "|".join(map(re.escape, self.delimiters))
        words = "|".join(map(re.escape, self.words)) or "(?!)"
        guarded = rf"(?={delimiters}).|(?<![^\W\d_])(?=(?:{words})(?![^\W\d_]))."
        return re.sub(
            f"{guarded}|{pattern}",
            lambda match: f"\\{match[0]}" if match.lastgroup == "escape" else _entity(match[0]),
            text,
        )

    def _is_clear(self, text: str) -> bool:
        return not any(delimiter in text for delimiter in self.delimiters)


def join(blocks: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of blocks, such that lists do not become one, nor quotes."""
    joined: list[str] = []
    before = ""
    for lines in blocks:
        lists = LIST_ITEM.match(before) and re.match(rf"{LIST_ITEM.pattern}|    ", lines[0])
        quotes = before[:1] == lines[0][:1] == ">"
        joined += ["", "<!-- -->", ""] if lists or quotes else [""] if joined else []
        joined += lines
        before = lines[0]
    return joined


def _holds_inline(block: Element) -> bool:
    return all(is_inline(child) for child in block)


def _entity(character: str) -> str:
    return _NAMED.get(character) or f"&#x{ord(character):x};"

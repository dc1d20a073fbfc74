"""Writing the elements of an article as Markdown that no extension or plugin takes for its own.

Each block has a level of caution: 0 is for reading, 1 spells out what typography and short forms
look for, 2 all punctuation, 3 is HTML. Templates and includes get nothing to read at any level.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
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
_MAX_LIST_DEPTH = 5
_MAX_INLINE = 20_000  # Python-Markdown takes time that grows with its square

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
_JOINED = ("*", "`", "\\")
_PLAIN = re.compile(r"[\w ,.;:-]*")
_ADDRESS = re.compile(r"(?!.*&\#?\w+;)[\w/:?#@!$&+,;=.%~()-]+")
_SPACE = re.compile(r"[ \t\n\r\f]+")


def flow(element: Element, unwrap: Collection[str] = WRAPPERS) -> list[Element]:
    """Return the blocks in `element`: without groups, bare text in paragraphs, no empty ones."""
    blocks: list[Element] = []
    run = Element("p")

    def end_run() -> None:
        nonlocal run
        if has_content(run):
            blocks.append(run)
        run = Element("p")

    def add_text(text: str | None) -> None:
        if text and len(run):
            run[-1].tail = (run[-1].tail or "") + text
        elif text:
            run.text = (run.text or "") + text

    def add(parent: Element) -> None:
        add_text(parent.text)
        for child in parent:
            if is_inline(child):
                copy = Element(child.tag, child.attrib)
                copy.text = child.text
                copy.extend(child)
                run.append(copy)
            else:
                end_run()
                if child.tag in unwrap and not attributes(child):
                    add(child)
                elif child.tag != "p" or has_content(child):
                    blocks.append(child)
                end_run()
            add_text(child.tail)

    add(element)
    end_run()
    return blocks


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

        A `nested` one is to be indented: there, a fence may be no code.
        """
        for cautious in range(level, HIGHEST_LEVEL + 1):
            lines = list(self._block(block, cautious, 1 if nested else 0))
            if not any(delimiter in line for line in lines for delimiter in self.delimiters):
                return lines
        raise ValueError(f"<{block.tag}> cannot be written without a delimiter")

    def _blocks(self, blocks: list[Element], level: int, depth: int) -> list[str]:
        """Write blocks that stand in another one."""
        return join(list(self._block(block, level, depth)) for block in blocks)

    def _block(self, block: Element, level: int, depth: int) -> Iterator[str]:
        lines: Iterator[str] | None = None
        if re.fullmatch("h[1-6]", block.tag) and not attributes(block) and _holds_inline(block):
            # As HTML, it would be in no table of contents.
            lines = iter([f"{'#' * int(block.tag[1])} {self._line(block, min(level, 2))}"])
        elif level == HIGHEST_LEVEL or attributes(block):
            lines = None
        elif block.tag == "p" and _holds_inline(block):
            lines = self._paragraph(block, level)
        elif block.tag == "hr":
            lines = iter(["***"])  # dashes might begin a front matter
        elif block.tag == "pre":
            lines = None if level and not depth else self._code(block, depth)
        elif block.tag in ("ul", "ol"):
            lines = self._list(block, level, depth)
        elif block.tag == "blockquote" and depth < _MAX_LIST_DEPTH:
            inner = self._blocks(flow(block), level, depth + 1)
            lines = (f"> {line}".rstrip() for line in inner)
        elif block.tag == "table":
            lines = self._table(block, level)
        if lines is None:
            html = self._html(block, level)
            # What begins with an inline element is no block to Markdown.
            lines = iter([f"<div>{html}</div>" if block.tag in INLINE else html])
        yield from lines

    def _paragraph(self, block: Element, level: int) -> Iterator[str] | None:
        line = self._line(block, level)
        return iter([line]) if len(line) <= _MAX_INLINE else None

    def _code(self, block: Element, depth: int) -> Iterator[str] | None:
        code = block[0] if len(block) == 1 else None
        if code is None or code.tag != "code" or len(code) or attributes(code):
            return None
        if (block.text or "").strip() or (code.tail or "").strip():
            return None
        text = (code.text or "").rstrip("\n")
        if any(delimiter in text for delimiter in [*self.delimiters, "<!--", "\t"]):
            return None
        lines = text.split("\n")
        if depth:
            return iter([f"    {line}".rstrip() for line in lines])
        runs = re.findall(r"`{3,}", text)
        fence = "`" * (max(map(len, runs), default=2) + 1)
        return iter([fence, *lines, fence])

    def _list(self, block: Element, level: int, depth: int) -> Iterator[str] | None:
        items = [flow(item) for item in block if item.tag == "li"]
        if len(items) < len(block) or depth >= _MAX_LIST_DEPTH or not items:
            return None
        if any(attributes(item) for item in block):
            return None
        if not all(item and (item[0].tag == "p" or item[0].tag[0] == "h") for item in items):
            return None
        written = []
        for number, item in enumerate(items, 1):
            mark = f"{number}. " if block.tag == "ol" else "- "
            if len(item) == 2 and item[0].tag == "p" and item[1].tag in ("ul", "ol"):
                lines = [line for part in item for line in self._block(part, level, depth + 1)]
            else:
                lines = self._blocks(item, level, depth + 1)
            rest = [f"    {line}".rstrip() for line in lines[1:]]
            written.append([f"{mark}{lines[0]}", *rest])
        loose = any("" in lines for lines in written)
        return (
            line
            for number, lines in enumerate(written)
            for line in ([""] if loose and number else []) + lines
        )

    def _table(self, block: Element, level: int) -> Iterator[str] | None:
        if [part.tag for part in block] != ["thead", "tbody"] or len(block[0]) != 1:
            return None
        rows = [block[0][0], *block[1]]
        cells = [cell for row in rows for cell in row]
        width = len(rows[0])
        if not width or not len(block[1]) or any(len(row) != width for row in rows):
            return None
        if any(attributes(part) for part in (*block, *rows, *cells)):
            return None
        tags = [cell.tag for cell in cells]
        if tags != ["th"] * width + ["td"] * (len(cells) - width):
            return None
        if not all(_holds_inline(cell) for cell in cells):
            return None

        def line(row: Element) -> str:
            written = (self._line(cell, level, in_cell=True) for cell in row)
            return f"| {' | '.join(written)} |"

        return iter([line(rows[0]), f"|{' --- |' * width}", *map(line, rows[1:])])

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
        text = _SPACE.sub(" ", text)
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
        written = self._spelled(text if verbatim else _SPACE.sub(" ", text), pattern)
        return re.sub(r"[\t\n\r]", lambda space: f"&#{ord(space[0])};", written)

    def _start(self, tag: str, said: dict[str, str], level: int) -> str:
        pattern = _ATTRIBUTE if level < 2 else _ALL
        values = [
            f' {name}="{self._spelled(_SPACE.sub(" ", value), pattern)}"'
            for name, value in said.items()
        ]
        return f"<{tag}{''.join(values)}>"

    def _text(self, text: str | None, level: int, *, in_cell: bool) -> str:
        """Write text of a paragraph."""
        pattern = (_READABLE, _TYPOGRAPHIC, _ALL, _ALL)[level]
        written = self._spelled(_SPACE.sub(" ", text or ""), pattern)
        return written.replace("|", _entity("|")) if in_cell else written

    def _spelled(self, text: str, pattern: str) -> str:
        """Write as entities what matches, and the beginnings of delimiters and guarded words."""
        delimiters = "|".join(map(re.escape, self.delimiters))
        words = "|".join(map(re.escape, self.words)) or "(?!)"
        guarded = rf"(?={delimiters}).|(?<!\w)(?=(?:{words})(?!\w))."
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
    kind = ""
    for lines in blocks:
        before, kind = kind, _kind(lines[0])
        joined += ["", "<!-- -->", ""] if kind and kind == before else [""] if joined else []
        joined += lines
    return joined


def _kind(line: str) -> str:
    return "list" if LIST_ITEM.match(line) else "quote" if line.startswith(">") else ""


def _holds_inline(block: Element) -> bool:
    return all(is_inline(child) for child in block)


def _entity(character: str) -> str:
    return _NAMED.get(character) or f"&#x{ord(character):x};"

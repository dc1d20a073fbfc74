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

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter

from ..errors import UnsafeHTMLError
from .elements import BLOCK_LEVEL, DROPPED, VOID
from .sanitizer import MAX_DEPTH
from .simplify import simplify

_LISTS = ("ul", "ol")
_CODE = ["code", "samp", "kbd"]
_EMPHASIS = {"strong": "**", "em": "*"}
_MAX_CELLS = 20_000
"""How many cells a table has at most that is written as Markdown: it has all cells of its grid."""

_SCRIPTS = {"sup_symbol": "<sup>", "sub_symbol": "<sub>"}
"""The options with which `10<sup>6</sup>` stays what it is: without the element, it is 106."""

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

_CODE_SPAN = re.compile("(`[^`\n]+`)")
_OUTSIDE_OF_ELEMENTS = frozenset({"[document]"})
"""The parents that the converter names for text outside of all elements: the document itself."""

_SPACE = re.compile(r"[ \t\r\n\f]+")
_LONG_SPACE = re.compile(r"[ \t\r\n\f]{100,}")

_BLOCK_START = re.compile(
    r"(?=<(?:h[1-6]|[uod]l|p|pre|div|table|blockquote|section|article)[\s>])", re.IGNORECASE
)

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


def to_plain_markdown(html: str) -> str:
    """Return HTML of a model as Markdown, in which `<sup>` and `<sub>` are the only HTML.

    Markdown beside its elements stays as it is, and so does code in backticks.

    Raises UnsafeHTMLError for elements that are nested too deeply.
    """
    html = _shorten_spaces(html)
    # html.parser does not add end tags that are left out: a block ends the paragraph before it, and
    # an item the one before it.
    html = _BLOCK_START.sub("</p>", html)  # before each start of a block
    if "</li>" not in html.lower():
        html = re.sub("(?i)<li>", "</li><li>", html)
    soup = BeautifulSoup(html, "html.parser")
    _check_depth(soup)
    has_heading = soup.find("h1") is not None
    for tag in soup.find_all(DROPPED):
        tag.decompose()
    for title in soup.find_all("title"):
        if has_heading:
            title.decompose()
        else:
            title.name = "h1"
    _join_code(soup)
    options = {"bullets": "-", "heading_style": "atx", "strip": ["a", "img"]}
    converter = _PlainConverter(**options, **_SCRIPTS)
    return str(converter.convert_soup(soup)).lstrip()


def to_readable_markdown(html: str) -> str:
    """Return the HTML of a text as Markdown for people, with `==statements to check==`.

    Raises UnsafeHTMLError for elements that are nested too deeply.
    """
    marked = _shorten_spaces(html).replace("<mark>", "==").replace("</mark>", "==")
    soup = BeautifulSoup(marked, "html.parser")
    _check_depth(soup)
    _join_code(soup)
    options = dict.fromkeys(("escape_asterisks", "escape_underscores", "escape_misc"), False)
    converter = _FencingConverter(bullets="•", heading_style="atx", **options, **_SCRIPTS)
    return str(converter.convert_soup(soup)).strip()


def _shorten_spaces(html: str) -> str:
    """Return HTML without long runs of white space, for which the converter needs minutes."""
    return _LONG_SPACE.sub(lambda run: "\n\n" if "\n" in run[0] else " ", html)


def _check_depth(soup: BeautifulSoup) -> None:
    """Raise UnsafeHTMLError if elements are nested too deeply.

    The converter writes each level once more, and calls itself for it.
    """
    level: list[Tag] = [soup]
    for _ in range(MAX_DEPTH + 1):
        level = [child for tag in level for child in tag.children if isinstance(child, Tag)]
        if not level:
            return
    raise UnsafeHTMLError(f"the HTML is nested more than {MAX_DEPTH} deep")


def _join_code(soup: BeautifulSoup) -> None:
    """Make one element of code that touches other code, and set keys apart.

    In Markdown, two of them that touch are one with backticks in it.
    """
    for code in soup.find_all(_CODE):
        before = code.previous_sibling
        if not (isinstance(before, Tag) and before.name in _CODE):
            continue
        if "kbd" in (before.name, code.name):
            code.insert_before(" ")
        else:
            before.extend(code.contents[:])
            code.decompose()


class _FencingConverter(MarkdownConverter):  # type: ignore[misc]  # see pyproject.toml
    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a block of code, which its fence alone ends."""
        code = text.strip("\n")
        fence = _ticks_around(code, least=3)
        return f"\n\n{fence}\n{code}\n{fence}\n\n" if code else ""


class _PlainConverter(_FencingConverter):
    def escape(self, text: str, parent_tags: set[str]) -> str:
        """Return text without Markdown, unless it stands in no element or in backticks."""
        if parent_tags <= _OUTSIDE_OF_ELEMENTS:
            return text
        parts = _CODE_SPAN.split(text)
        # Between the spans of code, which are every second part.
        for index in range(0, len(parts), 2):
            parts[index] = super().escape(parts[index], parent_tags)
        return "".join(parts)

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a cell, which ends at its first unescaped `|`."""
        return str(super().convert_td(el, text.replace("|", r"\|"), parent_tags))

    convert_th = convert_td

    def convert_summary(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return the summary of details, apart from what they hide."""
        return f"\n\n{text.strip()}\n\n"


class _Writer:
    """Writes the blocks of simplify() as Markdown."""

    def __init__(self, link: Callable[[str], str]) -> None:
        self._link = link

    def block(self, block: Element, *, is_nested: bool = False) -> str:
        """Return a block."""
        match block.tag:
            case "hr":
                return "---"
            case "pre":
                return _nested_code(block) if is_nested else _fenced_code(block)
            case "ul" | "ol":
                return self._list(block)
            case "table":
                return self._table(block)
            case "blockquote":
                lines = self._blocks(list(block)).split("\n")
                return "\n".join(f"> {line}".rstrip() for line in lines)
            case "div":  # an admonition, whose first block is its title
                return f"!!! tip\n{indent(self._blocks(block[1:]), '    ')}"
            case "p":
                return _escape_start(self._line(block))
        return f"{'#' * int(block.tag[1])} {self._line(block)}"

    def _blocks(self, blocks: Sequence[Element]) -> str:
        """Return blocks that are nested in another."""
        texts = [self.block(block, is_nested=True) for block in blocks]
        # Indented code behind a list would belong to its last item.
        tags = ["ul" if block.tag == "pre" else block.tag for block in blocks]
        return join_blocks(tags, texts)

    def _list(self, block: Element) -> str:
        """Return a list, with empty lines between its items if one of them needs empty lines."""
        start = block.get("start", "1")
        first = 1
        if start.isdecimal():
            first = int(start)
        items = []
        for number, item in enumerate(block, first):
            text = self._blocks(list(item))
            tags = [part.tag for part in item]
            is_line_and_list = tags in (["p", "ul"], ["p", "ol"])
            if is_line_and_list:
                paragraph, nested = text.split("\n\n", 1)
                if "\n\n" not in nested:
                    text = f"{paragraph}\n{nested}"
            bullet = f"{number}." if block.tag == "ol" else "-"
            items.append(f"{bullet} {indent(text, '    ').strip()}")
        is_loose = any("\n\n" in item for item in items)
        return ("\n\n" if is_loose else "\n").join(items)

    def _table(self, block: Element) -> str:
        """Return a table, below whose first row there is a line."""
        rows = [self._row(row) for row in block.iter("tr")]
        line = "| " + " | ".join("---" for _ in block[0][0]) + " |"
        return "\n".join([rows[0], line, *rows[1:]])

    def _row(self, row: Element) -> str:
        return "| " + " | ".join(self._line(cell) for cell in row) + " |"

    def _line(self, element: Element) -> str:
        return " ".join(self._content(element, in_emphasis=False).split())

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
    ticks = _ticks_around(code, least=1)
    space = " " if "`" in code else ""
    return f"{ticks}{space}{code}{space}{ticks}"


def _code_as_html(element: Element) -> str:
    return " ".join(_to_html(element, _SPECIAL_IN_LINE).split())


def _fenced_code(pre: Element) -> str:
    """Return code with a fence, or as HTML if it would be read as syntax there."""
    code = "".join(pre.itertext())
    if len(pre[0]) or _TEMPLATE.search(code):
        return _to_html(pre)
    fence = _ticks_around(code, least=3)
    language = pre[0].get("class", "").removeprefix("language-")
    return f"{fence}{language}\n{code}\n{fence}"


def _ticks_around(code: str, *, least: int) -> str:
    """Return at least `least` backticks, and more than there are together in the code."""
    number = least
    for ticks in re.findall("`+", code):
        number = max(number, len(ticks) + 1)
    return "`" * number


def _nested_code(pre: Element) -> str:
    """Return code in a list or a quotation: with an indentation, or on one line as HTML."""
    code = "".join(pre.itertext())
    if len(pre[0]) or _TEMPLATE.search(code):
        return _to_html(pre, _SPECIAL_IN_LINE)
    return indent(code, "    ")


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

"""Reduce a sanitized article to the elements that Markdown has.

The blocks are headings, paragraphs, code, rules, tables, lists, quotations and tips. What only
groups blocks is taken apart, and text beside blocks becomes paragraphs. What Markdown cannot say,
such as inline styles and merged cells, is left out, and so is what has no content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement

from .elements import HEADINGS

KEPT = frozenset("abbr bdi bdo del dfn ins kbd mark q rp rt ruby s small sub sup u var".split())
"""Inline elements that have no Markdown."""

_BLOCKS = HEADINGS | set(
    "article section header footer main div figure details dl dt dd summary p pre table caption "
    "figcaption hr ul ol li blockquote aside".split()
)
_INLINE = {tag: tag for tag in ("strong", "em", "a", *KEPT)}
_INLINE.update({"b": "strong", "i": "em"})
"""The inline elements that stay, and what they are called."""

_ATTRIBUTES = {
    "a": ("href", "title"),
    "img": ("src", "alt", "title"),
    "ol": ("start", "reversed", "type"),
    "li": ("value",),
    **dict.fromkeys(KEPT, ("title", "lang", "dir")),
}
_DEFAULTS = {("start", "1"), ("type", "1")}
_MAX_EMPTY_CELLS = 100
"""After so many cells of a row, no more empty ones are added for merged ones."""

_NOT_IN_ADDRESS = re.compile(r"[^\w./:?#&=%@!+,~-]")


def simplify(article: Element, *, has_admonitions: bool = False) -> list[Element]:
    """Return the blocks of an article, in new elements.

    With `has_admonitions`, a tip is an admonition, and otherwise a quotation.
    """
    return _Simplifier(article, has_admonitions=has_admonitions).blocks_in(article)


class _Simplifier:
    def __init__(self, article: Element, *, has_admonitions: bool) -> None:
        self._has_admonitions = has_admonitions
        self._containers = _find_containers(article)

    def blocks_in(self, parent: Element) -> list[Element]:
        """Return what an element contains as blocks. Text beside blocks becomes paragraphs."""
        blocks: list[Element] = []
        paragraph = Element("p")
        _add_text(paragraph, parent.text)
        for child in parent:
            if self._is_block(child):
                blocks += [paragraph, *self._blocks_of(child)]
                paragraph = Element("p")
            else:
                _add_inline(paragraph, child)
            _add_text(paragraph, child.tail)
        blocks.append(paragraph)
        found = []
        for block in blocks:
            if block.tag == "hr" or _has_content(block):
                found.append(block)
        return found

    def _is_block(self, element: Element) -> bool:
        # A link cannot contain blocks in Markdown: they become its text.
        return element.tag in _BLOCKS or (element in self._containers and element.tag != "a")

    def _blocks_of(self, element: Element) -> list[Element]:
        """Return the blocks that an element is or contains."""
        if element.tag == "aside" or "pro-tip" in element.get("class", "").split():
            return self._tip(element)
        if element.tag in HEADINGS:
            return [_line(element.tag, element)]
        if element.tag in ("dt", "summary") and element not in self._containers:
            paragraph = Element("p")
            paragraph.append(_line("strong", element))
            return [paragraph]
        match element.tag:
            case "hr":
                return [Element("hr")]
            case "pre":
                return [_code_block(element)]
            case "table":
                captions = [_line("p", caption) for caption in element.iterfind("caption")]
                return [*captions, _table(element)]
            case "ul" | "ol":
                return [self._list(element)]
            case "blockquote":
                return [_group("blockquote", self.blocks_in(element))]
        return self.blocks_in(element)

    def _tip(self, element: Element) -> list[Element]:
        blocks = self.blocks_in(element)
        if not (blocks and self._has_admonitions):
            return [_group("blockquote", blocks)]
        title = Element("p", {"class": "admonition-title"})
        title.text = "Tip"
        tip = _group("div", [title, *blocks])
        tip.set("class", "admonition tip")
        return [tip]

    def _list(self, element: Element) -> Element:
        """Return a list. What stands between its items belongs to the item before it."""
        new = Element(element.tag, _attributes(element))
        self._extend_last_item(new, _holder(element.text))
        for child in element:
            if child.tag != "li":
                self._extend_last_item(new, _holder(None, child))
                continue
            blocks = self.blocks_in(child)
            if blocks:
                item = _group("li", blocks)
                item.attrib.update(_attributes(child))
                new.append(item)
            self._extend_last_item(new, _holder(child.tail))
        return new

    def _extend_last_item(self, new: Element, content: Element) -> None:
        """Append content to the last item of a list, or to a new one if there is none."""
        blocks = self.blocks_in(content)
        if not blocks:
            return
        if not len(new):
            SubElement(new, "li")
        new[-1].extend(blocks)


def _holder(text: str | None, *elements: Element) -> Element:
    """Return an element around what stands between the items of a list."""
    holder = Element("div")
    holder.text = text
    holder.extend(elements)
    return holder


def _find_containers(article: Element) -> set[Element]:
    """Return the elements that contain blocks, at any depth."""
    containers: set[Element] = set()
    for element in reversed(list(article.iter())):  # what it contains comes first
        if any(child.tag in _BLOCKS or child in containers for child in element):
            containers.add(element)
    return containers


def _group(tag: str, blocks: list[Element]) -> Element:
    group = Element(tag)
    group.extend(blocks)
    return group


def _has_content(element: Element) -> bool:
    return any(text.strip() for text in element.itertext()) or element.find(".//img") is not None


def _attributes(element: Element) -> dict[str, str]:
    """Return the attributes that stay, with their white space collapsed."""
    found = {}
    for name in _ATTRIBUTES.get(element.tag, ()):
        value = " ".join(element.get(name, "").split())
        if name in ("href", "src"):
            value = _NOT_IN_ADDRESS.sub(lambda match: quote(match[0], safe=""), value)
        # These say something even without a value.
        may_be_empty = name in ("alt", "reversed")
        is_given = name in element.attrib and (value or may_be_empty)
        if is_given and (name, value) not in _DEFAULTS:
            found[name] = value
    return found


def _line(tag: str, element: Element) -> Element:
    """Return an element whose content is on one line, without line breaks if it is a heading."""
    line = Element(tag)
    _add_content(line, element, has_breaks=tag not in HEADINGS)
    return line


def _add_content(target: Element, source: Element, *, has_breaks: bool = True) -> None:
    _add_text(target, source.text)
    for child in source:
        _add_inline(target, child, has_breaks=has_breaks)
        _add_text(target, child.tail)


def _add_inline(target: Element, child: Element, *, has_breaks: bool = True) -> None:
    """Append an element that stands within a line. Blocks in it become text."""
    if child.tag in ("code", "samp", "pre"):
        code = Element("code")
        _add_code(code, child)
        _append(target, code)
    elif child.tag == "br" and not has_breaks:
        _add_text(target, " ")
    elif child.tag in ("img", "br"):
        SubElement(target, child.tag, _attributes(child))
    elif child.tag in _INLINE:
        new = Element(_INLINE[child.tag], _attributes(child))
        _add_content(new, child, has_breaks=has_breaks)
        _append(target, new)
    else:
        space = " " if child.tag in _BLOCKS else ""
        _add_text(target, space)
        _add_content(target, child, has_breaks=has_breaks)
        _add_text(target, space)


def _append(target: Element, new: Element) -> None:
    """Append an element, or only its white space if it has nothing else."""
    if _has_content(new):
        target.append(new)
    else:
        _add_text(target, new.text)


def _add_text(target: Element, text: str | None) -> None:
    if not text:
        return
    if len(target):
        target[-1].tail = (target[-1].tail or "") + text
    else:
        target.text = (target.text or "") + text


def _add_code(target: Element, source: Element) -> None:
    """Append the text of code with its statements to check."""
    _add_text(target, source.text)
    for child in source:
        if child.tag == "mark":
            _add_code(SubElement(target, "mark"), child)
        else:
            _add_text(target, "\n" if child.tag == "br" or child.tag in _BLOCKS else "")
            _add_code(target, child)
        _add_text(target, child.tail)


def _code_block(element: Element) -> Element:
    """Return code without empty lines around it."""
    attributes: dict[str, str] = {}
    for inner in element.iter("code"):
        language = inner.get("class", "")
        if language:
            attributes.setdefault("class", language)
    pre = Element("pre")
    code = SubElement(pre, "code", attributes)
    _add_code(code, element)
    code.text = (code.text or "").lstrip("\n")
    if len(code):
        code[-1].tail = (code[-1].tail or "").rstrip("\n")
    else:
        code.text = code.text.rstrip("\n")
    return pre


def _table(element: Element) -> Element:
    """Return a table with one row of headers, as wide as the widest row. Headers can be empty.

    After a merged cell, there are empty ones.
    """
    rows = list(_rows(element))
    headers: list[Element] = []
    if rows and _is_header(rows[0], element):
        headers = _cells(rows.pop(0), "th")
    cells = [_cells(row, "td") for row in rows]
    width = max([len(headers), *map(len, cells)])
    for _ in range(width - len(headers)):
        headers.append(Element("th"))
    table = Element("table")
    head = SubElement(table, "thead")
    head.append(_group("tr", headers))
    body = SubElement(table, "tbody")
    body.extend(_group("tr", row) for row in cells)
    return table


def _is_header(row: Element, table: Element) -> bool:
    """Tell whether the first row of a table has its headers."""
    return table.find("thead/tr") is row or all(cell.tag == "th" for cell in row)


def _rows(table: Element) -> Iterator[Element]:
    # As in the DOM of a browser, each row is in a group.
    for group in table:
        if group.tag in ("thead", "tbody", "tfoot"):
            yield from group.iterfind("tr")


def _cells(row: Element, tag: str) -> list[Element]:
    cells = []
    for cell in row:
        cells.append(_line(tag, cell))
        if len(cells) < _MAX_EMPTY_CELLS:
            for _ in range(int(cell.get("colspan", "1")) - 1):
                cells.append(Element(tag))
    return cells

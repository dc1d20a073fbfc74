"""Write blocks (headings, lists, tables, admonitions) as Markdown.

The blocks are those of `simplify()`. Subclasses write their lines.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from textwrap import indent
from xml.etree.ElementTree import Element


class BlockWriter(ABC):
    """Writes blocks as Markdown. A subclass writes lines and code, and joins blocks."""

    bullet = "-"

    @abstractmethod
    def line(self, element: Element) -> str:
        """Return the content of a block without other blocks in it."""

    @abstractmethod
    def paragraph(self, element: Element) -> str:
        """Return the content of a paragraph, at whose start other blocks could be read."""

    @abstractmethod
    def code(self, pre: Element, *, is_nested: bool) -> str:
        """Return a block of code; `is_nested` says that it stands in another block."""

    @abstractmethod
    def join(self, tags: Sequence[str], texts: Sequence[str]) -> str:
        """Return blocks with these tags that are written as `texts`, one after the other."""

    @abstractmethod
    def item(self, bullet: str, text: str) -> str:
        """Return an item of a list, with its other lines indented."""

    @abstractmethod
    def join_items(self, items: Sequence[str]) -> str:
        """Return a list."""

    def blocks(self, blocks: Sequence[Element], *, is_nested: bool = False) -> str:
        """Return blocks."""
        texts = [self.block(block, is_nested=is_nested) for block in blocks]
        return self.join([block.tag for block in blocks], texts)

    def block(self, block: Element, *, is_nested: bool = False) -> str:
        """Return a block."""
        match block.tag:
            case "hr":
                return "---"
            case "pre":
                return self.code(block, is_nested=is_nested)
            case "ul" | "ol":
                return self._list(block)
            case "table":
                return self._table(block)
            case "blockquote":
                lines = self._nested(list(block)).split("\n")
                return "\n".join(f"> {line}".rstrip() for line in lines)
            case "div":
                return self._admonition(block)
            case "p":
                return self.paragraph(block)
        return f"{'#' * int(block.tag[1])} {self.line(block)}"

    def _nested(self, blocks: Sequence[Element]) -> str:
        return self.blocks(blocks, is_nested=True)

    def _admonition(self, block: Element) -> str:
        """Return an admonition. Its class ends in its kind, and its first block is its title."""
        kind = block.get("class", "").removeprefix("admonition ")
        return f"!!! {kind}\n{indent(self._nested(block[1:]), '    ')}"

    def _list(self, block: Element) -> str:
        start = block.get("start", "1")
        first = 1
        if start.isdecimal():
            first = int(start)
        items = []
        for number, item in enumerate(block, first):
            text = self._nested(list(item))
            tags = [part.tag for part in item]
            is_line_and_list = tags in (["p", "ul"], ["p", "ol"])
            if is_line_and_list:
                paragraph, nested = text.split("\n\n", 1)
                if "\n\n" not in nested:
                    text = f"{paragraph}\n{nested}"
            items.append(self.item(f"{number}." if block.tag == "ol" else self.bullet, text))
        return self.join_items(items)

    def _table(self, block: Element) -> str:
        """Return a table, below whose first row there is a line."""
        rows = [self._row(row) for row in block.iter("tr")]
        line = "| " + " | ".join("---" for _ in block[0][0]) + " |"
        return "\n".join([rows[0], line, *rows[1:]])

    def _row(self, row: Element) -> str:
        return "| " + " | ".join(self.line(cell) for cell in row) + " |"


def ticks_around(code: str, *, least: int) -> str:
    """Return at least `least` backticks, and more than there are together in the code."""
    number = least
    for ticks in re.findall("`+", code):
        number = max(number, len(ticks) + 1)
    return "`" * number


def code_in_ticks(code: str) -> str:
    """Return code within a line between backticks."""
    ticks = ticks_around(code, least=1)
    space = " " if "`" in code else ""
    return f"{ticks}{space}{code}{space}{ticks}"


def fenced_code(code: str, language: str = "") -> str:
    """Return a block of code, which only its fence ends."""
    fence = ticks_around(code, least=3)
    return f"{fence}{language}\n{code}\n{fence}"


def language_of(pre: Element) -> str:
    """Return the language of a block of code, or an empty string if it does not say one."""
    return pre[0].get("class", "").removeprefix("language-")

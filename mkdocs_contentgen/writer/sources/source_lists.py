"""Find the list of sources at the end of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...html.block import Block
from ...language.languages import SOURCES_HEADINGS

_LINE = re.compile(r"#L\d+\Z")
"""The end of the address of a line of code."""


def listed_sources(blocks: Sequence[Block]) -> list[Block]:
    """Return the heading of the list of sources, and its items, or nothing."""
    heading = None
    for block in blocks:
        if block.kind == "h2" and block.text in SOURCES_HEADINGS:
            heading = block  # the last one counts
    if heading is None:
        return []
    listed = heading.element.find_next_sibling(True)
    if listed is None or listed.name != "ol":
        return []
    items = []
    for block in blocks:
        if block.kind == "li" and block.element.parent is listed:
            items.append(block)
    return [heading, *items] if items else []


def listed_numbers(blocks: Sequence[Block]) -> set[int]:
    """Return the numbers of the blocks of the list of sources, with its heading."""
    return {block.number for block in listed_sources(blocks)}


def listed_items(blocks: Sequence[Block]) -> list[Block]:
    """Return the items of the list of sources, without its heading."""
    return listed_sources(blocks)[1:]


def name_of_listed(item: Block) -> str:
    """Return what names a source in the list: the address of a page, or else its title.

    The address of a line of code does not name it, since lines move.
    """
    links = item.links
    if links and not _LINE.search(links[0]):
        return links[0]
    return item.text

"""Find the markers of articles in a page.

A marker is a comment. Python-Markdown keeps comments and other raw HTML in a stash, and the element
tree has placeholders with the numbers of these blocks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.util import HTML_PLACEHOLDER_RE

from .front_matter import marker_typo_problem

MARKER = re.compile(r"<!--\s*contentgen(?:\s+([a-z0-9-]+))?(?:\s+level=([1-4]))?\s*-->")
"""Matches a marker. The groups are the id and the level of its article; both can be missing."""

FENCED = re.compile(r"^[ \t>]*(```+|~~~+).*?(?:^[ \t>]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
"""A fenced block of code."""


def raw_blocks(root: Element, md: Markdown) -> dict[str, str]:
    """Return the blocks of raw HTML in `root` by their numbers in the stash.

    The stash itself may have blocks of an earlier rendering: Material's blog renders an excerpt
    once for each view.
    """
    found = {}
    for number in HTML_PLACEHOLDER_RE.findall("".join(root.itertext())):
        block = md.htmlStash.rawHtmlBlocks[int(number)]
        if isinstance(block, str):  # an extension can put elements there
            found[number] = block
    return found


def find_markers(blocks: Mapping[str, str]) -> dict[str, re.Match[str]]:
    """Return the markers in blocks of raw HTML, by the numbers of the blocks."""
    markers = {}
    for number, block in blocks.items():
        marker = MARKER.search(block)
        if marker:
            markers[number] = marker
    return markers


def marker_typos(blocks: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the blocks that only resemble a marker, each with a message."""
    typos = []
    for block in blocks.values():
        problem = "" if MARKER.search(block) else marker_typo_problem(block)
        if problem:
            typos.append((block, problem))
    return typos

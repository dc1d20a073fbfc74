"""Take lists of sources out of an answer, and the numbers that point to them.

The writer adds the sources that it gave, and nobody vouches for those that a model names.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import partial
from typing import Any

from markdown_it.token import Token

from ...html.elements import HEADINGS
from ...language.languages import any_of
from ..marks.marking import inline_text
from .block_lines import note
from .document import MarkdownBlock

_LABEL = re.compile(rf"\W*(?:\d{{1,2}}[.)]?\s)?{any_of('references')}\W*", re.IGNORECASE)
"""What stands above a list of sources."""

_LABELLED = re.compile(rf"\W*{any_of('references')}\W{{0,3}}[:：]", re.IGNORECASE)
"""The start of a line that has a label and the sources."""

_SERVICE_LINE = re.compile(
    rf"[^.!?\n]{{0,60}}\b(?:search|{any_of('references')})\b[^.!?\n]{{0,60}}", re.IGNORECASE
)
"""What a service says of a list of sources after it."""

_SOURCE = re.compile(
    r"\W{0,3}\[?\^?\d{1,3}(?:[\]):.]|\s)|.{0,300}(?:https?://|www\.|\bdoi\b|\bISBN\b)",
    re.IGNORECASE,
)
"""The start of a line of such a list at the end of a text."""

_NAMES_SOURCE = re.compile(r"https?://|\b(?:19|20)\d\d\b|\bdoi\b|\bISBN\b|[《»”]", re.IGNORECASE)
"""What a line of a list within a text has."""

_ADDRESS = re.compile(r"<?https?://\S{1,2000}>?|\W{0,2}\[\^?\d{1,3}\]:?\s?.{0,200}https?://.*")
"""A line that is a source without a label, too: an address, or a number and an address."""

_NUMBER = re.compile(r"\W{0,3}(\d{1,3})(?:[\]):.]|\s)")
"""The number at the start of a line."""

_CITED = re.compile(r"[ \u00a0]?[\[【]\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3}){0,9}[\]】]")
"""One number of a source or several in brackets."""

_NUMBER_ALONE = re.compile(r"\[?\^?\d{1,3}\]?")

_LISTS = ("p", "ul", "ol")


def without_references(
    blocks: list[MarkdownBlock], environment: MutableMapping[str, Any]
) -> list[MarkdownBlock]:
    """Drop lists of sources, and the numbers that point to them.

    In a text for which the writer has sources, numbers cite those, and stay.
    """
    dropped = _indexes_of_lists(blocks)
    if dropped:
        note(environment, "repaired_references")
    numbers: set[int] = set()
    for index in dropped:
        numbers |= _numbers_of(blocks[index])
    kept = [block for index, block in enumerate(blocks) if index not in dropped]
    for block in kept:
        for tokens in block.inlines:
            _drop_numbers(tokens, numbers, environment)
    return [MarkdownBlock(block.tokens) for block in kept]


def _indexes_of_lists(blocks: Sequence[MarkdownBlock]) -> set[int]:
    """Return the indexes of lists of sources and of their labels."""
    dropped = _indexes_of_addresses(blocks)
    below: list[int] | None = sorted(dropped)
    """The indexes of the lists down to the next heading, or None where anything else is there."""

    is_last_section = True
    for index in reversed(range(len(blocks) - len(dropped))):
        block = blocks[index]
        lines = _lines_of(block)
        has_label = bool(lines) and _LABEL.fullmatch(lines[0]) is not None
        own = lines[1:] if has_label else lines
        is_heading = block.kind in HEADINGS
        is_label = has_label and (is_heading or all(map(_SOURCE.match, own)))
        if is_label and below is not None and (own or below):
            dropped |= {index, *below}
            below = []
        elif is_heading:
            below = []
            is_last_section = False
        elif below is not None and _is_list(block, own, is_last=is_last_section):
            below.append(index)
        else:
            below = None
    return dropped


def _indexes_of_addresses(blocks: Sequence[MarkdownBlock]) -> set[int]:
    """Return the indexes of the blocks at the end that are sources without a label above them.

    What a service says after them goes with them. A single address can be one of the text.
    """
    start = len(blocks)
    lines = 0
    for block in reversed(blocks):
        found = _lines_of(block) if block.kind in _LISTS else []
        is_last = start == len(blocks)
        if _LABELLED.match(block.text) and _has_address(block):
            lines += 2  # a label, and at least one address
        elif found and all(map(_ADDRESS.fullmatch, found)):
            lines += len(found)
        elif not (is_last and _SERVICE_LINE.fullmatch(block.text.strip())):
            break
        start -= 1
    return set(range(start, len(blocks))) if lines > 1 else set()


def _has_address(block: MarkdownBlock) -> bool:
    is_link = any(token.type == "link_open" for tokens in block.inlines for token in tokens)
    return is_link or "://" in block.text


def _is_list(block: MarkdownBlock, lines: Sequence[str], *, is_last: bool) -> bool:
    """Tell whether a block below a label is a list of sources.

    In the last section, each item is one, also below a further label. Elsewhere, each item or line
    has to name its source.
    """
    if not is_last:
        named = lines if block.kind == "p" else map(inline_text, block.inlines)
        return block.kind in _LISTS and all(map(_NAMES_SOURCE.search, named))
    return block.kind in ("ul", "ol") or (block.kind == "p" and all(map(_is_source, lines)))


def _is_source(line: str) -> bool:
    """Tell whether a line of the last section is one of a list of sources."""
    label = _LABELLED.match(line)
    return _SOURCE.match(line, label.end() if label else 0) is not None


def _lines_of(block: MarkdownBlock) -> list[str]:
    """Return the lines of a paragraph or heading, or the items of a list."""
    lines: list[str] = []
    for tokens in block.inlines:
        line: list[Token] = []
        for token in tokens:
            if token.type in ("softbreak", "hardbreak"):
                lines.append(inline_text(line))
                line = []
            else:
                line.append(token)
        lines.append(inline_text(line))
    return [line.strip() for line in lines if line.strip()]


def _numbers_of(block: MarkdownBlock) -> set[int]:
    """Return the numbers of the sources in a block."""
    lines = _lines_of(block)
    found = [number for number in map(_NUMBER.match, lines) if number]
    if found or block.kind not in ("ul", "ol"):
        return {int(number[1]) for number in found}
    first = int(block.tokens[0].attrGet("start") or 1)
    return set(range(first, first + len(lines)))


def _drop_numbers(
    tokens: list[Token], numbers: set[int], environment: MutableMapping[str, Any]
) -> None:
    """Leave out the numbers of sources, in place, unless the writer has sources.

    A number that is a link is one of a source, whose address may stand elsewhere.
    """
    has_sources = environment.get("has_sources", False)
    known = set() if has_sources else numbers
    for index, token in enumerate(tokens):
        around = tokens[index - 1 : index + 2] if index else []
        element = around[0].type if [part.nesting for part in around] == [1, 0, -1] else ""
        number = token.content.strip("[]^")
        if element == "link_open" and _NUMBER_ALONE.fullmatch(token.content):
            note(environment, "repaired_references")
            _unwrap(tokens, index, f"[{number}]" if has_sources else "")
        elif element == "sup_open" and number.isdecimal() and int(number) in known:
            _unwrap(tokens, index, "")
        elif token.type == "text" and known:
            token.content = _CITED.sub(partial(_uncited, known), token.content)


def _unwrap(tokens: list[Token], index: int, text: str) -> None:
    """Put a text in the place of an element and of its only token, and of a space before it."""
    for token in tokens[index - 1 : index + 2]:
        token.type = "text"
        token.tag = ""
        token.nesting = 0
        token.content = ""
    tokens[index].content = text
    if not text and index > 1:
        tokens[index - 2].content = tokens[index - 2].content.removesuffix(" ")


def _uncited(numbers: set[int], cited: re.Match[str]) -> str:
    """Return an empty string if all cited numbers are those of sources, else what was matched."""
    found = {int(number) for number in re.findall(r"\d+", cited[0])}
    return "" if found <= numbers else cited[0]

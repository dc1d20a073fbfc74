"""What the parser's rules need to read the lines of an answer and to push what they have read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from ...remark import Kind

INTERRUPTS = ["paragraph", "reference", "blockquote", "list"]
"""The blocks that may be interrupted without a blank line."""

FENCES = ("```", "~~~")

HEADING = re.compile(r"^##? .+$", re.MULTILINE)
"""A title, or a heading of a section."""

_REMARKS = "remarks"
"""The key of the environment for the kinds of the remarks."""


def note(environment: MutableMapping[str, Any], kind: Kind) -> None:
    """Note what was changed, for a remark."""
    noted_in(environment).add(kind)


def noted_in(environment: MutableMapping[str, Any]) -> set[Kind]:
    """Return the kinds of changes that were noted so far."""
    found: set[Kind] = environment.setdefault(_REMARKS, set())
    return found


def lines_between(state: StateBlock, first: int, end: int) -> str:
    """Return lines without the indentation of what they are in."""
    return state.getLines(first, end, state.blkIndent, False)


def split_code(lines: Iterable[str]) -> Iterator[tuple[bool, str]]:
    """Yield each line, and whether it is in a fenced code block."""
    fence = ""
    for line in lines:
        bare = line.strip()
        if fence:
            yield True, line
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
            continue
        if bare.startswith(FENCES):
            label = bare.lstrip(bare[0])
            # A fence has no other backticks in its line: they are code within the line.
            if bare[0] != "`" or "`" not in label:
                fence = bare[: len(bare) - len(label)]
        yield bool(fence), line


def push_markdown(state: StateBlock, markdown: str, lines: list[int]) -> list[Token]:
    """Push the blocks of Markdown that stands for some lines, and return their tokens."""
    tokens: list[Token] = []
    state.md.block.parse(markdown, state.md, state.env, tokens)
    for token in tokens:
        token.level += state.level
        token.map = lines
    state.tokens += tokens
    return tokens

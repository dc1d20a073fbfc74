"""Find what a text misses, ask for that alone, and put it in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ..service.topics import is_listicle, items_of
from .checks import Draft, has_closing, item_numbers
from .markdown import MarkdownBlock
from .prompts import fill

_LEAST_WORDS = 50
"""The minimum number of words of a part that is asked for."""


@dataclass(frozen=True)
class Repair:
    """A part of a text to ask for."""

    prompt: str
    words: int
    merge: Callable[[Sequence[MarkdownBlock]], list[MarkdownBlock]]
    """Gets the blocks of the answer, and returns those of the whole text with them."""


def find_repair(draft: Draft, tolerance: float) -> Repair | None:
    """Return the repair that improves a text most, or None if there is none to buy.

    The number of words may miss the target by the share `tolerance`.
    """
    blocks, words = draft.document.blocks, draft.document.words
    items, wanted = item_numbers(draft.document.headings), items_of(draft.request.topic)
    in_order = items == [*range(1, len(items) + 1)]
    if is_listicle(draft.request) and wanted and in_order and 0 < len(items) < wanted:
        first, missing = len(items) + 1, wanted - len(items)
        size = max(_LEAST_WORDS, missing * words // len(items))
        prompt = fill("missing_items", first=first, last=wanted)
        return Repair(prompt, size, partial(_insert_sections, blocks))
    if words < (1 - tolerance) * draft.words:
        size = max(_LEAST_WORDS, draft.words - words)
        return Repair(fill("more", words=size), size, partial(_insert_sections, blocks))
    if not has_closing(draft):
        prompt = fill("missing_conclusion")
        return Repair(prompt, _LEAST_WORDS, lambda found: [*blocks, *_first_paragraph(found)])
    return None


def _insert_sections(
    blocks: Sequence[MarkdownBlock], found: Sequence[MarkdownBlock]
) -> list[MarkdownBlock]:
    """Insert sections at the end, but before a paragraph that closes the text."""
    starts = [index for index, block in enumerate(found) if block.kind == "h2"]
    sections = found[starts[0] :] if starts else found
    has_end = len(blocks) > 1 and blocks[-1].kind == blocks[-2].kind == "p"
    end = len(blocks) - has_end
    return [*blocks[:end], *sections, *blocks[end:]]


def _first_paragraph(blocks: Sequence[MarkdownBlock]) -> list[MarkdownBlock]:
    return [block for block in blocks if block.kind == "p"][:1]

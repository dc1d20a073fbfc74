"""Find what a text misses, to ask for that alone, and put it in."""

from __future__ import annotations

from collections.abc import Sequence

from ..topics import is_listicle, items_of
from .checks import Draft, has_closing, item_numbers
from .markdown import MarkdownBlock, is_tip
from .prompts import fill

_MIN_REPAIR = 50
"""The minimum number of words of a part that is asked for."""


def find_repair(draft: Draft, tolerance: float) -> tuple[str, int] | None:
    """Return the prompt for what a text misses most, with its words, or None for nothing.

    The number of words may miss the target by the share `tolerance`.
    """
    words = draft.document.words
    items = item_numbers(draft.document.headings)
    wanted = items_of(draft.request.topic)
    in_order = items == [*range(1, len(items) + 1)]
    if is_listicle(draft.request) and wanted and in_order and 0 < len(items) < wanted:
        missing = wanted - len(items)
        size = max(_MIN_REPAIR, missing * words // len(items))
        return fill("missing_items", first=len(items) + 1, last=wanted), size
    if words < (1 - tolerance) * draft.words:
        size = max(_MIN_REPAIR, draft.words - words)
        return fill("more", words=size), size
    return None if has_closing(draft) else (fill("missing_conclusion"), _MIN_REPAIR)


def insert_part(
    blocks: Sequence[MarkdownBlock], found: Sequence[MarkdownBlock]
) -> list[MarkdownBlock]:
    """Return a text with a part inserted at its end, but before a paragraph that closes it."""
    starts = [index for index, block in enumerate(found) if block.kind == "h2"]
    part = found[starts[0] :] if starts else found
    is_closed = len(blocks) > 1 and blocks[-1].kind == blocks[-2].kind == "p"
    end = len(blocks) - (is_closed and not is_tip(blocks[-1]))
    return [*blocks[:end], *part, *blocks[end:]]

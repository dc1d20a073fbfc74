"""Find what a text misses, to ask only for that, and put it in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..topics import is_listicle, items_of
from .answers.document import MarkdownBlock
from .answers.markdown import is_tip
from .checks import Candidate, item_numbers, lacks_closing
from .prompts import fill

_MIN_REPAIR = 50
"""The minimum number of words of a part that is asked for."""


@dataclass(frozen=True)
class Repair:
    """A further call for what a text misses."""

    prompt: str
    words: int
    """The number of words that are asked for."""


def find_repair(candidate: Candidate, tolerance: float) -> Repair | None:
    """Return the repair for what a text misses most, or None if it misses nothing.

    The number of words may miss the target by the share `tolerance`.
    """
    words = candidate.document.words
    items = item_numbers(candidate.document.headings)
    wanted = items_of(candidate.request.topic)
    in_order = items == [*range(1, len(items) + 1)]
    if is_listicle(candidate.request) and wanted and in_order and 0 < len(items) < wanted:
        missing = wanted - len(items)
        size = max(_MIN_REPAIR, missing * words // len(items))
        return Repair(fill("missing_items", first=len(items) + 1, last=wanted), size)
    if words < (1 - tolerance) * candidate.target:
        size = max(_MIN_REPAIR, candidate.target - words)
        return Repair(fill("more", words=size), size)
    if lacks_closing(candidate):
        return Repair(fill("missing_conclusion"), _MIN_REPAIR)
    return None


def insert_part(
    blocks: Sequence[MarkdownBlock], part: Sequence[MarkdownBlock]
) -> list[MarkdownBlock]:
    """Return a text with a part inserted at its end, but before a paragraph that closes it.

    What stands in the part before its first heading is left out.
    """
    starts = [index for index, block in enumerate(part) if block.kind == "h2"]
    new_blocks = part[starts[0] :] if starts else part
    ends_with_paragraphs = len(blocks) > 1 and blocks[-1].kind == blocks[-2].kind == "p"
    end = len(blocks)
    if ends_with_paragraphs and not is_tip(blocks[-1]):
        end -= 1
    return [*blocks[:end], *new_blocks, *blocks[end:]]

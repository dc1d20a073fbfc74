"""What the desk shows of each block, kept until the block is another one.

A person changes one block of a text, and sees all of it again. So what is found in the others may
not be looked for again: a text can have thousands of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..html.block import Block
from ..html.marked_sentences import MarkedSentence, Sentences


@dataclass(frozen=True)
class BlockView:
    """What the desk shows of a block, in whatever place of whatever text it stands."""

    kind: str
    digest: str
    text: str
    markdown: str
    links: Sequence[str]
    sentences: Sequence[MarkedSentence]
    """Those with statements to check."""


class BlockViews:
    """Finds the views of blocks, and keeps those of the text that was asked for last."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], BlockView] = {}
        """The views of the last text, by all that they depend on."""

    def of(self, blocks: Sequence[Block]) -> list[BlockView]:
        """Return the view of each block of a text."""
        known = self._known
        self._known = {}
        views = []
        for block in blocks:
            form = block.form
            view = known.get(form) or self._known.get(form) or _view_of(block)
            self._known[form] = view
            views.append(view)
        return views


def _view_of(block: Block) -> BlockView:
    return BlockView(
        block.kind,
        block.digest,
        block.text,
        block.to_markdown(),
        block.links,
        Sentences(block.element).marked(),
    )

"""What is translated of an original: the words of its blocks, and the descriptions of pictures.

Each is a block for a translator, with a number of its own: blocks have theirs, and descriptions
have those that follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from bs4.element import NavigableString

from ..html.block import Block, as_block, is_block
from ..html.descriptions import descriptions_in
from ..html.document import Document
from ..language.languages import BYLINES, find_language
from ..writer.sources.source_lists import listed_numbers
from .translatable import has_words

BESIDE_BYLINE = " ·"
"""What stands between a byline and its date."""


class OriginalParts:
    """The parts of an original that are translated into a language.

    The list of sources has none, nor has the byline of a news report, if the words for it are
    known. Parts are found by the number of their leaf in the original.
    """

    def __init__(self, document: Document, language: str) -> None:
        self.leaves: Sequence[Block] = document.leaves()
        blocks = document.blocks()
        # The number of the leaf by the number of the block: blocks are numbered among themselves.
        leaf_of_block = []
        for leaf in self.leaves:
            if is_block(leaf.element):
                leaf_of_block.append(leaf.number)
        listed = listed_numbers(blocks)
        self.listed = {leaf_of_block[number] for number in listed}
        """The leaves of the list of sources and its heading."""

        self.words: dict[int, Block] = {}
        """The blocks with words to translate."""

        for block in _with_words(blocks, listed, language):
            self.words[leaf_of_block[block.number]] = block
        self._descriptions: dict[int, list[Block]] = {}
        number = len(blocks)
        for leaf in self.leaves:
            if leaf.number in self.listed or leaf.kind == "pre":
                continue
            for description in descriptions_in(leaf.element):
                part = as_block(description, number)
                if has_words(part):
                    self._descriptions.setdefault(leaf.number, []).append(part)
                    number += 1

    def descriptions(self, leaf_number: int) -> Sequence[Block]:
        """Return the descriptions to translate of a leaf."""
        return self._descriptions.get(leaf_number, ())

    def of(self, leaf_number: int) -> list[Block]:
        """Return all parts of a leaf."""
        parts = list(self.descriptions(leaf_number))
        if leaf_number in self.words:
            parts.insert(0, self.words[leaf_number])
        return parts

    def __iter__(self) -> Iterator[tuple[int, Block]]:
        """Yield each part with the number of its leaf, in the order of the original."""
        for leaf in self.leaves:
            for part in self.of(leaf.number):
                yield leaf.number, part


def _with_words(blocks: Sequence[Block], listed: Collection[int], language: str) -> list[Block]:
    """Return the blocks of an original with words to translate into a language.

    The items of its list of sources, which is `listed`, are left out. So are its heading and the
    byline of a news report, if it is known what they are in that language.
    """
    is_known = find_language(language) is not None
    found = []
    for block in blocks:
        is_listed = block.number in listed
        is_heading_to_translate = block.kind == "h2" and not is_known
        if is_listed and not is_heading_to_translate:
            continue
        if is_known and find_byline(block) is not None:
            continue
        if has_words(block):
            found.append(block)
    return found


def find_byline(block: Block) -> NavigableString | None:
    """Return the words before the date in a byline that names no person.

    It is None for any other block.
    """
    if block.element.get("class") != "byline":
        return None
    first = block.element.find(string=True)
    if not isinstance(first, NavigableString) or first.strip(BESIDE_BYLINE) not in BYLINES:
        return None
    return first

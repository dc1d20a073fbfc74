"""The document in a text: its title and its blocks, as the tokens of its Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from markdown_it.token import Token

from ...language.words import count_words, split_words
from ...remark import Remark
from ..marks.marking import NO_PROSE, inline_text
from .parser import CODE_BLOCKS


@dataclass(frozen=True)
class MarkdownBlock:
    """A block at the top level of a text, such as a paragraph, a heading or a list."""

    tokens: list[Token]

    @property
    def kind(self) -> str:
        """The tag of the block, such as `p`, `h2`, `ul` or `pre`."""
        first = self.tokens[0]
        return "pre" if first.type in CODE_BLOCKS else first.tag

    @cached_property
    def text(self) -> str:
        """The plain text of the block, without code blocks."""
        return " ".join(inline_text(children) for children in self.inlines)

    @cached_property
    def words(self) -> list[str]:
        """The words of `text`, in lower case."""
        return split_words(self.text)

    @cached_property
    def prose(self) -> str:
        """The plain text of the block without any code or formula."""
        parts = []
        for children in self.inlines:
            words = [token for token in children if token.type not in NO_PROSE]
            parts.append(inline_text(words))
        return " ".join(parts)

    @cached_property
    def inlines(self) -> list[list[Token]]:
        """The inline tokens of each paragraph, heading and cell in the block."""
        return [token.children for token in self.tokens if token.children is not None]


@dataclass
class MarkdownDocument:
    """A text as its title and its blocks."""

    title: list[Token] = field(default_factory=list)
    blocks: list[MarkdownBlock] = field(default_factory=list)
    problem: str = ""
    """Why the text could not be read, or an empty string."""

    remarks: list[Remark] = field(default_factory=list)
    """What was changed in it or left out."""

    @property
    def text(self) -> str:
        """The plain text of all blocks, without code blocks."""
        return "\n".join(block.text for block in self.blocks)

    @property
    def prose(self) -> str:
        """The plain text of all blocks without any code."""
        return "\n".join(block.prose for block in self.blocks)

    @property
    def words(self) -> int:
        """The number of words below the title. Code blocks are not counted."""
        return count_words(chain.from_iterable(block.words for block in self.blocks))

    @property
    def headings(self) -> list[str]:
        """The texts of the headings of sections."""
        return [block.text for block in self.blocks if block.kind == "h2"]

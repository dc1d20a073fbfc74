"""The words of any block are a translation of it that changes nothing."""

from __future__ import annotations

from hypothesis import given
from test_fuzz import few, fuzz
from test_markdown_fuzz import blocks

from mkdocs_contentgen.errors import EditError, UnsafeHTMLError
from mkdocs_contentgen.html.block import Block
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.html.html_writer import unwrap_hints
from mkdocs_contentgen.translation.translatable import has_words, set_translated, to_translatable


def html_of(block: Block) -> str:
    """Return the HTML of a block without marks, which no translation keeps, and white space."""
    unwrap_hints(block.element)
    return "".join(block.html.split())


def test_words_come_back() -> None:
    """Whatever a block has beside its words is there again, in the same order."""

    @few
    @given(blocks)
    def check(html: str) -> None:
        try:
            found = Document(f"<article><h1>T</h1>{html}</article>", ["img.example"]).blocks()
        except UnsafeHTMLError:
            return
        for block in filter(has_words, found):
            try:
                markdown = to_translatable(block)
            except EditError:  # it has signs that stand for parts
                continue
            before = html_of(block)
            set_translated(block, markdown)
            assert html_of(block) == before

    fuzz(check)

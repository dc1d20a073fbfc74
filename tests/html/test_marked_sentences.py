"""Sentences with statements to check, and where they begin and end."""

from __future__ import annotations

import pytest
from article_with_marks import HTML
from golden_file import cases

from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.html.marked_sentences import Sentences

CASES = cases("document")


def test_statements() -> None:
    """Each stands in its sentence, with what that cites."""
    blocks = Document(HTML).blocks()
    assert blocks[1].statements == ["3 s", "5 EUR"]
    first, second = Sentences(blocks[1].element).marked()
    assert first.parts == [("It takes ", None), ("3 s", 0), (", says Bob. ", None)]
    assert (first.cited, second.cited) == ([], ["https://x.example/#a"])
    assert blocks[4].statements == ["9"]


@pytest.mark.parametrize("inner", CASES["a_removed_sentence_is_the_right_one"])
@pytest.mark.parametrize("number", [0, 1])
def test_a_removed_sentence_is_the_right_one(inner: str, number: int) -> None:
    """The other statement stays as it is."""
    document = Document(f"<article><h1>T</h1><p>{inner}</p></article>")
    block = document.blocks()[1]
    texts = block.statements
    block.remove_sentence(number)
    block = Document(document.to_lines()).blocks()[1]
    assert block.statements == [texts[1 - number]]
    assert "**" not in block.text


@pytest.mark.parametrize("number", ["12", "3.11", "2026-11-25", "17:00", "5 EUR", "3 s"])
@pytest.mark.parametrize("marked", ["{}", "<mark>{}</mark>", "<b>{}</b>"])
def test_sentences_end_after_figures(number: str, marked: str) -> None:
    """Whether a figure is marked or not, the sentence behind it stays."""
    sentence = f"<mark>Bob</mark> says that it is {marked.format(number)}."
    html = f"<article><h1>T</h1><p>{sentence} Small pages are built faster.</p></article>"
    document = Document(html)
    assert document.blocks()[1].remove_sentence(0) == f"Bob says that it is {number}."
    assert document.blocks()[1].text == "Small pages are built faster."


def test_a_sentence_can_begin_with_code() -> None:
    """It is no part of the sentence before it."""
    html = "<p>It takes <mark>3 s</mark>. <code>mkdocs. Serve</code> reloads it.</p>"
    document = Document(f"<article><h1>T</h1>{html}</article>")
    document.blocks()[1].remove_sentence(0)
    assert document.blocks()[1].text == "mkdocs. Serve reloads it."


def test_powers_and_indices_in_a_sentence_to_check() -> None:
    """In plain text, `10<sup>6</sup>` is 10⁶, and not 106."""
    html = "<article><p>It has <mark>10<sup>6</sup></mark> parts of CO<sub>2</sub>.</p></article>"
    assert Document(html).marked_sentences() == ["It has ‹10⁶› parts of CO₂."]

"""Blocks as light Markdown, and back."""

from __future__ import annotations

import pytest
from article_with_marks import HTML
from golden_file import cases

from mkdocs_contentgen.html.document import Document

CASES = cases("document")


def test_every_block_comes_back_as_it_was() -> None:
    """What a person saves without a change is what was there."""
    document = Document(HTML)
    before, blocks = document.to_lines(), document.blocks()
    for block in blocks:
        block.set_markdown(block.to_markdown())
    assert document.to_lines() == before
    assert [block.kind for block in blocks] == ["h1", "p", "li", "p", "td", "td", "p"]


def test_weak_statements_are_written_like_others() -> None:
    """A person reads no HTML, and a statement that is not changed stays weak."""
    weak = '<mark class="same-words">{}</mark>'
    line = f"<p>At {weak.format('5 pm')} and {weak.format('6 pm')}.</p>"
    document = Document(f"<article><h1>T</h1>{line}</article>")
    block = document.blocks()[1]
    assert block.to_markdown() == "At ==5 pm== and ==6 pm==."
    block.set_markdown("At ==5 pm== and ==7 pm==.")
    line = f"<p>At {weak.format('5 pm')} and <mark>7 pm</mark>.</p>"
    assert line in document.to_lines()


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('It is <a href="https://a.example/x">[1]</a>.', "It is [[1]](<https://a.example/x>)."),
        ("Of a file [2].", "Of a file [2]."),
        ("He said [sic] so, and [not known: when].", "He said [sic] so, and [not known: when]."),
        ("No link: [1](x), [a][b] or [c]: d.", r"No link: \[1\](x), \[a\][b] or \[c\]: d."),
        ("[1]<b>(x)</b>", "[1]<b>(x)</b>"),
        ('[1]<a href="https://a.example/">(x)</a>', "[1][(x)](<https://a.example/>)"),
        ("Half of one [1, and [a_b].", r"Half of one \[1, and \[a\_b\]."),
        ('<a href="https://a.example/">a] [b</a>', r"[a\] \[b](<https://a.example/>)"),
    ],
)
def test_brackets_are_read_as_they_look(html: str, markdown: str) -> None:
    """A citation has no signs that a person would have to understand; others that need some do."""
    document = Document(f"<article><h1>T</h1><p>{html}</p></article>")
    before = document.to_lines()
    block = document.blocks()[1]
    assert block.to_markdown() == markdown
    block.set_markdown(markdown)
    assert document.to_lines() == before


@pytest.mark.parametrize(("inner", "statements"), CASES["markup_within_markup"])
def test_markup_within_markup(inner: str, statements: list[str]) -> None:
    """Blocks come back the same, and each mark is a statement with its own text."""
    document = Document(f"<article><h1>T</h1><p>{inner}</p></article>")
    before, block = document.to_lines(), document.blocks()[1]
    assert block.statements == statements
    block.set_markdown(block.to_markdown())
    assert document.to_lines() == before


@pytest.mark.parametrize(
    "code", ["a  b", "a   b", " a  ", "a  <i>b  c</i>", "**a**  `b`", "a\tb", "a  &amp;lt;"]
)
def test_an_edit_keeps_the_spaces_of_code(code: str) -> None:
    """Whoever changes another word of the paragraph does not change the code."""
    document = Document(f"<article><h1>T</h1><p>Run <code>{code}</code> <b>now</b>.</p></article>")
    before = document.to_lines()
    block = document.blocks()[1]
    block.set_markdown(block.to_markdown())
    assert document.to_lines() == before
    block.set_markdown(block.to_markdown().replace("Run", "Start"))
    assert document.to_lines() == before.replace("Run", "Start")

"""The changes of a block by people, and what a block says."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from article_with_marks import HTML
from golden_file import cases
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.errors import EditError
from mkdocs_contentgen.html.block import Block
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.text import MAX_BLOCK

CASES = cases("document")

WORDS = (
    "one|<b>|</b>|<title>|</title>|<svg|/>|<|>|&lt;|`|*|==|~~|[x](/y)|[|](https://z.example)|<!--|"
    "-->|&|<kbd title='two'>|</kbd>|<p>|\\|![|<textarea>|<br>| |<rp>|<math>|three\x01|<script>|]]>"
).split("|")


def changed(change: Callable[[list[Block]], object], html: str = HTML) -> str:
    """Return the HTML after a change, on lines."""
    document = Document(html)
    change(document.blocks())
    return document.to_lines()


def test_code_is_changed_as_it_is() -> None:
    """With its lines and signs, and what was marked is marked where it still stands."""
    code = "<mark>serve</mark> <mark>--port</mark> 1\n  a == b &lt;c&gt;\n"
    html = f'<article><h1>T</h1><pre><code class="language-sh">{code}</code></pre></article>'
    document = Document(html)
    block = document.blocks()[1]
    assert block.to_markdown() == "serve --port 1\n  a == b <c>\n"
    block.set_markdown("start --port 2\n\n  a == **b** <i>&amp;\n")
    assert block.element.get_text() == "start --port 2\n\n  a == **b** <i>&amp;\n"
    assert block.statements == ["--port"]
    assert '<pre><code class="language-sh">start <mark>' in document.to_lines()
    with pytest.raises(EditError, match="remove it instead"):
        block.set_markdown(" \n")


def test_a_confirmed_statement_loses_its_mark_alone() -> None:
    """The rest of the block stays byte for byte."""
    after = changed(lambda blocks: blocks[1].confirm_statement(1))
    assert after == Document(HTML).to_lines().replace("<mark>5 EUR</mark>", "5 EUR")


def test_a_removed_sentence() -> None:
    """It goes with its statement; a block without another sentence goes, a cell becomes empty."""
    after = changed(lambda blocks: blocks[1].remove_sentence(0))
    assert '<p class="intro">It costs <mark>5 EUR</mark>' in after
    assert "<td></td>" in changed(lambda blocks: blocks[4].remove_sentence(0))


def test_what_is_empty_without_a_block_goes_too() -> None:
    """No item and no list stays without content."""
    document = Document(HTML)
    for block in document.blocks()[2:4]:
        block.remove()
    after = document.to_lines()
    assert "<ul>" not in after
    assert "<li>" not in after


def test_inserted_blocks() -> None:
    """A paragraph follows a paragraph, an item an item, and nothing a cell."""
    after = changed(lambda blocks: blocks[0].insert("h2", "New *one*"))
    assert "<h1>T &amp; x</h1>\n<h2>New <em>one</em></h2>" in after
    assert "<li>New</li>" in changed(lambda blocks: blocks[2].insert("p", "New"))
    with pytest.raises(EditError, match="cell"):
        changed(lambda blocks: blocks[4].insert("p", "New"))


@pytest.mark.parametrize(("markdown", "html"), CASES["what_a_person_writes"])
def test_what_a_person_writes(markdown: str, html: str) -> None:
    """Light Markdown is read, and anything that could harm is not."""
    after = changed(lambda blocks: blocks[6].set_markdown(markdown))
    assert html in after
    assert not any(bad in after for bad in ("<script", "onerror", 'href="java', "<img"))


@pytest.mark.parametrize(("markdown", "name"), CASES["what_a_text_cannot_have"])
def test_what_a_text_cannot_have(markdown: str, name: str) -> None:
    """It is refused by its name, since it would go without a word; the block stays."""
    blocks = Document(HTML).blocks()
    with pytest.raises(EditError) as refused:
        blocks[6].set_markdown(markdown)
    assert name in str(refused.value)
    assert blocks[6].text == "Last."


@pytest.mark.parametrize("line", ["https://example.com/a?b=1", "notes.txt", "/etc/hosts.html"])
def test_a_line_that_is_only_an_address(line: str) -> None:
    """It is text like any other, of which no library warns."""
    block = Document(HTML).blocks()[6]
    block.set_markdown(line)
    assert block.text == line


@pytest.mark.parametrize("line", ["a == b or c == d", "a == b"])
def test_a_comparison_is_no_statement(line: str) -> None:
    """Its signs are words of a person, too."""
    block = Document(HTML).blocks()[6]
    block.set_markdown(line)
    assert block.text == line


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map("".join))
def test_no_word_of_a_person_is_lost(markdown: str) -> None:
    """Each is in the text, or the person is told."""
    block = Document(HTML).blocks()[6]
    try:
        block.set_markdown(markdown)
    except EditError:
        return
    kept = block.element.decode()
    for word in ("one", "two", "three", "title", "script", "math", "textarea"):
        assert kept.count(word) == markdown.count(word)


@pytest.mark.parametrize(
    "markdown",
    [
        "",
        "  ",
        "two\n\nlines",
        "a\n- list",
        "a\n# title",
        "<p>a</p><p>b</p>",
        "x" * (MAX_BLOCK + 1),
        "<b></b>",
    ],
)
def test_what_is_no_block(markdown: str) -> None:
    """An empty, too long or nested text is refused, and the block stays."""
    blocks = Document(HTML).blocks()
    with pytest.raises(EditError):
        blocks[6].set_markdown(markdown)
    assert blocks[6].text == "Last."


@pytest.mark.parametrize("markdown", ["==a" * 6000, "<" * 20_000, "‹" * 20_000, "[" * 20_000])
def test_a_block_that_would_take_long(markdown: str) -> None:
    """It is refused, or read in a second."""
    blocks = Document("<article><h1>T</h1><p>x</p></article>").blocks()
    started = time.process_time()
    with suppress(EditError):
        blocks[1].set_markdown(markdown)
    assert time.process_time() - started < 5


def test_images_of_known_hosts_stay() -> None:
    """They are no links, neither in other blocks nor in the one that is changed."""
    image = '<img src="https://images.example/a.png" alt="a">'
    html = f"<article><h1>T</h1><p>One {image}</p><p>Two</p></article>"
    document = Document(html, ["images.example"])
    _, one, two = document.blocks()
    two.set_markdown("Three")
    one.set_markdown(one.to_markdown().replace("One", "First"))
    assert document.to_lines().count("<img") == 1
    assert "First" in document.to_lines()


def test_a_cell_with_a_paragraph_keeps_its_place() -> None:
    """Without its paragraph, it is an empty cell."""
    row = "<tr><td><p>a</p></td><td><p>b</p></td></tr>"
    html = f"<article><h1>T</h1><table><tbody>{row}</tbody></table></article>"
    assert "<td></td>" in changed(lambda blocks: blocks[1].remove(), html)


@pytest.mark.parametrize(
    "html",
    [
        "A <mark> b</mark> c",
        "A <mark>b </mark> c <mark>d</mark>",
        "A <span class='to-read'> b. </span> c",
        "A <code>b <mark> c</mark></code>",
    ],
)
def test_an_approval_changes_no_digest(html: str) -> None:
    """What a block says is the same without marks, wherever there is white space beside them."""
    document = Document(f"<article><h1>T</h1><p style='color: red'>{html}</p></article>")
    approved = Document(document.to_lines(marks=False))
    assert [leaf.content_digest for leaf in document.leaves()] == [
        leaf.content_digest for leaf in approved.leaves()
    ]

"""Blocks of a text: as light Markdown and back, and the changes of a person."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from mkdocs_contentgen.errors import EditError
from mkdocs_contentgen.html.article import parse_article
from mkdocs_contentgen.html.blocks import (
    MAX_BLOCK,
    confirm_statement,
    finish,
    insert_block,
    move_block,
    read_blocks,
    remove_block,
    remove_sentence,
    set_markdown,
)
from mkdocs_contentgen.texts.approval import to_lines

HTML = """<article><h1>T &amp; x</h1>
<p class="intro">It takes <mark>3 s</mark>, says <em>Bob</em>. It costs <mark>5 EUR</mark>
<a href="https://x.example/#a">[1]</a>. A <code>b == c</code>, 2*3*4, a_b_c, [x],
&lt;p&gt;, \\, &amp;lt; <kbd>Ctrl</kbd>.</p>
<ul><li>One <strong>two</strong></li><li><p>Para</p></li></ul>
<table><tr><td>cell <mark>9</mark></td><td>b</td></tr></table><p>Last.</p></article>"""


def changed(change: object) -> str:
    """Return the HTML after a change, on lines."""
    article, blocks = read_blocks(HTML)
    assert callable(change)
    change(article, blocks)
    return to_lines(article)


def test_every_block_comes_back_as_it_was() -> None:
    """What a person saves without a change is what was there."""
    article, blocks = read_blocks(HTML)
    before = to_lines(article)
    for block in blocks:
        set_markdown(block, block.markdown)
    assert to_lines(article) == before
    assert [block.kind for block in blocks] == ["h1", "p", "li", "p", "td", "td", "p"]


def test_statements() -> None:
    """Each has its sentence, with the other marks as text, and what the sentence cites."""
    _, blocks = read_blocks(HTML)
    first, second = blocks[1].statements
    assert (first.text, first.cited) == ("3 s", [])
    assert first.sentence == [
        ("It takes ", False), ("3 s", True), (", says ", False), ("Bob", False), (". ", False)
    ]  # fmt: skip
    assert (second.text, second.cited) == ("5 EUR", ["https://x.example/#a"])
    assert [it.text for it in blocks[4].statements] == ["9"]


def test_a_confirmed_statement_loses_its_mark_alone() -> None:
    """The rest of the block stays byte for byte."""
    before = to_lines(read_blocks(HTML)[0])
    after = changed(lambda article, blocks: confirm_statement(blocks[1], 1))
    assert after == before.replace("<mark>5 EUR</mark>", "5 EUR")


def test_a_removed_sentence() -> None:
    """It goes with its statement; a block without another sentence goes, a cell becomes empty."""
    after = changed(lambda article, blocks: remove_sentence(article, blocks[1], 0))
    assert "It takes" not in after
    assert "It costs <mark>5 EUR</mark>" in after
    assert "<td></td>" in changed(lambda article, blocks: remove_sentence(article, blocks[4], 0))


def test_what_is_empty_without_a_block_goes_too() -> None:
    """No item and no list stays without content."""
    article, blocks = read_blocks(HTML)
    for block in blocks[2:4]:
        remove_block(article, block)
    assert "<ul>" not in to_lines(article)
    assert "<li>" not in to_lines(article)


def test_inserted_blocks() -> None:
    """A paragraph follows a paragraph, an item an item, and nothing a cell."""
    after = changed(lambda article, blocks: insert_block(blocks[0], "h2", "New *one*"))
    assert "<h1>T &amp; x</h1>\n<h2>New <em>one</em></h2>" in after
    assert "<li>New</li>" in changed(lambda article, blocks: insert_block(blocks[2], "p", "New"))
    with pytest.raises(EditError, match="cell"):
        changed(lambda article, blocks: insert_block(blocks[4], "p", "New"))


def test_moved_blocks() -> None:
    """A block moves within its part of the text."""
    after = changed(lambda article, blocks: move_block(blocks, 6, 0))
    assert "<h1>T &amp; x</h1>\n<p>Last.</p>" in after
    assert "<article>\n<p>Last.</p>" in changed(lambda article, blocks: move_block(blocks, 6, -1))
    with pytest.raises(EditError, match="within"):
        changed(lambda article, blocks: move_block(blocks, 6, 2))


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**b** *i* `c` ==3 s==", "<strong>b</strong> <em>i</em> <code>c</code> <mark>3 s</mark>"),
        ("[l](https://a.example)", '<a href="https://a.example" rel="'),
        ("<script>alert(1)</script>x", "<p>x</p>"),
        ("[l](javascript:alert(1))", "<p>[l](javascript:alert(1))</p>"),
        ('<img src=x onerror="alert(1)">x', "x</p>"),
        ("<a href='javascript:alert(1)'>x</a>", "x"),
        ("a ==b", "a ==b"),
        ("====", "===="),
        ("two\nlines", "two lines"),
    ],
)
def test_what_a_person_writes(markdown: str, html: str) -> None:
    """Light Markdown is read, and anything that could harm is not."""
    after = changed(lambda article, blocks: set_markdown(blocks[6], markdown))
    assert html in after
    assert not any(bad in after for bad in ("<script", "onerror", 'href="java', "<img"))


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
    _, blocks = read_blocks(HTML)
    with pytest.raises(EditError):
        set_markdown(blocks[6], markdown)
    assert blocks[6].text == "Last."


def one(inner: str, tag: str = "p") -> tuple[str, list[str]]:
    """Return a block as it comes back unchanged, and the texts of its statements."""
    article, blocks = read_blocks(f"<article><h1>T</h1><{tag}>{inner}</{tag}></article>")
    before = to_lines(article)
    statements = [it.text for it in blocks[1].statements]
    set_markdown(blocks[1], blocks[1].markdown)
    assert to_lines(article) == before
    return before, statements


@pytest.mark.parametrize(
    ("inner", "statements"),
    [
        ('a<strong>"b"</strong>c and <em>(x)</em>y, <strong>z.</strong>q', []),
        ("<em>a <em>b</em></em><strong>c</strong><strong>d</strong>", []),
        ('<a href="https://x.example/a&gt;b">x</a>', []),
        ("Use <mark>a <code>x == y</code> b</mark> and <mark>c</mark> d.", ["a x == y b", "c"]),
        ("A=<mark>5</mark>=x. <mark>=</mark> Next <mark>=7=</mark>.", ["5", "=", "=7="]),
        ("A <mark> 5 </mark>. Next <mark>7</mark>.", ["5", "7"]),
        ("A\\<mark>5</mark>. B\\\\<mark>6</mark>. C", ["5", "6"]),
        ('Says <mark lang="en">Jane</mark> and <mark class="lead">Bob</mark>.', ["Jane", "Bob"]),
    ],
)
def test_markup_within_markup(inner: str, statements: list[str]) -> None:
    """Blocks come back the same, and each mark is a statement with its own text."""
    assert one(inner)[1] == statements


@pytest.mark.parametrize(
    "inner",
    [
        "Use <code>a==b</code> and <mark>3</mark>. Then x==y and <mark>4</mark>.",
        "A <mark> 5 </mark>. Next <mark>7</mark>.",
        "A <strong>first. <mark>5</mark> second.</strong> third <mark>7</mark>. Four.",
        "需要<mark>3 秒</mark>。然后<mark>5 元</mark>。完。",
        'a <mark>5</mark>. See <a href="https://x.example/?c==d">m</a>. <mark>6</mark> z.',
    ],
)
@pytest.mark.parametrize("number", [0, 1])
def test_a_removed_sentence_is_the_right_one(inner: str, number: int) -> None:
    """The other statement stays, or the removal is refused."""
    article, blocks = read_blocks(f"<article><h1>T</h1><p>{inner}</p></article>")
    texts = [it.text for it in blocks[1].statements]
    try:
        remove_sentence(article, blocks[1], number)
    except EditError:
        assert "<strong>" in inner
        return
    _, blocks = read_blocks(to_lines(article))
    assert [it.text for it in blocks[1].statements] == [texts[1 - number]]
    assert "**" not in blocks[1].text


def test_code_and_text_behind_a_block_stay() -> None:
    """Code is not changed as a line, and what follows a removed block is no part of it."""
    inner = "<ul><li>One<ul><li>in</li></ul>tail</li></ul>"
    html = f"<article><h1>T</h1><pre>a\n  b</pre>{inner}</article>"
    article, blocks = read_blocks(html)
    with pytest.raises(EditError, match="code"):
        set_markdown(blocks[1], "a b")
    remove_block(article, blocks[2])
    assert "tail" in to_lines(article)
    assert "a\n  b" in to_lines(article)


@pytest.mark.parametrize("markdown", ["==a" * 6000, "<" * 20_000, "‹" * 20_000, "[" * 20_000])
def test_a_block_that_would_take_long(markdown: str) -> None:
    """It is refused, or read in a second."""
    _, blocks = read_blocks("<article><h1>T</h1><p>x</p></article>")
    started = time.process_time()
    with suppress(EditError):
        set_markdown(blocks[1], markdown)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("inner", "texts"),
    [
        ("<ul><li>Parent <mark>5 EUR</mark><ul><li>a</li></ul></li></ul>", ["Parent 5 EUR", "a"]),
        ("<blockquote>Words<footer>Jane</footer></blockquote>", ["Words", "Jane"]),
        ("<blockquote><p>Words</p><footer>Jane</footer></blockquote>", ["Words", "Jane"]),
        ("<ul><li>a<hr>b</li></ul>", ["a", "b"]),
        ("Bare <b>text</b><p>p</p> and more", ["Bare text", "p", "and more"]),
        ("<div>a<p>b</p>c</div>", ["a", "b", "c"]),
    ],
)
def test_text_beside_blocks(inner: str, texts: list[str]) -> None:
    """It is a block of its own, and the text stays as it is."""
    html = f"<article><h1>T</h1>{inner}</article>"
    article, blocks = read_blocks(html)
    assert [it.text for it in blocks] == ["T", *texts]
    assert [it.markdown for it in blocks]
    assert to_lines(finish(article)) == to_lines(parse_article(html))
    article, blocks = read_blocks(html)
    set_markdown(blocks[1], "Other")
    assert "Other" in to_lines(finish(article))
    assert [it.text for it in read_blocks(to_lines(article))[1]] == ["T", "Other", *texts[1:]]


def test_images_of_known_hosts_stay() -> None:
    """They are no links, neither in other blocks nor in the one that is changed."""
    image = '<img src="https://images.example/a.png" alt="a">'
    html = f"<article><h1>T</h1><p>One {image}</p><p>Two</p></article>"
    article, blocks = read_blocks(html, ["images.example"])
    set_markdown(blocks[2], "Three")
    set_markdown(blocks[1], blocks[1].markdown.replace("One", "First"))
    assert to_lines(finish(article)).count("<img") == 1
    assert "First" in to_lines(article)


def test_a_cell_with_a_paragraph_keeps_its_place() -> None:
    """Without its paragraph, it is an empty cell."""
    cells = "<td><p>a</p></td><td><p>b</p></td>"
    article, blocks = read_blocks(
        f"<article><h1>T</h1><table><tbody><tr>{cells}</tr></tbody></table></article>"
    )
    remove_block(article, blocks[1])
    assert "<td></td>" in to_lines(article)

"""The document of a text: its blocks, its statements, and the HTML of its file."""

from __future__ import annotations

import re

import pytest
from article_with_marks import HTML
from golden_file import cases

from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.html.marked_sentences import Sentences

CASES = cases("document")


def test_the_order_of_attributes() -> None:
    """It is no difference between two texts: in files, attributes are in alphabetical order."""
    other = HTML.replace('<p class="intro">', '<p style="color: red" class="intro">')
    same = HTML.replace('<p class="intro">', '<p class="intro" style="color: red">')
    assert Document(other).to_lines() == Document(same).to_lines()
    assert Document(other).blocks()[1].content_digest == Document(same).blocks()[1].content_digest
    assert '<p class="intro" style="color: red">' in Document(other).to_lines()


def test_weak_statements_come_last() -> None:
    """What a source says in another form is listed behind what no source says."""
    weak = '<mark class="same-words">{}</mark>'
    html = (
        f"<article><h1>T</h1><p>At {weak.format('5 pm')}. In <mark>1999</mark>, {weak.format('5')}."
        "</p><p>It is <mark>new</mark>.</p></article>"
    )
    document = Document(html)
    assert document.statements() == ["1999", "new", "5 pm", "5"]
    sentences = ["In ‹1999›, ‹5›.", "It is ‹new›.", "At ‹5 pm›."]
    assert document.marked_sentences() == sentences


@pytest.mark.parametrize(
    ("marked", "statements"),
    [
        ("<p>It <mark>took <mark>42</mark> days</mark>.</p>", ["took 42 days"]),
        ("<p>It <mark></mark>is <mark> </mark> so.</p>", []),
        ("<mark><p>One.</p><p>Two <b><mark>x</mark></b></p></mark>", ["One.", "Two x"]),
        ("<table><tr><td><mark>1</mark></td><td><mark>2</mark></td></tr></table>", ["1", "2"]),
    ],
)
def test_each_statement_counts_once(marked: str, statements: list[str]) -> None:
    """A mark within another or around nothing is no statement, however it is counted."""
    document = Document(f"<article><h1>T</h1>{marked}</article>")
    assert document.statements() == statements
    assert document.count_statements() == len(statements)
    assert Document(document.to_lines()).to_lines() == document.to_lines()
    cards = [Sentences(block.element).marked() for block in document.blocks()]
    numbers = [n for card in cards for sentence in card for _, n in sentence.parts if n is not None]
    assert len(numbers) == len(statements)


def test_sentences_are_counted() -> None:
    """Several statements of a sentence are one thing to check."""
    document = Document(
        "<article><h1>T</h1><p>It has <mark>2 doors</mark> and <mark>4 keys</mark>. It costs "
        "<mark>5 EUR</mark>.</p><ul><li>In <mark>2019</mark></li><li>No.</li></ul></article>"
    )
    assert (document.count_statements(), document.count_sentences()) == (4, 3)


def test_code_and_text_behind_a_block_stay() -> None:
    """What follows a removed block is no part of it."""
    inner = "<ul><li>One<ul><li>in</li></ul>tail</li></ul>"
    html = f"<article><h1>T</h1><pre>a\n  b</pre>{inner}</article>"
    document = Document(html)
    blocks = document.blocks()
    blocks[3].remove()
    assert "<li>\nOne\ntail\n</li>" in document.to_lines()
    assert "a\n  b" in document.to_lines()


@pytest.mark.parametrize(("inner", "texts"), CASES["text_beside_blocks"])
def test_text_beside_blocks(inner: str, texts: list[str]) -> None:
    """It is a block of its own, and the text stays as it is."""
    document = Document(f"<article><h1>T</h1>{inner}</article>")
    blocks, lines = document.blocks(), document.to_lines()
    assert [it.text for it in blocks] == ["T", *texts]
    assert Document(lines).to_lines() == lines
    without = re.sub(r"\s", "", lines)
    assert without == f"<article><h1>T</h1>{inner}</article>".replace(" ", "")
    blocks[1].set_markdown("Other")
    after = Document(document.to_lines()).blocks()
    assert [it.text for it in after] == ["T", "Other", *texts[1:]]


@pytest.mark.parametrize(
    "inner",
    ["Loose <mark>5</mark>", "<ul>a <mark>5</mark><li>b</li></ul>", "<mark><p>5</p></mark>"],
)
def test_statements_anywhere(inner: str) -> None:
    """Each stands in a block, and can be confirmed."""
    document = Document(f"<article><h1>T</h1>{inner}</article>")
    (block,) = (it for it in document.blocks() if it.statements)
    assert block.statements == ["5"]
    block.confirm_statement(0)
    assert "<mark>" not in document.to_lines()


def test_spaces_that_are_seen_stay() -> None:
    """There is no line break within a word, nor in a row of a table."""
    inner = "A<span>loose<p>x</p>more</span> b <i>c</i>"
    row = "<tr><td>1</td><td><p>2</p></td></tr>"
    html = f"<article>{inner}<table><tbody>{row}</tbody></table></article>"
    lines = Document(html).to_lines()
    assert "A<span>loose\n<p>x</p>\nmore</span> b <i>c</i>\n" in lines
    assert f"\n{row}\n" in lines


CODE = "<pre><code>a\n\n  b  c\n=======\n||||||| d\n</code></pre>"

INLINE = "Run <code>a  b</code>,<br>then <b>go</b> on."

SHAPED = f"<article>\n<h1>T</h1>\n<p>{INLINE}</p>\n<ul>\n<li>x</li>\n</ul>\n{CODE}\n</article>\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n<", "\n    <"),
        ("\n<", "\n\n\t<"),
        ("\n</", "</"),
        ("<p>", "<p>\n  "),
        ("<li>", "<li>\n "),
        ("</li>", "\n</li>"),
        ("<br>", "<br />\n  "),
        ("<br>", " <br>"),
        ("<b>", "<b\n  >"),
        (" on.", "\n  on."),
        ("a  b</code>", "a  b</code\n  >"),
        ("a  b", "a&#32;&#32;b"),
        ("a  b", "a &#32;b"),
        ("<article>", "\n<!-- ours --><article>"),
        ("\n", "\r\n"),
    ],
)
def test_spaces_that_nobody_sees_are_no_change(old: str, new: str) -> None:
    """A text that a formatter has indented, wrapped or spread is the same document."""
    before, code, end = SHAPED.partition("<pre>")
    lines = Document(SHAPED).to_lines()
    if new == "\r\n":
        assert Document(SHAPED.replace(old, new)).to_lines() == lines
    assert Document(before.replace(old, new) + code + end).to_lines() == lines


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  b  c", " b  c"),
        ("  c\n", "  c \n"),
        ("\n\n  b", "\n  b"),
        ("a  b</code>", "a b</code>"),
        ("<code>a  b", "<code> a  b"),
        (" <b>", "<b>"),
        ("go</b> on", "go</b>on"),
    ],
)
def test_spaces_that_are_content_are_a_change(old: str, new: str) -> None:
    """In code, each space is one that a reader copies; between words, there is one or none."""
    assert old in SHAPED
    lines = Document(SHAPED.replace(old, new)).to_lines()
    assert lines != Document(SHAPED).to_lines()
    assert Document(lines).to_lines() == lines


def test_a_wrapped_line_of_code_is_one_line() -> None:
    """Formatters wrap code in a paragraph as they wrap words."""
    wrapped = SHAPED.replace("a  b</code>", "a\n    b</code>")
    assert Document(wrapped).to_lines() == Document(SHAPED.replace("a  b", "a b")).to_lines()


def test_no_line_looks_like_a_merge_conflict() -> None:
    """A heading underlined in code is kept, and is no marker of git."""
    lines = Document(SHAPED).to_lines()
    assert "\n=" not in lines
    assert "\n&#61;======\n&#124;|||||| d\n" in lines
    assert Document(lines).to_lines() == lines
    assert Document(lines).blocks()[-1].element.get_text() == "a\n\n  b  c\n=======\n||||||| d\n"


def test_sentences_to_read() -> None:
    """They are listed, nobody edits their signs, and an approved text has none."""
    sign = '<span class="to-read">A <em>b</em> <mark>5</mark>.</span>'
    document = Document(f"<article><h1>T</h1><p>{sign} C.</p></article>")
    assert document.sentences_to_read() == ["A b 5."]
    _, block = document.blocks()
    assert block.to_markdown() == "A *b* ==5==. C."
    assert "to-read" in document.to_lines()
    assert "to-read" not in document.to_lines(marks=False)

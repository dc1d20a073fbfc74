"""Blocks of a text: as light Markdown and back, and the changes of a person."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from golden_file import cases
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.errors import EditError
from mkdocs_contentgen.html.document import Block, Document, Sentences
from mkdocs_contentgen.text import MAX_BLOCK

CASES = cases("document")

HTML = """<article><h1>T &amp; x</h1>
<p class="intro">It takes <mark>3 s</mark>, says <em>Bob</em>. It costs <mark>5 EUR</mark>
<a href="https://x.example/#a">[1]</a>. A <code>b == c</code>, 2*3*4, a_b_c, [x],
&lt;p&gt;, \\, &amp;lt; <kbd>Ctrl</kbd>.</p>
<ul><li>One <strong>two</strong></li><li><p>Para</p></li></ul>
<table><tr><td>cell <mark>9</mark></td><td>b</td></tr></table><p>Last.</p></article>"""


def changed(change: Callable[[list[Block]], object], html: str = HTML) -> str:
    """Return the HTML after a change, on lines."""
    document = Document(html)
    change(document.blocks())
    return document.to_lines()


def test_every_block_comes_back_as_it_was() -> None:
    """What a person saves without a change is what was there."""
    document = Document(HTML)
    before, blocks = document.to_lines(), document.blocks()
    for block in blocks:
        block.set_markdown(block.to_markdown())
    assert document.to_lines() == before
    assert [block.kind for block in blocks] == ["h1", "p", "li", "p", "td", "td", "p"]


def test_the_order_of_attributes() -> None:
    """It is no difference between two texts: in files, attributes are in alphabetical order."""
    other = HTML.replace('<p class="intro">', '<p style="color: red" class="intro">')
    same = HTML.replace('<p class="intro">', '<p class="intro" style="color: red">')
    assert Document(other).to_lines() == Document(same).to_lines()
    assert Document(other).blocks()[1].content_digest == Document(same).blocks()[1].content_digest
    assert '<p class="intro" style="color: red">' in Document(other).to_lines()


def test_statements() -> None:
    """Each stands in its sentence, with what that cites."""
    blocks = Document(HTML).blocks()
    assert blocks[1].statements == ["3 s", "5 EUR"]
    first, second = Sentences(blocks[1].element).marked()
    assert first.parts == [("It takes ", None), ("3 s", 0), (", says Bob. ", None)]
    assert (first.cited, second.cited) == ([], ["https://x.example/#a"])
    assert blocks[4].statements == ["9"]


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


WORDS = (
    "one|<b>|</b>|<title>|</title>|<svg|/>|<|>|&lt;|`|*|==|~~|[x](/y)|[|](https://z.example)|<!--|"
    "-->|&|<kbd title='two'>|</kbd>|<p>|\\|![|<textarea>|<br>| |<rp>|<math>|three\x01|<script>|]]>"
).split("|")


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


@pytest.mark.parametrize(("inner", "statements"), CASES["markup_within_markup"])
def test_markup_within_markup(inner: str, statements: list[str]) -> None:
    """Blocks come back the same, and each mark is a statement with its own text."""
    document = Document(f"<article><h1>T</h1><p>{inner}</p></article>")
    before, block = document.to_lines(), document.blocks()[1]
    assert block.statements == statements
    block.set_markdown(block.to_markdown())
    assert document.to_lines() == before


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


def test_code_and_text_behind_a_block_stay() -> None:
    """What follows a removed block is no part of it."""
    inner = "<ul><li>One<ul><li>in</li></ul>tail</li></ul>"
    html = f"<article><h1>T</h1><pre>a\n  b</pre>{inner}</article>"
    document = Document(html)
    blocks = document.blocks()
    blocks[3].remove()
    assert "<li>\nOne\ntail\n</li>" in document.to_lines()
    assert "a\n  b" in document.to_lines()


@pytest.mark.parametrize("markdown", ["==a" * 6000, "<" * 20_000, "‹" * 20_000, "[" * 20_000])
def test_a_block_that_would_take_long(markdown: str) -> None:
    """It is refused, or read in a second."""
    blocks = Document("<article><h1>T</h1><p>x</p></article>").blocks()
    started = time.process_time()
    with suppress(EditError):
        blocks[1].set_markdown(markdown)
    assert time.process_time() - started < 5


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


def test_sentences_to_read() -> None:
    """They are listed, nobody edits their signs, and an approved text has none."""
    sign = '<span class="to-read">A <em>b</em> <mark>5</mark>.</span>'
    document = Document(f"<article><h1>T</h1><p>{sign} C.</p></article>")
    assert document.sentences_to_read() == ["A b 5."]
    _, block = document.blocks()
    assert block.to_markdown() == "A *b* ==5==. C."
    assert "to-read" in document.to_lines()
    assert "to-read" not in document.to_lines(marks=False)


def test_powers_and_indices_in_a_sentence_to_check() -> None:
    """In plain text, `10<sup>6</sup>` is 10⁶, and not 106."""
    html = "<article><p>It has <mark>10<sup>6</sup></mark> parts of CO<sub>2</sub>.</p></article>"
    assert Document(html).marked_sentences() == ["It has ‹10⁶› parts of CO₂."]


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

"""What differs between two versions of a text, and taking it back."""

from __future__ import annotations

import re
import time

import pytest
from desk_site import HTML
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mkdocs_contentgen.desk.comparing import Row, compare, take_back
from mkdocs_contentgen.errors import EditError
from mkdocs_contentgen.html.blocks import (
    finish,
    insert_block,
    move_block,
    read_blocks,
    remove_block,
    set_markdown,
)
from mkdocs_contentgen.texts.approval import to_lines

PARAGRAPHS = [f"{word} is a paragraph of its own" for word in ("One", "Two", "Three", "Four")]


def html_of(*paragraphs: str) -> str:
    """Return a text with these paragraphs."""
    return f"<article><h1>T</h1>{''.join(f'<p>{it}</p>' for it in paragraphs)}</article>"


def differences(before: str, after: str) -> list[tuple[str, str, str]]:
    """Return kind and texts of each row that differs."""
    rows = compare(read_blocks(before)[1], read_blocks(after)[1])
    return [(it.kind, *it.texts) for it in rows if it.kind != "equal"]


def test_kinds_of_differences() -> None:
    """A block is changed, added, removed or moved."""
    one, two, three, four = PARAGRAPHS
    before = html_of(one, two, three, four)
    assert differences(before, html_of(one, f"{two} now", three, four)) == [
        ("changed", two, f"{two} now")
    ]
    assert differences(before, html_of(one, "Nothing like it", three, four)) == [
        ("changed", two, "Nothing like it")
    ]
    assert differences(before, html_of(one, three, four)) == [("removed", two, "")]
    assert differences(before, html_of(one, two, three, "Other words", four)) == [
        ("added", "", "Other words")
    ]
    assert differences(before, html_of(two, three, four, one)) == [
        ("moved away", one, ""),
        ("moved here", one, one),
    ]


def test_one_moved_beside_one_changed() -> None:
    """The block that was moved is the one that is named, although others changed."""
    one, two, three, four = PARAGRAPHS
    found = differences(html_of(one, two, three, four), html_of(two, f"{three} now", four, one))
    assert [kind for kind, *_ in found] == ["moved away", "changed", "moved here"]
    assert found[0][1] == one


def test_one_added_before_one_changed() -> None:
    """What is similar belongs together, although the new one is where the old one was."""
    one, two, three, _ = PARAGRAPHS
    before = html_of(one, two, three)
    assert differences(before, html_of(one, "A short addition", f"{two} now", three)) == [
        ("added", "", "A short addition"),
        ("changed", two, f"{two} now"),
    ]


def test_words_of_a_change() -> None:
    """What is bold now differs too, and a statement that was confirmed does not."""
    row = Row(
        "changed", *(read_blocks(html_of(it))[1][1] for it in ("a b c", "a <strong>b</strong> c"))
    )
    assert ("new", "<strong>b</strong>") in [(kind, text.strip()) for kind, text in row.words()]
    assert differences(html_of("It is <mark>4</mark>."), html_of("It is 4.")) == []


NESTED = (
    '<article><h1>T</h1><ul><li>X<ul id="n"><li>a</li><li>b</li></ul></li><li>Y</li></ul>'
    '<section class="s"><h2>Part</h2><p>One</p></section><blockquote><p>Q1</p></blockquote>'
    '<blockquote><p>Q2</p></blockquote><ol start="3"><li>c</li></ol><p>End</p></article>'
)


@pytest.mark.parametrize("gone", [["a", "b"], ["X"], ["Part", "One"], ["Q1"], ["Q2"], ["c"], ["Y"]])
def test_what_was_around_a_block_comes_back(gone: list[str]) -> None:
    """A list in a list, a section, a quotation: with their attributes, where they were."""
    article, blocks = read_blocks(NESTED)
    whole = to_lines(finish(article))
    for name in gone:
        article, blocks = read_blocks(to_lines(finish(article)))
        remove_block(article, next(it for it in blocks if it.text == name))
    before = read_blocks(NESTED)[1]
    for _ in gone:
        article, blocks = read_blocks(to_lines(finish(article)))
        rows = compare(before, blocks)
        left = [n for n, it in enumerate(rows) if it.kind not in ("equal", "moved away")]
        take_back(article, rows, left[0])
    shown = re.sub(r">\s+<", "><", to_lines(finish(article)))
    assert shown == re.sub(r">\s+<", "><", whole)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (html_of("a b " * 1000), html_of("b a " * 1000)),
        (html_of(*["x", "y"] * 600), html_of(*["y", "x"] * 600)),
        (html_of(*["same"] * 2000), html_of(*["same"] * 1999)),
    ],
)
def test_repetitive_texts_take_no_minutes(before: str, after: str) -> None:
    """What occurs again and again would take a minute to compare word by word. 2 s."""
    started = time.monotonic()
    rows = compare(read_blocks(before)[1], read_blocks(after)[1])
    assert all(list(row.words()) is not None for row in rows)
    assert time.monotonic() - started < 20


def test_the_end_of_a_long_block_counts() -> None:
    """A change after the first two thousand words is one."""
    row = Row("changed", *(read_blocks(html_of("w " * 2500 + it))[1][1] for it in ("a", "b")))
    assert {kind for kind, _ in row.words()} == {"equal", "old", "new"}


def test_a_cell_does_not_come_back() -> None:
    """There is no place that is surely its own."""
    before = "<article><h1>T</h1><table><tr><td>a</td><td>b</td></tr></table></article>"
    article, blocks = read_blocks(before)
    remove_block(article, blocks[1])
    rows = compare(read_blocks(before)[1], read_blocks(to_lines(article))[1])
    with pytest.raises(EditError, match="Undo"):
        take_back(article, rows, next(n for n, it in enumerate(rows) if it.kind == "removed"))


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["edit", "delete", "insert", "move"]),
        st.integers(1, 30),
        st.integers(1, 30),
    ),
    max_size=8,
)


@given(CHANGES)
@example([*[("delete", 1, 1)] * 4, ("insert", 2, 1), ("delete", 2, 1)])
@settings(max_examples=200)
def test_all_that_was_changed_can_be_taken_back(changes: list[tuple[str, int, int]]) -> None:
    """One difference after the other, until the blocks are those of the earlier text. 3 s."""
    article, blocks = read_blocks(HTML)
    for number, (kind, one, other) in enumerate(changes):
        blocks = read_blocks(to_lines(article))[1]
        article, blocks = read_blocks(to_lines(article))
        block = blocks[1 + one % (len(blocks) - 1)] if len(blocks) > 1 else blocks[0]
        if kind == "edit":
            set_markdown(block, f"{block.text} and {number}")
        elif kind == "delete" and len(blocks) > 2:
            remove_block(article, block)
        elif kind == "insert":
            insert_block(block, "p", f"New {number}")
        elif kind == "move":
            near = [it for it in blocks if it.parent is block.parent]
            move_block(blocks, block.number, near[other % len(near)].number)
    before = read_blocks(HTML)[1]
    for _ in range(60):
        article, blocks = read_blocks(to_lines(article))
        rows = compare(before, blocks)
        left = [n for n, it in enumerate(rows) if it.kind not in ("equal", "moved away")]
        if not left:
            break
        take_back(article, rows, left[0])
    assert [(it.kind, it.text) for it in blocks] == [(it.kind, it.text) for it in before]

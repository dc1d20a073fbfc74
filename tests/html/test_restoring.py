"""Differences between two versions of a document that are taken back."""

from __future__ import annotations

import pytest
from golden_file import cases
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_differences import EDITS, RICH, edited

from mkdocs_contentgen.errors import EditError
from mkdocs_contentgen.html.differences import compare
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.html.restoring import take_back

CASES = cases("restoring")
HOSTS = ["i.example"]


def differing(before: Document, after: Document) -> list[int]:
    """Return the numbers of the rows that differ."""
    rows = compare(before, after, marks=False)
    return [number for number, row in enumerate(rows) if not row.is_equal]


@pytest.mark.parametrize(
    ("before", "after", "count"), [it[1:] for it in CASES["a_difference_is_taken_back"]]
)
@pytest.mark.parametrize("at", [0, -1])
def test_a_difference_is_taken_back(before: str, after: str, count: int, at: int) -> None:
    """Nothing is left of it, nothing else changes, and it ends, from whichever side one begins."""
    one, other = (Document(f"<article><h1>T</h1>{it}</article>", HOSTS) for it in (before, after))
    for _ in range(count):
        numbers = differing(one, other)
        if numbers:
            other = take_back(one, other, compare(one, other, marks=False), numbers[at])
    assert other.to_lines() == one.to_lines()


def test_statements_come_back() -> None:
    """Nobody has settled them in the later version."""
    before = Document("<article><h1>T</h1><p>It is <mark>5</mark>.</p><p>b</p></article>")
    after = Document("<article><h1>T</h1><p>b</p></article>")
    (number,) = differing(before, after)
    rows = compare(before, after, marks=False)
    assert take_back(before, after, rows, number).to_lines() == before.to_lines()


@pytest.mark.system
@given(st.lists(EDITS, min_size=1, max_size=4), st.integers(0, 100))
@settings(max_examples=12)
def test_taking_back_ends(edits: list[tuple[str, int]], first: int) -> None:
    """Whatever differs, and wherever one begins, the earlier version is what is left."""
    before, changed = Document(RICH, HOSTS), Document(RICH, HOSTS)
    for edit, number in edits:
        if changed.article.find(True):
            edited(changed, edit, number)
    assume(changed.article.get_text().strip())
    after = Document(str(changed.article), HOSTS)
    numbers = differing(before, after)
    for _ in range(2 * len(numbers)):
        rows = compare(before, after, marks=False)
        after = take_one_back(before, after, first)
        assert rows
        if not differing(before, after):
            break
    assert Document(after.to_lines(marks=False), HOSTS).to_lines() == before.to_lines(marks=False)


def take_one_back(before: Document, after: Document, first: int) -> Document:
    """Take back the first difference, from a number on, that can be taken back alone."""
    rows, numbers = compare(before, after, marks=False), differing(before, after)
    for index in range(len(numbers)):
        try:
            return take_back(before, after, rows, numbers[(first + index) % len(numbers)])
        except EditError:
            pass
    raise AssertionError("nothing can be taken back")

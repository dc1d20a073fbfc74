"""Clauses that say the opposite of a source in the same words."""

from __future__ import annotations

import pytest
from golden_file import cases
from growth import LINEAR, growth

from mkdocs_contentgen.writer.marks.opposites import find_opposites

CASES = cases("opposites")


@pytest.mark.parametrize(("text", "source", "found"), CASES["opposites_of_a_source"])
def test_opposites_of_a_source(text: str, source: str, found: str) -> None:
    """A negation that a text adds or leaves out, and a word for its opposite, are found."""
    assert [part.of(text) for part in find_opposites(text, source)] == [found]


@pytest.mark.parametrize(("text", "source"), CASES["no_opposites"])
def test_no_opposites(text: str, source: str) -> None:
    """A source that says both, other words and what is left open are not compared."""
    assert find_opposites(text, source) == []


def test_opposites_in_linear_time() -> None:
    """A clause is compared with few of the clauses that share a word with it."""

    def compare(text: str) -> None:
        find_opposites(text, text.replace("is not", "is"))

    many = growth(compare, "The backup is not encrypted here. ".__mul__, 1_000)
    assert many < LINEAR

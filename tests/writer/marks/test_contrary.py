"""Negations and opposites that no source has near the same words."""

from __future__ import annotations

import pytest
from golden_file import cases
from growth import LINEAR, growth

from mkdocs_contentgen.writer.marks.contrary import find_contrary

CASES = cases("contrary")


@pytest.mark.parametrize(("text", "source", "found"), CASES["negations_that_no_source_has"])
def test_negations_that_no_source_has(text: str, source: str, found: list[str]) -> None:
    """A negation is marked with what is negated, if the sources say nothing negative of it."""
    assert [part.of(text) for part in find_contrary(text, source)] == found


@pytest.mark.parametrize(("text", "source", "found"), CASES["words_turned_round"])
def test_words_turned_round(text: str, source: str, found: list[str]) -> None:
    """A word is marked whose opposite alone stands near the same words in the sources."""
    assert [part.of(text) for part in find_contrary(text, source)] == found


@pytest.mark.parametrize(("text", "source"), CASES["nothing_contrary"])
def test_nothing_contrary(text: str, source: str) -> None:
    """Sources that say no in other words, conditions and short sentences are no contradiction."""
    assert find_contrary(text, source) == []


def test_contrary_in_linear_time() -> None:
    """The words near a negation are looked up once for all sentences."""

    def compare(text: str) -> None:
        find_contrary(text, text.replace("not ", "").replace("rose", "fell"))

    text = "The service does not collect addresses of visitors. Revenue of the company rose. "
    assert growth(compare, text.__mul__, 800) < LINEAR

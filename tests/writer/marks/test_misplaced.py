"""Figures and code that the sources have for something else."""

from __future__ import annotations

import re

import pytest
from golden_file import cases
from growth import LINEAR, growth

from mkdocs_contentgen.language.ranges import Range
from mkdocs_contentgen.writer.marks.misplaced import find_misplaced

CASES = cases("misplaced")


@pytest.mark.parametrize(("text", "source", "found"), CASES["misplaced_figures"])
def test_misplaced_figures(text: str, source: str, found: list[str]) -> None:
    """A figure that no source has near the words around it is a weak statement."""
    ranges = find_misplaced(text, [], source)
    assert [part.of(text) for part in ranges] == found
    assert all(part.is_weak for part in ranges)


@pytest.mark.parametrize(("text", "source"), CASES["figures_at_their_place"])
def test_figures_at_their_place(text: str, source: str) -> None:
    """Other forms, parts of an address, and what has no words to compare are not marked."""
    assert find_misplaced(text, [], source) == []


@pytest.mark.parametrize(("text", "source", "found"), CASES["misplaced_code"])
def test_misplaced_code(text: str, source: str, found: list[str]) -> None:
    """A code span that no source has near the words around it is a weak statement, too."""
    assert [part.of(text) for part in find_misplaced(text, code_in(text), source)] == found


@pytest.mark.parametrize(("text", "source"), CASES["code_at_its_place"])
def test_code_at_its_place(text: str, source: str) -> None:
    """Code in other words around it, and code of no source, are not marked here."""
    assert find_misplaced(text, code_in(text), source) == []


def code_in(text: str) -> list[Range]:
    """Return the ranges of the code in a text, with its backticks."""
    return [Range(*found.span()) for found in re.finditer("`[^`]+`", text)]


def test_misplaced_figures_in_linear_time() -> None:
    """A figure with many places in the sources is not looked for at each of them."""

    def compare(text: str) -> None:
        find_misplaced(text, code_in(text), text)

    sentence = "Each upload is stored for 30 days on the backup server of room {}. "
    assert growth(compare, lambda size: "".join(map(sentence.format, range(size))), 400) < LINEAR
    assert growth(compare, "Room 30 of 30 ".__mul__, 2_000) < LINEAR
    assert growth(compare, "The flag `a b` of `a c` prints versions ".__mul__, 400) < LINEAR

"""Names that no source has."""

from __future__ import annotations

import pytest
from golden_file import cases
from growth import seconds

from mkdocs_contentgen.writer.marks.names import find_names

CASES = cases("names")


@pytest.mark.parametrize(("text", "names"), CASES["names_are_found"])
def test_names_are_found(text: str, names: str) -> None:
    """Words with capital letters inside a sentence are names; in German, a name has two of them."""
    spans = find_names(text, "Topic.\nThe Known Server does it.")
    assert "|".join(span.of(text) for span in spans) == names


@pytest.mark.parametrize("piece", ["A-", "a-A-", "A’--", "A ", "Ab-"])
def test_names_are_found_in_linear_time(piece: str) -> None:
    """A long chain of capital letters is tried once, and not from each letter again."""
    text = piece * (2**17 // len(piece))
    assert seconds(lambda: find_names(text, ""), times=1) < 1


@pytest.mark.parametrize(("text", "source"), CASES["names_of_a_source"])
def test_names_of_a_source(text: str, source: str) -> None:
    """Possessives, titles, endings and a few words between make no other name."""
    assert find_names(text, source) == []


@pytest.mark.parametrize(("text", "source", "names"), CASES["names_of_no_source"])
def test_names_of_no_source(text: str, source: str, names: str) -> None:
    """The first name of one person and the last of another are nobody."""
    assert "|".join(found.of(text) for found in find_names(text, source)) == names

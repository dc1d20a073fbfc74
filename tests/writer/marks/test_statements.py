"""Which statements of a text a person has to check."""

from __future__ import annotations

import pytest
from golden_file import cases
from growth import LINEAR, growth
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.writer.marks.statements import find_quotations, find_statements, item_number

CASES = cases("statements")


def found(text: str, topic: str = "") -> list[str]:
    """Return the statements in a text."""
    return [part.of(text) for part in find_statements(text, topic)]


@pytest.mark.parametrize(("text", "statements"), CASES["statements_are_found"])
def test_statements_are_found(text: str, statements: str | None) -> None:
    """Figures, dates, quotations, addresses and gaps are found, and nothing else."""
    expected = text.split(" und ") if statements is None else statements.split("|")
    assert found(text) == [part for part in expected if part]


@pytest.mark.parametrize(("text", "topic"), CASES["what_the_topic_says_is_given"])
def test_what_the_topic_says_is_given(text: str, topic: str) -> None:
    """A statement of the topic is not to be checked."""
    assert found(text) != []
    assert found(text, topic) == []


def test_a_part_of_a_figure_is_not_given() -> None:
    """A figure that only begins like one of the topic is to be checked."""
    assert found("about 20 %", "Costs fall by 200 %") == ["20 %"]


def test_short_quotations_are_terms() -> None:
    """Quotation marks around fewer than four words mark a term."""
    assert find_quotations('"a term", "so many words here"', "") == ['"so many words here"']


@pytest.mark.parametrize(("text", "quotation"), CASES["short_quotations_of_somebody"])
def test_short_quotations_of_somebody(text: str, quotation: str) -> None:
    """Somebody who says it beside it makes a quotation of a few words."""
    assert found(text) == [quotation]
    assert found(text, f"Given: {quotation}") == []


@pytest.mark.parametrize("text", CASES["terms_beside_a_verb_of_saying"])
def test_terms_beside_a_verb_of_saying(text: str) -> None:
    """Without the punctuation of a quotation, it is a term."""
    assert found(text) == []


def test_short_quotations_in_linear_time() -> None:
    """Only a few words beside each quotation are looked at."""

    def make(size: int) -> str:
        return '"a," Jane ' * size + "Roe " * size

    assert growth(found, make, 2_000) < LINEAR


@pytest.mark.parametrize(("heading", "number"), CASES["the_number_of_an_item_is_found"])
def test_the_number_of_an_item_is_found(heading: str, number: str | None) -> None:
    """The number at the start of a heading is that of an item or a step."""
    match = item_number(heading)
    assert (match[1] if match else None) == number


@given(st.text(alphabet="ab1 .,:/-$%“”\"'[]()@«»年é\n", max_size=80))
def test_statements_are_in_order_and_apart(text: str) -> None:
    """Ranges do not overlap, are not empty, and stand in their text."""
    end = 0
    for part in find_statements(text, ""):
        assert end <= part.start < part.end <= len(text)
        end = part.end

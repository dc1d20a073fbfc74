"""What a text says of a key of data that says the opposite."""

from __future__ import annotations

import json

import pytest
from golden_file import cases
from growth import LINEAR, growth

from mkdocs_contentgen.writer.marks.contradictions import find_contradicted

CASES = cases("contradictions")


@pytest.mark.parametrize(("text", "source", "found"), CASES["contradictions_of_data"])
def test_contradictions_of_data(text: str, source: str, found: str) -> None:
    """Yes and no of JSON, YAML and tables are compared with what a sentence says of them."""
    assert "|".join(part.of(text) for part in find_contradicted(text, source)) == found


@pytest.mark.parametrize(("text", "source"), CASES["no_contradictions_of_data"])
def test_no_contradictions_of_data(text: str, source: str) -> None:
    """What agrees, what is left open, and what prose of the source says, too, is not marked."""
    assert find_contradicted(text, source) == []


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_white_space_of_data_says_nothing(indent: int | None) -> None:
    """The same JSON in one line and in many contradicts the same sentences."""
    data = {"attributes": {"WiFi": "no", "pool": True}, "list": [1]}
    text = "It has Wi-Fi, but no pool."
    found = find_contradicted(text, json.dumps(data, indent=indent))
    assert [part.of(text) for part in found] == ["Wi-Fi", "no pool"]


def test_contradictions_in_linear_time() -> None:
    """A long text beside long data is compared in time that grows with both."""

    def compare(text: str) -> None:
        find_contradicted(text, text.replace("has a key", '{"key": false, "pool": {"x": 1}},'))

    assert growth(compare, "It has a key. ".__mul__, 500) < LINEAR

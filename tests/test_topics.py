"""What a topic says about its text."""

from __future__ import annotations

import pytest
from golden_file import cases

from mkdocs_contentgen.topics import items_of

CASES = cases("topics")


@pytest.mark.parametrize(("topic", "items"), CASES["a_topic_names_a_number_of_items"])
def test_a_topic_names_a_number_of_items(topic: str, items: int | None) -> None:
    """A number at the start of a topic is that of its items, unless it counts something else."""
    assert items_of(topic) == items

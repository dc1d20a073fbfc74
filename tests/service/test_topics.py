"""What a topic says about its text."""

from __future__ import annotations

import pytest

from mkdocs_contentgen.service.topics import items_of


@pytest.mark.parametrize(
    ("topic", "items"),
    [
        ("10 ways to save time", 10),
        ("Top 10 tools", 10),
        ("The seven habits", 7),
        ("5个技巧", 5),
        ("5 minutes to a first build", None),
        ("24-hour builds", None),
        ("3.5 million reasons", None),
        ("2024 in review", None),
        ("7天学会", None),
        ("Tenerife in winter", None),
        ("Ways to save time", None),
        ("", None),
    ],
)
def test_a_topic_names_a_number_of_items(topic: str, items: int | None) -> None:
    """A number at the start of a topic is that of its items, unless it counts something else."""
    assert items_of(topic) == items

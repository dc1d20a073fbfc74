"""Which items of one sequence are which of another."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.sequences import common_length, gaps, match_in_order

WORDS = st.lists(st.sampled_from("abcde"), max_size=12)


@pytest.mark.parametrize(
    ("before", "after", "matched"),
    [
        ("abc", "abc", {0: 0, 1: 1, 2: 2}),
        ("abc", "axc", {0: 0, 2: 2}),
        ("abcd", "dabc", {0: 1, 1: 2, 2: 3}),  # as many as possible
        ("xxbx", "xbx", {0: 0, 2: 1, 3: 2}),  # the unique one says which of the repeated ones
        ("xx", "xxx", {0: 0, 1: 1}),
        ("xyxy", "zxyxy", {0: 1, 1: 2, 2: 3, 3: 4}),
        ("", "ab", {}),
    ],
)
def test_items_in_order(before: str, after: str, matched: dict[int, int]) -> None:
    """What is unique in both is matched first, and then what is between that."""
    assert match_in_order(before, after) == matched


@given(before=WORDS, after=WORDS)
def test_all_is_matched_or_left_over(before: list[str], after: list[str]) -> None:
    """Equal items are matched in the order of both, and all others are in the gaps."""
    matched = match_in_order(before, after)
    places = sorted(matched.items())
    assert all(before[place] == after[other] for place, other in places)
    assert [other for _, other in places] == sorted(set(matched.values()))
    left = list(gaps(matched, (len(before), len(after))))
    assert len(left) == len(matched) + 1
    assert sum(len(gap) for gap, _ in left) == len(before) - len(matched)
    assert sum(len(gap) for _, gap in left) == len(after) - len(matched)
    assert match_in_order(before, before) == {place: place for place in range(len(before))}


def test_repeated_items_at_both_ends() -> None:
    """A changelog with one more entry in the middle is matched, however long it is."""
    before = ["fixed", "added"] * 500
    after = [*before[:500], "new", *before[500:]]
    assert len(match_in_order(before, after)) == len(before)
    assert common_length(before, after) == 500


@pytest.mark.parametrize("part", ["a", "ab", "aabc"])
def test_long_sequences_take_linear_time(part: str) -> None:
    """Nothing is compared with everything, whatever repeats itself."""

    def match(before: str) -> None:
        match_in_order(before, f"x{before[1:-1]}y")

    assert growth(match, lambda size: part * (size // len(part)), 8_000) < LINEAR

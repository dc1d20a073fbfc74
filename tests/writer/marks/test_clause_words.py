"""Words that say what a clause states."""

from __future__ import annotations

from mkdocs_contentgen.writer.marks.clause_words import is_preposition, read_pairs


def test_pairs_have_a_number_and_a_side() -> None:
    """Words of the same line that stand before and behind the bar are opposites."""
    pairs = read_pairs(["on enabled | off", "before | after"])
    assert pairs["on"] == pairs["enabled"] == (0, True)
    assert pairs["off"] == (0, False)
    assert (pairs["before"], pairs["after"]) == ((1, True), (1, False))


def test_on_is_a_state_at_the_end() -> None:
    """`The cache is on` says a state, and `on a page` does not."""
    assert is_preposition("on", is_last=False)
    assert not is_preposition("on", is_last=True)
    assert not is_preposition("off", is_last=False)

"""Markers in the blocks of raw HTML of a page."""

from __future__ import annotations

from mkdocs_contentgen.site.markers import find_markers, marker_typos

BLOCKS = {
    "0": "<div>",
    "1": "<!-- contentgen -->",
    "2": "<!-- contentgen faq level=2 -->",
    "3": "<!-- contentgn -->",
}


def test_markers_by_the_numbers_of_their_blocks() -> None:
    """A marker can name an article and a level."""
    markers = find_markers(BLOCKS)
    assert {number: marker.groups() for number, marker in markers.items()} == {
        "1": (None, None),
        "2": ("faq", "2"),
    }


def test_a_comment_that_resembles_a_marker() -> None:
    """It is returned as it stands on the page, with a message."""
    ((block, problem),) = marker_typos(BLOCKS)
    assert block == BLOCKS["3"]
    assert "<!-- contentgen -->" in problem

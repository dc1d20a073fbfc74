"""Where the words of a passage stand that are gone from their place."""

from __future__ import annotations

from mkdocs_contentgen.writer.sources.moved import find_moved, find_moved_part, with_triples
from mkdocs_contentgen.writer.sources.sources import Passage

LINUX = "On Linux, run the command that your distribution has for it, and restart the terminal."
ELSEWHERE = Passage("install.md", "Install", f"First of all: {LINUX}")
OTHERS = with_triples([Passage("other.md", "Other", "On Linux, run nothing."), ELSEWHERE])


def test_a_passage_that_moved() -> None:
    """It is where at least half of its words stand in the same order."""
    assert find_moved(LINUX, OTHERS) == ELSEWHERE
    assert find_moved("Something else is said here, and stands nowhere else.", OTHERS) is None


def test_a_part_that_moved() -> None:
    """What a passage has lost is looked for, if that is half of it or more."""
    assert find_moved_part(LINUX, "See the other page.", OTHERS) == ELSEWHERE
    rest = " ".join(f"word{number} is here" for number in range(20))
    assert find_moved_part(f"{rest} {LINUX}", rest, OTHERS) is None
    assert find_moved_part(LINUX, LINUX, OTHERS) is None

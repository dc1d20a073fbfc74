"""Find where the words of a passage stand now that are gone from their place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .passage_words import Triples, word_triples
from .sources import Passage

_LEAST_TRIPLES = 6
"""Word triples of a passage, of which half have to stand elsewhere. Shorter ones are common."""

Sections = Sequence[tuple[Passage, Triples]]
"""The sections of all pages as they are now, each with its word triples."""


def with_triples(passages: Iterable[Passage]) -> Sections:
    """Return passages with their word triples."""
    return [(passage, word_triples(passage.text)) for passage in passages]


def find_moved(before: str, sections: Sections) -> Passage | None:
    """Return the section with at least half of what a passage said that is gone, or None."""
    return _with_half_of(word_triples(before), sections)


def find_moved_part(before: str, now: str, sections: Sections) -> Passage | None:
    """Return the section with at least half of what a passage has lost, or None.

    That is also None for a passage that has kept more than half of what it said.
    """
    triples = word_triples(before)
    lost = triples - word_triples(now)
    if 2 * len(lost) < len(triples):
        return None
    return _with_half_of(lost, sections)


def _with_half_of(wanted: Triples, sections: Sections) -> Passage | None:
    """Return the section that has most of the wanted triples, and at least half, or None."""
    best = None
    most = max(len(wanted), _LEAST_TRIPLES) / 2
    for passage, triples in sections:
        shared = len(wanted & triples)
        if shared >= most:
            best = passage
            most = shared + 1
    return best

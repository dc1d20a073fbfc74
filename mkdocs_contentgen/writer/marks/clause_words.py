"""The words that say what a clause states: negations, what leaves it open, and both sides of pairs.

In: the phrases of all languages.
Out: sets of words in lower case, and for a word with an opposite its pair and its side.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...language.languages import PHRASES

NEGATIONS = frozenset(PHRASES["negation"].split())
"""Words that make a clause its opposite."""

OPEN = frozenset(PHRASES["open_question"].split())
"""Words of a clause that states neither side, such as `whether`."""

CLAUSE_STARTS = frozenset(PHRASES["clause_start"].split())
"""Words that begin another clause."""

JOINS = frozenset(PHRASES["and"].split())
"""`and` in each language, which begins another clause at times."""

STATE_LINES = PHRASES["state"].splitlines()
"""Lines of words of states, such as `enabled | disabled`."""

OPPOSITE_LINES = PHRASES["opposite"].splitlines()
"""Lines of other words with an opposite, such as `add | remove`."""

ORDER_LINES = PHRASES["order"].splitlines()
"""Lines of words of order and scope, such as `before | after`."""


def read_pairs(lines: Iterable[str]) -> dict[str, tuple[int, bool]]:
    """Map each word to the number of its line, and to whether it stands before the bar."""
    found: dict[str, tuple[int, bool]] = {}
    for number, line in enumerate(lines):
        positive, _, negative = line.partition("|")
        for word in positive.split():
            found[word] = (number, True)
        for word in negative.split():
            found[word] = (number, False)
    return found


def is_preposition(word: str, *, is_last: bool) -> bool:
    """Tell whether a word is no state where it stands: `on` is one only at the end of a clause."""
    return word == "on" and not is_last

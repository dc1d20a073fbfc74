"""What of a text no longer holds, since a passage that it cites has changed.

There are three levels: a passage is `gone`, sentences may be `wrong` now, or a passage has only
`changed`. None of them says that a text is still right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .display import counted, first_names, quoted, shortened

Level = Literal["gone", "wrong", "changed"]

_MAX_SENTENCE = 100
"""Characters of a sentence that a line shows."""

_MAX_LOST = 5
"""Statements of a sentence that a line names."""

_MAX_SENTENCES = 10
"""Sentences that are shown for one passage."""


@dataclass(frozen=True)
class StaleSentence:
    """A sentence that may be wrong now, or should be read."""

    text: str

    lost: tuple[str, ...] = ()
    """Its statements that the sources had, and do not have now."""

    now: str = ""
    """What the source says in place of that, as far as it can be told."""


@dataclass(frozen=True)
class StaleSource:
    """A passage that a text cites, and that does not say now what it said."""

    source: str
    """Its name as messages show it, such as `guide/#install`."""

    level: Level
    sentences: tuple[StaleSentence, ...] = ()
    """For `wrong`, those that may be wrong now; for the others, those to read."""

    added: tuple[str, ...] = ()
    """The sentences that the passage did not have before."""

    moved_to: str = ""
    """Where the words of a passage stand now that is gone from its place."""

    @property
    def lost(self) -> tuple[str, ...]:
        """The statements of all sentences that the sources do not have now, each once."""
        found: dict[str, None] = {}
        for sentence in self.sentences:
            found |= dict.fromkeys(sentence.lost)
        return tuple(found)

    @property
    def message(self) -> str:
        """What is to be said of it in one line, without the name of the text."""
        number = len(self.sentences)
        if self.level == "gone":
            return f"source gone: {self.source}"
        if self.level == "wrong":
            return f"{counted(number, 'sentence')} may be wrong now: {self._place}"
        to_read = f" ({counted(number, 'sentence')} to read)" if number else ""
        return f"sources changed: {self._place}{to_read}"

    @property
    def _place(self) -> str:
        return f"{self.source}, now {self.moved_to}" if self.moved_to else self.source

    def lines(self) -> Iterator[str]:
        """Yield the lines about its sentences, and about what it says in addition now."""
        for sentence in self.sentences[:_MAX_SENTENCES]:
            yield _line(sentence)
        more = len(self.sentences) - _MAX_SENTENCES
        if more > 0:
            yield f"… and {counted(more, 'sentence')} more"
        if self.level == "changed":
            for added in self.added[:_MAX_SENTENCES]:
                yield f"new there: {shortened(added, _MAX_SENTENCE)}"

    def to_json(self) -> dict[str, object]:
        """Return it as an object for scripts."""
        return {
            "source": self.source,
            "level": self.level,
            "sentences": [sentence.text for sentence in self.sentences],
            "lost": list(self.lost),
            "added": list(self.added),
            "moved_to": self.moved_to or None,
        }


def _line(sentence: StaleSentence) -> str:
    line = f'"{shortened(sentence.text, _MAX_SENTENCE)}"'
    if sentence.lost:
        named = first_names(list(sentence.lost), _MAX_LOST)
        line += f"   no longer there: {named}"
    if sentence.now:
        line += f"; there now: {quoted(shortened(sentence.now, _MAX_SENTENCE))}"
    return line


def fails_on(level: Level | None, found: Sequence[StaleSource]) -> bool:
    """Tell whether a command fails for what was found; with None, it never does.

    What is gone is worse than what may be wrong, and that is worse than what has changed.
    """
    if level is None:
        return False
    worst_first: tuple[Level, ...] = ("gone", "wrong", "changed")
    failing = worst_first[: worst_first.index(level) + 1]
    return any(source.level in failing for source in found)

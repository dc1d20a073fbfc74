"""A value in a text, and its readings.

A reading is a name for what a value says, such as `30 %`, `17:00` or `month 5`. Two values are the
same if they share a reading. So a figure that can be read in two ways, such as `1,000`, is never
taken for a wrong one.
"""

from __future__ import annotations

from dataclasses import dataclass

from .figure import Figure

Readings = frozenset[str]
"""The readings of a value, or of a whole text."""


@dataclass(frozen=True)
class Value:
    """A figure, a date, a time, a weekday or a number word in a text."""

    start: int
    end: int

    parts: tuple[Readings, ...]
    """The readings of each part, such as the two figures of `5–8`. All parts have to be known."""

    looser: Readings = frozenset()
    """The same figure without its magnitude and unit. If a source has that, the mark is weak."""

    implied: Readings = frozenset()
    """What a source that has this value says as well, such as the month of a date."""

    figure: Figure | None = None
    """What a figure is made of, or None for a date or a time."""

    month: int | None = None
    """The month of a date that has a day."""

    @property
    def known(self) -> Readings:
        """The readings of a source with this value."""
        return self.looser.union(self.implied, *self.parts)

    @property
    def is_in_words(self) -> bool:
        """Whether it is a number word, such as `five`."""
        return self.figure is not None and not self.figure.written

    def is_stated(self, known: Readings) -> bool:
        """Tell whether a source with these readings has this value."""
        return all(part & known for part in self.parts)

    def has_known_digits(self, known: Readings) -> bool:
        """Tell whether a source has the same figure with another unit or magnitude."""
        return bool(self.looser & known)


def of_figure(figure: Figure) -> Value:
    """Return the value of a figure."""
    return Value(
        figure.start,
        figure.end,
        tuple(figure.readings()),
        looser=figure.bare_readings(),
        implied=figure.implied_readings(),
        figure=figure,
    )

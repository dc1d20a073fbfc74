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

    is_time: bool = False
    """Whether it is a time of day."""

    instead: Readings = frozenset()
    """Readings that a source can have in place of the first part, and that this value does not say.

    `28 May` states `28 May 2024` if the year stands elsewhere. `28 May 2024` does not state the day
    of another year.
    """

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
        for number, part in enumerate(self.parts):
            if part & known or (number == 0 and self.instead & known):
                continue
            return False
        return True

    def unstated(self, known: Readings) -> tuple[int, int]:
        """Return the start and the end of what a source with these readings does not have.

        Of `5–8 hours`, this is only the 5 if the source has 8 hours.
        """
        if self.figure is None or len(self.figure.spans) < 2:
            return self.start, self.end
        spans = self.figure.spans
        if len(spans) != len(self.parts):
            return self.start, self.end
        unknown = []
        for number, part in enumerate(self.parts):
            if not part & known:
                unknown.append(number)
        if not unknown or len(unknown) == len(self.parts):
            return self.start, self.end
        start, _ = spans[unknown[0]]
        _, end = spans[unknown[-1]]
        if unknown[-1] == len(spans) - 1:  # with the unit after it
            end = self.end
        return start, end

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

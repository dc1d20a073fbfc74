"""What a run says while it goes on: lines for people, details, and how far the texts are.

One object goes from the command or the plugin to whoever sends requests. Errors are not said here:
they are part of the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The progress of a generation, in numbers of requests."""

    total: int
    done: int
    failed: int
    in_flight: int

    words: int = 0
    """The number of words so far of all texts, as far as it is known. It never falls."""

    target: int = 0
    """The number of words that all texts are to have, as far as the first ones tell."""

    stopped: int = 0
    """The number of requests that are done since the run was stopped before they were sent."""


class Reporter:
    """Gets what a run says. This one says nothing; others print it."""

    is_verbose = False
    """Whether `debug` says anything."""

    def log(self, line: str) -> None:
        """Say a line to a person."""

    def debug(self, line: str) -> None:
        """Say a detail, such as the source of a text, or each try of a request."""

    def show(self, progress: Progress) -> None:
        """Show how far the texts are, in place of what was shown before."""

    @contextmanager
    def generating(self) -> Iterator[Reporter]:
        """Return a context manager with what reports while texts are generated."""
        yield self


class ForwardingReporter(Reporter):
    """Says what another reporter says, for those that do something more as well."""

    def __init__(self, reporter: Reporter) -> None:
        self.is_verbose = reporter.is_verbose
        self._reporter = reporter

    def log(self, line: str) -> None:
        """Let the other reporter say a line."""
        self._reporter.log(line)

    def debug(self, line: str) -> None:
        """Let the other reporter say a detail."""
        self._reporter.debug(line)

    def show(self, progress: Progress) -> None:
        """Let the other reporter show how far the texts are."""
        self._reporter.show(progress)


SILENT = Reporter()
"""Says nothing."""

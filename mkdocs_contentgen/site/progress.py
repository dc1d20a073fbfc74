"""Print what a run says, and show the progress of a generation as a bar or as lines of the log."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..display import escape_controls
from ..reporting import ForwardingReporter, Progress, Reporter

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

LOG_INTERVAL = 10.0
"""Seconds between two lines of the log."""


class LineReporter(Reporter):
    """Gives each line to `log`, and to `debug` if that is not None.

    On a terminal, a bar shows the progress. Elsewhere, with `debug` or with `always_lines`, `log`
    gets a line every `interval` seconds.
    """

    def __init__(
        self,
        log: Callable[[str], None],
        debug: Callable[[str], None] | None = None,
        *,
        always_lines: bool = False,
        interval: float = LOG_INTERVAL,
    ) -> None:
        self.is_verbose = debug is not None
        self._log = log
        self._debug = debug
        self._has_bar = not (always_lines or self.is_verbose) and sys.stderr.isatty()
        self._interval = interval

    def log(self, line: str) -> None:
        """Give a line to `log`."""
        self._log(line)

    def debug(self, line: str) -> None:
        """Give a line to `debug`, if there is one."""
        if self._debug:
            self._debug(line)

    @contextmanager
    def generating(self) -> Iterator[Reporter]:
        """Return a context manager with a reporter that does the same, and shows the progress."""
        if self._has_bar:
            from rich.console import Console

            with show_bar(Console(stderr=True)) as bar:
                yield bar
        else:
            with _PeriodicReporter(self, self._interval).running() as lines:
                yield lines


def progress_message(progress: Progress) -> str:
    """Return how many texts are done, in flight and failed, and the words of all so far."""
    done = f"{progress.done - progress.stopped} of {progress.total} texts"
    state = f"{done}, {progress.in_flight} in flight, {progress.failed} failed"
    if progress.stopped:
        state += f", {progress.stopped} not requested"
    if not progress.target:
        return state
    return f"{state}, {progress.words:,} of about {progress.target:,} words"


class _BarReporter(Reporter):
    """Shows the progress as a bar, and lines above it."""

    def __init__(self, bars: Bars, task: TaskID) -> None:
        self._bars = bars
        self._task = task

    def log(self, line: str) -> None:
        shown = escape_controls(line)
        self._bars.console.print(shown, markup=False, highlight=False, emoji=False)

    def show(self, progress: Progress) -> None:
        self._bars.update(
            self._task,
            total=progress.total,
            completed=progress.done,
            description=progress_message(progress),
        )


@contextmanager
def show_bar(console: Console) -> Iterator[Reporter]:
    """Return a context manager with what shows the progress on a terminal."""
    from rich import progress as bars

    columns = [bars.BarColumn(), bars.TextColumn("{task.description}"), bars.TimeElapsedColumn()]
    with bars.Progress(*columns, console=console, transient=True) as bar:
        yield _BarReporter(bar, bar.add_task("", total=None))


class _PeriodicReporter(ForwardingReporter):
    """Says every few seconds how far the texts are, and lines at once."""

    def __init__(self, reporter: Reporter, interval: float) -> None:
        super().__init__(reporter)
        self._interval = interval
        self._latest: deque[Progress] = deque(maxlen=1)
        """The newest progress, if there is one."""

        self._ended = threading.Event()

    def show(self, progress: Progress) -> None:
        self._latest.append(progress)

    @contextmanager
    def running(self) -> Iterator[Reporter]:
        thread = threading.Thread(target=self._log_periodically, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            thread.join()

    def _log_periodically(self) -> None:
        # By the clock, since there are no events while the service is slow or down.
        while not self._ended.wait(self._interval):
            if self._latest:
                self.log(progress_message(self._latest[0]))

"""Show the progress of a generation as a bar or as lines of the log."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ..texts.obtain import Shown

if TYPE_CHECKING:
    from rich.console import Console

    from ..texts.generation import Progress

LOG_INTERVAL = 10.0
"""Seconds between two lines of the log."""

_Log = Callable[[str], None]


def show_progress(log: _Log, *, use_log: bool = False, interval: float = LOG_INTERVAL) -> Shown:
    """Return a context manager that yields a function to show Progress, and one to show a line.

    On a terminal, a bar shows the progress. Elsewhere or with `use_log`, `log` gets a line every
    `interval` seconds.
    """
    if use_log or not sys.stderr.isatty():
        return _log_lines(log, interval)
    from rich.console import Console

    return show_bar(Console(stderr=True))


def progress_message(progress: Progress) -> str:
    """Return how many texts are done, in flight and failed, and the words of all so far."""
    done = f"{progress.done - progress.stopped} of {progress.total} texts"
    state = f"{done}, {progress.in_flight} in flight, {progress.failed} failed"
    if progress.stopped:
        state += f", {progress.stopped} not requested"
    if not progress.target:
        return state
    return f"{state}, {progress.words:,} of about {progress.target:,} words"


@contextmanager
def show_bar(console: Console) -> Iterator[tuple[Callable[[Progress], None], _Log]]:
    """Show the progress on a terminal, as show_progress() does."""
    from rich import progress as bars

    columns = [bars.BarColumn(), bars.TextColumn("{task.description}"), bars.TimeElapsedColumn()]
    with bars.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(progress: Progress) -> None:
            line = progress_message(progress)
            bar.update(task, total=progress.total, completed=progress.done, description=line)

        yield show, partial(bar.console.print, markup=False, highlight=False)


@contextmanager
def _log_lines(log: _Log, interval: float) -> Iterator[tuple[Callable[[Progress], None], _Log]]:
    latest: deque[Progress] = deque(maxlen=1)
    ended = threading.Event()

    def log_periodically() -> None:
        # By the clock, since there are no events while the service is slow or down.
        while not ended.wait(interval):
            if latest:
                log(progress_message(latest[0]))

    thread = threading.Thread(target=log_periodically, daemon=True)
    thread.start()
    try:
        yield latest.append, log
    finally:
        ended.set()
        thread.join()

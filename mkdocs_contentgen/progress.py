"""How far a generation is, for the person who waits for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from .generator import Progress

LOG_PAUSE = 10.0
"""Seconds between two lines where there is no terminal."""


def shown_progress(
    log: Callable[[str], None],
) -> AbstractContextManager[Callable[[Progress], None]]:
    """Return what shows a Progress: as a bar on a terminal, elsewhere as a line now and then."""
    return _bar() if sys.stderr.isatty() else nullcontext(_lines(log))


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("Generating"),
        bars.BarColumn(),
        bars.TextColumn("{task.completed}/{task.total} texts, {task.fields[state]}"),
        bars.TimeElapsedColumn(),
        bars.TextColumn("left:"),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, state="")

        def show(progress: Progress) -> None:
            state = f"{progress.in_flight} in flight, {progress.failed} failed"
            bar.update(task, total=progress.total, completed=progress.done, state=state)

        yield show


def _lines(log: Callable[[str], None]) -> Callable[[Progress], None]:
    next_line = time.monotonic() + LOG_PAUSE

    def show(progress: Progress) -> None:
        nonlocal next_line
        if time.monotonic() >= next_line:
            next_line = time.monotonic() + LOG_PAUSE
            log(
                f"{progress.done} of {progress.total} texts, "
                f"{progress.in_flight} in flight, {progress.failed} failed"
            )

    return show

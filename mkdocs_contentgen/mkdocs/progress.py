"""How far a generation is, for the person who waits for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from ..texts.generation import Progress

LOG_PAUSE = 10.0
"""Seconds between two lines where there is no terminal."""


_Log = Callable[[str], None]
_Show = Callable[[Progress], None]


def shown_progress(
    log: _Log, *, in_lines: bool = False
) -> AbstractContextManager[tuple[_Show, _Log]]:
    """Return what shows a Progress, and what shows a line meanwhile.

    On a terminal there is a bar, unless other lines come meanwhile (`in_lines`); elsewhere `log`
    gets a line every LOG_PAUSE seconds.
    """
    return _bar() if sys.stderr.isatty() and not in_lines else _lines(log)


@contextmanager
def _bar() -> Iterator[tuple[_Show, _Log]]:
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

        yield show, partial(bar.console.print, markup=False, highlight=False)


@contextmanager
def _lines(log: _Log) -> Iterator[tuple[_Show, _Log]]:
    latest: Progress | None = None
    ended = threading.Event()

    def show(progress: Progress) -> None:
        nonlocal latest
        latest = progress

    def tell() -> None:
        # By the clock: a service that is slow or down is when there are no events to go by.
        while not ended.wait(LOG_PAUSE):
            if latest:
                log(
                    f"{latest.done} of {latest.total} texts, "
                    f"{latest.in_flight} in flight, {latest.failed} failed"
                )

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield show, log
    finally:
        ended.set()
        thread.join()

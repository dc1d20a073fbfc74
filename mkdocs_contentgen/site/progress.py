"""Show the progress of a generation as lines of the log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..texts.generation import Progress

LOG_INTERVAL = 10.0
"""Seconds between two lines of the log."""

_Log = Callable[[str], None]


def progress_message(progress: Progress) -> str:
    """Return a line of the log: how many texts there are, and the words written so far."""
    line = (
        f"{progress.done} of {progress.total} texts, {progress.in_flight} in flight, "
        f"{progress.failed} failed"
    )
    if not progress.target:
        return line
    return f"{line}, {progress.words:,} of about {progress.target:,} words"


@contextmanager
def show_progress(
    log: _Log, *, interval: float = LOG_INTERVAL
) -> Iterator[tuple[Callable[[Progress], None], _Log]]:
    """Log the progress every `interval` seconds; yield a function that takes it, and `log`."""
    latest: Progress | None = None
    ended = threading.Event()

    def show(progress: Progress) -> None:
        nonlocal latest
        latest = progress

    def log_periodically() -> None:
        # By the clock, since there are no events while the service is slow or down.
        while not ended.wait(interval):
            if latest:
                log(progress_message(latest))

    thread = threading.Thread(target=log_periodically, daemon=True)
    thread.start()
    try:
        yield show, log
    finally:
        ended.set()
        thread.join()

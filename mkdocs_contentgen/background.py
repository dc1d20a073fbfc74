"""Generating texts beside `mkdocs serve`, so that no rebuild waits for the service."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import FrameType

from .errors import BudgetError, ContentgenError, PendingError, StoppedError
from .generator import Connect, Generation, Limits, Progress, generate
from .lookup import Outcome
from .request import Request
from .store import Store

REBUILD_PAUSE = 2.0
"""Seconds between two rebuilds while texts keep arriving."""


class Background:
    """Generates what rebuilds ask for, each text once for as long as the server runs.

    `news` is a file that changes when there is something new to show.
    """

    def __init__(self, max_requests: int) -> None:
        self.news = Path(mkdtemp(prefix="contentgen-"), "news")
        self.news.touch()
        self._budget = max_requests
        self._outcomes: dict[str, Outcome] = {}
        self._running: dict[threading.Thread, Generation] = {}
        self._last_news = 0.0

    def ask(
        self,
        wanted: Mapping[str, Request],
        replaced: Collection[str],
        store: Store,
        connect: Connect,
        limits: Limits,
    ) -> dict[str, Outcome]:
        """Return what is known of each request, by key, and start on those that are new.

        A request that failed is not sent again: saving a page would pay for it each time.
        """
        new = {key: request for key, request in wanted.items() if key not in self._outcomes}
        if len(new) > self._budget:
            error = BudgetError(
                f"{len(new)} more requests would be sent, and max_requests leaves {self._budget} "
                "to this server; raise max_requests if that is what you want to pay for"
            )
            return {key: self._outcomes.get(key, Outcome(error=error)) for key in wanted}
        if new:
            self._budget -= len(new)
            pending = Outcome(error=PendingError("the text is being generated"))
            self._outcomes |= dict.fromkeys(new, pending)
            generation = Generation(store, connect, limits, on_progress=self._progress)
            thread = threading.Thread(
                target=self._run, args=(generation, new, replaced), daemon=True
            )
            self._running[thread] = generation
            thread.start()
        return {key: self._outcomes[key] for key in wanted}

    def stop(self, log: Callable[[str], None]) -> None:
        """Send nothing more, and wait for what is in flight, saying so with `log`."""
        for generation in self._running.values():
            generation.stop(StoppedError("it was not sent, since the server was stopped"))
        if any(thread.is_alive() for thread in self._running):
            log("Waiting for the requests in flight (Ctrl-C gives them up)")
        for thread in self._running:
            thread.join()
        rmtree(self.news.parent)

    def _run(
        self, generation: Generation, requests: Mapping[str, Request], replaced: Collection[str]
    ) -> None:
        try:
            self._outcomes |= generate(generation, requests, replaced=replaced)
        except ContentgenError as error:
            self._outcomes |= dict.fromkeys(requests, Outcome(error=error))
        finally:
            self._tell()

    def _progress(self, progress: Progress) -> None:
        if progress.done and time.monotonic() - self._last_news > REBUILD_PAUSE:
            self._tell()

    def _tell(self) -> None:
        self._last_news = time.monotonic()
        self.news.write_text(str(self._last_news))


def exit_on_sigterm() -> None:
    """Let SIGTERM end a server as Ctrl-C does, with its shutdown."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)

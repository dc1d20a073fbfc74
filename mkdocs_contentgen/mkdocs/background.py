"""Generating texts beside `mkdocs serve`, so that no rebuild waits for the service."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import FrameType

from ..errors import Absence, ContentgenError, NoText
from ..requests import Request
from ..texts.generation import WAITING, Connect, Generation, Limits, Progress, generate
from ..texts.lookup import Outcome
from ..texts.store import Cache

UNCHANGED = 3.0
"""Seconds that a new request must stand unchanged before it is sent: its author may be typing."""

REBUILD_PAUSE, LONGEST_REBUILD_PAUSE = 2.0, 30.0
"""Seconds between two rebuilds while texts keep arriving, at first and in the end."""

TICK = 0.2
"""Seconds between two looks at what there is to send and to show."""


@dataclass(frozen=True)
class _Waiting:
    request: Request
    since: float
    replaces: bool


class Background:
    """Generates what rebuilds ask for, each text once for as long as the server runs.

    `news` is a file that changes when there is something new to show.
    """

    def __init__(self, max_requests: int) -> None:
        self.news = Path(mkdtemp(prefix="contentgen-"), "news")
        self.news.touch()
        self._budget = max_requests
        self._outcomes: dict[str, Outcome] = {}
        self._lock = threading.Lock()
        self._waiting: dict[str, _Waiting] = {}
        self._before: dict[str, _Waiting] = {}
        self._builds = 0
        self._depth = 0
        self._running: dict[threading.Thread, Generation] = {}
        self._make: Callable[[], Generation] | None = None
        self._unseen = False
        self._pause = REBUILD_PAUSE
        self._next_rebuild = 0.0
        self._stopped = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()

    def build_started(self) -> None:
        """Note that a build begins: it shows what has arrived, and asks anew for what it needs.

        A build within a build, as plugins for translations make them, is a part of that one.
        """
        with self._lock:
            if self._depth == 0:
                self._builds += 1
                self._before, self._waiting = self._waiting, {}
                if self._unseen:
                    self._unseen = False
                    self._pause = min(2 * self._pause, LONGEST_REBUILD_PAUSE)
            self._depth += 1

    def build_ended(self, *, failed: bool = False) -> None:
        """Note that a build ended."""
        self._depth = 0 if failed else self._depth - 1

    def ask(
        self,
        wanted: Mapping[str, Request],
        replaced: Collection[str],
        open_store: Callable[[], Cache],
        connect: Connect,
        limits: Limits,
        debug: Callable[[str], None] | None,
    ) -> dict[str, Outcome]:
        """Return what is known of each request, by key, and see to those that are new.

        What the first build asks for is sent at once, and later what has stood unchanged for
        UNCHANGED seconds, if the newest build still asks for it. A request that failed is not sent
        again: saving a page would pay for it each time.
        """
        self._make = lambda: Generation(
            open_store(), connect, limits, on_progress=self._noticing_texts(), debug=debug
        )
        with self._lock:
            new = {key: request for key, request in wanted.items() if key not in self._outcomes}
            if len(new) > self._budget:
                error = NoText(
                    Absence.OVER_BUDGET,
                    f"{len(new)} more requests would be sent, and max_requests leaves "
                    f"{self._budget} to this server; raise max_requests if that is what you want "
                    "to pay for",
                )
            else:
                error = NoText(Absence.PENDING, "the text is being generated")
                since = time.monotonic() if self._builds > 1 else 0.0
                for key, request in new.items():
                    waiting = _Waiting(request, since, key in replaced)
                    self._waiting[key] = self._before.get(key, waiting)
            return {key: self._outcomes.get(key, Outcome(error=error)) for key in wanted}

    def stop(self, log: Callable[[str], None]) -> None:
        """Send nothing more, and wait for what is in flight, saying so with `log`."""
        self._stopped.set()
        self._ticker.join()
        for generation in self._running.values():
            why = "it was not sent, since the server was stopped"
            generation.stop(NoText(Absence.STOPPED, why))
        if any(thread.is_alive() for thread in self._running):
            log(WAITING)
        for thread in self._running:
            thread.join()
        rmtree(self.news.parent)

    def _tick(self) -> None:
        while not self._stopped.wait(TICK):
            self._send_what_stands()
            self._show_what_arrived()

    def _send_what_stands(self) -> None:
        with self._lock:
            now = time.monotonic()
            due = {k: w for k, w in self._waiting.items() if now - w.since >= UNCHANGED}
            if not due or self._make is None:
                return
            for key in due:
                del self._waiting[key]
            self._budget -= len(due)
            pending = Outcome(error=NoText(Absence.PENDING, "the text is being generated"))
            self._outcomes |= dict.fromkeys(due, pending)
            self._pause = REBUILD_PAUSE
            generation = self._make()
        requests = {key: waiting.request for key, waiting in due.items()}
        replaced = {key for key, waiting in due.items() if waiting.replaces}
        arguments = (generation, requests, replaced)
        thread = threading.Thread(target=self._run, args=arguments, daemon=True)
        self._running[thread] = generation
        thread.start()

    def _show_what_arrived(self) -> None:
        """Ask for a rebuild until there is one: the server may not be watching yet."""
        now = time.monotonic()
        if self._unseen and now >= self._next_rebuild:
            working = any(thread.is_alive() for thread in self._running)
            self._next_rebuild = now + (self._pause if working else REBUILD_PAUSE)
            self.news.write_text(str(now))

    def _run(
        self, generation: Generation, requests: Mapping[str, Request], replaced: Collection[str]
    ) -> None:
        try:
            self._outcomes |= generate(generation, requests, replaced=replaced)
        except ContentgenError as error:
            self._outcomes |= dict.fromkeys(requests, Outcome(error=error))
        finally:
            self._unseen = True
            self._next_rebuild = 0.0

    def _noticing_texts(self) -> Callable[[Progress], None]:
        done = 0

        def note(progress: Progress) -> None:
            nonlocal done
            if progress.done > done:
                done = progress.done
                self._unseen = True

        return note


def exit_on_sigterm() -> None:
    """Let SIGTERM end a server as Ctrl-C does, with its shutdown."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)

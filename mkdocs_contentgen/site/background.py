"""Generate texts in background threads of `mkdocs serve`, so that no rebuild waits.

Each save of a page is a build, and each build asks for all texts that are missing then. A request
is sent only if the next builds still ask for it, since somebody may be typing it, and only once. A
server rebuilds when a file changes that it watches, and may miss that while it reads the site: so
the file changes until a build has begun after the last text arrived.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from ..errors import PENDING, ContentgenError, MissingReason
from ..page_request import PageRequest
from ..reporting import SILENT, ForwardingReporter, Progress, Reporter
from ..texts.generation import WAITING_MESSAGE, Generation, generate
from ..texts.lookup import Outcome
from ..texts.obtain import Foreground

DEBOUNCE = 3.0
"""Seconds for which a new request must stay the same before it is sent: you may be typing."""

REBUILD_INTERVAL = 10.0
"""Seconds between two rebuilds while texts arrive.

A server that was told of a text may be reading the site for longer, so it is told again then.
"""

_FIRST_INTERVAL = 2.0
"""That number after the first build, when the server may not have been watching yet."""

POLL_INTERVAL = 0.2
"""Seconds between two checks for requests to send and texts to show."""


@dataclass(frozen=True)
class _QueuedRequest:
    asked: PageRequest
    since: float
    replaces: bool


class _Rebuilds:
    """Knows when the server has to build the site again to show the texts that have arrived.

    Several threads use it, each with the lock of Background.
    """

    def __init__(self) -> None:
        self.started = 0
        """The number of builds so far. One that runs within another is a part of that."""

        self._depth = 0
        """How many builds are running within each other."""

        self._is_needed = False
        """Whether texts have arrived that no build has shown."""

        self._was_told = False
        """Whether the server was told of them."""

        self._not_before = 0.0
        """When the server may be told next, by the monotonic clock."""

    def build_started(self) -> bool:
        """Take the start of a build into account, and tell whether it runs within no other.

        It shows the texts that have arrived before.
        """
        is_nested = self._depth != 0
        self._depth += 1
        if is_nested:
            return False
        self.started += 1
        if self._is_needed:
            self._is_needed = False
            self._was_told = False
            self._not_before = time.monotonic() + REBUILD_INTERVAL
        return True

    def build_ended(self, *, failed: bool) -> None:
        """Take the end of a build into account. A failed one ends all builds around it."""
        self._depth = 0 if failed else self._depth - 1

    def text_arrived(self) -> None:
        """Ask for a build when the server may be told next."""
        self._is_needed = True

    def generation_ended(self) -> None:
        """Ask for a build at once, unless the server was told already."""
        self._is_needed = True
        if not self._was_told:
            self._not_before = 0.0

    def is_due(self) -> bool:
        """Tell whether the server has to be told now: only between builds does it surely notice."""
        return self._is_needed and not self._depth and time.monotonic() >= self._not_before

    def server_told(self) -> None:
        """Take into account that the server was told."""
        self._was_told = True
        interval = _FIRST_INTERVAL if self.started <= 1 else REBUILD_INTERVAL
        self._not_before = time.monotonic() + interval


class Background:
    """Generates the texts that rebuilds ask for, each once as long as the server runs.

    The server watches `trigger_file`, which changes when a rebuild would show new texts.
    """

    def __init__(
        self,
        max_requests: int,
        reporter: Reporter = SILENT,
        *,
        debounce: float = DEBOUNCE,
    ) -> None:
        self.trigger_file = Path(mkdtemp(prefix="contentgen-"), "news")
        self.trigger_file.touch()
        self._budget = max_requests
        self._debounce = debounce
        self._reporter = reporter
        self._outcomes: dict[str, Outcome] = {}
        self._lock = threading.Lock()
        self._queued: dict[str, _QueuedRequest] = {}
        self._queued_before: dict[str, _QueuedRequest] = {}
        self._rebuilds = _Rebuilds()
        self._threads: dict[threading.Thread, Generation] = {}
        self._foreground: Callable[[], Foreground] | None = None
        self._stopped = threading.Event()
        self._poller = threading.Thread(target=self._poll, daemon=True)
        self._poller.start()

    def build_started(self) -> None:
        """Start a new set of queued requests; the texts that have arrived count as shown.

        Nested builds, as mkdocs-static-i18n makes them, are part of the outermost build.
        """
        with self._lock:
            if self._rebuilds.build_started():
                self._queued_before = self._queued
                self._queued = {}

    def build_ended(self, *, failed: bool = False) -> None:
        """Record the end of a build; a failed one ends all builds around it."""
        with self._lock:
            self._rebuilds.build_ended(failed=failed)

    def source(self, foreground: Callable[[], Foreground]) -> Background:
        """Return this text source, which generates as `foreground` of the newest build does."""
        self._foreground = foreground
        return self

    def get(
        self, wanted: Mapping[str, PageRequest], cached_keys: Collection[str], *, refresh: bool
    ) -> tuple[dict[str, Outcome], list[str]]:
        """Return the current outcome of each request, by key, and queue the new requests.

        New requests of the first build are sent at once. Later ones are sent if the newest build
        still asks for them after `debounce` seconds. Failed requests are not sent again, since each
        save of a page would pay for them.

        The second value of a text source, the problems with the cache, is always empty here: those
        of the requests that are sent later are not known yet. A server never refreshes texts.
        """
        with self._lock:
            new = {}
            for key, asked in wanted.items():
                if key not in self._outcomes:
                    new[key] = asked
            if len(new) > self._budget:
                error = MissingReason(
                    "over_budget",
                    f"{len(new)} more requests would be sent, and max_requests leaves "
                    f"{self._budget} to this server; to pay for them, raise max_requests",
                )
            else:
                error = PENDING
                since = time.monotonic() if self._rebuilds.started > 1 else -math.inf
                for key, asked in new.items():
                    waiting = _QueuedRequest(asked, since, key in cached_keys)
                    self._queued[key] = self._queued_before.get(key, waiting)
            without_outcome = Outcome(error=error)
            outcomes = {key: self._outcomes.get(key, without_outcome) for key in wanted}
            return outcomes, []

    def stop(self) -> None:
        """Send nothing more, and wait for the requests in flight, which is logged."""
        self._stopped.set()
        self._poller.join()
        for generation in self._threads.values():
            generation.throttle.stop(MissingReason("stopped", "stopped"))  # nobody is shown it
        if any(thread.is_alive() for thread in self._threads):
            self._reporter.log(WAITING_MESSAGE)
        for thread, generation in self._threads.items():
            was_alive = thread.is_alive()
            thread.join()
            if was_alive:
                self._reporter.log(generation.summary())
        rmtree(self.trigger_file.parent)

    def _poll(self) -> None:
        while not self._stopped.wait(POLL_INTERVAL):
            self._send_unchanged()
            self._trigger_rebuild()

    def _send_unchanged(self) -> None:
        """Send the queued requests that have stayed the same for long enough."""
        requests: dict[str, PageRequest] = {}
        replaced: set[str] = set()
        with self._lock:
            if self._foreground is None:
                return
            latest_since = time.monotonic() - self._debounce
            for key, queued in list(self._queued.items()):
                if queued.since <= latest_since:
                    del self._queued[key]
                    requests[key] = queued.asked
                    if queued.replaces:
                        replaced.add(key)
            if not requests:
                return
            self._budget -= len(requests)
            self._outcomes |= dict.fromkeys(requests, Outcome(error=PENDING))
            generation = Generation(self._foreground())
        arguments = (generation, requests, replaced)
        thread = threading.Thread(target=self._run, args=arguments, daemon=True)
        self._threads[thread] = generation
        thread.start()

    def _trigger_rebuild(self) -> None:
        """Change the trigger file if the server has to build again."""
        with self._lock:
            if self._rebuilds.is_due():
                self._rebuilds.server_told()
                self.trigger_file.write_text(str(time.monotonic()))

    def _text_arrived(self) -> None:
        with self._lock:
            self._rebuilds.text_arrived()

    def _run(
        self, generation: Generation, requests: Mapping[str, PageRequest], replaced: Collection[str]
    ) -> None:
        """Generate texts in a thread, and keep their outcomes for the next build."""
        outcomes: dict[str, Outcome] = {}
        try:
            with self._reporter.generating() as reporter:
                generation.reporter = _NotingReporter(reporter, self._text_arrived)
                outcomes = generate(generation, requests, replaced=replaced)
        except ContentgenError as error:
            outcomes = dict.fromkeys(requests, Outcome(error=error))
        finally:
            with self._lock:
                self._outcomes |= outcomes
                self._rebuilds.generation_ended()


class _NotingReporter(ForwardingReporter):
    """Says what another reporter says, and notes each text that arrives but the last one.

    The end of the generation, which follows the last one, needs a rebuild anyway.
    """

    def __init__(self, reporter: Reporter, note: Callable[[], None]) -> None:
        super().__init__(reporter)
        self._note = note
        self._done = 0

    def show(self, progress: Progress) -> None:
        super().show(progress)
        if self._done < progress.done < progress.total:
            self._done = progress.done
            self._note()

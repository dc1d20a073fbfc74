"""Asking the service for many texts at once.

Nothing here prints or logs. What went wrong is part of the result, one outcome for each request.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from types import FrameType
from typing import Protocol

from ..display import shown
from ..errors import Absence, ContentgenError, NoText, NotSentError, ServiceError, StoreError
from ..requests import Request
from .claims import Claims
from .lookup import Outcome, load_usable
from .store import Cache, StoredText
from .throttle import Throttle
from .waiting import Clock, Stop, WorkerThread

__all__ = [
    "WAITING",
    "Client",
    "Clock",
    "Connect",
    "Generation",
    "Limits",
    "Progress",
    "generate",
]

POLL, LONGEST_POLL = 0.25, 2.0
"""Seconds between two looks at what other runs are asking for, at first and in the end."""

CLAIM_BATCH = 100
"""How many such texts are looked for in one go, between which claims can be renewed."""

WAITING = "Waiting for the requests in flight (Ctrl-C gives them up)"
"""What a person who interrupts a run is told."""


class Client(Protocol):
    """What sends a request to the service."""

    async def send(self, request: Request, *, idempotency_key: str, timeout: float) -> bytes:
        """Return the body of an answer, or raise ServiceError."""

    def content(self, answer: bytes) -> str:
        """Return the HTML of the article in an answer, or raise ServiceError."""


Connect = Callable[[], AbstractAsyncContextManager[Client]]
"""Makes a client; called only where there is something to send. May raise ConfigurationError."""


@dataclass(frozen=True)
class Progress:
    """How far a generation is, in numbers of requests."""

    total: int
    done: int
    failed: int
    in_flight: int


@dataclass(frozen=True)
class Limits:
    """The plugin options of the same names; times are in seconds."""

    concurrency: int = 8
    timeout: float = 120
    retries: int = 2


class Generation:
    """Asks the service for many texts at once, and keeps each as it arrives.

    One object serves one call of `run()`. What went wrong with the store is in `problems`; `debug`
    gets a line for each try.
    """

    def __init__(
        self,
        store: Cache,
        connect: Connect,
        limits: Limits,
        *,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        debug: Callable[[str], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.problems: list[str] = []
        self._store = store
        self._connect = connect
        self._limits = limits
        self._on_progress = on_progress
        self._debug = debug or (lambda line: None)
        self._clock = clock or Clock()
        self._stop = Stop()
        self._thread = WorkerThread()
        self._claims = Claims(store, self._thread, self._complain)
        self._throttle = Throttle(
            store,
            self._thread,
            self._stop,
            self._clock,
            concurrency=limits.concurrency,
            longest_pause=limits.timeout,
        )
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(1)
        self._started = datetime.now(UTC)
        self._store_failed = False
        self._requests: Mapping[str, Request] = {}
        self._replaced: Collection[str] = ()
        self._outcomes: dict[str, Outcome] = {}
        self._asking = 0
        self._failed = 0

    @property
    def in_flight(self) -> int:
        """The number of requests that were sent and have no answer yet."""
        return self._throttle.in_flight

    def stop(self, reason: ContentgenError | NoText) -> None:
        """Send nothing more; what was not sent yet gets `reason` as its error.

        What is in flight is awaited, since it may have been paid for. Any thread may call this.
        """
        self._stop.set(reason)

    async def run(
        self, requests: Mapping[str, Request], *, replaced: Collection[str] = ()
    ) -> dict[str, Outcome]:
        """Return an outcome for each request, by key.

        For the keys in `replaced` there is a text already, which stays until the new one is kept.
        Raises StoreError where the store cannot keep texts, since each would be paid for in every
        build, and ConfigurationError where the service cannot be asked; nothing was sent then.
        """
        self._requests = requests
        self._replaced = replaced
        self._tell()
        # Beside each other: the one waits for the disk, the other imports a whole HTTP client.
        preparing = asyncio.ensure_future(self._thread.run(self._store.prepare))
        try:
            await asyncio.sleep(0)
            async with self._connect() as client:
                self._note(await preparing)
                await self._run(client)
        finally:
            await asyncio.gather(preparing, return_exceptions=True)
            self._note(await self._thread.run(self._store.close))
            self._thread.close()
        return {key: self._outcomes[key] for key in requests}

    async def _run(self, client: Client) -> None:
        async with self._claims.renewed(), asyncio.TaskGroup() as group:
            for _ in range(self._limits.concurrency):
                group.create_task(self._work(client, group))
            await self._queue_all()

    async def _queue_all(self) -> None:
        """Queue the requests that this run has claimed; poll for the others."""
        todo = list(self._requests)
        # A few at a time, so that runs on many machines share the work.
        batch, pause = self._limits.concurrency, POLL
        try:
            while todo:
                with_others: list[str] = []
                for start in range(0, len(todo), batch):
                    with_others += await self._queue_batch(todo[start : start + batch])
                if with_others:
                    await self._stop.or_done(asyncio.sleep(pause))
                pause = POLL if len(with_others) < len(todo) else min(2 * pause, LONGEST_POLL)
                todo, batch = with_others, CLAIM_BATCH
        except StoreError as error:
            self.stop(error)
            for key in self._requests.keys() - self._outcomes.keys() - self._claims.held:
                self._settle(key, Outcome(error=error))
        for _ in range(self._limits.concurrency):
            await self._queue.put(None)

    async def _queue_batch(self, keys: list[str]) -> list[str]:
        """Settle or queue what can be now; return what another run is asking for."""
        if self._stop.reason:
            for key in keys:
                self._settle(key, Outcome(error=self._stop.reason))
            return []
        # First the claims, then a look: another run may have got a text just before it let go.
        mine = await self._claims.claim(keys)
        there = await self._load(keys)
        await self._claims.release(mine & there.keys())
        for key in keys:
            if key in there:
                self._settle(key, Outcome("cache", there[key]))
            elif key in mine:
                await self._queue.put(key)
        return [key for key in keys if key not in mine and key not in there]

    async def _load(self, keys: Collection[str]) -> dict[str, StoredText]:
        """Return the texts that another run has got meanwhile."""
        replaced = [key for key in keys if key in self._replaced]
        others = [key for key in keys if key not in self._replaced]
        texts: dict[str, StoredText] = {}
        for wanted, since in ((others, None), (replaced, self._started)):
            if wanted:
                load = partial(load_usable, since=since)
                found, _, problems = await self._thread.run(load, wanted, self._store)
                self._note(problems)
                texts |= found
        return texts

    async def _work(self, client: Client, group: asyncio.TaskGroup) -> None:
        while (key := await self._queue.get()) is not None:
            await self._throttle.wait_for_turn()
            if self._stop.reason:
                answer: bytes | ContentgenError | NoText = self._stop.reason
            else:
                self._tell(asking=1)
                answer = await self._ask(client, self._requests[key])
                self._tell(asking=-1)
            # The next request is on its way while this answer is judged and written to the disk.
            group.create_task(self._finish(client, key, answer))

    async def _ask(self, client: Client, request: Request) -> bytes | ContentgenError | NoText:
        idempotency_key = uuid.uuid4().hex
        deadline = self._clock.monotonic() + self._limits.timeout
        tries = self._limits.retries + 1
        for attempt in range(tries):
            name = f"{request.type} {shown(request.topic)}, try {attempt + 1} of {tries}"
            started = self._clock.monotonic()
            try:
                with self._throttle.sending():
                    answer = await client.send(
                        request, idempotency_key=idempotency_key, timeout=deadline - started
                    )
            except ServiceError as error:
                failure = error
            else:
                seconds = self._clock.monotonic() - started
                self._debug(f"{name}: answered after {seconds:.1f} s, {len(answer)} bytes")
                self._throttle.answered()
                return answer

            seconds = self._clock.monotonic() - started
            await self._throttle.failed(failure, attempt=attempt, started=started)
            pause = self._throttle.pause
            left = deadline - self._clock.monotonic() - pause
            again = isinstance(failure, NotSentError) and attempt + 1 < tries and left >= 0
            what_next = f"next in {pause:.1f} s" if again else "not tried again"
            self._debug(f"{name}: {failure}, after {seconds:.1f} s; {what_next}")
            if not again:
                break
            deadline += await self._throttle.wait_for_turn()
            if self._stop.reason or deadline <= self._clock.monotonic():
                break
        return failure

    async def _finish(
        self, client: Client, key: str, answer: bytes | ContentgenError | NoText
    ) -> None:
        if isinstance(answer, bytes):
            try:
                text, failure = await self._thread.run(self._keep, client, key, answer)
            except ServiceError as error:
                answer = error
        if isinstance(answer, ContentgenError | NoText):
            await self._claims.release({key})
            self._settle(key, Outcome(error=answer))
            return
        if failure:
            # What else is asked for now would be paid for again in the next build.
            self._complain(
                f"{failure}; what was paid for is in this build only, and no more is sent"
            )
            full = "it was not sent, since the cache can keep no more texts"
            self.stop(NoText(Absence.STOPPED, full))
        self._claims.forget(key)
        self._settle(key, Outcome("service", text))

    def _keep(
        self, client: Client, key: str, answer: bytes
    ) -> tuple[StoredText, StoreError | None]:
        """Judge an answer and save its text: in one go, so that no interrupt comes in between.

        Returns why it could not be saved, if so. Raises ServiceError for a wrong answer.
        """
        text = StoredText(client.content(answer), datetime.now(UTC), self._requests[key].record())
        try:
            self._store.save({key: text})
        except StoreError as error:
            return text, error
        return text, None

    def _settle(self, key: str, outcome: Outcome) -> None:
        self._outcomes[key] = outcome
        self._tell(failed=int(outcome.text is None))

    def _tell(self, *, asking: int = 0, failed: int = 0) -> None:
        self._asking += asking
        self._failed += failed
        total, done = len(self._requests), len(self._outcomes)
        self._on_progress(Progress(total, done, self._failed, in_flight=self._asking))

    def _note(self, problems: Iterable[str]) -> None:
        """Keep what is wrong with the store, each once, though it may show at each look."""
        self.problems += [problem for problem in problems if problem not in self.problems]

    def _complain(self, problem: str) -> None:
        """Note the first problem with the store; the others follow from it."""
        if not self._store_failed:
            self.problems.append(problem)
        self._store_failed = True


def generate(
    generation: Generation,
    requests: Mapping[str, Request],
    *,
    replaced: Collection[str] = (),
    log: Callable[[str], None] = lambda line: None,
) -> dict[str, Outcome]:
    """Run `generation` to its end in this thread, and return its outcomes.

    On Ctrl-C or SIGTERM nothing more is sent; what is in flight is awaited and kept, which `log`
    is told, and then KeyboardInterrupt or SystemExit is raised. A second signal gives up what is
    in flight.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(generation.run(requests, replaced=replaced))
    received: list[int] = []

    async def run() -> dict[str, Outcome]:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  this is one

        def interrupt(number: int, frame: FrameType | None) -> None:
            # Not from here: the signal may have come while a line was being written.
            if received:
                loop.call_soon_threadsafe(task.cancel)
            elif generation.in_flight:
                loop.call_soon_threadsafe(log, WAITING)
            received.append(number)
            why = "it was not sent, since the build was interrupted"
            generation.stop(NoText(Absence.STOPPED, why))

        caught = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, interrupt) for number in caught}
        try:
            return await generation.run(requests, replaced=replaced)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    outcomes: dict[str, Outcome] = {}
    with suppress(asyncio.CancelledError):
        outcomes = asyncio.run(run())
    if received:
        raise KeyboardInterrupt if received[0] == signal.SIGINT else SystemExit(128 + received[0])
    return outcomes

"""Asking the service for many texts at once.

Nothing here prints or logs. What went wrong is part of the result, one outcome for each request.
"""

from __future__ import annotations

import asyncio
import gc
import random
import signal
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from types import FrameType
from typing import Protocol, TypeVar, TypeVarTuple

from ..display import shown
from ..errors import (
    AccessDeniedError,
    ContentgenError,
    NotSentError,
    ServiceError,
    StoppedError,
    StoreError,
    UnreachableError,
)
from ..requests import Request
from .lookup import Outcome, load_usable
from .store import LEASE, Store, StoredText

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")

FIRST_BACKOFF = 0.5
"""Seconds before the second try, at most; each further try may wait twice as long."""

REFUSALS = 3
"""Connections refused in a row after which the service counts as down."""

POLL, LONGEST_POLL = 0.25, 2.0
"""Seconds between two looks at what other runs are asking for, at first and in the end."""

LOOK = 100
"""How many such texts are looked for in one go, between which claims can be renewed."""

SPACING = 0.003
"""Seconds between two requests: what is sent at once is answered at once, and then waits."""

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


@dataclass(frozen=True)
class Clock:
    """Time and chance, handed in so that a test of waiting need not wait."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


class Generation:
    """Asks the service for many texts at once, and keeps each as it arrives.

    One object serves one call of `run()`. What went wrong with the store is in `problems`; `debug`
    gets a line for each try.
    """

    def __init__(
        self,
        store: Store,
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
        self._owner = uuid.uuid4().hex
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(1)
        self._stop_reason: ContentgenError | None = None
        self._stopped = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = ThreadPoolExecutor(1, "contentgen")
        self._started = datetime.now(UTC)
        self._replaced: Collection[str] = ()
        self._store_failed = False
        self._paused_until = 0.0
        self._window: float = limits.concurrency
        self._in_flight = 0
        self._landed = asyncio.Event()
        self._door = asyncio.Lock()
        self._last_turn = 0.0
        self._next_look = 0.0
        self._refusals = 0
        self._last_refusal = 0.0
        self._mine: set[str] = set()
        self._requests: Mapping[str, Request] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._asking = 0
        self._failed = 0

    @property
    def in_flight(self) -> int:
        """The number of requests that were sent and have no answer yet."""
        return self._in_flight

    def stop(self, reason: ContentgenError) -> None:
        """Send nothing more; what was not sent yet gets `reason` as its error.

        What is in flight is awaited, since it may have been paid for. Any thread may call this.
        """
        self._stop_reason = self._stop_reason or reason
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stopped.set)

    async def run(
        self, requests: Mapping[str, Request], *, replaced: Collection[str] = ()
    ) -> dict[str, Outcome]:
        """Return an outcome for each request, by key.

        For the keys in `replaced` there is a text already, which stays until the new one is kept.
        Raises StoreError where the store cannot keep texts, since each would be paid for in every
        build, and ConfigurationError where the service cannot be asked; nothing was sent then.
        """
        self._loop = asyncio.get_running_loop()
        self._requests = requests
        self._replaced = replaced
        self._tell()
        # Beside each other: the one waits for the disk, the other imports a whole HTTP client.
        preparing = asyncio.ensure_future(self._in_thread(self._store.prepare))
        try:
            await asyncio.sleep(0)
            async with self._connect() as client:
                self._note(await preparing)
                await self._run(client)
        finally:
            await asyncio.gather(preparing, return_exceptions=True)
            self._note(await self._in_thread(self._store.close))
            self._thread.shutdown()
        return {key: self._outcomes[key] for key in requests}

    async def _run(self, client: Client) -> None:
        renewal = asyncio.create_task(self._renew_claims())
        # It takes 25 ms and would come between two requests, if it did not now, while all wait.
        asyncio.get_running_loop().call_later(0.1, gc.collect)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._limits.concurrency):
                    group.create_task(self._work(client, group))
                await self._hand_out()
        finally:
            renewal.cancel()
            await asyncio.gather(renewal, return_exceptions=True)
            await self._release(self._mine)

    async def _hand_out(self) -> None:
        """Give the workers what this run may ask for; get the rest from those who ask for it."""
        todo = list(self._requests)
        # A few at a time, so that runs on many machines share the work.
        at_once, pause = self._limits.concurrency, POLL
        try:
            while todo:
                with_others: list[str] = []
                for start in range(0, len(todo), at_once):
                    with_others += await self._share(todo[start : start + at_once])
                if with_others:
                    await self._or_stop(asyncio.sleep(pause))
                pause = POLL if len(with_others) < len(todo) else min(2 * pause, LONGEST_POLL)
                todo, at_once = with_others, LOOK
        except StoreError as error:
            self.stop(error)
            for key in self._requests.keys() - self._outcomes.keys() - self._mine:
                self._settle(key, Outcome(error=error))
        for _ in range(self._limits.concurrency):
            await self._queue.put(None)

    async def _share(self, keys: list[str]) -> list[str]:
        """Settle or hand out what can be now; return what another run is asking for."""
        if self._stop_reason:
            for key in keys:
                self._settle(key, Outcome(error=self._stop_reason))
            return []
        # First the claims, then a look: another run may have got a text just before it let go.
        mine = await self._in_thread(self._store.claim, keys, self._owner)
        self._mine |= mine
        there = await self._load(keys)
        await self._release(mine & there.keys())
        for key in keys:
            if key in there:
                self._settle(key, Outcome("cache", there[key]))
            elif key in mine:
                await self._queue.put(key)
        return [key for key in keys if key not in mine and key not in there]

    async def _work(self, client: Client, group: asyncio.TaskGroup) -> None:
        while (key := await self._queue.get()) is not None:
            await self._wait_for_turn()
            if self._stop_reason:
                answer: bytes | ContentgenError = self._stop_reason
            else:
                self._tell(asking=1)
                answer = await self._ask(client, self._requests[key])
                self._tell(asking=-1)
            # The next request is on its way while this answer is judged and written to the disk.
            group.create_task(self._finish(client, key, answer))

    async def _finish(self, client: Client, key: str, answer: bytes | ContentgenError) -> None:
        if isinstance(answer, bytes):
            try:
                text, failure = await self._in_thread(self._keep, client, key, answer)
            except ServiceError as error:
                answer = error
        if isinstance(answer, ContentgenError):
            await self._release({key})
            self._settle(key, Outcome(error=answer))
            return
        if failure:
            # What else is asked for now would be paid for again in the next build.
            self._complain(
                f"{failure}; what was paid for is in this build only, and no more is sent"
            )
            self.stop(StoppedError("it was not sent, since the cache can keep no more texts"))
        self._mine.discard(key)
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

    async def _ask(self, client: Client, request: Request) -> bytes | ContentgenError:
        idempotency_key = uuid.uuid4().hex
        deadline = self._clock.monotonic() + self._limits.timeout
        tries = self._limits.retries + 1
        for attempt in range(tries):
            name = f"{request.type} {shown(request.topic)}, try {attempt + 1} of {tries}"
            started = self._clock.monotonic()
            self._in_flight += 1
            try:
                answer = await client.send(
                    request, idempotency_key=idempotency_key, timeout=deadline - started
                )
            except ServiceError as error:
                failure = error
            else:
                seconds = self._clock.monotonic() - started
                self._debug(f"{name}: answered after {seconds:.1f} s, {len(answer)} bytes")
                self._refusals = 0
                self._window = min(self._limits.concurrency, self._window + 1 / self._window)
                return answer
            finally:
                self._in_flight -= 1
                self._landed.set()

            seconds = self._clock.monotonic() - started
            await self._learn_from(failure, attempt, started)
            pause = max(0, self._paused_until - self._clock.monotonic())
            left = deadline - self._clock.monotonic() - pause
            again = isinstance(failure, NotSentError) and attempt + 1 < tries and left >= 0
            what_next = f"next in {pause:.1f} s" if again else "not tried again"
            self._debug(f"{name}: {failure}, after {seconds:.1f} s; {what_next}")
            if not again:
                break
            deadline += await self._wait_for_turn()
            if self._stop_reason or deadline <= self._clock.monotonic():
                break
        return failure

    async def _learn_from(self, failure: ServiceError, attempt: int, started: float) -> None:
        """Let what happened to one request spare the others."""
        now = self._clock.monotonic()
        if not isinstance(failure, UnreachableError):
            self._refusals = 0
        elif started > self._last_refusal:
            # Requests that went out side by side count as one refusal.
            self._refusals += 1
            self._last_refusal = now
        if isinstance(failure, AccessDeniedError):
            self.stop(failure)
        elif self._refusals >= REFUSALS:
            self.stop(
                UnreachableError(f"{failure}, {REFUSALS} times in a row: the service seems down")
            )
        if isinstance(failure, NotSentError):
            delay = failure.retry_after
            if delay is None:
                delay = FIRST_BACKOFF * 2**attempt * (0.5 + self._clock.random() / 2)
            if delay > self._limits.timeout:
                self.stop(failure)
                return
            self._paused_until = max(self._paused_until, now + delay)
            if not isinstance(failure, UnreachableError):
                # What is in flight now is what the service takes at once.
                self._window = max(1, min(self._window, self._in_flight))
                await self._in_thread(self._store.pause, delay)

    async def _wait_for_turn(self) -> float:
        """Wait until the service may be asked again, and takes one more, or the run is stopped.

        Returns the seconds of waiting for the others, which no request's deadline has to pay for.
        """
        waited = 0.0
        while True:
            started = self._clock.monotonic()
            async with self._door:  # so that whoever came first goes first
                while self._in_flight + 1 > self._window and not self._stop_reason:
                    self._landed.clear()
                    await self._or_stop(self._landed.wait())
                waited += self._clock.monotonic() - started
                pause = await self._pause()
                if pause <= 0:
                    spacing = self._last_turn + SPACING - self._clock.monotonic()
                    await self._clock.sleep(max(0, spacing))
                    pause = await self._pause()  # one may have begun
                if self._stop_reason or pause <= 0:
                    self._last_turn = self._clock.monotonic()
                    return waited
            # Not all at the same moment.
            await self._or_stop(self._clock.sleep(pause * (1 + self._clock.random() / 10)))

    async def _pause(self) -> float:
        """Return the seconds for which the service wants to be left alone, as far as is known."""
        now = self._clock.monotonic()
        if now >= self._next_look:
            self._next_look = now + POLL
            elsewhere = await self._in_thread(self._store.paused)
            self._paused_until = max(self._paused_until, now + elsewhere)
        return self._paused_until - self._clock.monotonic()

    async def _or_stop(self, waiting: Awaitable[object]) -> None:
        """Wait for something, or until the run is stopped."""
        either = [asyncio.ensure_future(waiting), asyncio.ensure_future(self._stopped.wait())]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        for future in either:
            future.cancel()

    async def _load(self, keys: Collection[str]) -> dict[str, StoredText]:
        """Return the texts that another run has got meanwhile."""
        replaced = [key for key in keys if key in self._replaced]
        others = [key for key in keys if key not in self._replaced]
        texts: dict[str, StoredText] = {}
        for wanted, since in ((others, None), (replaced, self._started)):
            if wanted:
                load = partial(load_usable, since=since)
                found, _, problems = await self._in_thread(load, wanted, self._store)
                self._note(problems)
                texts |= found
        return texts

    def _note(self, problems: Iterable[str]) -> None:
        """Keep what is wrong with the store, each once, though it may show at each look."""
        self.problems += [problem for problem in problems if problem not in self.problems]

    async def _renew_claims(self) -> None:
        while True:
            await asyncio.sleep(LEASE / 3)
            try:
                if self._mine:
                    await self._in_thread(self._store.claim, list(self._mine), self._owner)
            except StoreError as error:
                self._complain(str(error))

    async def _release(self, keys: set[str]) -> None:
        try:
            if keys:
                await self._in_thread(self._store.release, keys, self._owner)
        except StoreError as error:
            self._complain(str(error))
        self._mine = self._mine - keys

    async def _in_thread(
        self, call: Callable[[*_Arguments], _Result], *arguments: *_Arguments
    ) -> _Result:
        """Run what takes its time in a thread of its own, the same one each time."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, call, *arguments)

    def _complain(self, problem: str) -> None:
        """Note the first problem with the store; the others follow from it."""
        if not self._store_failed:
            self.problems.append(problem)
        self._store_failed = True

    def _tell(self, *, asking: int = 0, failed: int = 0) -> None:
        self._asking += asking
        self._failed += failed
        total, done = len(self._requests), len(self._outcomes)
        self._on_progress(Progress(total, done, self._failed, in_flight=self._asking))


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
            generation.stop(StoppedError("it was not sent, since the build was interrupted"))

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

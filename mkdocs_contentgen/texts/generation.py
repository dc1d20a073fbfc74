"""Request many texts from the service at once.

Why this way: several runs can share a cache, on one machine or on many, and each text costs money.
So a run claims requests in small batches, looks again for what other runs have saved, and only then
queues what is missing for its workers. What other runs have claimed, it looks up again from time to
time. A worker does not save the text that it gets: it sends the next request while that is saved.
The store is used in a thread of its own, since it waits for disks and locks.

Nothing here prints or logs: errors are part of the outcome of each request.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import FrameType

from msgspec import structs

from ..concurrency import Clock, run_in
from ..display import counted, quoted
from ..errors import (
    ContentgenError,
    EditError,
    FailedTextError,
    InvalidAnswerError,
    MissingReason,
    NotSentError,
    ProgramError,
    ServiceError,
    StoppedRunError,
    StoreError,
    UnreachableError,
    UnsafeHTMLError,
)
from ..files import sha256
from ..page_request import OriginalText, PageRequest
from ..reporting import SILENT, Progress, Reporter
from ..service.protocol import Attempt, Client
from ..text import Text, edition_after
from .claims import Claims
from .human_edits import has_human_edits
from .lookup import (
    NOTHING_REPLACED,
    Outcome,
    Replaced,
    load_parts,
    load_replaced,
    load_saved,
    save_failure,
    save_parts,
    save_unfinished,
)
from .policy import SendingOptions
from .store import REFRESH, ChangedError, EditsAtRiskError, UnreadableTextError, row_key
from .throttle import Throttle

POLL_INTERVAL = 1.0
"""Seconds between two polls for texts that other runs have requested."""

CLAIM_BATCH = 100
"""How many of the requests that other runs have claimed are tried in one call of the store.

The store has one thread, in which claims are renewed between two calls.
"""

WAITING_MESSAGE = "Waiting for the requests in flight (Ctrl-C gives them up)"
"""Logged when a run is interrupted."""

_EDITED_MEANWHILE = (
    "people have changed a draft meanwhile, which stays; `contentgen review` compares both"
)

_NOT_REQUESTED = "not requested"
_UNFINISHED = "unfinished, which the next run goes on with"
_GIVEN_UP = "given up, which may have been paid for"
_FAILED = "failed"

_Result = Text | ContentgenError | MissingReason
"""What a request leads to: its text, or why there is none."""


class _StoppedError(Exception):
    """The run was stopped while a text is written, and the parts so far are saved."""

    def __init__(self, reason: ContentgenError | MissingReason) -> None:
        self.reason = reason


@dataclass(frozen=True)
class _Words:
    """The number of words of a text that is being written, and how many it is to have."""

    written: int
    target: int


@dataclass
class Generation:
    """Requests many texts at once as `options` say, and saves each as it arrives.

    `run()` can be called once. With `refresh`, requests get new Idempotency-Keys: for the key of an
    earlier request, the service would repeat its answer. An Idempotency-Key is kept until there is
    an answer.
    """

    options: SendingOptions
    reporter: Reporter = SILENT
    _: KW_ONLY
    refresh: bool = False
    clock: Clock = field(default_factory=Clock)

    problems: list[str] = field(default_factory=list)
    """The problems with the store."""

    def __post_init__(self) -> None:
        self._store = self.options.store
        self._limits = self.options.limits
        self._executor = ThreadPoolExecutor(1, "contentgen")
        self._claims = Claims(
            self._store, self._executor, self._add_store_problem, self._operation_of
        )
        self.throttle = Throttle(self.clock, self._limits)
        # Short, so that this run claims no more than its workers can send soon.
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(1)
        self._store_failed = False
        self._requests: Mapping[str, PageRequest] = {}
        self._replaced: Mapping[str, Replaced] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._sending = 0
        """How many requests are in flight, or wait for their next try."""

        self._failed = 0
        self._stopped = 0
        """How many requests have no text for a reason that is not a failure of theirs."""

        self._unanswered: set[str] = set()
        """The keys of the requests that were sent, and have no outcome yet."""

        self._with_parts: set[str] = set()
        """The keys of the requests of whose texts parts were saved."""

        self._words: dict[str, _Words] = {}

    async def run(
        self, requests: Mapping[str, PageRequest], *, replaced: Collection[str] = ()
    ) -> dict[str, Outcome]:
        """Return an outcome for each request, by key.

        The keys in `replaced` have a text, which stays until the new one is saved. Raises
        StoreError if the store cannot save texts, since every build would pay for them again, and
        ConfigurationError for wrong options. In both cases, nothing was sent.
        """
        self._requests = requests
        self._report_progress()
        # Concurrently: preparing waits for the disk, and connecting imports the HTTP client.
        preparing = asyncio.ensure_future(run_in(self._executor, self._store.prepare))
        try:
            await asyncio.sleep(0)  # preparing begins before the import blocks this thread
            async with self.options.connect() as client:
                self._add_problems(await preparing)
                if replaced:
                    # The problems with these texts were reported when they were looked up.
                    load = partial(load_replaced, replaced, self._store)
                    self._replaced, _ = await run_in(self._executor, load)
                await self._send_all(client)
                self._add_problems(client.warnings)
        finally:
            await asyncio.gather(preparing, return_exceptions=True)
            self._add_problems(await run_in(self._executor, self._store.close))
            self._executor.shutdown()
        return {key: self._outcomes[key] for key in requests}

    async def _send_all(self, client: Client) -> None:
        """Send the requests, as many at once as there are workers, and save the answers."""
        workers = min(self._limits.concurrency, len(self._requests))
        async with self._claims.renewed(), asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._worker(client, group))
            await self._queue_all()
            for _ in range(workers):
                await self._queue.put(None)  # the end of the queue, for each worker

    def _operation_of(self, key: str) -> str:
        """Return the operation of a request: an Idempotency-Key is only valid for one.

        `key` is a hash of the request. For a translation, the words of its original are sent as
        well, so the operation has their hash.
        """
        if key in self.options.operations:
            return self.options.operations[key]
        if self.refresh:
            return REFRESH
        original = self._requests[key].original_text
        return f"translate {sha256(original.text.html)}" if original else "generate"

    async def _queue_all(self) -> None:
        """Queue the requests that this run has claimed; poll for the others."""
        try:
            # Small batches, so that runs on several machines share the work.
            others = await self._queue_in_batches([*self._requests], self._limits.concurrency)
            while others:
                await asyncio.sleep(POLL_INTERVAL)
                others = await self._queue_in_batches(others, CLAIM_BATCH)
        except StoreError as error:
            self.throttle.stop(error)
            for key in self._requests:
                # What this run has claimed is queued, and gets its outcome from a worker.
                if key not in self._outcomes and key not in self._claims.held:
                    self._set_outcome(key, Outcome(error=error))

    async def _queue_in_batches(self, keys: list[str], size: int) -> list[str]:
        """Queue what this run can claim. Return the keys that other runs have claimed."""
        claimed_elsewhere: list[str] = []
        for start in range(0, len(keys), size):
            claimed_elsewhere += await self._queue_batch(keys[start : start + size])
        return claimed_elsewhere

    async def _queue_batch(self, keys: list[str]) -> list[str]:
        """Queue what this run can claim. Return the keys that other runs have claimed."""
        if self.throttle.stop_reason:
            for key in keys:
                self._set_outcome(key, Outcome(error=self.throttle.stop_reason))
            return []
        # Claim before loading: another run may save a text just before its claim ends. If it paid
        # for a failed text, this one does not pay again.
        claimed = await self._claims.claim(keys)
        load = partial(load_saved, with_failures=claimed, replaced=self._replaced)
        saved, problems = await run_in(self._executor, load, keys, self._store)
        self._add_problems(problems)
        if self._store.unreadable:
            self.throttle.stop(self._store.unreadable)
        await self._claims.release(claimed & saved.keys(), answered=True)
        for key in keys:
            if key in saved:
                self._set_outcome(key, saved[key])
            elif key in claimed:
                await self._queue.put(key)
        claimed_elsewhere = []
        for key in keys:
            if key not in claimed and key not in saved:
                claimed_elsewhere.append(key)
        return claimed_elsewhere

    async def _worker(self, client: Client, group: asyncio.TaskGroup) -> None:
        """Send the queued requests, one after the other, until the queue ends."""
        while (key := await self._queue.get()) is not None:
            await self.throttle.wait_for_turn()
            if self.throttle.stop_reason:
                result: _Result = self.throttle.stop_reason
            else:
                self._unanswered.add(key)
                self._sending += 1
                self._report_progress()
                result = await self._send_until_answered(client, key)
                self._sending -= 1
                self._report_progress()
            # The next request is sent while this text is saved.
            group.create_task(self._finish(key, result))

    async def _send_until_answered(self, client: Client, key: str) -> _Result:
        """Send a request until it is answered, or its tries or its time are used up."""
        deadline = self.clock.monotonic() + self._limits.timeout
        attempt = 0
        while True:
            started = self.clock.monotonic()
            result = await self._send_once(client, key, deadline - started)
            seconds = self.clock.monotonic() - started
            if isinstance(result, Text):
                length = f"{len(result.html):,} characters"
                self._log_try(key, attempt, f"answered after {seconds:.1f} s, {length}")
                self.throttle.answered()
                return result
            if not isinstance(result, ServiceError):  # the run was stopped
                return result

            self.throttle.failed(result, attempt=attempt)
            is_sent_again = self._is_sent_again(result, attempt, deadline)
            next_step = "not tried again"
            if is_sent_again:
                next_step = f"next in {self.throttle.pause:.1f} s"
            detail = f" ({result.detail})" if result.detail else ""
            self._log_try(key, attempt, f"{result}{detail}, after {seconds:.1f} s; {next_step}")
            if not is_sent_again:
                if isinstance(result, UnreachableError):
                    self.throttle.stop(result)
                return result

            # Waiting for other requests is not the time of this one.
            waited = await self.throttle.wait_for_turn()
            deadline += waited
            stop_reason = self.throttle.stop_reason
            if isinstance(stop_reason, MissingReason):
                # The service has not processed this request: it counts as one that was not sent.
                return stop_reason
            if stop_reason or deadline <= self.clock.monotonic():
                # The cache has failed, or there is no time. The service's answer says more.
                return result
            attempt += 1

    def _is_sent_again(self, error: ServiceError, attempt: int, deadline: float) -> bool:
        """Tell whether a request is sent again after a failed try. Tries count from 0."""
        if not isinstance(error, NotSentError):
            return False  # the text may have been written and paid for
        has_tries = attempt < self._limits.retries
        return has_tries and self.clock.monotonic() + self.throttle.pause <= deadline

    def _log_try(self, key: str, attempt: int, outcome: str) -> None:
        if not self.reporter.is_verbose:
            return
        request = self._requests[key].request
        tries = self._limits.retries + 1
        name = f"{request.type} {quoted(request.topic)}, try {attempt + 1} of {tries}"
        self.reporter.debug(f"{name}: {outcome}")

    async def _send_once(self, client: Client, key: str, timeout: float) -> _Result:
        """Send a request, and return its text, its failure, or why the run was stopped."""
        try:
            with self.throttle.sending():
                return await self._ask(client, self._requests[key], self._attempt(key, timeout))
        except _StoppedError as stopped:
            return stopped.reason
        except StoppedRunError as error:
            return self.throttle.stop_reason or error
        except ServiceError as error:
            return error

    async def _ask(self, client: Client, asked: PageRequest, attempt: Attempt) -> Text:
        """Return the text that a client answers with, as the options say."""
        ask = self.options.ask or ask_for_text
        return await ask(client, asked, attempt)

    def _attempt(self, key: str, timeout: float) -> Attempt:
        return Attempt(
            idempotency_key=self._claims.held[key],
            timeout=timeout,
            load=partial(self._load_parts, key),
            save=partial(self._save_parts, key),
            report=partial(self._report_words, key),
            is_stopped=lambda: self.throttle.stop_reason is not None,
        )

    async def _finish(self, key: str, result: _Result) -> None:
        """Save the result of a request, end its claim, and report its outcome."""
        # In one call, which no interrupt splits.
        outcome, problem = await run_in(self._executor, self._save_result, key, result)
        if problem:  # the next build would have to pay for further texts again
            self._add_store_problem(f"{problem}, and no more requests are sent")
            reason = "it was not sent, since the cache can keep no more texts"
            self.throttle.stop(MissingReason("stopped", reason))
        await self._end_claim(key, outcome)
        self._set_outcome(key, outcome)

    async def _end_claim(self, key: str, outcome: Outcome) -> None:
        """End the claim on a request, and drop its Idempotency-Key if it was answered."""
        text = outcome.text
        if text is None:
            is_final = isinstance(outcome.error, ServiceError) and outcome.error.is_final
            await self._claims.release({key}, answered=is_final)
        elif not outcome.is_saved:
            # Nobody waits for what this run cannot save. The next one needs the Idempotency-Key.
            await self._claims.release({key})
        elif text.edits is not None:
            # People have changed the text of the cache, so _save_unless_edited() has kept that, and
            # nothing has ended the claim. An update of an edited text has edits, too, and saving it
            # has ended its claim: then this does nothing.
            await self._claims.release({key}, answered=True)
        else:
            self._claims.held.pop(key, None)  # saving the text has ended the claim

    def _save_result(self, key: str, result: _Result) -> tuple[Outcome, str]:
        """Save what a request has led to.

        Returns the outcome, and the problem if it could not be saved, or an empty string.
        """
        if not isinstance(result, Text):
            return self._save_failure(key, result)
        try:
            saved = self._save_unless_edited(key, result)
        except UnreadableTextError as error:
            # Nobody can use this text. The others can be saved.
            failure = FailedTextError(str(error), result.html, model=result.model)
            return self._save_failure(key, failure)
        except StoreError as error:
            problem = f"{error}; {self._rescue(key, result)}"
            return Outcome("service", result, is_saved=False), problem
        return Outcome("service", saved), ""

    def _save_failure(
        self, key: str, failure: ContentgenError | MissingReason
    ) -> tuple[Outcome, str]:
        """Remember why a text has failed, if it may have been paid for.

        Returns the outcome, and the problem if it could not be saved, or an empty string.
        """
        request = self._requests[key].request
        try:
            if isinstance(failure, FailedTextError):
                edition = self.options.editions.get(key, 0)
                save_failure(self._store, key, request, failure, edition=edition)
            elif isinstance(failure, ProgramError) and failure.answer:
                save_unfinished(self._store, key, request, failure)
        except StoreError as error:
            problem = f"{error}; the next build pays again for a failed text"
            return Outcome(error=failure, is_saved=False), problem
        return Outcome(error=failure), ""

    def _save_unless_edited(self, key: str, text: Text) -> Text:
        """Save a text as the newest one, and return the text that the cache has then.

        If people have changed the text of the cache, and nobody has agreed to lose that, it stays,
        and the new one is saved beside it. Raises StoreError.
        """
        current = self._replaced.get(key, NOTHING_REPLACED).text
        operation = self._operation_of(key)
        while True:
            current_edition = current.edition if current else 0
            edition = edition_after(current_edition, self.options.editions.get(key, 0))
            newest = structs.replace(text, edition=edition)
            agreed = current is not None and current.version in self.options.agreed
            try:
                self._store.save(
                    {key: newest}, replacing={key: current}, operation=operation, agreed=agreed
                )
            except (ChangedError, EditsAtRiskError) as error:
                current = error.now
            else:
                return newest
            if current and has_human_edits(current):
                self._store.save({row_key("generated", key): text})
                self._add_problems([_EDITED_MEANWHILE])
                return current
            # Another run has saved a text, which this newer one replaces at the next try.

    def _rescue(self, key: str, text: Text) -> str:
        """Write a text that the cache cannot save to a file, and return where it is."""
        try:
            return f"the text is in {self._store.rescue(key, text)} instead"
        except OSError:
            return f"the text is in this build only, and in this message: {text.html}"

    async def _load_parts(self, key: str) -> bytes:
        parts, problems = await run_in(self._executor, load_parts, self._store, key)
        self._add_problems(problems)
        return parts

    async def _save_parts(self, key: str, parts: bytes) -> None:
        try:
            request = self._requests[key].request
            await run_in(self._executor, save_parts, self._store, key, request, parts)
        except StoreError as error:
            self._add_store_problem(str(error))
        else:
            self._with_parts.add(key)
            if self.throttle.stop_reason:
                raise _StoppedError(self.throttle.stop_reason)

    def _report_words(self, key: str, words: int, target: int) -> None:
        # When a writer tries again, it counts from 0. The number that is shown does not fall.
        before = self._words.get(key)
        most = before.written if before else 0
        self._words[key] = _Words(max(words, most), target)
        self._report_progress()

    def _set_outcome(self, key: str, outcome: Outcome) -> None:
        self._outcomes[key] = outcome
        self._unanswered.discard(key)
        if isinstance(outcome.error, MissingReason):
            self._stopped += 1
        elif outcome.text is None:
            self._failed += 1
        self._report_progress()

    def summary(self) -> str:
        """Return what became of the texts, for a run that was interrupted."""
        kept = sum(outcome.text is not None for outcome in self._outcomes.values())
        states = Counter(self._state_without_text(key) for key in self._requests)
        parts = [f"{counted(kept, 'text')} kept"]
        for state in (_NOT_REQUESTED, _UNFINISHED, _GIVEN_UP, _FAILED):
            if states[state]:
                parts.append(f"{states[state]} {state}")
        return ", ".join(parts)

    def _state_without_text(self, key: str) -> str:
        """Return what became of a request without a text; empty for one with a text."""
        outcome = self._outcomes.get(key)
        if outcome is None:
            return _GIVEN_UP if key in self._unanswered else _NOT_REQUESTED
        if outcome.text is not None:
            return ""
        if isinstance(outcome.error, FailedTextError):
            return _FAILED  # no parts of it are left
        if key in self._with_parts:
            return _UNFINISHED
        if isinstance(outcome.error, MissingReason):
            return _NOT_REQUESTED
        return _FAILED

    def _report_progress(self) -> None:
        total = len(self._requests)
        written = 0
        target = 0
        for words in self._words.values():
            written += words.written
            target += words.target
        if self._words:  # texts that nobody has begun are as long as the others
            target = target * total // len(self._words)
        self.reporter.show(
            Progress(
                total=total,
                done=len(self._outcomes),
                failed=self._failed,
                in_flight=self._sending,
                words=written,
                target=target,
                stopped=self._stopped,
            )
        )

    def _add_problems(self, problems: Iterable[str]) -> None:
        self.problems = list(dict.fromkeys([*self.problems, *problems]))

    def _add_store_problem(self, problem: str) -> None:
        """Add the first error of the store only; the others follow from it."""
        if not self._store_failed:
            self.problems.append(problem)
        self._store_failed = True


def generate(
    generation: Generation,
    requests: Mapping[str, PageRequest],
    *,
    replaced: Collection[str] = (),
) -> dict[str, Outcome]:
    """Run `generation` in this thread, and return its outcomes.

    After Ctrl-C, SIGTERM or SIGHUP, no more requests are sent, and no more calls to a model begin.
    The answers to those in flight are awaited and saved, which is logged. Then what was kept is
    logged, and SystemExit is raised. A second signal cancels the requests in flight.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(generation.run(requests, replaced=replaced))
    run = _InterruptibleRun(generation)
    outcomes: dict[str, Outcome] = {}
    with suppress(asyncio.CancelledError):
        outcomes = asyncio.run(run.run(requests, replaced=replaced))
    if run.received_signal is not None:
        generation.reporter.log(generation.summary())
        # Not KeyboardInterrupt, of which click says no more than `Aborted!`.
        raise SystemExit(128 + run.received_signal)
    return outcomes


class _InterruptibleRun:
    """Runs a generation in the main thread. A signal stops it, and a second one cancels it."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self.received_signal: int | None = None
        """The number of the first signal."""

    async def run(
        self, requests: Mapping[str, PageRequest], *, replaced: Collection[str]
    ) -> dict[str, Outcome]:
        """Return the outcomes. Raises CancelledError after a second signal."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        # SIGHUP is the end of a terminal, and Windows has none.
        caught = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
        handlers = {}
        for number in caught:
            handlers[number] = signal.signal(number, self._interrupt)
        try:
            return await self._generation.run(requests, replaced=replaced)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.received_signal is not None:
            assert self._task is not None  # noqa: S101  for mypy: it is that of run()
            self._loop.call_soon_threadsafe(self._task.cancel)
            return
        self.received_signal = number
        if self._generation.throttle.in_flight:
            # Not logged in the handler, which may interrupt the writing of a line.
            self._loop.call_soon_threadsafe(self._generation.reporter.log, WAITING_MESSAGE)
        reason = MissingReason("stopped", "interrupted")  # nobody is shown it
        self._generation.throttle.stop(reason)


async def ask_for_text(client: Client, asked: PageRequest, attempt: Attempt) -> Text:
    """Return a new text for a request, or a translation of its original. Raises ServiceError."""
    if asked.original_text:
        return await _translate(client, asked, asked.original_text, attempt)
    return await client.generate(asked, attempt)


async def _translate(
    client: Client, asked: PageRequest, original: OriginalText, attempt: Attempt
) -> Text:
    """Return the translation of a text. Raises ServiceError."""
    from ..translation.first_translation import first_translation, plan_translation

    text = original.text
    language = asked.request.language
    try:
        # In threads, since they take HTML apart while other answers arrive.
        planned = await asyncio.to_thread(plan_translation, text, language, original.language)
        translated = await client.translate(asked, planned, attempt)
        return await asyncio.to_thread(
            first_translation,
            text,
            planned,
            translated,
            request=asked.request.record(),
            generated_at=datetime.now(UTC),
            is_draft=original.is_draft,
        )
    except (EditError, UnsafeHTMLError) as error:
        raise InvalidAnswerError(f"the translation cannot be shown: {error}") from error

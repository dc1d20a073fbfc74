"""Write the text of each request once, even if several clients send it, or one repeatedly.

A text belongs to its request and not to a connection: each has a task of its own, which clients
wait for, and which goes on and keeps its answer if they leave. So whoever asks again with the same
Idempotency-Key gets the text that was paid for. Within a process, the task is what a second client
joins; between processes, the ledger knows who writes.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from starlette.exceptions import HTTPException

from ..concurrency import run_in
from ..errors import (
    BusyModelError,
    FailedTextError,
    LedgerError,
    ReplacedLedgerError,
    ServiceError,
    UnavailableModelError,
    UnknownOutcomeError,
    UnusableServiceError,
)
from ..service.protocol import Attempt, ServiceRequest, Translation, Update
from ..translation.asking import estimate_translation, translate
from ..writer.changes import estimate_update, find_changes
from ..writer.models.model import Model
from ..writer.models.settings import WriterOptions
from ..writer.models.usage import Spending, Usage
from ..writer.writing import Estimate, estimate, write
from .configuration import ServerFields
from .ledger import BEAT, LEASE, KeyedRequest, Ledger, LimitReached, Started, month_of
from .metrics import Metrics
from .turns import QueueFullError, Turns
from .users import User, UserLimits

POLL_INTERVAL = 0.5
"""Seconds between two checks for a text that another process writes, or two tries to keep one."""

RETRY_AFTER = 5
"""Seconds after which a client may ask again, where the time is not known and usually short."""

MODEL_RETRY_AFTER = 30
"""The same for a model server that does not say how long to wait."""

NEARLY_SPENT = 0.8
"""The share of a budget from which on there is a warning."""

THREADS = 2
"""The threads that begin requests, and those for all else but beats, each with a connection."""

_DAY = 24 * 3600
"""Seconds."""

_USERS_INTERVAL = int(30 / BEAT)
"""Beats between two looks at the users."""

_EXPIRY_INTERVAL = int(3600 / BEAT)
"""Beats between two looks for old answers."""

_COMMON_BUDGET = ""
"""The label of `max_cost`, the budget of all users together, beside the names of users."""

_Result = TypeVar("_Result")


class Refusal(HTTPException):
    """A request gets no text now. `reason` is for the metrics, and `note` for the log."""

    def __init__(
        self,
        reason: str,
        status: int,
        message: str,
        retry_after: float | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        note: str = "",
    ) -> None:
        all_headers = dict(headers or {})
        if retry_after is not None:
            all_headers["Retry-After"] = str(max(1, math.ceil(retry_after)))
        super().__init__(status, message, all_headers)
        self.reason = reason
        self.note = note or message


@dataclass
class Job:
    """A request in progress, with its usage so far."""

    keyed: KeyedRequest
    limits: UserLimits
    asked: ServiceRequest
    task: asyncio.Task[bytes] = field(init=False)
    started: float = field(default_factory=time.monotonic)
    """When the first client asked for it."""

    clients: int = 0
    outcome: str = ""
    """`written`, `failed` or `kept`, or an empty string if nothing was begun."""

    spending: Spending = field(default_factory=Spending)
    begun: Started | None = None
    """What the ledger has said, once this process has to write the text."""


class Jobs:
    """The requests in progress. A client that goes away stops none of them.

    `log` gets what an operator has to know, without topics and texts.
    """

    def __init__(
        self,
        fields: ServerFields,
        options: WriterOptions,
        model: Model,
        ledger: Ledger,
        metrics: Metrics,
        log: Callable[[dict[str, object]], None],
    ) -> None:
        self.is_draining = False
        self._options = options
        self._fields = fields
        self._model = model
        self._ledger = ledger
        self._metrics = metrics
        self._log = log
        self._threads = ThreadPoolExecutor(THREADS, "ledger")
        # So that finished texts do not wait for all those that begin.
        self._begin_threads = ThreadPoolExecutor(THREADS, "begin")
        # So that others do not take this process for dead.
        self._beat_thread = ThreadPoolExecutor(1, "beat")
        self._ledger_problem = ""
        self.lost_ledger: ReplacedLedgerError | None = None
        """Why the ledger cannot be used again, so that the server has to end."""

        self.on_lost_ledger: Callable[[], None] = lambda: None
        """Called once then."""

        self._last_beat = time.monotonic()
        self._jobs: dict[tuple[str, str], Job] = {}
        self._seconds_per_text = 0.0
        self._users: dict[str, User] | None = None
        self._shares: dict[str, float] = {}
        """The share of each budget that was spent at the last look."""

        self._warned: set[str] = set()
        """The warnings of the model and of the sources that are in the log already."""

        # More texts have a slot than calls can run at once: see WriterFields.texts_at_once.
        self._slots = Turns(fields.texts_at_once, fields.calls_at_once + fields.queue)
        metrics.in_progress.set_function(self._jobs.__len__)
        metrics.queue.set_function(self._slots.__len__)

    @property
    def problem(self) -> str:
        """Why no texts can begin, or an empty string. It names no address."""
        if self.is_draining and self.lost_ledger is None:
            return "shutting down"
        is_silent = time.monotonic() > self._last_beat + LEASE
        cause = self._ledger_problem or ("it does not answer" if is_silent else "")
        return f"the ledger cannot be used: {cause}" if cause else ""

    def close(self) -> None:
        """End the threads. Nobody waits for pending calls any more, which can take long."""
        for threads in (self._threads, self._begin_threads, self._beat_thread):
            threads.shutdown(cancel_futures=True)

    async def call(
        self,
        method: Callable[..., _Result],
        *arguments: object,
        threads: ThreadPoolExecutor | None = None,
    ) -> _Result:
        """Return the result of a method of the ledger. Raises LedgerError."""
        started = time.monotonic()
        try:
            return await run_in(threads or self._threads, method, *arguments)
        except LedgerError:
            self._metrics.ledger_errors.inc()
            raise
        finally:
            self._metrics.ledger_seconds.observe(time.monotonic() - started)

    def start(self, keyed: KeyedRequest, limits: UserLimits, asked: ServiceRequest) -> Job:
        """Begin a request, or join it if it is in progress. Raises HTTPException."""
        identity = (keyed.user, keyed.key)
        job = self._jobs.get(identity)
        if job:
            if job.keyed.fingerprint != keyed.fingerprint:
                raise _other_body_error()
            return job
        if self.is_draining:
            raise _draining_error()
        job = Job(keyed, limits, asked)
        self._jobs[identity] = job
        job.task = asyncio.create_task(self._process(job))
        job.task.add_done_callback(lambda task: self._end(identity, task))
        return job

    def _end(self, identity: tuple[str, str], task: asyncio.Task[bytes]) -> None:
        del self._jobs[identity]
        # If the client is gone, nothing else retrieves the exception, and asyncio would log it.
        if not task.cancelled():
            task.exception()

    async def _process(self, job: Job) -> bytes:
        """Return the body of the answer. Raises HTTPException, LedgerError or ServiceError."""
        # In a thread, since a translation of the largest size takes 0.3 s.
        reserved = await asyncio.to_thread(self._reserve, job)
        arguments = (job.keyed, job.limits, self._fields.max_cost, reserved)
        while True:
            match await self.call(self._ledger.begin, *arguments, threads=self._begin_threads):
                case bytes(body):
                    job.outcome = "kept"
                    return body
                case "other body":
                    raise _other_body_error()
                case LimitReached() as limited:
                    raise self._limit_error(limited)
                case Started() as begun:
                    job.begun = begun
                    return await self._write(job, begun.parts)
                case "running":
                    pass  # in another process, so it is asked for again
            if self.is_draining:  # another server has it
                raise _draining_error()
            if time.monotonic() > job.started + self._fields.first_token_timeout:
                message = "the text is still being written; ask again later"
                raise Refusal("running", 409, message, RETRY_AFTER)
            await asyncio.sleep(POLL_INTERVAL)

    def _reserve(self, job: Job) -> float:
        """Return what a text may cost, by estimate, if there is a limit on that."""
        if self._fields.max_cost is None and job.limits.cost_per_month is None:
            return 0.0
        price = self._fields.price
        if price is None:
            message = (
                "a user's limit on cost needs `price` in writer.yml; the operator has to add it, "
                "and to restart the server"
            )
            raise Refusal("price", 503, message)
        guess = self._estimate(job.asked)
        if not guess.calls:  # each block has its translation already
            return 0.0
        cost_without_repairs = price.cost(guess.input_tokens, guess.output_tokens)
        return guess.most_calls / guess.calls * cost_without_repairs

    def _estimate(self, asked: ServiceRequest) -> Estimate:
        """Estimate the calls and the usage of a request."""
        match asked.of_text:
            case Update() as update:
                return estimate_update(update, self._options)
            case Translation() as translation:
                return estimate_translation(translation, self._options)
        return estimate(asked.request, self._options)

    def _limit_error(self, limited: LimitReached) -> Refusal:
        limit = limited.limit
        status = 503 if limit == "max_cost" else 429
        message = f"the limit {limit} is reached; ask again later"
        seconds = limited.retry_after
        if seconds is None:  # it allows another request as soon as a text ends
            seconds = self._usual_wait
            if limit != "parallel":
                message = f"what is left of {limit} is reserved for texts that are being written"
        headers = {}
        if limit == "requests_per_minute":
            headers["RateLimit"] = rate_limit(0, seconds)
        return Refusal(limit, status, message, seconds, headers=headers)

    @property
    def _usual_wait(self) -> float:
        """The seconds until a text is likely to end."""
        return self._seconds_per_text or RETRY_AFTER

    async def _write(self, job: Job, parts: bytes) -> bytes:
        """Write a text and keep it. Raises the same as _process()."""
        body: bytes | None = None
        keeps_parts = True
        try:
            async with self._slots.slot(job.keyed.user):
                started = time.monotonic()
                job.spending.waited += started - job.started
                job.outcome = "failed"  # until the text is complete
                body = await self._ask(job, parts)
                job.outcome = "written"
                self._seconds_per_text = time.monotonic() - started
        except QueueFullError:
            message = "too many texts are waiting for the model; ask again later"
            raise Refusal("queue", 503, message, self._usual_wait) from None
        except ServiceError as error:
            self._metrics.model_errors.labels(type(error).__name__).inc()
            keeps_parts = not isinstance(error, FailedTextError)  # after it, begin again
            if not job.spending.total.calls:
                job.outcome = ""  # the model was not even called
            raise _model_error(error, job.spending.total) from None
        finally:
            kept = await self._record(job, body, keeps_parts=keeps_parts)
        return kept or body  # the answer of another process, if that was first

    async def _ask(self, job: Job, parts: bytes) -> bytes:
        """Return the body of an answer of the model. Raises ServiceError."""

        async def load() -> bytes:
            return parts

        attempt = Attempt(load=load, save=partial(self._save_parts, job))
        ask = partial(self._model.ask, spending=job.spending)
        options = self._options
        request = job.asked.request
        try:
            match job.asked.of_text:
                case Update() as update:
                    found, usage = await find_changes(
                        request, update, options, ask, attempt=attempt
                    )
                    return found.encode(usage=usage.fields())
                case Translation() as translation:
                    translated, usage = await translate(
                        request, translation, options, ask, attempt=attempt
                    )
                    return translated.encode(usage=usage.fields())
            today = datetime.now(UTC).date()
            written = await write(request, options, ask, today=today, attempt=attempt)
            return written.encode()
        finally:
            warnings = {*self._model.warnings, *options.sources.warnings} - self._warned
            self._warned |= warnings
            for warning in warnings:
                self._warn(warning)

    async def _save_parts(self, job: Job, parts: bytes) -> None:
        try:
            await self.call(self._ledger.save_parts, job.keyed, parts, job.spending.total)
        except LedgerError as error:  # the text itself is not lost
            self._warn(str(error))

    async def _record(self, job: Job, body: bytes | None, *, keeps_parts: bool) -> bytes | None:
        """Record the end of a job. Retries without a limit, since the text was paid for.

        Returns the answer that is kept, if there is one: another process can have been first.
        In a ledger that was replaced, nothing can be kept, and only the client gets the text.
        """
        usage = job.spending.total
        end = partial(self._ledger.finish, job.keyed, body, usage, keeps_parts=keeps_parts)
        has_warned = False
        while True:
            try:
                return await self.call(end)
            except ReplacedLedgerError:
                return body
            except LedgerError as error:
                if not has_warned:
                    self._warn(f"{error}; a finished text waits to be kept")
                has_warned = True
                await asyncio.sleep(POLL_INTERVAL)

    async def report_users(self) -> None:
        """Log what was done to users, and show what is spent of their budgets."""
        users = await self.call(self._ledger.users)
        spent = await self.call(self._ledger.spent, month_of(time.time()))
        if self._users is not None:
            self._log_changes(self._users, users)
        self._users = users
        shares = self._shares_spent(users, spent)
        self._metrics.budgets.clear()  # of users who are gone
        for name, share in shares.items():
            self._metrics.budgets.labels(name).set(share)
            was_nearly_spent = self._shares.get(name, 0.0) >= NEARLY_SPENT
            if share >= NEARLY_SPENT and not was_nearly_spent:
                self._warn(f"{share:.0%} of {_budget_name(name)} is spent")
        self._shares = shares

    def _shares_spent(
        self, users: Mapping[str, User], spent: Mapping[str, float]
    ) -> dict[str, float]:
        """Return the share of each budget that is spent, by the name of its user.

        It is calculated again each time, since limits change, and months end.
        """
        shares: dict[str, float] = {}
        for name, user in users.items():
            budget = user.limits_over(self._fields.limits).cost_per_month
            if budget:
                shares[name] = spent.get(name, 0.0) / budget
        if self._fields.max_cost:
            shares[_COMMON_BUDGET] = sum(spent.values()) / self._fields.max_cost
        return shares

    def _log_changes(self, before: Mapping[str, User], now: Mapping[str, User]) -> None:
        """Log which users were added, changed and removed."""
        for name in sorted(before.keys() | now.keys()):
            user = now.get(name)
            if user == before.get(name):
                continue
            if user is None:
                self._log({"user": name, "change": "removed"})
                continue
            change = "changed" if name in before else "added"
            state = {"tokens": list(user.tokens), "limits": user.shown_limits()}
            self._log({"user": name, "change": change, **state})

    async def keep_alive(self) -> None:
        """Keep the begun requests, and look after users and old answers, until cancelled.

        Learns whether further requests can begin.
        """
        for beats in itertools.count():
            try:
                await self.call(self._ledger.beat, threads=self._beat_thread)
                if beats % _USERS_INTERVAL == 0:
                    await self.report_users()
                if beats % _EXPIRY_INTERVAL == 0:
                    await self.call(self._ledger.expire, self._fields.keep_answers * _DAY)
                self._ledger_problem = ""
            except LedgerError as error:
                self._note_ledger_error(error)
            self._last_beat = time.monotonic()
            await asyncio.sleep(BEAT)

    def _note_ledger_error(self, error: LedgerError) -> None:
        """Remember why no requests can begin; if the ledger is lost, say so once."""
        if error.cause != self._ledger_problem:  # once, not every few seconds
            self._warn(str(error))
        self._ledger_problem = error.cause
        if isinstance(error, ReplacedLedgerError) and self.lost_ledger is None:
            self.lost_ledger = error
            self.on_lost_ledger()

    async def drain(self, seconds: float | None = None) -> None:
        """Refuse further requests, and wait for those in progress and in the queue.

        After so many seconds, those in the queue are refused, too, and nobody is waited for.
        """
        self.is_draining = True
        tasks = [job.task for job in self._jobs.values()]
        if not tasks:
            return
        self._warn(f"the server stops; requests that are answered first: {len(tasks)}")
        _, late = await asyncio.wait(tasks, timeout=seconds)
        if late:
            self._slots.refuse_waiting()
            self._warn(f"requests that were not answered in time: {len(late)}")

    def _warn(self, message: str) -> None:
        self._log({"warning": message})


def rate_limit(left: int, seconds: float) -> str:
    """Return the header RateLimit (draft-ietf-httpapi-ratelimit-headers)."""
    return f'"requests_per_minute";r={left};t={max(1, math.ceil(seconds))}'


def _budget_name(user: str) -> str:
    """Return what a message calls the budget of a user, or that of all together."""
    if user == _COMMON_BUDGET:
        return "max_cost"
    return f"cost_per_month of user {user}"


def _model_error(error: ServiceError, spent: Usage) -> Exception:
    """Return the error for the client, which does not name the address of the model server.

    The error itself, which can name it, is only noted for the log.
    """
    refusal = partial(Refusal, "model", note=str(error))
    seconds = error.retry_after or MODEL_RETRY_AFTER
    match error:
        case FailedTextError():
            return error
        case BusyModelError() | UnavailableModelError():
            return refusal(503, "the model cannot be used now; ask again later", seconds)
        case UnknownOutcomeError() if not spent.output_tokens:
            # As when the model server restarts. It sent nothing, so asking again loses nothing.
            return refusal(503, "the model sent nothing; ask again later", seconds)
        case UnusableServiceError():
            return refusal(502, "the model server refuses all requests; its operator has to act")
        case _:
            return refusal(500, "the model did not write a text; the log of the server says why")


def _draining_error() -> Refusal:
    return Refusal("stop", 503, "the server is shutting down; ask again", RETRY_AFTER)


def _other_body_error() -> Refusal:
    message = "this Idempotency-Key was used for another request; make a new one"
    return Refusal("key", 422, message)

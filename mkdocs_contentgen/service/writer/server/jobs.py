"""Write the text of each request once, even if several clients send it, or one repeatedly."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import partial

from ....concurrency import WorkerThread
from ....errors import FailedTextError, LedgerError, ServiceError, UnusableServiceError
from ....requests import Request
from ...application import refusal
from ...progress import TextInProgress
from ..ledger import Ledger
from ..ledger.protocol import BEAT, KeyedRequest, Limited
from ..model import Model
from ..options import texts_at_once
from ..usage import Spending
from ..writing import encode_written, write
from .configuration import Configuration

POLL_INTERVAL = 0.5
"""Seconds between two checks for a text that another process writes."""

RETRY_AFTER = 5
"""Seconds after which a client may ask again, where the time is not known and usually short."""

_DAY, _EXPIRY_INTERVAL = 24 * 3600, 3600.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_FIRST_GUESS = 30.0
"""Seconds that a text takes, until one has been written."""


@dataclass
class Job:
    """A request in progress, with its usage so far."""

    keyed: KeyedRequest
    task: asyncio.Task[bytes] = field(init=False)
    started: float = field(default_factory=time.monotonic)
    clients: int = 0
    outcome: str = ""
    """`written`, `failed` or `kept`, or an empty string if nothing was begun."""

    spending: Spending = field(default_factory=Spending)
    has_parts: bool = False
    """Whether the ledger has parts of the text."""

    seconds: float = 0.0
    """The time for the text, with the time in the queue."""


class Jobs:
    """The requests in progress. A client that goes away stops none of them."""

    def __init__(
        self,
        configuration: Configuration,
        model: Model,
        ledger: Ledger,
        thread: WorkerThread,
        on_warning: Callable[[str], None],
    ) -> None:
        self.is_draining = False
        self._configuration = configuration
        self._model = model
        self._ledger = ledger
        self._thread = thread
        self._on_warning = on_warning
        self._logged: list[str] = []
        self._jobs: dict[tuple[str, str], Job] = {}
        self._seconds_per_text = _FIRST_GUESS
        # Texts begin in the order of their requests, while `parallel` limits the calls for them.
        self._places = asyncio.Semaphore(texts_at_once(configuration.fields.parallel))

    def __len__(self) -> int:
        return len(self._jobs)

    def start(self, keyed: KeyedRequest, request: Request) -> Job:
        """Begin a request, or join it if it is in progress. Raises HTTPException."""
        identity = (keyed.user, keyed.key)
        job = self._jobs.get(identity)
        if job is None:
            fields = self._configuration.fields
            if self.is_draining:
                raise _draining_error()
            if len(self._jobs) >= fields.parallel + fields.queue:
                message = "too many texts are waiting for the model; ask again later"
                raise refusal(503, message, self._seconds_per_text)
            job = self._jobs[identity] = Job(keyed)
            job.task = asyncio.create_task(self._process(job, request))
            job.task.add_done_callback(lambda task: self._end(identity, task))
        elif job.keyed.fingerprint != keyed.fingerprint:
            raise _other_body_error()
        return job

    def _end(self, identity: tuple[str, str], task: asyncio.Task[bytes]) -> None:
        del self._jobs[identity]
        # If the client is gone, nothing else retrieves the exception, and asyncio would log it.
        if not task.cancelled():
            task.exception()

    async def _process(self, job: Job, request: Request) -> bytes:
        """Return the body of the answer. Raises HTTPException, LedgerError or ServiceError."""
        fields = self._configuration.fields
        while True:
            match await self._thread.run(
                self._ledger.begin, job.keyed, fields.limits, fields.max_cost
            ):
                case bytes(body):
                    job.outcome = "kept"
                    return body
                case "other body":
                    raise _other_body_error()
                case Limited(limit, seconds):
                    raise self._limit_error(job.keyed.user, limit, seconds)
                case "begun":
                    return await self._write(job, request)
                case "running":
                    if time.monotonic() > job.started + fields.first_token_timeout:
                        raise refusal(
                            409, "the text is still being written; ask again later", RETRY_AFTER
                        )
                    await asyncio.sleep(POLL_INTERVAL * (0.5 + random.random()))  # noqa: S311

    def _limit_error(self, user: str, limit: str, seconds: float | None) -> Exception:
        if limit == "max_cost":
            return refusal(503, "the server's budget of this month is spent", seconds)
        if seconds is None:
            begun = [job.started for job in self._jobs.values() if job.keyed.user == user]
            elapsed = time.monotonic() - min(begun)
            seconds = self._seconds_per_text - elapsed
        return refusal(429, f"the limit {limit} is reached; ask again later", seconds)

    async def _write(self, job: Job, request: Request) -> bytes:
        """Write a text and keep it. Raises the same as _process()."""
        body: bytes | None = None
        has_ended = False
        try:
            async with self._places:
                if self.is_draining:
                    raise _draining_error()
                started = time.monotonic()
                job.spending.waited += started - job.started
                await self._check_budget(job)
                # Before anything is begun: while the ledger is down, nothing is paid for again.
                parts = await self._thread.run(self._ledger.load_parts, job.keyed)
                job.has_parts = bool(parts)

                async def load() -> bytes:
                    return parts

                job.outcome = "failed"  # until the text is complete
                written = await write(
                    request,
                    self._configuration.options,
                    partial(self._model.ask, spending=job.spending),
                    today=date.today(),
                    progress=TextInProgress(load, partial(self._save_parts, job)),
                )
                body = encode_written(written, self._model.name)
                has_ended = True
                job.outcome = "written"
                seconds = time.monotonic() - started
                self._seconds_per_text += (seconds - self._seconds_per_text) / 8
            return body
        except FailedTextError:
            has_ended = True  # the next attempt is a new one
            raise
        except UnusableServiceError as error:
            if job.spending.total.calls:  # 503 would mean that nothing was written
                raise ServiceError(str(error)) from None
            job.outcome = ""
            raise
        finally:
            job.seconds = time.monotonic() - job.started
            self._log_sources()
            await self._record(job, body)
            if has_ended:  # if the process is killed before, the next one still has the text
                await self._save_parts(job, b"")

    async def _save_parts(self, job: Job, parts: bytes) -> None:
        """Keep the answers for an unfinished text; without any, drop those that were kept."""
        if not (parts or job.has_parts):
            return
        job.has_parts = bool(parts)
        try:
            await self._thread.run(self._ledger.save_parts, job.keyed, parts)
        except LedgerError as error:  # the text itself is not lost
            self._on_warning(str(error))

    def _log_sources(self) -> None:
        """Log which files are left out of the sources, if they have changed since the last time."""
        warnings = self._configuration.options.sources.warnings
        for warning in warnings if warnings != self._logged else ():
            self._on_warning(warning)
        self._logged = warnings

    async def _check_budget(self, job: Job) -> None:
        """Raise HTTPException if the budget was spent while the request waited."""
        fields, user = self._configuration.fields, job.keyed.user
        if fields.max_cost is None and fields.limits.cost_per_month is None:
            return
        limited = await self._thread.run(
            self._ledger.over_budget, user, fields.limits, fields.max_cost
        )
        if limited:
            raise self._limit_error(user, limited.limit, limited.retry_after)

    async def _record(self, job: Job, body: bytes | None) -> None:
        """Record the end of a job. Retries without a limit, since the text was paid for."""
        pause = _FIRST_PAUSE
        while True:
            try:
                if job.outcome:
                    await self._thread.run(self._ledger.finish, job.keyed, body, job.spending.total)
                else:
                    await self._thread.run(self._ledger.withdraw, job.keyed)
            except LedgerError as error:
                if pause == _FIRST_PAUSE:
                    self._on_warning(f"{error}; a finished text waits to be kept")
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                return

    async def keep_alive(self) -> None:
        """Send heartbeats to other processes, and drop old answers, until cancelled."""
        next_expiry = 0.0
        last_problem = ""
        while True:
            try:
                await self._thread.run(self._ledger.beat)
                if time.monotonic() >= next_expiry:
                    seconds = self._configuration.fields.keep_answers * _DAY
                    await self._thread.run(self._ledger.expire, seconds)
                    next_expiry = time.monotonic() + _EXPIRY_INTERVAL
                last_problem = ""
            except LedgerError as error:
                if str(error) != last_problem:  # once, not every few seconds
                    self._on_warning(str(error))
                last_problem = str(error)
            await asyncio.sleep(BEAT)

    async def drain(self) -> None:
        """Refuse further requests, and wait for those in progress."""
        self.is_draining = True
        while self._jobs:
            await asyncio.wait([job.task for job in self._jobs.values()])


def _draining_error() -> Exception:
    return refusal(503, "the server is shutting down; ask again", RETRY_AFTER)


def _other_body_error() -> Exception:
    return refusal(422, "this Idempotency-Key was used for another request; make a new one")

"""Write the text of each request once, even if several clients send it, or one repeatedly."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from ...concurrency import WorkerThread
from ...errors import (
    BusyModelError,
    DamagedUsageError,
    FailedTextError,
    LedgerError,
    LostLedgerError,
    UnusableServiceError,
)
from ...requests import Request
from ...service.application import refusal
from ...service.protocol import Attempt
from ...service.updates import Update
from ..ledger import Ledger
from ..ledger.protocol import BEAT, Begun, Costs, KeyedRequest, Limited, month_of
from ..ledger.users import Limits
from ..options import texts_at_once
from ..usage import Spending, Usage
from .configuration import Configuration
from .models import Models
from .turns import Turns

POLL_INTERVAL = 0.5
"""Seconds between two checks for a text that another process writes."""

RETRY_AFTER = 5
"""Seconds after which a client may ask again, where the time is not known and usually short."""

NEARLY_SPENT = 0.8
"""The share of a budget from which on there are warnings."""

_DAY, _EXPIRY_INTERVAL = 24 * 3600, 3600.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


@dataclass
class Job:
    """A request in progress, with its usage so far."""

    keyed: KeyedRequest
    limits: Limits
    request: Request
    what: Update | None
    """The update that is asked for, or None for a new text."""

    task: asyncio.Task[bytes] = field(init=False)
    started: float = field(default_factory=time.monotonic)
    clients: int = 0
    outcome: str = ""
    """`written`, `failed` or `kept`, or an empty string if nothing was begun."""

    spending: Spending = field(default_factory=Spending)
    counted: Usage = field(default_factory=Usage)
    """The usage that the ledger has."""

    has_parts: bool = False
    """Whether the ledger has parts of the text."""

    seconds: float = 0.0
    """The time for the text, with the time in the queue."""

    model: str = ""
    """The name of the model that has written the text."""

    begun: Begun | None = None
    budget_used: float = 0.0
    """The share of the user's budget, or of the one for all, that is spent."""


class Jobs:
    """The requests in progress. A client that goes away stops none of them."""

    def __init__(
        self,
        configuration: Configuration,
        models: Models,
        ledger: Ledger,
        thread: WorkerThread,
        on_warning: Callable[[str], None],
    ) -> None:
        self.is_draining = False
        self.uses: dict[tuple[str, str], float] = {}
        """When tokens were used since the last beat, by user and token."""

        self.budgets: dict[str, float] = {}
        """The share of each user's budget that is spent; that of all users under an empty name."""

        self._fields = configuration.fields
        self._models = models
        self._ledger = ledger
        self._thread = thread
        self._on_warning = on_warning
        self._jobs: dict[tuple[str, str], Job] = {}
        self._seconds_per_text = 0.0
        # `parallel` limits the calls for the texts that have a place.
        self._places = Turns(texts_at_once(self._fields.parallel))
        self._begun = 0

    def __len__(self) -> int:
        return len(self._jobs)

    @property
    def waiting(self) -> int:
        """The number of texts in the queue."""
        return len(self._places)

    def start(
        self, keyed: KeyedRequest, limits: Limits, request: Request, what: Update | None = None
    ) -> Job:
        """Begin a request, or join it if it is in progress. Raises HTTPException."""
        identity = (keyed.user, keyed.key)
        job = self._jobs.get(identity)
        if job is None:
            if self.is_draining:
                raise _draining_error()
            job = self._jobs[identity] = Job(keyed, limits, request, what)
            job.task = asyncio.create_task(self._process(job))
            job.task.add_done_callback(lambda task: self._end(identity, task))
        elif job.keyed.fingerprint != keyed.fingerprint:
            raise _other_body_error()
        return job

    def _end(self, identity: tuple[str, str], task: asyncio.Task[bytes]) -> None:
        del self._jobs[identity]
        # If the client is gone, nothing else retrieves the exception, and asyncio would log it.
        if not task.cancelled():
            task.exception()

    async def _process(self, job: Job) -> bytes:
        """Return the body of the answer. Raises HTTPException, LedgerError or ServiceError."""
        max_cost = self._fields.max_cost
        reserve = 0.0
        if max_cost is not None or job.limits.cost_per_month is not None:
            cost = self._models.reserve(job.request, job.what)
            if cost is None:
                self._on_warning(
                    f"user {job.keyed.user} has a limit on cost, but this server was started "
                    "without `price`; add it to writer.yml, and restart the server"
                )
                raise refusal(503, "the server has no price for budgets; its operator has to act")
            reserve = cost
        begin = partial(self._ledger.begin, job.keyed, job.limits, max_cost, reserve)
        while True:
            match await self._thread.run(begin):
                case bytes(body):
                    job.outcome = "kept"
                    return body
                case "other body":
                    raise _other_body_error()
                case Limited() as limited:
                    raise self._limit_error(job.keyed.user, limited)
                case Begun() as begun:
                    job.begun = begun
                    return await self._write(job, begun.parts)
                case "running":
                    if time.monotonic() > job.started + self._fields.first_token_timeout:
                        raise refusal(
                            409, "the text is still being written; ask again later", RETRY_AFTER
                        )
                    await asyncio.sleep(POLL_INTERVAL * (0.5 + random.random()))  # noqa: S311

    def _limit_error(self, user: str, limited: Limited) -> Exception:
        limit, seconds = limited.limit, limited.retry_after
        if seconds is None:
            begun = [job.started for job in self._jobs.values() if job.keyed.user == user]
            elapsed = time.monotonic() - min(begun)
            seconds = (self._seconds_per_text or RETRY_AFTER) - elapsed
            if limit != "parallel":
                message = f"what is left of {limit} is reserved for texts that are being written"
                return refusal(503 if limit == "max_cost" else 429, message, seconds)
        if limit in ("max_cost", "cost_per_month"):
            day = f"{datetime.now(UTC) + timedelta(seconds=seconds):%Y-%m-%d}"
            message = f"the limit {limit} is reached until {day}; its operator can raise it"
            self.budgets["" if limit == "max_cost" else user] = 1.0
            return refusal(503 if limit == "max_cost" else 429, message, seconds)
        error = refusal(429, f"the limit {limit} is reached; ask again later", seconds)
        if limit == "requests_per_minute":
            error.headers = {**(error.headers or {}), "RateLimit": rate_limit(0, seconds)}
        return error

    async def _write(self, job: Job, parts: bytes) -> bytes:
        """Write a text and keep it. Raises the same as _process()."""
        body: bytes | None = None
        has_ended = False
        self._begun += 1
        try:
            if self._begun > self._fields.parallel + self._fields.queue:
                message = "too many texts are waiting for the model; ask again later"
                raise refusal(503, message, self._seconds_per_text or RETRY_AFTER)
            async with self._places.place(job.keyed.user):
                if self.is_draining:
                    raise _draining_error()
                started = time.monotonic()
                job.spending.waited += started - job.started
                job.has_parts = bool(parts)

                async def load() -> bytes:
                    return parts

                job.outcome = "failed"  # until the text is complete
                attempt = Attempt(load=load, save=partial(self._save_parts, job))
                body, job.model = await self._models.write(
                    job.request, job.what, job.spending, attempt
                )
                has_ended = True
                job.outcome = "written"
                seconds = time.monotonic() - started
                known = self._seconds_per_text
                self._seconds_per_text = known + (seconds - known) / 8 if known else seconds
        except FailedTextError:
            has_ended = True  # the next attempt is a new one
            raise
        except (UnusableServiceError, BusyModelError):
            if not job.spending.total.calls:
                job.outcome = ""
            raise
        finally:
            self._begun -= 1
            job.seconds = time.monotonic() - job.started
            if job.spending.total.calls:
                self._models.settle(job.request, job.what, job.spending.total.cost or 0.0)
            kept = await self._record(job, body)
            if has_ended:  # if the process is killed before, the next one still has the text
                await self._save_parts(job, b"")
        return kept or body

    async def _save_parts(self, job: Job, parts: bytes) -> None:
        """Keep the answers for an unfinished text; without any, drop those that were kept."""
        if not (parts or job.has_parts):
            return
        job.has_parts = bool(parts)
        spent = job.spending.total
        try:
            await self._thread.run(self._ledger.save_parts, job.keyed, parts, spent - job.counted)
        except LedgerError as error:  # the text itself is not lost
            self._on_warning(str(error))
        else:
            job.counted = spent

    async def _record(self, job: Job, body: bytes | None) -> bytes:
        """Record the end of a job. Retries without a limit, since the text was paid for.

        Returns the answer that is kept, if another process was first, or nothing.
        """
        pause = _FIRST_PAUSE
        while True:
            try:
                if not job.outcome:
                    await self._thread.run(self._ledger.withdraw, job.keyed)
                    return b""
                usage = job.spending.total - job.counted
                costs = await self._thread.run(self._ledger.finish, job.keyed, body, usage)
            except (LostLedgerError, DamagedUsageError) as error:
                # Nothing can be kept there any more, but the client can keep the text.
                self._on_warning(f"{error}; user {job.keyed.user}: {job.spending.total}")
                return b""
            except LedgerError as error:
                if pause == _FIRST_PAUSE:
                    self._on_warning(f"{error}; a finished text waits to be kept")
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                job.counted = job.spending.total
                self._watch_budgets(job, costs)
                return costs.kept if body else b""

    async def _load_budgets(self) -> None:
        """Read how much of the budgets is spent, since limits and months change."""
        limits, max_cost = self._fields.limits, self._fields.max_cost
        month = month_of(time.time())
        usage = await self._thread.run(self._ledger.usage)
        spent = {row.user: row.usage.cost or 0.0 for row in usage if row.month == month}
        users = await self._thread.run(self._ledger.users)
        budgets = {name: user.limits.over(limits).cost_per_month for name, user in users.items()}
        costs = {**{name: spent.get(name, 0.0) for name in users}, "": sum(spent.values())}
        self.budgets = {
            name: costs[name] / budget
            for name, budget in {**budgets, "": max_cost}.items()
            if budget
        }

    def _watch_budgets(self, job: Job, costs: Costs) -> None:
        """Note how much of the budgets is spent, and warn once if it is nearly all."""
        user = job.keyed.user
        for name, limit, budget, cost in (
            (user, "cost_per_month", job.limits.cost_per_month, costs.user),
            ("", "max_cost", self._fields.max_cost, costs.all),
        ):
            if budget is None:
                self.budgets.pop(name, None)
                continue
            before, share = self.budgets.get(name, 0.0), cost / budget if budget else 1.0
            self.budgets[name] = share
            job.budget_used = max(job.budget_used, share)
            if before < NEARLY_SPENT <= share:
                of = f" of user {name}" if name else ""
                self._on_warning(f"{share:.0%} of {limit}{of} is spent")

    async def keep_alive(self) -> None:
        """Send heartbeats to other processes, and drop old answers, until cancelled."""
        next_expiry = 0.0
        last_problem = ""
        while True:
            try:
                await self._thread.run(self._ledger.beat)
                if self.uses:
                    uses, self.uses = self.uses, {}
                    await self._thread.run(self._ledger.note_uses, uses)
                if time.monotonic() >= next_expiry:
                    seconds = self._fields.keep_answers * _DAY
                    await self._thread.run(self._ledger.expire, seconds)
                    await self._load_budgets()
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
        if self._jobs:
            self._on_warning(
                f"the server stops; requests that are answered first: {len(self._jobs)}"
            )
        while self._jobs:
            await asyncio.wait([job.task for job in self._jobs.values()])


def rate_limit(left: int, seconds: float) -> str:
    """Return the header RateLimit (draft-ietf-httpapi-ratelimit-headers)."""
    return f'"requests_per_minute";r={left};t={max(1, math.ceil(seconds))}'


def _draining_error() -> Exception:
    return refusal(503, "the server is shutting down; ask again", RETRY_AFTER)


def _other_body_error() -> Exception:
    return refusal(422, "this Idempotency-Key was used for another request; make a new one")

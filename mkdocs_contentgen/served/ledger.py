"""The ledger: which texts are written, kept and counted. All databases run its queries.

Several processes write for the same users, and any of them can be killed at any moment. So nothing
is remembered that could go wrong on the way:

- Whoever writes a text has a lease on its request, and renews it every few seconds. If it is not
  renewed, the process counts as dead, and the next one that is asked begins again, with the parts
  that were saved. After an outage of the database no lease was renewed, so none counts as expired
  until the others had time for it.
- Before a text begins, what it may cost is reserved, in the transaction that compares the budget.
  The cost so far is stored as a whole and not added up, so that a call that is made again after a
  lost connection counts once.
- The first answer that is kept for a key stays. A process that was taken for dead and comes back
  gets that answer for its client.
- A transaction locks the users whose limits it reads, and everybody where a budget is for all.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self

import msgspec

from ..writer.models.usage import Usage
from .databases import Execute, PostgreSQL, SQLite, is_address
from .users import User, UserLimits, check_name

BEAT = 2.0
"""Seconds between two calls of beat()."""

LEASE = 15.0
"""Seconds without a beat after which a process counts as dead."""

_SQL = files(__package__).joinpath("ledger.sql").read_text("utf-8")
_QUERIES = dict(re.findall(r"(?ms)^-- (\w+)\n(.+?)\n(?:\n|\Z)", _SQL))
"""The queries by name.

- `request`: what is known of a request.
- `put`: begin a request, or keep its answer. Does nothing if there is an answer, or if another
  request with the same key runs. Such a one has a lease that ends after `expired_before`.
- `update`: set the lease of an attempt, and its parts, which stay if `parts` is None. Does nothing
  if there is an answer, or if another process has begun the request again.
- `count`: set the usage of an attempt so far.
- `withdraw`: drop an attempt, so that no limit counts it.
- `recent`: the user's attempts of the last minute, the time of the oldest, and how many texts run.
- `costs`: what a month has cost, and what is reserved.
"""

_EVERYBODY = ""
"""In place of a user, in locks and in queries: all users together."""

# Further locks. The names of users have no space.
_TABLES_LOCK = " tables"
_EXPIRY_LOCK = " expiry"
_USERS_LOCK = " users"

_PROBE = {"user": " probe", "attempt": " probe"}
"""An attempt that costs nothing, to see whether the database can be written to."""

_ROUNDING = 1e-9
"""A budget counts as spent if less than this is left, since sums of costs are rounded."""


@dataclass(frozen=True)
class KeyedRequest:
    """A request of a user with its Idempotency-Key.

    `key` is the SHA-256 of the Idempotency-Key, `fingerprint` that of the operation and body.
    """

    user: str
    key: str
    fingerprint: str


@dataclass(frozen=True)
class _Unfinished:
    """The parts of a text that a process has not finished."""

    parts: bytes


@dataclass(frozen=True)
class _Budget:
    """The most that a user, or everybody together, may cost in a month; None means no limit."""

    option: str
    most: float | None
    user: str


@dataclass(frozen=True)
class _RecentAttempts:
    """What a user has begun in the last minute."""

    number: int
    reset: float
    """The seconds until the minute of the oldest one is over."""

    running: int
    """The number of the user's texts that are being written, whenever they were begun."""


@dataclass(frozen=True)
class LimitReached:
    """A limit is reached, so nothing is written.

    `limit` is the name of the option. It allows another request in `retry_after` seconds, if known.
    """

    limit: str
    retry_after: float | None = None


@dataclass(frozen=True)
class Started:
    """The caller has to write the text.

    In this minute, the user has `left` further requests. The minute ends in `reset` seconds.
    `parts` is what save_parts() has saved for the request, or empty.
    """

    left: int
    reset: float
    parts: bytes = b""


@dataclass(frozen=True)
class MonthlyUsage:
    """The usage of a user in a month such as `2026-11`, in UTC. Its cost can be unknown."""

    user: str
    month: str
    texts: int
    failed: int
    usage: Usage


@dataclass(frozen=True)
class _Transaction:
    """Queries that are run together, as of one time."""

    execute: Execute
    now: float
    """The time of all queries, in seconds since 1970."""

    expired_before: float
    """The time up to which a lease counts as expired."""

    def run(self, name: str, **values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query, by its name. The time is among its parameters."""
        times = {
            "now": self.now,
            "month": month_of(self.now),
            "expired_before": self.expired_before,
        }
        return self.execute(_QUERIES[name], **{**times, **values})


class Ledger:
    """Users, Idempotency-Keys with their answers, and usage.

    The methods block, and several threads can call them. They raise LedgerError if the database
    cannot be used; then the same call can be made again, and counts once. `clock` is in seconds
    since 1970, in place of that of the database. A process that is not heard of for `lease` seconds
    counts as dead.
    """

    def __init__(
        self,
        database: SQLite | PostgreSQL,
        *,
        clock: Callable[[], float] | None = None,
        lease: float = LEASE,
    ) -> None:
        self._database = database
        self.name = database.name
        self._clock = clock
        self._lease = lease
        self._attempts: dict[KeyedRequest, str] = {}
        self._reached = float("-inf")
        """When the database was last reached, by the clock of this process."""

        self._reached_since = float("-inf")
        """Since when it has been reached without a long break."""

        # `CREATE … IF NOT EXISTS` would deadlock with those who write already.
        with database.transaction(_TABLES_LOCK) as execute:
            if not execute(database.tables_query):
                for query in _QUERIES["tables"].format(blob=database.blob).split(";"):
                    execute(query)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def user(self, name: str) -> User | None:
        """Return a user, or None if there is none."""
        with self._database.transaction(writes=False) as execute:
            return _users(execute, "WHERE name = :name", name=name).get(name)

    def users(self) -> dict[str, User]:
        """Return the users by name."""
        with self._database.transaction(writes=False) as execute:
            return _users(execute)

    @contextmanager
    def changing_users(self) -> Iterator[dict[str, User]]:
        """Yield the users by name, and keep what the block makes of them. Atomic.

        An exception in the block is passed on, and then nothing is changed.
        """
        with self._database.transaction(_USERS_LOCK) as execute:
            users = _users(execute)
            yield users
            execute(_QUERIES["drop_users"])
            for name, user in users.items():
                record = msgspec.json.encode(user)
                execute(_QUERIES["add_user"], name=check_name(name), record=record)

    def begin(
        self, request: KeyedRequest, limits: UserLimits, max_cost: float | None, reserve: float
    ) -> Literal["running", "other body"] | bytes | LimitReached | Started:
        """Begin a request, unless it is known or a limit is reached. Atomic.

        Return `running` if another process writes the text, `other body` if the key was used for
        another request, and the body of the answer if the text is there.

        Known requests are answered before limits are checked. Of two processes that begin the same
        request, one gets Started. `max_cost` is for all users together. Until the request ends,
        `reserve` counts as its cost. A request of a process that has died can be begun again.
        """
        locks = [request.user]
        if max_cost is not None:
            locks.insert(0, _EVERYBODY)
        with self._transaction(*locks) as transaction:
            known = self._find(transaction, request)
            if isinstance(known, bytes | str):
                return known
            budgets = [
                _Budget("max_cost", max_cost, _EVERYBODY),
                _Budget("cost_per_month", limits.cost_per_month, request.user),
            ]
            for budget in budgets:
                reached = _reached_budget(transaction, budget, reserve)
                if reached:
                    return reached
            most = limits.requests_per_minute
            recent = _recent_attempts(transaction, request.user, most)
            if recent.number >= most:
                return LimitReached("requests_per_minute", recent.reset)
            if recent.running >= limits.parallel:
                return LimitReached("parallel")
            attempt = self._begin_attempt(transaction, request, reserve)
        self._attempts[request] = attempt
        parts = known.parts if known else b""
        return Started(left=most - recent.number - 1, reset=recent.reset, parts=parts)

    def _begin_attempt(
        self, transaction: _Transaction, request: KeyedRequest, reserve: float
    ) -> str:
        """Return the name of a new attempt to write a text, with a lease, and a reserved cost."""
        attempt = secrets.token_hex(16)
        parameters = {**asdict(request), "attempt": attempt}
        _count(transaction, parameters, Usage())
        lease = transaction.now + self._lease
        transaction.run("put", **parameters, lease=lease, reserve=reserve, body=None)
        return attempt

    def _expired_before(self, now: float) -> float:
        """Return the time up to which a lease counts as expired, and its process as dead.

        After an outage or a start this is 0, so no process counts as dead: the others need a while
        to renew their leases.
        """
        is_long_reached = time.monotonic() - self._reached_since > self._lease
        return now if is_long_reached else 0.0

    def _note_reached(self) -> None:
        """Remember that the database was reached now."""
        reached = time.monotonic()
        # There is a beat every few seconds, so nothing for half a lease is an outage.
        was_away = reached - self._reached > self._lease / 2
        if was_away:
            self._reached_since = reached
        self._reached = reached

    def _find(
        self, transaction: _Transaction, request: KeyedRequest
    ) -> Literal["running", "other body"] | bytes | _Unfinished | None:
        """Return what is known of a request: its answer, that it runs, or what is left of it."""
        lock = self._database.for_update  # so that no beat comes in between
        rows = transaction.execute(f"{_QUERIES['request']} {lock}", **asdict(request))
        row = next(iter(rows), None)
        if row is None:
            return None
        fingerprint, body, lease, parts = row
        is_same = fingerprint == request.fingerprint
        is_taken = body is not None or lease > transaction.expired_before
        if is_taken and not is_same:
            return "other body"
        if is_taken:
            return body or "running"
        if is_same and parts:
            return _Unfinished(parts)
        return None

    def finish(
        self, request: KeyedRequest, body: bytes | None, usage: Usage, *, keeps_parts: bool = False
    ) -> bytes | None:
        """Keep the answer of a begun request, and count its usage from the beginning to the end.

        `body` is None if there is no text. Then the request can be begun again, and it counts for
        no limit if the model was not called. With `keeps_parts`, the saved parts stay for that.

        Return the answer that is kept, or None. It can be that of another process, since the first
        one stays.
        """
        parameters = self._parameters_of(request)
        with self._transaction(request.user) as transaction:
            if body is not None:
                transaction.run(
                    "put",
                    **parameters,
                    lease=0,
                    reserve=0,
                    body=body,
                    expired_before=0,  # so that another request that runs with this key stays
                )
                _count(transaction, parameters, usage, texts=1)
            else:
                parts = None if keeps_parts else b""  # None: as they are
                transaction.run("update", **parameters, lease=0, parts=parts)
                if usage.calls:
                    _count(transaction, parameters, usage, failed=1)
                else:
                    transaction.run("withdraw", **parameters)
            kept = _kept_answer(transaction, parameters)
        self._attempts.pop(request, None)
        return kept

    def save_parts(self, request: KeyedRequest, parts: bytes, usage: Usage) -> None:
        """Keep the parts of a text in place of earlier ones, and count its usage so far.

        So what a process that dies has paid for is neither lost nor forgotten.
        """
        parameters = self._parameters_of(request)
        with self._transaction(request.user) as transaction:
            lease = transaction.now + self._lease
            transaction.run("update", **parameters, lease=lease, parts=parts)
            _count(transaction, parameters, usage)

    def _parameters_of(self, request: KeyedRequest) -> dict[str, str]:
        """Return the parameters of queries on a request that this process has begun.

        Another thread may have finished it meanwhile. Then they have a new attempt, which no row
        has, so that queries change nothing.
        """
        attempt = self._attempts.get(request) or secrets.token_hex(16)
        return {**asdict(request), "attempt": attempt}

    def beat(self) -> None:
        """Keep the begun requests of this process alive, and check that requests can begin.

        Called every BEAT seconds.
        """
        with self._transaction() as transaction:
            lease = transaction.now + self._lease
            for request in list(self._attempts):
                parameters = self._parameters_of(request)
                transaction.run("update", **parameters, lease=lease, parts=None)  # as they are
            # On a full disk, or one that is read-only, this fails as begin() does.
            _count(transaction, _PROBE, Usage())

    def expire(self, seconds: float) -> None:
        """Drop the answers, and parts of unfinished texts, that are older than so many seconds."""
        with self._transaction(_EXPIRY_LOCK) as transaction:
            transaction.run("drop_requests", before=transaction.now - seconds)

    def usage(self) -> list[MonthlyUsage]:
        """Return the usage of each user and month, by month and user."""
        with self._database.transaction(writes=False) as execute:
            rows = sorted(execute(_QUERIES["usage"]))
        months = []
        for month, user, texts, failed, *counts in rows:
            months.append(MonthlyUsage(user, month, texts, failed, Usage(*counts)))
        return months

    def spent(self, month: str) -> dict[str, float]:
        """Return the cost of each user in a month, as far as it is known."""
        with self._database.transaction(writes=False) as execute:
            return dict(execute(_QUERIES["spent"], month=month))

    @contextmanager
    def _transaction(self, *locks: str) -> Iterator[_Transaction]:
        """Yield a transaction with these locks, at the time of the database."""
        with self._database.transaction(*locks) as execute:
            if self._clock:
                now = self._clock()
            else:
                now = execute(self._database.time_query)[0][0]
            self._note_reached()
            yield _Transaction(execute, now, self._expired_before(now))


def _users(execute: Execute, where: str = "", **values: str) -> dict[str, User]:
    # Databases sort in different ways.
    rows = sorted(execute(f"{_QUERIES['users']} {where}", **values))
    return {name: msgspec.json.decode(record, type=User) for name, record in rows}


def _reached_budget(
    transaction: _Transaction, budget: _Budget, reserve: float
) -> LimitReached | None:
    """Return the budget if another text, which may cost `reserve`, would exceed it, or None."""
    if budget.most is None:
        return None
    ((spent, reserved),) = transaction.run("costs", user=budget.user)
    most = budget.most - _ROUNDING
    if spent + reserve >= most:
        return LimitReached(budget.option, _rest_of_month(transaction.now))
    if spent + reserved + reserve >= most:
        return LimitReached(budget.option)  # what is reserved may be free again soon
    return None


def _recent_attempts(transaction: _Transaction, user: str, most: int) -> _RecentAttempts:
    """Return what a user has begun in the last minute. No more than `most` are counted."""
    ((number, oldest, running),) = transaction.run("recent", user=user, most=most)
    begun = transaction.now if oldest is None else oldest
    return _RecentAttempts(number, reset=begun + 60 - transaction.now, running=running)


def _kept_answer(transaction: _Transaction, parameters: Mapping[str, str]) -> bytes | None:
    """Return the answer of a request, or None if there is none."""
    answer: bytes | None = None
    for _, body, _, _ in transaction.run("request", **parameters):  # one row at most
        answer = body
    return answer


def _count(
    transaction: _Transaction,
    parameters: Mapping[str, str],
    usage: Usage,
    *,
    texts: int = 0,
    failed: int = 0,
) -> None:
    """Count the usage of an attempt from its beginning on, in place of what was counted of it.

    Once it has ended, either `texts` or `failed` is 1.
    """
    transaction.run(
        "count",
        **parameters,
        **usage.fields(),
        calls=usage.calls,
        texts=texts,
        failed=failed,
    )


def month_of(now: float) -> str:
    """Return the month of a time in seconds since 1970, such as `2026-11`, in UTC."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")


def _rest_of_month(now: float) -> float:
    """Return the seconds until the next month begins, in UTC."""
    today = datetime.fromtimestamp(now, UTC)
    if today.month == 12:
        next_month = datetime(today.year + 1, 1, 1, tzinfo=UTC)
    else:
        next_month = datetime(today.year, today.month + 1, 1, tzinfo=UTC)
    return next_month.timestamp() - now


def open_ledger(value: str, directory: Path) -> Ledger:
    """Open the ledger that the option `ledger` names: an address, or a path below `directory`.

    Raises LedgerError or ConfigurationError.
    """
    return Ledger(PostgreSQL(value) if is_address(value) else SQLite(directory / value))

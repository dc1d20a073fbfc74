"""The ledger: which texts are written, kept and counted. All databases run its statements."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Self

import msgspec

from ..usage import Usage
from .databases import Execute, PostgreSQL, SQLite
from .records import (
    Beginning,
    Begun,
    Costs,
    KeyedRequest,
    Limited,
    MonthlyUsage,
    exceeds,
    month_of,
    rest_of_month,
)
from .users import Limits, User, check_name

BEAT = 2.0
"""Seconds between two calls of beat()."""

LEASE = 15.0
"""Seconds without a beat after which a process counts as dead."""

_DAY, _MINUTE = 86400.0, 60.0
_NOTHING = msgspec.json.encode(Usage())

_TABLES = """
CREATE TABLE contentgen_users (name TEXT PRIMARY KEY, record {blob} NOT NULL);
CREATE TABLE contentgen_requests (name TEXT, key TEXT, fingerprint TEXT NOT NULL, attempt TEXT,
    lease DOUBLE PRECISION NOT NULL, reserve DOUBLE PRECISION NOT NULL, parts {blob}, body {blob},
    changed DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, key));
CREATE INDEX contentgen_running ON contentgen_requests (name) WHERE lease > 0;
CREATE INDEX contentgen_changes ON contentgen_requests (changed);
CREATE TABLE contentgen_starts (attempt TEXT PRIMARY KEY, name TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL, has_ended INTEGER NOT NULL, counted {blob} NOT NULL);
CREATE INDEX contentgen_recent ON contentgen_starts (name, at);
CREATE TABLE contentgen_usage (month TEXT, name TEXT, texts BIGINT NOT NULL,
    failed BIGINT NOT NULL, calls BIGINT NOT NULL, input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL, unpriced BIGINT NOT NULL, cost DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (month, name))
"""
# A lease of 0 is that of a text that nobody writes.
_PUT = """
INSERT INTO contentgen_requests VALUES
    (:user, :key, :fingerprint, :attempt, :lease, :reserve, NULL, :body, :now)
ON CONFLICT (name, key) DO UPDATE SET fingerprint = excluded.fingerprint,
    attempt = excluded.attempt, lease = excluded.lease, reserve = excluded.reserve,
    parts = CASE WHEN excluded.body IS NULL
        AND contentgen_requests.fingerprint = excluded.fingerprint
        THEN contentgen_requests.parts END,
    body = excluded.body, changed = excluded.changed
WHERE contentgen_requests.body IS NULL AND (contentgen_requests.lease <= :dead
    OR contentgen_requests.fingerprint = excluded.fingerprint)
"""
_START = "INSERT INTO contentgen_starts VALUES (:attempt, :name, :at, 0, :counted)"
_OWN = "WHERE name = :user AND key = :key AND attempt = :attempt AND body IS NULL"
_RENEW = f"UPDATE contentgen_requests SET lease = :lease {_OWN}"
_RELEASE = (
    f"UPDATE contentgen_requests SET lease = 0, parts = CASE WHEN :keeps THEN parts END {_OWN}"
)
_SAVE_PARTS = f"UPDATE contentgen_requests SET parts = :parts, changed = :now {_OWN}"
_DROP_START = "DELETE FROM contentgen_starts WHERE attempt = :attempt"
_COUNTERS = ("texts", "failed", "calls", "input_tokens", "output_tokens", "unpriced", "cost")
_ADD_USAGE = (
    f"INSERT INTO contentgen_usage (month, name, {', '.join(_COUNTERS)}) "
    f"VALUES (:month, :name, {', '.join(f':{it}' for it in _COUNTERS)}) "
    "ON CONFLICT (month, name) DO UPDATE SET "
    + ", ".join(f"{it} = contentgen_usage.{it} + excluded.{it}" for it in _COUNTERS)
)
_USAGE = (
    "SELECT month, name, texts, failed, calls, input_tokens, output_tokens, "
    "CASE WHEN unpriced = 0 THEN cost END FROM contentgen_usage"
)
_EVERYBODY, _TABLES_LOCK, _EXPIRY = "", " tables", " expiry"
"""Names of locks beside those of users."""


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
        self._clock = clock
        self._lease = lease
        self._attempts: dict[KeyedRequest, str] = {}
        self._reached = self._reached_since = -math.inf
        # `CREATE … IF NOT EXISTS` would deadlock with those who write already.
        with database.transaction(_TABLES_LOCK) as execute:
            is_new = not execute(database.find_tables)
            for statement in _TABLES.format(blob=database.blob).split(";") if is_new else ():
                execute(statement)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def user(self, name: str) -> User | None:
        """Return a user, or None if there is none."""
        with self._database.transaction(writes=False) as execute:
            return _user(execute, name)

    def users(self) -> dict[str, User]:
        """Return the users by name."""
        with self._database.transaction(writes=False) as execute:
            rows = execute("SELECT name, record FROM contentgen_users")
        # Databases sort in different ways.
        return {name: msgspec.json.decode(record, type=User) for name, record in sorted(rows)}

    def replace_user(self, name: str, old: User | None, new: User | None) -> bool:
        """Add, change or remove a user. Atomic.

        Return False, and change nothing, if the user is not `old` any more.
        """
        row = {"name": check_name(name), "record": msgspec.json.encode(new)}
        with self._database.transaction(name) as execute:
            if _user(execute, name) != old:
                return False
            execute("DELETE FROM contentgen_users WHERE name = :name", name=name)
            if new:
                execute("INSERT INTO contentgen_users VALUES (:name, :record)", **row)
        return True

    def begin(
        self, request: KeyedRequest, limits: Limits, max_cost: float | None, reserve: float
    ) -> Beginning:
        """Begin a request, unless it is known or a limit is reached. Atomic.

        A kept answer and a running request come before the limits. Of two processes that begin the
        same request, one gets Begun. `max_cost` is for all users together. Until the request ends,
        `reserve` counts as its cost. A request of a process that has died can be begun again.
        """
        locks = (request.user,) if max_cost is None else (_EVERYBODY, request.user)
        with self._transaction(*locks) as (execute, now):
            dead = self._dead_at(now)
            rows = execute(
                "SELECT fingerprint, body, lease, parts FROM contentgen_requests "
                # So that no beat comes in between.
                f"WHERE name = :user AND key = :key {self._database.for_update}",
                **asdict(request),
            )
            parts = b""
            for fingerprint, body, lease, saved in rows:
                is_same = fingerprint == request.fingerprint
                if body is not None or lease > dead:
                    return "other body" if not is_same else body or "running"
                parts = saved if is_same and saved else b""
            running = execute(
                "SELECT name, reserve FROM contentgen_requests WHERE lease > 0 AND lease > :dead",
                dead=dead,
            )
            # After what is reserved, so that what ends in between counts twice rather than never.
            costs = _costs(execute, request.user, now)
            recent = _recent(execute, request.user, limits, now)
            own = [cost for name, cost in running if name == request.user]
            budgets = (
                ("max_cost", max_cost, costs.all, sum(cost for _, cost in running)),
                ("cost_per_month", limits.cost_per_month, costs.user, sum(own)),
            )
            if limited := _limited(budgets, reserve, limits, len(own), recent, now):
                return limited
            attempt = self._start(execute, request, reserve, now, dead)
        self._attempts[request] = attempt
        left = limits.requests_per_minute - len(recent) - 1
        return Begun(left, min(recent, default=now) + _MINUTE - now, parts)

    def _start(
        self, execute: Execute, request: KeyedRequest, reserve: float, now: float, dead: float
    ) -> str:
        attempt = secrets.token_hex(16)
        execute(_START, attempt=attempt, name=request.user, at=now, counted=_NOTHING)
        run = {"attempt": attempt, "lease": now + self._lease, "reserve": reserve, "body": None}
        execute(_PUT, **asdict(request), **run, now=now, dead=dead)
        return attempt

    def finish(
        self, request: KeyedRequest, body: bytes | None, usage: Usage, *, keeps_parts: bool = False
    ) -> Costs:
        """Keep the answer of a begun request, and count its usage from the beginning to the end.

        With None there is no text, so the request can be begun again. The first answer stays. The
        parts of the text are dropped, unless there is none and `keeps_parts` is set.
        """
        attempt = self._attempts.get(request, "")
        values = {**asdict(request), "attempt": attempt}
        with self._transaction(request.user) as (execute, now):
            if body is None:
                execute(_RELEASE, **values, keeps=keeps_parts)
            else:
                execute(_PUT, **values, lease=0, reserve=0, body=body, now=now, dead=0)
            _count(execute, request.user, attempt, usage, now, body is None, body is not None)
            costs = _costs(execute, request.user, now)
            rows = execute(
                "SELECT body FROM contentgen_requests WHERE name = :user AND key = :key", **values
            )
        self._attempts.pop(request, None)
        kept = rows[0][0] if rows else None
        return costs if kept in (None, body) else replace(costs, kept=kept)

    def withdraw(self, request: KeyedRequest) -> None:
        """Undo begin() for a request for which nothing was written. It counts for no limit."""
        attempt = self._attempts.get(request, "")
        with self._transaction(request.user) as (execute, _):
            execute(_RELEASE, **asdict(request), attempt=attempt, keeps=True)
            execute(_DROP_START, attempt=attempt)
        self._attempts.pop(request, None)

    def save_parts(self, request: KeyedRequest, parts: bytes, usage: Usage) -> None:
        """Keep the parts of a text in place of earlier ones, and count its usage so far.

        So what a process that dies has paid for is neither lost nor forgotten.
        """
        attempt = self._attempts.get(request, "")
        with self._transaction(request.user) as (execute, now):
            execute(_SAVE_PARTS, **asdict(request), attempt=attempt, parts=parts, now=now)
            _count(execute, request.user, attempt, usage, now)

    def beat(self) -> None:
        """Keep the begun requests of this process alive, and check that requests can begin.

        Called every BEAT seconds.
        """
        with self._transaction() as (execute, now):
            for request, attempt in list(self._attempts.items()):
                execute(_RENEW, **asdict(request), attempt=attempt, lease=now + self._lease)
            # On a full disk, or one that is read-only, this fails as begin() does.
            probe = KeyedRequest(" probe", secrets.token_hex(16), "")
            execute(_DROP_START, attempt=self._start(execute, probe, 0, now, now))
            execute(
                "DELETE FROM contentgen_requests WHERE name = :user AND key = :key",
                **asdict(probe),
            )

    def expire(self, seconds: float) -> None:
        """Drop the answers, and the parts of unfinished texts, that are older."""
        with self._transaction(_EXPIRY) as (execute, now):
            execute("DELETE FROM contentgen_starts WHERE at < :before", before=now - _DAY)
            execute(
                "DELETE FROM contentgen_requests WHERE changed < :before AND lease < :now",
                before=now - seconds,
                now=now,
            )

    def usage(self) -> list[MonthlyUsage]:
        """Return the usage of each user and month, by month and user."""
        with self._database.transaction(writes=False) as execute:
            rows = execute(_USAGE)
        return [
            MonthlyUsage(user, month, texts, failed, Usage(*counts))
            for month, user, texts, failed, *counts in sorted(rows)
        ]

    @contextmanager
    def _transaction(self, *locks: str) -> Iterator[tuple[Execute, float]]:
        """Yield what runs statements, and the time."""
        with self._database.transaction(*locks) as execute:
            now = self._clock() if self._clock else self._database.now(execute)
            reached = time.monotonic()
            if reached - self._reached > self._lease / 2:
                self._reached_since = reached
            self._reached = reached
            yield execute, now

    def _dead_at(self, now: float) -> float:
        """Return the time at which the leases of the dead have ended.

        After an outage or a start, the others need a while to renew theirs.
        """
        return now if time.monotonic() - self._reached_since > self._lease else 0.0


def _user(execute: Execute, name: str) -> User | None:
    rows = execute("SELECT record FROM contentgen_users WHERE name = :name", name=name)
    return msgspec.json.decode(rows[0][0], type=User) if rows else None


def _costs(execute: Execute, user: str, now: float) -> Costs:
    ((own, everybody),) = execute(
        "SELECT coalesce(sum(cost) FILTER (WHERE name = :name), 0.0), coalesce(sum(cost), 0.0) "
        "FROM contentgen_usage WHERE month = :month",
        name=user,
        month=month_of(now),
    )
    return Costs(own, everybody)


def _recent(execute: Execute, user: str, limits: Limits, now: float) -> list[float]:
    """Return when the user's requests of the last minute began, the newest first."""
    rows = execute(
        "SELECT at FROM contentgen_starts WHERE name = :name AND at > :since AND at <= :now "
        "ORDER BY at DESC LIMIT :most",
        name=user,
        since=now - _MINUTE,
        now=now,
        most=limits.requests_per_minute,
    )
    return [at for (at,) in rows]


def _limited(
    budgets: Sequence[tuple[str, float | None, float, float]],
    cost: float,
    limits: Limits,
    running: int,
    recent: Sequence[float],
    now: float,
) -> Limited | None:
    """Return the limit that another text would pass, if any."""
    for name, limit, spent, reserved in budgets:
        if limit is not None and exceeds(spent + reserved + cost, limit):
            # What is reserved may be free again soon.
            return Limited(name, rest_of_month(now) if exceeds(spent + cost, limit) else None)
    if len(recent) >= limits.requests_per_minute:
        return Limited("requests_per_minute", recent[-1] + _MINUTE - now)
    return Limited("parallel") if running >= limits.parallel else None


def _count(
    execute: Execute,
    user: str,
    attempt: str,
    usage: Usage,
    now: float,
    failed: bool = False,
    written: bool = False,
) -> None:
    """Add what is not counted yet of the usage of an attempt, and its end, once."""
    counted = Usage()
    started = execute(
        "SELECT has_ended, counted FROM contentgen_starts WHERE attempt = :attempt", attempt=attempt
    )
    for has_ended, so_far in started:
        if has_ended:  # and the caller did not get to know
            return
        counted = msgspec.json.decode(so_far, type=Usage)
    execute(
        "UPDATE contentgen_starts SET has_ended = :ended, counted = :counted "
        "WHERE attempt = :attempt",
        ended=int(failed or written),
        counted=msgspec.json.encode(usage),
        attempt=attempt,
    )
    new = usage - counted
    values = (new.calls, new.input_tokens, new.output_tokens, int(new.cost is None), new.cost or 0)
    row = dict(zip(_COUNTERS, (int(written), int(failed), *values), strict=True))
    execute(_ADD_USAGE, month=month_of(now), name=user, **row)

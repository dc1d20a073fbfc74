"""The ledger: which texts are written, kept and counted. All databases run its statements."""

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
from typing import Literal, Self

import msgspec

from ..writer.usage import Usage
from .databases import Execute, PostgreSQL, SQLite
from .users import User, UserLimits, check_name

BEAT = 2.0
"""Seconds between two calls of beat()."""

LEASE = 15.0
"""Seconds without a beat after which a process counts as dead."""

_SQL = files(__package__).joinpath("ledger.sql").read_text("utf-8")
_STATEMENTS = dict(re.findall(r"(?ms)^-- (\w+)\n(.+?)\n(?:\n|\Z)", _SQL))
"""The statements by name."""

_EVERYBODY, _TABLES_LOCK, _EXPIRY, _USERS = "", " tables", " expiry", " users"
"""Names of locks beside those of users."""


@dataclass(frozen=True)
class KeyedRequest:
    """A request of a user with its Idempotency-Key.

    `key` is the SHA-256 of the Idempotency-Key, `fingerprint` that of the operation and body.
    """

    user: str
    key: str
    fingerprint: str


@dataclass(frozen=True)
class Limited:
    """A limit is reached, so nothing is written.

    `limit` is the name of the option. It allows another request in `retry_after` seconds, if known.
    """

    limit: str
    retry_after: float | None = None


@dataclass(frozen=True)
class Begun:
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
        self._database, self.name = database, database.name
        self._clock = clock
        self._lease = lease
        self._attempts: dict[KeyedRequest, str] = {}
        self._reached = self._reached_since = float("-inf")
        # `CREATE … IF NOT EXISTS` would deadlock with those who write already.
        with database.transaction(_TABLES_LOCK) as execute:
            if not execute(database.find_tables):
                for statement in _STATEMENTS["tables"].format(blob=database.blob).split(";"):
                    execute(statement)

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
        with self._database.transaction(_USERS) as execute:
            users = _users(execute)
            yield users
            execute(_STATEMENTS["drop_users"])
            for name, user in users.items():
                record = msgspec.json.encode(user)
                execute(_STATEMENTS["add_user"], name=check_name(name), record=record)

    def begin(
        self, request: KeyedRequest, limits: UserLimits, max_cost: float | None, reserve: float
    ) -> Literal["running", "other body"] | bytes | Limited | Begun:
        """Begin a request, unless it is known or a limit is reached. Atomic.

        Return `running` if another process writes the text, `other body` if the key was used for
        another request, and the body of the answer if the text is there.

        A kept answer and a running request come before the limits. Of two processes that begin the
        same request, one gets Begun. `max_cost` is for all users together. Until the request ends,
        `reserve` counts as its cost. A request of a process that has died can be begun again.
        """
        locks = (request.user,) if max_cost is None else (_EVERYBODY, request.user)
        with self._transaction(*locks) as (execute, now):
            # After an outage or a start, the others need a while to renew their leases.
            dead = now if time.monotonic() - self._reached_since > self._lease else 0.0
            lock = self._database.for_update  # so that no beat comes in between
            rows = execute(f"{_STATEMENTS['request']} {lock}", **asdict(request))
            parts = b""
            for fingerprint, body, lease, saved in rows:
                is_same = fingerprint == request.fingerprint
                if body is not None or lease > dead:
                    return "other body" if not is_same else body or "running"
                parts = saved if is_same and saved else b""
            state = {"user": request.user, "now": now, "dead": dead, "month": month_of(now)}
            for name, limit, whose in (
                ("max_cost", max_cost, _EVERYBODY),
                ("cost_per_month", limits.cost_per_month, request.user),
            ):
                if limit is not None:
                    ((spent, reserved),) = execute(_STATEMENTS["costs"], **{**state, "user": whose})
                    most = limit - 1e-9  # for the rounding of sums
                    if spent + reserved + reserve >= most:
                        # What is reserved may be free again soon.
                        is_spent = spent + reserve >= most
                        return Limited(name, _rest_of_month(now) if is_spent else None)
            most = limits.requests_per_minute
            ((recent, oldest, running),) = execute(_STATEMENTS["recent"], **state, most=most)
            reset = (oldest or now) + 60 - now
            if recent >= limits.requests_per_minute:
                return Limited("requests_per_minute", reset)
            if running >= limits.parallel:
                return Limited("parallel")
            own = {**asdict(request), "attempt": secrets.token_hex(16)}
            _count(execute, own, Usage(), now)
            lease = {"lease": now + self._lease, "reserve": reserve, "body": None}
            execute(_STATEMENTS["put"], **own, **lease, now=now, dead=dead)
        self._attempts[request] = own["attempt"]
        return Begun(limits.requests_per_minute - recent - 1, reset, parts)

    def finish(
        self, request: KeyedRequest, body: bytes | None, usage: Usage, *, keeps_parts: bool = False
    ) -> bytes | None:
        """Keep the answer of a begun request, and count its usage from the beginning to the end.

        With None there is no text, so the request can be begun again; without a call to the model,
        it counts for no limit. Return the answer that is kept, which can be that of another
        process: the first one stays. The parts of the text are dropped, unless there is none and
        `keeps_parts` is set.
        """
        own = self._own(request)
        with self._transaction(request.user) as (execute, now):
            if failed := body is None:
                parts = None if keeps_parts else b""
                execute(_STATEMENTS["update"], **own, lease=0, parts=parts, now=now)
            else:
                execute(_STATEMENTS["put"], **own, lease=0, reserve=0, body=body, now=now, dead=0)
            if failed and not usage.calls:
                execute(_STATEMENTS["withdraw"], **own)
            else:
                _count(execute, own, usage, now, **{"failed" if failed else "texts": 1})
            kept = [answer for _, answer, *_ in execute(_STATEMENTS["request"], **own)]
        self._attempts.pop(request, None)
        return kept[0] if kept else None

    def save_parts(self, request: KeyedRequest, parts: bytes, usage: Usage) -> None:
        """Keep the parts of a text in place of earlier ones, and count its usage so far.

        So what a process that dies has paid for is neither lost nor forgotten.
        """
        own = self._own(request)
        with self._transaction(request.user) as (execute, now):
            execute(_STATEMENTS["update"], **own, lease=now + self._lease, parts=parts, now=now)
            _count(execute, own, usage, now)

    def _own(self, request: KeyedRequest) -> dict[str, str]:
        """Return the parameters of a request that this process has begun."""
        attempt = self._attempts.get(request) or secrets.token_hex(16)
        return {**asdict(request), "attempt": attempt}

    def beat(self) -> None:
        """Keep the begun requests of this process alive, and check that requests can begin.

        Called every BEAT seconds.
        """
        with self._transaction() as (execute, now):
            for request in list(self._attempts):
                lease = {"lease": now + self._lease, "parts": None, "now": now}
                execute(_STATEMENTS["update"], **self._own(request), **lease)
            # On a full disk, or one that is read-only, this fails as begin() does.
            _count(execute, {"user": " probe", "attempt": " probe"}, Usage(), now)

    def expire(self, seconds: float) -> None:
        """Drop the answers, and the parts of unfinished texts, that are older."""
        with self._transaction(_EXPIRY) as (execute, now):
            execute(_STATEMENTS["drop_requests"], before=now - seconds, now=now)

    def usage(self) -> list[MonthlyUsage]:
        """Return the usage of each user and month, by month and user."""
        with self._database.transaction(writes=False) as execute:
            rows = sorted(execute(_STATEMENTS["usage"]))
        return [
            MonthlyUsage(user, month, texts, failed, Usage(*counts))
            for month, user, texts, failed, *counts in rows
        ]

    def spent(self, month: str) -> dict[str, float]:
        """Return the cost of each user in a month, as far as it is known."""
        with self._database.transaction(writes=False) as execute:
            return dict(execute(_STATEMENTS["spent"], month=month))

    @contextmanager
    def _transaction(self, *locks: str) -> Iterator[tuple[Execute, float]]:
        """Yield what runs statements, and the time."""
        with self._database.transaction(*locks) as execute:
            now = self._clock() if self._clock else execute(self._database.now)[0][0]
            reached = time.monotonic()
            if reached - self._reached > self._lease / 2:
                self._reached_since = reached
            self._reached = reached
            yield execute, now


def _users(execute: Execute, where: str = "", **values: str) -> dict[str, User]:
    # Databases sort in different ways.
    rows = sorted(execute(f"{_STATEMENTS['users']} {where}", **values))
    return {name: msgspec.json.decode(record, type=User) for name, record in rows}


def _count(
    execute: Execute, own: Mapping[str, str], usage: Usage, now: float, **ended: int
) -> None:
    """Count the usage of an attempt from its beginning on, in place of what was counted of it."""
    numbers = {"texts": 0, "failed": 0, "calls": usage.calls, **usage.fields(), **ended}
    execute(_STATEMENTS["count"], **own, **numbers, now=now, month=month_of(now))


def month_of(now: float) -> str:
    """Return the month of a time in seconds since 1970, such as `2026-11`, in UTC."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")


def _rest_of_month(now: float) -> float:
    today = datetime.fromtimestamp(now, UTC)
    years, index = divmod(today.month, 12)
    return datetime(today.year + years, index + 1, 1, tzinfo=UTC).timestamp() - now


def open_ledger(value: str, directory: Path) -> Ledger:
    """Open the ledger that the option `ledger` names: an address, or a path below `directory`.

    Raises LedgerError or ConfigurationError.
    """
    # Also for a wrong or misspelled scheme: a path would be shown, with the password in it.
    is_address = "://" in value or ("//" in value and "@" in value)
    return Ledger(PostgreSQL(value) if is_address else SQLite(directory / value))

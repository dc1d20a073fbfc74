"""The ledger in Redis or Valkey, for many processes and machines.

Each change is a command in `shared.lua`. What the server stores is not trusted.
"""

from __future__ import annotations

import math
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import cast

import msgspec

from ....errors import LedgerError
from ....redis_connection import (
    Command,
    RedisConnection,
    UnavailableError,
    eviction_problems,
    script_call,
    shown_address,
)
from ..usage import Usage
from .protocol import (
    GRACE,
    NAME,
    Beginning,
    KeyedRequest,
    Ledger,
    Limited,
    Limits,
    MonthlyUsage,
    check_name,
    month_of,
    rest_of_month,
)

ROUND_TRIP_TIMEOUT = 10.0
"""Seconds for a whole round trip."""

MAX_BODY = 4 * 1024 * 1024
"""The maximum size of an answer in bytes. The largest text is smaller."""

_MAX_TABLE = 16 * 1024 * 1024
"""The maximum size in bytes of all users, or of the usage of a month."""

_PARTS_SECONDS = 7 * 86400
"""Seconds after which the parts of a text that nobody asks for again are dropped."""

_BATCH, _MAX_BATCHES = 1000, 1000
"""The number of old answers dropped in one round trip, and the maximum number of round trips."""

_PREFIX = "contentgen:writer:"
_REQUEST = _PREFIX + "request:"
_USERS, _OWNERS, _ANSWERS, _MONTHS = (
    _PREFIX + name for name in ("users", "owners", "answers", "months")
)

_USER = re.compile(rb"([!-~]{1,128}) ([0-9]{1,11}(?:\.[0-9]{1,9})?)")
_MONTH = re.compile(rb"[0-9]{4}-[0-9]{2}")
_COUNTER = re.compile(rb"([A-Za-z0-9][A-Za-z0-9._@-]{0,63}):([a-z_]{1,20})")


class SharedLedger(Ledger):
    """A Ledger in Redis or Valkey at `url`.

    A process counts as dead after `grace` seconds without a beat. To tell that, the server must
    have run for so long, and this process must have reached it all that time: otherwise, the beats
    of the other process may not have reached it either. A round trip takes `timeout` seconds at
    most.

    Raises LedgerError if `url` is invalid, and ConfigurationError if its options are, or if the
    package redis is missing.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], float] = time.time,
        grace: float = GRACE,
        timeout: float = ROUND_TRIP_TIMEOUT,
    ) -> None:
        address = shown_address(url)
        if address is None:
            # It is not shown, since it can contain a password.
            raise LedgerError("ledger: is not an address such as redis://host:6379")
        self._name = f"the ledger {address}"
        self._redis = RedisConnection(url, "ledger", timeout)
        self._redis.open()
        self._clock = clock
        self._grace = grace
        self._owner = secrets.token_hex(16)
        self._number = 0
        self._attempts: dict[KeyedRequest, str] = {}
        self._lost: list[tuple[KeyedRequest, str]] = []
        self._last_beat = self._beating_since = -math.inf

    def __exit__(self, *error: object) -> None:
        self._redis.close()

    def add_user(self, name: str, token_hash: str) -> bool:
        value = f"{token_hash} {self._clock():.6f}"
        return self._call("add_user", [_USERS], name=check_name(name), value=value) == 1

    def remove_user(self, name: str) -> bool:
        return self._send(("HDEL", _USERS, name), int) == 1

    def token_hash(self, name: str) -> str | None:
        values = self._send(("HMGET", _USERS, name), list)
        user = next(map(_user, cast(list[object], values)), None)
        return user[0] if user else None

    def users(self) -> dict[str, datetime]:
        values = self._table(_USERS)
        found = {name.decode("ascii", "replace"): _user(value) for name, value in values.items()}
        return {
            name: user[1] for name, user in sorted(found.items()) if user and NAME.fullmatch(name)
        }

    def begin(self, request: KeyedRequest, limits: Limits, max_cost: float | None) -> Beginning:
        self._abandon_lost()
        now = self._clock()
        started = time.monotonic()
        attempt = self._new_attempt()
        usage = f"{_PREFIX}usage:{month_of(now)}"
        keys = [*_keys(request), f"{_PREFIX}recent_requests:{request.user}", _OWNERS, usage]
        try:
            reply = self._call(
                "begin",
                keys,
                expected=list,
                size=MAX_BODY,
                **asdict(request),
                **msgspec.structs.asdict(limits),
                max_cost=max_cost,
                owner=self._owner,
                attempt=attempt,
                now=now,
                grace=self._grace,
                may_judge=started - self._beating_since > self._grace,
                max_body=MAX_BODY,
            )
        except LedgerError:
            # The command may have run, or may still run.
            self._lost.append((request, attempt))
            raise
        self._note_beat(started)
        beginning = self._beginning(reply, now, keys[0], usage)
        if beginning == "begun":
            self._attempts[request] = attempt
        return beginning

    def over_budget(self, user: str, limits: Limits, max_cost: float | None) -> Limited | None:
        now = self._clock()
        usage = f"{_PREFIX}usage:{month_of(now)}"
        reply = self._call(
            "over_budget",
            [usage],
            expected=list,
            user=user,
            max_cost=max_cost,
            cost_per_month=limits.cost_per_month,
        )
        if reply == [b"allowed"]:
            return None
        limited = self._beginning(reply, now, usage, usage)
        if not isinstance(limited, Limited):
            raise self._unavailable("it sends invalid replies")
        return limited

    def finish(self, request: KeyedRequest, body: bytes | None, usage: Usage) -> None:
        now = self._clock()
        month = month_of(now)
        attempt = self._attempts.setdefault(request, self._new_attempt())
        keys = [*_keys(request), _ANSWERS, f"{_PREFIX}usage:{month}", _MONTHS]
        counters = {
            "texts": 0 if body is None else 1,
            "failed": 1 if body is None else 0,
            "calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "unpriced": 1 if usage.cost is None else 0,
        }
        self._call(
            "finish",
            [*keys, f"{_PREFIX}finished:{attempt}"],
            *([] if body is None else [body]),
            **asdict(request),
            attempt=attempt,
            month=month,
            now=now,
            counters=counters,
            cost=f"{usage.cost or 0:.12f}",
        )
        del self._attempts[request]

    def withdraw(self, request: KeyedRequest) -> None:
        if attempt := self._attempts.get(request):
            self._call("abandon", _keys(request), key=request.key, attempt=attempt)
            del self._attempts[request]

    def load_parts(self, request: KeyedRequest) -> bytes:
        values = self._send(("MGET", _parts_key(request)), list, MAX_BODY)
        return b"".join(part for part in cast(list[object], values) if isinstance(part, bytes))

    def save_parts(self, request: KeyedRequest, parts: bytes) -> None:
        key = _parts_key(request)
        if 0 < len(parts) < MAX_BODY // 2:  # load_parts() reads no larger answer
            self._send(("SET", key, parts, "EX", _PARTS_SECONDS), bool)
        else:
            self._send(("DEL", key), int)

    def beat(self) -> None:
        self._abandon_lost()
        started = time.monotonic()
        self._call("beat", [_OWNERS], owner=self._owner)
        self._note_beat(started)

    def expire(self, seconds: float) -> int:
        before, dropped = self._clock() - seconds, 0
        for _ in range(_MAX_BATCHES):
            number = self._call("expire", [_ANSWERS], prefix=_REQUEST, before=before, batch=_BATCH)
            dropped += cast(int, number)
            if number != _BATCH:
                break
        return dropped

    def usage(self) -> list[MonthlyUsage]:
        months = self._send(("SMEMBERS", _MONTHS), set, _MAX_TABLE)
        known = [
            month.decode("ascii")
            for month in cast(set[object], months)
            if isinstance(month, bytes) and _MONTH.fullmatch(month)
        ]
        return [usage for month in sorted(known) for usage in self._usage_of(month)]

    def problems(self) -> list[str]:
        memory = self._send(("INFO", "memory"), dict)
        return eviction_problems(self._name, memory)

    def _new_attempt(self) -> str:
        self._number += 1
        return f"{self._owner}:{self._number}"

    def _abandon_lost(self) -> None:
        """Undo requests that the server may have begun, although begin() raised an error."""
        while self._lost:
            request, attempt = self._lost[0]
            self._call("abandon", _keys(request), key=request.key, attempt=attempt)
            del self._lost[0]

    def _note_beat(self, started: float) -> None:
        """Record since when all beats of this process have reached the server."""
        now = time.monotonic()
        if now - self._last_beat > self._grace / 2:
            self._beating_since = now
        self._last_beat = started

    def _table(self, key: str) -> dict[bytes, object]:
        values = self._send(("HGETALL", key), dict, _MAX_TABLE)
        items = cast(dict[object, object], values).items()
        return {field: value for field, value in items if isinstance(field, bytes)}

    def _usage_of(self, month: str) -> list[MonthlyUsage]:
        key = f"{_PREFIX}usage:{month}"
        users: dict[str, dict[str, float]] = {}
        for field, value in self._table(key).items():
            if match := _COUNTER.fullmatch(field):
                number = _number(value)
                if number is None:
                    raise self._damaged(key)
                user, counter = match[1].decode("ascii"), match[2].decode("ascii")
                users.setdefault(user, {})[counter] = number
        return [_monthly_usage(user, month, counters) for user, counters in sorted(users.items())]

    def _call(
        self,
        command: str,
        keys: Sequence[str],
        *data: bytes,
        expected: type = int,
        size: int = 0,
        **arguments: object,
    ) -> object:
        call = script_call(__package__, command, keys, *data, **arguments)
        return self._send(call, expected, size)

    def _send(self, command: Command, expected: type, size: int = 0) -> object:
        try:
            (reply,) = self._redis.send([command], expected, size=size)
        except UnavailableError as error:
            raise self._unavailable(str(error)) from error
        return reply

    def _beginning(self, reply: object, now: float, request: str, usage: str) -> Beginning:
        """Return what a reply means. Raises LedgerError if it is invalid or reports damage.

        `request` and `usage` are the keys that can be damaged.
        """
        match reply:
            case [(b"begun" | b"running" | b"other body") as name]:
                return cast(Beginning, name.decode("ascii"))
            case [b"answered", bytes(body)]:
                return body
            case [b"limited", (b"max_cost" | b"cost_per_month") as limit]:
                return Limited(limit.decode("ascii"), rest_of_month(now))
            case [b"limited", b"requests_per_minute", last]:
                last_time = _number(last)
                left = None if last_time is None else max(0.0, min(60.0, last_time + 60 - now))
                return Limited("requests_per_minute", left)
            case [b"limited", b"parallel"]:
                return Limited("parallel")
            case [b"damaged request"]:
                raise self._damaged(request)
            case [b"damaged usage"]:
                raise self._damaged(usage)
        raise self._unavailable("it sends invalid replies")

    def _unavailable(self, reason: str) -> LedgerError:
        return LedgerError(
            f"{self._name} cannot be used ({reason}); make sure that the server runs, and that "
            "`ledger` is its address"
        )

    def _damaged(self, key: str) -> LedgerError:
        return LedgerError(f"{self._name} has a damaged value in {key}; correct or delete it")


def _parts_key(request: KeyedRequest) -> str:
    return f"{_PREFIX}parts:{request.user}:{request.key}:{request.fingerprint}"


def _keys(request: KeyedRequest) -> list[str]:
    """Return the keys of a request, and of what its user's processes are writing."""
    return [f"{_REQUEST}{request.user}:{request.key}", f"{_PREFIX}running:{request.user}"]


def _user(value: object) -> tuple[str, datetime] | None:
    """Return a user's hash and time, or None if the value is missing or damaged."""
    match = _USER.fullmatch(value) if isinstance(value, bytes) else None
    if match is None:
        return None
    return match[1].decode("ascii"), datetime.fromtimestamp(float(match[2]), UTC)


def _number(value: object) -> float | None:
    if not isinstance(value, bytes) or not re.fullmatch(rb"[0-9]{1,18}(\.[0-9]{1,20})?", value):
        return None
    return float(value)


def _monthly_usage(user: str, month: str, counters: dict[str, float]) -> MonthlyUsage:
    texts, failed, calls, given, written = (
        int(counters.get(name, 0))
        for name in ("texts", "failed", "calls", "input_tokens", "output_tokens")
    )
    cost = None if counters.get("unpriced") else counters.get("cost", 0.0)
    return MonthlyUsage(user, month, texts, failed, Usage(calls, given, written, cost))

"""The ledger in Redis or Valkey, for many processes and machines.

Each change is a command in `shared.lua`. What the server stores is not trusted.
"""

from __future__ import annotations

import math
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import cast

import msgspec

from ...errors import DamagedUsageError, LedgerError, LostLedgerError
from ...redis_connection import (
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
    Beginning,
    Begun,
    Costs,
    KeyedRequest,
    Ledger,
    Limited,
    Look,
    MonthlyUsage,
    month_of,
    next_look,
    rest_of_month,
)
from .users import (
    NAME,
    Event,
    Limits,
    User,
    check_name,
    decode_events,
    decode_user,
    encode,
    revoked_tokens,
)

ROUND_TRIP_TIMEOUT = 10.0
"""Seconds for a whole round trip."""

MAX_BODY = 4 * 1024 * 1024
"""The maximum size of an answer in bytes. The largest text is smaller."""

_MAX_USER = 64 * 1024
"""The maximum size in bytes of a user with the tokens."""

_MAX_TABLE = 16 * 1024 * 1024
"""The maximum size in bytes of all users, or of the usage of a month."""

_PARTS_SECONDS = 7 * 86400
"""Seconds after which the parts of a text that nobody asks for again are dropped."""

_BATCH, _MAX_BATCHES = 1000, 1000
"""The number of old answers dropped in one round trip, and the maximum number of round trips."""

_PREFIX = "contentgen:writer:"
_REQUEST = _PREFIX + "request:"
_USERS, _EVENTS, _USES, _OWNERS, _ANSWERS, _MONTHS, _LOOK, _INSTANCE = (
    _PREFIX + name
    for name in ("users", "events", "uses", "owners", "answers", "months", "look", "instance")
)
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
        # Those who ask who somebody is do not wait for what is written.
        self._reader = RedisConnection(url, "ledger", timeout)
        self._clock = clock
        self._grace = grace
        self._owner = secrets.token_hex(16)
        self._number = 0
        self._attempts: dict[KeyedRequest, str] = {}
        self._lost: list[tuple[KeyedRequest, str]] = []
        self._last_beat = self._beating_since = -math.inf
        self._hung_until = -math.inf
        self._instance = ""
        self._offset: float | None = None

    def __exit__(self, *error: object) -> None:
        self._redis.close()
        self._reader.close()

    def user(self, name: str) -> User | None:
        return decode_user(self._stored_user(name, self._reader))

    def users(self) -> dict[str, User]:
        values = self._table(_USERS)
        found = {name.decode("ascii", "replace"): it for name, it in values.items()}
        users = {name: decode_user(it) for name, it in sorted(found.items())}
        return {name: user for name, user in users.items() if user and NAME.fullmatch(name)}

    def replace_user(self, old: User | None, new: User | None, event: Event) -> bool:
        name = check_name(event.user)
        stored = self._stored_user(name)
        if decode_user(stored) != old:
            return False
        data = (stored or b"", encode(new) if new else b"", encode(event))
        if self._call("replace_user", [_USERS, _EVENTS], *data, name=name) != 1:
            return False
        if revoked := revoked_tokens(old, new):
            self._send(("HDEL", _USES, *(f"{name} {token}" for token in revoked)), int)
        return True

    def _stored_user(self, name: str, redis: RedisConnection | None = None) -> bytes | None:
        values = self._call("user", [_USERS], expected=list, size=_MAX_USER, redis=redis, name=name)
        stored = next(iter(cast(list[object], values)), None)
        return stored if isinstance(stored, bytes) else None

    def events(self) -> list[Event]:
        values = self._send(("LRANGE", _EVENTS, 0, -1), list, _MAX_TABLE)
        return decode_events(cast(list[object], values))

    def note_uses(self, uses: Mapping[tuple[str, str], float]) -> None:
        fields = [str(part) for names, at in uses.items() for part in (" ".join(names), at)]
        self._send(("HSET", _USES, *fields), int)

    def uses(self) -> dict[tuple[str, str], float]:
        found = {}
        for field, value in self._table(_USES).items():
            names = field.decode("ascii", "replace").split(" ")
            if len(names) == 2 and (at := _number(value)):
                found[names[0], names[1]] = at
        return found

    def begin(
        self, request: KeyedRequest, limits: Limits, max_cost: float | None, reserve: float
    ) -> Beginning:
        self._abandon_lost()
        started = time.monotonic()
        attempt = self._new_attempt()
        usage = _usage_key(month_of(self._now()))
        recent = f"{_PREFIX}recent_requests:{request.user}"
        keys = [*_keys(request), recent, _OWNERS, usage, _parts_key(request)]
        try:
            reply = self._call(
                "begin",
                keys,
                expected=list,
                size=MAX_BODY,
                **asdict(request),
                **msgspec.structs.asdict(limits),
                max_cost=max_cost,
                reserve=reserve,
                owner=self._owner,
                attempt=attempt,
                grace=self._grace,
                may_judge=started - self._beating_since > self._grace,
                max_body=MAX_BODY,
            )
        except LedgerError:
            # The command may have run, or may still run.
            self._lost.append((request, attempt))
            raise
        self._note_beat(started)
        beginning = self._beginning(reply, limits, keys[0], usage)
        if isinstance(beginning, Begun):
            self._attempts[request] = attempt
        return beginning

    def finish(self, request: KeyedRequest, body: bytes | None, usage: Usage) -> Costs:
        now = self._now()
        month = month_of(now)
        attempt = self._attempts.setdefault(request, self._new_attempt())
        keys = [*_keys(request), _ANSWERS, _usage_key(month), _MONTHS]
        counters = {
            "texts": 0 if body is None else 1,
            "failed": 1 if body is None else 0,
            **_counters(usage),
        }
        reply = self._call(
            "finish",
            [*keys, f"{_PREFIX}finished:{attempt}"],
            *([] if body is None else [body]),
            expected=list,
            size=MAX_BODY,
            **asdict(request),
            attempt=attempt,
            month=month,
            max_body=MAX_BODY,
            now=now,
            counters=counters,
            cost=f"{usage.cost or 0:.12f}",
        )
        del self._attempts[request]
        match reply:
            case [bytes(own), bytes(everybody), bytes(kept)]:
                costs = _number(own), _number(everybody)
                if costs[0] is not None and costs[1] is not None:
                    return Costs(costs[0], costs[1], b"" if kept == body else kept)
        raise self._damaged_usage(month)

    def withdraw(self, request: KeyedRequest) -> None:
        if attempt := self._attempts.get(request):
            self._abandon(request, attempt)
            del self._attempts[request]

    def _abandon(self, request: KeyedRequest, attempt: str) -> None:
        keys = [*_keys(request), f"{_PREFIX}recent_requests:{request.user}"]
        self._call("abandon", keys, user=request.user, key=request.key, attempt=attempt)

    def save_parts(self, request: KeyedRequest, parts: bytes, usage: Usage) -> None:
        month = month_of(self._now())
        is_kept = len(parts) < MAX_BODY // 2  # begin() reads no larger reply
        keys = [_parts_key(request), _usage_key(month), _MONTHS]
        reply = self._call(
            "save_parts",
            [*keys, f"{_PREFIX}finished:{self._new_attempt()}"],
            parts if is_kept else b"",
            expected=list,
            user=request.user,
            month=month,
            seconds=_PARTS_SECONDS,
            counters=_counters(usage) if usage.calls else {},
            cost=f"{usage.cost or 0:.12f}",
        )
        if reply == []:
            raise self._damaged_usage(month)

    def beat(self) -> None:
        self._abandon_lost()
        started = time.monotonic()
        reply = self._call(
            "beat", [_OWNERS, _INSTANCE], expected=list, owner=self._owner, new=self._owner
        )
        match reply:
            case [bytes(instance), bytes(now)] if (at := _number(now)) and len(instance) < 100:
                self._instance = self._instance or instance.decode("ascii", "replace")
                self._offset = at - time.monotonic()
            case _:
                raise self._unavailable("it sends invalid replies")
        self._note_beat(started)

    def _now(self) -> float:
        """Return the server's time, so that all writers have the same."""
        return self._clock() if self._offset is None else time.monotonic() + self._offset

    def expire(self, seconds: float) -> int:
        stored = next(iter(cast(list[object], self._send(("MGET", _LOOK), list))), None)
        parts = [_number(it) for it in stored.split(b" ")] if isinstance(stored, bytes) else []
        last = Look(parts[0], parts[1]) if len(parts) == 2 and parts[0] and parts[1] else None
        before, look = next_look(last, self._now(), seconds)
        self._send(("SET", _LOOK, f"{max(0.0, look.before):.6f} {look.at:.6f}"), bool)
        dropped = 0
        for _ in range(_MAX_BATCHES if before is not None else 0):
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
        persistence = cast(dict[str, object], self._send(("INFO", "persistence"), dict))
        problems = eviction_problems(self._name, memory, volatile=True)
        if not persistence.get("aof_enabled"):
            problems.append(
                f"{self._name} does not keep each answer on its disk, so a crash can lose texts "
                "that were paid for; start it with --appendonly yes --appendfsync always"
            )
        return problems

    def _new_attempt(self) -> str:
        self._number += 1
        return f"{self._owner}:{self._number}"

    def _abandon_lost(self) -> None:
        """Undo requests that the server may have begun, although begin() raised an error."""
        while self._lost:
            request, attempt = self._lost[0]
            self._abandon(request, attempt)
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
        key = _usage_key(month)
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
        redis: RedisConnection | None = None,
        **arguments: object,
    ) -> object:
        instance = {"instance": self._instance, "instance_key": _INSTANCE} if self._instance else {}
        call = script_call(__package__, command, keys, *data, **arguments, **instance)
        return self._send(call, expected, size, redis or self._redis)

    def _send(
        self,
        command: Command,
        expected: type,
        size: int = 0,
        redis: RedisConnection | None = None,
    ) -> object:
        if time.monotonic() < self._hung_until:
            raise self._unavailable("it does not answer in time")
        started = time.monotonic()
        try:
            (reply,) = (redis or self._redis).send([command], expected, size=size)
        except UnavailableError as error:
            # So that those who wait behind it learn at once what this one has waited for.
            if time.monotonic() - started > 1:
                self._hung_until = time.monotonic() + 1
            if str(error) == "LOST":
                raise LostLedgerError(
                    f"{self._name} has lost its data since this server started; restore them, or "
                    "restart all writers to go on without"
                ) from error
            raise self._unavailable(str(error)) from error
        return reply

    def _beginning(self, reply: object, limits: Limits, request: str, usage: str) -> Beginning:
        """Return what a reply means. Raises LedgerError if it is invalid or reports damage.

        `request` and `usage` are the keys that can be damaged.
        """
        match reply:
            case [b"begun", bytes(count), bytes(reset), bytes(parts)]:
                left = limits.requests_per_minute - int(_number(count) or 0)
                return Begun(max(0, left), min(60.0, _number(reset) or 0.0), parts)
            case [(b"running" | b"other body") as name]:
                return cast(Beginning, name.decode("ascii"))
            case [b"answered", bytes(body)]:
                return body
            case [b"limited", (b"max_cost" | b"cost_per_month") as limit, is_spent]:
                seconds = rest_of_month(self._now()) if is_spent == b"1" else None
                return Limited(limit.decode("ascii"), seconds)
            case [b"limited", b"requests_per_minute", bytes(reset)]:
                return Limited("requests_per_minute", min(60.0, _number(reset) or 0.0))
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

    def _damaged_usage(self, month: str) -> DamagedUsageError:
        error = self._damaged(_usage_key(month))
        return DamagedUsageError(f"{error}; the usage of a text is not counted")


def _usage_key(month: str) -> str:
    return f"{_PREFIX}usage:{month}"


def _counters(usage: Usage) -> dict[str, int]:
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "unpriced": 1 if usage.cost is None else 0,
    }


def _parts_key(request: KeyedRequest) -> str:
    return f"{_PREFIX}parts:{request.user}:{request.key}:{request.fingerprint}"


def _keys(request: KeyedRequest) -> list[str]:
    """Return the keys of a request, and of what all processes are writing."""
    return [f"{_REQUEST}{request.user}:{request.key}", f"{_PREFIX}running"]


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

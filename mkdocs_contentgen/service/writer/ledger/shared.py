"""The ledger in Redis or Valkey, for many processes and machines.

Each change is one script, which is atomic. Scripts can be sent twice, since replies can get lost.
What the server stores is not trusted.
"""

from __future__ import annotations

import math
import re
import secrets
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, cast

from ....errors import LedgerError
from ....redis_connection import RedisConnection, UnavailableError, shown_address
from ..usage import Usage
from .protocol import (
    GRACE,
    NAME,
    Answered,
    Beginning,
    Begun,
    KeyedRequest,
    Ledger,
    Limited,
    Limits,
    MonthlyUsage,
    OtherBody,
    Running,
    check_name,
    month_of,
    rest_of_month,
)

if TYPE_CHECKING:
    from ....redis_connection import Pipeline

ROUND_TRIP_TIMEOUT = 10.0
"""Seconds for a whole round trip."""

MAX_BODY = 4 * 1024 * 1024
"""The maximum size of an answer in bytes, more than that of the largest text."""

_MAX_TABLE = 16 * 1024 * 1024
"""The maximum size in bytes of all users, or of the usage of a month."""

_BATCH, _MAX_BATCHES = 1000, 1000
"""How many old answers are dropped in one round trip, and how many round trips are made."""

_PREFIX = "contentgen:writer:"
_USERS, _OWNERS, _ANSWERS, _MONTHS = (
    _PREFIX + name for name in ("users", "owners", "answers", "months")
)

_ADD_USER_SCRIPT = """
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] and 1 or 0
"""

_BEAT_SCRIPT = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 86400)
return 1
"""

# A call without a reply is sent again with the same attempt, and gets the same reply.
_BEGIN_SCRIPT = """
local request, running, recent_requests, owners, usage = unpack(KEYS)
local key, fingerprint, owner, attempt, user = unpack(ARGV, 1, 5)
local now, minute_ago, in_a_minute = unpack(ARGV, 6, 8)
local per_minute, parallel = tonumber(ARGV[9]), tonumber(ARGV[10])
local cost_per_month, max_cost = tonumber(ARGV[11]), tonumber(ARGV[12])
local grace, may_judge, max_body = tonumber(ARGV[13]), ARGV[14] == '1', tonumber(ARGV[15])

local time = redis.call('TIME')
local server_time = time[1] + time[2] / 1000000
local last_beat = redis.call('ZSCORE', owners, owner)
redis.call('ZADD', owners, server_time, owner)

-- While the server is down, hangs or cannot be reached, no owner can beat.
local uptime = string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(%d+)')
may_judge = may_judge and tonumber(uptime) > grace
  and last_beat and server_time - tonumber(last_beat) <= grace / 2

local function lives(other)
  local beat = redis.call('ZSCORE', owners, other)
  return not may_judge or beat and server_time - tonumber(beat) <= grace
end

local found = redis.call('HMGET', request, 'fingerprint', 'attempt', 'owner')
if found[1] then
  if found[1] ~= fingerprint then return {'other body'} end
  if redis.call('HEXISTS', request, 'body') == 1 then
    if redis.call('HSTRLEN', request, 'body') > max_body then return {'damaged request'} end
    return {'answered', redis.call('HGET', request, 'body')}
  end
  if found[2] == attempt then return {'begun'} end
  if found[3] and lives(found[3]) then return {'running'} end
elseif redis.call('EXISTS', request) == 1 then
  return {'damaged request'}
end

for _, limit in ipairs({{'max_cost', max_cost, 'cost'},
                        {'cost_per_month', cost_per_month, user .. ':cost'}}) do
  if limit[2] then
    local cost = tonumber(redis.call('HGET', usage, limit[3]) or '0')
    if not cost or cost ~= cost then return {'damaged usage'} end
    if cost >= limit[2] then return {'limited', limit[1]} end
  end
end

-- Times in the future were stored before a clock was set back.
redis.call('ZREMRANGEBYSCORE', recent_requests, '-inf', minute_ago)
redis.call('ZREMRANGEBYSCORE', recent_requests, '(' .. in_a_minute, '+inf')
if redis.call('ZCARD', recent_requests) >= per_minute then
  local last =
    redis.call('ZREVRANGE', recent_requests, per_minute - 1, per_minute - 1, 'WITHSCORES')
  return {'limited', 'requests_per_minute', per_minute > 0 and last[2] or ''}
end

local fields, count = redis.call('HGETALL', running), 0
for i = 1, #fields, 2 do
  if lives(fields[i + 1]) then
    count = count + 1
  else
    redis.call('HDEL', running, fields[i])
  end
end
if count >= parallel then return {'limited', 'parallel'} end

redis.call('DEL', request)
redis.call('HSET', request, 'fingerprint', fingerprint, 'attempt', attempt, 'owner', owner)
-- Where the process dies, and the request never comes again.
redis.call('EXPIRE', request, 7 * 86400)
redis.call('HSET', running, key, owner)
redis.call('ZADD', recent_requests, now, attempt)
redis.call('EXPIRE', recent_requests, 86400)
return {'begun'}
"""

_ABANDON_SCRIPT = """
if redis.call('HGET', KEYS[1], 'attempt') == ARGV[2] then
  redis.call('DEL', KEYS[1])
  redis.call('HDEL', KEYS[2], ARGV[1])
end
return 1
"""

# Two who write the same text have both paid for it, so the usage of each attempt is added once.
_FINISH_SCRIPT = """
local request, running, answers, usage, months, finished = unpack(KEYS)
local key, fingerprint, attempt, user, month, now = unpack(ARGV, 1, 6)
local cost, is_text, body = ARGV[7], ARGV[8] == '1', ARGV[9]

if redis.call('EXISTS', finished) == 1 then return 1 end

local found = redis.call('HMGET', request, 'fingerprint', 'attempt')
if redis.call('HEXISTS', request, 'body') == 0 then
  if is_text and (not found[1] or found[1] == fingerprint) then
    redis.call('DEL', request)
    redis.call('HSET', request, 'fingerprint', fingerprint, 'body', body)
    redis.call('ZADD', answers, now, user .. ':' .. key)
    redis.call('HDEL', running, key)
  elseif found[2] == attempt then
    redis.call('DEL', request)
    redis.call('HDEL', running, key)
  end
end

redis.call('SADD', months, month)
for i = 10, #ARGV, 2 do
  redis.call('HINCRBY', usage, user .. ':' .. ARGV[i], ARGV[i + 1])
end
redis.call('HINCRBYFLOAT', usage, user .. ':cost', cost)
redis.call('HINCRBYFLOAT', usage, 'cost', cost)
redis.call('SET', finished, '1', 'EX', 86400)
return 1
"""

_EXPIRE_SCRIPT = """
local request, answers = unpack(KEYS)
local at = redis.call('ZSCORE', answers, ARGV[1])
if not at or tonumber(at) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZREM', answers, ARGV[1])
if redis.call('HEXISTS', request, 'body') == 0 then return 0 end
return redis.call('DEL', request)
"""

_USER = re.compile(rb"([!-~]{1,128}) ([0-9]{1,11}(?:\.[0-9]{1,9})?)")
_MONTH = re.compile(rb"[0-9]{4}-[0-9]{2}")
_ANSWER = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}:[0-9a-f]{64}")
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
        return self._run(_ADD_USER_SCRIPT, [_USERS], check_name(name), value) == 1

    def remove_user(self, name: str) -> bool:
        return self._send(lambda pipeline: pipeline.hdel(_USERS, name), int) == 1

    def token_hash(self, name: str) -> str | None:
        values = self._send(lambda pipeline: pipeline.hmget(_USERS, [name]), list)
        for user in map(_user, cast(list[object], values)):
            return user[0] if user else None
        return None

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
        arguments = [request.key, request.fingerprint, self._owner, attempt, request.user]
        arguments += [repr(now), repr(now - 60), repr(now + 60)]
        arguments += [str(limits.requests_per_minute), str(limits.parallel)]
        arguments += [
            "" if cost is None else repr(cost) for cost in (limits.cost_per_month, max_cost)
        ]
        may_judge = started - self._beating_since > self._grace
        arguments += [repr(self._grace), "1" if may_judge else "0", str(MAX_BODY)]
        try:
            reply = self._run(_BEGIN_SCRIPT, keys, *arguments, expected=list, size=MAX_BODY)
        except LedgerError:
            # The script may have run, or may still run.
            self._lost.append((request, attempt))
            raise
        self._note_beat(started)
        if reply in ([b"damaged request"], [b"damaged usage"]):
            raise self._damaged(keys[0] if reply == [b"damaged request"] else usage)
        beginning = _beginning(reply, now)
        if beginning is None:
            raise self._unavailable("it sends invalid replies")
        if isinstance(beginning, Begun):
            self._attempts[request] = attempt
        return beginning

    def over_budget(self, user: str, limits: Limits, max_cost: float | None) -> Limited | None:
        now = self._clock()
        usage = f"{_PREFIX}usage:{month_of(now)}"
        fields = ["cost", f"{user}:cost"]
        costs = self._send(lambda pipeline: pipeline.hmget(usage, fields), list)
        names = (("max_cost", max_cost), ("cost_per_month", limits.cost_per_month))
        for (name, limit), cost in zip(names, cast(list[object], costs), strict=False):
            number = 0.0 if cost is None else _number(cost)
            if number is None:
                raise self._damaged(usage)
            if limit is not None and number >= limit:
                return Limited(name, rest_of_month(now))
        return None

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
        self._run(
            _FINISH_SCRIPT,
            [*keys, f"{_PREFIX}finished:{attempt}"],
            *(request.key, request.fingerprint, attempt, request.user, month, repr(now)),
            *(f"{usage.cost or 0:.12f}", "0" if body is None else "1", body or b""),
            *(str(value) for counter in counters.items() for value in counter),
        )
        del self._attempts[request]

    def withdraw(self, request: KeyedRequest) -> None:
        if attempt := self._attempts.get(request):
            self._run(_ABANDON_SCRIPT, _keys(request), request.key, attempt)
            del self._attempts[request]

    def beat(self) -> None:
        self._abandon_lost()
        started = time.monotonic()
        self._run(_BEAT_SCRIPT, [_OWNERS], self._owner)
        self._note_beat(started)

    def expire(self, seconds: float) -> int:
        bound = repr(self._clock() - seconds)
        dropped = 0
        for _ in range(_MAX_BATCHES):
            answers = self._old_answers(bound)
            if not answers:
                break
            replies = self._send_all(partial(_add_expiry, answers, bound), int)
            dropped += sum(cast(list[int], replies))
        return dropped

    def usage(self) -> list[MonthlyUsage]:
        months = self._run(
            "return redis.call('SMEMBERS', KEYS[1])", [_MONTHS], expected=list, size=_MAX_TABLE
        )
        return [
            usage
            for month in sorted(_only_bytes(months))
            if _MONTH.fullmatch(month)
            for usage in self._usage_of(month.decode("ascii"))
        ]

    def problems(self) -> list[str]:
        memory = self._send(lambda pipeline: pipeline.info("memory"), dict)
        policy = str(cast(dict[str, object], memory).get("maxmemory_policy"))
        if not re.fullmatch("allkeys-[a-z]{1,20}", policy):
            return []
        return [
            f"{self._name} may evict texts that were paid for, since its maxmemory-policy "
            f"is '{policy}'; set it to 'noeviction'"
        ]

    def _new_attempt(self) -> str:
        self._number += 1
        return f"{self._owner}:{self._number}"

    def _abandon_lost(self) -> None:
        """Make sure that what this process could not begin is not running in its name."""
        while self._lost:
            request, attempt = self._lost[0]
            self._run(_ABANDON_SCRIPT, _keys(request), request.key, attempt)
            del self._lost[0]

    def _note_beat(self, started: float) -> None:
        """Remember since when the beats of this process have reached the server without a gap."""
        now = time.monotonic()
        if now - self._last_beat > self._grace / 2:
            self._beating_since = now
        self._last_beat = started

    def _old_answers(self, bound: str) -> list[bytes]:
        found = self._send(
            lambda pipeline: pipeline.zrangebyscore(_ANSWERS, "-inf", f"({bound}", 0, _BATCH),
            list,
            _MAX_TABLE,
        )
        return _only_bytes(found)

    def _table(self, key: str) -> dict[bytes, object]:
        values = self._send(lambda pipeline: pipeline.hgetall(key), dict, _MAX_TABLE)
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

    def _run(
        self,
        script: str,
        keys: Sequence[str],
        *arguments: str | bytes,
        expected: type = int,
        size: int = 0,
    ) -> object:
        """Run a script, and return its reply. Raises LedgerError."""
        return self._send(
            lambda pipeline: pipeline.eval(script, len(keys), *keys, *arguments), expected, size
        )

    def _send(self, command: Callable[[Pipeline], object], expected: type, size: int = 0) -> object:
        """Send a command, and return its reply. Raises LedgerError."""
        (reply,) = self._send_all(command, expected, size)
        return reply

    def _send_all(
        self, commands: Callable[[Pipeline], object], expected: type, size: int = 0
    ) -> list[object]:
        try:
            return self._redis.send(commands, expected, size=size)
        except UnavailableError as error:
            raise self._unavailable(str(error)) from error

    def _unavailable(self, reason: str) -> LedgerError:
        return LedgerError(
            f"{self._name} cannot be used ({reason}); make sure that the server runs, and that "
            "`ledger` is its address"
        )

    def _damaged(self, key: str) -> LedgerError:
        return LedgerError(f"{self._name} has a damaged value in {key}; correct or delete it")


def _keys(request: KeyedRequest) -> list[str]:
    """Return the keys of a request, and of what its user's processes are writing."""
    return [f"{_PREFIX}request:{request.user}:{request.key}", f"{_PREFIX}running:{request.user}"]


def _only_bytes(values: object) -> list[bytes]:
    return [value for value in cast(list[object], values) if isinstance(value, bytes)]


def _user(value: object) -> tuple[str, datetime] | None:
    """Return a user's hash and time, or None if the value is missing or damaged."""
    match = _USER.fullmatch(value) if isinstance(value, bytes) else None
    if match is None:
        return None
    return match[1].decode("ascii"), datetime.fromtimestamp(float(match[2]), UTC)


def _beginning(reply: object, now: float) -> Beginning | None:
    """Return what a reply of the script means, or None if it is invalid."""
    match reply:
        case [b"begun"]:
            return Begun()
        case [b"running"]:
            return Running()
        case [b"answered", bytes(body)]:
            return Answered(body)
        case [b"other body"]:
            return OtherBody()
        case [b"limited", (b"max_cost" | b"cost_per_month") as limit]:
            return Limited(limit.decode("ascii"), rest_of_month(now))
        case [b"limited", b"requests_per_minute", last]:
            last_time = _number(last)
            left = None if last_time is None else max(0.0, min(60.0, last_time + 60 - now))
            return Limited("requests_per_minute", left)
        case [b"limited", b"parallel"]:
            return Limited("parallel")
    return None


def _number(value: object) -> float | None:
    """Return a number that is not negative, or None."""
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


def _add_expiry(answers: Sequence[bytes], bound: str, pipeline: Pipeline) -> None:
    for answer in answers:
        if _ANSWER.fullmatch(answer):
            request = f"{_PREFIX}request:{answer.decode('ascii')}"
            pipeline.eval(_EXPIRE_SCRIPT, 2, request, _ANSWERS, answer, bound)
        else:
            pipeline.eval("redis.call('ZREM', KEYS[1], ARGV[1]) return 0", 1, _ANSWERS, answer)

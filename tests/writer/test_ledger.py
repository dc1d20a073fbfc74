"""The ledgers of the served writer: what both promise, and what can go wrong with each."""

from __future__ import annotations

import os
import random
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import wait_until
from ledger_calls import begin, drop_user, load_parts, put_user, token_hash
from redis_server import PASSWORD, QUOTED, RedisServer, redis_running

from mkdocs_contentgen.errors import (
    ConfigurationError,
    DamagedUsageError,
    LedgerError,
    LostLedgerError,
)
from mkdocs_contentgen.writer.ledger import SharedLedger, SQLiteLedger, open_ledger
from mkdocs_contentgen.writer.ledger.protocol import (
    Begun,
    Costs,
    KeyedRequest,
    Ledger,
    Limited,
    month_of,
)
from mkdocs_contentgen.writer.ledger.users import Event, Limits, Token
from mkdocs_contentgen.writer.usage import Usage

START = datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()
END_OF_MONTH = datetime(2026, 12, 1, tzinfo=UTC).timestamp()
MANY = Limits(requests_per_minute=1000, parallel=1000)
USAGE = Usage(2, 1000, 500, 0.25)


def keyed(number: int = 1, user: str = "ann", body: str = "body") -> KeyedRequest:
    """Return a request."""
    return KeyedRequest(user, f"{number:064x}", body.encode().hex().rjust(64, "0"))


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = START
        self.passed = self.error = 0.0

    def __call__(self) -> float:
        """Return the seconds since 1970."""
        return self.now

    def monotonic(self) -> float:
        """Return the seconds that have passed, whatever the clock was set to."""
        return self.passed


@pytest.fixture
def clock() -> Clock:
    """Return the clock of all ledgers of a test."""
    return Clock()


Open = Callable[[], Ledger]


@pytest.fixture(scope="module")
def shared_server() -> Iterator[RedisServer]:
    """Run a Redis for all tests that do not stop it."""
    with redis_running() as running:
        yield running


@pytest.fixture
def redis(shared_server: RedisServer) -> RedisServer:
    """Return an empty Redis."""
    shared_server.admin().flushall()
    return shared_server


@pytest.fixture(params=["sqlite", pytest.param("redis", marks=pytest.mark.system)])
def opened(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Return what opens the ledger of this test, as often as it is called."""
    server = request.getfixturevalue("redis") if request.param == "redis" else None
    with ExitStack() as stack:

        def open_again() -> Ledger:
            ledger: Ledger = (
                SharedLedger(server.url, clock=clock)
                if server
                else SQLiteLedger(
                    tmp_path / "writer.db", serving=False, clock=clock, monotonic=clock.monotonic
                )
            )
            return stack.enter_context(ledger)

        yield open_again


Pass = Callable[[float], None]


@pytest.fixture
def later(request: pytest.FixtureRequest, opened: Open, clock: Clock) -> Pass:
    """Return what lets seconds pass. Redis has a clock of its own, so its times get older."""

    def let_pass(seconds: float) -> None:
        clock.now += seconds
        clock.passed += seconds
        if request.node.callspec.params["opened"] == "redis":
            admin = request.getfixturevalue("redis").admin()
            for key in admin.keys("contentgen:writer:recent_requests:*"):
                for member, _ in admin.zrange(key, 0, -1, withscores=True):
                    admin.zincrby(key, -seconds, member)

    return let_pass


@pytest.fixture
def ledger(opened: Open) -> Ledger:
    """Return an empty ledger."""
    return opened()


# --- users ---------------------------------------------------------------------------------------


def test_users(ledger: Ledger, opened: Open) -> None:
    """A user stays until removed, and every process knows the user."""
    assert ledger.users() == {}
    assert ledger.user("ann") is None
    assert put_user(ledger, "ann", "a" * 64)
    assert put_user(ledger, "Bob.2@example-site", "b" * 64)
    assert not put_user(opened(), "ann", "c" * 64)
    assert token_hash(opened(), "ann") == "a" * 64
    assert list(opened().users()) == ["Bob.2@example-site", "ann"]
    assert drop_user(ledger, "ann")
    assert not drop_user(ledger, "ann")
    assert token_hash(opened(), "ann") is None
    assert [(it.user, it.what) for it in ledger.events()] == [
        ("ann", "added"),
        ("Bob.2@example-site", "added"),
        ("ann", "removed"),
    ]


def test_a_user_that_two_change(ledger: Ledger, opened: Open) -> None:
    """Who comes second changes nothing, and is told so."""
    put_user(ledger, "ann", "a" * 64)
    old = ledger.user("ann")
    assert old
    event = Event(START, "root", "ann", "token ci added")
    first = old.with_token("ci", Token("b" * 64, START))
    second = old.with_token("laptop", Token("c" * 64, START, START + 60))
    assert ledger.replace_user(old, first, event)
    assert not opened().replace_user(old, second, event)
    assert not opened().replace_user(None, second, event)
    assert opened().user("ann") == first
    assert len(ledger.events()) == 2


def test_when_tokens_were_used(ledger: Ledger, opened: Open) -> None:
    """The last time stays."""
    ledger.note_uses({("ann", "default"): START, ("ann", "ci"): START})
    ledger.note_uses({("ann", "ci"): START + 5})
    assert opened().uses() == {("ann", "default"): START, ("ann", "ci"): START + 5}


@pytest.mark.parametrize("name", ["", "-a", "a b", "a:b", "a\n", "x" * 65, "ä", "a/b"])
def test_a_name_that_no_user_can_have(ledger: Ledger, name: str) -> None:
    """Names are those that go into addresses and keys as they are."""
    with pytest.raises(LedgerError, match="a name has at most 64"):
        put_user(ledger, name, "a" * 64)
    assert ledger.users() == {}


# --- requests ------------------------------------------------------------------------------------


def test_a_request_and_its_answer(ledger: Ledger, opened: Open) -> None:
    """A request is begun once, runs, and is answered from then on, in each process."""
    assert begin(ledger, keyed(), MANY, None) == "begun"
    assert begin(ledger, keyed(), MANY, None) == "running"
    assert begin(opened(), keyed(), MANY, None) == "running"
    body = b'{"content": "\xc3\xa4\x00"}'
    ledger.finish(keyed(), body, USAGE)
    assert begin(ledger, keyed(), MANY, None) == body
    assert begin(opened(), keyed(), MANY, None) == body


def test_the_same_key_with_another_body(ledger: Ledger) -> None:
    """A key is for one body, while its text is written and afterwards."""
    begin(ledger, keyed(), MANY, None)
    assert begin(ledger, keyed(body="other"), MANY, None) == "other body"
    ledger.finish(keyed(), b"{}", USAGE)
    assert begin(ledger, keyed(body="other"), MANY, None) == "other body"


def test_the_same_key_of_another_user(ledger: Ledger) -> None:
    """Each user has keys of their own."""
    begin(ledger, keyed(), MANY, None)
    assert begin(ledger, keyed(user="bob"), MANY, None) == "begun"
    ledger.finish(keyed(), b"{}", USAGE)
    assert begin(ledger, keyed(user="bob"), MANY, None) == "running"


def test_a_text_that_failed(ledger: Ledger) -> None:
    """It can be begun again, also for another body, and what it took is counted."""
    begin(ledger, keyed(), MANY, None)
    ledger.finish(keyed(), None, USAGE)
    assert begin(ledger, keyed(body="other"), MANY, None) == "begun"
    (month,) = ledger.usage()
    assert (month.texts, month.failed, month.usage) == (0, 1, USAGE)


def test_two_answers_for_one_request(ledger: Ledger, opened: Open) -> None:
    """The first one stays, whatever the other brings, but both have cost something."""
    begin(ledger, keyed(), MANY, None)
    ledger.finish(keyed(), b"first", USAGE)
    opened().finish(keyed(), b"second", USAGE)
    opened().finish(keyed(), None, USAGE)
    opened().finish(keyed(body="other"), b"third", USAGE)
    assert begin(ledger, keyed(), MANY, None) == b"first"
    (month,) = ledger.usage()
    assert (month.texts, month.failed, month.usage.calls) == (3, 1, 8)


def test_an_answer_that_was_never_begun(ledger: Ledger) -> None:
    """A text that was paid for is kept, even if the ledger has lost its request."""
    ledger.finish(keyed(), b"text", USAGE)
    assert begin(ledger, keyed(), MANY, None) == b"text"


def test_parts(ledger: Ledger, opened: Open, clock: Clock) -> None:
    """The parts of a text are kept for its request until they are dropped or old."""
    assert load_parts(ledger, keyed()) == b""
    ledger.save_parts(keyed(), b"one", Usage())
    ledger.save_parts(keyed(), b"\x00two" * 50_000, Usage())
    ledger.save_parts(keyed(2), b"other", Usage())
    assert load_parts(opened(), keyed()) == b"\x00two" * 50_000
    assert load_parts(opened(), keyed(body="another")) == b""
    assert load_parts(opened(), keyed(user="bob")) == b""
    ledger.save_parts(keyed(), b"", Usage())
    assert load_parts(ledger, keyed()) == b""
    if isinstance(ledger, SQLiteLedger):  # Redis drops them by its own clock
        clock.now += 100
        ledger.expire(50)
        clock.now += DAY
        ledger.expire(50)
        assert load_parts(ledger, keyed(2)) == b""


def test_the_usage_of_parts(ledger: Ledger, opened: Open) -> None:
    """It counts at once, so that what a process that dies has paid for is not forgotten."""
    begin(ledger, keyed(), MANY)
    ledger.save_parts(keyed(), b"one", USAGE)
    ledger.save_parts(keyed(), b"two", Usage(1, 1, 1, 0.5))
    (month,) = opened().usage()
    assert (month.texts, month.failed, month.usage) == (0, 0, Usage(3, 1001, 501, 0.75))
    assert ledger.finish(keyed(), b"text", Usage(1, 1, 1, 0.25)) == Costs(1.0, 1.0)


def test_what_is_known_of_a_user_who_is_gone(ledger: Ledger) -> None:
    """Nothing is: who comes next with the same name has used no token."""
    put_user(ledger, "ann", "a" * 64)
    ledger.note_uses({("ann", "default"): START, ("bob", "ci"): START})
    drop_user(ledger, "ann")
    assert ledger.uses() == {("bob", "ci"): START}


def test_large_parts(ledger: Ledger) -> None:
    """Parts that are too large for the ledger are not kept, since they could not be read."""
    ledger.save_parts(keyed(), b"small", Usage())
    large = bytes(5_000_000)
    ledger.save_parts(keyed(), large, Usage())
    assert load_parts(ledger, keyed()) in (b"", large)


def test_large_answers(ledger: Ledger) -> None:
    """An answer of the largest text comes back as it was."""
    body = os.urandom(1024) * 2000
    begin(ledger, keyed(), MANY, None)
    ledger.finish(keyed(), body, USAGE)
    assert begin(ledger, keyed(), MANY, None) == body


DAY = 86400


def test_old_answers(ledger: Ledger, clock: Clock) -> None:
    """They are dropped when they were old a day ago; what runs, and usage, is not."""
    for number in range(1, 6):
        begin(ledger, keyed(number), MANY)
    for number in range(1, 5):
        ledger.finish(keyed(number), b"text", USAGE)
        clock.now += 100
    assert ledger.expire(250) == 0
    clock.now += DAY - 1
    assert ledger.expire(250) == 0
    clock.now += 1
    assert ledger.expire(250) == 2
    assert ledger.expire(250) == 0
    found = [begin(ledger, keyed(number), MANY) for number in range(1, 6)]
    assert found == ["begun", "begun", b"text", b"text", "running"]
    assert ledger.usage()[0].texts == 4


def test_a_clock_that_was_40_days_ahead(ledger: Ledger, clock: Clock) -> None:
    """It deletes nothing: not at the first look, and not after it was corrected."""
    begin(ledger, keyed(1), MANY)
    ledger.finish(keyed(1), b"text", USAGE)
    for days in (0, 40, 0, 40, 0.5, 1.5):
        clock.now = START + days * DAY
        assert ledger.expire(30 * DAY) == 0
    assert begin(ledger, keyed(1), MANY) == b"text"
    clock.now = START + 31 * DAY
    ledger.expire(30 * DAY)
    clock.now = START + 33 * DAY
    assert ledger.expire(30 * DAY) == 1


# --- limits --------------------------------------------------------------------------------------


def limited(ledger: Ledger, request: KeyedRequest, limits: Limits) -> object:
    """Return the limit that a request reaches, and the seconds rounded to halves."""
    found = ledger.begin(request, limits, None, 0.0)
    assert isinstance(found, Limited)
    return found.limit, found.retry_after and round(found.retry_after * 2) / 2


def test_requests_per_minute(ledger: Ledger, later: Pass) -> None:
    """The oldest request leaves the window after exactly a minute, finished or not."""
    limits = Limits(requests_per_minute=2, parallel=10)
    assert begin(ledger, keyed(1), limits) == "begun"
    ledger.finish(keyed(1), None, USAGE)
    later(20)
    assert begin(ledger, keyed(2), limits) == "begun"
    later(15)
    assert limited(ledger, keyed(3), limits) == ("requests_per_minute", 25)
    assert begin(ledger, keyed(3, user="bob"), limits) == "begun"
    later(24)
    assert limited(ledger, keyed(3), limits) == ("requests_per_minute", 1)
    later(1)
    assert begin(ledger, keyed(3), limits) == "begun"
    assert limited(ledger, keyed(4), limits) == ("requests_per_minute", 20)


def test_what_is_left_of_a_minute(ledger: Ledger, later: Pass) -> None:
    """Who begins a request learns how many more are allowed, and for how long."""
    limits = Limits(requests_per_minute=3, parallel=10)
    found = []
    for number in range(3):
        found.append(ledger.begin(keyed(number), limits, None, 0.0))
        later(10)
    shown = [(it.left, round(it.reset)) for it in found if isinstance(it, Begun)]
    assert shown == [(2, 60), (1, 50), (0, 40)]


def test_a_limit_that_was_lowered(ledger: Ledger) -> None:
    """With more requests than allowed, as many have to leave the window."""
    for number in range(3):
        begin(ledger, keyed(number), MANY)
    lower = Limits(requests_per_minute=1)
    assert limited(ledger, keyed(9), lower) == ("requests_per_minute", 60)


def test_a_clock_that_jumps(ledger: Ledger, clock: Clock) -> None:
    """A minute is one, whatever the clock of this machine is set to."""
    limits = Limits(requests_per_minute=1)
    begin(ledger, keyed(1), limits)
    for seconds in (3600, -7200, 40 * DAY):
        clock.now += seconds
        assert limited(ledger, keyed(2), limits) == ("requests_per_minute", 60)


@pytest.mark.system
def test_a_clock_of_redis_that_was_set_back(redis: RedisServer, clock: Clock) -> None:
    """Requests in the future limit nobody."""
    limits = Limits(requests_per_minute=1)
    with shared(redis, clock) as ledger:
        begin(ledger, keyed(1), limits)
        redis.admin().zadd("contentgen:writer:recent_requests:ann", {"one": time.time() + 3600})
        redis.admin().zremrangebyrank("contentgen:writer:recent_requests:ann", 0, 0)
        assert begin(ledger, keyed(2), limits) == "begun"


def test_withdrawn(ledger: Ledger) -> None:
    """A request for which nothing was written can be begun again, and counts nowhere."""
    limits = Limits(requests_per_minute=1, cost_per_month=1.0)
    for _ in range(3):
        assert begin(ledger, keyed(1), limits, None, 0.9) == "begun"
        ledger.withdraw(keyed(1))
    assert ledger.usage() == []
    assert begin(ledger, keyed(1), MANY, None) == "begun"


def test_parallel(ledger: Ledger, opened: Open) -> None:
    """What is running counts, of this user and in all processes, until it is finished."""
    limits = Limits(requests_per_minute=100, parallel=2)
    begin(ledger, keyed(1), limits, None)
    begin(opened(), keyed(2), limits, None)
    assert begin(ledger, keyed(3), limits, None) == Limited("parallel", None)
    assert begin(ledger, keyed(3, user="bob"), limits, None) == "begun"
    ledger.finish(keyed(1), b"text", USAGE)
    assert begin(ledger, keyed(3), limits, None) == "begun"
    ledger.finish(keyed(3), None, USAGE)
    assert begin(ledger, keyed(4), limits, None) == "begun"


def test_cost_per_month(ledger: Ledger, clock: Clock) -> None:
    """A user who has spent enough waits for the next month in UTC; others do not."""
    limits = Limits(cost_per_month=0.5)
    for number in range(2):
        assert begin(ledger, keyed(number), limits, None) == "begun"
        ledger.finish(keyed(number), b"text", USAGE)
    rest = END_OF_MONTH - START
    assert begin(ledger, keyed(2), limits, None) == Limited("cost_per_month", rest)
    assert begin(ledger, keyed(2, user="bob"), limits, None) == "begun"
    clock.now = END_OF_MONTH - 0.5
    assert begin(ledger, keyed(2), limits, None) == Limited("cost_per_month", 0.5)
    clock.now = END_OF_MONTH
    assert begin(ledger, keyed(2), limits, None) == "begun"


def test_max_cost(ledger: Ledger, clock: Clock) -> None:
    """What all users have cost in a month is limited too, whether they still exist or not."""
    for user in ("ann", "bob"):
        put_user(ledger, user, "a" * 64)
        assert begin(ledger, keyed(user=user), MANY, 0.5) == "begun"
        ledger.finish(keyed(user=user), None, USAGE)
        drop_user(ledger, user)
    limited = Limited("max_cost", END_OF_MONTH - START)
    assert begin(ledger, keyed(user="eve"), MANY, 0.5) == limited
    assert begin(ledger, keyed(user="eve"), MANY, 0.51) == "begun"
    clock.now = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
    ledger.finish(keyed(user="eve"), b"text", USAGE)
    assert begin(ledger, keyed(2, user="eve"), MANY, 0.25) == Limited("max_cost", 1)
    clock.now += 1
    assert begin(ledger, keyed(2, user="eve"), MANY, 0.25) == "begun"


def test_what_is_reserved(ledger: Ledger, opened: Open) -> None:
    """The estimates of what is running count as costs, in all processes, until it ends."""
    limits = Limits(cost_per_month=1.0)
    assert begin(ledger, keyed(1), limits, None, 0.4) == "begun"
    assert begin(ledger, keyed(2), limits, None, 0.4) == "begun"
    assert begin(ledger, keyed(3), limits, None, 0.4) == Limited("cost_per_month")
    assert begin(ledger, keyed(3, user="bob"), limits, 1.3, 0.4) == "begun"
    assert begin(ledger, keyed(4, user="eve"), limits, 1.3, 0.4) == Limited("max_cost")
    ledger.finish(keyed(1), b"text", USAGE)
    ledger.withdraw(keyed(3, user="bob"))
    assert begin(ledger, keyed(3), limits, 1.3, 0.3) == "begun"
    ledger.finish(keyed(2), None, USAGE)
    assert ledger.finish(keyed(3), b"text", USAGE) == Costs(0.75, 0.75)
    rest = END_OF_MONTH - START
    assert begin(ledger, keyed(5), limits, None, 0.4) == Limited("cost_per_month", rest)


def test_users_with_a_budget_never_pass_it(ledger: Ledger) -> None:
    """Whatever is asked at once, what texts cost by their estimates stays below the limit."""
    limits = Limits(requests_per_minute=1000, parallel=1000, cost_per_month=1.0)
    begun = [n for n in range(50) if begin(ledger, keyed(n), limits, None, 0.25) == "begun"]
    assert len(begun) == 3
    for number in begun:
        assert ledger.finish(keyed(number), b"text", USAGE).user < 1.0


def test_the_order_of_the_limits(ledger: Ledger) -> None:
    """Costs come first, then the window, then what runs; what is known has no limit at all."""
    begin(ledger, keyed(1), MANY, None)
    begin(ledger, keyed(2), MANY, None)
    ledger.finish(keyed(2), b"text", USAGE)
    every = Limits(requests_per_minute=1, parallel=1, cost_per_month=0.1)
    rate = Limits(requests_per_minute=1, parallel=1)
    parallel = Limits(requests_per_minute=9, parallel=1)

    def limit(limits: Limits, max_cost: float | None) -> str:
        found = begin(ledger, keyed(3), limits, max_cost)
        assert isinstance(found, Limited)
        return found.limit

    assert limit(every, 0.1) == "max_cost"
    assert limit(every, None) == "cost_per_month"
    assert limit(rate, None) == "requests_per_minute"
    assert limit(parallel, None) == "parallel"
    assert begin(ledger, keyed(1), every, 0.1) == "running"
    assert begin(ledger, keyed(2), every, 0.1) == b"text"
    assert begin(ledger, keyed(2, body="other"), every, 0.1) == "other body"


def jump(clock: Clock, chance: random.Random) -> None:
    """Let some minutes pass, and set the clock wrongly now and then, for some hours on average."""
    clock.passed += chance.expovariate(1 / 600)
    if chance.random() < 0.05:
        clock.error = chance.choice([0, 0, 0, -3600, 3600, 40 * DAY, -40 * DAY])
    clock.now = START + clock.passed + clock.error


def test_a_week(path: Path) -> None:
    """After jumps of the clock, restarts and outages, sums are right and no limit was passed. 2 s.

    Two users ask every ten minutes on average, and each text costs up to what is reserved. A
    restart forgets the requests of the minute.
    """
    chance, clock = random.Random(20261123), Clock()
    limits = Limits(requests_per_minute=3, parallel=4, cost_per_month=9.0)
    costs: dict[tuple[str, str], float] = defaultdict(float)
    begun: dict[str, list[float]] = {"ann": [], "bob": []}
    kept: list[KeyedRequest] = []
    with ExitStack() as stack:
        for number in range(7 * 24 * 6):
            jump(clock, chance)
            if number == 0 or chance.random() < 0.01:
                stack.close()
                ledger = SQLiteLedger(
                    path, serving=True, clock=clock, monotonic=clock.monotonic, lock_timeout=0.01
                )
                stack.enter_context(ledger)
                begun = {user: [] for user in begun}
            if chance.random() < 0.01:
                with closing(sqlite3.connect(path, isolation_level=None)) as other:
                    other.execute("BEGIN IMMEDIATE")
                    with pytest.raises(LedgerError):
                        begin(ledger, keyed(number), limits, None, 0.01)
            for user, times in begun.items():
                request = keyed(number, user)
                if begin(ledger, request, limits, None, 0.01) != "begun":
                    continue
                if chance.random() < 0.1:
                    ledger.withdraw(request)
                    continue
                times.append(clock.passed)
                assert len(times) < 4 or times[-1] - times[-4] >= 60
                cost, month = chance.uniform(0, 0.01), month_of(clock.now)
                costs[user, month] += cost
                assert ledger.finish(request, b"text", Usage(1, 1, 1, cost)).user <= 9.0
                kept.append(request)
            if number % 20 == 0:
                ledger.expire(30 * DAY)
        usage = ledger.usage()
        assert {(it.user, it.month): it.usage.cost for it in usage} == pytest.approx(costs)
        assert sum(it.texts for it in usage) == len(kept) > 1500
        assert all(begin(ledger, request, limits) == b"text" for request in kept)


@pytest.mark.system
def test_writers_whose_clocks_differ(redis: RedisServer) -> None:
    """Ninety seconds of skew allow no request more."""
    ahead, behind = Clock(), Clock()
    ahead.now, behind.now = time.time() + 90, time.time() - 90
    limits = Limits(requests_per_minute=20, parallel=100)
    with shared(redis, ahead) as one, shared(redis, behind) as other:
        found = [begin((one, other)[n % 2], keyed(n), limits) for n in range(80)]
        assert found.count("begun") == 20
        for ledger in (one, other):
            ledger.beat()
            ledger.finish(keyed(0), b"text", USAGE)
        (month,) = one.usage()
        assert month.month == datetime.now(UTC).strftime("%Y-%m")


# --- usage ---------------------------------------------------------------------------------------


def test_usage(ledger: Ledger, opened: Open, clock: Clock) -> None:
    """It is added up by month and user, and stays when the user is gone."""
    assert ledger.usage() == []
    for user, body in (("bob", b"text"), ("ann", b"text"), ("ann", None), ("ann", b"text")):
        ledger.finish(keyed(user=user), body, USAGE)
    clock.now = END_OF_MONTH
    ledger.finish(keyed(user="ann"), b"text", Usage(1, 2, 3, 0.5))
    drop_user(ledger, "ann")
    rows = [(u.month, u.user, u.texts, u.failed, u.usage) for u in opened().usage()]
    assert rows == [
        ("2026-11", "ann", 2, 1, Usage(6, 3000, 1500, 0.75)),
        ("2026-11", "bob", 1, 0, USAGE),
        ("2026-12", "ann", 1, 0, Usage(1, 2, 3, 0.5)),
    ]


def test_calls_without_a_price(ledger: Ledger) -> None:
    """They make the cost of the month unknown; the server knows none with a limit on cost."""
    ledger.finish(keyed(1), b"text", USAGE)
    ledger.finish(keyed(2), b"text", Usage(1, 10, 20, None))
    ledger.finish(keyed(3), b"text", USAGE)
    (month,) = ledger.usage()
    assert month.usage == Usage(5, 2010, 1020, None)
    limits = Limits(cost_per_month=0.5)
    assert isinstance(begin(ledger, keyed(4), limits, None), Limited)
    assert begin(ledger, keyed(4), Limits(cost_per_month=0.51), 0.51) == "begun"


def test_no_problems(ledger: Ledger) -> None:
    """With usual settings there is nothing to warn of, and a beat changes nothing."""
    begin(ledger, keyed(), MANY, None)
    ledger.beat()
    assert begin(ledger, keyed(), MANY, None) == "running"
    problems = ledger.problems()
    assert all("start it with --appendonly yes --appendfsync always" in it for it in problems)
    assert len(problems) == isinstance(ledger, SharedLedger)


# --- many at once --------------------------------------------------------------------------------


def test_threads_that_begin_the_same_requests(opened: Open) -> None:
    """Of many who begin a request at the same time, one may write its text."""
    ledgers = [opened() for _ in range(6)]
    barrier = threading.Barrier(6)
    found: list[tuple[int, object]] = []

    def begin_all(ledger: Ledger) -> None:
        for number in range(20):
            barrier.wait(60)
            found.append((number, begin(ledger, keyed(number), MANY, None)))

    threads = [threading.Thread(target=begin_all, args=(ledger,)) for ledger in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for number, outcome in found if outcome == "begun") == list(range(20))
    assert sum(outcome == "running" for _, outcome in found) == 100


PROGRAM = """
import os, sys, time
from pathlib import Path
from mkdocs_contentgen.writer.ledger import open_ledger
from mkdocs_contentgen.writer.ledger.protocol import *
from mkdocs_contentgen.writer.ledger.users import *
from ledger_calls import *
from mkdocs_contentgen.writer.usage import Usage
address, use = sys.argv[1:]
many = Limits(requests_per_minute=1000, parallel=1000)
keyed = lambda number: KeyedRequest("ann", f"{number:064x}", "f" * 64)
"""


def start(address: object, use: str, code: str) -> subprocess.Popen[str]:
    """Start a process with a ledger."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM + code, str(address), use],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


def say(process: subprocess.Popen[str], line: str) -> None:
    """Send a line to a process."""
    assert process.stdin
    process.stdin.write(line + "\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> str:
    """Return the next line of a process."""
    assert process.stdout
    return process.stdout.readline().strip()


def race(address: object) -> list[str]:
    """Let three processes begin the same 50 requests, and return the numbers they have begun."""
    code = """
with open_ledger(address, Path(), serving=False) as ledger:
    begin(ledger, keyed(99), many, None)
    print("ready", flush=True)
    input()
    begun = [n for n in range(50) if begin(ledger, keyed(n), many, None) == "begun"]
    print(*begun, flush=True)
    input()
"""
    processes = [start(address, "race", code) for _ in range(3)]
    try:
        assert [hear(process) for process in processes] == ["ready"] * 3
        for process in processes:
            say(process, "go")
        return [number for process in processes for number in hear(process).split()]
    finally:
        for process in processes:
            process.communicate("end\n", timeout=60)


HOLD = """
with open_ledger(address, Path(), serving=True) as ledger:
    print(begin(ledger, keyed(1), many, None), flush=True)
    begin(ledger, keyed(2), many, None)
    ledger.finish(keyed(2), b"text", Usage(1, 2, 3, 0.5))
    while use == "beat":
        ledger.beat()
        time.sleep(0.1)
    print("done", flush=True)
    input()
"""
"""Begin two requests, finish one, and wait."""


def held(number: int) -> KeyedRequest:
    """Return a request of such a process."""
    return KeyedRequest("ann", f"{number:064x}", "f" * 64)


def call_everything(ledger: Ledger) -> set[str]:
    """Call each method, let nothing pass but LedgerError, and return the messages."""
    limits = Limits(requests_per_minute=9, parallel=9, cost_per_month=9.0)
    uses: list[Callable[[], object]] = [
        ledger.users,
        lambda: token_hash(ledger, "ann"),
        lambda: begin(ledger, keyed(1), limits, 9.0),
        lambda: begin(ledger, keyed(3), limits, 9.0),
        ledger.events,
        ledger.uses,
        lambda: ledger.note_uses({("ann", "default"): 1.0}),
        lambda: ledger.finish(keyed(3), b"text", USAGE),
        lambda: sum((month.usage.tokens for month in ledger.usage()), 0),
        lambda: ledger.expire(0),
        ledger.beat,
        lambda: put_user(ledger, "bob", "b" * 64),
        lambda: drop_user(ledger, "ann"),
    ]
    messages = set()
    for use in uses:
        try:
            use()
        except LedgerError as error:
            assert str(error).isprintable()
            messages.add(str(error))
    return messages


# --- SQLite --------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the file of a ledger is to be."""
    return tmp_path / "writer.db"


def test_processes_that_begin_the_same_requests(path: Path) -> None:
    """Each request is begun by one of them."""
    SQLiteLedger(path, serving=False).__exit__()
    assert sorted(map(int, race(path))) == list(range(50))


def test_processes_that_create_the_file(path: Path) -> None:
    """All can use it, whoever was first."""
    code = """
print("ready", flush=True)
input()
with open_ledger(address, Path(), serving=False) as ledger:
    print(put_user(ledger, "ann", "a" * 64))
"""
    processes = [start(path, "", code) for _ in range(3)]
    assert [hear(process) for process in processes] == ["ready"] * 3
    for process in processes:
        say(process, "go")
    added = [process.communicate(timeout=60)[0].strip() for process in processes]
    assert sorted(added) == ["False", "False", "True"]


def test_a_relative_path(tmp_path: Path) -> None:
    """It is relative to the directory that is given, and not that of the process."""
    with open_ledger("writer.db", tmp_path, serving=True) as ledger:
        put_user(ledger, "ann", "a" * 64)
    with open_ledger(str(tmp_path / "writer.db"), Path("/nowhere"), serving=False) as ledger:
        assert token_hash(ledger, "ann") == "a" * 64


def test_the_files(path: Path) -> None:
    """Nobody else can read them, and they are written with each change."""
    with SQLiteLedger(path, serving=True) as ledger:
        put_user(ledger, "ann", "a" * 64)
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
        assert set(modes) == {"writer.db", "writer.db-wal", "writer.db-shm", "writer.db.lock"}
        assert set(modes.values()) == {0o600}


def test_a_second_server(path: Path) -> None:
    """One process serves with a file, while commands use it too; then another one can."""
    first = SQLiteLedger(path, serving=True)
    begin(first, keyed(), MANY, None)
    with pytest.raises(LedgerError, match=r"is in use by another server.*redis://"):
        SQLiteLedger(path, serving=True)
    with SQLiteLedger(path, serving=False) as command:
        put_user(command, "ann", "a" * 64)
        assert command.usage() == []
    assert begin(first, keyed(), MANY, None) == "running"
    assert token_hash(first, "ann") == "a" * 64
    first.__exit__()
    with SQLiteLedger(path, serving=True) as second:
        assert token_hash(second, "ann") == "a" * 64


@pytest.mark.system
def test_a_server_that_was_killed(path: Path) -> None:
    """Its answers and its usage are there, and what it was writing can be begun again."""
    process = start(path, "", HOLD)
    assert (hear(process), hear(process)) == ("begun", "done")
    process.kill()
    process.communicate()
    with SQLiteLedger(path, serving=False) as command:
        assert begin(command, held(1), MANY, None) == "running"
    with SQLiteLedger(path, serving=True) as ledger:
        assert begin(ledger, held(2), MANY, None) == b"text"
        assert begin(ledger, held(1), Limits(parallel=1), None) == "begun"
        assert ledger.usage()[0].texts == 1


def test_a_worker_thread(path: Path) -> None:
    """The ledger can be used by another thread than the one that opened it."""
    found: list[object] = []
    with SQLiteLedger(path, serving=True) as ledger:
        thread = threading.Thread(target=lambda: found.append(begin(ledger, keyed(), MANY, None)))
        thread.start()
        thread.join()
    assert found == ["begun"]


def refused(path: Path, *, serving: bool = False) -> str:
    """Return the error for a file that cannot be opened, which is one line with its path."""
    with pytest.raises(LedgerError) as caught:
        SQLiteLedger(path, serving=serving)
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()
    return str(caught.value)


@pytest.mark.parametrize("content", [b"users: [ann]\n" * 100, b"SQLite format 3\0" + b"\7" * 5000])
def test_a_file_that_is_no_database(path: Path, content: bytes) -> None:
    """It is refused, and stays as it was."""
    path.write_bytes(content)
    assert "set `ledger` to another file" in refused(path, serving=True)
    assert path.read_bytes() == content


def test_another_database(path: Path) -> None:
    """The database of another program is refused, and stays as it was."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE users (name)")
    before = path.read_bytes()
    assert "is the database of another program; set `ledger` to another file" in refused(path)
    assert path.read_bytes() == before


def test_a_newer_format(path: Path) -> None:
    """A ledger of a later version is refused."""
    SQLiteLedger(path, serving=False).__exit__()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 3")
    assert "is of a newer mkdocs-contentgen than this one; update it" in refused(path)


@pytest.mark.parametrize("page", [1, 2, 3, 5])
def test_a_damaged_file(path: Path, page: int) -> None:
    """Whatever is damaged, each method works or raises LedgerError."""
    with SQLiteLedger(path, serving=False) as ledger:
        put_user(ledger, "ann", "a" * 64)
        begin(ledger, keyed(1), MANY, None)
        ledger.finish(keyed(2), b"text" * 5000, USAGE)
    content = bytearray(path.read_bytes())
    content[page * 4096 : page * 4096 + 64] = os.urandom(64)
    path.write_bytes(content)
    use_everything(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE requests SET body = 'text', answered = 'now'",
        "UPDATE requests SET body = 1e300",
        "UPDATE users SET user = 'yesterday'",
        "UPDATE users SET user = x'ff'",
        "UPDATE users SET name = CAST(x'ff' AS TEXT)",
        "UPDATE usage SET texts = 'many', calls = x'00', cost = 'nan'",
        "INSERT INTO events VALUES (x'ff')",
        "INSERT INTO uses VALUES (x'ff', 7, 'soon')",
        "INSERT INTO settings VALUES ('look', 'now')",
        "DROP TABLE requests",
        "DROP TABLE usage",
    ],
)
def test_damaged_rows(path: Path, statement: str) -> None:
    """Values of the wrong type crash nothing."""
    with SQLiteLedger(path, serving=False) as ledger:
        put_user(ledger, "ann", "a" * 64)
        begin(ledger, keyed(1), MANY, None)
        ledger.finish(keyed(1), b"text", USAGE)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)
    use_everything(path)


def use_everything(path: Path) -> None:
    """Use a file that was changed, and let nothing pass but LedgerError."""
    try:
        ledger = SQLiteLedger(path, serving=True)
    except LedgerError:
        return
    with ledger:
        call_everything(ledger)


def test_a_locked_file(path: Path) -> None:
    """Who has to wait too long for another program is told so, and nothing has changed."""
    with SQLiteLedger(path, serving=True, lock_timeout=0.1) as ledger:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerError, match=r"database is locked\); end the other program"):
                begin(ledger, keyed(), MANY, None)
        assert begin(ledger, keyed(), MANY, None) == "begun"


def test_a_file_that_another_program_creates(path: Path) -> None:
    """Who comes while it is made waits, rather than to be told at once that it is locked."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        with pytest.raises(LedgerError, match="database is locked"):
            SQLiteLedger(path, serving=False, lock_timeout=0.3)
        assert time.monotonic() - started > 0.3


def test_a_directory_that_does_not_exist(tmp_path: Path) -> None:
    """The error says which directory to create."""
    assert "create its directory" in refused(tmp_path / "none/writer.db")
    assert "create its directory" in refused(tmp_path / "none/writer.db", serving=True)


def test_a_path_that_is_a_directory(tmp_path: Path) -> None:
    """It is refused."""
    assert "unable to open database file" in refused(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written(path: Path) -> None:
    """It is refused, with and without a ledger in it."""
    path.parent.chmod(0o500)
    assert "Permission denied" in refused(path)
    path.parent.chmod(0o700)
    SQLiteLedger(path, serving=False).__exit__()
    path.parent.chmod(0o500)
    assert "make the file and its directory writable" in refused(path)
    path.parent.chmod(0o700)


def test_a_full_disk(path: Path) -> None:
    """What does not fit is an error, and what was there before is still there."""
    code = """
import resource
from mkdocs_contentgen.errors import ConfigurationError, LedgerError
with open_ledger(address, Path(), serving=True) as ledger:
    ledger.finish(keyed(1), b"text", Usage(1, 2, 3, 0.5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    try:
        ledger.finish(keyed(2), b"x" * 200_000, Usage(1, 2, 3, 0.5))
    except LedgerError as error:
        print(error, flush=True)
    print(begin(ledger, keyed(1), many, None), ledger.usage()[0].texts, flush=True)
"""
    process = start(path, "", code)
    message, after = process.communicate(timeout=60)[0].splitlines()
    assert "cannot be used (disk I/O error); make sure that the disk works" in message
    assert after == "b'text' 1"


@pytest.mark.parametrize("how", ["replaced", "deleted", "without its log", "without its lock"])
def test_a_file_that_is_replaced(path: Path, how: str) -> None:
    """From then on, nothing is answered from what nobody sees any more, nor kept there."""
    with SQLiteLedger(path, serving=True) as ledger:
        put_user(ledger, "ann", "a" * 64)
        begin(ledger, keyed(1), MANY)
        ledger.beat()
        if how == "replaced":
            ledger.back_up(path.with_name("b.db"))
            path.with_name("b.db").rename(path)
        else:
            name = {"deleted": "", "without its log": "-wal", "without its lock": ".lock"}[how]
            path.with_name(path.name + name).unlink()
        assert_nothing_is_used(ledger, "was replaced or deleted while this server")


def assert_nothing_is_used(ledger: Ledger, message: str) -> None:
    """Assert that nothing is answered from a ledger that is not the one of before."""
    uses: list[Callable[[], object]] = [
        ledger.beat,
        lambda: ledger.user("ann"),
        lambda: begin(ledger, keyed(2), MANY),
        lambda: ledger.finish(keyed(1), b"text", USAGE),
    ]
    for use in uses:
        with pytest.raises(LostLedgerError, match=message):
            use()


def test_a_file_that_is_moved_away_and_back(path: Path) -> None:
    """Once it is there again, it is used as before."""
    with SQLiteLedger(path, serving=True) as ledger:
        ledger.beat()
        path.rename(path.with_name("away.db"))
        with pytest.raises(LostLedgerError):
            ledger.beat()
        path.with_name("away.db").rename(path)
        ledger.beat()


def test_a_file_that_turns_read_only(path: Path) -> None:
    """A beat notices that nothing can be kept."""
    with SQLiteLedger(path, serving=True) as ledger:
        ledger.beat()
        ledger._database.execute("PRAGMA query_only = ON")
        with pytest.raises(LedgerError, match="make the file and its directory writable"):
            ledger.beat()


VERSION_1 = (
    "CREATE TABLE users (name TEXT PRIMARY KEY, token_hash TEXT NOT NULL, added REAL NOT NULL)",
    "CREATE TABLE requests (user TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, "
    "body BLOB, answered REAL, PRIMARY KEY (user, key))",
    "CREATE INDEX answers ON requests (answered) WHERE body IS NOT NULL",
    "CREATE INDEX running ON requests (user) WHERE body IS NULL",
    "CREATE TABLE recent_requests (user TEXT NOT NULL, at REAL NOT NULL)",
    "CREATE TABLE usage (month TEXT NOT NULL, user TEXT NOT NULL, texts INTEGER NOT NULL, "
    "failed INTEGER NOT NULL, calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL, "
    "output_tokens INTEGER NOT NULL, cost REAL NOT NULL, unpriced INTEGER NOT NULL, "
    "PRIMARY KEY (month, user))",
    "PRAGMA application_id = 1667722340",
    "PRAGMA user_version = 1",
    f"INSERT INTO users VALUES ('ann', '{'a' * 64}', {START})",
    f"INSERT INTO requests VALUES ('ann', '{1:064x}', '{'f' * 64}', x'74', {START})",
    "INSERT INTO usage VALUES ('2026-11', 'ann', 1, 0, 2, 1000, 500, 0.25, 0)",
)


def test_a_file_of_version_1(path: Path) -> None:
    """Its users, answers and usage are those of the new one."""
    with closing(sqlite3.connect(path)) as database, database:
        for statement in VERSION_1:
            database.execute(statement)
    for _ in range(2):
        with SQLiteLedger(path, serving=True) as ledger:
            assert token_hash(ledger, "ann") == "a" * 64
            assert begin(ledger, held(1), MANY) == b"t"
            assert ledger.usage()[0].usage == USAGE
            ledger.save_parts(keyed(2), b"parts", Usage())


def test_a_backup(path: Path, clock: Clock) -> None:
    """It is whole while the ledger is used, only its owner can read it, and it can be used."""
    copy = path.with_name("copy.db")
    with SQLiteLedger(path, serving=True) as ledger:
        put_user(ledger, "ann", "a" * 64)
        begin(ledger, keyed(1), MANY)
        ledger.finish(keyed(1), b"text", USAGE)
        ledger.back_up(copy)
        with pytest.raises(LedgerError, match=r"File exists\); name another file"):
            ledger.back_up(copy)
        ledger.beat()
    assert copy.stat().st_mode & 0o777 == 0o600
    with SQLiteLedger(copy, serving=True) as ledger:
        assert begin(ledger, keyed(1), MANY) == b"text"


HOLD_LATER = """
with open_ledger(address, Path(), serving=True) as ledger:
    ledger.beat()
    ledger.finish(keyed(5), b"later", Usage(1, 2, 3, 0.5))
    print("ready", flush=True)
    input()
"""
"""Serve, and keep an answer."""


@pytest.mark.parametrize("killed", [False, True])
def test_a_backup_is_restored(path: Path, *, killed: bool) -> None:
    """It takes the place of all that came later, also after a crash, but of no running server."""
    copy = path.with_name("copy.db")
    with SQLiteLedger(path, serving=True) as ledger:
        begin(ledger, held(1), MANY)
        ledger.finish(held(1), b"text", USAGE)
        ledger.back_up(copy)
    process = start(path, "", HOLD_LATER)
    assert hear(process) == "ready"
    with pytest.raises(LedgerError, match="is in use by another server"):
        SQLiteLedger(path, serving=True)
    if killed:
        process.kill()
    process.communicate(None if killed else "end\n", timeout=60)
    with SQLiteLedger(path, serving=True) as ledger:
        with pytest.raises(LedgerError, match="there is no file"):
            ledger.restore(path.with_name("nosuch.db"))
        ledger.restore(copy)
    with SQLiteLedger(path, serving=True) as ledger:
        assert ledger.usage()[0].texts == 1
        assert begin(ledger, held(1), MANY) == b"text"
        assert begin(ledger, held(5), MANY) == "begun"


def test_a_server_leaves_no_log_to_the_file_in_its_place(path: Path) -> None:
    """Whoever serves next has what is in the new file, and that is whole."""
    with SQLiteLedger(path, serving=True) as ledger:
        ledger.beat()
        ledger.back_up(path.with_name("b.db"))
        for number in range(30):
            ledger.finish(keyed(number), b"text" * 500, USAGE)
        path.with_name("b.db").rename(path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM requests").fetchone() == (0,)


# --- Redis ---------------------------------------------------------------------------------------


def test_data_that_are_lost(redis: RedisServer, clock: Clock) -> None:
    """An emptied server gets nothing more, also if somebody adds users to it again."""
    with shared(redis, clock) as ledger, shared(redis, clock) as command:
        ledger.beat()
        put_user(ledger, "ann", "a" * 64)
        begin(ledger, keyed(1), MANY)
        redis.admin().flushall()
        put_user(command, "ann", "a" * 64)
        assert_nothing_is_used(ledger, "has lost its data since this server")
    with shared(redis, clock) as after:
        after.beat()
        assert begin(after, keyed(2), MANY) == "begun"


def test_a_damaged_counter_keeps_no_text_from_its_client(redis: RedisServer, clock: Clock) -> None:
    """The text is kept, and whoever wrote it learns that its usage is not."""
    with shared(redis, clock) as ledger:
        ledger.finish(keyed(1), b"text", USAGE)
        redis.admin().hset("contentgen:writer:usage:2026-11", "ann:cost", "nan")
        begin(ledger, keyed(2), MANY)
        with pytest.raises(DamagedUsageError, match="the usage of a text is not counted"):
            ledger.finish(keyed(2), b"text", USAGE)
        assert begin(ledger, keyed(2), MANY) == b"text"


def shared(server: RedisServer, clock: Clock, grace: float = 15) -> SharedLedger:
    """Return a ledger in Redis, as another process would open it."""
    return SharedLedger(server.url, clock=clock, grace=grace)


def unavailable(use: Callable[[], object]) -> str:
    """Return the message of an error that names the server, and shows no password."""
    with pytest.raises(LedgerError) as caught:
        use()
    message = str(caught.value)
    assert PASSWORD not in message
    assert QUOTED not in message
    assert "the ledger redis://127.0.0.1:" in message
    assert message.isprintable()
    return message


def test_shared_processes_that_begin_the_same_requests(redis: RedisServer) -> None:
    """Each request is begun by one of them."""
    assert sorted(map(int, race(redis.url))) == list(range(50))


@pytest.mark.parametrize("scheme", ["redis", "valkey", "REDIS"])
def test_an_address(redis: RedisServer, tmp_path: Path, scheme: str) -> None:
    """It opens a ledger in Redis, and no file."""
    url = redis.url.replace("redis://", f"{scheme}://")
    with open_ledger(url, tmp_path, serving=True) as ledger:
        put_user(ledger, "ann", "a" * 64)
    assert redis.admin().hlen("contentgen:writer:users") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "redis://",
        "redis://:s3cret@host:port",
        "rediss://:s3cret@",
        "http://:s3cret@host:6379",
        "redis+tls://:s3cret@host",
        "redis//:s3cret@host:6379",
        " redis://:s3cret@host",
    ],
)
def test_an_address_that_is_none(tmp_path: Path, url: str) -> None:
    """It is refused and not shown, since it can contain a password."""
    with pytest.raises(LedgerError, match=r"^ledger: is not an address such as redis://host:6379$"):
        open_ledger(url, tmp_path, serving=True)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:s3cret@127.0.0.1:1?colour=blue",
        "redis://:s3cret@127.0.0.1:1?protocol=9",
        "rediss://:s3cret@127.0.0.1:1?ssl_cert_reqs=BAD",
    ],
)
def test_an_option_that_redis_does_not_know(tmp_path: Path, url: str) -> None:
    """What follows the `?` is checked when the ledger is opened."""
    with pytest.raises(ConfigurationError, match=r"^ledger: the package redis refuses"):
        open_ledger(url, tmp_path, serving=True)


def test_owners_that_live_and_die(redis: RedisServer, clock: Clock) -> None:
    """What a process writes is left to it while it beats, and to others when it is dead."""
    with ExitStack() as stack:
        process = start(redis.url, "beat", HOLD)
        stack.callback(process.communicate)
        stack.callback(process.kill)
        assert hear(process) == "begun"
        other = stack.enter_context(shared(redis, clock, grace=1))
        one = Limits(requests_per_minute=1000, parallel=1)

        def begin_first() -> object:
            other.beat()
            return begin(other, held(1), one, None)

        wait_until(lambda: begin(other, held(2), one, None) == b"text")
        lived_until = time.monotonic() + 2.5
        while time.monotonic() < lived_until:
            assert begin_first() == "running"
            assert begin(other, held(3), one, None) == Limited("parallel")
            time.sleep(0.1)
        process.kill()
        assert begin_first() == "running"
        wait_until(lambda: begin_first() == "begun")
        assert begin_first() == "running"
        assert begin(other, held(3), one, None) == Limited("parallel")


def test_the_slots_of_a_dead_owner(redis: RedisServer, clock: Clock) -> None:
    """What it was writing does not count for `parallel` any more."""
    dead = shared(redis, clock)
    begin(dead, keyed(1), MANY, None)
    dead.__exit__()
    one = Limits(requests_per_minute=1000, parallel=1)
    with shared(redis, clock, grace=1) as other:
        assert begin(other, keyed(2), one, None) == Limited("parallel")
        wait_until(lambda: begin(other, keyed(2), one, None) == "begun")


def test_a_process_that_was_away(redis: RedisServer, clock: Clock) -> None:
    """Who has not reached the server for long cannot tell that others are dead."""
    dead = shared(redis, clock)
    begin(dead, keyed(1), MANY, None)
    dead.__exit__()
    with shared(redis, clock, grace=0.3) as other:
        other.beat()
        time.sleep(1)
        assert begin(other, keyed(1), MANY, None) == "running"
        wait_until(lambda: begin(other, keyed(1), MANY, None) == "begun")


def test_a_text_of_a_process_that_seemed_dead(redis: RedisServer, clock: Clock) -> None:
    """It is kept if it comes first, a failure of it changes nothing, and both are counted."""
    slow = shared(redis, clock)
    for number in (1, 2):
        begin(slow, keyed(number), MANY, None)
    with slow, shared(redis, clock, grace=1) as other:
        for number in (1, 2):
            wait_until(lambda: begin(other, keyed(number), MANY, None) == "begun")  # noqa: B023
        slow.finish(keyed(1), b"slow", USAGE)
        slow.finish(keyed(2), None, USAGE)
        assert begin(slow, keyed(2), MANY, None) == "running"
        assert other.finish(keyed(1), b"other", USAGE).kept == b"slow"
        assert other.finish(keyed(2), b"other", USAGE).kept == b""
        assert begin(other, keyed(1), MANY, None) == b"slow"
        assert begin(other, keyed(2), MANY, None) == b"other"
        (month,) = other.usage()
        assert (month.texts, month.failed, month.usage.calls) == (3, 1, 8)


@pytest.mark.system
def test_a_server_that_is_killed(tmp_path: Path, clock: Clock) -> None:
    """Everything is there after its restart, and what was being written is left to its process."""
    files = ["--dir", str(tmp_path), "--appendonly", "yes", "--appendfsync", "always"]
    with redis_running(*files) as server, ExitStack() as stack:
        ledger = stack.enter_context(shared(server, clock))
        other = stack.enter_context(shared(server, clock, grace=1))
        other.beat()
        put_user(ledger, "ann", "a" * 64)
        for number in range(50):
            begin(ledger, keyed(number), MANY, None)
            if number % 2:
                ledger.finish(keyed(number), b"text", USAGE)
        server.kill()
        assert "(Connection refused); make sure that" in unavailable(ledger.beat)
        unavailable(lambda: begin(ledger, keyed(1), MANY, None))
        unavailable(lambda: ledger.finish(keyed(0), b"text", USAGE))
        unavailable(ledger.problems)
        time.sleep(1.2)
        stack.enter_context(redis_running("--port", str(server.port), *files))
        assert begin(other, keyed(0), MANY, None) == "running"
        ledger.beat()
        outcomes = [begin(other, keyed(number), MANY, None) for number in range(50)]
        assert outcomes == ["running", b"text"] * 25
        ledger.finish(keyed(0), b"text", USAGE)
        assert begin(other, keyed(0), MANY, None) == b"text"
        assert token_hash(other, "ann") == "a" * 64
        assert other.usage()[0].texts == 26


def test_a_server_that_hangs(redis: RedisServer, clock: Clock) -> None:
    """A request that may have been begun can be begun again, and takes no slot for ever."""
    limits = Limits(requests_per_minute=1000, parallel=1)
    with SharedLedger(redis.url, clock=clock, timeout=0.5) as ledger:
        ledger.beat()
        redis.process.send_signal(signal.SIGSTOP)
        try:
            message = unavailable(lambda: begin(ledger, keyed(1), limits, None))
        finally:
            redis.process.send_signal(signal.SIGCONT)
        assert "it does not answer in time" in message
        wait_until(lambda: ledger.users() is not None)
        assert begin(ledger, keyed(1), limits, None) == "begun"
        assert begin(ledger, keyed(1), limits, None) == "running"


class LossyProxy:
    """Forwards connections to a server, and loses the next replies to scripts, as often as set."""

    def __init__(self, port: int) -> None:
        self.losses = 0
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._target)) as server:
            request = b""
            while True:
                ready, _, _ = select.select([client, server], [], [])
                data = ready[0].recv(1_000_000)
                if not data:
                    return
                if ready[0] is client:
                    request += data  # a script comes in several parts
                    server.sendall(data)
                elif self.losses and b"EVAL" in request:
                    self.losses -= 1
                    return
                else:
                    request = b""
                    client.sendall(data)


@pytest.fixture
def proxy(redis: RedisServer) -> Iterator[LossyProxy]:
    """Run a proxy in front of Redis."""
    proxy = LossyProxy(redis.port)
    yield proxy
    proxy.close()


def test_replies_that_are_lost(redis: RedisServer, proxy: LossyProxy, clock: Clock) -> None:
    """What is sent again is done once: a request is begun, and its usage is added."""
    url = redis.url.replace(str(redis.port), str(proxy.port))
    limits = Limits(requests_per_minute=1, parallel=1)
    with SharedLedger(url, clock=clock) as ledger:
        proxy.losses = 1
        assert begin(ledger, keyed(), limits, None) == "begun"
        assert proxy.losses == 0
        assert begin(ledger, keyed(), limits, None) == "running"
        proxy.losses = 1
        ledger.finish(keyed(), b"text", USAGE)
        assert begin(ledger, keyed(), limits, None) == b"text"
        assert ledger.usage()[0].usage == USAGE


def test_replies_that_are_lost_twice(redis: RedisServer, proxy: LossyProxy, clock: Clock) -> None:
    """After an error, the caller can do the same again, and everything counts once."""
    url = redis.url.replace(str(redis.port), str(proxy.port))
    limits = Limits(requests_per_minute=10, parallel=1)
    with SharedLedger(url, clock=clock) as ledger, shared(redis, clock) as other:
        proxy.losses = 2
        with pytest.raises(LedgerError, match="it ended the connection"):
            begin(ledger, keyed(), limits, None)
        assert begin(other, keyed(), limits, None) == "running"
        ledger.beat()
        assert begin(other, keyed(), limits, None) == "begun"
        other.finish(keyed(), None, Usage())
        assert begin(ledger, keyed(), limits, None) == "begun"
        proxy.losses = 2
        with pytest.raises(LedgerError, match="it ended the connection"):
            ledger.finish(keyed(), b"text", USAGE)
        ledger.finish(keyed(), b"text", USAGE)
        assert begin(other, keyed(), limits, None) == b"text"
        (month,) = other.usage()
        assert (month.texts, month.failed, month.usage) == (1, 1, USAGE)


def test_a_wrong_password(redis: RedisServer, clock: Clock) -> None:
    """It is named as the reason, and not shown."""
    url = redis.url.replace(QUOTED, "wr0ng-s3cret")
    with SharedLedger(url, clock=clock) as ledger:
        message = unavailable(ledger.users)
    assert "it refuses the user or the password" in message
    assert "wr0ng" not in message


@pytest.mark.system
def test_a_replica(clock: Clock) -> None:
    """A server that cannot be written is an error, also where it can be read."""
    with redis_running() as server, shared(server, clock) as ledger:
        put_user(ledger, "ann", "a" * 64)
        server.admin().replicaof("127.0.0.1", "1")
        assert "it is a replica" in unavailable(lambda: begin(ledger, keyed(), MANY, None))
        assert "it is a replica" in unavailable(ledger.beat)
        server.admin().replicaof("NO", "ONE")
        assert begin(ledger, keyed(), MANY, None) == "begun"


@pytest.mark.system
def test_a_full_server(clock: Clock) -> None:
    """What does not fit is an error, and changes nothing of what is there."""
    settings = ["--maxmemory", "4mb", "--maxmemory-policy", "noeviction"]
    with redis_running(*settings) as server, shared(server, clock) as ledger:
        finished = 0
        with pytest.raises(LedgerError, match="it is full"):
            while True:
                begin(ledger, keyed(finished), MANY, None)
                ledger.finish(keyed(finished), b"x" * 500_000, USAGE)
                finished += 1
        server.admin().config_set("maxmemory", "100mb")
        assert ledger.usage()[0].texts == finished > 0
        for number in range(finished):
            assert begin(ledger, keyed(number), MANY, None) == b"x" * 500_000


@pytest.mark.system
def test_a_server_that_would_drop_answers(clock: Clock) -> None:
    """A server that is set to drop what was paid for is named."""
    with (
        redis_running() as server,
        shared(server, clock) as ledger,
    ):
        for policy in ("allkeys-lru", "volatile-ttl"):
            server.admin().config_set("maxmemory-policy", policy)
            problem, other = ledger.problems()
            assert f"maxmemory-policy is '{policy}'; set it to 'noeviction'" in problem
            assert "start it with --appendonly yes --appendfsync always" in other
            assert PASSWORD not in problem + other


HOSTILE = [b"", b"x", b"nan", b"inf", b"-1", b"1e300", b"9" * 400, b"\xff\x00", b"x" * 10**7]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values(redis: RedisServer, clock: Clock, value: bytes) -> None:
    """Whatever stands in a field, each method works or raises LedgerError."""
    with shared(redis, clock) as ledger:
        put_user(ledger, "ann", "a" * 64)
        begin(ledger, keyed(1), MANY, None)
        ledger.finish(keyed(2), b"text", USAGE)
        admin = redis.admin()
        for key in admin.keys("contentgen:writer:*"):
            match admin.type(key):
                case b"hash":
                    for field in admin.hkeys(key):
                        before = admin.hget(key, field)
                        admin.hset(key, field, value)
                        call_everything(ledger)
                        admin.hset(key, field, before)
                    admin.hset(key, value, value)
                case b"set":
                    admin.sadd(key, value)
                case b"zset":
                    admin.zadd(key, {value: float("-inf")})
                    admin.zadd(key, {b"last": float("inf")})
            call_everything(ledger)


@pytest.mark.parametrize("kind", ["string", "list", "hash", "set", "zset"])
def test_values_of_another_type(redis: RedisServer, clock: Clock, kind: str) -> None:
    """A key that has another type is an error that says so."""
    with shared(redis, clock) as ledger:
        put_user(ledger, "ann", "a" * 64)
        begin(ledger, keyed(1), MANY, None)
        ledger.finish(keyed(2), b"text", USAGE)
        admin = redis.admin()
        keys = [*admin.keys("contentgen:writer:*"), b"contentgen:writer:request:ann:" + b"0" * 64]
        for key in keys:
            before = admin.dump(key)
            admin.delete(key)
            match kind:
                case "string":
                    admin.set(key, "x")
                case "list":
                    admin.lpush(key, "x")
                case "hash":
                    admin.hset(key, "x", "x")
                case "set":
                    admin.sadd(key, "x")
                case "zset":
                    admin.zadd(key, {"x": 1})
            for message in call_everything(ledger):
                assert "WRONGTYPE" in message or "has a damaged value" in message
            if before:
                admin.restore(key, 0, before, replace=True)


def test_a_cost_that_is_no_number(redis: RedisServer, clock: Clock) -> None:
    """A limit that cannot be checked is not ignored."""
    with shared(redis, clock) as ledger:
        ledger.finish(keyed(1), b"text", USAGE)
        redis.admin().hset("contentgen:writer:usage:2026-11", "cost", "nan")
        with pytest.raises(LedgerError, match="has a damaged value in contentgen:writer:usage"):
            begin(ledger, keyed(2), MANY, 1.0)
        assert begin(ledger, keyed(2), MANY, None) == "begun"


def test_an_answer_that_is_too_large(redis: RedisServer, clock: Clock) -> None:
    """It is not read, and not written again either."""
    with shared(redis, clock) as ledger:
        ledger.finish(keyed(1), b"text", USAGE)
        key = f"contentgen:writer:request:ann:{1:064x}"
        redis.admin().hset(key, "body", b"x" * 5_000_000)
        with pytest.raises(LedgerError, match=f"has a damaged value in {key}; correct or delete"):
            begin(ledger, keyed(1), MANY, None)
        redis.admin().delete(key)
        assert begin(ledger, keyed(1), MANY, None) == "begun"


NONSENSE = [
    b"",
    b"x" * 1000,
    b"+OK\r\n",
    b":7\r\n",
    b"$-1\r\n",
    b"$5\r\nbegun\r\n",
    b"*-1\r\n",
    b"*0\r\n",
    b"*1\r\n:7\r\n",
    b"*1\r\n$-1\r\n",
    b"*1\r\n*1\r\n$5\r\nbegun\r\n",
    b"*2\r\n$8\r\nanswered\r\n:7\r\n",
    b"*2\r\n$7\r\nlimited\r\n$2\r\n\xff\xff\r\n",
    b"*3\r\n$7\r\nlimited\r\n$19\r\nrequests_per_minute\r\n*0\r\n",
    b"-ERR \x1b[31m red\r\n",
    b"$999999999999\r\nx",
]


@pytest.mark.parametrize("nonsense", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense(clock: Clock, nonsense: bytes) -> None:
    """Whatever answers in a Redis' place, each method works or raises LedgerError."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    while connection.recv(100_000):
                        connection.sendall(nonsense)
                        if not nonsense.endswith(b"\r\n"):
                            break

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        url = f"redis://127.0.0.1:{listener.getsockname()[1]}"
        with SharedLedger(url, clock=clock, timeout=0.2) as ledger:
            call_everything(ledger)
        listener.shutdown(socket.SHUT_RDWR)

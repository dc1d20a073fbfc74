"""The ledger of the served writer, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from conftest import wait_until
from ledger_calls import begin, drop_user, load_parts, put_user, token_hash
from lossy_proxy import losing
from postgres_server import PASSWORD, QUOTED, PostgresServer, postgres_running

from mkdocs_contentgen.errors import ConfigurationError, LedgerError
from mkdocs_contentgen.served.databases import PostgreSQL, SQLite
from mkdocs_contentgen.served.ledger import KeyedRequest, Ledger, LimitReached, Started, open_ledger
from mkdocs_contentgen.served.users import Token, UserLimits
from mkdocs_contentgen.writer.models.usage import Usage

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
START = NOW.timestamp()
END_OF_MONTH = datetime(2026, 12, 1, tzinfo=UTC).timestamp()
MANY = UserLimits(requests_per_minute=1000, parallel=1000)
USAGE = Usage(2, 1000, 500, 0.25)


def keyed(number: int = 1, user: str = "ann", body: str = "body") -> KeyedRequest:
    """Return a request."""
    return KeyedRequest(user, f"{number:064x}", body.encode().hex().rjust(64, "0"))


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        """Return the seconds since 1970."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Return the clock of all ledgers of a test."""
    return Clock()


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[PostgresServer]:
    """Run a PostgreSQL for all tests of this module."""
    with postgres_running() as running:
        yield running


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> PostgresServer:
    """Return a PostgreSQL without tables."""
    postgres_server.empty()
    return postgres_server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.system)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the option `ledger` of a test, for each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "writer.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.url


def connect(address: str, **options: Any) -> Ledger:
    """Open a ledger as another process would."""
    database = PostgreSQL(address) if "://" in address else SQLite(Path(address))
    return Ledger(database, **options)


def cost(ledger: Ledger) -> float:
    """Return what all texts have cost."""
    return sum(month.usage.cost or 0.0 for month in ledger.usage())


Open = Callable[[], Ledger]


@pytest.fixture
def opened(address: str, clock: Clock) -> Iterator[Open]:
    """Return what opens the ledger of this test, as often as it is called."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(connect(address, clock=clock))


@pytest.fixture
def ledger(opened: Open) -> Ledger:
    """Return an empty ledger."""
    return opened()


# --- users ---------------------------------------------------------------------------------------


def test_users(ledger: Ledger, opened: Open) -> None:
    """A user stays until removed, and every process knows the user."""
    assert ledger.users() == {}
    assert ledger.users().get("ann") is None
    assert put_user(ledger, "ann", "a" * 64)
    assert put_user(ledger, "Bob.2@example-site", "b" * 64)
    assert not put_user(opened(), "ann", "c" * 64)
    assert token_hash(opened(), "ann") == "a" * 64
    assert list(opened().users()) == ["Bob.2@example-site", "ann"]
    assert drop_user(ledger, "ann")
    assert not drop_user(ledger, "ann")
    assert token_hash(opened(), "ann") is None


def test_a_user_that_two_change(ledger: Ledger, opened: Open) -> None:
    """Both changes are made, and a change that fails makes none."""
    put_user(ledger, "ann", "a" * 64)
    others = opened()

    def add_token(ledger: Ledger, label: str) -> None:
        with ledger.changing_users() as users:
            users["ann"].tokens[label] = Token("b" * 64, NOW, NOW + timedelta(1))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add_token, [ledger, others] * 4, "abcdefgh"))
    with pytest.raises(KeyError), ledger.changing_users() as users:
        del users["ann"].tokens["a"]
        del users["bob"]
    ann = ledger.users().get("ann")
    assert ann
    assert sorted(ann.tokens) == sorted([*"abcdefgh", "default"])


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
    body = os.urandom(1024) * 2000  # as large as the largest text
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
    """The parts of a text are kept for its request until it is there, or they are old."""
    for number in (1, 2):
        assert begin(ledger, keyed(number), MANY) == "begun"
        ledger.save_parts(keyed(number), b"one", Usage())
        ledger.save_parts(keyed(number), b"\x00two" * 50_000, Usage())
        ledger.finish(keyed(number), None, Usage(), keeps_parts=True)
    assert load_parts(opened(), keyed()) == b"\x00two" * 50_000
    assert load_parts(opened(), keyed(user="bob")) == b""
    assert begin(ledger, keyed(), MANY) == "begun"
    ledger.finish(keyed(), None, Usage())
    assert load_parts(ledger, keyed()) == b""
    assert load_parts(opened(), keyed(2, body="another")) == b""
    assert load_parts(ledger, keyed(2)) == b""
    assert begin(ledger, keyed(3), MANY) == "begun"
    ledger.save_parts(keyed(3), b"three", Usage())
    ledger.finish(keyed(3), None, Usage(), keeps_parts=True)
    clock.now += 100
    ledger.expire(50)
    assert load_parts(ledger, keyed(3)) == b""


def test_the_usage_of_parts(ledger: Ledger, opened: Open) -> None:
    """It counts at once, so that what a process that dies has paid for is not forgotten."""
    begin(ledger, keyed(), MANY)
    ledger.save_parts(keyed(), b"one", USAGE)
    ledger.save_parts(keyed(), b"two", USAGE + Usage(1, 1, 1, 0.5))
    (month,) = opened().usage()
    assert (month.texts, month.failed, month.usage) == (0, 0, Usage(3, 1001, 501, 0.75))
    ledger.finish(keyed(), b"text", Usage(4, 1002, 502, 1.0))
    assert cost(ledger) == 1.0


def test_old_answers(ledger: Ledger, clock: Clock) -> None:
    """They are dropped by their age; what runs, and usage, is not."""
    for number in range(1, 6):
        begin(ledger, keyed(number), MANY)
    for number in range(1, 5):
        ledger.finish(keyed(number), b"text", USAGE)
        clock.now += 100
        ledger.beat()
    ledger.expire(250)
    found = [begin(ledger, keyed(number), MANY) for number in range(1, 6)]
    assert found == ["begun", "begun", b"text", b"text", "running"]
    assert ledger.usage()[0].texts == 4


# --- limits --------------------------------------------------------------------------------------


def limited(ledger: Ledger, request: KeyedRequest, limits: UserLimits) -> object:
    """Return the limit that a request reaches, and the seconds rounded to halves."""
    found = ledger.begin(request, limits, None, 0.0)
    assert isinstance(found, LimitReached)
    return found.limit, found.retry_after and round(found.retry_after * 2) / 2


def test_requests_per_minute(ledger: Ledger, clock: Clock) -> None:
    """The oldest request leaves the window after exactly a minute, finished or not."""
    limits = UserLimits(requests_per_minute=2, parallel=10)
    assert begin(ledger, keyed(1), limits) == "begun"
    ledger.finish(keyed(1), None, USAGE)
    clock.now += 20
    assert begin(ledger, keyed(2), limits) == "begun"
    clock.now += 15
    assert limited(ledger, keyed(3), limits) == ("requests_per_minute", 25)
    assert begin(ledger, keyed(3, user="bob"), limits) == "begun"
    clock.now += 24
    assert limited(ledger, keyed(3), limits) == ("requests_per_minute", 1)
    clock.now += 1
    assert begin(ledger, keyed(3), limits) == "begun"
    assert limited(ledger, keyed(4), limits) == ("requests_per_minute", 20)


def test_what_is_left_of_a_minute(ledger: Ledger, clock: Clock) -> None:
    """Who begins a request learns how many more are allowed, and for how long."""
    limits = UserLimits(requests_per_minute=3, parallel=10)
    found = []
    for number in range(3):
        found.append(ledger.begin(keyed(number), limits, None, 0.0))
        clock.now += 10
    shown = [(it.left, round(it.reset)) for it in found if isinstance(it, Started)]
    assert shown == [(2, 60), (1, 50), (0, 40)]


def test_a_limit_that_was_lowered(ledger: Ledger) -> None:
    """With more requests than allowed, as many have to leave the window."""
    for number in range(3):
        begin(ledger, keyed(number), MANY)
    lower = UserLimits(requests_per_minute=1)
    assert limited(ledger, keyed(9), lower) == ("requests_per_minute", 60)


def test_a_clock_that_was_set_back(ledger: Ledger, clock: Clock) -> None:
    """Requests in the future limit nobody."""
    limits = UserLimits(requests_per_minute=1)
    begin(ledger, keyed(1), limits)
    clock.now -= 3600
    assert begin(ledger, keyed(2), limits) == "begun"


def test_a_request_without_a_call(ledger: Ledger) -> None:
    """If the model was not asked, it can be begun again, and counts nowhere."""
    limits = UserLimits(requests_per_minute=1, cost_per_month=1.0)
    for _ in range(3):
        assert begin(ledger, keyed(1), limits, None, 0.9) == "begun"
        ledger.finish(keyed(1), None, Usage())
    assert ledger.usage() == []
    assert begin(ledger, keyed(1), MANY, None) == "begun"


def test_parallel(ledger: Ledger, opened: Open) -> None:
    """What is running counts, of this user and in all processes, until it is finished."""
    limits = UserLimits(requests_per_minute=100, parallel=2)
    begin(ledger, keyed(1), limits, None)
    begin(opened(), keyed(2), limits, None)
    assert begin(ledger, keyed(3), limits, None) == LimitReached("parallel", None)
    assert begin(ledger, keyed(3, user="bob"), limits, None) == "begun"
    ledger.finish(keyed(1), b"text", USAGE)
    assert begin(ledger, keyed(3), limits, None) == "begun"
    ledger.finish(keyed(3), None, USAGE)
    assert begin(ledger, keyed(4), limits, None) == "begun"


def test_cost_per_month(ledger: Ledger, clock: Clock) -> None:
    """A user who has spent enough waits for the next month in UTC; others do not."""
    limits = UserLimits(cost_per_month=0.5)
    for number in range(2):
        assert begin(ledger, keyed(number), limits, None) == "begun"
        ledger.finish(keyed(number), b"text", USAGE)
    rest = END_OF_MONTH - START
    assert begin(ledger, keyed(2), limits, None) == LimitReached("cost_per_month", rest)
    assert begin(ledger, keyed(2, user="bob"), limits, None) == "begun"
    clock.now = END_OF_MONTH - 0.5
    assert begin(ledger, keyed(2), limits, None) == LimitReached("cost_per_month", 0.5)
    clock.now = END_OF_MONTH
    assert begin(ledger, keyed(2), limits, None) == "begun"


def test_max_cost(ledger: Ledger, clock: Clock) -> None:
    """What all users have cost in a month is limited too, whether they still exist or not."""
    for user in ("ann", "bob"):
        put_user(ledger, user, "a" * 64)
        assert begin(ledger, keyed(user=user), MANY, 0.5) == "begun"
        ledger.finish(keyed(user=user), None, USAGE)
        drop_user(ledger, user)
    limited = LimitReached("max_cost", END_OF_MONTH - START)
    assert begin(ledger, keyed(user="eve"), MANY, 0.5) == limited
    assert begin(ledger, keyed(user="eve"), MANY, 0.51) == "begun"
    clock.now = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
    ledger.finish(keyed(user="eve"), b"text", USAGE)
    assert begin(ledger, keyed(2, user="eve"), MANY, 0.25) == LimitReached("max_cost", 1)
    clock.now += 1
    assert begin(ledger, keyed(2, user="eve"), MANY, 0.25) == "begun"


def test_a_limit_that_is_reached_to_the_cent(ledger: Ledger) -> None:
    """Sums of binary fractions are a little too small: 0.7 and 0.1 are less than 0.8."""
    limits = UserLimits(cost_per_month=0.8)
    assert begin(ledger, keyed(1), limits, None) == "begun"
    ledger.finish(keyed(1), b"text", Usage(1, 1000, 500, 0.7))
    assert isinstance(begin(ledger, keyed(2), limits, None, 0.1), LimitReached)
    assert begin(ledger, keyed(2), limits, None, 0.09) == "begun"


def test_what_is_reserved(ledger: Ledger, opened: Open) -> None:
    """The estimates of what is running count as costs, in all processes, until it ends."""
    limits = UserLimits(cost_per_month=1.0)
    assert begin(ledger, keyed(1), limits, None, 0.4) == "begun"
    assert begin(ledger, keyed(2), limits, None, 0.4) == "begun"
    assert begin(ledger, keyed(3), limits, None, 0.4) == LimitReached("cost_per_month")
    assert begin(ledger, keyed(3, user="bob"), limits, 1.3, 0.4) == "begun"
    assert begin(ledger, keyed(4, user="eve"), limits, 1.3, 0.4) == LimitReached("max_cost")
    rest = END_OF_MONTH - START
    found = begin(ledger, keyed(4, user="eve"), limits, None, 1.0)
    assert found == LimitReached("cost_per_month", rest)
    ledger.finish(keyed(1), b"text", USAGE)
    ledger.finish(keyed(3, user="bob"), None, Usage())
    assert begin(ledger, keyed(3), limits, 1.3, 0.3) == "begun"
    ledger.finish(keyed(2), None, USAGE)
    ledger.finish(keyed(3), b"text", USAGE)
    assert cost(ledger) == 0.75
    assert begin(ledger, keyed(5), limits, None, 0.4) == LimitReached("cost_per_month", rest)


def test_the_order_of_the_limits(ledger: Ledger) -> None:
    """Costs come first, then the window, then what runs; what is known has no limit at all."""
    begin(ledger, keyed(1), MANY, None)
    begin(ledger, keyed(2), MANY, None)
    ledger.finish(keyed(2), b"text", USAGE)
    every = UserLimits(requests_per_minute=1, parallel=1, cost_per_month=0.1)
    rate = UserLimits(requests_per_minute=1, parallel=1)
    parallel = UserLimits(requests_per_minute=9, parallel=1)

    def limit(limits: UserLimits, max_cost: float | None) -> str:
        found = begin(ledger, keyed(3), limits, max_cost)
        assert isinstance(found, LimitReached)
        return found.limit

    assert limit(every, 0.1) == "max_cost"
    assert limit(every, None) == "cost_per_month"
    assert limit(rate, None) == "requests_per_minute"
    assert limit(parallel, None) == "parallel"
    assert begin(ledger, keyed(1), every, 0.1) == "running"
    assert begin(ledger, keyed(2), every, 0.1) == b"text"
    assert begin(ledger, keyed(2, body="other"), every, 0.1) == "other body"


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
    limits = UserLimits(cost_per_month=0.5)
    assert isinstance(begin(ledger, keyed(4), limits, None), LimitReached)
    assert begin(ledger, keyed(4), UserLimits(cost_per_month=0.51), 0.51) == "begun"


# --- many at once --------------------------------------------------------------------------------


PROGRAM = """
import os, sys, time
from pathlib import Path
from mkdocs_contentgen.served.databases import PostgreSQL, SQLite
from mkdocs_contentgen.served.ledger import *
from mkdocs_contentgen.served.users import *
from ledger_calls import *
from mkdocs_contentgen.writer.models.usage import Usage
address = sys.argv[1]
many = UserLimits(requests_per_minute=1000, parallel=1000)
keyed = lambda number: KeyedRequest("ann", f"{number:064x}", "f" * 64)
"""


def start(address: object, code: str) -> subprocess.Popen[str]:
    """Start a process with a ledger."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM + code, str(address)],
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
with open_ledger(address, Path()) as ledger:
    begin(ledger, keyed(99), many, None)
    print("ready", flush=True)
    input()
    begun = [n for n in range(50) if begin(ledger, keyed(n), many, None) == "begun"]
    print(*begun, flush=True)
    input()
"""
    processes = [start(address, code) for _ in range(3)]
    try:
        assert [hear(process) for process in processes] == ["ready"] * 3
        for process in processes:
            say(process, "go")
        return [number for process in processes for number in hear(process).split()]
    finally:
        for process in processes:
            process.communicate("end\n", timeout=60)


@pytest.mark.system
def test_processes_that_begin_the_same_requests(address: str) -> None:
    """Each request is begun by one of them, and all can create the tables."""
    assert sorted(map(int, race(address))) == list(range(50))


def test_a_dead_process(address: str, clock: Clock) -> None:
    """A process that has just been started judges nobody before the others can have been heard.

    Then what the dead one was writing counts for no limit, and its late answer replaces none.
    """
    one = UserLimits(requests_per_minute=1000, parallel=1)
    with connect(address, clock=clock) as dead, connect(address, clock=clock, lease=0.5) as other:
        begin(dead, keyed(1), one)
        clock.now += 100
        assert begin(other, keyed(1), one) == "running"
        assert begin(other, keyed(2), one) == LimitReached("parallel")
        started = time.monotonic()

        def beats() -> bool:
            other.beat()
            return time.monotonic() - started > 0.6

        wait_until(beats)
        dead.beat()  # it was only late
        assert begin(other, keyed(1), one) == "running"
        clock.now += 100
        wait_until(
            lambda: begin(other, keyed(1), one) == "begun"
        )  # or it has just been late itself
        dead.beat()
        dead.finish(keyed(1), None, USAGE)
        assert begin(dead, keyed(1), one) == "running"
        other.finish(keyed(1), b"text", USAGE)
        assert dead.finish(keyed(1), b"late", USAGE) == b"text"
        assert (other.usage()[0].texts, other.usage()[0].failed) == (2, 1)


def test_many_threads(opened: Open) -> None:
    """Threads that share a ledger pass no limit, and count everything once."""
    ledger, limits = (
        opened(),
        UserLimits(requests_per_minute=1000, parallel=1000, cost_per_month=10.0),
    )

    def work(worker: int) -> None:
        for number in range(20):
            request = keyed(number % 15, user=f"user{worker % 2}")
            if begin(ledger, request, limits, 15.0, 0.5) == "begun":
                ledger.save_parts(request, b"part", Usage(1, 1, 1, 0.25))
                ledger.finish(request, b"text" * number, Usage(2, 2, 2, 0.5))
            ledger.beat()

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    months = ledger.usage()
    assert sum(month.texts for month in months) == 29  # the 30th would reach `max_cost`
    assert sum((month.usage for month in months), Usage()) == Usage(58, 58, 58, 14.5)


def test_a_path(tmp_path: Path) -> None:
    """It is relative to the directory that is given, and not that of the process."""
    with open_ledger("writer.db", tmp_path) as ledger:
        put_user(ledger, "ann", "a" * 64)
    with open_ledger(str(tmp_path / "writer.db"), Path("/nowhere")) as ledger:
        assert token_hash(ledger, "ann") == "a" * 64


# --- SQLite --------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the file of a ledger is to be."""
    return tmp_path / "writer.db"


def refused(path: Path) -> str:
    """Return the error for a file that cannot be used, which is one line with its path."""
    with pytest.raises(LedgerError) as caught:
        Ledger(SQLite(path, timeout=0.3))
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_the_files(path: Path) -> None:
    """Nobody else can read them, and they are written with each change."""
    with connect(str(path)) as ledger:
        put_user(ledger, "ann", "a" * 64)
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
        assert set(modes) == {"writer.db", "writer.db-wal", "writer.db-shm"}
        assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("content", [b"users: [ann]\n" * 100, b"SQLite format 3\0" + b"\7" * 5000])
def test_a_file_that_is_no_database(path: Path, content: bytes) -> None:
    """It is refused, and stays as it was."""
    path.write_bytes(content)
    assert "file is not a database" in refused(path)
    assert path.read_bytes() == content


def test_a_damaged_file(path: Path) -> None:
    """The error says so."""
    with connect(str(path)) as ledger:
        for number in range(20):
            ledger.finish(keyed(number), b"text" * 5000, USAGE)
    content = bytearray(path.read_bytes())
    content[4096:-4096] = os.urandom(len(content) - 8192)
    path.write_bytes(content)
    with connect(str(path)) as ledger, pytest.raises(LedgerError, match="replaced by a backup"):
        ledger.finish(keyed(99), b"text", USAGE)


def test_a_locked_file(path: Path) -> None:
    """Who has to wait too long for another program is told so, and nothing has changed."""
    with (
        Ledger(SQLite(path, timeout=0.1)) as ledger,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="database is locked"):
            begin(ledger, keyed(), MANY, None)
        assert ledger.users().get("ann") is None
        other.execute("ROLLBACK")
        assert begin(ledger, keyed(), MANY, None) == "begun"


def test_a_file_that_another_program_creates(path: Path) -> None:
    """Who comes while it is made waits, rather than to be told at once that it is locked."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        assert "database is locked" in refused(path)
        assert time.monotonic() - started > 0.3


def test_paths_that_cannot_be_used(tmp_path: Path) -> None:
    """The error says what to do."""
    assert "No such file or directory" in refused(tmp_path / "none/writer.db")
    assert "unable to open database file" in refused(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written(path: Path) -> None:
    """It is refused, with and without a ledger in it."""
    path.parent.chmod(0o500)
    assert "Permission denied" in refused(path)
    path.parent.chmod(0o700)
    connect(str(path)).__exit__()
    path.parent.chmod(0o500)
    assert "directory can be written" in refused(path)
    path.parent.chmod(0o700)


def test_a_full_disk(path: Path) -> None:
    """What does not fit is an error, also for a beat, and what was there before is still there."""
    code = """
import resource
from mkdocs_contentgen.errors import LedgerError
with open_ledger(address, Path()) as ledger:
    ledger.finish(keyed(1), b"text", Usage(1, 2, 3, 0.5))
    size = Path(address + "-wal").stat().st_size
    large = lambda: ledger.finish(keyed(2), b"x" * 200_000, Usage(1, 2, 3, 0.5))
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    for call, room in ((large, size), (ledger.beat, 4000)):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, unlimited[1]))
        try:
            call()
        except LedgerError as error:
            print(error, flush=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    print(ledger.usage()[0].texts, flush=True)
"""
    *messages, after = start(path, code).communicate(timeout=60)[0].splitlines()
    assert len(messages) == 2
    for message in messages:
        assert "cannot be used (disk I/O error); make sure that" in message
    assert after == "1"


# --- PostgreSQL ----------------------------------------------------------------------------------


def unavailable(use: Callable[[], object]) -> str:
    """Return the message of an error that names the server, and shows no password."""
    with pytest.raises(LedgerError) as caught:
        use()
    message = str(caught.value)
    assert PASSWORD not in message
    assert QUOTED not in message
    assert message.startswith("the ledger on 127.0.0.1 cannot be used (")
    assert message.isprintable()
    return message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://writer:s3cret@ho@st/contentgen",
        "postgres//writer:s3cret@host",
        "redis://:s3cret@host:6379",
        "postgresql://writer:s3cret@host?colour=s3cret",
        " postgresql://:s3cret@host",
    ],
)
def test_an_address_that_is_none(tmp_path: Path, url: str) -> None:
    """It is refused and not shown, since it can contain a password."""
    with pytest.raises(ConfigurationError, match=r"^ledger: is not an address such as") as caught:
        open_ledger(url, tmp_path)
    assert "s3cret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_nobody_listens() -> None:
    """The message says so."""
    message = unavailable(lambda: connect(f"postgresql://writer:{QUOTED}@127.0.0.1:1/contentgen"))
    assert message.endswith(
        "(Connection refused); make sure that the server runs and can be written, and that "
        "`ledger` has its address, user and password"
    )


def test_a_wrong_password(postgres: PostgresServer) -> None:
    """It is named as the reason, and not shown."""
    wrong = postgres.url.replace(QUOTED, "wr0ng-s3cret")
    message = unavailable(lambda: connect(wrong))
    assert 'password authentication failed for user "writer"' in message
    assert "wr0ng" not in message


def test_a_server_that_is_read_only(postgres: PostgresServer) -> None:
    """As after a failover, a beat says so, and later calls are to the one that can be written."""
    with connect(postgres.url) as ledger:
        postgres.run("ALTER DATABASE postgres SET default_transaction_read_only = on")
        try:
            postgres.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            assert ledger.usage() == []
            with pytest.raises(LedgerError) as caught:
                ledger.beat()
            assert "read-only transaction" in caught.value.cause
        finally:
            postgres.run("ALTER DATABASE postgres RESET default_transaction_read_only")
        assert begin(ledger, keyed(), MANY) == "begun"


def test_a_restart_of_the_database(postgres: PostgresServer) -> None:
    """What was kept is there, and the first call afterwards needs no second one."""
    with connect(postgres.url) as ledger:
        begin(ledger, keyed(1), MANY)
        ledger.finish(keyed(1), b"text", USAGE)
        begin(ledger, keyed(2), MANY)
        postgres.stop()
        message = unavailable(lambda: begin(ledger, keyed(1), MANY))
        assert "make sure that the server runs" in message
        postgres.start()
        assert begin(ledger, keyed(1), MANY) == b"text"
        assert begin(ledger, keyed(2), MANY) == "running"


def test_a_beat_that_comes_late(postgres: PostgresServer, clock: Clock) -> None:
    """Who is about to take over a request waits for it, and leaves the request to its process."""
    with (
        connect(postgres.url, clock=clock) as late,
        connect(postgres.url, clock=clock, lease=0.4) as other,
        psycopg.connect(postgres.url) as beat,
        ThreadPoolExecutor(1) as pool,
    ):
        begin(late, keyed(), MANY)
        clock.now += 100
        started = time.monotonic()

        def beats() -> bool:
            other.beat()
            return time.monotonic() - started > 0.5

        wait_until(beats)
        beat.execute("UPDATE contentgen_requests SET lease = lease + 1000")
        begun = pool.submit(begin, other, keyed(), MANY)
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        wait_until(lambda: postgres.run(waiting))
        beat.commit()
        assert begun.result(60) == "running"


def test_a_lock_that_lasts(postgres: PostgresServer) -> None:
    """Who has to wait too long for another program is told so."""
    with connect(postgres.url) as ledger, psycopg.connect(postgres.url) as other:
        other.execute("LOCK TABLE contentgen_attempts")
        message = unavailable(lambda: begin(ledger, keyed(), MANY))
        assert "lock timeout" in message or "statement timeout" in message
        other.rollback()
        assert begin(ledger, keyed(), MANY) == "begun"


def test_answers_of_the_database_that_are_lost(postgres: PostgresServer) -> None:
    """After an error, the caller can do the same again, and everything counts once."""
    limits = UserLimits(requests_per_minute=10, parallel=1)
    with losing(postgres.port) as proxy:
        url = postgres.url.replace(str(postgres.port), str(proxy.port))
        with connect(url, lease=0.3) as ledger, connect(postgres.url) as other:
            proxy.statement = b"COMMIT\0"
            proxy.losses = 1
            unavailable(lambda: begin(ledger, keyed(), limits))
            assert begin(other, keyed(), limits) == "running"

            def begin_again() -> bool:
                ledger.beat()
                return begin(ledger, keyed(), limits) == "begun"

            wait_until(begin_again)
            calls: list[Callable[[], object]] = [
                lambda: ledger.save_parts(keyed(), b"part", Usage(1, 500, 250, 0.125)),
                lambda: ledger.finish(keyed(), b"text", USAGE),
            ]
            for call in calls:
                proxy.losses = 1
                unavailable(call)
                call()
            assert proxy.losses == 0
            assert begin(other, keyed(), limits) == b"text"
            (month,) = other.usage()
            assert (month.texts, month.failed, month.usage) == (1, 0, USAGE)

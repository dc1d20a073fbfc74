"""The ledgers of the served writer: what both promise, and what can go wrong with each."""

from __future__ import annotations

import os
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import wait_until
from redis_server import PASSWORD, QUOTED, RedisServer, redis_running

from mkdocs_contentgen.errors import ConfigurationError, LedgerError
from mkdocs_contentgen.service.writer.ledger import SharedLedger, SQLiteLedger, open_ledger
from mkdocs_contentgen.service.writer.ledger.protocol import (
    Beginning,
    KeyedRequest,
    Ledger,
    Limited,
    Limits,
)
from mkdocs_contentgen.service.writer.usage import Usage

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

    def __call__(self) -> float:
        """Return the seconds since 1970."""
        return self.now


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
                else SQLiteLedger(tmp_path / "writer.db", serving=False, clock=clock)
            )
            return stack.enter_context(ledger)

        yield open_again


@pytest.fixture
def ledger(opened: Open) -> Ledger:
    """Return an empty ledger."""
    return opened()


# --- users ---------------------------------------------------------------------------------------


def test_users(ledger: Ledger, opened: Open, clock: Clock) -> None:
    """A user has one token until the user is removed, and every process knows the user."""
    assert ledger.users() == {}
    assert ledger.token_hash("ann") is None
    assert ledger.add_user("ann", "a" * 64)
    clock.now += 10
    assert ledger.add_user("Bob.2@example-site", "b" * 64)
    assert not opened().add_user("ann", "c" * 64)
    assert opened().token_hash("ann") == "a" * 64
    assert {name: added.timestamp() for name, added in opened().users().items()} == {
        "ann": START,
        "Bob.2@example-site": START + 10,
    }
    assert ledger.remove_user("ann")
    assert not ledger.remove_user("ann")
    assert opened().token_hash("ann") is None


@pytest.mark.parametrize("name", ["", "-a", "a b", "a:b", "a\n", "x" * 65, "ä", "a/b"])
def test_a_name_that_no_user_can_have(ledger: Ledger, name: str) -> None:
    """Names are those that go into addresses and keys as they are."""
    with pytest.raises(LedgerError, match="the name of a user"):
        ledger.add_user(name, "a" * 64)
    assert ledger.users() == {}


# --- requests ------------------------------------------------------------------------------------


def test_a_request_and_its_answer(ledger: Ledger, opened: Open) -> None:
    """A request is begun once, runs, and is answered from then on, in each process."""
    assert ledger.begin(keyed(), MANY, None) == "begun"
    assert ledger.begin(keyed(), MANY, None) == "running"
    assert opened().begin(keyed(), MANY, None) == "running"
    body = b'{"content": "\xc3\xa4\x00"}'
    ledger.finish(keyed(), body, USAGE)
    assert ledger.begin(keyed(), MANY, None) == body
    assert opened().begin(keyed(), MANY, None) == body


def test_the_same_key_with_another_body(ledger: Ledger) -> None:
    """A key is for one body, while its text is written and afterwards."""
    ledger.begin(keyed(), MANY, None)
    assert ledger.begin(keyed(body="other"), MANY, None) == "other body"
    ledger.finish(keyed(), b"{}", USAGE)
    assert ledger.begin(keyed(body="other"), MANY, None) == "other body"


def test_the_same_key_of_another_user(ledger: Ledger) -> None:
    """Each user has keys of their own."""
    ledger.begin(keyed(), MANY, None)
    assert ledger.begin(keyed(user="bob"), MANY, None) == "begun"
    ledger.finish(keyed(), b"{}", USAGE)
    assert ledger.begin(keyed(user="bob"), MANY, None) == "running"


def test_a_text_that_failed(ledger: Ledger) -> None:
    """It can be begun again, also for another body, and what it took is counted."""
    ledger.begin(keyed(), MANY, None)
    ledger.finish(keyed(), None, USAGE)
    assert ledger.begin(keyed(body="other"), MANY, None) == "begun"
    (month,) = ledger.usage()
    assert (month.texts, month.failed, month.usage) == (0, 1, USAGE)


def test_two_answers_for_one_request(ledger: Ledger, opened: Open) -> None:
    """The first one stays, whatever the other brings, but both have cost something."""
    ledger.begin(keyed(), MANY, None)
    ledger.finish(keyed(), b"first", USAGE)
    opened().finish(keyed(), b"second", USAGE)
    opened().finish(keyed(), None, USAGE)
    opened().finish(keyed(body="other"), b"third", USAGE)
    assert ledger.begin(keyed(), MANY, None) == b"first"
    (month,) = ledger.usage()
    assert (month.texts, month.failed, month.usage.calls) == (3, 1, 8)


def test_an_answer_that_was_never_begun(ledger: Ledger) -> None:
    """A text that was paid for is kept, even if the ledger has lost its request."""
    ledger.finish(keyed(), b"text", USAGE)
    assert ledger.begin(keyed(), MANY, None) == b"text"


def test_parts(ledger: Ledger, opened: Open, clock: Clock) -> None:
    """The parts of a text are kept for its request until they are dropped or old."""
    assert ledger.load_parts(keyed()) == b""
    ledger.save_parts(keyed(), b"one")
    ledger.save_parts(keyed(), b"\x00two" * 50_000)
    ledger.save_parts(keyed(2), b"other")
    assert opened().load_parts(keyed()) == b"\x00two" * 50_000
    assert opened().load_parts(keyed(body="another")) == b""
    assert opened().load_parts(keyed(user="bob")) == b""
    ledger.save_parts(keyed(), b"")
    assert ledger.load_parts(keyed()) == b""
    if isinstance(ledger, SQLiteLedger):  # Redis drops them by its own clock
        clock.now += 100
        ledger.expire(50)
        assert ledger.load_parts(keyed(2)) == b""


def test_large_parts(ledger: Ledger) -> None:
    """Parts that are too large for the ledger are not kept, since they could not be read."""
    ledger.save_parts(keyed(), b"small")
    large = bytes(5_000_000)
    ledger.save_parts(keyed(), large)
    assert ledger.load_parts(keyed()) in (b"", large)


def test_large_answers(ledger: Ledger) -> None:
    """An answer of the largest text comes back as it was."""
    body = os.urandom(1024) * 2000
    ledger.begin(keyed(), MANY, None)
    ledger.finish(keyed(), body, USAGE)
    assert ledger.begin(keyed(), MANY, None) == body


def test_old_answers(ledger: Ledger, clock: Clock) -> None:
    """They are dropped after the time that is asked for; what runs, and usage, is not."""
    for number in range(1, 6):
        ledger.begin(keyed(number), MANY, None)
    for number in range(1, 5):
        ledger.finish(keyed(number), b"text", USAGE)
        clock.now += 100
    assert ledger.expire(1000) == 0
    assert ledger.expire(250) == 2
    assert ledger.expire(250) == 0
    found = [ledger.begin(keyed(number), MANY, None) for number in range(1, 6)]
    assert found == ["begun", "begun", b"text", b"text", "running"]
    assert ledger.usage()[0].texts == 4


# --- limits --------------------------------------------------------------------------------------


def test_requests_per_minute(ledger: Ledger, clock: Clock) -> None:
    """The oldest request leaves the window after exactly a minute, finished or not."""
    limits = Limits(requests_per_minute=2, parallel=10)
    assert ledger.begin(keyed(1), limits, None) == "begun"
    ledger.finish(keyed(1), None, USAGE)
    clock.now += 20
    assert ledger.begin(keyed(2), limits, None) == "begun"
    clock.now += 15
    assert ledger.begin(keyed(3), limits, None) == Limited("requests_per_minute", 25)
    assert ledger.begin(keyed(3, user="bob"), limits, None) == "begun"
    clock.now += 24.5
    assert ledger.begin(keyed(3), limits, None) == Limited("requests_per_minute", 0.5)
    clock.now += 0.5
    assert ledger.begin(keyed(3), limits, None) == "begun"
    assert ledger.begin(keyed(4), limits, None) == Limited("requests_per_minute", 20)


def test_a_limit_that_was_lowered(ledger: Ledger) -> None:
    """With more requests than allowed, as many have to leave the window."""
    for number in range(3):
        ledger.begin(keyed(number), MANY, None)
    lower = Limits(requests_per_minute=1)
    assert ledger.begin(keyed(9), lower, None) == Limited("requests_per_minute", 60)


def test_a_clock_that_was_set_back(ledger: Ledger, clock: Clock) -> None:
    """Requests in the future limit nobody for longer than a minute."""
    limits = Limits(requests_per_minute=1)
    clock.now += 3600
    ledger.begin(keyed(1), limits, None)
    clock.now -= 3600
    assert ledger.begin(keyed(2), limits, None) == "begun"
    clock.now -= 50
    assert ledger.begin(keyed(3), limits, None) == Limited("requests_per_minute", 60)


def test_withdrawn(ledger: Ledger) -> None:
    """A request for which nothing was written can be begun again, and counts nowhere."""
    ledger.begin(keyed(1), MANY, None)
    ledger.withdraw(keyed(1))
    assert ledger.usage() == []
    assert ledger.begin(keyed(1), MANY, None) == "begun"


def test_parallel(ledger: Ledger, opened: Open) -> None:
    """What is running counts, of this user and in all processes, until it is finished."""
    limits = Limits(requests_per_minute=100, parallel=2)
    ledger.begin(keyed(1), limits, None)
    opened().begin(keyed(2), limits, None)
    assert ledger.begin(keyed(3), limits, None) == Limited("parallel", None)
    assert ledger.begin(keyed(3, user="bob"), limits, None) == "begun"
    ledger.finish(keyed(1), b"text", USAGE)
    assert ledger.begin(keyed(3), limits, None) == "begun"
    ledger.finish(keyed(3), None, USAGE)
    assert ledger.begin(keyed(4), limits, None) == "begun"


def test_cost_per_month(ledger: Ledger, clock: Clock) -> None:
    """A user who has spent enough waits for the next month in UTC; others do not."""
    limits = Limits(cost_per_month=0.5)
    for number in range(2):
        assert ledger.begin(keyed(number), limits, None) == "begun"
        ledger.finish(keyed(number), b"text", USAGE)
    rest = END_OF_MONTH - START
    assert ledger.begin(keyed(2), limits, None) == Limited("cost_per_month", rest)
    assert ledger.begin(keyed(2, user="bob"), limits, None) == "begun"
    clock.now = END_OF_MONTH - 0.5
    assert ledger.begin(keyed(2), limits, None) == Limited("cost_per_month", 0.5)
    clock.now = END_OF_MONTH
    assert ledger.begin(keyed(2), limits, None) == "begun"


def test_max_cost(ledger: Ledger, clock: Clock) -> None:
    """What all users have cost in a month is limited too, whether they still exist or not."""
    for user in ("ann", "bob"):
        ledger.add_user(user, "a" * 64)
        assert ledger.begin(keyed(user=user), MANY, 0.5) == "begun"
        ledger.finish(keyed(user=user), None, USAGE)
        ledger.remove_user(user)
    limited = Limited("max_cost", END_OF_MONTH - START)
    assert ledger.begin(keyed(user="eve"), MANY, 0.5) == limited
    assert ledger.begin(keyed(user="eve"), MANY, 0.51) == "begun"
    clock.now = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
    ledger.finish(keyed(user="eve"), b"text", USAGE)
    assert ledger.begin(keyed(2, user="eve"), MANY, 0.25) == Limited("max_cost", 1)
    clock.now += 1
    assert ledger.begin(keyed(2, user="eve"), MANY, 0.25) == "begun"


def test_over_budget(ledger: Ledger) -> None:
    """A request that has begun can ask whether a limit on cost was reached since then."""
    both = Limits(cost_per_month=0.2)
    assert ledger.over_budget("ann", both, 0.5) is None
    for user in ("ann", "bob"):
        assert ledger.begin(keyed(user=user), both, 0.5) == "begun"
        ledger.finish(keyed(user=user), None, USAGE)
    rest = END_OF_MONTH - START
    assert ledger.over_budget("ann", both, 0.5) == Limited("max_cost", rest)
    assert ledger.over_budget("ann", both, 0.6) == Limited("cost_per_month", rest)
    assert ledger.over_budget("eve", both, 0.6) is None
    assert ledger.over_budget("ann", MANY, None) is None


def test_the_order_of_the_limits(ledger: Ledger) -> None:
    """Costs come first, then the window, then what runs; what is known has no limit at all."""
    ledger.begin(keyed(1), MANY, None)
    ledger.begin(keyed(2), MANY, None)
    ledger.finish(keyed(2), b"text", USAGE)
    every = Limits(requests_per_minute=1, parallel=1, cost_per_month=0.1)
    rate = Limits(requests_per_minute=1, parallel=1)
    parallel = Limits(requests_per_minute=9, parallel=1)

    def limit(limits: Limits, max_cost: float | None) -> str:
        found: Beginning = ledger.begin(keyed(3), limits, max_cost)
        assert isinstance(found, Limited)
        return found.limit

    assert limit(every, 0.1) == "max_cost"
    assert limit(every, None) == "cost_per_month"
    assert limit(rate, None) == "requests_per_minute"
    assert limit(parallel, None) == "parallel"
    assert ledger.begin(keyed(1), every, 0.1) == "running"
    assert ledger.begin(keyed(2), every, 0.1) == b"text"
    assert ledger.begin(keyed(2, body="other"), every, 0.1) == "other body"


# --- usage ---------------------------------------------------------------------------------------


def test_usage(ledger: Ledger, opened: Open, clock: Clock) -> None:
    """It is added up by month and user, and stays when the user is gone."""
    assert ledger.usage() == []
    for user, body in (("bob", b"text"), ("ann", b"text"), ("ann", None), ("ann", b"text")):
        ledger.finish(keyed(user=user), body, USAGE)
    clock.now = END_OF_MONTH
    ledger.finish(keyed(user="ann"), b"text", Usage(1, 2, 3, 0.5))
    ledger.remove_user("ann")
    rows = [(u.month, u.user, u.texts, u.failed, u.usage) for u in opened().usage()]
    assert rows == [
        ("2026-11", "ann", 2, 1, Usage(6, 3000, 1500, 0.75)),
        ("2026-11", "bob", 1, 0, USAGE),
        ("2026-12", "ann", 1, 0, Usage(1, 2, 3, 0.5)),
    ]


def test_calls_without_a_price(ledger: Ledger) -> None:
    """They make the cost of the month unknown, and count nothing towards limits."""
    ledger.finish(keyed(1), b"text", USAGE)
    ledger.finish(keyed(2), b"text", Usage(1, 10, 20, None))
    ledger.finish(keyed(3), b"text", USAGE)
    (month,) = ledger.usage()
    assert month.usage == Usage(5, 2010, 1020, None)
    limits = Limits(cost_per_month=0.5)
    assert isinstance(ledger.begin(keyed(4), limits, None), Limited)
    assert ledger.begin(keyed(4), Limits(cost_per_month=0.51), 0.51) == "begun"


def test_no_problems(ledger: Ledger) -> None:
    """With usual settings there is nothing to warn of, and a beat changes nothing."""
    ledger.begin(keyed(), MANY, None)
    ledger.beat()
    assert ledger.begin(keyed(), MANY, None) == "running"
    assert ledger.problems() == []


# --- many at once --------------------------------------------------------------------------------


def test_threads_that_begin_the_same_requests(opened: Open) -> None:
    """Of many who begin a request at the same time, one may write its text."""
    ledgers = [opened() for _ in range(6)]
    barrier = threading.Barrier(6)
    found: list[tuple[int, Beginning]] = []

    def begin_all(ledger: Ledger) -> None:
        for number in range(20):
            barrier.wait(60)
            found.append((number, ledger.begin(keyed(number), MANY, None)))

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
from mkdocs_contentgen.service.writer.ledger import open_ledger
from mkdocs_contentgen.service.writer.ledger.protocol import *
from mkdocs_contentgen.service.writer.usage import Usage
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
    ledger.begin(keyed(99), many, None)
    print("ready", flush=True)
    input()
    begun = [n for n in range(50) if ledger.begin(keyed(n), many, None) == "begun"]
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
    print(ledger.begin(keyed(1), many, None), flush=True)
    ledger.begin(keyed(2), many, None)
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
        lambda: ledger.token_hash("ann"),
        lambda: ledger.begin(keyed(1), limits, 9.0),
        lambda: ledger.begin(keyed(3), limits, 9.0),
        lambda: ledger.over_budget("ann", limits, 9.0),
        lambda: ledger.finish(keyed(3), b"text", USAGE),
        lambda: sum((month.usage.tokens for month in ledger.usage()), 0),
        lambda: ledger.expire(0),
        ledger.beat,
        lambda: ledger.add_user("bob", "b" * 64),
        lambda: ledger.remove_user("ann"),
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
    print(ledger.add_user("ann", "a" * 64))
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
        ledger.add_user("ann", "a" * 64)
    with open_ledger(str(tmp_path / "writer.db"), Path("/nowhere"), serving=False) as ledger:
        assert ledger.token_hash("ann") == "a" * 64


def test_the_files(path: Path) -> None:
    """Nobody else can read them, and they are written with each change."""
    with SQLiteLedger(path, serving=True) as ledger:
        ledger.add_user("ann", "a" * 64)
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
        assert set(modes) == {"writer.db", "writer.db-wal", "writer.db-shm", "writer.db.lock"}
        assert set(modes.values()) == {0o600}


def test_a_second_server(path: Path) -> None:
    """One process serves with a file, while commands use it too; then another one can."""
    first = SQLiteLedger(path, serving=True)
    first.begin(keyed(), MANY, None)
    with pytest.raises(LedgerError, match=r"is in use by another server.*redis://"):
        SQLiteLedger(path, serving=True)
    with SQLiteLedger(path, serving=False) as command:
        command.add_user("ann", "a" * 64)
        assert command.usage() == []
    assert first.begin(keyed(), MANY, None) == "running"
    assert first.token_hash("ann") == "a" * 64
    first.__exit__()
    with SQLiteLedger(path, serving=True) as second:
        assert second.token_hash("ann") == "a" * 64


@pytest.mark.system
def test_a_server_that_was_killed(path: Path) -> None:
    """Its answers and its usage are there, and what it was writing can be begun again."""
    process = start(path, "", HOLD)
    assert (hear(process), hear(process)) == ("begun", "done")
    process.kill()
    process.communicate()
    with SQLiteLedger(path, serving=False) as command:
        assert command.begin(held(1), MANY, None) == "running"
    with SQLiteLedger(path, serving=True) as ledger:
        assert ledger.begin(held(2), MANY, None) == b"text"
        assert ledger.begin(held(1), Limits(parallel=1), None) == "begun"
        assert ledger.usage()[0].texts == 1


def test_a_worker_thread(path: Path) -> None:
    """The ledger can be used by another thread than the one that opened it."""
    found: list[Beginning] = []
    with SQLiteLedger(path, serving=True) as ledger:
        thread = threading.Thread(target=lambda: found.append(ledger.begin(keyed(), MANY, None)))
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
        database.execute("PRAGMA user_version = 2")
    assert "is of a newer mkdocs-contentgen than this one; update it" in refused(path)


@pytest.mark.parametrize("page", [1, 2, 3, 5])
def test_a_damaged_file(path: Path, page: int) -> None:
    """Whatever is damaged, each method works or raises LedgerError."""
    with SQLiteLedger(path, serving=False) as ledger:
        ledger.add_user("ann", "a" * 64)
        ledger.begin(keyed(1), MANY, None)
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
        "UPDATE users SET added = 'yesterday', token_hash = x'ff'",
        "UPDATE users SET added = 1e300",
        "UPDATE users SET name = CAST(x'ff' AS TEXT)",
        "UPDATE usage SET texts = 'many', calls = x'00', cost = 'nan'",
        "UPDATE recent_requests SET at = 'soon'",
        "DROP TABLE requests",
        "DROP TABLE usage",
    ],
)
def test_damaged_rows(path: Path, statement: str) -> None:
    """Values of the wrong type crash nothing."""
    with SQLiteLedger(path, serving=False) as ledger:
        ledger.add_user("ann", "a" * 64)
        ledger.begin(keyed(1), MANY, None)
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
                ledger.begin(keyed(), MANY, None)
        assert ledger.begin(keyed(), MANY, None) == "begun"


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
    print(ledger.begin(keyed(1), many, None), ledger.usage()[0].texts, flush=True)
"""
    process = start(path, "", code)
    message, after = process.communicate(timeout=60)[0].splitlines()
    assert "cannot be used (disk I/O error); make sure that the disk works" in message
    assert after == "b'text' 1"


# --- Redis ---------------------------------------------------------------------------------------


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
        ledger.add_user("ann", "a" * 64)
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


def test_an_option_that_redis_does_not_know(tmp_path: Path) -> None:
    """What follows the `?` is checked when the ledger is opened."""
    with pytest.raises(ConfigurationError, match=r"^ledger: the package redis refuses"):
        open_ledger("redis://:s3cret@127.0.0.1:1?colour=blue", tmp_path, serving=True)


def test_owners_that_live_and_die(redis: RedisServer, clock: Clock) -> None:
    """What a process writes is left to it while it beats, and to others when it is dead."""
    with ExitStack() as stack:
        process = start(redis.url, "beat", HOLD)
        stack.callback(process.communicate)
        stack.callback(process.kill)
        assert hear(process) == "begun"
        other = stack.enter_context(shared(redis, clock, grace=1))
        one = Limits(requests_per_minute=1000, parallel=1)

        def begin() -> Beginning:
            other.beat()
            return other.begin(held(1), one, None)

        wait_until(lambda: other.begin(held(2), one, None) == b"text")
        lived_until = time.monotonic() + 2.5
        while time.monotonic() < lived_until:
            assert begin() == "running"
            assert other.begin(held(3), one, None) == Limited("parallel")
            time.sleep(0.1)
        process.kill()
        assert begin() == "running"
        wait_until(lambda: begin() == "begun")
        assert begin() == "running"
        assert other.begin(held(3), one, None) == Limited("parallel")


def test_the_slots_of_a_dead_owner(redis: RedisServer, clock: Clock) -> None:
    """What it was writing does not count for `parallel` any more."""
    dead = shared(redis, clock)
    dead.begin(keyed(1), MANY, None)
    dead.__exit__()
    one = Limits(requests_per_minute=1000, parallel=1)
    with shared(redis, clock, grace=1) as other:
        assert other.begin(keyed(2), one, None) == Limited("parallel")
        wait_until(lambda: other.begin(keyed(2), one, None) == "begun")


def test_a_process_that_was_away(redis: RedisServer, clock: Clock) -> None:
    """Who has not reached the server for long cannot tell that others are dead."""
    dead = shared(redis, clock)
    dead.begin(keyed(1), MANY, None)
    dead.__exit__()
    with shared(redis, clock, grace=0.3) as other:
        other.beat()
        time.sleep(1)
        assert other.begin(keyed(1), MANY, None) == "running"
        wait_until(lambda: other.begin(keyed(1), MANY, None) == "begun")


def test_a_text_of_a_process_that_seemed_dead(redis: RedisServer, clock: Clock) -> None:
    """It is kept if it comes first, a failure of it changes nothing, and both are counted."""
    slow = shared(redis, clock)
    for number in (1, 2):
        slow.begin(keyed(number), MANY, None)
    with slow, shared(redis, clock, grace=1) as other:
        for number in (1, 2):
            wait_until(lambda: other.begin(keyed(number), MANY, None) == "begun")  # noqa: B023
        slow.finish(keyed(1), b"slow", USAGE)
        slow.finish(keyed(2), None, USAGE)
        assert slow.begin(keyed(2), MANY, None) == "running"
        other.finish(keyed(1), b"other", USAGE)
        other.finish(keyed(2), b"other", USAGE)
        assert other.begin(keyed(1), MANY, None) == b"slow"
        assert other.begin(keyed(2), MANY, None) == b"other"
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
        ledger.add_user("ann", "a" * 64)
        for number in range(50):
            ledger.begin(keyed(number), MANY, None)
            if number % 2:
                ledger.finish(keyed(number), b"text", USAGE)
        server.kill()
        assert "(Connection refused); make sure that" in unavailable(ledger.beat)
        unavailable(lambda: ledger.begin(keyed(1), MANY, None))
        unavailable(lambda: ledger.finish(keyed(0), b"text", USAGE))
        unavailable(ledger.problems)
        time.sleep(1.2)
        stack.enter_context(redis_running("--port", str(server.port), *files))
        assert other.begin(keyed(0), MANY, None) == "running"
        ledger.beat()
        outcomes = [other.begin(keyed(number), MANY, None) for number in range(50)]
        assert outcomes == ["running", b"text"] * 25
        ledger.finish(keyed(0), b"text", USAGE)
        assert other.begin(keyed(0), MANY, None) == b"text"
        assert other.token_hash("ann") == "a" * 64
        assert other.usage()[0].texts == 26


def test_a_server_that_hangs(redis: RedisServer, clock: Clock) -> None:
    """A request that may have been begun can be begun again, and takes no slot for ever."""
    limits = Limits(requests_per_minute=1000, parallel=1)
    with SharedLedger(redis.url, clock=clock, timeout=0.5) as ledger:
        ledger.beat()
        redis.process.send_signal(signal.SIGSTOP)
        try:
            message = unavailable(lambda: ledger.begin(keyed(1), limits, None))
        finally:
            redis.process.send_signal(signal.SIGCONT)
        assert "it does not answer in time" in message
        assert ledger.begin(keyed(1), limits, None) == "begun"
        assert ledger.begin(keyed(1), limits, None) == "running"


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
        assert ledger.begin(keyed(), limits, None) == "begun"
        assert proxy.losses == 0
        assert ledger.begin(keyed(), limits, None) == "running"
        proxy.losses = 1
        ledger.finish(keyed(), b"text", USAGE)
        assert ledger.begin(keyed(), limits, None) == b"text"
        assert ledger.usage()[0].usage == USAGE


def test_replies_that_are_lost_twice(redis: RedisServer, proxy: LossyProxy, clock: Clock) -> None:
    """After an error, the caller can do the same again, and everything counts once."""
    url = redis.url.replace(str(redis.port), str(proxy.port))
    limits = Limits(requests_per_minute=10, parallel=1)
    with SharedLedger(url, clock=clock) as ledger, shared(redis, clock) as other:
        proxy.losses = 2
        with pytest.raises(LedgerError, match="it ended the connection"):
            ledger.begin(keyed(), limits, None)
        assert other.begin(keyed(), limits, None) == "running"
        ledger.beat()
        assert other.begin(keyed(), limits, None) == "begun"
        other.finish(keyed(), None, Usage())
        assert ledger.begin(keyed(), limits, None) == "begun"
        proxy.losses = 2
        with pytest.raises(LedgerError, match="it ended the connection"):
            ledger.finish(keyed(), b"text", USAGE)
        ledger.finish(keyed(), b"text", USAGE)
        assert other.begin(keyed(), limits, None) == b"text"
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
        ledger.add_user("ann", "a" * 64)
        server.admin().replicaof("127.0.0.1", "1")
        assert "it is a replica" in unavailable(lambda: ledger.begin(keyed(), MANY, None))
        assert "it is a replica" in unavailable(ledger.beat)
        server.admin().replicaof("NO", "ONE")
        assert ledger.begin(keyed(), MANY, None) == "begun"


@pytest.mark.system
def test_a_full_server(clock: Clock) -> None:
    """What does not fit is an error, and changes nothing of what is there."""
    settings = ["--maxmemory", "4mb", "--maxmemory-policy", "noeviction"]
    with redis_running(*settings) as server, shared(server, clock) as ledger:
        finished = 0
        with pytest.raises(LedgerError, match="it is full"):
            while True:
                ledger.begin(keyed(finished), MANY, None)
                ledger.finish(keyed(finished), b"x" * 500_000, USAGE)
                finished += 1
        server.admin().config_set("maxmemory", "100mb")
        assert ledger.usage()[0].texts == finished > 0
        for number in range(finished):
            assert ledger.begin(keyed(number), MANY, None) == b"x" * 500_000


@pytest.mark.system
def test_a_server_that_would_drop_answers(clock: Clock) -> None:
    """A server that is set to drop what was paid for is named."""
    with (
        redis_running("--maxmemory-policy", "allkeys-lru") as server,
        shared(server, clock) as ledger,
    ):
        (problem,) = ledger.problems()
        assert "maxmemory-policy is 'allkeys-lru'; set it to 'noeviction'" in problem
        assert PASSWORD not in problem


HOSTILE = [b"", b"x", b"nan", b"inf", b"-1", b"1e300", b"9" * 400, b"\xff\x00", b"x" * 10**7]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values(redis: RedisServer, clock: Clock, value: bytes) -> None:
    """Whatever stands in a field, each method works or raises LedgerError."""
    with shared(redis, clock) as ledger:
        ledger.add_user("ann", "a" * 64)
        ledger.begin(keyed(1), MANY, None)
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
        ledger.add_user("ann", "a" * 64)
        ledger.begin(keyed(1), MANY, None)
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
            ledger.begin(keyed(2), MANY, 1.0)
        with pytest.raises(LedgerError, match="has a damaged value in contentgen:writer:usage"):
            ledger.over_budget("ann", MANY, 1.0)
        assert ledger.begin(keyed(2), MANY, None) == "begun"


def test_an_answer_that_is_too_large(redis: RedisServer, clock: Clock) -> None:
    """It is not read, and not written again either."""
    with shared(redis, clock) as ledger:
        ledger.finish(keyed(1), b"text", USAGE)
        key = f"contentgen:writer:request:ann:{1:064x}"
        redis.admin().hset(key, "body", b"x" * 5_000_000)
        with pytest.raises(LedgerError, match=f"has a damaged value in {key}; correct or delete"):
            ledger.begin(keyed(1), MANY, None)
        redis.admin().delete(key)
        assert ledger.begin(keyed(1), MANY, None) == "begun"


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

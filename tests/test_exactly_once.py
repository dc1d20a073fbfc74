"""A served writer writes and translates each text once, whatever is killed meanwhile.

For a large run: `EXACTLY_ONCE=1000,20,20 pytest -s tests/test_exactly_once.py`, which are the
numbers of texts, clients and kills.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from conftest import wait_until
from model_double import Call, ModelHandler, completion, running_model
from model_writer import sentences, translate, write
from ports import free_port
from postgres_server import PostgresServer, postgres_running
from programs import Program, start
from service_double import environment
from test_deploy import listens, nginx_running
from writer_server import add_user, configure, encode, run

from mkdocs_contentgen.served.ledger import LEASE

pytestmark = pytest.mark.system

TEXTS, CLIENTS, KILLS = map(int, os.environ.get("EXACTLY_ONCE", "30,6,3").split(","))
USERS, PARALLEL = ("ann", "bob", "eve", "poor"), 6
BUDGET = 0.01
"""What the texts of `poor` may cost in a month, which is less than all of them would."""

PATIENCE = 600

LONG_TEXT = [sentences(200, number) for number in range(20)]
"""The paragraphs of a text that is translated in two calls."""


@dataclass
class Life:
    """One process of a writer, from its start to its end."""

    process: Program
    output: Path
    killed_at: float | None = None


class Writer:
    """A served writer that a supervisor starts again whenever it ends."""

    def __init__(self, name: str, directory: Path, chance: random.Random) -> None:
        self.port = free_port()
        self.lives: list[Life] = []
        self._name = name
        self._directory = directory
        self._chance = chance
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._supervise, daemon=True)

    def __enter__(self) -> Writer:
        self._thread.start()
        wait_until(lambda: listens(self.port))
        return self

    def __exit__(self, *error: object) -> None:
        """End the program as an operator does."""
        self._is_over.set()
        self._thread.join()
        process = self.lives[-1].process
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()
        process.wait()

    def kill(self) -> bool:
        """End the process, if it has begun to listen."""
        life = self.lives[-1]
        if life.process.poll() is not None or not listens(self.port):
            return False
        life.process.kill()
        life.killed_at = time.monotonic()
        life.process.wait()
        return True

    def _supervise(self) -> None:
        while not self._is_over.is_set():
            key = f"{self._name}-{len(self.lives)}"
            output = self._directory / f"{key}.log"
            command = ("mkdocs_contentgen", "writer", "serve", "--port", str(self.port))
            # So the model knows which process asks it.
            variables = {**environment(), "CONTENTGEN_MODEL_KEY": key}
            with output.open("wb") as file:
                process = start(command, self._directory, variables, file.fileno())
            self.lives.append(Life(process, output))
            while process.poll() is None and not self._is_over.wait(0.05):
                pass
            self._is_over.wait(self._chance.uniform(0.1, 1))


@dataclass
class Writing:
    """A call of the model. `process` names the one that asked."""

    number: int
    topic: str
    process: str
    answered_at: float | None = None


def is_translation(number: int) -> bool:
    """Tell whether what is asked for is a translation, and no new text."""
    return number % 3 == 1


def copy_name(number: int) -> str:
    """Return a word for a number. A figure in a translation would be checked."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def copies(answer: bytes) -> Iterator[int]:
    """Yield the numbers of the calls that an answer was made of."""
    for name in {*re.findall(r"copy z([a-j]+)z", answer.decode())}:
        yield int("".join(str("abcdefghij".index(letter)) for letter in name))


@dataclass
class Author:
    """Writes or translates in 50 to 600 ms, never the same twice, and notes each."""

    chance: random.Random
    calls: list[Writing] = field(default_factory=list)
    most: Counter[str] = field(default_factory=Counter)
    """The most calls at once by user."""

    running: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, call: Call, handler: ModelHandler) -> None:
        """Answer a call."""
        messages = call.body["messages"]
        found = re.search(r"Topic: ((\w+) .*)\n", messages[1]["content"])
        assert found
        process = call.headers["authorization"].removeprefix("Bearer ")
        user = found[2]
        with self.lock:
            writing = Writing(len(self.calls) + 1, found[1], process)
            self.calls.append(writing)
            self.running[user] += 1
            self.most[user] = max(self.most[user], self.running[user])
        time.sleep(self.chance.uniform(0.05, 0.6))
        copy = f"copy z{copy_name(writing.number)}z."
        if "<text>" in messages[1]["content"]:
            text = "\n\n".join(f"{line} {copy}" for line in translate(messages).split("\n\n"))
        else:
            text = f"{write(messages)} This is {copy}"
        with self.lock:
            self.running[user] -= 1
        writing.answered_at = time.monotonic()
        usage = {"prompt_tokens": 1000, "completion_tokens": 100}
        handler.send(completion(text, usage=usage))


@dataclass
class Clients:
    """Ask for texts as the plugin does, but hang up now and then."""

    url: str
    tokens: dict[str, str]
    chance: random.Random
    statuses: Counter[int] = field(default_factory=Counter)
    hung_up: int = 0

    def ask(self, number: int) -> bytes | None:
        """Return the answer with a text, or None if the user may not have it."""
        user = USERS[number % len(USERS)]
        topic = f"{user} {number}"
        path, headers, body = self._request(number, user, topic)
        deadline = time.monotonic() + PATIENCE
        with httpx.Client(verify=False) as client:
            while time.monotonic() < deadline:
                patience = self.chance.choice((0.1, 0.5, 60.0, 60.0))
                try:
                    answer = client.post(
                        f"{self.url}{path}", headers=headers, content=body, timeout=patience
                    )
                except httpx.TransportError:
                    self.hung_up += 1
                    continue
                self.statuses[answer.status_code] += 1
                if answer.status_code == 200:
                    return answer.content
                assert answer.status_code in (409, 429, 503), answer.text
                wait = int(answer.headers["Retry-After"])
                if "cost_per_month is reached" in answer.text:
                    return None
                time.sleep(min(wait, self.chance.uniform(0.1, 1)))
        pytest.fail(f"no answer in {PATIENCE} s: {topic}")

    def _request(self, number: int, user: str, topic: str) -> tuple[str, dict[str, str], str]:
        token = self.tokens[user]
        key = f"key {number}"
        if not is_translation(number):
            return encode(token, topic, key=key, user=user)
        path, headers, _ = encode(token, operation="translate-text", key=key, user=user)
        blocks = [{"number": n, "kind": "p", "text": text} for n, text in enumerate(LONG_TEXT)]
        asked = {"language": "de", "from_language": "en", "blocks": blocks}
        body = {"type": "blog", "topic": topic, "translation": asked}
        return path, headers, json.dumps(body)


def break_things(
    writers: Sequence[Writer], postgres: PostgresServer | None, chance: random.Random
) -> int:
    """Kill processes, and restart the database after every third one. Return its restarts."""
    kills = restarts = 0
    while kills < KILLS:
        time.sleep(chance.uniform(0.3, 1))
        kills += chance.choice(writers).kill()
        if postgres and kills // 3 > restarts:
            restarts += 1
            postgres.stop(chance.choice((signal.SIGQUIT, signal.SIGINT)))
            time.sleep(chance.uniform(0, 3))
            postgres.start()
    return restarts


def prove(
    directory: Path, certificate: Path, number: int, postgres: PostgresServer | None = None
) -> None:
    """Ask so many writers for texts while things break, and check what is left."""
    seed = os.environ.get("CHAOS_SEED") or str(random.randrange(10**6))
    print(f"CHAOS_SEED={seed}")
    chance = random.Random(seed)
    author = Author(chance)
    with ExitStack() as stack:
        model = stack.enter_context(running_model())
        model.answer = author
        configure(
            directory,
            model.endpoint,
            limits={"requests_per_minute": 100_000, "parallel": PARALLEL},
            price={"input": 1, "output": 1},
            max_cost=100,
            **({"ledger": postgres.url} if postgres else {}),
        )
        tokens = {user: add_user(directory, user) for user in USERS}
        assert run(directory, "user", "set", "poor", "--cost-per-month", str(BUDGET)).exit_code == 0
        writers = [
            stack.enter_context(Writer(f"writer{index}", directory, chance))
            for index in range(number)
        ]
        ports = [writer.port for writer in writers]
        url = stack.enter_context(nginx_running(directory, certificate, ports))
        clients = Clients(url, tokens, chance)
        pool = stack.enter_context(ThreadPoolExecutor(CLIENTS + 1))
        started = time.monotonic()
        breaking = pool.submit(break_things, writers, postgres, chance)
        answers = list(pool.map(clients.ask, range(TEXTS)))
        restarts = breaking.result()
        seconds = time.monotonic() - started
        again = list(pool.map(clients.ask, range(TEXTS)))
        differing = sum(one != other for one, other in zip(answers, again, strict=True) if one)
        lives = {life.output.stem: life for writer in writers for life in writer.lives}
        killed = sum(life.killed_at is not None for life in lives.values())
        extra = check_calls(author, answers, lives, keeps_parts=postgres is None)
    print(
        f"{seconds:.0f} s; {TEXTS} texts by {CLIENTS} clients; {killed} kills, {restarts} restarts "
        f"of the database; {len(author.calls)} calls, {extra} of them again after a kill; "
        f"statuses: {dict(clients.statuses)}, {clients.hung_up} times hung up or cut"
    )
    assert differing == 0
    assert killed >= KILLS
    check_usage(directory, answers)
    assert max(author.most.values()) <= PARALLEL
    for life in lives.values():
        assert "Traceback" not in life.output.read_text()


def check_calls(
    author: Author,
    answers: Sequence[bytes | None],
    lives: dict[str, Life],
    *,
    keeps_parts: bool,
) -> int:
    """Check that each text was written once, but for those whose writer was killed meanwhile.

    If the ledger always `keeps_parts`, only the last call of a process for a text can be lost.
    Return the number of the calls that were.
    """
    calls: defaultdict[str, list[Writing]] = defaultdict(list)
    for call in author.calls:
        calls[call.topic].append(call)
    extra = 0
    for number, answer in enumerate(answers):
        user = USERS[number % len(USERS)]
        if answer is None:
            assert user == "poor"
            continue
        used = set(copies(answer))
        assert len(used) == (2 if is_translation(number) else 1), answer
        last_calls = {call.process: call for call in calls[f"{user} {number}"]}
        for call in calls[f"{user} {number}"]:
            if call.number not in used:
                end = lives[call.process].killed_at
                assert end, f"written twice, though its writer was not killed: {call}"
                # A text waits while the database is away.
                assert end - (call.answered_at or end) < 2 * LEASE, f"not kept: {call}"
                is_last = last_calls[call.process] is call
                assert is_last or not keeps_parts, f"a part was not kept: {call}"
                extra += 1
    return extra


def check_usage(directory: Path, answers: Sequence[bytes | None]) -> None:
    """Check that each text was counted once, and that no budget was passed."""
    rows = json.loads(run(directory, "usage", "--json").stdout)
    written = [answer for answer in answers if answer is not None]
    calls = sum(len([*copies(answer)]) for answer in written)
    assert sum(row["texts"] for row in rows) == len(written)
    assert sum(row["calls"] for row in rows) == calls
    assert sum(row["failed"] for row in rows) == 0
    cost = {row["user"]: row["cost"] for row in rows}
    assert sum(cost.values()) == pytest.approx(0.0011 * calls)
    assert 0 < cost["poor"] < BUDGET


def test_sqlite(tmp_path: Path, certificate: Path) -> None:
    """One process with a ledger in a file."""
    prove(tmp_path, certificate, 1)


def test_postgresql(tmp_path: Path, certificate: Path) -> None:
    """Three processes with a database that is restarted, too."""
    with postgres_running() as postgres:
        prove(tmp_path, certificate, 3, postgres)

"""A plan past one machine: many runners fill one shared cache, with a service that limits its rate.

Usage: python tests/benchmarks/many_machines.py [TEXTS] [RUNNER…]

The generator, the shared cache and redis-server are the real ones. Simulated are the service, which
takes its seconds and refuses what comes too fast, and time itself: where the program would wait,
the clock is moved on. Every runner starts at once with an empty disk, and wants every text.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from sites import cached, report

sys.path.insert(0, str(Path(__file__).parents[1]))

from client_double import ClientDouble, text_for
from redis_server import RedisServer, redis_running
from simulated_time import SimulatedTime

from mkdocs_contentgen.concurrency import Clock
from mkdocs_contentgen.errors import NotSentError
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.service.protocol import Attempt
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.generation import Generation
from mkdocs_contentgen.texts.policy import Limits, SendingOptions
from mkdocs_contentgen.texts.store import DiskStore, Kept
from mkdocs_contentgen.texts.store.shared import SharedStore

SECONDS = 30.0
"""What the service takes for a text, on average."""

RATE = 4.0
"""Requests a second that the service takes; it has room for those of ten seconds."""


@dataclass
class Service(ClientDouble):
    """Stands for the service: a bucket of tokens that fills at RATE, and answers that take time."""

    clock: asyncio.AbstractEventLoop
    paid: int = 0
    refused: int = 0
    _tokens: float = RATE * 10
    _filled: float = 0.0

    async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
        """Answer, or refuse what comes too fast."""
        now = self.clock.time()
        self._tokens = min(RATE * 10, self._tokens + (now - self._filled) * RATE)
        self._filled = now
        if self._tokens < 1:
            self.refused += 1
            raise NotSentError("too many requests (status 429)", retry_after=5)
        self._tokens -= 1
        self.paid += 1
        await asyncio.sleep(random.uniform(0.5, 1.5) * SECONDS)
        return text_for(asked.request)


class _Memory(DiskStore):
    """A runner's own cache, empty at first; a disk would only take its time."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.texts: dict[str, Text] = {}

    def load(
        self, keys: Collection[str], *, newest: bool = False
    ) -> tuple[dict[str, Text], list[str]]:
        """Return what was saved."""
        return {key: self.texts[key] for key in keys if key in self.texts}, []

    def prepare(self) -> list[str]:
        """Do nothing: there is nothing to make ready."""
        return []

    def save(
        self,
        texts: Mapping[str, Text],
        *,
        replacing: Mapping[str, Text | None] | None = None,
        operation: str = "",
        agreed: bool = False,
        kept: Mapping[str, Sequence[Kept]] | None = None,
        undone: Mapping[str, Kept] | None = None,
    ) -> None:
        """Keep texts."""
        self.texts |= texts


class InMemory(SharedStore, _Memory):
    """The shared cache, behind that of a runner."""


@dataclass(frozen=True)
class Result:
    """What a simulation came to; times are in simulated seconds."""

    seconds: float
    paid: int
    refused: int
    failed: int
    trips: int


def simulate(server: RedisServer, texts: int, runners: int) -> Result:
    """Let runners fill the cache of an empty server."""
    server.admin().flushall()
    requests: dict[str, PageRequest] = {}
    for number in range(texts):
        request = BlogRequest(topic=f"Topic {number}")
        requests[request.key(sandbox=False)] = PageRequest(request)
    loop = SimulatedTime()
    service = Service(loop)

    async def run() -> int:
        generations = [
            Generation(
                SendingOptions(InMemory(Path(), server.url), lambda: nullcontext(service)),
                clock=Clock(monotonic=loop.time),
            )
            for _ in range(runners)
        ]
        outcomes = await asyncio.gather(*(one.run(requests) for one in generations))
        problems = {problem for one in generations for problem in one.problems}
        if problems:
            raise SystemExit("\n".join(problems))
        return sum(outcome.text is None for one in outcomes for outcome in one.values())

    before = trips(server)
    failed = loop.run_until_complete(run())
    seconds = loop.time()
    loop.close()
    return Result(seconds, service.paid, service.refused, failed, trips(server) - before)


def trips(server: RedisServer) -> int:
    """Return how often the server has read from a connection."""
    return int(server.admin().info("stats")["total_reads_processed"])


def memory(server: RedisServer, texts: int) -> float:
    """Return the bytes that a text of 10 KB takes in the server."""
    server.admin().flushall()
    before = server.admin().info("memory")["used_memory"]
    store = InMemory(Path(), server.url)
    for number in range(texts):
        store.save(cached(number))
    store.close()
    return float(server.admin().info("memory")["used_memory"] - before) / texts


def main(texts: int = 100_000, *runners: int) -> None:
    """Simulate, print the table and write the result."""
    rows: dict[str, tuple[float, float | None]] = {}
    with redis_running() as server:
        rows["Redis memory, KB a text"] = (memory(server, min(texts, 10_000)) / 1024, None)
        print(f"{texts:,} texts of {SECONDS:.0f} s, {RATE:.0f} requests a second at most\n")
        print(_line("runners", "hours", "limit", "paid", "refused", "failed", "trips"))
        for number in runners or (1, 4, 16):
            result = simulate(server, texts, number)
            in_flight = number * Limits().concurrency
            limit = max(texts * SECONDS / in_flight, (texts - RATE * 10) / RATE)
            hours = (f"{seconds / 3600:.2f}" for seconds in (result.seconds, limit))
            counts = (result.paid, result.refused, result.failed, result.trips)
            print(_line(number, *hours, *counts))
            share = result.trips / texts / number
            rows[f"{number} runners: wall time over the limit"] = (result.seconds / limit, None)
            rows[f"{number} runners: payments a text"] = (result.paid / texts, 1.0)
            rows[f"{number} runners: round trips a text and runner"] = (share, None)
    report("many_machines", rows)


def _line(*cells: object) -> str:
    return "".join(f"{cell:>10}" for cell in cells)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

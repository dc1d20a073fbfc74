"""A plan past one writer: several of them, with one ledger, before a model server for many calls.

Usage: python tests/benchmarks/many_writers.py [TEXTS]

The server's `Jobs`, and what writes, checks and encodes texts, are the real ones. Simulated are the
clients, nginx, the ledger (which is in memory and takes no time), the model server, and time
itself: where the program would wait, the clock is moved on. All writers share one processor here,
and its time counts, so that several machines would be a little faster. `Jobs` itself uses the real
clock for Retry-After and for status 409, neither of which comes up here.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path

from sites import report

sys.path.insert(0, str(Path(__file__).parents[1]))

from model_writer import write as compose
from simulated_time import SimulatedTime

from mkdocs_contentgen.files import sha256
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.writer.completion import Completion, Message, ModelCall
from mkdocs_contentgen.writer.ledger.ledger import Beginning, Begun, KeyedRequest, Ledger
from mkdocs_contentgen.writer.ledger.users import UserLimits
from mkdocs_contentgen.writer.model import Model
from mkdocs_contentgen.writer.server.configuration import ServerConfiguration, ServerFields
from mkdocs_contentgen.writer.server.jobs import Jobs
from mkdocs_contentgen.writer.server.metrics import Metrics
from mkdocs_contentgen.writer.settings import WriterOptions
from mkdocs_contentgen.writer.usage import Spending, Usage

SECONDS = 30.0
"""What the model takes for a text, on average."""

CALLS = 64
"""The calls that the model server handles at once. Others wait there."""

CLIENTS = 160
"""The requests that all clients together have in flight."""

REPEATED = 0.1
"""The share of the requests that are repeated meanwhile, with their key, as after a lost answer."""

PLANS = ((1, 16), (2, 16), (4, 16), (8, 16), (1, 64), (8, 8))
"""Numbers of writers, and `parallel` of each."""


class MemoryLedger(Ledger):
    """What all writers have begun and kept. Nobody dies here, and no limit is reached."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes | None] = {}
        self.written = 0

    def begin(
        self, request: KeyedRequest, limits: UserLimits, max_cost: float | None, reserve: float
    ) -> Beginning:
        """Begin a request, unless it is known."""
        if request.key not in self.bodies:
            self.bodies[request.key] = None
            return Begun(1, 60.0)
        body = self.bodies[request.key]
        return "running" if body is None else body

    def finish(
        self, request: KeyedRequest, body: bytes | None, usage: Usage, *, keeps_parts: bool = False
    ) -> bytes | None:
        """Keep an answer."""
        assert body is not None, "nobody can use a text"
        self.bodies[request.key] = body
        self.written += 1
        return body


@dataclass
class ModelServer:
    """A server such as vLLM, which handles CALLS calls at once."""

    calls: int = 0
    longest: float = 0.0
    _places: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, CALLS))

    async def answer(self, messages: Sequence[Message]) -> Completion:
        """Answer after the time in the queue and that for a text."""
        clock = asyncio.get_running_loop()
        started = clock.time()
        async with self._places:
            await asyncio.sleep(random.uniform(0.5, 1.5) * SECONDS)
        self.calls += 1
        self.longest = max(self.longest, clock.time() - started)
        text = compose([{"content": message["content"]} for message in messages])
        return Completion(text, usage=Usage(1, 500, 700))


class SimulatedModel(Model):
    """What a writer asks: `parallel` calls at once, to the one model server."""

    def __init__(self, options: WriterOptions, server: ModelServer) -> None:
        super().__init__(options, Spending())
        self._server_double = server
        self._at_once = asyncio.Semaphore(options.fields.calls_at_once)
        self.calls = 0

    async def ask(self, call: ModelCall, spending: Spending | None = None) -> Completion:
        """Return an answer."""
        async with self._at_once:
            self.calls += 1
            return await self._server_double.answer(call.messages)


@dataclass(frozen=True)
class Result:
    """What a simulation came to; times are in simulated seconds."""

    seconds: float
    written: int
    calls: int
    outcomes: Counter[str]
    longest: float
    shares: list[float]


def simulate(texts: int, writers: int, parallel: int) -> Result:
    """Let clients ask the writers, in turn, for texts."""
    loop = SimulatedTime()
    ledger = MemoryLedger()
    fields = ServerFields(
        model="simulated", endpoint="http://127.0.0.1:1/v1", parallel=parallel, queue=10 * CLIENTS
    )
    options = WriterOptions(fields)
    configuration = ServerConfiguration(fields, options)
    outcomes: Counter[str] = Counter()

    async def run() -> tuple[ModelServer, list[SimulatedModel]]:
        server = ModelServer()
        models = [SimulatedModel(options, server) for _ in range(writers)]
        jobs = [Jobs(configuration, it, ledger, Metrics(), print) for it in models]
        turns, numbers = cycle(jobs), iter(range(texts))

        async def ask(number: int) -> bytes:
            request = BlogRequest(topic=f"Topic {number}", length="short")
            keyed = KeyedRequest("alice", sha256(str(number)), sha256(request.topic))
            job = next(turns).start(keyed, UserLimits(), request)
            joined, job.clients = job.clients > 0, job.clients + 1
            body = await asyncio.shield(job.task)
            outcomes["joined" if joined else job.outcome] += 1
            return body

        async def repeat(number: int) -> bytes:
            await asyncio.sleep(random.uniform(0, 2) * SECONDS)
            return await ask(number)

        async def client() -> None:
            for number in numbers:
                asked = [ask(number)]
                if random.random() < REPEATED:
                    asked.append(repeat(number))
                assert len(set(await asyncio.gather(*asked))) == 1

        await asyncio.gather(*(client() for _ in range(CLIENTS)))
        return server, models

    server, models = loop.run_until_complete(run())
    seconds = loop.time()
    loop.close()
    shares = [model.calls / server.calls for model in models]
    return Result(seconds, ledger.written, server.calls, outcomes, server.longest, shares)


def main(texts: int = 2000) -> None:
    """Simulate, print the table and write the result."""
    random.seed(1)
    limit = texts * SECONDS / CALLS
    rows: dict[str, tuple[float, float | None]] = {}
    print(
        f"{texts:,} texts of {SECONDS:.0f} s, a model server for {CALLS} calls, {CLIENTS} requests "
        f"in flight, {REPEATED:.0%} of them repeated; at best {limit / 60:.1f} minutes\n"
    )
    print(
        _line("writers", "parallel", "minutes", "of limit", "calls", "again", "longest", "shares")
    )
    for writers, parallel in PLANS:
        result = simulate(texts, writers, parallel)
        again = result.outcomes.total() - result.outcomes["written"]
        shares = f"{min(result.shares):.0%}-{max(result.shares):.0%}"
        part = limit / result.seconds
        print(
            _line(
                *(writers, parallel, f"{result.seconds / 60:.1f}", f"{part:.0%}"),
                *(result.calls, again, f"{result.longest:.0f} s", shares),
            )
        )
        name = f"{writers} writers of {parallel}"
        rows[f"{name}: throughput to the model's limit"] = (part, None)
        rows[f"{name}: calls a text"] = (result.calls / texts, 1.0)
    report("many_writers", rows)


def _line(*cells: object) -> str:
    return "".join(f"{cell:>10}" for cell in cells)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

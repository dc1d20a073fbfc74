"""What the writer costs beyond the time of the model.

Usage: python tests/benchmarks/writer.py [ROUNDS]

The first figure is the time for one medium text with a model that answers at once: prompt, checks
and HTML. The second is the time for 48 texts with a model server that takes 0.5 s for a call, 8 at
a time, over the ideal of 3 s.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from datetime import date
from functools import partial
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from model_process import model_process
from sites import report

from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.texts.generation import Generation, generate
from mkdocs_contentgen.texts.policy import Limits
from mkdocs_contentgen.texts.store import DiskStore
from mkdocs_contentgen.writer.completion import Completion, ModelCall
from mkdocs_contentgen.writer.prompts import system_prompt, topic_prompt
from mkdocs_contentgen.writer.settings import load_options, texts_at_once
from mkdocs_contentgen.writer.writer_client import WriterClient
from mkdocs_contentgen.writer.writing import write

sys.path.insert(0, str(Path(__file__).parents[1]))

from model_writer import write as compose

TEXTS, SECONDS, PARALLEL = 48, 0.5, 8
SECONDS_STREAMED = 5.0


def seconds_for_one_text() -> float:
    """Return the time for one text with a model that answers at once."""
    options = load_options({"model": "double"}, Path(), allow_http=False)
    request = BlogRequest(topic="Ten ways to speed up a docs build", format="listicle")
    texts: list[str] = []

    async def ask(call: ModelCall) -> Completion:
        # The same text each time, since composing it would be measured too.
        if not texts:
            texts.append(compose([{"content": it["content"]} for it in call.messages]))
        return Completion(texts[0])

    async def run() -> float:
        started = time.perf_counter()
        written = await write(request, options, ask, today=date(2026, 1, 1))
        if written.text.remarks:
            raise SystemExit(str(written.text.remarks))
        return time.perf_counter() - started

    asyncio.run(run())
    return statistics.median(asyncio.run(run()) for _ in range(20))


def seconds_for_many_texts(endpoint: str, number: int = TEXTS) -> float:
    """Return the time for many texts over a model server that takes its time."""
    with TemporaryDirectory() as directory:
        value = {"model": "double", "endpoint": endpoint, "parallel": PARALLEL}
        options = load_options(value, Path(), allow_http=False)
        requests = {
            request.key(sandbox=False): request
            for request in (BlogRequest(topic=f"T {n}", length="short") for n in range(number))
        }
        generation = Generation(
            DiskStore(Path(directory)),
            partial(WriterClient, options),
            Limits(texts_at_once(PARALLEL), inf),
        )
        started = time.perf_counter()
        outcomes = generate(generation, requests)
        seconds = time.perf_counter() - started
        if errors := [outcome.error for outcome in outcomes.values() if outcome.error]:
            raise SystemExit(str(errors[0]))
    return seconds


def seconds_for_streamed_text(endpoint: str) -> tuple[float, float]:
    """Return the time for a text by the writer, and for the same answer of the model alone."""
    options = load_options({"model": "double", "endpoint": endpoint}, Path(), allow_http=False)
    request = BlogRequest(topic="Ten ways to speed up a docs build", format="listicle")
    messages = [
        {"role": "system", "content": system_prompt(request, options)},
        {"role": "user", "content": topic_prompt(request, options.target(request.length))},
    ]

    async def alone() -> float:
        started = time.perf_counter()
        async with httpx.AsyncClient(timeout=None) as client:
            body = {"model": "double", "messages": messages, "stream": True}
            url = f"{endpoint}/chat/completions"
            async with client.stream("POST", url, json=body) as response:
                async for _ in response.aiter_raw():
                    pass
        return time.perf_counter() - started

    async def written() -> float:
        started = time.perf_counter()
        async with WriterClient(options) as client:
            await client.generate(request)
        return time.perf_counter() - started

    return asyncio.run(written()), asyncio.run(alone())


def main(rounds: int = 5) -> None:
    """Measure all."""
    one = statistics.median(seconds_for_one_text() for _ in range(rounds))
    with model_process(SECONDS) as endpoint:
        seconds_for_many_texts(endpoint, 1)  # imports the modules
        many = statistics.median(seconds_for_many_texts(endpoint) for _ in range(rounds))
    with model_process(SECONDS_STREAMED, streams=True) as endpoint:
        seconds_for_streamed_text(endpoint)
        pairs = [seconds_for_streamed_text(endpoint) for _ in range(rounds)]
        ratio = statistics.median(written / alone for written, alone in pairs)
    report(
        "writer",
        {
            "one text of 5 s, streamed, over the model alone": (ratio, 1.02),
            "one text beyond the model's time, ms": (one * 1000, 5.0),
            "48 texts of 0.5 s, 8 at once, over the ideal": (
                many / (TEXTS / PARALLEL * SECONDS),
                1.08,
            ),
        },
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

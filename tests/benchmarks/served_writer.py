"""A served writer under load: its share of the time, and its memory.

Usage: python tests/benchmarks/served_writer.py [TEXTS] [REQUESTS]

200 clients ask for TEXTS texts as fast as they get them, with a model server that takes 0.2 s for a
call and 4 calls at once. The server's own share of a request is its time without the queue and the
model. Then the clients send REQUESTS requests, of which one in ten is for a new text; with 0 this
part is left out.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from model_process import model_process
from sites import report
from writer_server import WriterServer, configure, writer_running

CLIENTS, SECONDS, PARALLEL = 200, 0.2, 4
LIMITS = {"requests_per_minute": 1_000_000, "parallel": 1000}


async def ask_all(server: WriterServer, keys: list[str]) -> Counter[int]:
    """Send a request for each key over 200 connections, and return the statuses."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    left = list(reversed(keys))
    statuses: Counter[int] = Counter()

    async def client() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        while left:
            key = left.pop()
            body = json.dumps({"topic": f"Topic {key}", "length": "short"}).encode()
            head = (
                f"POST /generate-blog?user_id=alice HTTP/1.1\r\nHost: {host}\r\n"
                f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
                f"Idempotency-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            await reader.readexactly(int(answer.split("content-length: ")[1].split("\r\n")[0]))
            statuses[int(answer.split()[1])] += 1
        writer.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return statuses


def throughput(directory: Path, texts: int) -> tuple[float, list[float], Counter[int]]:
    """Return the time over the model's, the own shares in seconds, sorted, and the statuses."""
    with model_process(SECONDS) as endpoint:
        configure(directory, endpoint, parallel=PARALLEL, queue=CLIENTS, limits=LIMITS)
        with writer_running(directory) as server:
            asyncio.run(ask_all(server, ["first"]))
            started = time.perf_counter()
            statuses = asyncio.run(ask_all(server, [str(number) for number in range(texts)]))
            seconds = time.perf_counter() - started
            time.sleep(0.5)
            own = [
                record["seconds"] - record["waited"] - SECONDS
                for record in server.log[1:]
                if record.get("outcome") == "written"
            ]
    return seconds / (texts / PARALLEL * SECONDS), sorted(own), statuses


def memory(directory: Path, requests: int) -> tuple[int, int, Counter[int]]:
    """Return the memory in KiB after a tenth of the requests and after all, and the statuses."""
    with model_process(0.01) as endpoint:
        configure(directory, endpoint, parallel=PARALLEL, queue=CLIENTS, limits=LIMITS)
        with writer_running(directory) as server:
            keys = [f"{number // 10 * 10}" for number in range(requests)]
            statuses = asyncio.run(ask_all(server, keys[: requests // 10]))
            before = _resident(server.process.pid)
            statuses += asyncio.run(ask_all(server, keys[requests // 10 :]))
            return before, _resident(server.process.pid), statuses


def _resident(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def main(texts: int = 400, requests: int = 10_000) -> None:
    """Measure, print the table and write the result."""
    rows: dict[str, tuple[float, float | None]] = {}
    statuses: Counter[int] = Counter()
    with TemporaryDirectory() as directory:
        ratio, own, statuses = throughput(Path(directory), texts)
        rows[f"{texts} texts, {CLIENTS} clients, over the model's time"] = (ratio, 1.05)
        rows["own share of a request, 50th percentile, s"] = (own[len(own) // 2], None)
        rows["own share of a request, 99th percentile, s"] = (own[len(own) * 99 // 100], 0.05)
    if requests:
        with TemporaryDirectory() as directory:
            before, after, more = memory(Path(directory), requests)
        statuses += more
        rows[f"memory after {requests // 10} requests, MiB"] = (before / 1024, None)
        rows[f"memory after {requests} requests, MiB"] = (after / 1024, 1.1 * before / 1024)
    print(statuses)
    others = sum(n for status, n in statuses.items() if status not in (200, 429, 503))
    rows["answers that are neither 200 nor 429 nor 503"] = (float(others), 0.0)
    report("served_writer", rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

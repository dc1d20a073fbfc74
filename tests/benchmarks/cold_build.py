"""How near a cold build comes to the time that the service alone takes.

Usage: python tests/benchmarks/cold_build.py [ROUNDS]

Builds 48 pages whose texts take the service 0.5 s each, 8 at a time, cold and warm in turn. The
ideal is the network's time, which bare sockets need for the same answers, plus the warm build; the
goal is at most 1.05 of it. A warm build varies by more than that from one to the next, hence the
many rounds. Prints a table and writes `cold_build.json` beside the other results in
`tests/benchmarks/results/`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from sites import Site, article, build, in_turn, ratio, report

from mkdocs_contentgen.requests import BlogRequest

sys.path.insert(0, str(Path(__file__).parents[1]))

from service_double import TOKEN, USER, generated, running

PAGES, SECONDS, CONCURRENCY = 48, 0.5, 8


async def bare(base_url: str) -> float:
    """Get as many answers from bare sockets, as many at once; return the seconds that it took."""
    address = urlsplit(base_url)
    body = json.dumps(BlogRequest(topic="Bare").body()).encode()
    head = (
        f"POST {address.path}/generate-blog?user_id={USER} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Authorization: Bearer {TOKEN}\r\nAccept: application/json\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        "Idempotency-Key: bare\r\nConnection: close\r\n\r\n"
    )
    slots = asyncio.Semaphore(CONCURRENCY)

    async def one() -> None:
        async with slots:
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
            writer.write(head.encode() + body)
            answer = await reader.read()
            writer.close()
            if b" 200 " not in answer[:15]:
                raise SystemExit(answer.decode())

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(PAGES)))
    return time.perf_counter() - started


def main(rounds: int = 25) -> None:
    """Measure, print the table and write the result."""
    with TemporaryDirectory() as directory, running() as service:
        site = Site(Path(directory))
        site.configure(plugins=["search", {"contentgen": {"concurrency": CONCURRENCY}}])
        for number in range(PAGES):
            site.page(number, f"---\ncontentgen: {{type: blog, topic: Topic {number}}}\n---\n")
        environment = {
            "CONTENTGEN_BASE_URL": service.base_url,
            "CONTENTGEN_USER_ID": USER,
            "CONTENTGEN_TOKEN": TOKEN,
        }
        service.answer = generated(article(1), delay=SECONDS)

        def cold() -> float:
            rmtree(site.root / ".cache", ignore_errors=True)
            return build(site, **environment)

        times = in_turn(
            f"{PAGES} pages whose texts take {SECONDS} s each, {CONCURRENCY} at once",
            {
                "cold": cold,
                "network": lambda: asyncio.run(bare(service.base_url)),
                "warm": partial(build, site, **environment),
            },
            rounds=rounds,
        )
        if len(service.received) != 2 * PAGES * (rounds + 1):
            raise SystemExit(f"{len(service.received)} requests, not {2 * PAGES} a round")
    ideal = [network + warm for network, warm in zip(times["network"], times["warm"], strict=True)]
    report("cold_build", {"cold build over the ideal": (ratio(times["cold"], ideal), 1.05)})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

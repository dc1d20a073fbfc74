"""How near a cold build comes to the time that the service alone takes.

Usage: python tests/benchmarks/cold_build.py [ROUNDS]

Builds 48 pages whose texts take the service 0.5 s each, 8 at a time, cold and warm in turn. The
ideal is the network's time, which bare sockets need for the same answers, plus the warm build; the
goal is at most 1.05 of it. Prints a table and
writes `cold_build.json` beside the other results in `tests/benchmarks/results/`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from mkdocs_contentgen.request import BlogRequest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from service_double import TOKEN, USER, generated, running  # noqa: E402  tests are no package

PAGES, SECONDS, CONCURRENCY, GOAL = 48, 0.5, 8, 1.05


def build(project: Path, environment: dict[str, str]) -> float:
    """Build the project; return the seconds that it took."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet"],
        cwd=project,
        env=environment,
        check=True,
    )
    return time.perf_counter() - started


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


def main(rounds: int) -> None:
    """Measure, print the table and write the result."""
    body = "".join(f"<h2>Part {n}</h2><p>{'word ' * 200}</p>" for n in range(10))
    with tempfile.TemporaryDirectory() as directory, running() as service:
        project = Path(directory)
        (project / "docs").mkdir()
        (project / "mkdocs.yml").write_text(
            "site_name: S\ntheme: material\n"
            f"plugins: [contentgen: {{concurrency: {CONCURRENCY}}}]\n"
        )
        for number in range(PAGES):
            front = f"---\ncontentgen: {{type: blog, topic: Topic {number}}}\n---\n"
            (project / f"docs/p{number}.md").write_text(front)
        environment = os.environ | {
            "CONTENTGEN_BASE_URL": service.base_url,
            "CONTENTGEN_USER_ID": USER,
            "CONTENTGEN_TOKEN": TOKEN,
            "NO_MKDOCS_2_WARNING": "1",
        }
        service.answer = generated(f"<article><h1>T</h1>{body}</article>", delay=SECONDS)
        print(f"{'cold':>8} {'network':>8} {'warm':>8} {'cold/ideal':>11}")
        ratios = []
        for _ in range(rounds):
            shutil.rmtree(project / ".cache", ignore_errors=True)
            cold, warm = build(project, environment), build(project, environment)
            network = asyncio.run(bare(service.base_url))
            ratios.append(cold / (network + warm))
            print(f"{cold:8.2f} {network:8.2f} {warm:8.2f} {ratios[-1]:11.3f}")
        if len(service.received) != 2 * PAGES * rounds:
            raise SystemExit(f"{len(service.received)} requests, not {PAGES} a round")
    ratio = statistics.median(ratios)
    print(f"median {ratio:.3f}, goal at most {GOAL}")
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    (results / "cold_build.json").write_text(json.dumps({"ratio": ratio, "goal": GOAL}) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)

"""How long the desk works to open a text of 50 to 100 kB, and for each act on it.

Usage: python tests/benchmarks/desk_acts.py [SHAPE …]

The desk runs in this process, without a browser. Times are seconds of the processor, so that they
do not depend on what else the machine does; of each act, the least of some is shown.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import yaml
from sites import report

from mkdocs_contentgen.cli.common import open_site
from mkdocs_contentgen.cli.output import article_to_json
from mkdocs_contentgen.desk.app import DeskApp
from mkdocs_contentgen.desk.builder import Builder
from mkdocs_contentgen.desk.session import DeskSite
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.site.progress import LineReporter
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.store import DiskStore

TEMPLATE = '<!doctype html><html lang="en"><head></head><body>{{ page.content }}</body></html>'
WHEN = datetime(2026, 11, 20, tzinfo=UTC)
DESK = "http://127.0.0.1:8767"
ROUNDS = 3

OPEN = 1.0
"""The most seconds to open a text."""

ACT = 0.2
"""The most seconds that an act on it may take."""


def cells(number: int) -> str:
    """Return a table with a statement in each cell."""
    rows = []
    for row in range(number // 10):
        cells_of_row = "".join(f"<td><mark>{row}.{column} s</mark></td>" for column in range(10))
        rows.append(f"<tr>{cells_of_row}</tr>")
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def paragraphs(number: int) -> str:
    """Return paragraphs with a statement each."""
    return "".join(f"<p>It takes <mark>{part} s</mark> here.</p>" for part in range(number))


def plain_paragraphs(number: int) -> str:
    """Return paragraphs without a statement, and one with it."""
    return "".join(f"<p>Plain words, {part}.</p>" for part in range(number)) + paragraphs(9)


def links(number: int) -> str:
    """Return items with a link each."""
    items = [f'<li><a href="https://e.example/{part}">a{part}</a></li>' for part in range(number)]
    return f"{paragraphs(9)}<ul>{''.join(items)}</ul>"


def nested_lists(number: int) -> str:
    """Return lists of lists, with a statement in each of the inner items."""
    inner = "<ul><li>a<ul><li>b<ul><li><mark>{}</mark></li></ul></li></ul></li></ul>"
    return "".join(inner.format(part) for part in range(number))


def one_block(number: int) -> str:
    """Return one paragraph with so many statements."""
    parts = [f"It takes <mark>{part} s</mark> here. " for part in range(number)]
    return f"<p>{''.join(parts)}</p>"


SHAPES: dict[str, str] = {
    "1,600 marked cells": cells(1_600),
    "2,400 marked paragraphs": paragraphs(2_400),
    "3,000 plain paragraphs": plain_paragraphs(3_000),
    "1,500 links": links(1_500),
    "700 nested lists": nested_lists(700),
    "one block with 2,000 statements": one_block(2_000),
    "one block of words": paragraphs(9) + f"<p>{'some words ' * 8_000}</p>",
}


class DeskClient:
    """A browser that talks to the desk."""

    def __init__(self, app: DeskApp) -> None:
        self._app = app
        self._headers = {"Sec-Fetch-Site": "same-origin"}
        self._headers["X-Contentgen-Key"] = self.call("session", token="secret")["key"]
        (row,) = self.call("queue")["queue"]
        self.ref = row["ref"]

    def call(self, action: str, **body: object) -> dict[str, Any]:
        """Send what the desk's page sends, and return the answer."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)
            async with httpx.AsyncClient(transport=transport) as client:
                address = f"{DESK}/_contentgen/api/{action}"
                return await client.post(address, json=body, headers=self._headers)

        answer = asyncio.run(send())
        if answer.status_code != 200:
            raise SystemExit(f"{action}: {answer.text}")
        found: dict[str, Any] = answer.json()
        return found

    def text(self) -> dict[str, Any]:
        """Return the text as the desk shows it."""
        return self.call("text", ref=self.ref)

    def act(self, action: str, reason: str = "") -> None:
        """Do something with the text as it is."""
        text = self.text()
        shown = text["in_page"]["digest"]
        self._measured(action, seen=text["seen"], shown=shown, reason=reason)

    def change(self, action: str, **more: object) -> None:
        """Change the first block with a statement."""
        text = self.text()
        block = text["statements"][0]["block"]
        change = {"action": action, "block": block, "digest": text["blocks"][block]["digest"]}
        self._measured("change", name=action, seen=text["seen"], changes=[{**change, **more}])

    def take_back(self) -> None:
        """Take back the first difference to the text before it was changed."""
        seen = self.text()["seen"]
        rows = self._measured("compare", earlier="generated")["rows"]
        self._measured("change", name="take back", seen=seen, changes=[rows[0]["change"]])

    def _measured(self, action: str, *, name: str | None = None, **body: object) -> dict[str, Any]:
        answer: dict[str, Any] = {}

        def call() -> None:
            answer.update(self.call(action, ref=self.ref, **body))

        times.setdefault(name or action, []).append(seconds_of(call))
        return answer


times: dict[str, list[float]] = {}
"""The seconds of each act on the text that is measured."""


def seconds_of(call: Callable[[], object]) -> float:
    """Return the seconds of the processor that a call takes."""
    began = time.process_time()
    call()
    return time.process_time() - began


@contextmanager
def desk_of(root: Path) -> Iterator[DeskClient]:
    """Open the desk of a site in this process."""
    before = Path.cwd()
    os.chdir(root)
    reporter = LineReporter(lambda line: None)
    builder = Builder([], reporter)
    load = lambda: open_site(None, drafts=True)  # noqa: E731
    with DeskSite(load, (), "Jo", article_to_json, reporter) as texts:
        builder.stamp = texts.stamp
        yield DeskClient(DeskApp(texts, builder, (8767, 8768), "secret"))
    os.chdir(before)


def write_site(root: Path, html: str) -> None:
    """Write a site with one page and its text."""
    (root / "docs").mkdir(parents=True)
    (root / "theme").mkdir()
    (root / "theme/main.html").write_text(TEMPLATE)
    writer = {"model": "m", "endpoint": "http://127.0.0.1:9/v1"}
    config = {
        "site_name": "Site",
        "theme": {"name": None, "custom_dir": "theme"},
        "plugins": [{"contentgen": {"base_url": "writer", "writer": writer}}],
    }
    (root / "mkdocs.yml").write_text(yaml.safe_dump(config))
    request = BlogRequest(topic="Topic")
    front_matter = yaml.safe_dump({"contentgen": request.record()})
    (root / "docs/index.md").write_text(f"---\n{front_matter}---\n")
    store = DiskStore(root / ".cache/plugin/contentgen")
    store.save({request.key(sandbox=False): Text(html, WHEN, request.record(), "m")})
    store.close()


def review(client: DeskClient) -> None:
    """Open the text, and do each act on it. It is undone, so that the next one finds all of it."""
    times["open"] = [seconds_of(client.text)]
    for number in range(ROUNDS):
        client.change("confirm", statement=0)
        client.act("undo")
        client.change("delete")
        client.act("undo")
        client.change("paste", markdown="More words.")
        client.act("undo")
        client.change("edit", markdown=f"Words and ==number {number}==.")
        client.take_back()
        client.act("undo")
        client.act("undo")
        client.act("approve", reason="All of them were read.")
        client.act("undo")


def main(*wanted: str) -> None:
    """Measure texts of all shapes, or of those that are wanted."""
    rows: dict[str, tuple[float, float | None]] = {}
    for shape, body in SHAPES.items():
        if wanted and shape not in wanted:
            continue
        times.clear()
        with TemporaryDirectory() as directory:
            write_site(Path(directory, "site"), f"<article><h1>Topic</h1>{body}</article>")
            with desk_of(Path(directory, "site")) as client:
                review(client)
        for act, measured in times.items():
            goal = OPEN if act == "open" else ACT
            rows[f"{act}, s, {shape}"] = (min(measured), goal)
    report("desk_acts", rows)


if __name__ == "__main__":
    main(*sys.argv[1:])

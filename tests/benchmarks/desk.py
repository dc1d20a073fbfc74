"""What a person at the desk waits for on a large site, over loading that site.

Usage: python tests/benchmarks/desk.py [ROUNDS] [PAGES]

The site is built behind all of it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from large_site import small
from sites import generated_site, in_turn, ratio, report
from starlette.testclient import TestClient

from mkdocs_contentgen.cli.common import open_site
from mkdocs_contentgen.cli.output import article_to_json
from mkdocs_contentgen.desk.app import HOST, DeskApp
from mkdocs_contentgen.desk.builder import Builder
from mkdocs_contentgen.desk.session import DeskSite

API = "/_contentgen/api"


def main(rounds: int = 5, pages: int = 1_000) -> None:
    """Measure in turn loading the site, the list of texts, opening a text, and changing it."""
    with TemporaryDirectory() as directory:
        small(generated_site(Path(directory), pages), contentgen=True)
        os.chdir(directory)
        with DeskSite(lambda: open_site(None, drafts=True), (), "Jo", article_to_json, print) as it:
            client = Client(DeskApp(it, Builder([], print), (8767, 8768), "token"))
            times = in_turn(
                f"the desk, {pages:,} texts of 10 KB",
                {
                    "load the site": lambda: timed(load),
                    "list": lambda: timed(client.queue),
                    "open a text": lambda: timed(client.open),
                    "change a text": lambda: timed(client.change),
                },
                rounds=rounds,
            )
    base = times.pop("load the site")
    report("desk", {f"{name}, over loading": (ratio(it, base), 1.0) for name, it in times.items()})


class Client:
    """A browser with a session."""

    def __init__(self, desk: DeskApp) -> None:
        headers = {"Sec-Fetch-Site": "same-origin"}
        self.http = TestClient(desk, f"http://{HOST}:8767", headers=headers)
        session = self.http.post(f"{API}/session", json={"token": "token"}).json()
        self.http.headers["X-Contentgen-Key"] = session["key"]
        self.ref = self.http.get(f"{API}/queue").json()["texts"][-1]["ref"]
        self.changes = 0

    def queue(self) -> None:
        """Ask for the list of texts."""
        self.http.get(f"{API}/queue").raise_for_status()

    def open(self) -> dict[str, object]:
        """Open a text, as the browser does: with the list, for what comes next."""
        self.queue()
        text: dict[str, object] = self.http.get(f"{API}/texts/{self.ref}").json()
        return text

    def change(self) -> None:
        """Change a block."""
        text = self.http.get(f"{API}/texts/{self.ref}").json()
        self.changes += 1
        change = {
            "action": "edit",
            "block": 1,
            "digest": text["blocks"][1]["digest"],
            "markdown": f"Change {self.changes}",
        }
        body = {"seen": text["seen"], "change": change}
        self.http.post(f"{API}/texts/{self.ref}/change", json=body).raise_for_status()


def load() -> None:
    """Load the site, as each command does."""
    with open_site(None, drafts=True):
        pass


def timed(act: Callable[[], object]) -> float:
    """Return how many seconds something takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

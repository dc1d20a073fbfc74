"""What the plugin costs an author who edits one page under `mkdocs serve`.

Usage: python tests/benchmarks/serve_edit.py [ROUNDS] [PAGES]

MkDocs renders all pages of the site anew. The plugin's share is what its rebuild takes longer than
that of a site where an extension puts ready elements into each page.
"""

from __future__ import annotations

import re
import socket
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sites import Site, elements_site, generated_site, in_turn, report


@contextmanager
def serving(site: Site) -> Iterator[Callable[[], float]]:
    """Serve a site; what it yields edits a page, and returns the seconds of the rebuild."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"],
        cwd=site.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = iter(process.stdout or ())

    def wait_for(pattern: str) -> re.Match[str]:
        return next(match for line in lines if (match := re.search(pattern, line)))

    def edit() -> float:
        with (site.root / "docs/p0.md").open("a") as page:
            page.write("\nOne more line.\n")
        return float(wait_for(r"Documentation built in ([0-9.]+) seconds")[1])

    try:
        wait_for("Serving on")
        yield edit
    finally:
        process.kill()
        process.wait()


def main(rounds: int = 7, pages: int = 300) -> None:
    """Measure, print the table and write the result."""
    with TemporaryDirectory() as directory:
        root = Path(directory)
        with (
            serving(generated_site(root / "generated", pages)) as plugin,
            serving(elements_site(root / "elements", pages)) as ready,
        ):
            times = in_turn(
                f"one page edited under `mkdocs serve`, {pages} pages with articles of 10 KB",
                {"plugin": plugin, "ready elements": ready},
                rounds=rounds,
            )
    whole = statistics.median(times["plugin"])
    share = whole - statistics.median(times["ready elements"])
    report(
        "serve_edit",
        {
            "plugin's share of the rebuild, ms": (share * 1000, None),
            "plugin's share of the rebuild, %": (share / whole * 100, None),
        },
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

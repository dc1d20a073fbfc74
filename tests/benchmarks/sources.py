"""What sources cost: the index of 600 sections, and a query.

Usage: python tests/benchmarks/sources.py [FOLDER]

FOLDER has Markdown files, by default those of this guide, again and again. With one, it also prints
how often the right page is among the first five when the first sentence of a section is looked for.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sites import report

sys.path.insert(0, str(Path(__file__).parents[1]))

from recall import recall

from mkdocs_contentgen.writer.retrieval import Index
from mkdocs_contentgen.writer.sources import Location, find_files, read_sources

GUIDE = Path(__file__).parents[2] / "example_site/docs"
SECTIONS = 600


def seconds(run: Callable[[], object]) -> float:
    """Return the median time of ten runs."""
    times = []
    for _ in range(10):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main(folder: str = "") -> None:
    """Measure, print the table and write the result."""
    path = Path(folder) if folder else GUIDE
    found, _ = read_sources(find_files([Location(path, path)]))
    some = list(itertools.islice(itertools.cycle(found), SECTIONS))
    index = Index(some)
    rows: dict[str, tuple[float, float | None]] = {
        f"index of {SECTIONS} sections, ms": (seconds(lambda: Index(some)) * 1000, 50.0),
        "query, ms": (seconds(lambda: index.search("Ten ways to speed up a build")) * 1000, 2.0),
    }
    if folder:
        number, share = recall(found)
        rows[f"{number} queries in {len(found)} sections, not found"] = (1 - share, 0.25)
    report("sources", rows)


if __name__ == "__main__":
    main(*sys.argv[1:])

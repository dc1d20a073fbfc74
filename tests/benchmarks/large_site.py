"""How the plugin's share grows with a site: time and memory of 1,000 and 10,000 pages.

Usage: python tests/benchmarks/large_site.py [ROUNDS] [FEWER] [MORE]

The theme is MkDocs' own with a navigation of one page, since Material's grows with the square of
the pages and would hide what is measured.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from sites import Site, build, generated_site, in_turn, pasted_site, processor_time, ratio, report

READ = """
from pathlib import Path
from mkdocs.utils import meta
for path in Path("docs").rglob("*.md"):
    meta.get_data(path.read_text())
"""


def main(rounds: int = 3, fewer: int = 1_000, more: int = 10_000) -> None:
    """Measure both sizes."""
    shares = {}
    rows: dict[str, tuple[float, float | None]] = {}
    with TemporaryDirectory() as directory:
        for pages in (fewer, more):
            root = Path(directory, str(pages))
            generated = small(generated_site(root / "generated", pages), contentgen=True)
            pasted = small(pasted_site(root / "pasted", pages))
            bare = small(Site(root / "bare"))
            for number in range(pages):
                bare.page(number, f"---\ntitle: Title {number}\n---\n")
            times = in_turn(
                f"warm build, {pages:,} pages with articles of 10 KB",
                {"plugin": partial(build, generated), "no text at all": partial(build, bare)},
                rounds=rounds,
            )
            pairs = zip(times["plugin"], times["no text at all"], strict=True)
            shares[pages] = statistics.median(one - other for one, other in pairs) / pages
            rows[f"plugin's share per page, ms, {pages:,} pages"] = (shares[pages] * 1000, None)
            memory = peak(generated) / peak(pasted)
            rows[f"peak memory over pasted HTML, {pages:,} pages"] = (memory, 1.05)
        reading = in_turn(
            f"status, {more:,} pages",
            {
                "contentgen status": partial(
                    processor_time, generated, "mkdocs_contentgen", "status", "--json"
                ),
                "reading front matter": partial(
                    processor_time, generated, "timeit", "-n1", "-r1", READ
                ),
            },
            rounds=rounds,
        )
    rows["share per page, large site over small"] = (shares[more] / shares[fewer], 1.1)
    status = ratio(reading["contentgen status"], reading["reading front matter"])
    rows["status over reading the front matter"] = (status, 3.0)
    report("large_site", rows)


def small(site: Site, *, contentgen: bool = False) -> Site:
    """Give a site the small theme."""
    (site.root / "theme").mkdir(parents=True)
    (site.root / "theme/main.html").write_text("<title>{{ page.title }}</title>{{ page.content }}")
    site.configure(
        nav=[{"Start": "p0.md"}],
        theme={"name": None, "custom_dir": str(site.root / "theme")},
        plugins=[{"contentgen": {"disclosure": False}}] if contentgen else [],
    )
    return site


def peak(site: Site) -> float:
    """Build a site in a process of its own; return its peak memory in MB."""
    code = (
        "import resource, subprocess, sys; "
        "subprocess.run([sys.executable, '-m', 'mkdocs', 'build', '--quiet'], check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=site.root, check=True, capture_output=True, text=True
    )
    return int(ran.stdout) / 1024


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

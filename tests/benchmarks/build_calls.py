"""How much of our code a build runs: the functions, their modules, and the calls.

Usage: python tests/benchmarks/build_calls.py [--list]

Builds a site of two pages, of which one has a request, cold over HTTP and then with the text in the
cache. `--list` prints the functions of both builds too, the most called first. Class bodies do not
count, but comprehensions and each step of a generator do, as `sys.setprofile` has them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from sites import Site, article, report

sys.path.insert(0, str(Path(__file__).parents[1]))

from service_double import generated, running

GOALS = {"warm": (280, 28, 500), "cold": (400, 38, 1_000)}

COUNTED_BUILD = """
import json, sys, threading
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from mkdocs.__main__ import cli

PACKAGE = find_spec("mkdocs_contentgen").submodule_search_locations[0] + "/"
NEWLOCALS = 2  # a flag that the code of functions has, but not that of modules and classes
calls = Counter()


def count(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_flags & NEWLOCALS and code.co_filename.startswith(PACKAGE):
        module = code.co_filename.removeprefix(PACKAGE)
        calls[f"{module}:{code.co_firstlineno}:{code.co_qualname}"] += 1


threading.setprofile(count)
sys.setprofile(count)
try:
    cli(["build", "--quiet"])
finally:
    sys.setprofile(None)
    Path("calls.json").write_text(json.dumps(calls))
"""


def counted(site: Site, environment: dict[str, str]) -> Counter[str]:
    """Build a site; return the number of calls by `MODULE:LINE:FUNCTION`."""
    subprocess.run(
        [sys.executable, "-c", COUNTED_BUILD], cwd=site.root, env=environment, check=True
    )
    return Counter(json.loads((site.root / "calls.json").read_text()))


def figures(calls: Counter[str]) -> tuple[int, int, int]:
    """Return how many functions, modules and calls there are."""
    return len(calls), len({name.split(":")[0] for name in calls}), calls.total()


def main(*arguments: str) -> None:
    """Count both builds, print a table and write the result."""
    with TemporaryDirectory() as directory, running() as service:
        service.answer = generated(article(1, kilobytes=8))
        site = Site(Path(directory))
        site.configure(plugins=["search", "contentgen"])
        site.page(0, "---\ncontentgen: {type: blog, topic: Topic}\n---\n")
        site.page(1, "", "# A page without a request\n\nIts text.\n")
        environment = {**os.environ, **service.environment}
        builds = {name: counted(site, environment) for name in ("cold", "warm")}
    if "--list" in arguments:
        for name, calls in builds.items():
            print(f"\n{name}\n" + "\n".join(f"{n:6} {it}" for it, n in calls.most_common()))
    report(
        "build_calls",
        {
            f"{what} of a {name} build": (value, goal)
            for name, calls in builds.items()
            for what, value, goal in zip(
                ("functions", "modules", "calls"), figures(calls), GOALS[name], strict=True
            )
        },
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What the plugin costs a build that asks for nothing, against doing the same by hand.

Usage: python tests/benchmarks/warm_build.py [ROUNDS] [PAGES]

It compares processor time, since a warm build waits for nothing but the disk.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from sites import (
    elements_site,
    generated_site,
    handwritten_site,
    in_turn,
    pasted_site,
    plain_site,
    processor_time,
    ratio,
    report,
)

BUILD = ("mkdocs", "build", "--quiet")


def main(rounds: int = 5, pages: int = 300) -> None:
    """Measure a site of articles, and one where no page asks for any."""
    with TemporaryDirectory() as directory:
        root = Path(directory)
        articles = {
            "plugin": generated_site(root / "generated", pages),
            "pasted HTML": pasted_site(root / "pasted", pages),
            "Markdown": handwritten_site(root / "handwritten", pages),
            "ready elements": elements_site(root / "elements", pages),
        }
        warm = in_turn(
            f"warm build, {pages} pages with articles of 10 KB",
            {name: partial(processor_time, site, *BUILD) for name, site in articles.items()},
            rounds=rounds,
        )
        plain = {
            "plugin": plain_site(root / "with", pages, plugins=["search", "contentgen"]),
            "none": plain_site(root / "without", pages, plugins=["search"]),
        }
        unused = in_turn(
            f"build, {pages} pages without any request",
            {name: partial(processor_time, site, *BUILD) for name, site in plain.items()},
            rounds=rounds,
        )
    report(
        "warm_build",
        {
            "warm build over pasted HTML": (ratio(warm["plugin"], warm["pasted HTML"]), None),
            "warm build over the same in Markdown": (ratio(warm["plugin"], warm["Markdown"]), 1.00),
            "warm build over ready elements": (ratio(warm["plugin"], warm["ready elements"]), 1.10),
            "no request over no plugin": (ratio(unused["plugin"], unused["none"]), 1.03),
        },
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

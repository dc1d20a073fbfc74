"""What articles cost a build with Zensical, against pasting the same HTML by hand.

Usage: python tests/benchmarks/zensical_build.py [ROUNDS] [PAGES]
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from sites import Site, generated_site, in_turn, pasted_site, ratio, report, run


def with_extensions(site: Site, *extensions: str) -> Site:
    """Add Markdown extensions to the configuration of a site."""
    with (site.root / "mkdocs.yml").open("a") as file:
        file.write(f"markdown_extensions: [{', '.join(extensions)}]\n")
    return site


def main(rounds: int = 5, pages: int = 100) -> None:
    """Measure builds of all pages, and builds in which nothing has changed."""
    with TemporaryDirectory() as directory:
        root = Path(directory)
        articles = with_extensions(generated_site(root / "generated", pages), "contentgen")
        (articles.root / ".cache/plugin/contentgen").rename(articles.root / ".contentgen-cache")
        pasted = with_extensions(pasted_site(root / "pasted", pages), "toc")
        all_pages, unchanged = (
            in_turn(
                f"{name}, {pages} pages with articles of 10 KB",
                {
                    "contentgen zensical": partial(
                        run, articles, "mkdocs_contentgen", "zensical", "build", *arguments
                    ),
                    "zensical": partial(run, articles, "zensical", "build", *arguments),
                    "pasted HTML": partial(run, pasted, "zensical", "build", *arguments),
                },
                rounds=rounds,
            )
            for name, arguments in {"all pages": ["--clean"], "nothing changed": []}.items()
        )
    report(
        "zensical_build",
        {
            "all pages over pasted HTML": (
                ratio(all_pages["contentgen zensical"], all_pages["pasted HTML"]),
                None,
            ),
            "all pages over Zensical alone": (
                ratio(all_pages["contentgen zensical"], all_pages["zensical"]),
                None,
            ),
            "nothing changed over Zensical alone": (
                ratio(unchanged["contentgen zensical"], unchanged["zensical"]),
                1.20,
            ),
        },
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

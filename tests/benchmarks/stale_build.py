"""What it costs a build to look whether the sources of its texts have changed.

Usage: python tests/benchmarks/stale_build.py [ROUNDS] [PAGES]

It compares the processor time of builds of a site where nothing has changed, with texts that cite
three sections each: one that looks these sections up, and one where a hook leaves that out. A
second table is about watched files: `contentgen status` in a repository of 10,000 files, for texts
that watch some of them, and for the same texts without `watch`.
"""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from sites import Site, article, cached, in_turn, processor_time, ratio, report, run

from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.store import DiskStore
from mkdocs_contentgen.writer.sources.sources import Passage, split_passages

BUILD = ("mkdocs", "build", "--quiet")

STATUS = ("mkdocs_contentgen", "status")

URL = "https://docs.example/"

HOOK = """
from mkdocs_contentgen.site.cited_passages import CitedPassages

CitedPassages.stale = lambda self, text: ()
"""
"""The code of a hook with which no source is looked up."""

CITED = 3
"""Sections that a text cites."""

PAGES_WITH_SOURCES = 30
"""Pages of the site that are cited."""

FILES = 10_000
"""Files of the repository with watched files."""

WATCHING = 30
"""Texts that watch files."""


def main(rounds: int = 5, pages: int = 300) -> None:
    """Measure builds whose sources are as they were, and watched files."""
    with TemporaryDirectory() as directory:
        root = Path(directory)
        builds = {
            "sources looked up": citing_site(root / "citing", pages, hook=""),
            "not looked up": citing_site(root / "without", pages, hook=HOOK),
        }
        built = in_turn(
            f"warm build, {pages} texts that cite {CITED} sections each",
            {name: partial(processor_time, site, *BUILD) for name, site in builds.items()},
            rounds=rounds,
        )
        repositories = {
            "watch": watching_site(root / "watching", watch="watch: [src/**/*.py]"),
            "no watch": watching_site(root / "not-watching", watch=""),
        }
        watched = in_turn(
            f"status, {WATCHING} approved texts, {FILES:,} files",
            {name: partial(processor_time, site, *STATUS) for name, site in repositories.items()},
            rounds=rounds,
        )
    report(
        "stale_build",
        {
            "build with sources looked up over one without": (
                ratio(built["sources looked up"], built["not looked up"]),
                1.01,
            ),
            "status with watched files over one without": (
                ratio(watched["watch"], watched["no watch"]),
                None,
            ),
        },
    )


def source_page(number: int) -> str:
    """Return a page with ten sections, of which texts cite some."""
    sections = (
        f"## Part {part}\n\n{f'The part {part} has words. ' * 40}\n\n" for part in range(10)
    )
    return f"# Guide {number}\n\n{''.join(sections)}"


def citing_site(root: Path, pages: int, *, hook: str) -> Site:
    """Make a site of cached texts that cite sections of its pages, with the code of a hook."""
    site = Site(root)
    plugins = ["search", {"contentgen": {"disclosure": False}}]
    site.configure(site_url=URL, plugins=plugins, hooks=["hook.py"])
    (root / "hook.py").write_text(hook)
    passages: list[Passage] = []
    for number in range(PAGES_WITH_SOURCES):
        content = source_page(number)
        (root / f"docs/guide{number}.md").write_text(content)
        passages += split_passages(content, f"guide{number}.md", f"guide{number}/")
    texts: dict[str, Text] = {}
    for number in range(pages):
        site.page(number, f"---\ncontentgen: {{type: blog, topic: Topic {number}}}\n---\n")
        request = BlogRequest(topic=f"Topic {number}")
        cited = [passages[(number * CITED + one) % len(passages)] for one in range(CITED)]
        sources = {f"{URL}{passage.link}": passage.digest for passage in cited}
        said = {f"{URL}{passage.link}": passage.text for passage in cited}
        texts[request.key(sandbox=False)] = Text(
            article(number),
            datetime(2026, 1, 2, tzinfo=UTC),
            request.record(),
            sources=sources,
            passages=said,
        )
    store = DiskStore(root / ".cache/plugin/contentgen")
    store.save(texts)
    store.close()
    return site


def watching_site(root: Path, *, watch: str) -> Site:
    """Make a repository with many files, and approved texts that watch some of them, or none."""
    site = Site(root)
    site.configure(plugins=["search", {"contentgen": {"disclosure": False}}])
    texts: dict[str, Text] = {}
    for number in range(WATCHING):
        fields = ", ".join(filter(None, ["type: blog", f"topic: Topic {number}", watch]))
        site.page(number, f"---\ncontentgen: {{{fields}}}\n---\n")
        texts |= cached(number)
    store = DiskStore(root / ".cache/plugin/contentgen")
    store.save(texts)
    store.close()
    for number in range(FILES):
        path = root / f"src/part{number % 100}/module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"NUMBER = {number}\n")
    (root / ".gitignore").write_text(".cache/\nsite/\n")
    run(site, "mkdocs_contentgen", "approve", "--all", "--by", "Jo")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    commit(root, "All files")
    for number in range(20):
        (root / f"src/part1/module{number * 100 + 1}.py").write_text("NUMBER = 0\n")
        git(root, "add", "--all")
        commit(root, f"Change {number}")
    return site


def commit(root: Path, message: str) -> None:
    """Commit what is added."""
    person = ("-c", "user.name=Jo", "-c", "user.email=jo@docs.example")
    git(root, *person, "commit", "--quiet", "--message", message)


def git(root: Path, *arguments: str) -> None:
    """Run git in a directory."""
    subprocess.run(["git", *arguments], cwd=root, check=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

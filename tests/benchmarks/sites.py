"""What the benchmarks share: sites, builds that are measured, tables and results."""

from __future__ import annotations

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import tostring

import yaml

from mkdocs_contentgen.html.disclosure import Provenance
from mkdocs_contentgen.html.presentation import Presentation, present
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.store import DiskStore

RESULTS = Path(__file__).parent / "results"

HOOK = """
from pathlib import Path
from xml.etree.ElementTree import fromstring

from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

ARTICLES = Path(__file__).with_name("articles")


class Elements(Treeprocessor):
    def run(self, root):
        name = self.md.treeprocessors["relpath"].file.name
        article = fromstring((ARTICLES / f"{name}.xml").read_text())
        title = article.find("h1")
        article.remove(title)
        root.extend([title, article])


class ElementsExtension(Extension):
    def extendMarkdown(self, md):
        md.treeprocessors.register(Elements(md), "elements", 5.5)


def on_config(config):
    config.markdown_extensions.append(ElementsExtension())


def on_page_markdown(markdown, **kwargs):
    return "<!-- an empty page is not converted -->"
"""


def article(number: int, kilobytes: int = 10) -> str:
    """Return an article of about that size, with the kinds of elements that the service sends."""
    paragraph = f"<p>Text {number} <strong>says</strong> {'some more words here ' * 22}</p>"
    styled = '<div class="pro-tip" style="background: #fff3cd; padding: 1rem">A tip.</div>'
    sections = kilobytes * 1024 // (2 * len(paragraph) + len(styled) + 40)
    body = "".join(
        f'<h2 style="color: #2c3e50">Part {part}</h2>{paragraph}{styled}{paragraph}'
        for part in range(sections)
    )
    return f'<article class="blog-post"><h1>Title {number}</h1>{body}</article>'


def cached(number: int) -> dict[str, Text]:
    """Return what a cache holds of the blog post about `Topic NUMBER`, by its key."""
    request = BlogRequest(topic=f"Topic {number}")
    when = datetime(2026, 1, 2, tzinfo=UTC)
    text = Text(article(number), when, request.record())
    return {request.key(sandbox=False): text}


@dataclass
class Site:
    """A project in a directory of its own."""

    root: Path

    def configure(self, **options: object) -> None:
        """Write `mkdocs.yml`: Material, and what `options` say."""
        config = {"site_name": "Site", "theme": {"name": "material", "font": False}, **options}
        (self.root / "docs").mkdir(parents=True, exist_ok=True)
        (self.root / "mkdocs.yml").write_text(yaml.safe_dump(config))

    def page(self, number: int, front: str, text: str = "") -> None:
        """Write a page."""
        (self.root / f"docs/p{number}.md").write_text(f"{front}{text}")


def plain_site(root: Path, pages: int, **options: object) -> Site:
    """Make a site of handwritten pages."""
    site = Site(root)
    site.configure(**options)
    for number in range(pages):
        paragraphs = "".join(f"## Part {n}\n\n{'word ' * 120}\n\n" for n in range(8))
        site.page(number, f"---\ntitle: Page {number}\n---\n", paragraphs)
    return site


def generated_site(root: Path, pages: int) -> Site:
    """Make a site whose pages ask for articles, which are all in its cache."""
    site = Site(root)
    site.configure(plugins=["search", {"contentgen": {"disclosure": False}}])
    texts: dict[str, Text] = {}
    for number in range(pages):
        site.page(number, f"---\ncontentgen: {{type: blog, topic: Topic {number}}}\n---\n")
        texts |= cached(number)
    store = DiskStore(root / ".cache/plugin/contentgen")
    store.save(texts)
    store.close()
    return site


def pasted_site(root: Path, pages: int) -> Site:
    """Make the site whose authors pasted the same HTML into the Markdown."""
    site = Site(root)
    site.configure(plugins=["search"])
    for number in range(pages):
        site.page(number, f"---\ntitle: Title {number}\n---\n", article(number))
    return site


def handwritten_site(root: Path, pages: int) -> Site:
    """Make the site whose authors wrote the same in Markdown, with the same headings."""
    site = Site(root)
    site.configure(plugins=["search"])
    for number in range(pages):
        text = re.sub(r"<div[^>]*>(.*?)</div>", r"\n\n> \1\n\n", article(number))
        for tag, markdown in {"h1": "# ", "h2": "## ", "p": "", "article": ""}.items():
            text = re.sub(rf"<{tag}\b[^>]*>", f"\n\n{markdown}", text).replace(f"</{tag}>", "\n\n")
        text = re.sub("</?strong>", "**", text)
        site.page(number, f"---\ntitle: Title {number}\n---\n", text)
    return site


def elements_site(root: Path, pages: int) -> Site:
    """Make the site where an extension puts the same elements, ready to be shown, into the pages.

    The contents, the search index and the anchors are the same, so this is the limit.
    """
    site = Site(root)
    site.configure(plugins=["search"], hooks=["hook.py"])
    (root / "hook.py").write_text(HOOK)
    (root / "articles").mkdir()
    for number in range(pages):
        site.page(number, f"---\ntitle: Title {number}\n---\n")
        provenance = Provenance("blog", datetime(2026, 1, 2, tzinfo=UTC))
        element, _ = present(article(number), provenance, Presentation())
        (root / f"articles/p{number}.xml").write_text(tostring(element, encoding="unicode"))
    return site


def build(site: Site, **environment: str) -> float:
    """Build a site; return the seconds that it took."""
    return run(site, "mkdocs", "build", "--quiet", **environment)


def run(site: Site, *command: str, **environment: str) -> float:
    """Run a program of Python in a site; return the seconds that it took."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", *command],
        cwd=site.root,
        # Compiled modules are kept, as for users; otherwise each run compiles changed ones anew.
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": ""} | environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - started


def processor_time(site: Site, *command: str) -> float:
    """Run a program of Python in a site; return the processor time that it took, in seconds.

    That of a program that only computes varies less than its time by the clock.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(site, *command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_turn(
    name: str, measured: Mapping[str, Callable[[], float]], *, rounds: int
) -> dict[str, list[float]]:
    """Measure things in turn, after one round that does not count; print a table on the way."""
    print(f"\n{name}\n" + "".join(f"{label:>22}" for label in measured))
    values: dict[str, list[float]] = {label: [] for label in measured}
    for measure in measured.values():
        measure()
    for _ in range(rounds):
        for label, measure in measured.items():
            values[label].append(measure())
        print("".join(f"{values[label][-1]:>20.3f} s" for label in measured))
    return values


def ratio(values: Sequence[float], base: Sequence[float]) -> float:
    """Return the median of the ratios, round by round, since the machine's mood is in both."""
    return statistics.median(one / other for one, other in zip(values, base, strict=True))


def report(file: str, rows: Mapping[str, tuple[float, float | None]]) -> None:
    """Print each figure beside its goal, and write them as JSON to `results/`."""
    print()
    for name, (value, goal) in rows.items():
        said = "" if goal is None else f"   goal {goal:.2f}   {'ok' if value <= goal else 'MISSED'}"
        print(f"{name:60} {value:8.3f}{said}")
    RESULTS.mkdir(exist_ok=True)
    result = {name: {"value": value, "goal": goal} for name, (value, goal) in rows.items()}
    (RESULTS / f"{file}.json").write_text(json.dumps(result, indent=2) + "\n")

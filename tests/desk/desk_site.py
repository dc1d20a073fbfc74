"""A site with drafts to review, for the tests of the desk."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import yaml
from remarks import in_words

from mkdocs_contentgen.requests import BlogRequest, NewsRequest
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.store import DiskStore
from mkdocs_contentgen.writer.sources.sources import split_passages

TEMPLATE = '<!doctype html><html lang="en"><body>{{ page.content }}</body></html>'
SITE_URL = "https://docs.example/"
PLAN = "# Plan\n\n## Speed\n\nA build takes 4 seconds, and took 12 before.\n"
LINK = f"{SITE_URL}plan/#speed"
WHEN = datetime(2026, 11, 20, 10, tzinfo=UTC)
NEWS = NewsRequest(topic="Builds take seconds", length="short", brief="- needs Python 3.11")
BLOG = BlogRequest(topic="Ten habits")
HTML = f"""<article class="news-article"><header><h1>Builds take seconds</h1></header>
<p class="lead">A build takes <mark>4 seconds</mark> now <a href="{LINK}">[1]</a>. It is fast.</p>
<div class="article-body"><h2>What is new</h2><p>Thrown away, says <mark>Jane Smith</mark>.</p>
<ul><li>Needs Python 3.11</li><li>Costs <mark>5 EUR</mark></li></ul><p>The end.</p>
</div></article>"""


def make_site(root: Path, theme: object = None, **config: object) -> None:
    """Write a project with two drafts: a report with three statements to check, and a post.

    The default theme is a small one, with which a build takes half a second.
    """
    writer = {"model": "m", "endpoint": "http://127.0.0.1:9/v1"}
    config = {
        "site_name": "Site",
        "site_url": SITE_URL,
        "theme": theme or {"name": None, "custom_dir": "theme"},
        "plugins": [{"contentgen": {"base_url": "writer", "writer": writer}}],
        **config,
    }
    pages = {
        "index.md": "# Home\n",
        "plan.md": PLAN,
        "report.md": front_matter(NEWS.record()),
        "post.md": front_matter(BLOG.record()),
    }
    (root / "docs").mkdir(exist_ok=True)
    (root / "theme").mkdir(exist_ok=True)
    (root / "theme/main.html").write_text(TEMPLATE)
    (root / "mkdocs.yml").write_text(yaml.safe_dump(config))
    for name, text in pages.items():
        (root / "docs" / name).write_text(text)
    section = next(it for it in split_passages(PLAN, "plan.md", "plan/") if "#" in it.link)
    post = '<article class="blog-post"><h1>Ten habits</h1><p>First.</p><p>Last.</p></article>'
    save(
        root,
        {
            NEWS.key(sandbox=False): Text(
                HTML,
                WHEN,
                NEWS.record(),
                "m",
                {LINK: section.digest},
                in_words("length: too short"),
            ),
            BLOG.key(sandbox=False): Text(post, WHEN, BLOG.record(), "m"),
        },
    )


STALE_HTML = f"""<article class="news-article"><h1>Builds take seconds</h1>
<p>A build takes 40 seconds <a href="{LINK}">[1]</a>.</p><p>The end.</p></article>"""


def save_stale(root: Path) -> None:
    """Put a text into the cache whose source has another figure since it was written."""
    said = PLAN.partition("## Speed\n\n")[2].replace("4 seconds", "40 seconds")
    text = Text(STALE_HTML, WHEN, NEWS.record(), "m", {LINK: "0" * 64}, passages={LINK: said})
    save(root, {NEWS.key(sandbox=False): text})


def front_matter(request: dict[str, object]) -> str:
    """Return a page that asks for a text."""
    return f"---\n{yaml.safe_dump({'contentgen': request})}---\n"


def save(root: Path, texts: dict[str, Text]) -> None:
    """Put texts into the cache of a project, in place of what people have changed there."""
    store = DiskStore(root / ".cache/plugin/contentgen")
    store.save(texts, agreed=True)
    store.close()

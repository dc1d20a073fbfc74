"""The pictures of a report in the guide, in Chromium, with a renderer of Markdown of our own."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

import pytest
from browsing import browser  # noqa: F401  a fixture
from markdown_it import MarkdownIt
from playwright.sync_api import Browser
from remarks import in_words
from repository import commit, git
from sandbox_site import make_site

pytestmark = pytest.mark.system

PICTURES = Path(__file__).parents[2] / "example_site/docs/pictures"

DRAFT = """\
<article><h1>Documentation builds now take seconds</h1>
<p>Until <mark>2024</mark>, the build of the manual took <mark>18 minutes</mark> on one machine.</p>
<p>Four workers share a cache of texts now, which each of them can read.</p></article>
"""

SOURCE = """\
# Build times

The build of the manual took 18 minutes on one machine, until the cache was added.

Today, four workers share a cache.
"""

STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 830px; padding: 16px; }
body { color: light-dark(#1f2328, #f0f6fc); background: light-dark(#ffffff, #0d1117); }
table { border-collapse: collapse; margin: 16px 0; }
th, td { border: 1px solid light-dark(#d1d9e0, #3d444d); padding: 6px 13px; text-align: left; }
a { color: light-dark(#0969da, #4493f8); }
summary { cursor: pointer; }
input { margin: 0 .5em 0 0; }
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_of_a_report(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    browser: Browser,  # noqa: F811
    scheme: Literal["light", "dark"],
) -> None:
    """It shows a statement beside its source; UPDATE_GOLDEN=1 takes it again."""
    site = make_site(tmp_path, monkeypatch)
    options = {"base_url": "writer", "writer": {"model": "any", "sources": ["docs"]}}
    site.configure(plugins=[{"contentgen": options}])
    site.write("docs/build-times.md", SOURCE)
    monkeypatch.setenv("GITHUB_REPOSITORY", "octo/docs")
    monkeypatch.setenv("GITHUB_SHA", "0" * 40)
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path)
    site.draft(DRAFT, is_for_writer=True, remarks=in_words("length: 640 words for 900"))
    site.run("propose", "index.md")
    markdown = site.run("report", "--base", "main")
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    html = re.sub("<details>", "<details open>", html)
    page = browser.new_page(viewport={"width": 900, "height": 480}, color_scheme=scheme)
    page.set_content(f"<style>{STYLE}</style>{html}")
    picture = page.screenshot()
    file = PICTURES / f"report-{scheme}.png"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_bytes(picture)
    # Letters differ from machine to machine; width and height are in bytes 16 to 24.
    assert file.read_bytes()[16:24] == picture[16:24]
    assert page.get_by_role("link", name="build-times.md:3").is_visible()
    page.context.close()

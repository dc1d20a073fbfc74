"""The author's ids are the same with an article in the page and without, whatever it says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given
from hypothesis import strategies as st
from mkdocs.config import load_config
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from test_fuzz import few, fuzz

from mkdocs_contentgen.html.presentation import ArticleMetadata
from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.mkdocs.internals import file_of_page, set_title_found
from mkdocs_contentgen.site.content import PageContent
from mkdocs_contentgen.site.extension import ArticleExtension

HEADINGS = (
    *("Background", "Background 1", "background_1", "One", "two", "fn:1", "HTML", "背景", "介绍"),
    *("A *B* `c`", "Note[^1]", "", "x.y", "[link](#one)", "Own { #background }", "Own {: #_2 }"),
)
TEXTS = (
    *("HTML text[^1].", "Setext\n======", "Background\n---", '<h2 id="two">Raw</h2>'),
    *('A <a id="one"></a> raw id.', '<div id="背景" markdown>\n\n## Background\n\n</div>', "[TOC]"),
    *('<a name="one"></a>', '<p id = "two">Raw</p>'),
    *("- # Background\n- ## One\n", "> ## Two", '!!! note "One"\n\n    # Background'),
    *('=== "Background"\n\n    One.\n\n=== "背景"\n\n    Two.', "---", "Paragraph {: #one }"),
)
END = "\n\n[^1]: Note.\n\n*[HTML]: HyperText Markup Language\n"

headings = st.builds(
    "{} {}".format, st.sampled_from(["#", "##", "####"]), st.sampled_from(HEADINGS)
)
marker = "<!-- contentgen -->"
pages = st.lists(headings | st.sampled_from([*TEXTS, marker]), max_size=8)
articles = st.lists(st.sampled_from(HEADINGS), min_size=1, max_size=4)

SLUGIFY = "!!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}"
TOCS = {
    "default": "permalink: true",
    "separator": "{separator: _, baselevel: 2, anchorlink: true}",
    "unicode": f"slugify: {SLUGIFY}",
}
CONFIGURATION = f"""
site_name: Site
plugins: []
theme: {{name: null, custom_dir: docs}}
markdown_extensions:
- abbr
- admonition
- attr_list
- footnotes
- md_in_html
- pymdownx.tabbed:
    alternate_style: true
    slugify: {SLUGIFY}
- toc:TOC
"""


class Sent(PageContent):
    """An article with these headings."""

    def __init__(self, headings: list[str]) -> None:
        super().__init__(b"")
        parts = "".join(f"<h2>{escape(heading)}</h2><p>Text</p>" for heading in headings[1:])
        self.sent = f"<article class='x'><h1>{escape(headings[0])}</h1><p>Text</p>{parts}</article>"

    def make(self) -> tuple[Element, ArticleMetadata]:
        """Return its element, which is shown like one of a service."""
        article = parse_article(self.sent)
        article.set("class", "contentgen")
        return article, ArticleMetadata("", "", "")


def configure(root: Path, toc: str) -> Path:
    """Write the configuration of a site, and return its path."""
    (root / "docs").mkdir()
    text = CONFIGURATION.replace("TOC", f"\n    {toc}")
    (root / "mkdocs.yml").write_text(text, encoding="utf-8")
    return root / "mkdocs.yml"


def own_ids(html: str) -> list[str]:
    """Return the ids of the author's elements, in order."""
    soup = BeautifulSoup(html, "html5lib")
    for generated in soup.select("article.contentgen, .contentgen-title"):
        generated.decompose()
    return [str(tag["id"]) for tag in soup.find_all(id=True)]


def check(
    render: Callable[[str, Sent | None], str], blocks: list[str], headings: list[str]
) -> None:
    """Compare the ids of a page with and without an article."""
    text = "\n\n".join(blocks) + END
    without = render(text, None)
    with_article = render(text, Sent(headings))
    assert own_ids(with_article) == own_ids(without)
    generated = BeautifulSoup(with_article, "html5lib").select("article.contentgen [id]")
    ids = [str(tag["id"]) for tag in generated]
    assert len(set(ids)) == len(ids)
    named = [str(tag["name"]) for tag in BeautifulSoup(without, "html5lib").select("a[name]")]
    assert not {*ids} & {*own_ids(without), *named}


def test_an_article_changes_no_id_of_the_author(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Random pages of the author's keep the ids of headings, notes, tabs and raw HTML."""
    configs = {
        name: load_config(str(configure(tmp_path_factory.mktemp("site"), toc)))
        for name, toc in TOCS.items()
    }
    extensions = {name: config.markdown_extensions for name, config in configs.items()}

    def render_page(toc: str, text: str, article: Sent | None) -> str:
        config = configs[toc]
        extension = ArticleExtension(file_of_page, set_title_found)
        extension.articles = {"page.md": {"main": article}} if article else {}
        # The type says names only, but Markdown accepts objects too.
        config.markdown_extensions = [*extensions[toc], extension]  # type: ignore[list-item]
        file = File("page.md", src_dir=None, dest_dir=config.site_dir, use_directory_urls=True)
        file.content_string = text
        page = Page(None, file, config)
        page.read_source(config)
        page.render(config, Files([file]))
        return str(page.content)

    @few
    @given(toc=st.sampled_from(list(TOCS)), blocks=pages, headings=articles)
    @example("default", ["## Background", marker, "## Background"], ["Background", "Background"])
    @example("separator", [marker, "## 背景", "## 介绍"], ["标题", "背景"])
    @example("unicode", [marker, '=== "Background"\n\n    One.'], ["Background"])
    def check_pages(toc: str, blocks: list[str], headings: list[str]) -> None:
        check(partial(render_page, toc), blocks, headings)

    fuzz(check_pages)

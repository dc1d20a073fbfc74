"""How articles get into pages: each directory `golden/embedding/CASE` is a site that is built.

`page.md` is its page; an article of the topic `NAME` is `NAME.html`, as the service sends it, where
a control picture such as ␂ stands for the control character. `mkdocs.yml`, if it is there, adds to
the configuration below. What is expected: `expected.html` (`page.content`), `expected.toc.txt`
(title and table of contents) and `expected.log` (what the build says); UPDATE_GOLDEN=1 rewrites
them.
"""

from __future__ import annotations

import logging
import shutil
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from bs4 import BeautifulSoup, Tag
from golden_file import GOLDEN, expect
from harmless import CONTROLS
from hypothesis import given
from hypothesis import strategies as st
from markdown import markdown
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink
from mkdocs.utils.templates import TemplateContext
from sent_article import SentArticle
from service_double import TOKEN, USER, Handler, Received, ServiceDouble, generated

from mkdocs_contentgen.html.disclosure import Provenance
from mkdocs_contentgen.html.plaintext import plain_text
from mkdocs_contentgen.html.presentation import Presentation
from mkdocs_contentgen.mkdocs.internals import file_of_page, set_title_found
from mkdocs_contentgen.site.content import PageContent
from mkdocs_contentgen.site.extension import ArticleExtension

CASES = sorted(path.parent for path in (GOLDEN / "embedding").glob("*/page.md"))
PICTURES = {0x2400 + code: code for code in range(32)} | {0x2421: 0x7F}

BASE: dict[str, object] = {"site_name": "Site", "theme": {"name": None, "custom_dir": "theme"}}
OPTIONS = {"user_id": USER, "styles": "strip", "disclosure": False}


class NoOptions(Config):
    """The options of the reader."""


class Reader(BasePlugin[NoOptions]):
    """Keeps the pages that MkDocs renders."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}

    def on_page_context(
        self, context: TemplateContext, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> None:
        """Keep a page when all plugins and MkDocs are done with it."""
        self.pages[page.file.src_uri] = page


@pytest.fixture
def cache_dir() -> Iterator[str]:
    """Return a directory in memory, where there is one: the cache waits for the disk."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as directory:
        yield directory


def build_site(case: Path, root: Path, service: ServiceDouble, cache_dir: str) -> Page:
    """Build the site of a case below `root`, as `mkdocs build` does, and return its page."""
    shutil.copytree(case, root / "docs", ignore=shutil.ignore_patterns("*.html", "mkdocs.yml"))
    (root / "theme").mkdir()
    (root / "theme" / "main.html").write_text("<head></head>{{ page.title }} {{ page.content }}")
    options = OPTIONS | {"base_url": service.base_url, "cache_dir": cache_dir}
    base = BASE | {"plugins": {"contentgen": options}}
    (root / "base.yml").write_text(yaml.safe_dump(base))
    own = (case / "mkdocs.yml").read_text("utf-8") if (case / "mkdocs.yml").exists() else ""
    (root / "mkdocs.yml").write_text(f"INHERIT: base.yml\n{own}", encoding="utf-8")

    def answer(request: Received, handler: Handler) -> None:
        generated(article_of(case, request.topic))(request, handler)

    service.answer = answer
    config = load_config(str(root / "mkdocs.yml"))
    reader = config.plugins["reader"] = Reader()
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    config.plugins.on_shutdown()
    return reader.pages["page.md"]


def article_of(case: Path, topic: str) -> str:
    """Return what the service answers in a case."""
    return (case / f"{topic}.html").read_text(encoding="utf-8").translate(PICTURES)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_page_is_as_expected(
    case: Path,
    tmp_path: Path,
    service: ServiceDouble,
    cache_dir: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page's content, title, table of contents and warnings are those of its golden files."""
    caplog.set_level(logging.WARNING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONTENTGEN_ON_MISSING", raising=False)
    monkeypatch.setenv("CONTENTGEN_TOKEN", TOKEN)
    page = build_site(case, tmp_path, service, cache_dir)
    expect(f"{page.content}\n", case / "expected.html")
    expect(f"{page.title}\n{''.join(entries(page.toc))}", case / "expected.toc.txt")
    messages = (f"{record.levelname}: {record.getMessage()}\n" for record in caplog.records)
    log = "".join(message for message in messages if "disclosure: is false" not in message)
    expect(log, case / "expected.log")

    soup = BeautifulSoup(str(page.content), "html5lib")
    assert not CONTROLS.search(str(page.content))
    ids = [tag["id"] for tag in soup.find_all(id=True)]
    assert len(set(ids)) == len(ids)
    for title in soup.select("h1.contentgen-title"):
        soup.select_one("article").insert(0, title)  # type: ignore[union-attr]  # it has one
    shown = sorted(text_of(article) for article in soup.find_all("article"))
    sent = []
    for topic in service.topics:
        parsed = BeautifulSoup(article_of(case, topic), "html5lib")
        for title in parsed.select("h1") if case.name.startswith("level_none_") else ():
            title.decompose()
        sent += [CONTROLS.sub("", text_of(article)) for article in parsed.find_all("article")]
    assert shown == sorted(sent)


def text_of(article: Tag) -> str:
    """Return the text of an article, without spaces and what is added to it."""
    for added in article.select("a.headerlink, p.contentgen-disclosure"):
        added.decompose()
    return "".join(article.get_text().split())


def entries(toc: Iterable[AnchorLink], indent: str = "") -> Iterator[str]:
    """Show a table of contents, one entry a line."""
    for entry in toc:
        yield f"{indent}- {entry.title} {entry.url}\n"
        yield from entries(entry.children, f"{indent}  ")


EXTENSIONS = ["abbr", "attr_list", "footnotes", "md_in_html", "nl2br", "smarty", "tables"]
PAGE = """# Own *title* & `code`[^1] <b>raw</b> "quotes" \\* <user@example.org>

<div>raw</div>

[TOC]

<!-- contentgen -->

[^1]: Note.

*[HTML]: HyperText Markup Language
"""

nasty = st.sampled_from(
    [
        *("[TOC]", "{{ x }}", "{: #x }", "*[HTML]: x", "HTML", "[^1]", "**b**", "`c`", "\\", "#"),
        *("&", "&amp;", "&lt;", "&amp;amp;", "&copy;", "&copy", "&#60;", "&nbsp;", "\xa0"),
        *("<b>", "</p>", "<!-- x -->", "<!-- contentgen -->", "<", ">", '"', "'", "--", "..."),
        *("\x02wzxhzdk:0\x03", "\x02klzzwxh:0000\x03", "\x02amp\x03", "\x0260\x03", "wzxhzdk:0"),
        *("\n", " ", "  ", "\t", "[", "]", "|"),
    ]
)
texts = st.lists(nasty | st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=8)


@pytest.fixture(scope="module")
def a_site(tmp_path_factory: pytest.TempPathFactory) -> MkDocsConfig:
    """Return a site with many Markdown extensions."""
    root = tmp_path_factory.mktemp("site")
    (root / "docs").mkdir()
    config = BASE | {"plugins": [], "markdown_extensions": EXTENSIONS}
    config["theme"] = {"name": None, "custom_dir": "."}
    (root / "mkdocs.yml").write_text(yaml.safe_dump(config))
    return load_config(str(root / "mkdocs.yml"))


@given(title=texts.map("".join), text=texts.map("".join), words=texts.map("".join))
def test_whatever_an_article_says_comes_out_as_it_is(
    title: str, text: str, words: str, a_site: MkDocsConfig
) -> None:
    """No character of headings, texts and attributes is Markdown, an entity or a place."""
    html = (
        f"<article><h1>{escape(title)}</h1><p>{escape(text)}</p>-"
        f'<ul><li><abbr title="{escape(words)}">{escape(words)}</abbr>{escape(text)}</li></ul>'
        f"<pre><code>x{escape(text)}</code></pre></article>"
    )
    extension = ArticleExtension(file_of_page, set_title_found)
    extension.articles = {"page.md": {"main": SentArticle(html)}}
    a_site.markdown_extensions = [*EXTENSIONS, "toc"]
    # MkDocs types the list as one of names, and hands it to Markdown, which takes both.
    a_site.markdown_extensions.append(extension)  # type: ignore[arg-type]
    file = File("page.md", src_dir=None, dest_dir=a_site.site_dir, use_directory_urls=True)
    file.content_string = PAGE
    page = Page(None, file, a_site)
    page.read_source(a_site)
    page.render(a_site, Files([file]))

    (shown,) = BeautifulSoup(str(page.content), "html5lib").find_all("article")
    (sent,) = BeautifulSoup(html, "html5lib").find_all("article")
    assert shown.get_text() == CONTROLS.sub("", sent.get_text())
    titles = [str(article.find_all("abbr")[0]["title"]) for article in (shown, sent)]
    assert titles[0] == plain_text(CONTROLS.sub("", titles[1]))
    assert extension.rendered["page.md"].problems == []


TRANSLATION = Provenance("blog", datetime(2026, 1, 2, tzinfo=UTC), translated_from="en")


@pytest.mark.parametrize(
    ("provenance", "own_lines", "end"),
    [
        (
            replace(TRANSLATION, language="de"),
            {},
            '<p class="contentgen-disclosure contentgen-end">Ende des KI-übersetzten Textes</p>',
        ),
        (
            replace(TRANSLATION, language="he"),
            {},
            '<p class="contentgen-disclosure contentgen-end" dir="ltr" lang="en">'
            "End of the AI-translated text</p>",
        ),
        (
            replace(TRANSLATION, language="de"),
            {"translated_end": "A & B", "end": "x"},
            '<p class="contentgen-disclosure contentgen-end">A &amp; B</p>',
        ),
        (replace(TRANSLATION, author="Jo"), {}, '<hr class="contentgen-end"/>'),
        (TRANSLATION, {"translated_end": ""}, '<hr class="contentgen-end"/>'),
        (TRANSLATION, None, '<hr class="contentgen-end"/>'),
    ],
)
def test_the_end_of_a_translation(
    provenance: Provenance, own_lines: dict[str, str] | None, end: str
) -> None:
    """Where the author's text follows, a line in the language of the translation says so."""
    content = PageContent(
        zlib.compress(b"<article><p>x</p></article>"),
        provenance,
        Presentation(disclosure=own_lines),
    )
    file = File("page.md", "docs", "site", use_directory_urls=True)
    extension = ArticleExtension(
        lambda md: file, lambda md, root, title: None, {"page.md": {"main": content}}
    )
    html = markdown("<!-- contentgen -->\n\nMine.\n", extensions=[extension])
    article = BeautifulSoup(html, "html.parser").article
    assert article
    assert str(article.contents[-1]) == end

"""Contentgen beside its neighbours: each row of `neighbours.yml` is a site that is really built.

It is built twice: with contentgen, and as if the author had written a page of the article's title
by hand and contentgen did not exist. So each build also shows that the other pages are the same.
"""

from __future__ import annotations

import functools
import json
import os
import posixpath
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from fnmatch import fnmatch
from html import escape, unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

import httpx
import pytest
import yaml
from browsing import chromium
from bs4 import BeautifulSoup, Tag
from conftest import Project, wait_until
from neighbours import Neighbour, read_neighbours, table
from service_double import Handler, Received, ServiceDouble, generated, listening

from mkdocs_contentgen.html.disclosure import DISCLOSURE_LINES

TITLE = "Builds & readers"
ESCAPED_TITLE = "Builds &amp; readers"
"""What MkDocs makes of any title; some plugins show it as it is, for pages of all kinds."""

LEAD = "What a reader waits for is not the build."
DRAFT = DISCLOSURE_LINES["draft"]
FILLER = "Every word of it was generated, paid for once, and is read by somebody. " * 60

pytestmark = pytest.mark.system

NEIGHBOURS = read_neighbours()
TESTED = {"i18n-suffix", "i18n-folder"}


def article(topic: str) -> str:
    """Return an article of several minutes, with what plugins may take for something of theirs."""
    topic = escape(topic)
    return f"""<article><h1>{topic}</h1><p class="lead">{LEAD}</p>
<h2>What it costs</h2>
<p>Of {{{{ 7 * 7 }}}}, {{% include-markdown "other.md" %}}, {{{{ undefined() }}}} and {{: .x }}</p>
<p>::: module</p>
<pre><code>for  page in pages:
    if   page:

        build(page)  # {{% raw %}}
</code></pre>
<h3>In figures</h3><table><thead><tr><th>Pages</th></tr></thead><tbody><tr><td>7</td></tr></tbody>
</table><ul><li>One</li><li>Two</li></ul>
<p>See <a href="https://elsewhere.example/page?a=1&amp;b=2">elsewhere</a>.</p>
<h2>What it brings</h2><p>{FILLER}</p></article>"""


HOOK = """
def on_page_markdown(markdown, **kwargs):
    return markdown.replace("{hooked}", "*of a hook*")
"""
"""What the row of hooks has under `hooks:`; the others do without it."""


@dataclass
class Pair:
    """One site, with contentgen and without."""

    row: Neighbour
    site: Project
    plain: Project
    asking: list[str] = field(default_factory=list)

    def write(self, path: str, content: str) -> None:
        """Write a file into both sites."""
        for project in (self.site, self.plain):
            project.write(path, content)

    def page(self, path: str, text: str = "", topic: str = TITLE, **meta: object) -> None:
        """Write a page that asks for an article and, into the plain site, one by hand."""
        front = self.front(topic, **meta)
        self.site.write(f"docs/{path}", front + text)
        self.plain.write(f"docs/{path}", front + (text or f"# {topic}\n\nBy hand.\n"))
        self.asking.append(path.removesuffix(".md"))

    @staticmethod
    def front(topic: str = TITLE, **meta: object) -> str:
        """Return a front matter that asks for an article."""
        front = {"contentgen": {"type": "blog", "topic": topic}, **meta}
        return f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n"

    def configure(self, **config: object) -> None:
        """Write the configurations of both sites."""
        merged = {"site_name": "Site", **self.row.config, **config}
        plugins = merged.pop("plugins")
        self.plain.write("mkdocs.yml", yaml.safe_dump({**merged, "plugins": plugins}))
        plugins = [*plugins, {"contentgen": self.row.options}]
        self.site.write("mkdocs.yml", yaml.safe_dump({**merged, "plugins": plugins}))

    def build(self, **config: object) -> str:
        """Build both sites strictly, compare their other pages, and return what was printed."""
        self.configure(**config)
        plain, site = (
            project.run(self.row.command, "build", "--strict")
            for project in (self.plain, self.site)
        )
        for built in (plain, site):
            assert built.returncode == 0, built.stdout
        self.assert_other_pages_untouched()
        self.assert_stylesheet_is_there()
        return site.stdout

    def assert_other_pages_untouched(self) -> None:
        """Compare all that has nothing to do with an article, byte for byte."""
        repeats = (*self.row.repeats, "search/search_index.*")
        mine = [
            f"{name}{end}" for name in self.asking for end in (".html", "/index.html", "/index.md")
        ]
        files = self.site.files()
        same = {
            name: content
            for name, content in self.plain.files().items()
            if name not in mine and not any(fnmatch(name, pattern) for pattern in repeats)
        }
        assert [name for name, content in same.items() if files.get(name) != content] == []
        assert len([name for name in same if name.endswith(".html")]) >= 3

    def assert_stylesheet_is_there(self) -> None:
        """Follow the links to contentgen's style sheet, which stand only where an article does."""
        files = self.site.files()
        linking = {
            name: href
            for name in files
            if name.endswith(".html")
            for href in re.findall(r'href="?([^" ]*/contentgen\.css)', self.site.html(name))
        }
        assert linking
        for name, href in linking.items():
            assert posixpath.normpath(posixpath.join(posixpath.dirname(name), href)) in files


@pytest.fixture
def pair(
    request: pytest.FixtureRequest, project: Project, service: ServiceDouble
) -> Iterator[Pair]:
    """Return a site for a row of the table; its builds must not ask anybody but the service."""
    row = NEIGHBOURS[request.param]
    if row.missing():
        absent(f"not installed: {', '.join(row.missing())}")

    def answer(received: Received, handler: Handler) -> None:
        generated(article(received.topic))(received, handler)

    service.answer = answer
    asked: list[str] = []

    def note(connection: Any) -> None:
        asked.append(connection.recv(1000).decode(errors="replace"))

    with listening(note) as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            project.environment |= {name: f"http://{proxy}", name.upper(): f"http://{proxy}"}
        project.environment |= {
            "DISABLE_MKDOCS_2_WARNING": "true",
            "no_proxy": "127.0.0.1",
            "NO_PROXY": "127.0.0.1",
        }
        pair = Pair(
            row,
            replace(project, root=project.root / "with"),
            replace(project, root=project.root / "without"),
        )
        pair.write("docs/index.md", "# Home\n\nText <!-- comment -->\n\n## Part\n\n`code`\n")
        pair.write("hook.py", HOOK)
        pair.write("docs/other.md", "---\ntitle: Other\n---\nOf <b>others</b>.\n\n## Part\n")
        yield pair
    assert asked == []


def beside(name: str) -> pytest.MarkDecorator:
    """Run a test with the site of a row."""
    TESTED.add(name)
    return pytest.mark.parametrize("pair", [name], indirect=True)


def absent(what: str) -> NoReturn:
    """Skip the test, but not where COMPAT says that all is to be there, as CI does."""
    if os.environ.get("COMPAT"):
        pytest.fail(what)
    pytest.skip(what)


def article_in(soup: BeautifulSoup) -> Tag:
    """Return the generated article of a page, with its title, which stands in front of it.

    A theme may have an article of its own around it.
    """
    (found,) = (tag for tag in soup.find_all("article") if not tag.find("article"))
    if title := soup.select_one(".contentgen-title"):
        found.insert(0, title)
    assert isinstance(found, Tag)
    return found


def blocks(html: Tag) -> list[str]:
    """Return the texts of the blocks of some HTML, code with its white space."""
    return [
        text if tag.name == "pre" else " ".join(text.split())
        for tag in html.find_all(["h1", "h2", "h3", "h4", "h5", "h6", "p", "pre", "li", "th", "td"])
        for text in [tag.get_text()]
    ]


def assert_whole(html: Tag, topic: str = TITLE) -> None:
    """Check that an article is here as the service wrote it, and once, with what is said of it."""
    expected = blocks(BeautifulSoup(article(topic), "html.parser"))
    found = blocks(html)
    assert found.count(DRAFT) == 1
    found.remove(DRAFT)
    start = found.index(LEAD) - expected.index(LEAD)
    assert found[start : start + len(expected)] == expected
    assert found.count(LEAD) == 1
    assert html.find("a", href="https://elsewhere.example/page?a=1&b=2")


def test_each_row_has_a_test() -> None:
    """The table beside this file promises nothing that is not tried here."""
    assert set(NEIGHBOURS) == TESTED
    installed = [row for row in NEIGHBOURS.values() if not row.missing()]
    if len(installed) < len(NEIGHBOURS):
        absent("not all neighbours are installed")
    lines = table().splitlines()
    assert len(lines) == len(NEIGHBOURS) + 2
    for row in installed:
        assert f"| {row.name} | {row.version()} | {row.checked} |" in lines


@beside("blog")
def test_blog(pair: Pair) -> None:
    """A post has its article and reading time; the views have its title, line and lead, no more."""
    # Material makes the address before there is a text: of the slug, or else of the file's name.
    pair.page("blog/posts/post.md", date=date(2026, 1, 2), categories=["Speed"], slug="post")
    pair.asking = ["blog/2026/01/02/post"]
    pair.build()
    soup = pair.site.soup("blog/2026/01/02/post/index.html")
    assert_whole(article_in(soup))
    assert soup.title
    assert soup.title.get_text() == f"{TITLE} - Site"
    assert re.search(r"([3-9]) min read", soup.get_text())
    for view in ("blog", "blog/archive/2026", "blog/category/speed"):
        listed = pair.site.soup(f"{view}/index.html").select_one(".md-post__content")
        assert listed
        heading = listed.find("h2")
        assert heading
        assert heading.get_text() == TITLE
        assert DRAFT in listed.get_text()
        assert LEAD in listed.get_text()
        assert "What it costs" not in listed.get_text()


@beside("tags")
def test_tags(pair: Pair) -> None:
    """The list of tags links to the page by the article's title."""
    pair.write("docs/tags.md", "# Tags\n\n<!-- material/tags -->\n")
    pair.page("page.md", tags=["Speed"])
    pair.build()
    link = pair.site.soup("tags/index.html").select_one("#tag\\:speed ~ ul a")
    assert link
    assert (link.get_text(strip=True), link["href"]) == (TITLE, "../page/")
    assert_whole(article_in(pair.site.soup("page/index.html")))


@beside("search")
def test_search(pair: Pair) -> None:
    """The index has the article's sections with their texts, and what is said of them."""
    pair.page("page.md")
    pair.build()
    index = json.loads(pair.site.html("search/search_index.json"))
    assert_sections(index, "page/")
    assert [entry for entry in index["docs"] if DRAFT in entry["text"]]


def assert_sections(index: Any, location: str) -> None:
    """Check the article's sections in a search index."""
    found = {entry["location"]: entry for entry in index["docs"]}
    assert found[location]["title"] == ESCAPED_TITLE
    assert any(LEAD in entry["text"] for entry in index["docs"])
    assert "7 * 7" in found[f"{location}#what-it-costs"]["text"]
    assert found[f"{location}#in-figures"]["title"] == "In figures"
    assert FILLER.strip() in found[f"{location}#what-it-brings"]["text"]


EARLY = """
from pathlib import Path
from mkdocs.plugins import event_priority

@event_priority(-100)
def on_page_markdown(markdown, page, **kwargs):
    if page.file.name == "page":
        Path("early.txt").write_text(f"{page.title}: {page.meta.get('description')}")
"""
"""What the plugin for social cards sees of a page when it begins to draw: a hook writes it down."""


def keep_font(project: Project) -> None:
    """Put a font into the cache for social cards, which would get one of Google's otherwise."""
    from PIL import ImageFont

    font = ImageFont.load_default(10)
    assert isinstance(font, ImageFont.FreeTypeFont)
    folder = project.root / ".cache/plugin/social/fonts/Local"
    folder.mkdir(parents=True)
    (folder / "Regular.ttf").write_bytes(font.font_bytes)


@beside("social")
def test_social(pair: Pair) -> None:
    """A page's card is, to the last byte, that of a page of the same title written by hand."""
    for project in (pair.site, pair.plain):
        keep_font(project)
    pair.write("early.py", EARLY)
    pair.page("page.md")
    pair.plain.write("docs/page.md", f"---\ndescription: {LEAD}\n---\n# {TITLE}\n")
    pair.build(hooks=["early.py"])
    for project in (pair.site, pair.plain):
        assert unescape((project.root / "early.txt").read_text()) == f"{TITLE}: {LEAD}"
    soup = pair.site.soup("page/index.html")
    assert_whole(article_in(soup))
    card = "assets/images/social/page.png"
    for tag, content in {
        "og:title": f"{TITLE} - Site",
        "og:description": LEAD,
        "og:image": f"https://docs.example/{card}",
    }.items():
        found = soup.find("meta", property=tag)
        assert isinstance(found, Tag)
        assert found["content"] == content
    assert pair.site.files()[card] == pair.plain.files()[card]


@beside("privacy")
def test_privacy(pair: Pair) -> None:
    """What the fixture checks is the point: no link of the article is fetched."""
    pair.page("page.md")
    pair.build()
    assert_whole(article_in(pair.site.soup("page/index.html")))


@beside("offline")
def test_offline(pair: Pair) -> None:
    """The page and its search sections are in files that need no server."""
    pair.page("page.md")
    pair.build()
    assert_whole(article_in(pair.site.soup("page.html")))
    index = pair.site.html("search/search_index.js")
    assert_sections(json.loads(index.partition("=")[2].strip().rstrip(";")), "page.html")


@contextmanager
def web_server(root: Path) -> Iterator[str]:
    """Serve a directory until the block ends."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Print nothing."""

    handler = functools.partial(Quiet, directory=str(root))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


@beside("instant")
def test_instant(pair: Pair) -> None:
    """In a browser: to the page with the article and back, in one and the same document."""
    from playwright.sync_api import sync_playwright

    browser_path = chromium()
    if not browser_path:
        absent("no chromium")
    pair.page("page.md")
    with web_server(pair.site.root / "site") as url, ExitStack() as stack:
        pair.build(site_url=url)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(url)
        page.evaluate("window.same = true")
        page.click(f"nav >> text={TITLE}")
        page.wait_for_selector("h2#what-it-costs")
        assert page.title() == f"{TITLE} - Site"
        assert_whole(article_in(BeautifulSoup(page.content(), "html.parser")))
        page.go_back()
        page.wait_for_selector("h1#home")
        assert page.evaluate("window.same") is True
        browser.close()


@beside("macros")
def test_macros(pair: Pair) -> None:
    """The macros of the page and of its request are evaluated, and the article's are text."""
    pair.page("page.md", "# Mine\n\nThis is {{ own }}.\n\n<!-- contentgen -->\n")
    pair.page("titled.md", topic="On {{ own }}")
    pair.plain.write("docs/titled.md", "# On of the author\n")
    pair.build()
    soup = pair.site.soup("page/index.html")
    assert "This is of the author." in soup.get_text()
    assert_whole(soup)
    titled = pair.site.soup("titled/index.html")
    assert titled.title
    assert titled.title.get_text() == "On of the author - Site"
    assert_whole(article_in(titled), "On of the author")


@beside("hooks")
def test_hooks(pair: Pair) -> None:
    """The hook changes the page around the article, and other pages as without contentgen."""
    pair.page("page.md", "# Mine\n\nThis is {hooked}.\n\n<!-- contentgen -->\n")
    pair.build()
    soup = pair.site.soup("page/index.html")
    assert soup.find("em", string="of a hook")
    assert_whole(soup)


@beside("minify")
def test_minify(pair: Pair) -> None:
    """The page is smaller, and its article the same."""
    pair.page("page.md")
    pair.build()
    assert "<!-- comment -->" not in pair.site.html("index.html")
    assert_whole(article_in(pair.site.soup("page/index.html")))


@beside("redirects")
def test_redirects(pair: Pair) -> None:
    """The old address leads to a heading that is there."""
    pair.page("page.md")
    pair.build()
    assert "page/#what-it-costs" in pair.site.html("old/index.html")
    assert pair.site.soup("page/index.html").find("h2", id="what-it-costs")


@beside("rss")
def test_rss(pair: Pair) -> None:
    """The feeds have the title and the whole article."""
    pair.page("page.md", date=date(2026, 1, 2))
    pair.build()
    item = ElementTree.fromstring(pair.site.html("feed_rss_created.xml")).find("channel/item")
    assert item is not None
    assert item.findtext("title") == ESCAPED_TITLE
    assert_whole(BeautifulSoup(item.findtext("description") or "", "html.parser"))
    (entry,) = json.loads(pair.site.html("feed_json_created.json"))["items"]
    assert entry["title"] == ESCAPED_TITLE
    assert_whole(BeautifulSoup(entry["content_html"], "html.parser"))


@beside("rss")
def test_rss_with_descriptions(pair: Pair) -> None:
    """What a feed shows of a text that a model wrote says so; what the author wrote does not."""
    rss = {"use_git": False, "match_path": "(page|own|feed|text).md"}
    pair.row = replace(pair.row, config=pair.row.config | {"plugins": [{"rss": rss}]})
    front: dict[str, Any] = {"date": date(2026, 1, 2)}
    pair.page("page.md", **front, rss={"image": "https://docs.example/picture.png"})
    pair.page("own.md", **front, description="By hand.")
    pair.page("feed.md", **front, rss={"feed_description": "For the feed."})
    pair.page("text.md", **front, text="# Mine\n\nMy words.\n")
    pair.build()
    items = ElementTree.fromstring(pair.site.html("feed_rss_created.xml")).iter("item")
    shown = {it.findtext("link"): it.findtext("description") for it in items}
    assert shown == {
        "https://docs.example/page/": f"{LEAD} ({DRAFT})",
        "https://docs.example/own/": "By hand.",
        "https://docs.example/feed/": "For the feed.",
        "https://docs.example/text/": "<h1>Mine</h1> <p>My words.</p>",
    }


@pytest.mark.parametrize(
    "pair", ["rss", "social", "blog", "tags", "search", "minify", "glightbox"], indirect=True
)
@pytest.mark.parametrize("attack", ["</title><script>alert(1)</script>", "\" onload='alert(1)'"])
def test_a_title_is_text_everywhere(pair: Pair, attack: str) -> None:
    """No feed, card, list or index has markup of a title, once or twice decoded."""
    if "social" in str(pair.row.config):
        keep_font(pair.site)
    pair.page("blog/posts/post.md", date=date(2026, 1, 2), topic=attack, slug="post", tags=["A"])
    pair.page("page.md", date=date(2026, 1, 2), topic=escape(attack))
    pair.configure()
    pair.site.ran(pair.row.command, "build", "--strict")
    texts = {n: c.decode() for n, c in pair.site.files().items() if n.endswith(TEXT_FILES)}
    assert len(texts) > 3
    for name, text in texts.items():
        if name.endswith(".xml"):
            ElementTree.fromstring(text)
        elif name.endswith(".json"):
            json.loads(text)
        else:
            soup = BeautifulSoup(text, "html5lib")
            assert "alert(1)" not in [script.get_text() for script in soup.find_all("script")]
            assert not soup.select("[onload]")
            for tag in soup.find_all(["title", "meta"]):
                said = f"{tag.get_text()} {tag.get('content', '')}"
                assert not {"<", ">", '"', "'"} & set(unescape(unescape(said))), said


TEXT_FILES = (".html", ".xml", ".json")


def assert_in_navigation(pair: Pair) -> None:
    """Check the link to the page, on another one."""
    links = pair.site.soup("other/index.html").find_all("a", href="../page/")
    assert TITLE in [link.get_text(strip=True) for link in links]
    assert_whole(article_in(pair.site.soup("page/index.html")))


@beside("awesome-nav")
def test_awesome_nav(pair: Pair) -> None:
    """The navigation that a `.nav.yml` orders has the article's title."""
    pair.write("docs/.nav.yml", "nav: [index.md, page.md, '*']\n")
    pair.page("page.md")
    pair.build()
    assert_in_navigation(pair)


@beside("literate-nav")
def test_literate_nav(pair: Pair) -> None:
    """The navigation that a Markdown file orders has the article's title."""
    pair.write("docs/SUMMARY.md", "* [Start](index.md)\n* *.md\n")
    pair.page("page.md")
    pair.build(exclude_docs="SUMMARY.md\n")
    assert_in_navigation(pair)


@beside("gen-files")
def test_gen_files(pair: Pair) -> None:
    """A page that exists only during the build asks for its article."""
    script = (
        "import mkdocs_gen_files\nwith mkdocs_gen_files.open('page.md', 'w') as f: f.write({!r})\n"
    )
    pair.site.write("make_page.py", script.format(pair.front()))
    pair.plain.write("make_page.py", script.format(f"# {TITLE}\n"))
    pair.asking.append("page")
    pair.build()
    assert_in_navigation(pair)


@pytest.mark.parametrize(
    ("pair", "path"),
    [("i18n-suffix", "{name}.{language}.md"), ("i18n-folder", "{language}/{name}.md")],
    indirect=["pair"],
)
def test_i18n(pair: Pair, path: str) -> None:
    """Languages told apart by suffix or by folder have articles of their own."""
    for name in ("index", "other"):
        text = (pair.site.root / f"docs/{name}.md").read_text()
        for project in (pair.site, pair.plain):
            (project.root / f"docs/{name}.md").unlink()
        for language in ("en", "de"):
            pair.write("docs/" + path.format(name=name, language=language), text)
    topics = {"en": "The end", "de": "Das Ende"}
    for language, topic in topics.items():
        pair.page(path.format(name="page", language=language), topic=topic)
    pair.asking = ["page", "de/page"]
    printed = pair.build()
    # Each language is a build of its own, with a summary.
    summaries = re.findall(r"contentgen: (\w+): 1 text: 0 from approved files", printed)
    assert summaries == ["en", "de"]
    assert_whole(article_in(pair.site.soup("page/index.html")), "The end")
    assert_whole(article_in(pair.site.soup("de/page/index.html")), "Das Ende")
    # All languages have one budget.
    shutil.rmtree(pair.site.root / ".cache")
    pair.row = replace(pair.row, options={"max_requests": 1})
    pair.configure()
    built = pair.site.build()
    assert (built.returncode, "max_requests allows 0" in built.stdout) == (1, True), built.stdout


@pytest.mark.parametrize(
    ("pair", "path"),
    [("i18n-suffix", "{name}.{language}.md"), ("i18n-folder", "{language}/{name}.md")],
    indirect=["pair"],
)
def test_i18n_translations(pair: Pair, path: str) -> None:
    """A page takes its language from the plugin, and its original from the build before."""
    pair.row = replace(pair.row, options={"base_url": "sandbox"})
    pair.configure()
    for name in ("index", "other"):
        text = (pair.site.root / f"docs/{name}.md").read_text()
        (pair.site.root / f"docs/{name}.md").unlink()
        for language in ("en", "de"):
            pair.site.write("docs/" + path.format(name=name, language=language), text)
    original = path.format(name="page", language="en")
    translation = path.format(name="page", language="de")
    pair.site.write(f"docs/{original}", pair.front(TITLE))
    pair.site.write(
        f"docs/{translation}", f"---\ncontentgen: {{translation_of: {original}}}\n---\n"
    )

    pair.site.built("--strict")
    html = pair.site.html("de/page/index.html")
    assert f"[de] {ESCAPED_TITLE}" in html
    assert "(aus: English)" in html
    assert '"translationOfWork": {"@type": "BlogPosting", "inLanguage": "en"' in html
    # What the plugin for languages does is done once.
    for address in ("page/index.html", "de/page/index.html"):
        page = pair.site.soup(address)
        named = [link["hreflang"] for link in page.select("link[hreflang], .md-select__link")]
        assert sorted(named) == ["de", "de", "en", "en"]
    assert "texts to be dropped: 0" in pair.site.ran("mkdocs_contentgen", "prune", "--dry-run")


@beside("i18n-suffix")
def test_commands_know_all_languages(pair: Pair) -> None:
    """Each language's texts are listed, generated, approved, and not dropped as unneeded."""
    pair.configure()
    pair.site.write("docs/page.md", pair.front("English"))
    pair.site.write("docs/page.de.md", pair.front("Deutsch"))

    def contentgen(*arguments: str) -> str:
        ran = pair.site.ran("mkdocs_contentgen", *arguments)
        return ran

    assert "texts generated: 2; failed: 0" in contentgen("generate")
    assert "texts to be dropped: 0" in contentgen("prune", "--dry-run")
    assert contentgen("approve", "--all", "--by", "Jo").count("approved in") == 2
    contentgen("status", "--check")
    pair.site.built("--strict")
    assert "Deutsch" in pair.site.html("de/page/index.html")


@beside("llmstxt")
def test_llmstxt(pair: Pair) -> None:
    """The texts for machines have the article, once."""
    pair.page("page.md")
    pair.build()
    assert f"- [{ESCAPED_TITLE}](https://docs.example/page/index.md)" in pair.site.html("llms.txt")
    for name in ("llms-full.txt", "page/index.md"):
        text = pair.site.html(name)
        assert f"# {TITLE}" in text
        assert "## What it costs" in text
        assert text.count(LEAD) == text.count(DRAFT) == 1
        assert "{{ 7 * 7 }}" in text
        assert FILLER.strip() in text


@beside("git-dates")
def test_git_dates(pair: Pair) -> None:
    """The page's date is that of its last commit."""
    pair.page("page.md")
    author = {
        "GIT_AUTHOR_DATE": "2024-05-06T12:00:00Z",
        "GIT_COMMITTER_DATE": "2024-05-06T12:00:00Z",
    }
    for project in (pair.site, pair.plain):
        for command in (["init", "-q"], ["add", "docs"], ["commit", "-qm", "All"]):
            subprocess.run(
                ["git", "-c", "user.name=A", "-c", "user.email=a@b.example", *command],
                cwd=project.root,
                env=project.environment | author,
                check=True,
            )
    pair.build()
    soup = pair.site.soup("page/index.html")
    shown = soup.select_one(".git-revision-date-localized-plugin")
    assert shown
    assert shown.get_text(strip=True) == "2024-05-06"
    assert_whole(article_in(soup))


@beside("include-markdown")
def test_include_markdown(pair: Pair, service: ServiceDouble) -> None:
    """An included marker is one, and an included page brings no request along."""
    pair.write("docs/_place.md", "Before.\n\n<!-- contentgen -->\n\nAfter.\n")
    pair.page("page.md", '# Mine\n\n{% include-markdown "_place.md" %}\n')
    pair.page("whole.md", "# Whole\n\nOf its author.\n")
    pair.write("docs/including.md", '# Including\n\n{% include-markdown "whole.md" %}\n')
    pair.build(exclude_docs="_place.md\n")
    soup = pair.site.soup("page/index.html")
    assert_whole(soup)
    text = soup.get_text()
    assert text.index("Before.") < text.index(LEAD) < text.index("After.")
    assert service.topics == [TITLE]  # equal requests are sent once
    text = pair.site.soup("including/index.html").get_text()
    assert "Of its author." in text
    assert LEAD not in text


@beside("glightbox")
def test_glightbox(pair: Pair, service: ServiceDouble) -> None:
    """An image from a permitted host can be enlarged, as the author's can."""
    image = '<p><img src="https://pictures.example/a.png" alt="A picture"></p></article>'
    service.answer = generated(article(TITLE).replace("</article>", image))
    pair.page("page.md")
    pair.build()
    picture = pair.site.soup("page/index.html").select_one("article a.glightbox img")
    assert picture
    assert picture["src"] == "https://pictures.example/a.png"


@beside("mkdocstrings")
def test_mkdocstrings(pair: Pair) -> None:
    """A page has its docstrings and its article, and another refers to the article's heading."""
    pair.write("module.py", '"""Of a module."""\n')
    text = "# Mine\n\n::: module\n\n<!-- contentgen -->\n"
    pair.page("page.md", text)
    pair.plain.write("docs/page.md", f"{text}\n## What it costs\n")
    pair.write("docs/refers.md", "# Refers\n\n[To it][what-it-costs]\n")
    pair.build()
    assert pair.site.soup("refers/index.html").find("a", href="../page/#what-it-costs")
    soup = pair.site.soup("page/index.html")
    assert "Of a module." in soup.get_text()
    assert_whole(soup)


@beside("properdocs")
def test_properdocs(pair: Pair) -> None:
    """ProperDocs builds the site as MkDocs does, and counts contentgen's warnings."""
    pair.page("page.md")
    pair.build()
    assert_in_navigation(pair)
    assert_sections(json.loads(pair.site.html("search/search_index.json")), "page/")
    pair.site.write("docs/page.md", pair.front() + "<!-- contentgen nope -->\n")
    built = pair.site.ran("properdocs", "build", "--strict", code=1)
    assert "'nope'" in built


@beside("properdocs")
def test_the_desk_with_properdocs(pair: Pair) -> None:
    """The desk serves the pages that ProperDocs builds from `properdocs.yml`."""
    pair.page("page.md")
    pair.build()
    (pair.site.root / "mkdocs.yml").rename(pair.site.root / "properdocs.yml")
    pair.site.write("mkdocs.yml", "wrong: [")
    assert json.loads(pair.site.run("mkdocs_contentgen", "status", "--json").stdout)
    desk = pair.site.start("mkdocs_contentgen", "review", "--no-open", "--port=0", "--by=Jo")
    try:
        wait_until(lambda: "Ctrl-C" in pair.site.output or desk.poll() is not None)
        address, token = re.findall(r"(http://\S+)/_contentgen/#token=(\S+)", pair.site.output)[0]
        with httpx.Client(headers={"Origin": address}) as browser:
            api = f"{address}/_contentgen/api"
            key = browser.post(f"{api}/session", json={"token": token}).json()["key"]
            browser.headers["X-Contentgen-Key"] = key
            frame = httpx.URL(
                browser.post(f"{api}/page", json={"address": "/page/"}).json()["frame"]
            )
            # Only browsers take each name below `localhost` for this machine.
            here = frame.copy_with(host="127.0.0.1", path="/page/")
            sent = {"Host": frame.netloc.decode()}
            wait_until(lambda: "<article" in browser.get(here, headers=sent).text)
    finally:
        desk.kill()
        desk.wait()


@beside("together")
def test_together(pair: Pair) -> None:
    """With many neighbours at once it makes no difference where contentgen stands in the list."""
    pair.write("docs/_place.md", "This is {{ own }}.\n\n<!-- contentgen -->\n")
    pair.page("page.md", '# Mine\n\n{% include-markdown "_place.md" %}\n', tags=["Speed"])
    pair.page("plain.md", topic="On {{ own }}")
    pair.plain.write("docs/plain.md", "# On of the author\n")
    pair.build(exclude_docs="_place.md\n")
    soup = pair.site.soup("page/index.html")
    assert "This is of the author." in soup.get_text()
    assert_whole(soup)
    last = pair.site.files()
    config = yaml.safe_load((pair.site.root / "mkdocs.yml").read_text())
    config["plugins"].insert(0, config["plugins"].pop())
    pair.site.write("mkdocs.yml", yaml.safe_dump(config))
    pair.site.built("--strict")
    assert pair.site.files() == last


def test_the_table_has_each_row() -> None:
    """The table has the rows of today, with a version for each."""
    table = Path(__file__).with_name("README.md")
    shown = re.findall(r"^\| (.+) \| [0-9][0-9.]* \| (.+) \|$", table.read_text(), re.MULTILINE)
    assert shown == [(row.name, row.checked) for row in NEIGHBOURS.values()]

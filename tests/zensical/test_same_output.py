"""The same site under MkDocs and Zensical: one configuration, one cache, and the same articles.

Two sites are really built with both: the example site, and one that is hard to get right.
"""

from __future__ import annotations

import functools
import json
import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from html import escape
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import yaml
from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString
from conftest import Project
from golden_file import GOLDEN
from service_double import Handler, Received, generated, running

from mkdocs_contentgen.html.disclosure import DISCLOSURE_LINES

pytestmark = pytest.mark.system

EXAMPLE = Path(__file__).parents[2] / "example_site"
ADDRESS = "https://site.example/"

# --- The articles of the hard site ----------------------------------------------------------------

HARD = (GOLDEN / "zensical/hard.html").read_text(encoding="utf-8").replace("ADDRESS", ADDRESS)

NEWS = (GOLDEN / "zensical/news.html").read_text(encoding="utf-8")

WORD = "intruder"
"""What each attack names, and nothing else."""

ATTACKS = (
    f"<img src=x onerror={WORD}()>",
    f"</title><script>{WORD}()</script>",
    f'"><script>{WORD}()</script><b onload="{WORD}()" x="',
    f"' onmouseover='{WORD}()' x='",
    f"&lt;img src=x onerror={WORD}()&gt;",
    f"&amp;lt;script&amp;gt;{WORD}()&amp;lt;/script&amp;gt;",
    f"--><svg onload={WORD}()><!--",
    f"]]></title></p></script></style></template><iframe src=https://{WORD}.example/>",
    "{{ 7*191313 }} {% for x in range(9) %} ${7*191313} {{ config }}",
)
HOSTILE = (
    f'<article class="blog-post" onclick="{WORD}()"><h1>{escape("".join(ATTACKS))}'
    f'<img src=x onerror="{WORD}()"></h1><script>{WORD}()</script>'
    f'<p class="intro">{escape("".join(reversed(ATTACKS)))}</p>'
    + "".join(
        f'<h2 id="{escape(attack)}" title="{escape(attack)}">{escape(attack)}{attack}</h2>'
        f"<p>{escape(attack)}</p><table><caption>{escape(attack)}</caption><tr><td>1</td></tr></table>"
        for attack in ATTACKS
    )
    + "</article>"
)
ARTICLES = {"News": NEWS, "Hostile": HOSTILE, "Hostile post": HOSTILE}

MARKERS = (GOLDEN / "zensical/markers.md").read_text(encoding="utf-8")
NAMES = ("listed", "tabbed", "noted", "quoted", "within", "celled", "appended")

CONFIGURATION = yaml.safe_load((GOLDEN / "zensical/hard.yml").read_text(encoding="utf-8"))


def write_hard_site(project: Project) -> None:
    """Write the pages of the hard site, and approve the texts of two of them."""
    project.configure(**CONFIGURATION)

    def asked(topic: str, **fields: object) -> dict[str, object]:
        return {"type": "blog", "topic": topic, **fields}

    project.write("docs/index.md", "# Home\n\nNothing is asked for here.\n\n## A part\n\nText.\n")
    project.page("only.md", asked("Only"))
    project.page("named.md", asked("Named"))
    title = 'A title & "quotes" in front'
    project.page("titled.md", asked("Titled"), title=title, description="Mine.", tags=["a"])
    project.page("own.md", asked("Own", id="theirs"), "Text --\n\n# Own\n\n## Part\n\nIt's.\n")
    project.page("news.md", {"type": "news", "topic": "News"}, "*[News]: What is new\n")
    project.page("hostile.md", asked("Hostile"))
    project.page("markers.md", [asked(name.title(), id=name) for name in NAMES], MARKERS)
    project.page("approved.md", asked("Approved"))
    project.page("edited.md", asked("Edited"))
    project.write("docs/blog/index.md", "# Blog\n")
    project.page("blog/posts/bare.md", asked("Bare"), date=date(2026, 1, 2), categories=["Builds"])
    project.page("blog/posts/hostile.md", asked("Hostile post"), date=date(2026, 1, 3))
    project.page(
        "blog/posts/author.md",
        asked("In a post"),
        "# An author's post\n\nThe author's -- excerpt.\n\n<!-- more -->\n\n<!-- contentgen -->\n",
        date=date(2026, 1, 4),
    )
    run(project, "mkdocs_contentgen", "generate")
    for page in ("approved.md", "edited.md"):
        run(project, "mkdocs_contentgen", "approve", f"docs/{page}", "--by", 'Jo "J" <b>Doe</b>')
    edited = project.root / "contentgen/edited.md/main.html"
    edited.write_text(edited.read_text("utf-8").replace("A quote", "An edited quote"), "utf-8")


# --- The builds -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """One site, as MkDocs and as Zensical have built it."""

    root: Path

    @property
    def mkdocs(self) -> Path:
        """Return the site as MkDocs has built it."""
        return self.root / "by-mkdocs"

    @property
    def zensical(self) -> Path:
        """Return the site as Zensical has built it."""
        return self.root / "site"

    def asked(self) -> list[int]:
        """Return how many articles each page asks for that asks for any."""
        found = []
        for path in (self.root / "docs").rglob("*.md"):
            if match := FRONT.match(path.read_text("utf-8")):
                requests = yaml.safe_load(match[1]).get("contentgen")
                if requests:
                    found.append(len(requests) if isinstance(requests, list) else 1)
        return found

    @functools.cached_property
    def pages(self) -> Mapping[str, tuple[Seen, Seen]]:
        """Return what is seen on each page that has articles under MkDocs, but for blog views."""
        found = {}
        for path in sorted(self.mkdocs.rglob("*.html")):
            name = path.relative_to(self.mkdocs).as_posix()
            if "contentgen" in (text := path.read_text("utf-8")) and not VIEW.match(name):
                page = see(text)
                if page.articles:
                    found[name] = (page, see((self.zensical / name).read_text("utf-8")))
        return found


FRONT = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
VIEW = re.compile(r"blog/(index|archive/.*|category/.*)(\.html|/index\.html)?")
"""The pages with excerpts of posts."""


@dataclass(frozen=True)
class Seen:
    """What readers, search engines and screen readers get of a page."""

    articles: list[str]
    headings: list[tuple[str, str | None, str]]
    contents: list[tuple[str, str]]
    """Addresses and texts of the table of contents."""

    navigation: list[tuple[str, str]]
    title: str
    description: str | None
    linked_data: list[object]


def see(html: str) -> Seen:
    """Return what is seen on a page."""
    soup = BeautifulSoup(html, "html5lib")
    description = soup.find("meta", {"name": "description"})
    return Seen(
        [str(tag) for tag in soup.select("article.contentgen")],
        [
            (tag.name, tag.get("id"), str(tag))  # type: ignore[misc]  # an id is no list
            for tag in soup.select(".md-content :is(h1, h2, h3, h4, h5, h6)")
        ],
        links(soup, ".md-sidebar--secondary a.md-nav__link[href^='#']"),
        links(soup, ".md-sidebar--primary a.md-nav__link:not([href^='#'])"),
        str(soup.title and soup.title.string),
        str(description["content"]) if description else None,
        [json.loads(str(tag.string)) for tag in soup.select("script[type='application/ld+json']")],
    )


def links(soup: BeautifulSoup, selector: str) -> list[tuple[str, str]]:
    """Return addresses and texts of links."""
    return [(posixpath.normpath(str(link["href"])), words(link)) for link in soup.select(selector)]


def words(tag: Tag) -> str:
    """Return the text of an element, on one line."""
    return " ".join(tag.get_text().split())


def run(project: Project, *command: str) -> str:
    """Run a command that must succeed, and return what it says."""
    result = project.ran(*command)
    return result


def build(project: Project, *, strict: bool) -> Pair:
    """Build a site with both, without asking for a text a second time."""
    options = ["--strict"] if strict else []
    run(project, "mkdocs", "build", *options, "-d", "by-mkdocs")
    said = run(project, "mkdocs_contentgen", "zensical", "build", *options)
    assert " 0 generated, 0 missing" in said
    return Pair(project.root)


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """Return an environment that leads to a service, which is asked for each text once."""

    def answer(request: Received, handler: Handler) -> None:
        html = ARTICLES.get(request.topic, HARD).replace("NAME", request.topic)
        generated(html)(request, handler)

    with running() as service:
        service.answer = answer
        yield service.environment
        assert service.violations == []
        assert len(set(service.topics)) == len(service.topics)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Pair:
    """Build a copy of the example site."""
    root = tmp_path_factory.mktemp("example") / "site"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("site", ".cache"))
    own = {name: value for name, value in environment.items() if not name.startswith("CONTENTGEN_")}
    return build(Project(root, own), strict=True)


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Pair:
    """Build the hard site, whose pages have addresses of files."""
    project = Project(tmp_path_factory.mktemp("hard"), environment)
    write_hard_site(project)
    return build(project, strict=False)


@pytest.fixture(params=[pytest.param("example", marks=pytest.mark.system), "hard"])
def pair(request: pytest.FixtureRequest) -> Pair:
    """Return each of the sites."""
    pair = request.getfixturevalue(request.param)
    assert isinstance(pair, Pair)
    return pair


# --- What is the same -----------------------------------------------------------------------------


def test_each_article_is_the_same(pair: Pair) -> None:
    """All articles that were asked for are there, and each is the same, tag by tag."""
    asked = pair.asked()
    assert len(pair.pages) == len(asked) > 5
    assert sum(len(page.articles) for page, _ in pair.pages.values()) == sum(asked) > 15
    for name, (page, other) in pair.pages.items():
        assert other.articles == page.articles, name


def test_headings_and_contents_are_the_same(pair: Pair) -> None:
    """Headings have the same ids and permalinks, and the table of contents leads to the same."""
    for name, (page, other) in pair.pages.items():
        assert other.headings == page.headings, name
        assert other.contents == page.contents, name
        assert other.navigation == page.navigation, name
    assert sum(len(page.contents) for page, _ in pair.pages.values()) > 30


def test_metadata_are_the_same(pair: Pair) -> None:
    """Pages have the same title and description, and say the same of where articles are from."""
    for name, (page, other) in pair.pages.items():
        assert other.description == page.description, name
        assert other.linked_data == page.linked_data, name
        assert len(page.linked_data) == 1, name
        assert other.title == page.title, name
    assert len({page.title for page, _ in pair.pages.values()}) > 5


def test_the_search_finds_the_same(pair: Pair) -> None:
    """Both searches have the same sections, with the same titles and texts."""
    index = json.loads((pair.mkdocs / "search/search_index.json").read_text("utf-8"))["docs"]
    other = json.loads((pair.zensical / "search.json").read_text("utf-8"))["items"]
    sections = sections_of(index)
    assert sections_of(other) == sections
    assert len(sections) == len(index) == len(other) > 80


def sections_of(entries: list[dict[str, str]]) -> dict[str, tuple[str, str]]:
    """Return titles and texts in an index, by their addresses."""
    return {entry["location"]: (entry["title"], entry["text"]) for entry in entries}


def test_views_of_the_blog_begin_alike(pair: Pair) -> None:
    """Views have the same posts; where MkDocs ends an excerpt behind a lead, Zensical goes on."""
    seen = 0
    for path in sorted((pair.mkdocs / "blog").rglob("*.html")):
        name = path.relative_to(pair.mkdocs).as_posix()
        if not VIEW.match(name):
            continue
        posts, others = (
            BeautifulSoup((site / name).read_text("utf-8"), "html5lib").select(".md-post--excerpt")
            for site in (pair.mkdocs, pair.zensical)
        )
        assert len(posts) == len(others) > 0
        for post, other in zip(posts, others, strict=True):
            for addition in [*post.select("nav"), *other.select("script, style")]:
                addition.decompose()
            excerpt, longer = (
                [words(tag) for tag in article.select(".md-typeset :is(h1, h2, h3, p)")]
                for article in (post, other)
            )
            assert longer[: len(excerpt)] == excerpt, name
            seen += 1
    assert seen >= 3


def test_reviews_are_disclosed_alike(hard: Pair) -> None:
    """An approved article names its reviewer under Zensical, and one edited since does not."""
    (approved,), (edited,) = (
        hard.pages[f"{name}.html"][1].articles for name in ("approved", "edited")
    )
    assert "AI-generated, reviewed by Jo" in approved
    assert DISCLOSURE_LINES["draft"] in edited
    assert "An edited quote" in edited


# --- What an article may not do -------------------------------------------------------------------

MAY_NAME = {"aria-label", "content", "data-toc-label", "href", "id", "title"}
"""The attributes that may hold text of an article."""


def intrusions(html: str) -> Iterator[str]:
    """Find what came of an attack, other than text."""
    for node in BeautifulSoup(html, "html5lib").descendants:
        if isinstance(node, PreformattedString) and WORD in node:
            yield f"{type(node).__name__} {node!r}"
        if not isinstance(node, Tag):
            continue
        if WORD in node.name or (
            node.name in {"iframe", "noscript", "script", "style", "template"}
            and WORD in "".join(map(str, node.contents))
            and node.get("type") != "application/ld+json"
        ):
            yield str(node)
        for name in node.attrs:
            value = " ".join(node.get_attribute_list(name))
            if WORD not in name + value:
                continue
            if name not in MAY_NAME:
                yield f"<{node.name}> has {name}={value!r}"
            elif name == "href":
                address = urlsplit(value)
                if address.scheme not in ("", "https") or address.netloc not in (
                    "",
                    "site.example",
                ):
                    yield f"<{node.name}> leads to {value!r}"


def texts_of(value: object) -> Iterator[str]:
    """Yield all texts within a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for part in value.values() for text in texts_of(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in texts_of(part))


def documents(path: Path) -> Iterator[str]:
    """Yield the file as HTML, or all in it that a reader may take for HTML."""
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        yield from texts_of(json.loads(text))
    elif path.suffix == ".xml":
        for element in ElementTree.fromstring(text).iter():
            yield from [element.text or "", element.tail or "", *element.attrib.values()]
    else:
        yield text


def test_hostile_articles_stay_text(hard: Pair) -> None:
    """Nothing that an article says becomes an element, a script or a template, in any file."""
    found, named = [], set()
    for path in sorted(hard.zensical.rglob("*")):
        name = path.relative_to(hard.zensical).as_posix()
        if path.suffix not in (".html", ".json", ".xml", ".txt", ".md"):
            continue
        assert str(7 * 191313) not in path.read_text("utf-8"), name
        for document in documents(path):
            if WORD in document:
                named.add(name)
                found += [f"{name}: {what[:200]}" for what in intrusions(document)]
    assert found == []
    assert {"hostile.html", "blog/index.html", "search.json", "feed_rss_created.xml"} <= named


@pytest.mark.parametrize("attack", [*ATTACKS[:4], ATTACKS[6], ATTACKS[7]])
def test_attacks_would_be_found(attack: str) -> None:
    """Where a page repeats an attack as it is, in a title, an attribute or a text, it is found."""
    page = "<!doctype html><title>{0}</title><meta content='{0}'><meta content=\"{0}\"><p>{0}</p>"
    assert list(intrusions(page.format(attack)))

"""What generated text says of itself outside its article, in real themes and a real browser.

Every public payload of the golden files is the title, lead, date, byline and headings of an
article. Templates print what the pages say of themselves in every way there is; no script runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser_articles import ATTACKS as GOLDEN_ATTACKS
from browsing import browser, script, served
from conftest import Project, wait_until
from jinja2 import Environment
from playwright.sync_api import Browser, Page
from test_plaintext import ATTACKS as MORE_ATTACKS

__all__ = ["browser"]  # the fixture

PAYLOADS = [*MORE_ATTACKS, *GOLDEN_ATTACKS]
SOME = [*range(len(MORE_ATTACKS)), *range(len(MORE_ATTACKS), len(PAYLOADS), 4)]
"""The numbers of the payloads that are made for templates, and of a fourth of the others."""

VARIANTS = {"raw": SOME, "once": range(len(PAYLOADS)), "twice": SOME}
"""How often a payload is escaped in the HTML of the service, and the payloads for `printed`."""

THEMES: dict[str, dict[str, object]] = {
    "mkdocs": {"theme": {"name": "mkdocs", "highlightjs": False}, "plugins": ["search"]},
    "readthedocs": {"theme": {"name": "readthedocs", "highlightjs": False}, "plugins": ["search"]},
    "material": {
        "theme": {"name": "material", "font": False, "features": ["navigation.prune"]},
        "plugins": ["search", "tags", {"blog": {"post_excerpt": "optional", "pagination": False}}],
    },
}
SITES = (*THEMES, "printed")


def payloads_of(theme: str) -> list[int]:
    """Return the numbers of the payloads that a theme shows: some, since `printed` has all."""
    return SOME[list(THEMES).index(theme) :: len(THEMES)]


in_each_theme = pytest.mark.parametrize("theme", THEMES)

WAYS = """{{ it }} {{ it | e }} {{ it | striptags }} {{ it | striptags | e }}
{{ it | striptags | striptags }}
<p title="{{ it }}"></p><p title='{{ it }}'></p><p title="{{ it | striptags }}"></p>
<p title='{{ it | striptags }}'></p><textarea>{{ it }}</textarea>
<textarea>{{ it | striptags }}</textarea><svg><title>{{ it }}</title></svg><!-- {{ it }} -->
<script>[`{{ it }}`, "{{ it }}", '{{ it }}', {{ it | string | tojson }}]</script>
<script type="application/ld+json">{"it": "{{ it | striptags }}"}</script>
"""
PRINTED = (
    """{% macro print(it) %}"""
    + WAYS
    + """{% endmacro %}<!doctype html><title>x</title>{% for page in nav.pages %}<div>
{{ print(page.title) }}{{ print(page.meta.description) }}{{ print(page.meta.date) }}
{% for item in page.toc recursive %}{{ print(item.title) }}{{ loop(item.children) }}{% endfor %}
</div>{% endfor %}"""
)
FEED = """<feed>{% for page in nav.pages %}<item at="{{ page.title }}" on='{{ page.meta.date }}'>
<title>{{ page.title }}</title><title>{{ page.title | e }}</title>
<title><![CDATA[{{ page.title | striptags }}]]></title>
<description>{{ page.meta.description | e }}</description></item>
{% endfor %}</feed>"""
JSON = """[{% for page in nav.pages %}
["{{ page.title }}", "{{ page.title | striptags }}", "{{ page.meta.description }}"],
{% endfor %}[]]"""

WATCH = """
const fired = what => top.fired.push(`${location.pathname}: ${what}`);
if (top === window) window.fired = [];
window.alert = window.prompt = window.confirm = window.print = fired;
"""


def article(payload: str, variant: str) -> str:
    """Return a news report that has a payload in all that leaves an article."""
    for _ in range(list(VARIANTS).index(variant)):
        payload = escape(payload)
    return (
        f'<article class="news-article"><header><h1>{payload}</h1><p class="byline">By {payload}, '
        f'<time datetime="{escape(payload)}">{payload}</time></p></header>'
        f'<p class="lead">{payload}</p><div class="article-body"><h2>{payload}</h2>'
        f"<h3>{escape(payload)}</h3><p>Tango.</p></div></article>"
    )


def write_site(root: Path, address: str, name: str, environment: dict[str, str]) -> Project:
    """Write the site of a theme, or the one that prints everything in all ways."""
    project = Project(root, environment)
    project.write("docs/index.md", "# Home\n\nText.\n")
    contentgen = {"contentgen": {"max_requests": 5000, "concurrency": 32, "styles": "strip"}}
    # Of some payloads, as they are, nothing is left.
    contentgen["contentgen"] |= {"on_error": "placeholder"} if name == "printed" else {}
    if name == "printed":
        for file, template in {"printed.html": PRINTED, "f.xml": FEED, "j.json": JSON}.items():
            project.write(f"theme/{file}", template)
        project.write("theme/main.html", "<!doctype html><p>{{ page.title }}")
        templates = ["printed.html", "f.xml", "j.json"]
        theme = {"name": None, "custom_dir": "theme", "static_templates": templates}
        project.configure(theme=theme, plugins=[contentgen])
        asked = VARIANTS
    else:
        project.configure(
            **THEMES[name] | {"plugins": [*THEMES[name]["plugins"], contentgen]},  # type: ignore[misc]  # a list
            markdown_extensions=[{"toc": {"permalink": True}}],
            site_url=f"{address}/{name}/",
        )
        asked = {"once": payloads_of(name)}
    for variant, numbers in asked.items():
        for number in numbers:
            request = {"type": "news", "topic": f"{variant} {number}"}
            project.page(f"{variant}/{number // 20}/{number}.md", request, tags=["Tag"])
    if name == "material":
        project.write("docs/tags.md", "# Tags\n\n<!-- material/tags -->\n")
        project.write("docs/blog/index.md", "# Blog\n")
        for number in payloads_of(name):
            request = {"type": "news", "topic": f"once {number}"}
            day, slug = date(2026, 1, 1), str(number)
            project.page(f"blog/posts/{number}.md", request, date=day, slug=slug)
    return project


def compose(topic: str) -> str:
    """Return the report that has a topic like `twice 7`."""
    variant, number = topic.split()
    return article(PAYLOADS[int(number)], variant)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build all sites side by side, serve them, and return where."""
    root = tmp_path_factory.mktemp("sites")
    with served(root, SITES, write_site, compose, "mkdocs", "build") as address:
        yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return a page of a browser that notes in `fired` what scripts would say."""
    context = browser.new_context()
    context.set_default_timeout(120_000)
    context.add_init_script(WATCH)
    page = context.new_page()
    foreign: list[str] = []
    page.on("request", lambda request: foreign.append(request.url))
    yield page
    context.close()
    own = ("http://127.0.0.1:", "data:", "blob:", "about:", "file:")
    assert [url for url in foreign if not url.startswith(own)] == []


def fetched(page: Page, address: str) -> str:
    """Return a file of a site."""
    text: str = page.request.get(address).text()
    return text


def test_no_way_of_printing_runs_a_script(page: Page, address: str) -> None:
    """Titles, descriptions, dates and contents are text, however a template prints them."""
    page.goto(f"{address}/printed/printed.html")
    page.wait_for_timeout(500)
    assert page.locator("div").count() == sum(map(len, VARIANTS.values())) + 1
    assert page.evaluate("fired") == []
    expected = {"title", "p", "textarea", "svg", "script", "div", "html", "head", "body"}
    assert set(page.evaluate("[...document.querySelectorAll('*')].map(it => it.localName)")) == (
        expected
    )
    names = "[...document.querySelectorAll('*')].flatMap(it => it.getAttributeNames())"
    assert set(page.evaluate(names)) == {"title", "type"}


def test_feeds_and_json_stay_whole(page: Page, address: str) -> None:
    """Neither XML nor JSON that prints them ends early."""
    feed = ElementTree.fromstring(fetched(page, f"{address}/printed/f.xml"))
    assert len(feed) == sum(map(len, VARIANTS.values())) + 1
    assert {child.tag for item in feed for child in item} == {"title", "description"}
    assert len(json.loads(fetched(page, f"{address}/printed/j.json"))) == len(feed) + 1


def test_scripts_would_be_noticed(page: Page, tmp_path: Path) -> None:
    """The same ways of printing run many of the payloads as they are."""
    file = tmp_path / "unsafe.html"
    fired = 0
    for payload in MORE_ATTACKS:
        html = Environment(autoescape=False).from_string(WAYS).render(it=payload)
        file.write_text(f"<!doctype html>{html}")
        page.goto(file.as_uri())
        page.wait_for_timeout(20)
        fired += bool(page.evaluate("fired"))
    assert fired >= 5


@in_each_theme
def test_no_theme_runs_a_script(page: Page, address: str, theme: str) -> None:
    """No page of a theme runs a script of a title, lead, date, byline or heading."""
    paths = [f"once/{number // 20}/{number}/" for number in payloads_of(theme)]
    if theme == "material":
        posts = (f"blog/2026/01/01/{number}/" for number in payloads_of(theme))
        paths += [*posts, "blog/", "tags/"]
        # Once is enough for what a theme does by itself.
        page.route("**/assets/javascripts/**", lambda route: route.abort())
    page.goto(f"{address}/{theme}/")
    assert page.evaluate(script("handlers"), [f"/{theme}/{path}" for path in paths]) == []
    assert page.evaluate("fired") == []


@in_each_theme
def test_no_search_runs_a_script(page: Page, address: str, theme: str) -> None:
    """What a search shows of titles and texts is text."""
    page.goto(f"{address}/{theme}/" + ("search.html?q=tango" if theme == "readthedocs" else ""))
    if theme == "mkdocs":
        page.get_by_role("link", name="Search").click()
    if theme != "readthedocs":
        box = page.locator(".md-search__input, #mkdocs-search-query").first
        box.fill("tango")
    results = page.locator(
        "#mkdocs-search-results article, .md-search-result__item, #mkdocs-search-results h3"
    )

    def are_found() -> bool:
        if theme != "readthedocs":
            box.press("End")  # before the index has been loaded, this has no effect
        page.wait_for_timeout(100)
        return results.count() > 2

    wait_until(are_found)
    page.wait_for_timeout(300)
    assert page.evaluate("fired") == []

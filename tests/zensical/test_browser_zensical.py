"""Articles of Zensical sites in a real browser: both variants of its theme, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from browser_articles import ATTACKS, SANDBOX, texts
from browsing import (
    Look,
    Visitor,
    browser,
    differs_from_asked,
    keeps_meanings,
    new_violations,
    script,
    served,
    too_faint,
    visiting,
)
from conftest import Project
from playwright.sync_api import Browser, Page
from test_browser import MATERIAL, wait_for_instant_navigation, wait_until_it_fits

__all__ = ["browser"]  # the fixture

VARIANTS = ("modern", "classic")
LOOKS = [Look(variant, scheme) for variant in VARIANTS for scheme in ("light", "dark")]
SCHEMES = {"light": "default", "dark": "slate"}

HOSTILE = escape("\"></title><img src=x onerror=alert('text')>")
PERILOUS = (
    f"<article><h1>{HOSTILE} title</h1><p>{HOSTILE} lead</p>"
    f"<h2>Perilous {HOSTILE}</h2><p>Of {HOSTILE} perils.</p></article>"
)


def write_project(root: Path, address: str, variant: str, environment: dict[str, str]) -> Project:
    """Write the site of a variant."""
    project = Project(root, environment)
    project.configure(
        theme={**MATERIAL, "variant": variant},
        plugins=["search", {"contentgen": {"max_requests": 1000, "concurrency": 32}}],
        markdown_extensions=[
            "contentgen",
            {"toc": {"permalink": True}},
            *("pymdownx.highlight", "pymdownx.superfences"),
        ],
        site_url=f"{address}/{variant}/",
    )
    project.write("docs/index.md", "# Plain\n\nA paragraph.\n\n## A section\n\n- a list\n")
    colours = {"type": "blog", "topic": "Colours", "id": "colours"}
    project.page("all.md", [colours, {"type": "news", **SANDBOX["news"].body()}])
    for topic in ("Wide", "Perilous", "Styled"):
        project.page(f"{topic.lower()}.md", {"type": "article", "topic": topic})
    attacks = [f"Attack {n}" for n in range(VARIANTS.index(variant), len(ATTACKS), 8)]
    project.page(
        "attacks.md",
        [{"type": "article", "topic": topic, "id": f"a{n}"} for n, topic in enumerate(attacks)],
    )
    return project


@pytest.fixture(scope="module")
def tour(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """Build and serve a site in each variant, and return a visitor for all tests."""
    root, articles = tmp_path_factory.mktemp("zensical"), {**texts(), "Perilous": PERILOUS}
    build = ("mkdocs_contentgen", "zensical", "build", "--strict")
    with (
        served(root, VARIANTS, write_project, articles.__getitem__, *build) as address,
        visiting(browser, address) as visitor,
    ):
        yield visitor


@pytest.fixture
def visitor(tour: Visitor) -> Iterator[Visitor]:
    """Return the visitor, who asks no other host, and meets no script of an article."""
    yield tour
    tour.assert_innocent()


@pytest.mark.parametrize("look", LOOKS, ids="-".join)
def test_contrast_and_meanings(visitor: Visitor, look: Look) -> None:
    """Each text has a contrast of 4.5:1, and a callout stays one, fills and inks their hues."""
    shown = visitor.look_at(look)
    scheme = shown.page.locator("body").get_attribute("data-md-color-scheme")
    assert scheme == SCHEMES[look.scheme]
    assert len(shown.texts) > 150
    assert too_faint(shown.texts) == []
    keeps_meanings(shown.texts)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_was_asked_for_is_shown(visitor: Visitor, variant: str) -> None:
    """Alignment and letters are as asked for, and code has the colours of the site's."""
    page = visitor.open(Look(variant, "light"), "styled/")
    assert differs_from_asked(page) == []
    assert page.locator("article .highlight code span[class]").count() > 3


in_each_variant = pytest.mark.parametrize("variant", VARIANTS)


@in_each_variant
def test_axe_finds_nothing_new(visitor: Visitor, variant: str) -> None:
    """Articles add nothing to what axe-core finds on a page of the theme."""
    assert new_violations(visitor, Look(variant, "light")) == []


@in_each_variant
def test_the_style_sheet_stays_with_the_article(visitor: Visitor, variant: str) -> None:
    """The style sheet comes and goes with the article when the theme loads pages by itself."""
    page = visitor.open(Look(variant, "light"), "")
    wait_for_instant_navigation(page)
    page.evaluate("window.stayed = true")
    page.locator("nav a[href$='all/']").first.evaluate("link => link.click()")
    page.wait_for_url("**/all/")
    page.wait_for_function(
        "() => { const tip = document.querySelector('.pro-tip');"
        " return tip && getComputedStyle(tip).borderLeftStyle === 'solid'; }"
    )
    page.locator("a.md-logo").first.evaluate("link => link.click()")
    page.wait_for_url(f"**/{variant}/")
    page.wait_for_function("document.querySelectorAll('article .pro-tip').length === 0")
    assert "cg-ink" not in "".join(page.locator("style").all_text_contents())
    assert page.evaluate("window.stayed")


@in_each_variant
def test_pages_do_not_scroll_sideways(visitor: Visitor, variant: str) -> None:
    """Only the groups of tables and code scroll, on a narrow screen and on a wide one."""
    for path in ("all/", "wide/"):
        page = visitor.open(Look(variant, "light"), path, width=360)
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            wait_until_it_fits(page, width)
    assert page.get_by_role("group", name="Twelve columns").count() == 1


@in_each_variant
def test_search_finds_a_word_of_an_article(visitor: Visitor, variant: str) -> None:
    """A search for a word leads to the section of the article that has it."""
    page = visitor.open(Look(variant, "light"), "")
    search(page, "xylographic")
    page.locator("a[href*='wide/'][href*='#a-section']").first.click()
    page.wait_for_url("**/wide/**#a-section")
    assert page.locator("#a-section").inner_text().startswith("A section")


@in_each_variant
def test_attacks_fail(visitor: Visitor, variant: str) -> None:
    """No script of an article runs, in its page and in the search, and none asks another host."""
    page = visitor.open(Look(variant, "light"), "attacks/")
    assert page.locator("article.contentgen").count() > 20
    protocols = page.evaluate(script("provoke"))
    assert set(protocols) <= {"http:", "https:", "mailto:"}
    page = visitor.open(Look(variant, "light"), "perilous/")
    search(page, "perilous")
    found = page.locator("a[href*='perilous/'][href*='#']").locator("visible=true").first
    found.wait_for()
    assert page.locator("img[src$=x]").count() == 0
    page.wait_for_timeout(200)


def search(page: Page, word: str) -> None:
    """Type a word into Zensical's search, which has an element of its own for it."""
    page.locator(".md-search__button").click()
    page.locator("input[type=search], dialog input").locator("visible=true").first.fill(word)

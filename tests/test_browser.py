"""Articles in a real browser: every theme and scheme, as its readers see, search and scroll them.

Each theme's site is built once, by `mkdocs build` against the service double, and served with
`Content-Security-Policy: style-src 'self'`. No test may make the browser ask another host.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from browser_articles import ATTACKS, ESCAPES, RAW_ATTACK, SANDBOX, SIZES, texts
from browsing import (
    Look,
    Visitor,
    adopt,
    audit,
    browser,
    differs_from_asked,
    keeps_meanings,
    measure,
    named,
    new_violations,
    script,
    served,
    too_faint,
    violations,
    visiting,
)
from conftest import Project, wait_until
from playwright.sync_api import Browser, FloatRect, Locator, Page

__all__ = ["browser"]  # the fixture

# --- The sites ------------------------------------------------------------------------------------

MATERIAL = {
    "name": "material",
    "font": False,
    "features": ["navigation.instant"],
    "palette": [
        {
            "media": f"(prefers-color-scheme: {name})",
            "scheme": scheme,
            "primary": "indigo",
            "toggle": {"icon": "material/weather-night", "name": f"Leave {name}"},
        }
        for name, scheme in (("light", "default"), ("dark", "slate"))
    ],
}
MKDOCS = {"name": "mkdocs", "highlightjs": False}  # highlight.js would come from another host
SITES: dict[str, dict[str, object]] = {
    "material": MATERIAL,
    "mkdocs": {**MKDOCS, "color_mode": "auto"},
    "readthedocs": {"name": "readthedocs", "highlightjs": False},
    "keep": MKDOCS,
    "darkly": {"name": "darkly", "highlightjs": False},
    "terminal": {"name": "terminal", "palette": "gruvbox_dark"},
    "own": MATERIAL,
    "habits": {**MKDOCS, "color_mode": "auto"},
    "reset": {**MKDOCS, "color_mode": "auto"},
}
"""The themes by the names of the sites.

`keep` has the option `styles: keep`, and the last three have the rules of OWN_RULES, THEME_HABITS
and RESET.
"""

OWN_RULES = """
[dir="ltr"] .md-typeset blockquote { padding: 0.25em 40px; position: relative; }
[dir="ltr"] .md-typeset blockquote p:last-child { color: #999; font-style: normal; }
.md-typeset table:not([class]) th { background: #555; color: white; text-align: center; }
.highlight .k { color: #00f; }
.md-typeset details { background: white; color: #333; }
"""
"""What sites have in style sheets of their own."""

GUIDE = Path(__file__).parent.parent / "example_site/docs/placing.md"
GUIDE_RULES = GUIDE.read_text("utf-8").partition('title="docs/extra.css"\n')[2].partition("```")[0]
"""The example of such a style sheet in the guide."""

THEME_HABITS = """
main, [role="main"] { display: grid; grid-template-columns: auto; }
article {
    display: flex; flex-direction: column; gap: 2rem; float: left; width: 60%; max-width: 30rem;
    min-height: 2000px; margin: 3rem auto; padding: 2rem; background: #000; color: #fff;
    border: 3px solid #f00; border-radius: 1rem; box-shadow: 0 0 9px #000; columns: 2;
}
h1, h2 { padding: 5px 0 5px 10px; white-space: nowrap; overflow: hidden; }
code, kbd, pre { background: #000 !important; color: #0f0; }
code, kbd { white-space: nowrap; }
a { color: #808080 !important; white-space: nowrap; }
mark { background: #222 !important; color: #444; }
span { text-decoration: none; }
.lead, .intro { color: #b1b7b9; float: left; width: 50%; opacity: 0.5; }
.byline, .conclusion, .pro-tip { position: absolute; color: #b1b7b9; text-transform: uppercase; }
ul, ol { list-style: none; margin: 0; padding: 0; }
ol { counter-reset: item; }
li { position: relative; display: block; padding-left: 20px; }
ul > li::after { position: absolute; top: 0; left: 0; content: "-"; }
ol li::before { content: counters(item, ".") ". "; counter-increment: item; }
ol ol li::before { content: counters(item, ".") " "; }
"""
"""What themes say of elements and of classes that articles have, all at once.

Cards of blogs are an `<article>`, dark code is `!important`, numbers are counters of their own.
"""

RESET = """
*, ::before, ::after { margin: 0; padding: 0; border: 0 solid; box-sizing: border-box; }
h1, h2, h3, h4, h5, h6 { font-size: inherit; font-weight: inherit; }
a { color: inherit; text-decoration: inherit; }
ol, ul { list-style: none; }
main article a, main article span { text-decoration: none; }
.col-md-9 { flex: none; width: 720px; max-width: 100%; }
@media (prefers-color-scheme: dark) { code, pre { background: #fff !important; color: #111; } }
"""
"""What themes reset, such as those that are made with utility classes."""

EXTRA_STYLES = {
    "own": f"{OWN_RULES}{GUIDE_RULES}",
    "readthedocs": OWN_RULES,
    "habits": THEME_HABITS,
    "reset": RESET,
}
"""What is in the style sheet of a site's own."""

THEMES = ("material", "mkdocs", "readthedocs")
LOOKS = [
    Look("material", "light"),
    Look("material", "dark"),
    Look("mkdocs", "light"),
    Look("mkdocs", "dark"),
    Look("readthedocs", "light"),
    Look("own", "light"),
    Look("habits", "light"),
    Look("habits", "dark"),
    Look("reset", "dark"),
]
DARK = [Look("darkly", "light"), Look("terminal", "light"), Look("material", "own")]
"""Dark looks that do not say so with `color-scheme`."""

OWN = """
body { background: #111; color: #ddd; }
[data-md-color-scheme="own"] {
    --md-default-bg-color: #1b1020; --md-default-fg-color: #eeddeedd;
    --md-typeset-color: #eeddee; --md-code-bg-color: #2a1a30; --md-code-fg-color: #eeddee;
    --md-typeset-a-color: #a040c0; --md-accent-fg-color: #e040a0;
}
"""
"""A dark look of a site's own."""

FAR = (
    *("https://fonts.googleapis.com/", "https://stackpath.bootstrapcdn.com/"),
    "https://cdnjs.cloudflare.com/",
)
"""Where the dark themes get letters and highlighting from."""

PLAIN = """# Plain

A paragraph with [a link](all.md).

## A section

- a list

## Another section

Its text.
"""

in_each_theme = pytest.mark.parametrize("theme", THEMES)
in_each_site = pytest.mark.parametrize("site", list(SITES))
in_each_look = pytest.mark.parametrize("look", [*LOOKS, *DARK], ids="-".join)


def escapes_in(site: str) -> range:
    """Return the numbers of the `ESCAPES` of a site: all of `keep`, and some of a theme."""
    return range(len(ESCAPES)) if site == "keep" else range(THEMES.index(site), len(ESCAPES), 9)


def write_project(root: Path, address: str, name: str, environment: dict[str, str]) -> Project:
    """Write the project of a site."""
    project = Project(root, environment)
    options = {"max_requests": 1000, "concurrency": 32}
    project.configure(
        theme=SITES[name],
        plugins=[
            "search",
            {"contentgen": options | ({"styles": "keep"} if name == "keep" else {})},
        ],
        markdown_extensions=[
            {"toc": {"permalink": True, "anchorlink": name == "material"}},
            *(["pymdownx.highlight"] if name == "readthedocs" else []),
            *(["pymdownx.highlight", "pymdownx.superfences"] if name == "material" else []),
        ],
        extra_css=["own.css"] if name in EXTRA_STYLES else [],
        site_url=f"{address}/{name}/",
    )
    project.write("docs/own.css", EXTRA_STYLES.get(name, ""))
    for topic in ("Styled", "Wide", "Ordinary", "Lists"):
        project.page(f"{topic.lower()}.md", {"type": "article", "topic": topic})
    project.write("docs/index.md", PLAIN)
    author = "# Author\n\nText above.\n\n<!-- contentgen -->\n\nText below.\n"
    project.page("section.md", {"type": "article", "topic": "Ordinary"}, author)
    nasty = [{"type": "blog", "topic": name, "id": name.lower()} for name in ("Colours", "Random")]
    sandbox = [{"type": kind, "id": kind, **request.body()} for kind, request in SANDBOX.items()]
    project.page("all.md", [*nasty, *sandbox])
    if name not in (*THEMES, "keep"):
        return project
    for number in escapes_in(name):
        asked = {"type": "article", "topic": f"Escape {number}"}
        project.page(f"escapes/{number}.md", asked, author)
    project.write("docs/raw.html", RAW_ATTACK)
    project.page("colours.md", nasty[0])
    project.page("sizes.md", {"type": "article", "topic": "Sizes"})
    if name in THEMES:
        project.page("arabic.md", {"type": "article", "topic": "Right to left"})
        project.page("guides/blog.md", sandbox[1])
        # A third each; the theme makes no difference to a single attack.
        numbers = range(THEMES.index(name), len(ATTACKS), len(THEMES))
        attacks = [{"type": "article", "topic": f"Attack {n}", "id": f"a{n}"} for n in numbers]
        project.page("attacks.md", attacks)
    return project


@pytest.fixture(scope="module")
def tour(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """Build and serve the sites, and return a visitor for all tests."""
    root, compose = tmp_path_factory.mktemp("sites"), texts().__getitem__
    policy = "style-src 'self' 'report-sample'"  # whatever script gets into a page is to run
    build = ("mkdocs", "build")
    with (
        served(root, SITES, write_project, compose, *build, policy=policy) as address,
        visiting(browser, address, own_style=OWN, far=FAR) as visitor,
    ):
        yield visitor


@pytest.fixture
def visitor(tour: Visitor) -> Iterator[Visitor]:
    """Return the visitor, who asks no other host, and meets no script of an article."""
    yield tour
    tour.assert_innocent()


# --- What holds in each look ----------------------------------------------------------------------


@in_each_look
def test_every_text_has_contrast(visitor: Visitor, look: Look) -> None:
    """Each text has a contrast of 4.5:1 against what is behind it, whatever the service sent."""
    measured = visitor.look_at(look).texts
    assert len(measured) > 500
    assert too_faint(measured) == []


@in_each_look
def test_meanings_survive(visitor: Visitor, look: Look) -> None:
    """A callout stays one, and fills and inks keep their hues; in the dark, nothing glares."""
    measured = visitor.look_at(look).texts
    keeps_meanings(measured)
    if look in DARK:
        for start in ("Grey on black", "Pro tip", "A tip without", "The end", "Pink row"):
            assert max(named(measured, start)["behind"]) < 110, start


def test_anchors_and_lines_are_the_themes(visitor: Visitor) -> None:
    """Anchors of headings are not underlined, links are, and plain lines have the accent."""
    page = visitor.look_at(Look("material", "own")).page
    line = "all => [...new Set(all.map(it => getComputedStyle(it).textDecorationLine))]"
    assert page.locator("article.contentgen a.toclink").evaluate_all(line) == ["none"]
    assert page.locator("article.contentgen a[rel]").evaluate_all(line) == ["underline"]
    bar = page.get_by_text("A tip without").evaluate("it => getComputedStyle(it).borderLeftColor")
    assert bar == "rgb(224, 64, 160)"


def test_the_example_of_the_guide_has_an_effect(visitor: Visitor) -> None:
    """A site's own rules for the classes of articles are stronger than those of the plugin."""
    page = visitor.open(Look("own", "light"), "all/")
    bar = page.get_by_text("A tip without").evaluate("it => getComputedStyle(it).borderLeftColor")
    assert bar == "rgb(0, 128, 128)"


@pytest.mark.parametrize("site", [name for name in SITES if name != "keep"])
def test_what_was_asked_for_is_shown(visitor: Visitor, site: str) -> None:
    """Alignment and letters are as asked for, in titles, lists, tables and quotations too."""
    page = visitor.open(Look(site, "light"), "styled/")
    assert page.get_by_text("li p text-align: center").count() == 1
    assert differs_from_asked(page) == []
    start = "it => getComputedStyle(it).textAlign"
    assert page.get_by_text("A plain caption").evaluate(start) in ("start", "left")
    rule = page.get_by_text("A grey rule").evaluate("it => getComputedStyle(it).borderBottom")
    assert rule.startswith("1px solid")
    assert re.search(r"/ 0\.\d+\)|rgba", rule), "it is not like a rule of the theme"
    box = "it => ['borderTop', 'padding', 'background'].map(name => getComputedStyle(it)[name])"
    for name in ("hr", "details", "summary"):
        all_of = page.locator(f"article {name}")
        assert all_of.last.evaluate(box) == all_of.first.evaluate(box), name


@in_each_theme
def test_gaps_and_fills_of_blocks(visitor: Visitor, theme: str) -> None:
    """Text after details has a gap above it; a filled table is in no filled box."""
    page = visitor.open(Look(theme, "light"), "styled/")
    details = page.locator("article details").last
    gap = "it => parseFloat(getComputedStyle(it).marginBottom)"
    assert details.evaluate(gap) >= 10
    page = visitor.open(Look(theme, "light"), "wide/")
    box = page.locator(".contentgen-scroll.cg-fill")
    assert box.count() == 1
    look = "it => ['backgroundColor', 'paddingTop'].map(name => getComputedStyle(it)[name])"
    assert box.evaluate(look) == ["rgba(0, 0, 0, 0)", "0px"]
    table = box.locator("table").evaluate("it => getComputedStyle(it).backgroundColor")
    assert table != "rgba(0, 0, 0, 0)"


@in_each_theme
def test_bars_and_numbers_of_right_to_left_text(visitor: Visitor, theme: str) -> None:
    """Bars are on the right side only, and lists have room for their numbers there."""
    page = visitor.open(Look(theme, "light"), "arabic/")
    page.locator("article.contentgen").evaluate("it => { it.dir = 'rtl'; }")
    widths = "it => [getComputedStyle(it).borderLeftWidth, getComputedStyle(it).borderRightWidth]"
    for bar in (".contentgen-disclosure", ".pro-tip", "blockquote"):
        left, right = page.locator(f"article {bar}").first.evaluate(widths)
        assert left == "0px" != right, bar
    padding = "it => parseFloat(getComputedStyle(it).paddingRight)"
    room = page.locator("article ol").evaluate(padding)
    assert room >= 20, "the numbers of the list are cut off"


LIST_TYPES = {
    "from two": "decimal",
    "letters": "lower-alpha",
    "capitals": "upper-alpha",
    "small Roman": "lower-roman",
    "Roman": "upper-roman",
    "downwards": "decimal",
    "seven": "decimal",
    "inner": "decimal",
    "years": "decimal",
}
"""The lists of `LISTS` that a browser has to number, whatever a theme has for others."""


@in_each_site
def test_lists_have_their_numbers(visitor: Visitor, site: str) -> None:
    """Numbers, letters and order are as asked for, and only wide numbers have more room."""
    page = visitor.open(Look(site, "light"), "lists/")
    lists = page.evaluate(script("lists"))
    types = {name: lists[name]["type"] for name in LIST_TYPES}
    assert types == LIST_TYPES
    for name in LIST_TYPES:
        assert lists[name]["display"] == "list-item", name
        assert lists[name]["before"] == "none", name
    size = lists["years"]["size"]
    for name in ("from two", "letters", "capitals", "downwards", "seven"):
        assert 1.5 * size <= lists[name]["left"] <= 2.5 * size, name
    for name in ("years", "Roman"):
        assert 2.5 * size < lists[name]["left"] <= 5 * size, name


@in_each_site
def test_an_article_has_the_place_of_the_authors_text(visitor: Visitor, site: str) -> None:
    """Cards that a theme makes of each `<article>` are not made of an article within its page."""
    page = visitor.open(Look(site, "light"), "section/")
    article = page.locator("article.contentgen")
    box = """element => {
        const {left, right} = element.getBoundingClientRect();
        return [Math.round(left), Math.round(right)];
    }"""
    author, generated = page.get_by_text("Text above."), article.locator("p", has_text="x").last
    assert generated.evaluate(box) == author.evaluate(box)
    looks = article.evaluate(
        """element => {
            const style = getComputedStyle(element);
            return [style.display, style.position, style.borderTopWidth, style.boxShadow,
                style.backgroundColor, style.columnCount, style.paddingTop];
        }"""
    )
    none = "rgba(0, 0, 0, 0)"
    assert looks == ["block", "static", "0px", "none", none, "auto", "0px"]


@in_each_site
def test_a_sentence_to_read_is_seen(visitor: Visitor, site: str) -> None:
    """A sentence to read is underlined with dots, and a statement has a background."""
    page = visitor.open(Look(site, "light"), "all/?unlimited")
    line = """element => {
        const style = getComputedStyle(element);
        return [style.textDecorationLine, style.textDecorationStyle];
    }"""
    sentence = page.get_by_text("a sentence to read", exact=True)
    assert sentence.evaluate(line) == ["underline", "dotted"]
    statement = page.get_by_text("statement in other words", exact=True)
    background = statement.evaluate("element => getComputedStyle(element).backgroundColor")
    assert background != "rgba(0, 0, 0, 0)"


@pytest.mark.parametrize("theme", ["material", "readthedocs"])
def test_code_is_coloured_like_the_sites(visitor: Visitor, theme: str) -> None:
    """The site's highlighter does it, and its own background is behind it."""
    page = visitor.open(Look(theme, "light"), "styled/")
    colours = page.locator("article pre code span[class]").evaluate_all(
        "all => [...new Set(all.map(it => getComputedStyle(it).color))]"
    )
    assert len(colours) > 1


# --- What holds in each theme ---------------------------------------------------------------------


@in_each_theme
def test_articles_comply_with_a_content_security_policy(visitor: Visitor, theme: str) -> None:
    """No style is forbidden by `style-src 'self'` that is not on a page without an article."""
    page = visitor.look_at(Look(theme, "light")).page
    assert page.locator("article [style], article[style]").count() == 0
    assert violations(page) <= violations(visitor.open(Look(theme, "light"), ""))


@in_each_theme
def test_axe_finds_nothing_new(visitor: Visitor, theme: str) -> None:
    """Articles add nothing to what axe-core finds on a page of the theme."""
    assert new_violations(visitor, Look(theme, "light")) == []


@in_each_theme
def test_the_style_sheet_is_linked_where_it_is_needed(visitor: Visitor, theme: str) -> None:
    """A page without an article has no link to the style sheet, and one with five has one."""
    pages = visitor.open(Look(theme, "light"), ""), visitor.look_at(Look(theme, "light")).page
    links = [page.locator("link[href$='/contentgen.css']") for page in pages]
    assert [link.count() for link in links] == [0, 1]


@in_each_theme
def test_headings_have_no_gaps(visitor: Visitor, theme: str) -> None:
    """There is one `<h1>`, and no heading is more than a level below the one before it."""
    page = visitor.look_at(Look(theme, "light")).page
    headings = page.locator("[role=main], .md-content").locator("h1, h2, h3, h4, h5, h6")
    levels = [int(tag[1]) for tag in headings.evaluate_all("all => all.map(it => it.tagName)")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert len(levels) > 10
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_what_screen_readers_get(visitor: Visitor) -> None:
    """Emoji are read like any text, and a language that the service names is kept."""
    page = visitor.look_at(Look("mkdocs", "light")).page
    tip = page.locator(".pro-tip").first
    assert "💡" in tip.inner_text()
    assert "Pro tip:" in tip.aria_snapshot()
    assert "💡" in tip.aria_snapshot()
    german = page.get_by_text("Rot mit Grün")
    assert german.evaluate("it => it.closest('[lang]').lang") == "de"


# --- Where styles are kept ------------------------------------------------------------------------


def test_kept_styles_are_shown(visitor: Visitor) -> None:
    """`keep` shows the colours of the service, and has no class of the plugin's."""
    page = visitor.open(Look("keep", "light"), "colours/?unlimited")
    look = page.get_by_text("Grey on black").evaluate(
        "it => [getComputedStyle(it).color, getComputedStyle(it).backgroundColor]"
    )
    assert look == ["rgb(119, 119, 119)", "rgb(0, 0, 0)"]
    assert page.locator("link[href*=contentgen]").count() == 1
    assert page.locator("[class*=cg-]").count() == 0
    sheet = page.request.get(f"{visitor.address}/keep/assets/stylesheets/contentgen.css").text()
    assert "oklch" not in sheet


def test_contrast_would_be_missed(visitor: Visitor) -> None:
    """Where styles are kept, faint texts are found, and none of them is invisible."""
    page = visitor.open(Look("keep", "light"), "colours/?unlimited")
    assert "color-contrast" in {found["rule"] for found in audit(page) if found["inside"]}
    faint = too_faint(measure(page))
    assert any(" 'grey'" in line for line in faint)
    for start in ("White on white", "Black on black", "Yellow on white", "Navy on navy"):
        assert not any(f" {start!r}"[:-1] in line for line in faint), start


def test_containment_works_under_a_content_security_policy(visitor: Visitor) -> None:
    """`style-src 'self'` forbids kept styles, and not the style sheet, which contains them."""
    page = visitor.open(Look("keep", "light"), "colours/")
    assert "style-src-attr: color: yellow" in violations(page)
    contained = page.locator("article.contentgen").evaluate("it => getComputedStyle(it).contain")
    assert contained == "paint"


# --- Other circumstances --------------------------------------------------------------------------
@pytest.mark.parametrize("theme", ["material", "mkdocs"])
def test_prints_well(visitor: Visitor, theme: str) -> None:
    """Also a dark page can be read on white paper, whether backgrounds are printed or not."""
    page = visitor.open(Look(theme, "dark"), "colours/")
    page.emulate_media(media="print")
    for elements in ("html, body", "html, body, body *"):
        rule = f":is({elements}), body::before {{ background: white !important; }}"
        assert too_faint(measure(page, rule)) == []
    page.emulate_media(media="screen")


def test_palette_switch(visitor: Visitor) -> None:
    """Contrast and hues are kept when the reader switches to dark and back."""
    page = visitor.open(Look("material", "light"), "colours/")
    behind = []
    for title in ("Leave light", "Leave dark"):
        page.locator(f"label[title='{title}']").click()
        measured = measure(page)
        assert too_faint(measured) == []
        behind.append(named(measured, "A tip without")["behind"])
    assert max(behind[0]) < 100 < 200 < min(behind[1])


# --- Attacks --------------------------------------------------------------------------------------


@in_each_theme
def test_attacks_fail(visitor: Visitor, theme: str) -> None:
    """No script of an article runs, and nothing in it asks another host or leads to a script."""
    page = visitor.open(Look(theme, "light"), "attacks/")
    assert page.locator("article.contentgen").count() > 60
    protocols = page.evaluate(script("provoke"))
    page.wait_for_timeout(200)
    assert set(protocols) <= {"http:", "https:", "mailto:"}


def test_attacks_would_be_noticed(visitor: Visitor) -> None:
    """On a page that nobody sanitized, each kind of attack is noticed."""
    page = visitor.open(Look("mkdocs", "light"), "raw.html?unlimited")
    assert "javascript:" in page.evaluate(script("provoke"))

    def is_noticed() -> bool:
        page.wait_for_timeout(20)
        asked = {address.rpartition("/")[2] for address in visitor.foreign}
        return {"script", "click"} <= set(visitor.dialogs) and asked == {"pixel.png", "background"}

    wait_until(is_noticed)
    visitor.dialogs.clear()
    visitor.foreign.clear()


# --- The article's box ----------------------------------------------------------------------------


def escaped(page: Page) -> list[str]:
    """Return what of an article is seen, or takes a click, outside the article's box."""
    picture = base64.b64encode(page.screenshot(scale="css")).decode()
    return [*page.evaluate(script("outside")), *page.evaluate(script("painted"), picture)]


@pytest.mark.parametrize("site", [*THEMES, "keep"])
def test_nothing_leaves_its_article(visitor: Visitor, site: str) -> None:
    """Whatever an article holds, it is painted and takes clicks within its own box only."""
    found = {}
    for number in escapes_in(site):
        page = visitor.open(Look(site, "light"), f"escapes/{number}/?unlimited", height=900)
        if where := escaped(page):
            found[ESCAPES[number][:90]] = where
    assert found == {}


UNCONTAINED = """
.contentgen { overflow: visible !important; }
.contentgen-kept { contain: layout !important; }
"""
WITH_MARGIN = ".contentgen { overflow: clip !important; overflow-clip-margin: 80px !important; }"
"""Styles that take the containment away, or let more be seen, and leave the layout as it is."""


def test_what_leaves_would_be_noticed(visitor: Visitor) -> None:
    """Without the containment, lists leave the same articles, and that is seen."""
    found = []
    for number in (16, 21):
        page = visitor.open(Look("keep", "light"), f"escapes/{number}/?unlimited", height=900)
        adopt(page, UNCONTAINED)
        found += escaped(page)
    assert {what.startswith("a pixel") for what in found} == {True, False}


@pytest.mark.parametrize("site", [*THEMES, "keep"])
def test_letters_stay_readable(visitor: Visitor, site: str) -> None:
    """However sizes are nested, no letter is very small or as large as a screen."""
    page = visitor.open(Look(site, "light"), "sizes/?unlimited")
    sizes = page.locator("article a[rel], article code").evaluate_all(
        "all => all.map(it => parseFloat(getComputedStyle(it).fontSize))"
    )
    assert len(sizes) == SIZES.count("MMMM MMMM") + 2
    assert 5 < min(sizes) < max(sizes) < 400


def around(link: Locator) -> bytes:
    """Return a picture of a link and what is around it."""
    box = link.bounding_box()
    assert box
    clip = FloatRect(
        x=box["x"] - 50, y=box["y"] - 50, width=box["width"] + 100, height=box["height"] + 100
    )
    return link.page.screenshot(animations="disabled", clip=clip)


def different(page: Page, *pictures: bytes) -> int:
    """Return in how many values two pictures of a page differ."""
    encoded = [base64.b64encode(picture).decode() for picture in pictures]
    return int(page.evaluate(script("different"), encoded))


@in_each_theme
def test_containment_cuts_nothing_off(visitor: Visitor, theme: str) -> None:
    """Of an ordinary article everything is seen: numbers of lists, permalinks, outlines."""
    page = visitor.open(Look(theme, "light"), "ordinary/?unlimited", height=1000)
    article = page.locator("article.contentgen")
    article.evaluate("it => it.classList.add('contentgen-kept')")  # which clips on all sides
    heading = page.locator("article h2").first
    heading.hover()
    heading.locator("a.headerlink").click(trial=True)
    page.mouse.move(0, 0)
    for link in article.locator("a[rel]").all():
        link.focus()
        contained = around(link)
        adopt(page, WITH_MARGIN)
        with_margin = around(link)
        adopt(page)
        link.blur()
        assert different(page, contained, with_margin) == 0
        assert different(page, contained, around(link)) > 20


# --- Readers --------------------------------------------------------------------------------------
@in_each_theme
def test_a_click_in_the_table_of_contents_lands(visitor: Visitor, theme: str) -> None:
    """A click in the table of contents leads to the heading in the article."""
    # On narrower screens the bar of the theme mkdocs has two lines, and covers what links lead to.
    page = visitor.open(Look(theme, "light"), "guides/blog/", width=1920, height=500)
    heading = page.locator("article h2").nth(3)
    anchor = heading.get_attribute("id")
    links = page.locator(f"a[href$='#{anchor}']:not(.headerlink, .toclink)")
    page.wait_for_load_state("networkidle")  # what comes late moves the headings

    def landed() -> bool:
        """Click, unless the heading is where the click leads, and return whether it is there.

        Smooth scrolling would stop on its way where the layout changes, and it takes its time. The
        theme mkdocs measures its bar, which covers the start of the page, when the page is there
        and whenever the window has another size; without its style sheet, the bar has none.
        """
        shown: bool = page.evaluate(
            """anchor => {
                const heading = document.getElementById(anchor);
                const box = heading.getBoundingClientRect();
                const shown = document.elementFromPoint(box.left + 5, box.top + box.height / 2);
                return location.hash === '#' + anchor && box.top > -1 && box.top < 200
                    && heading.contains(shown);
            }""",
            anchor,
        )
        if not shown:
            page.evaluate("dispatchEvent(new Event('resize'))")
            links.locator("visible=true").first.click()
        return shown

    page.emulate_media(reduced_motion="reduce")
    wait_until(landed)


@in_each_site
def test_a_title_is_in_line_with_its_text(visitor: Visitor, site: str) -> None:
    """The title of a page begins where the headings of its article begin."""
    page = visitor.open(Look(site, "light"), "ordinary/")
    left = """element => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return range.getBoundingClientRect().left;
    }"""
    title = page.locator("h1.contentgen-title").evaluate(left)
    assert abs(title - page.locator("article.contentgen h2").first.evaluate(left)) < 1


@in_each_theme
def test_search_finds_a_word_of_an_article(visitor: Visitor, theme: str) -> None:
    """A search for a word leads to the section of the article that has it."""
    page = visitor.open(Look(theme, "light"), "")
    box = page.locator(".md-search__input, #mkdocs-search-query, input[name=q]").first
    if theme == "mkdocs":
        page.get_by_role("link", name="Search").click()
    box.fill("xylographic")
    if theme == "readthedocs":
        box.press("Enter")
        page.wait_for_url("**/search.html?q=xylographic")
    found = page.locator("a[href$='wide/#a-section']").locator("visible=true").first

    def is_found() -> bool:
        box.press("End")  # a key that is pressed before the index has been loaded has no effect
        page.wait_for_timeout(100)
        return found.is_visible()

    wait_until(is_found)
    found.click()
    page.wait_for_url("**/wide/#a-section")
    assert page.locator("#a-section").inner_text().startswith("A section")


def wait_until_it_fits(page: Page, width: int) -> None:
    """Wait until nothing of a page is wider than the screen; some themes lay it out in steps."""

    def fits() -> bool:
        held, seen = page.evaluate(
            "[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]"
        )
        return bool(held <= seen == width)

    wait_until(fits)


@in_each_site
def test_narrow_screens_do_not_scroll_sideways(visitor: Visitor, site: str) -> None:
    """At 360 pixels only the groups of tables and code scroll, tables with the keyboard too."""
    for path in ("all/", "lists/", "wide/"):
        page = visitor.open(Look(site, "light"), path, width=360)
        wait_until_it_fits(page, 360)
        assert page.evaluate(script("cut_off")) == [], path

    def is_scrolled() -> bool:
        # A key that comes while the theme lays the page out anew is lost.
        page.keyboard.press("ArrowRight")
        return bool(page.evaluate("document.activeElement.scrollLeft > 0"))

    for group in page.get_by_role("group").locator("visible=true").all():
        group.focus()
        wait_until(is_scrolled)
    assert page.get_by_role("group", name="Twelve columns").count() == 1


def wait_for_instant_navigation(page: Page) -> None:
    """Wait until the theme has read the map of the site, since it loads pages by itself then."""
    page.wait_for_function(
        "performance.getEntriesByType('resource').some(it => it.name.endsWith('/sitemap.xml'))"
    )
    page.wait_for_load_state("networkidle")


def test_instant_navigation(visitor: Visitor) -> None:
    """The style sheet comes and goes with the article where Material loads pages by itself."""
    page = visitor.open(Look("material", "light"), "")
    wait_for_instant_navigation(page)
    page.evaluate("window.stayed = true")
    for path in ("colours/", "guides/blog/"):
        page.locator(f"nav a[href$='{path}']").first.evaluate("link => link.click()")
        page.wait_for_url(f"**/{path}")
        callout = page.locator(".pro-tip").first
        page.wait_for_function(
            "callout => getComputedStyle(callout).borderLeftStyle === 'solid'",
            arg=callout.element_handle(),
        )
        page.locator("nav a[href='../'], nav a[href='../../'], a.md-logo").first.evaluate(
            "link => link.click()"
        )
        page.wait_for_url("**/material/")
        page.wait_for_function("document.querySelectorAll('article .pro-tip').length === 0")
    assert page.evaluate("window.stayed")

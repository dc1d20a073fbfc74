"""What becomes of an article on its way to the page: styles, tables, headings, facts."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Literal
from xml.etree.ElementTree import tostring

import pytest
from conftest import Project
from golden_file import GOLDEN, expect
from growth import LINEAR, growth
from remarks import in_words
from service_double import Handler, Received, ServiceDouble, generated
from test_sanitizer import cases_of

from mkdocs_contentgen.errors import UnsafeHTMLError
from mkdocs_contentgen.html.article import put_first
from mkdocs_contentgen.html.disclosure import Provenance, Review, json_ld_script
from mkdocs_contentgen.html.presentation import PAGE_OF_LINK, Presentation, present
from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.requests import REQUEST_TYPES

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
DRAFT = Provenance("news", NOW)


def shown(html: str) -> str:
    """Return the element for an article as HTML."""
    element, _ = present(html, DRAFT, Presentation())
    return tostring(element, encoding="unicode", method="html")


CASES = GOLDEN / "presentation/articles.html"


def test_an_article_is_shown_as_expected() -> None:
    """Each case of `golden/presentation` has the element, the metadata and the JSON-LD there."""
    results = ""
    for case, html in cases_of(CASES):
        title, options = OPTIONS_AT_END.fullmatch(case).groups()  # type: ignore[union-attr]  # any
        given = json.loads(options or "{}")
        review = Review(given.pop("reviewer"), date(2026, 11, 22)) if "reviewer" in given else None
        disclosure = given.pop("disclosure", None)
        how = {name: given.pop(name) for name in ("styles", "publisher") if name in given}
        if disclosure is True:
            disclosure = {}
        given["remarks"] = in_words(*given.get("remarks", ()))
        provenance = Provenance("news", NOW, review, **given)
        element, facts = present(html, provenance, Presentation(disclosure=disclosure, **how))
        described = provenance.published_by(how.get("publisher", "")).json_ld("T", facts.published)
        shown = tostring(element, encoding="unicode", method="html")
        data = json.dumps(described, ensure_ascii=False)
        results += f"=== {title}\n{shown}\n{facts}\n{data}\n"
    expect(results, CASES.with_suffix(".out.html"))


@pytest.mark.parametrize(
    ("language", "translated_from", "changes", "own_lines", "line"),
    [
        ("en", "de", 1, {}, "The German original has changed since (1 paragraph)"),
        ("en", "", 2, None, "The original has changed since (2 paragraphs)"),
        ("de", "en", 2, {}, "Das Original (English) hat sich seitdem geändert (Absätze: 2)"),
        ("de", "en", 2, {"original_changed": "Älter als {language}"}, "Älter als English"),
        ("he", "en", 2, {}, "The English original has changed since (2 paragraphs)"),
    ],
)
def test_an_original_that_has_changed(
    language: str, translated_from: str, changes: int, own_lines: dict[str, str] | None, line: str
) -> None:
    """A line in the page's language says so, also without a disclosure; the option hides it."""
    provenance = Provenance(
        "blog",
        language=language,
        translated_from=translated_from,
        original_page="a/b.md",
        original_changes=changes,
    )
    html = "<article><h1>T</h1><p>x</p></article>"
    how = Presentation(disclosure=own_lines)
    element, _ = present(html, provenance, how)
    (notice,) = element.findall("p[@class='contentgen-disclosure contentgen-notice']")
    assert "".join(notice.itertext()) == line
    (link,) = notice
    assert link.attrib == {PAGE_OF_LINK: "a/b.md"}
    element, _ = present(html, provenance, replace(how, has_notice=False))
    assert line not in "".join(element.itertext())


OPTIONS_AT_END = re.compile(r"(.*?)( \{.*\})?")


def test_the_name_of_a_table_is_short() -> None:
    """Tables in captions of tables do not repeat what is in them in each of their names."""
    html = f"<article>{'<table><caption>' * 20}{'long ' * 10_000}</article>"
    assert len(shown(html)) < 2 * len(html)


@pytest.mark.parametrize("styles", ["adapt", "keep"])
@pytest.mark.parametrize(
    "part",
    [
        "<p>x <b>y</b> <a href='https://a.example/'>z</a> &amp;</p>",
        "<p style='color: red; font-size: 2em'>x <span style='background: #eee'>y</span></p>",
        "<div><table><caption>x</caption><tr><td>y</td></tr></table></div>",
        "<ul><li>x<ol><li>y</li></ol></li></ul>",
    ],
)
def test_twice_the_text_takes_twice_the_time(part: str, styles: Literal["adapt", "keep"]) -> None:
    """No step takes time that grows with the square of the text."""

    def make(size: int) -> str:
        return f"<article><h1>x</h1>{part * (size // part.count('<'))}</article>"

    how = Presentation(styles, disclosure={})
    assert growth(lambda html: present(html, DRAFT, how), make, 2_400) < LINEAR


def test_too_many_headings_are_refused() -> None:
    """Search and table of contents of MkDocs take time that grows with the square of them."""
    headings = "<article>" + "<h2>x</h2>" * 500 + "{}</article>"
    shown(headings.format(""))
    with pytest.raises(UnsafeHTMLError, match="has too many headings: 501, 500 at most"):
        shown(headings.format("<h3>y</h3>"))


WORST = [
    "<h2>x</h2>" * 500 + "<p>x</p>" * 4_000,
    "<h2>x</h2>" * 5_000,
    f"<p style='background:{'linear-gradient(' * 200}red{')' * 200}'>x</p>" * 70,
    "<p>" + "\xa0" * 250_000,
    "<p>" + "&" * 250_000,
    "<div>" * 9_990,
    "<div>" * 90 + "<b>x</b>" * 4_900,
    "<div>" * 90 + "<table>x" * 9_800,
    "".join(f"<p style='color:#{n:06x};border:1px solid #{n:06x}'>x" for n in range(5_000)),
]
"""What takes, or took, most time within the limits."""


@pytest.mark.system
def test_the_worst_texts_take_little_time(project: Project, service: ServiceDouble) -> None:
    """A build is done with each of them in a few seconds, whether it shows or refuses them."""

    def answer(request: Received, handler: Handler) -> None:
        generated(f"<article><h1>T</h1>{WORST[int(request.topic)]}</article>")(request, handler)

    service.answer = answer
    project.configure(
        {"on_error": "placeholder"},
        plugins=["search", {"contentgen": {"on_error": "placeholder"}}],
        markdown_extensions=[{"toc": {"permalink": True}}],
    )
    for topic in range(len(WORST)):
        project.page(f"{topic}.md", {"type": "blog", "topic": str(topic)})
    before = time.process_time()
    assert project.build().returncode == 0
    assert (time.process_time() - before) / len(WORST) < 3


def test_a_title_that_is_not_first_moves_there() -> None:
    """All text around it stays, in its order."""
    html = "<article>One <b>two</b> three<h1>T</h1> four</article>"
    article = parse_article(html)
    put_first(article, next(article.iter("h1")))
    assert tostring(article, encoding="unicode") == (
        "<article><h1>T</h1>One <b>two</b> three four</article>"
    )


@pytest.mark.parametrize("kind", REQUEST_TYPES)
def test_json_ld_knows_every_type(kind: str) -> None:
    """Each type of request is something that schema.org has a name for."""
    described = Provenance(kind, DRAFT.generated_at).json_ld("T", "")
    assert str(described["@type"]).endswith(("Article", "BlogPosting"))


def test_an_article_without_a_title_has_that_of_its_page(
    project: Project, service: ServiceDouble
) -> None:
    """The JSON-LD of another one names its own."""
    html = {"One": "<p>x</p>", "Two": "<h1>Second</h1><p>y</p>"}
    service.answer = lambda request, handler: generated(
        f"<article>{html[request.topic]}</article>"
    )(request, handler)
    requests = [{"type": "blog", "topic": topic, "id": topic.lower()} for topic in html]
    project.page("index.md", requests, "# Mine\n\nText.\n")
    assert project.build("--strict").returncode == 0
    script = project.soup("index.html").select_one("script[type='application/ld+json']")
    assert script
    assert [described["headline"] for described in json.loads(script.text)] == ["Mine", "Second"]


def test_json_ld_stays_in_its_script() -> None:
    """A title cannot end the script that describes it."""
    script = json_ld_script([{"headline": "</script><script>alert(1)</script>&\u2028"}])
    assert script.count("</script>") == 1
    inside = script.removeprefix('<script type="application/ld+json">').removesuffix("</script>")
    assert json.loads(inside)[0]["headline"].startswith("</script><script>")


def test_the_page_around_an_article(project: Project, service: ServiceDouble) -> None:
    """Style sheet, JSON-LD and description are on the page, and only on the page, with it."""
    service.answer = generated(
        '<article class="news-article"><header><h1>Title</h1><p class="byline">'
        '<time datetime="2026-11-02">x</time></p></header><p class="lead" style="color: red">'
        "The lead.</p></article>"
    )
    project.configure(plugins=["search", {"contentgen": {}}], theme="material")
    project.page("asks.md", {"type": "news", "topic": "T"})
    project.write("docs/index.md", "# Plain\n")
    assert project.build("--strict").returncode == 0
    page = project.html("asks/index.html")
    assert '<link href="../assets/stylesheets/contentgen.css" rel="stylesheet" /><article' in page
    assert '<meta name="description" content="The lead.">' in page
    assert '"@type": "NewsArticle"' in page
    assert " style=" not in page.split("<article")[2].split("</article>")[0]
    assert "from currentcolor" in project.html("assets/stylesheets/contentgen.css")
    assert "contentgen" not in project.html("index.html")
    index = json.loads(project.html("search/search_index.json"))
    texts = " ".join(entry["text"] for entry in index["docs"])
    assert "AI-generated, not reviewed" in texts
    assert "schema.org" not in texts


@pytest.mark.parametrize("theme", ["mkdocs", "material"])
def test_search_finds_the_title_once_and_the_lead_below_it(
    project: Project, service: ServiceDouble, theme: str
) -> None:
    """Searches file a text under its title, as on pages without an article."""
    service.answer = generated(
        '<article class="news-article"><header><h1>Title</h1><p class="byline">By us</p></header>'
        '<p class="lead">The lead.</p><div class="article-body"><h2>More</h2><p>The rest.</p></div>'
        "</article>"
    )
    project.configure(plugins=["search", {"contentgen": {"disclosure": False}}], theme=theme)
    project.page("whole.md", {"type": "news", "topic": "T"})
    text = "# Mine\n\n## Before\n\nBefore it.\n\n<!-- contentgen -->\n\n## Behind\n\nBehind it.\n"
    project.page("part.md", {"type": "news", "topic": "T"}, text)
    project.write("docs/plain.md", "# Title\n\nThe lead.\n\n## More\n\nThe rest.\n")
    project.write("docs/index.md", "# Plain\n")
    assert project.build().returncode == 0
    index = json.loads(project.html("search/search_index.json"))["docs"]

    def found(page: str) -> list[tuple[str, str]]:
        return [(e["location"], e["title"]) for e in index if e["location"].startswith(page)]

    def under(location: str) -> str:
        text = next(entry["text"] for entry in index if entry["location"] == location)
        return " ".join(re.sub("<[^>]*>", " ", text).split())

    plain = [(location.replace("plain", "whole"), title) for location, title in found("plain/")]
    assert found("whole/") == plain
    first = "whole/" if theme == "material" else "whole/#title"
    assert under(first) == "By us The lead."
    assert under("whole/#more") == "The rest."
    assert under("part/#before") == "Before it."
    assert under("part/#title") == "By us The lead."
    assert under("part/#more") == "The rest."


def test_the_author_has_the_last_word(project: Project, service: ServiceDouble) -> None:
    """A description of the author's own stays, and the visible line can be hidden or reworded."""
    service.answer = generated("<article><h1>T</h1><p>The lead.</p></article>")
    asked = {"type": "blog", "topic": "T"}
    project.configure({"disclosure": {"draft": "KI, ungeprüft"}}, theme="material")
    project.page("index.md", asked, description="My own.", title="Mine")
    assert project.build("--strict").returncode == 0
    page = project.html("index.html")
    assert 'content="My own."' in page
    assert "<title>Mine - Site</title>" in page
    assert "KI, ungeprüft" in page
    project.configure({"disclosure": False}, theme="material")
    built = project.build()
    assert (built.returncode, built.stdout.count("article 50 of the EU's AI Act")) == (0, 1)
    page = project.html("index.html")
    assert "contentgen-disclosure" not in page
    assert 'ai-disclosure="ai-autonomous"' in page


def test_without_adapted_styles_no_sheet_is_linked(
    project: Project, service: ServiceDouble
) -> None:
    """`strip` leaves the theme alone with the article."""
    service.answer = generated('<article><p style="color: #777; background: red">x</p></article>')
    project.configure({"styles": "strip"})
    project.page("index.md", {"type": "blog", "topic": "T"})
    assert project.build("--strict").returncode == 0
    page = project.html("index.html")
    assert "<p>x</p>" in page
    assert "contentgen.css" not in page
    assert not (project.root / "site/assets/stylesheets/contentgen.css").exists()

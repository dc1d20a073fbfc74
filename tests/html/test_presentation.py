"""What becomes of an article on its way to the page: styles, tables, emoji, headings, facts."""

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
from growth import growth
from service_double import Handler, Received, ServiceDouble, generated

from mkdocs_contentgen.errors import UnsafeHTMLError
from mkdocs_contentgen.html.article import parse_article, put_first
from mkdocs_contentgen.html.disclosure import LINES, Provenance, Review, json_ld_script
from mkdocs_contentgen.html.presentation import ArticleMetadata, Presentation, present
from mkdocs_contentgen.requests import REQUEST_TYPES

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
DRAFT = Provenance("news", NOW)
APPROVED = Provenance("news", NOW, Review("Jo {date} <b>", date(2026, 11, 22)))


def shown(html: str, how: Presentation | None = None, provenance: Provenance = DRAFT) -> str:
    """Return the element for an article as HTML."""
    element, _ = present(html, provenance, how or Presentation())
    return tostring(element, encoding="unicode", method="html")


def facts(html: str) -> ArticleMetadata:
    """Return what a page can say of an article."""
    return present(html, DRAFT, Presentation())[1]


STYLED = (
    '<article><p style="color: #c0392b">a</p>'
    '<p style="color: #333; line-height: 1.6">b</p></article>'
)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (Presentation("adapt"), '<p class="cg-ink cg-ink-30">a</p><p>b</p>'),
        (
            Presentation("keep"),
            '<p style="color: #c0392b">a</p><p style="color: #333; line-height: 1.6">b</p>',
        ),
        (Presentation("strip"), "<p>a</p><p>b</p>"),
    ],
)
def test_styles(how: Presentation, expected: str) -> None:
    """Inline styles are adapted to the theme, kept, or stripped."""
    assert expected in shown(STYLED, how)


def test_equal_styles_are_equal_classes() -> None:
    """Shades of one meaning share the few classes of one style sheet."""
    articles = [
        f'<article><div style="background: {colour}">x</div></article>'
        for colour in ("#e8f4f8", "rgb(220, 240, 246)", "#cce8f0")
    ]
    assert len({shown(article) for article in articles}) == 1


def test_headings_have_no_gaps() -> None:
    """No heading is more than one level below the one before it."""
    html = shown("<article><h1>1</h1><h4>2</h4><h6>3</h6><h2>2</h2><h3>3</h3></article>")
    levels = [html[i + 2] for i in range(len(html)) if html[i : i + 2] == "<h"]
    assert levels == ["1", "2", "3", "2", "3"]


def test_tables_can_scroll() -> None:
    """Each table is in a group of its own that has a name and takes the keyboard's focus."""
    html = shown(
        "<article><p>x</p><table><caption>Prices</caption><tr><td>1</td></tr></table>y"
        "<div><table><tr><td>2</td></tr></table></div></article>"
    )
    for name in ("Prices", "Table"):
        assert f'aria-label="{name}"' in html
    assert html.count('<div class="contentgen-scroll" role="group"') == 2
    assert html.count('tabindex="0"') == 2
    assert "</table></div>y<div>" in html


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 💡 b", 'a <span aria-hidden="true">💡</span> b'),
        ("👩🏽‍💻!", '<span aria-hidden="true">👩🏽‍💻</span>!'),
        ("🇩🇪🇫🇷", '<span aria-hidden="true">🇩🇪🇫🇷</span>'),
        ("👍🏽👍 ✅\ufe0f.", '<span aria-hidden="true">👍🏽👍 ✅\ufe0f</span>.'),
        (
            "a💡b<br>c💡d",
            'a<span aria-hidden="true">💡</span>b<br>c<span aria-hidden="true">💡</span>d',
        ),
        ("x <b>y</b> ✅ z", 'x <b>y</b> <span aria-hidden="true">✅</span> z'),
        ("© ™ → é 中 ½", "© ™ → é 中 ½"),
        ("<code>✅</code>", "<code>✅</code>"),
    ],
)
def test_emoji_are_not_spelled_out(text: str, expected: str) -> None:
    """Emoji are hidden from screen readers, each whole, and letters and signs are not."""
    assert f"<p>{expected}</p>" in shown(f"<article><p>{text}</p></article>")


def test_a_text_of_nothing_but_emoji_is_left_alone() -> None:
    """Emoji are hidden up to a number that no article has."""
    html = "<article><p>{}</p></article>"
    assert shown(html.format("💡a" * 1000)).count("aria-hidden") == 1000
    assert shown(html.format("💡a" * 1001)).count("aria-hidden") == 0


def test_sizes_do_not_multiply() -> None:
    """A font size that is relative to another one is dropped; headings in headings are none."""
    html = shown(
        '<article><div style="font-size: 2em; color: red"><p style="font-size: 50%">a</p>'
        '<p style="color: red; font-size: 2EM; margin: 1px">b</p><p style="font-size: larger">c</p>'
        '<p style="font-size: 10px; font-size: 1.5rem; font-size: 1.5em">d</p></div>'
        '<p style="font-size: 2em">e</p></article>',
        Presentation("keep"),
    )
    assert (
        '<div style="font-size: 2em; color: red"><p>a</p><p style="color: red; margin: 1px">b</p>'
        '<p>c</p><p style="font-size: 10px; font-size: 1.5rem">d</p></div>'
        '<p style="font-size: 2em">e</p>'
    ) in html
    html = shown(
        "<article><h1>a<div><h2>b</h2></div></h1><p><code><small><sup>c<br><sub>d</sub></sup>"
        "</small></code><small>e</small></p></article>"
    )
    assert "<h1>a<div><div>b</div></div></h1>" in html
    assert "<code><small><span>c<br><span>d</span></span></small></code><small>e</small>" in html


def test_the_name_of_a_table_is_short() -> None:
    """Tables in captions of tables do not repeat what is in them in each of their names."""
    html = f"<article>{'<table><caption>' * 20}{'long ' * 10_000}</article>"
    assert len(shown(html)) < 2 * len(html)


@pytest.mark.parametrize("styles", ["adapt", "keep"])
@pytest.mark.parametrize(
    "part",
    [
        "x💡<br>",
        "<p>x 💡 y</p>",
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

    how = Presentation(styles, disclosure=LINES)
    assert growth(lambda html: present(html, DRAFT, how), make, 4_800) < 3.2


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
    "<br>💡" * 9_990,
    "<p>" + "💡 x" * 60_000,
    "<p>" + "\xa0" * 250_000,
    "<p>" + "&" * 250_000,
    "<div>" * 9_990,
    "<div>" * 90 + "<b>x</b>" * 4_900,
    "<div>" * 90 + "<table>x" * 9_800,
    "".join(f"<p style='color:#{n:06x};border:1px solid #{n:06x}'>x" for n in range(5_000)),
]
"""What takes, or took, most time within the limits."""


def test_the_worst_texts_take_little_time(project: Project, service: ServiceDouble) -> None:
    """A build is done with each of them in a few seconds, whether it shows or refuses them."""

    def answer(request: Received, handler: Handler) -> None:
        text = WORST[int(request.topic)] if request.topic.isdigit() else "x"
        generated(f"<article><h1>T</h1>{text}</article>")(request, handler)

    service.answer = answer
    project.configure(
        {"on_error": "placeholder"},
        plugins=["search", {"contentgen": {"on_error": "placeholder"}}],
        markdown_extensions=[{"toc": {"permalink": True}}],
    )
    taken = []
    for topics in (["index"], range(len(WORST))):
        for topic in topics:
            project.page(f"{topic}.md", {"type": "blog", "topic": str(topic)})
        before = time.process_time()
        assert project.build().returncode == 0
        taken.append(time.process_time() - before)
    assert (taken[1] - taken[0]) / len(WORST) < 3


def test_the_language_is_kept() -> None:
    """A screen reader needs to know in which language a text is."""
    assert 'lang="de-CH"' in shown('<article lang="de-CH"><p>x</p></article>')


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<header><h1>A &amp; <i>B</i></h1><p class="byline">'
            '<time datetime="2026-11-02T08:00">x</time></p></header>'
            '<p class="lead">The\n  <b>l</b>ead.</p><p>Other.</p>',
            ArticleMetadata("A & B", "The lead.", "2026-11-02"),
        ),
        ('<h1>T</h1><p>First.</p><p class="intro">Intro.</p>', ArticleMetadata("T", "Intro.", "")),
        ("<p>First.</p>", ArticleMetadata("", "First.", "")),
        ('<h2>x</h2><time datetime="2026-13-77">y</time>', ArticleMetadata("", "", "")),
    ],
)
def test_facts(html: str, expected: ArticleMetadata) -> None:
    """Title, lead and date are found where the interface says they are, or not made up."""
    assert facts(f"<article>{html}</article>") == expected


def test_a_title_that_is_not_first_moves_there() -> None:
    """All text around it stays, in its order."""
    html = "<article>One <b>two</b> three<h1>T</h1> four</article>"
    article = parse_article(html)
    put_first(article, next(article.iter("h1")))
    assert tostring(article, encoding="unicode") == (
        "<article><h1>T</h1>One <b>two</b> three four</article>"
    )


def test_a_draft_says_so() -> None:
    """Line, attribute and JSON-LD say the same of a text that nobody reviewed."""
    html = shown("<article><h1>T</h1><p>x</p></article>", Presentation(disclosure=LINES))
    assert '</h1><p class="contentgen-disclosure">AI-generated, not reviewed</p><p>x' in html
    assert 'ai-disclosure="ai-autonomous"' in html
    described = DRAFT.json_ld("T", "2026-11-02")
    assert described == {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": "T",
        "dateCreated": "2026-11-21T09:30:00+00:00",
        "digitalSourceType": "https://schema.org/TrainedAlgorithmicMediaDigitalSource",
        "datePublished": "2026-11-02",
    }


def test_the_remarks_about_a_draft() -> None:
    """What is not as requested stands below the line about the draft, and is text only."""
    draft = replace(DRAFT, remarks=("length: 640 words", "HTML: <b> & [TOC]"))
    html = shown("<article><h1>T</h1><p>x</p></article>", Presentation(disclosure=LINES), draft)
    assert (
        'not reviewed</p><p class="contentgen-disclosure">'
        "Not as requested: length: 640 words; HTML: &lt;b&gt; &amp; [TOC]</p><p>x"
    ) in html
    assert "Not as requested" not in shown("<article><p>x</p></article>", Presentation(), draft)


def test_remarks_of_one_kind() -> None:
    """Their kind is named once."""
    remarks = ("mended: a fence", "mended: a title", "length: 640 words", "short")
    draft = replace(DRAFT, remarks=remarks)
    line = "Not as requested: mended: a fence; a title; length: 640 words; short<"
    assert line in shown("<article><p>x</p></article>", Presentation(disclosure=LINES), draft)


def test_an_approved_text_says_who_and_when() -> None:
    """Line, attribute and JSON-LD name the reviewer, whatever the name holds."""
    html = shown("<article><p>x</p></article>", Presentation(disclosure=LINES), APPROVED)
    assert "reviewed by Jo {date} &lt;b&gt; on 2026-11-22</p>" in html
    assert 'ai-disclosure="ai-assisted"' in html
    described = APPROVED.json_ld("T", "")
    assert described["editor"] == {"@type": "Person", "name": "Jo {date} ‹b›"}
    assert described["dateModified"] == "2026-11-22"
    assert "datePublished" not in described


def test_names_are_no_placeholders() -> None:
    """A model that calls itself so does not get the reviewer's name."""
    provenance = replace(APPROVED, model="small {name} {date}")
    assert "by Jo {date} <b> on 2026-11-22 · small {name} {date}" in provenance.line(LINES)


def test_who_is_responsible() -> None:
    """An approved text names who has the editorial responsibility, a draft nobody."""
    how = Presentation(disclosure=LINES, publisher="Acme {name} <GmbH>")
    html = "<article><p>x</p></article>"
    approved = shown(html, how, APPROVED)
    assert "on 2026-11-22 · Editorial responsibility: Acme {name} &lt;GmbH&gt;</p>" in approved
    assert "Acme" not in shown(html, how, DRAFT)
    publisher = {"@type": "Organization", "name": "Acme {name} ‹GmbH›"}
    assert APPROVED.published_by(how.publisher).json_ld("T", "")["publisher"] == publisher
    assert "publisher" not in DRAFT.published_by(how.publisher).json_ld("T", "")


def test_a_text_with_a_persons_words() -> None:
    """It is a composite of both."""
    described = replace(APPROVED, is_edited=True).json_ld("T", "")
    assert described["digitalSourceType"] == (
        "https://schema.org/CompositeWithTrainedAlgorithmicMediaDigitalSource"
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


def test_a_label_of_the_service_is_removed() -> None:
    """What the service says of itself to machines is replaced by what is true here."""
    html = shown(
        '<article ai-disclosure="none" data-ai="no"><script type="application/ld+json">{"a": 1}'
        '</script><p ai-disclosure="none" itemprop="author">x</p></article>'
    )
    assert html == '<article class="contentgen" ai-disclosure="ai-autonomous"><p>x</p></article>'


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
    project.configure({"disclosure": {"drafts": "x"}})
    assert "'drafts' is not a known key; did you mean 'draft'?" in project.build().stdout


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


@pytest.mark.parametrize(
    ("language", "direction"),
    [
        *(
            ("ar", "rtl"),
            ("fa-IR", "rtl"),
            ("he", "rtl"),
            ("pa-Arab", "rtl"),
            ("az-Arab-IR", "rtl"),
        ),
        *(("de-AT", "ltr"), ("ar-Latn", "ltr"), ("zh-Hant", "ltr"), ("sw", "ltr")),
    ],
)
def test_the_direction_of_a_language(language: str, direction: str) -> None:
    """It is that of its script; without a language, the article has that of the page."""
    for named, expected in ((language, (language, direction)), ("", (None, None))):
        provenance = Provenance("blog", NOW, language=named)
        article, _ = present(
            "<article><h1>T</h1><p>Text.</p></article>", provenance, Presentation()
        )
        assert (article.get("lang"), article.get("dir")) == expected
        assert provenance.json_ld("T", "").get("inLanguage") == (named or None)

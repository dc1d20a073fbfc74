"""Markdown of models as HTML: golden files of messy answers, and what holds for any text.

`golden/writer/TYPE-NAME.answer.md` is what a model wrote about the topic in `TYPE-NAME.topic.txt`,
or about TOPIC. `.html` is what a page gets, `.remarks.txt` what a reviewer is told, and
`.refused.txt` is there instead where nobody can use the text. UPDATE_GOLDEN=1 rewrites them.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from drafts import TOPIC, draft, request
from golden_file import GOLDEN, expect
from growth import LINEAR, growth, seconds
from hypothesis import given
from hypothesis import strategies as st
from remarks import said

from mkdocs_contentgen.errors import UnsafeHTMLError
from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.writer.answers.answers import read_answer
from mkdocs_contentgen.writer.answers.markdown import paragraph_html, read_markdown, to_html
from mkdocs_contentgen.writer.answers.reading import mend_answer

DAY = date(2026, 2, 3)
FOLDER = GOLDEN / "writer"
ANSWERS = sorted(FOLDER.glob("*.answer.md"))


def html_of(answer: str, kind: str = "article", topic: str = TOPIC) -> str:
    """Return the HTML of an answer."""
    document = read_markdown(mend_answer(read_answer(answer)[0])[0], title=topic)
    return to_html(document, kind, given=topic, day=DAY)


@pytest.mark.parametrize("path", ANSWERS, ids=[path.name.split(".")[0] for path in ANSWERS])
def test_a_messy_answer_is_read_or_refused(path: Path) -> None:
    """Each answer becomes the expected HTML, of which the sanitizer keeps all, or problems."""
    name = path.name.removesuffix(".answer.md")
    topic_file = FOLDER / f"{name}.topic.txt"
    kind, *details = name.split("-")
    fields = {"format": details[0]} if details[0] in ("howto", "listicle") else {}
    topic = topic_file.read_text(encoding="utf-8") if topic_file.exists() else TOPIC
    found = draft(path.read_text(encoding="utf-8"), request(kind, topic, **fields))
    medium = draft(found.completion.text, found.request, words=min(found.document.words, 900))
    refused = medium.problem
    remarks = [] if refused else said(medium)
    html = "" if refused else f"{html_of(found.completion.text, kind, topic)}\n"
    expect(f"{refused}\n" if refused else "", FOLDER / f"{name}.refused.txt")
    expect("".join(f"{remark}\n" for remark in remarks), FOLDER / f"{name}.remarks.txt")
    expect(html, FOLDER / f"{name}.html")
    if html:
        assert_shape(html, kind)


def assert_shape(html: str, kind: str) -> None:
    """Check the shape of interface section 2.2, and that the sanitizer keeps every element."""
    article = parse_article(html)
    assert sum(1 for _ in article.iter()) == html.count("<") - html.count("</")
    assert article.get("class", "") == {"blog": "blog-post", "news": "news-article"}.get(kind, "")
    parents = {child: parent for parent in article.iter() for child in parent}
    headings = [element for element in article.iter() if element.tag in ("h1", "h2", "h3", "h4")]
    assert [heading.tag for heading in headings].count("h1") == 1
    assert headings[0].tag == "h1"
    assert not list(article.iter("img")) and not list(article.iter("a"))
    assert not article.findall(".//mark//mark")
    if kind == "blog":
        assert classes(article) <= {"intro", "pro-tip", "conclusion"}
        assert len(article.findall("p[@class='intro']")) <= 1
    if kind == "news":
        assert article[0].tag == "header"
        assert article.findall("header/p[@class='byline']/time[@datetime='2026-02-03']")
        assert article[-1].get("class") == "article-body"
        assert all(parents[heading] is article[-1] for heading in headings[1:])


def classes(article: Element) -> set[str]:
    """Return all classes in an article."""
    return {element.get("class", "") for child in article for element in child.iter()} - {""}


PIECES = (
    "# A|## B 1|### C|\n|\n\n|- |1. |> |```|~~~|`|**|*|_|[|](http://x.example)|![|<b>|</think>|"
    '<|&amp;|\\|“|”|"|»|«|5 %|2024|Tip: |word|word word word word|| a | b |\n|---|---\n|    |—|💡|'
    "\x00|\x0c|\xa0|缓存|年|[not known: x]|www.a.org|#|---|====|\t"
).split("|")


@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=40).map("".join),
    st.sampled_from(["article", "blog", "news"]),
)
def test_any_answer_becomes_an_article_or_problems(answer: str, kind: str) -> None:
    """A text that passes the checks for an empty one has HTML in the shape of its type."""
    try:
        assert_shape(html_of(answer, kind), kind)
    except UnsafeHTMLError as error:
        pytest.fail(f"{error}: {answer!r}")
    if not (found := draft(answer, request(kind), words=100)).problem:
        assert len(said(found)) < 30


REPEATED = (
    'A- [ " * < 1␣ ` “ „ ‘ » **a␣ [a]( ``` >␣ -␣ #␣a␤ 1,, $1 www., a.b. a@ _a_1␣ '
    '~~~␤a␤~~~␤ | ![ </ "a"␣ &amp; \\ ␤'
)


@pytest.mark.parametrize("piece", REPEATED.split())
def test_reading_takes_linear_time(piece: str) -> None:
    """Twice as long an answer takes twice as long, whatever it repeats."""
    piece = piece.replace("␣", " ").replace("␤", "\n")

    def read(answer: str) -> None:
        found = draft(answer, words=10)
        if not found.problem:
            assert len(said(found)) < 30
        to_html(found.document, "article", given=TOPIC, day=DAY, names=True)

    assert growth(read, lambda size: piece * size, 600) < LINEAR


def test_a_mark_for_each_statement() -> None:
    """The number of marks is the number of statements to check."""
    html = html_of("# T\n\nIn 2024, 5 % of 10 did. `7` did not.\n")
    assert html.count("<mark>") == 3


@pytest.mark.parametrize(
    ("line", "html"),
    [
        ("“You are *changing* a lot here”", "<mark>“You are <em>changing</em> a lot here”</mark>"),
        ("“You are changing *a lot*”", "<mark>“You are changing <em>a lot</em>”</mark>"),
        ("*“You are changing* a lot”", "<mark><em>“You are changing</em> a lot”</mark>"),
        ("*So “we see* a big lot”", "<em>So <mark>“we see</mark></em><mark> a big lot”</mark>"),
        ("10<sup>6</sup>, **5**", "<mark>10<sup>6</sup></mark>, <strong><mark>5</mark></strong>"),
    ],
)  # fmt: skip
def test_a_statement_with_emphasis_is_one(line: str, html: str) -> None:
    """A person confirms a quotation once, and not its three pieces."""
    assert f">{html}</p>" in html_of(f"# T\n\n{line}")


def test_backticks_with_others_behind_them_are_no_fence() -> None:
    """A line that begins with code is read as a line of HTML if a tag is in it."""
    document = read_markdown("``` ``Step one</details>")
    assert document.prose == "``` ``Step one"


def test_code_on_the_line_of_a_fence_is_not_lost() -> None:
    """A block without other lines shows what stands behind the fence, unless it is a language."""
    assert "<code>pip install a\n</code>" in html_of("# T\n\nRun:\n\n```pip install a\n```\n\nGo.")
    assert "pip" not in html_of("# T\n\nRun:\n\n```pip\nx\n```\n\nGo.").replace("language-pip", "")


@pytest.mark.parametrize(
    ("fence", "code"),
    [
        (
            '```sh title="A b" {.c} pip install a\nmake\n```',
            ' class="language-sh">pip install a\nmake',
        ),
        ('~~~{.sh title="A"} make all\n~~~', ">make all"),
        ('```title="A" make all\n```', ">make all"),
        ('```sh title="A"\nmake\n```', ' class="language-sh">make'),
    ],
)
def test_code_behind_the_attributes_of_a_fence_is_not_lost(fence: str, code: str) -> None:
    """A command on the line of the fence is the first line of the code."""
    assert f"<code{code}\n</code>" in html_of(f"# T\n\nRun:\n\n{fence}\n\nGo.")


def test_no_paragraph_has_no_html() -> None:
    """A document without blocks has no first paragraph to show."""
    assert paragraph_html(read_markdown(""), "") == ""
    assert paragraph_html(read_markdown("Keep *it*."), "") == "Keep <em>it</em>."


def test_a_tip_on_two_lines_loses_nothing() -> None:
    """The label of a tip may stand on a line of its own."""
    html = html_of("# T\n\nIntro.\n\n**Tip:**\nUse *it*.\n\nEnd.", "blog")
    assert "💡 <strong>Tip:</strong> Use <em>it</em>.</div>" in html


def test_the_topic_replaces_a_missing_title() -> None:
    """A text without a title has the topic as its title, without line breaks."""
    assert "How a cache works</h1>" in html_of("Text.", topic="How a\ncache works")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("word " * 400_000, "characters, 120,000 at most"),
        ("a\n\n" * 2_501, "the text has 5,003 lines, 5,000 at most"),
        (f"{'|a' * 500}\n{'|-' * 500}\n" + "|a\n" * 1000, "502,000 lines times columns"),
        (f"> {'|a' * 500}\n> {'|-' * 500}\n" + "> a\n" * 30, "17,000 lines times columns"),
        (f"Text.\n\n💡{'!' * 60_000}", "60,001 characters in a paragraph, 10,000 at most"),
        ("*a **b ~~c ![d " * 700, "10,499 characters in a paragraph"),
        ("".join(f"[a{number}]: /x\n" for number in range(500)), "249,500 references times lines"),
    ],
    ids=["long", "lines", "table", "rows", "paragraph", "delimiters", "references"],
)
def test_a_text_that_takes_long_is_not_read(answer: str, problem: str) -> None:
    """A small answer can be a table of a million cells; what is wrong is said in one line."""
    document = read_markdown(mend_answer(f"# T\n\n{answer}\n")[0])
    assert problem in document.problem
    assert len(document.problem.splitlines()) == 1
    assert document.blocks == []
    assert seconds(lambda: read_markdown(mend_answer(answer)[0]), times=1) < 1


@pytest.mark.parametrize(
    "answer",
    [
        f"```{' ' * 9_000}x\nText.",
        "\n\n".join(["*a _b **c ~~d " * 700] * 3),
        "\n\n".join(["[!![a](" * 1_400] * 3),
        "\n\n".join(["1 2年" * 2_400] * 3),
        ("- " * 8 + "a\n") * 1_600,
        "\n".join(["| a | b |", "|---|---|", *["| 1 | 2 |"] * 3_000]),
    ],
    ids=["spaces", "delimiters", "brackets", "statements", "list", "table"],
)
def test_no_text_takes_long_to_read(answer: str) -> None:
    """The largest texts for the default targets take a second at most, on an idle machine."""
    written: list[str] = []
    assert seconds(lambda: written.append(html_of(answer)), times=1) < 4
    assert any(f"<{tag} " in written[0] for tag in ("p", "pre", "ul", "table")), "it was not read"


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("## 2.1 Impact of 5 days", 1),
        ("## 1.2.3. Impact", 0),
        ("**3. Costs:** they are low", 0),
        ("- **Day 1:** The start", 0),
        ("Этап 2: Начало", 0),
        ("案例2：开始", 0),
        ("**2.  3 steps** to go", 1),
        ("Chapter 4 – The end", 0),
        ("**3.5 million** people", 1),
        ("## The 33 indicators", 1),
        ("The answer is 5.", 1),
        ("2024: a good year", 1),
    ],
)
def test_the_number_of_a_section_is_no_statement(line: str, marked: int) -> None:
    """A person need not confirm in which order things stand."""
    assert html_of(f"# T\n\n{line}\n\nWords.").count("<mark>") == marked

"""What differs between two versions of a document."""

from __future__ import annotations

import random
import re
import time
from contextlib import suppress
from html import unescape
from xml.etree.ElementTree import canonicalize, tostring

import pytest
from bs4 import Tag
from desk_site import HTML
from golden_file import cases
from growth import LINEAR, growth
from hypothesis import assume, given
from hypothesis import strategies as st

from mkdocs_contentgen.errors import EditError
from mkdocs_contentgen.html.differences import compare
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.html.sanitizer import parse_article

CASES = cases("differences")

PARAGRAPHS = [f"{word} is a paragraph of its own" for word in ("One", "Two", "Three", "Four")]


def html_of(*paragraphs: str) -> str:
    """Return a text with these paragraphs."""
    return f"<article><h1>T</h1>{''.join(f'<p>{it}</p>' for it in paragraphs)}</article>"


def differences(before: str, after: str) -> list[tuple[str, str]]:
    """Return the texts of each row that differs."""
    rows = compare(Document(before), Document(after), marks=False)
    return [
        (
            it.before.element.get_text() if it.before else "",
            it.after.element.get_text() if it.after else "",
        )
        for it in rows
        if not it.is_equal
    ]


def test_kinds_of_differences() -> None:
    """A block is changed, added or removed; one that stands elsewhere now is both."""
    one, two, three, four = PARAGRAPHS
    before = html_of(one, two, three, four)
    assert differences(before, html_of(one, f"{two} now", three, four)) == [(two, f"{two} now")]
    assert differences(before, html_of(one, "Nothing like it", three, four)) == [
        (two, "Nothing like it")
    ]
    assert differences(before, html_of(one, three, four)) == [(two, "")]
    assert differences(before, html_of(one, two, three, "Other words", four)) == [
        ("", "Other words")
    ]
    assert differences(before, html_of(two, three, four, one)) == [(one, ""), ("", one)]


def test_one_added_before_one_changed() -> None:
    """What is similar belongs together, although the new one is where the old one was."""
    one, two, three, _ = PARAGRAPHS
    before = html_of(one, two, three)
    assert differences(before, html_of(one, "A short addition", f"{two} now", three)) == [
        ("", "A short addition"),
        (two, f"{two} now"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("a b c", "a <strong>b</strong> c", [("new", "<strong>"), ("new", "</strong> ")]),
        ("a b", "a c b", [("new", "c ")]),
        (
            '<a href="https://x.example/1">a</a>',
            '<a href="https://y.example/1">a</a>',
            [
                ("old", '<a href="https://x.example/1" rel="nofollow noopener noreferrer">'),
                ("new", '<a href="https://y.example/1" rel="nofollow noopener noreferrer">'),
            ],
        ),
        ("It is. So it is.", "It is.", [("old", " So it is.")]),  # with the space before it
        ("需要三秒。", "需要五秒。", [("old", "三"), ("new", "五")]),
        ("a <b>b</b>", "a<b> b</b>", [("old", "<p>a <b>b</b></p>"), ("new", "<p>a<b> b</b></p>")]),
    ],
)
def test_words_of_a_change(before: str, after: str, words: list[tuple[str, str]]) -> None:
    """Markup differs, too, and at least spaces."""
    rows = compare(*(Document(html_of(it)) for it in (before, after)))
    (row,) = (it for it in rows if not it.is_equal)
    assert [it for it in row.words if it[0] != "equal"] == words


@pytest.mark.parametrize(
    "text", [' rel="run curl"', 'href="x" rel="a" b', "&lt;p&gt;", '&lt;b rel="c"&gt;']
)
@pytest.mark.parametrize("tags", [("", ""), ('<a href="https://a.example/">', "</a>")])
def test_text_that_looks_like_markup_is_shown(text: str, tags: tuple[str, str]) -> None:
    """What a reader sees is there to read, however it looks; what each link has, is not."""
    start, end = tags
    before, after = (Document(html_of(f"a{it}")) for it in ("", f" {start}{text}{end}"))
    (row,) = (it for it in compare(before, after) if not it.is_equal)
    said = "".join(words for _, words in row.words_to_read())
    assert said.replace(" ", "") == f"a{start}{unescape(text)}{end}".replace(" ", "")


@pytest.mark.parametrize(("before", "after", "words"), CASES["differences_around_blocks"])
def test_differences_around_blocks(before: str, after: str, words: list[str]) -> None:
    """Lists, sections, rules and loose text are compared, too."""
    one, other = (Document(f"<article><h1>T</h1>{it}</article>") for it in (before, after))
    rows = [row for row in compare(one, other) if not row.is_equal]
    assert [text for row in rows for kind, text in row.words if kind != "equal"] == words


def test_a_statement_that_was_confirmed() -> None:
    """It is no difference, unless marks are compared."""
    before, after = html_of("It is <mark>4</mark>."), html_of("It is 4.")
    assert differences(before, after) == []
    assert [it.is_equal for it in compare(Document(before), Document(after))].count(False) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (html_of("a b " * 1000), html_of("b a " * 1000)),
        (html_of(*["x", "y"] * 600), html_of(*["y", "x"] * 600)),
        (html_of(*["same"] * 2000), html_of(*["same"] * 1999)),
    ],
)
def test_repetitive_texts_take_no_minutes(before: str, after: str) -> None:
    """What occurs again and again would take a minute to compare word by word."""
    one, other = Document(before), Document(after)
    started = time.process_time()
    assert any(not it.is_equal for it in compare(one, other))
    assert time.process_time() - started < 4


def marked(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the words that differ between two texts, of the earlier and of the later one."""
    texts = (Document(f"<article>{it}</article>") for it in (before, after))
    words = [word for row in compare(*texts) for word in row.words]
    gone, new = ("".join(text for kind, text in words if kind == it) for it in ("old", "new"))
    return gone.split(), new.split()


def prose(number: int) -> str:
    """Return a text of about that many words, of which some are as frequent as in English."""
    rng = random.Random(1)
    vocabulary = [f"word{rank}" for rank in range(3000)]
    weights = [1 / (rank + 1) for rank in range(3000)]
    lines = [" ".join(rng.choices(vocabulary, weights, k=50)) for _ in range(number // 50)]
    return "\n".join(f"<p>{line}</p>" for line in lines)


@pytest.mark.parametrize("number", [100, 8_000])
def test_what_was_edited_is_marked(number: int) -> None:
    """In texts of any usual length, a few edits in every line are marked, and nothing else."""
    before = prose(number)
    gone, new = marked(before, re.sub(r"(<p>\S+ \S+ )(\S+ )(\S+)", r"\1\3 edited", before))
    assert new.count("edited") == number // 50
    assert len(gone) + len(new) < 0.1 * number


@pytest.mark.parametrize("part", ["same {0} {1}{0} ", "<p>{0}{1}</p><p>same {0}</p>", "<li>{0}!"])
def test_twice_the_text_takes_twice_the_time_to_compare(part: str) -> None:
    """Whatever two texts have in common, comparing them costs what they are long."""

    def compare_both(text: str) -> None:
        marked(text.replace("!", "a"), text.replace("!", "b") + "\nThe end.")

    def make(count: int) -> str:
        return "".join(part.format(number, "!") for number in range(count))

    assert growth(compare_both, make, 2_000, factor=2) < LINEAR


def test_the_end_of_a_long_block_counts() -> None:
    """A change after the first two thousand words is one."""
    (row,) = (
        row
        for row in compare(*(Document(html_of("w " * 2500 + it)) for it in ("a", "b")))
        if row.words
    )
    assert {kind for kind, _ in row.words} == {"equal", "old", "new"}


EDITS = st.tuples(
    st.sampled_from(["word", "attribute", "tag", "wrap", "unwrap", "remove", "swap", "rename"]),
    st.integers(0, 200),
)
RICH = f"""<article class="blog-post" lang="de">Loose <b>text</b>{HTML}<ul>x<li>a<ol start="2"
reversed><li value="5">b</li></ol>c</li></ul><dl><dt>d</dt><dd>e<p>f</p></dd></dl><hr>
<blockquote>g<footer>h</footer></blockquote><span>i<p>j <img src="https://i.example/a.png"
alt="k" title="l" width="5"> <time datetime="2026">m</time></p></span><table><caption>n</caption>
<tbody><tr><td colspan="2">o</td><th scope="row"><p>p</p></th></tr></tbody></table>
<figure><img src="https://i.example/b.png"><figcaption>q</figcaption></figure><pre> r
 s</pre><p style="color: red" dir="rtl">t <a href="https://x.example/" title="u">v</a><br>w</p>
<p><img src="https://i.example/c.png" alt="x"></p></article>"""


def edited(document: Document, edit: str, number: int) -> None:
    """Change something in a document, as a stranger would."""
    tags = document.article.find_all(True)
    tag = tags[number % len(tags)]
    strings = list(document.article.strings)
    match edit:
        case "word":
            strings[number % len(strings)].replace_with("Other *2* [x](y) & `z` ==w== <")
        case "attribute" if tag.attrs:
            name = sorted(tag.attrs)[number % len(tag.attrs)]
            tag[name] = {"href": "https://y.example/", "lang": "fr", "start": "4"}.get(name, "7")
        case "tag":
            tag.append(Tag(name="img", attrs={"src": "https://i.example/z.png"}))
        case "wrap":
            tag.wrap(Tag(name=("section", "i", "div")[number % 3]))
        case "unwrap":
            tag.unwrap()
        case "remove":
            tag.extract()
        case "swap" if tag.next_sibling:
            tag.next_sibling.insert_after(tag.extract())
        case "rename":
            tag.name = ("p", "h3", "span", "ul", "blockquote")[number % 5]


def content(html: str, hosts: list[str]) -> str:
    """Return a text as a build reads it, without white space."""
    xml = canonicalize(tostring(parse_article(html, hosts), "unicode"))
    return re.sub(r"\s", "", xml)


@given(st.lists(EDITS, min_size=1, max_size=4))
def test_whatever_differs_is_shown(edits: list[tuple[str, int]]) -> None:
    """Two documents differ in the comparison if and only if they differ as HTML."""
    hosts = ["i.example"]
    before, changed = Document(RICH, hosts), Document(RICH, hosts)
    for edit, number in edits:
        if changed.article.find(True):
            edited(changed, edit, number)
    assume(changed.article.get_text().strip())
    html = str(changed.article)
    after = Document(html, hosts)
    assert content(after.to_lines(), hosts) == content(html, hosts)
    rows = compare(before, after)
    assert all(row.is_equal for row in compare(after, Document(after.to_lines(), hosts)))
    is_same = before.to_lines() == after.to_lines()
    assert all(row.is_equal for row in rows) == is_same
    for row in rows:
        assert any(kind != "equal" for kind, _ in row.words) != row.is_equal
    for side, document in (("old", before), ("new", after)):
        pieces = [row.before if side == "old" else row.after for row in rows]
        assert [it.html for it in pieces if it] == [it.html for it in document.pieces()]


@given(st.lists(EDITS, max_size=4))
def test_what_is_saved_unchanged_stays_as_it_is(edits: list[tuple[str, int]]) -> None:
    """Light Markdown of whatever is read as what it was."""
    changed = Document(RICH, ["i.example"])
    for edit, number in edits:
        if changed.article.find(True):
            edited(changed, edit, number)
    assume(changed.article.get_text().strip())
    document = Document(str(changed.article), ["i.example"])
    before = document.to_lines()
    for block in document.blocks():
        with suppress(EditError):  # code, or what a person may not write, such as a table in text
            block.set_markdown(block.to_markdown())
    assert document.to_lines() == before

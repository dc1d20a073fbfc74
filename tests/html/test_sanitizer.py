"""What is left of untrusted HTML, as golden files and as properties.

Each `golden/sanitizer/NAME.html` holds cases, each below a line `=== what it is about`, and
`NAME.out.html` what is left of them; UPDATE_GOLDEN=1 rewrites that. A control picture such as ␂
stands for the control character. Every result must also pass a check that was written apart from
the sanitizer, with two other parsers.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from html import escape
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

import pytest
from bs4 import BeautifulSoup
from golden_file import GOLDEN, expect
from harmless import CONTROLS, TAGS, violations
from hypothesis import example, given
from hypothesis import strategies as st

from mkdocs_contentgen.errors import UnsafeHTMLError
from mkdocs_contentgen.html.plaintext import plain_text
from mkdocs_contentgen.html.sanitizer import MAX_DEPTH, MAX_ENTITIES, MAX_TAGS, sanitize
from mkdocs_contentgen.text import MAX_HTML

IMAGE_HOSTS = ("cdn.example", "Pics.Example")
FILES = sorted(path for path in (GOLDEN / "sanitizer").glob("*.html") if ".out" not in path.name)
PICTURES = {0x2400 + code: code for code in range(32)} | {0x2421: 0x7F}


def html_of(root: Element) -> str:
    """Return what stands in the `<div>` that the sanitizer returns, as HTML."""
    html = tostring(root, encoding="unicode", method="html")
    assert html.startswith("<div>")
    return html.removeprefix("<div>").removesuffix("</div>")


def cases_of(path: Path) -> Iterator[tuple[str, str]]:
    """Return the cases in a file of cases, each with its title."""
    text = path.read_bytes().decode().translate(PICTURES)
    for case in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        title, _, html = case.partition("\n")
        yield title, html.removesuffix("\n")


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_what_is_left_is_as_expected(path: Path) -> None:
    """Every case leaves what its golden file says, and nothing that could do harm."""
    results = ""
    for title, html in cases_of(path):
        result = html_of(sanitize(html, IMAGE_HOSTS))
        results += f"=== {title}\n{result}\n"
        assert list(violations(result, IMAGE_HOSTS)) == [], title
        assert html_of(sanitize(result, IMAGE_HOSTS)) == result, title
    expect(results, path.with_suffix(".out.html"))


def test_the_golden_files_hold_many_attacks() -> None:
    """The cases are all read, and none is there twice."""
    cases = [case for path in FILES for case in cases_of(path)]
    assert len(cases) > 250
    assert len({html for _, html in cases}) == len(cases)


@pytest.mark.parametrize("is_used_again", [False, True])
def test_a_result_that_was_changed_does_not_change_the_next_one(*, is_used_again: bool) -> None:
    """The same HTML gives the same elements, whatever was done with those that it gave before."""
    html = '<p lang="en">Text with <a href="https://a.example">a link</a></p>'
    first = sanitize(html, is_used_again=is_used_again)
    expected = html_of(first)
    first[0].set("class", "changed")
    first[0].clear()
    assert html_of(sanitize(html)) == expected


def test_the_same_image_is_judged_by_the_hosts_of_each_call() -> None:
    """Hosts of one call do not decide about the next one."""
    html = '<p><img src="https://cdn.example/a.png" alt="A"></p>'
    assert "<img" in html_of(sanitize(html, ["cdn.example"], is_used_again=True))
    assert "<img" not in html_of(sanitize(html, is_used_again=True))
    assert "<img" in html_of(sanitize(html, ["cdn.example"]))


@pytest.mark.parametrize(
    "html",
    [
        "<script>x</script>",
        "<p onclick='x'>x</p>",
        "<p id='x'>x</p>",
        "<p class='md'>x</p>",
        "<a>x</a>",
        "<a href='x' rel='nofollow noopener noreferrer'>x</a>",
        "<a href='javascript:x' rel='nofollow noopener noreferrer'>x</a>",
        "<a href='https:x' rel='nofollow noopener noreferrer'>x</a>",
        "<a href='https://a@b/' rel='nofollow noopener noreferrer'>x</a>",
        "<a href='https://a/'>x</a>",
        "<img src='https://evil.example/' alt=''>",
        "<img src='http://cdn.example/' alt=''>",
        "<p style='position: fixed'>x</p>",
        "<p style='color: red !important'>x</p>",
        "<p style='color: url(x)'>x</p>",
        "<p style='background: linear-gradient(red, url(x))'>x</p>",
        "<p style='margin: -1px'>x</p>",
        "<p style='margin: 1000px'>x</p>",
        "<p style='margin: 1vw'>x</p>",
        "<p style='margin: 26%'>x</p>",
        "<p style='line-height: 24px'>x</p>",
        "<p style='line-height: 0.5'>x</p>",
        "<p style='font-size: 7px'>x</p>",
        "<p style='font-size: 0'>x</p>",
        "<p style='text-decoration: underline 1em'>x</p>",
        "<p style='background: linear-gradient(linear-gradient(rgb(1, 2, 3)))'>x</p>",
        f"<p style='color: red{' ' * 1000}'>x</p>",
        "<p style='color: \\72 ed'>x</p>",
        "<!-- x -->",
        "<svg></svg>",
        "\x02",
    ],
)
def test_the_check_finds_what_must_not_be_there(html: str) -> None:
    """A check that finds nothing would prove nothing."""
    assert list(violations(html, IMAGE_HOSTS))


# Text: what an article says comes out character for character.

plain = st.text(st.characters(exclude_categories=["Cs"]))


def as_read(text: str, tag: str = "") -> str:
    """Return a text as a parser of HTML reads it in an element, without control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # A parser drops the first line break of a <pre>.
    return CONTROLS.sub("", text.removeprefix("\n" if tag == "pre" else ""))


@given(text=plain)
@example(text="&amp;lt; &copy; &nbsp; \x02wzxhzdk:0\x03 <script> \xa0")
@example(text="\n\nx")
def test_text_stays_as_it_is(text: str) -> None:
    """No character is lost, added or changed but for control characters."""
    for tag in ("p", "code", "li", "pre"):
        html = html_of(sanitize(f"<{tag}>{escape(text)}</{tag}>"))
        (element,) = BeautifulSoup(html, "html5lib").find_all(tag)
        assert element.get_text() == as_read(text, tag)


@given(text=plain)
def test_an_attribute_keeps_its_text(text: str) -> None:
    """A title says what it said, without markup."""
    root = sanitize(f'<abbr title="{escape(text)}">x</abbr>')
    abbr = root.find("abbr")
    assert abbr is not None
    read = as_read(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))
    assert abbr.get("title") == plain_text(read)


# Whatever comes: the result is harmless and stays the same.

NASTY = [
    *("<", ">", "</", "/>", "<!--", "-->", "--!>", "<![CDATA[", "]]>", "<?", "<!", "&", ";"),
    *("'", '"', "`", "=", "/", " ", "\n", "\t", "\x00", "\x02", "\x03", "\x0c", "\r", "\xa0"),
    *("&lt;", "&amp;", "&#60", "&#x3c;", "&lt", "&quot;", "&#2;", "&Tab;", "&nbsp;", "&copy"),
    *("wzxhzdk:0", "\x02wzxhzdk:0\x03", "\x02amp\x03", "[TOC]", "{{ x }}", "é", "\ud83d", "😀"),
]
VALUES = [
    *"javascript:alert(1) data:text/html,x //x \\\\x https:x https://a.example/ https://[".split(),
    *"https://cdn.example/x.png https://u:p@x/ mailto:a@b https://a.example:8 x #x 1 -1".split(),
    *("HTTPS://PICS.EXAMPLE", "https://a\N{FULLWIDTH SOLIDUS}b", "", "99999", "java\tscript:x"),
    *("lead", "lead md", "color: red", "position:fixed", "background:url(x)", "margin:-1px"),
    "background: linear-gradient(1deg, rgba(1,2,3,.5) 5%, red)",
    *("color:\\72 ed", "padding: 1.5.5", "color:red;;background:u\\72l(x)", "font-size:9em", "/*"),
    *("a:b;color:red}x{", "ltr", "en-US"),
]
ATTRIBUTES = (
    "class style lang dir href src title alt width height start value type reversed colspan "
    "rowspan scope datetime rel loading id name onclick srcset xlink:href data-x is STYLE hReF < '"
).split()
ELEMENTS = [
    *sorted(TAGS),
    *"script style svg math mtext mglyph annotation-xml foreignObject desc template title".split(),
    *"noscript textarea select option iframe object form marquee main fieldset button".split(),
    *"font nobr body html head col colgroup frameset xmp plaintext listing image input".split(),
    *"center details summary address dialog video picture source base meta link x-y".split(),
]

nasty = st.sampled_from(NASTY) | st.text(max_size=4)
attribute = st.builds(
    "{}={}{}{}".format,
    st.sampled_from(ATTRIBUTES),
    st.shared(st.sampled_from(["'", '"', "", "`"]), key="quote"),
    st.sampled_from(VALUES) | st.lists(nasty, max_size=3).map("".join),
    st.shared(st.sampled_from(["'", '"', "", "`"]), key="quote"),
)
start = st.builds(
    "<{} {}>".format, st.sampled_from(ELEMENTS), st.lists(attribute, max_size=3).map(" ".join)
)
end = st.sampled_from(ELEMENTS).map("</{}>".format)
trees = st.recursive(
    nasty,
    lambda inner: st.builds(
        "<{0} {1}>{2}</{0}>".format,
        st.sampled_from(ELEMENTS),
        st.lists(attribute, max_size=2).map(" ".join),
        st.lists(inner, max_size=4).map("".join),
    ),
    max_leaves=12,
)
soups = st.lists(trees | start | end | nasty, max_size=10).map("".join)


@example("http:")
@given(html=soups | st.text(st.characters(exclude_categories=())))
def test_whatever_comes_the_result_is_harmless_and_stays_the_same(html: str) -> None:
    """A second pass changes nothing, and two other parsers find nothing that must not be there."""
    result = html_of(sanitize(html, IMAGE_HOSTS))
    assert html_of(sanitize(result, IMAGE_HOSTS)) == result
    assert list(violations(result, IMAGE_HOSTS)) == []


# What cannot be judged is refused.


def test_a_style_that_cannot_be_judged_is_no_way_around_the_judge() -> None:
    """Where the filter itself fails, nh3 would keep the value: here the attribute goes."""
    kept = set()

    def sanitize_below(frames: int, number: int) -> None:
        if frames:
            return sanitize_below(frames - 1, number)
        style = f"background: url(https://evil.example/{number}); color: rgb(1, rgb(2, 3))"
        html = html_of(sanitize(f'<p style="{style}">x</p>'))
        assert "evil" not in html
        kept.add("color" in html)

    # With ever fewer frames left, first the judge fails, and then what is around it.
    for number in range(sys.getrecursionlimit() - 120, sys.getrecursionlimit()):
        with suppress(UnsafeHTMLError, RecursionError):
            sanitize_below(number, number)
    assert kept == {True, False}


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("x" * (MAX_HTML + 1), "too large: 262,145 characters, 262,144 at most"),
        ("<br>" * (MAX_TAGS + 1), "too large: 10,001 tags, 10,000 at most"),
        ("&amp;\xa0" * 10_001, "too large: 20,002 entities, 20,000 at most"),
        ("<div>" * (MAX_DEPTH + 1), "nested more than 100 deep"),
        (f"<p>{'<i x>' * 900}</p>{'<p>x' * 9_000}", "its formatting is repeated by each tag"),
        (
            f"<p><a title='{'x' * 99_999}'>x<a title='x'></p>{'<p>x' * 9_000}",
            "its formatting is repeated by each tag",
        ),
    ],
)
def test_a_refusal_says_why(html: str, reason: str) -> None:
    """Whoever reads it learns which limit was reached."""
    with pytest.raises(UnsafeHTMLError, match=re.escape(reason)):
        sanitize(html)


LIMITS = {
    "as large as it may be": ("<p>x</p>" + "y" * (MAX_HTML - 8), True),
    "too large": ("x" * (MAX_HTML + 1), False),
    "as many tags as there may be": ("<br>" * MAX_TAGS, True),
    "too many tags": ("<br>" * (MAX_TAGS + 1), False),
    "as deep as it may be": ("<div>" * MAX_DEPTH + "x" + "</div>" * MAX_DEPTH, True),
    "too deep": ("<div>" * (MAX_DEPTH + 1), False),
    "very deep": ("<div>" * MAX_TAGS, False),
    "very deep tables": ("<table><tr><td>" * (MAX_TAGS // 3), False),
    "very many attributes": (
        f"<p {' '.join(f'{number:x}' for number in range(0xAAAAA, 0xAAAAA + 37_000))}>x</p>",
        True,
    ),
    "very many pictures": ("<img src=https://a/>" * 9_999, True),
    "very many comments": ("<!--" * MAX_TAGS, True),
    "very many links in links": ("<a href=//x>" * MAX_TAGS, True),
    "a very long style": (f"<p style='{'color:red;' * 25_000}'>x</p>", True),
    "a very deep style": (f"<p style='color:{'(' * 250_000}'>x</p>", True),
    "very many different styles": (
        "".join(f"<p style=color:rgb({n % 256},{n // 256},0)>" for n in range(7_000)),
        True,
    ),
    "very long words": (f"<p lang={'aa-' * 80_000}><a href=https://{'a' * 9_000}>x</a></p>", True),
    "very many brackets": ("<" * MAX_TAGS + "&" * MAX_ENTITIES, True),
    # A parser opens each of them anew in each paragraph: millions of elements, gigabytes.
    "formatting that nobody closes": (
        "".join(f"<b class={number:x}><p>" for number in range(4_900)),
        False,
    ),
    "formatting before many paragraphs": (
        f"<p>{''.join(f'<i {n}>' for n in range(900))}</p>{'<p>x' * 9_000}",
        False,
    ),
    "formatting before fewer paragraphs": (
        f"<p>{''.join(f'<i {n}>' for n in range(400))}</p>{'<p>x' * 1_800}",
        False,
    ),
    "formatting with a long style": (
        f"<p><b style='{'color:red;' * 2_000}'></p>{'<p>x' * 9_000}",
        False,
    ),
    "formatting with many attributes": (
        f"<p><b {' '.join(f'{n:x}' for n in range(20_000))}></p>{'<p>x' * 9_000}",
        False,
    ),
    "formatting that hides its attributes": (
        f"<p><b x='>' y=\"<\" {' '.join(f'{n:x}' for n in range(20_000))}></p>{'<p>x' * 9_000}",
        False,
    ),
    "a link with a long address": (
        f"<p><a href=https://{'a' * 20_000}></p>{'<p>x' * 9_000}",
        False,
    ),
    "a link with a long address before fewer paragraphs": (
        f"<p><a href=https://{'a' * 20_000}></p>{'<p>x' * 2_000}",
        False,
    ),
    "formatting in capitals, with a slash": (
        "".join(f"<FONT/{number:x}><P>" for number in range(4_900)),
        False,
    ),
    "formatting that is closed": ('<p><strong style="color: red">x</strong></p>' * 400, True),
    "a link in each paragraph": (
        '<p>x <a href="https://example.org/a/page/somewhere" title="a > b">y</a> z</p>' * 2_400,
        True,
    ),
}


@pytest.mark.system
def test_what_is_too_much_is_refused_quickly() -> None:
    """In a gigabyte and a few seconds, whatever comes is either sanitized or refused."""
    ran = subprocess.run(
        [sys.executable, "-c", IN_A_GIGABYTE],
        input=json.dumps([html for html, _ in LIMITS.values()]),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    # Ended by the system after so many seconds of the processor's time for all of them.
    found = dict(zip(LIMITS, ran.stdout.split(), strict=False))
    assert found == {name: str(fine) for name, (_, fine) in LIMITS.items()}, ran.stderr[-2000:]


IN_A_GIGABYTE = """
import json, resource, sys
from mkdocs_contentgen.errors import UnsafeHTMLError
from mkdocs_contentgen.html.sanitizer import sanitize

resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
for html in json.load(sys.stdin):
    try:
        sanitize(html)
    except UnsafeHTMLError:
        print(False, flush=True)
    else:
        print(True, flush=True)
"""

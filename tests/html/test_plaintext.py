"""Text without markup, printed in every way that templates have, and read by real parsers."""

from __future__ import annotations

import html
import json
import unicodedata
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given
from hypothesis import strategies as st
from jinja2 import Environment
from markdown import Markdown

from mkdocs_contentgen.html.plaintext import MAX_PLAIN_TEXT, plain_text

MARKUP = set("<>\"'`\\")
ATTACKS = [
    "</title><script>alert(1)</script>",
    "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;",
    "&amp;lt;script&amp;gt;alert(1)",
    "&ltscript&gtalert(1)&lt/script",
    "&#60;img src=x onerror=alert(1)&#x3e;",
    "&#0000060img src=x onerror=alert(1)>",
    'x" onmouseover="alert(1)',
    "x' onmouseover='alert(1)",
    "x` onmouseover=`alert(1)",
    "＜script＞alert(1)＜/script＞",
    "<\u0338script>\u0338",
    "&\x00lt;script>",
    "&\u202elt;script>",
    "＆lt;script&gt;",
    "-->]]><script>alert(1)</script><!--",
    "\\",
    '\\" + alert(1) + "',
    "{{ 7 * 7 }}{% raw %}{# x #}",
    "{\u202a{ 7 * 7 }}",
    "[x](javascript:alert(1)) ![x](x) [x][y] [x]: y",
]
texts = st.lists(st.sampled_from([*ATTACKS, *"<>\"'&;`\\{}[]()# lt", "é", "😀", "\n"])).map("".join)

TEMPLATE = Environment(autoescape=False).from_string(
    """<p>{{ it }}</p><p>{{ it | e }}</p><p>{{ it | striptags }}</p><p>{{ it | striptags | e }}</p>
<p title="{{ it }}">x</p><p title='{{ it }}'>x</p><p title="{{ it | striptags }}">x</p>
<p title={{ it | urlencode }}>x</p><textarea>{{ it }}</textarea><title>{{ it | striptags }}</title>
<!-- {{ it }} --><script type="x">"{{ it }}", '{{ it }}', `{{ it }}`, {{ it | tojson }}</script>"""
)
ELEMENTS = ["p"] * 8 + ["textarea", "title", "script"]


@given(text=texts | st.text())
@example(text="".join(ATTACKS))
def test_however_it_is_printed_it_is_text(text: str) -> None:
    """No way of printing makes an element, an attribute, a string's end or another line of it."""
    plain = plain_text(text)
    soup = BeautifulSoup(TEMPLATE.render(it=plain), "html5lib")
    found = [tag for tag in soup.find_all(True) if tag.name not in ("html", "head", "body")]
    assert [tag.name for tag in found] == ELEMENTS
    assert all(set(tag.attrs) <= {"title", "type"} for tag in found)
    assert len(plain.splitlines()) <= 1
    assert json.loads(f'"{plain}"') == plain
    bare = plain.replace("&", "&amp;")
    assert ElementTree.fromstring(f"<a b='{bare}'>{bare}</a>").text == (plain or None)
    assert Environment(autoescape=True).from_string(plain).render() == plain


@given(text=texts | st.text())
@example(text="&apos\u037e")  # a Greek question mark, which normalises to a semicolon
def test_nothing_brings_markup_back(text: str) -> None:
    """Neither decoding entities, however often, nor Unicode normalisation, makes markup of it."""
    plain = plain_text(text)
    assert html.unescape(plain) == plain
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        normal = unicodedata.normalize(form, plain)
        assert not MARKUP & set(html.unescape(html.unescape(normal))), form
        assert "{{" not in normal
    assert plain_text(plain) == plain
    assert len(plain) <= MAX_PLAIN_TEXT


def test_no_character_of_unicode_normalises_to_markup() -> None:
    """The list of look-alikes is whole, also for the Unicode of a newer Python."""
    for character in map(chr, range(0x110000)):
        if not MARKUP.isdisjoint(unicodedata.normalize("NFKD", character)):
            plain = plain_text(f"x{character}x")
            assert MARKUP.isdisjoint(unicodedata.normalize("NFKD", plain)), hex(ord(character))


@pytest.mark.parametrize(
    "text",
    [
        "Ten ways, one text (2024) – R & D at AT&T",
        "Größe 50 % #1; a/b: c_d * e^f = [g] {h}",
        "日本語 😀",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    """Text that is no markup stays as it is."""
    assert plain_text(text) == text


def test_look_alikes_keep_it_readable() -> None:
    """What was markup can still be read."""
    assert plain_text(' It\'s "<b>"\n &lt; ') == "It’s “‹b›” & lt;"


def test_a_link_in_markdown_is_none() -> None:
    """What writes titles into Markdown makes no link of their text."""
    plain = plain_text("a [b](https://evil.example) ![c](https://evil.example)")
    assert "https://evil.example" in plain
    assert not {"<a", "<img"} & set(Markdown().convert(plain).split())


def test_a_long_text_is_cut() -> None:
    """A heading of a hundred thousand characters does not get into each page's navigation."""
    plain = plain_text("word " * 20_000)
    assert len(plain) == MAX_PLAIN_TEXT
    assert plain.endswith("word…")

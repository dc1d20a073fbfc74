"""No text of an article is syntax in the Markdown of its page, whatever it says."""

from __future__ import annotations

from html import escape
from xml.etree.ElementTree import tostring

from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from markdown import Markdown
from test_fuzz import few, fuzz

from mkdocs_contentgen.errors import UnsafeHTMLError
from mkdocs_contentgen.html.article import parse_article
from mkdocs_contentgen.html.markdown_writer import to_markdown

EXTENSIONS = [
    *"arithmatex betterem blocks.admonition blocks.html caret critic details emoji".split(),
    *"escapeall extra fancylists highlight inlinehilite keys mark progressbar snippets".split(),
    *"superfences tabbed tasklist tilde".split(),
]
OTHERS = (
    "abbr admonition attr_list def_list footnotes md_in_html nl2br tables toc wikilinks".split()
)
PIECES = [
    *"{{ {% {: --8<-- /// !!! ??? === [^1] *[A]: ]( ![ [ ] ( ) < <!-- --> &amp; &#60;".split(),
    *"` ``` ~~~ * ** _ __ == ^ ~~ ~ $ $$ \\ \\( | # - + 1. i) > : ::: ++a++ :smile:".split(),
    *"[TOC] [[W]] {++ {>> @u #1 http://a.example --- ' \" % ! ? } A a word 0 .".split(),
    *("<b>", "\u2028", "\xa0", "\t", " ", "  ", "/// html | script\n", '"x" '),
]
SHAPES = [
    *("<p>{}</p>", "<h2>{}</h2>", "<ul><li>{}</li><li>x</li></ul>", "<blockquote>{}</blockquote>"),
    *("<ol><li><p>{}</p><p>{}</p></li></ol>", "<pre>{}</pre>", "<p>a <code>{}</code> b</p>"),
    *("<p><b>{}</b> c</p>", "<p><b>{}</b>{}<i>{}</i></p>", "<p>{}<a href='https://a/'>b</a></p>"),
    *("<p><a href='https://a/{}'>{}</a></p>", "<ul><li>{}<ul><li>{}</li></ul></li></ul>"),
    *("<ul><li>a<pre>{}</pre></li></ul>", "<p><kbd>{}</kbd>{}</p>", "<p>x<br>{}</p>"),
    *("<div class='pro-tip'>{}</div>", "<ul>{}<li>a</li></ul>", "<b>{}<ul><li>a</li></ul></b>"),
    "<table><thead><tr><th>{}</th></tr></thead><tbody><tr><td>{}</td></tr></tbody></table>",
    "<p><abbr title='{}'>x</abbr><img src='https://img.example/a.png' alt='{}' title='{}'></p>",
]
OF_MARKDOWN = set("p div code pre span thead tbody th td body".split())

texts = st.lists(st.sampled_from([*PIECES, " "]), min_size=1, max_size=9).map("".join)
blocks = st.builds(
    lambda shape, text: shape.replace("{}", escape(text)), st.sampled_from(SHAPES), texts
)


def shown(html: str) -> tuple[str, set[str]]:
    """Return the text of HTML without white space, and the kinds of its elements."""
    soup = BeautifulSoup(html, "html5lib")
    for tag in soup.select(".admonition-title"):
        tag.decompose()
    names = {"b": "strong", "i": "em"}
    kinds = {names.get(tag.name, tag.name) for tag in soup.find_all(True)}
    return "".join(soup.get_text().replace("\u200b", "").split()), kinds


def test_no_text_becomes_syntax() -> None:
    """Articles show the same text in the same elements."""
    markdown = Markdown(extensions=[*(f"pymdownx.{name}" for name in EXTENSIONS), *OTHERS])

    @few
    @given(st.lists(blocks, min_size=1, max_size=3))
    def check(parts: list[str]) -> None:
        try:
            article = parse_article(f"<article>{''.join(parts)}</article>", ["img.example"])
        except UnsafeHTMLError:
            return
        html = tostring(article, "unicode", "html")
        text, kinds = shown(markdown.reset().convert(to_markdown(html, ["admonition"])))
        expected, before = shown(html)
        assert text == expected
        assert kinds <= before | OF_MARKDOWN

    fuzz(check)

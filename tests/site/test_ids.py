"""The ids of headings; whatever an article says, `fuzz/test_ids_fuzz.py` tries."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

from markdown import Markdown

from mkdocs_contentgen.site.ids import HeadingIds


def test_the_author_comes_first() -> None:
    """An article's heading gets an id that no heading and no raw HTML of the author's has."""
    root = fromstring("<div><h2>One</h2><h2 id='two'>x</h2></div>")
    article = fromstring("<article><h2>One</h2><h3>Two</h3><h3>Raw</h3></article>")
    ids = HeadingIds(Markdown(extensions=["toc"]), root, {"0": '<a name="raw"></a>'})
    ids.label(article)
    assert [heading.get("id") for heading in root] == ["one", "two"]
    assert [heading.get("id") for heading in article] == ["one_1", "two_1", "raw_1"]


def test_a_page_without_a_table_of_contents() -> None:
    """Without the extension `toc`, no heading gets an id."""
    article = fromstring("<article><h2>One</h2></article>")
    HeadingIds(Markdown(), fromstring("<div><h2>One</h2></div>"), {}).label(article)
    assert article[0].get("id") is None

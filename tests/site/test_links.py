"""Where the links of articles lead."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, fromstring

import pytest

from mkdocs_contentgen.html.presentation import PAGE_OF_LINK
from mkdocs_contentgen.site.anchors import CitedHeading
from mkdocs_contentgen.site.links import PageLinks, page_link

PAGES = {"https://example.org/a/": "a b.md", "https://example.org/c/": "in/c.md"}


@pytest.mark.parametrize(
    ("address", "page", "link"),
    [
        ("https://example.org/a/", "index.md", "a%20b.md"),
        ("https://example.org/a/#x", "in/d.md", "../a%20b.md#x"),
        ("https://example.org/c/", "in/d.md", "c.md"),
        ("https://example.org/c/x", "in/d.md", "https://example.org/c/x"),
        ("#x", "in/d.md", "#x"),
    ],
)
def test_the_path_to_a_page(address: str, page: str, link: str) -> None:
    """Only the address of a page becomes a path."""
    assert page_link(address, PAGES, page) == link


def test_a_link_to_a_cited_heading() -> None:
    """Only a cited anchor becomes the id of its heading; a citation without one is returned."""
    addresses = [f"https://example.org/c/#{anchor}" for anchor in ("one", "two", "three")]
    article = Element("article")
    for address in addresses:
        SubElement(article, "a", {"href": address})
    links = PageLinks("page.md", PAGES, {CitedHeading("in/c.md", "one"): "first"}.get)
    without_id = links.set(article, addresses[:2])
    assert [link.get("href") for link in article] == [
        "in/c.md#first",
        "in/c.md#two",
        "in/c.md#three",
    ]
    assert without_id == [CitedHeading("in/c.md", "two")]
    assert "in/c.md#two" in links.problem(without_id[0])


@pytest.mark.parametrize(
    ("page", "link"), [("index.md", "in/a%20b.md"), ("in/c.md", "a%20b.md"), ("in/a b.md", "#")]
)
def test_a_link_to_the_page_of_an_original(page: str, link: str) -> None:
    """It leads to the file of the page, and says nothing else of it."""
    article = Element("article")
    SubElement(article, "a", {PAGE_OF_LINK: "in/a b.md"})
    assert PageLinks(page, {}).set(article, ()) == []
    assert article[0].attrib == {"href": link}


def test_a_citation_before_pages_can_be_rendered() -> None:
    """As long as nobody has looked for an id, a citation without one is not a problem."""
    article = fromstring('<article><a href="https://example.org/c/#x"/></article>')
    links = PageLinks("page.md", PAGES)
    (citation,) = links.set(article, ["https://example.org/c/#x"])
    assert links.problem(citation) == ""

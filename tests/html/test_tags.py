"""Elements of Beautiful Soup that are made without its parser."""

from __future__ import annotations

from copy import copy
from xml.etree.ElementTree import Element, fromstring, tostring

from bs4 import BeautifulSoup, Tag
from growth import LINEAR, growth
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.html.tags import tag_of

TEXTS = st.sampled_from(["", " ", "\n \t", "a", " b & <c> &amp;lt; ", "\xa0", "&#128;", "\u2028"])
NAMES = st.sampled_from(["p", "pre", "code", "text", "b", "mark"])


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> Element:
    """Return an element with texts and others in it."""
    element = Element(draw(NAMES), {"title": draw(TEXTS)})
    element.text = draw(TEXTS)
    for _ in range(draw(st.integers(0, 3)) if depth else 0):
        child = draw(elements(depth - 1))
        child.tail = draw(TEXTS)
        element.append(child)
        if draw(st.booleans()):
            element.append(Element(draw(st.sampled_from(["br", "img"]))))
    return element


def nodes_of(tag: Tag) -> list[object]:
    """Return what is in a tag, and what each part of it leads to."""
    found: list[object] = []
    for node in tag.descendants:
        what = (node.name, node.attrs) if isinstance(node, Tag) else str(node)
        around = (node.parent, node.previous_element, node.next_element)
        beside = (node.previous_sibling, node.next_sibling)
        found.append((what, [str(other) for other in (*around, *beside)]))
    return found


@given(elements())
def test_it_is_what_the_parser_reads(element: Element) -> None:
    """Names, attributes, texts, and all that leads from one to another."""
    html = tostring(element, "unicode", method="html")
    soup = BeautifulSoup(html, "html.parser", multi_valued_attributes=None)
    (read,) = soup.find_all(True, recursive=False)
    read.extract()
    made = tag_of(element)
    assert made.decode() == read.decode()
    assert nodes_of(made) == nodes_of(read)


def test_the_element_stays_as_it_is() -> None:
    """What is changed in the tag does not change the element."""
    element = fromstring('<p class="a">b</p>')
    tag = tag_of(element)
    tag["class"] = "c"
    assert element.attrib == {"class": "a"}


def test_a_copy_takes_as_long_in_a_large_document() -> None:
    """It has what is in the element, and nothing around that is looked at."""

    def copy_all(html: str) -> None:
        for child in tag_of(fromstring(html)).contents:
            copy(child)

    def make(number: int) -> str:
        return f"<article>{'<p>a<b>b</b></p>' * number}</article>"

    assert growth(copy_all, make, 800) < LINEAR

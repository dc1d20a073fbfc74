"""Links that a text has lost, and links of people that lead nowhere."""

from __future__ import annotations

import pytest

from mkdocs_contentgen.html.article import headings_by_letters
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.remark import Remark
from mkdocs_contentgen.remark_words import sentence_of
from mkdocs_contentgen.review.text_links import dead_links, lost_links, open_links

TEXT = """<article><h1>Alpha</h1><h2>Example</h2><p>See <mark>this page</mark> and
<strong>that</strong> one.</p><h2>Example</h2><p>The <code>end</code>.</p></article>"""


def link(words: str, address: str = "https://a.example/x") -> Remark:
    """Return the remark on a link that was taken out."""
    return Remark("link", values={"words": words, "address": address})


def test_a_link_goes_back_to_its_words() -> None:
    """Words that are marked stay so, and the Markdown of the block has the link."""
    [found] = lost_links([link("this page")], Document(TEXT).blocks())
    assert found.block == 2
    assert "[this page](<https://a.example/x>)" in found.markdown


@pytest.mark.parametrize(
    "remark",
    [
        link("this page", "javascript:alert(1)"),
        link("this page", "data:text/html,x"),
        link("page and that"),
    ],
)
def test_a_link_that_cannot_go_back(remark: Remark) -> None:
    """A script is not an address, and words that are formatted are for an editor."""
    assert [found.markdown for found in lost_links([remark], Document(TEXT).blocks())] == [""]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            '<a href="https://b.example/guide/">All</a> of the guide.',
            "[All](<https://b.example/guide/>) of the [guide](<https://a.example/x>).",
        ),
        (
            '<a href="https://b.example/">The guide</a> of the guide.',
            "[The guide](<https://b.example/>) of the [guide](<https://a.example/x>).",
        ),
        (
            "<code>guide</code> and guide.",
            "`guide` and [guide](<https://a.example/x>).",
        ),
        ('<a href="https://b.example/">The guide</a>.', ""),
    ],
)
def test_a_link_beside_others(content: str, expected: str) -> None:
    """The words of a link are neither those of an address, nor of code, nor of another link."""
    blocks = Document(f"<article><h1>A</h1><p>{content}</p></article>").blocks()
    assert [found.markdown for found in lost_links([link("guide")], blocks)] == [expected]


@pytest.mark.parametrize("words", ["", " "])
def test_a_link_without_words(words: str) -> None:
    """Nobody can put a link into a text that no reader would see."""
    assert lost_links([link(words)], Document(TEXT).blocks()) == []


def test_words_that_are_gone() -> None:
    """Nothing is said of a link whose words are gone, or that is there again."""
    again = Document(TEXT.replace("<mark>this page</mark>", '<a href="https://a.example/x">it</a>'))
    length = Remark("length", values={"words": 1, "target": 9})
    assert open_links([length, link("this page")], again.blocks()) == [length]
    other = link("the end", "https://a.example/other")
    assert open_links([other], Document(TEXT).blocks()) == []
    assert open_links([link("that")], Document(TEXT).blocks()) == [link("that")]


@pytest.mark.parametrize(
    ("address", "is_dead"),
    [
        ("#alpha", False),
        ("#example", False),
        ("#example_1", False),
        ("#example_2", True),
    ],
)
def test_a_link_to_a_heading(address: str, is_dead: bool) -> None:
    """It leads to one of the text, the second of two equal ones included, or is named."""
    html = TEXT.replace("<code>end</code>", f'<a href="{address}">end</a>')
    said = [sentence_of(remark) for remark in dead_links(Document(html))]
    expected = f"link: 'end' leads to {address}, and no heading of the text has this name"
    assert said == ([expected] if is_dead else [])


def test_names_of_headings() -> None:
    """A heading with the name of another one's second place keeps its own."""
    found = headings_by_letters(["Example", "Example", "Example 1", "…", "Example"])
    assert found == {"example": 0, "example1": 2, "example2": 4}

"""What a reader sees of a page."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest
from markdown.util import HTML_PLACEHOLDER

from mkdocs_contentgen.site.visibility import visible_parts, without_invisible_start


@pytest.mark.parametrize(
    ("html", "is_visible"),
    [
        ("<!-- x -->", False),
        ("<!-- without an end", False),
        ("<style>p { color: red }</style>", False),
        ("<SCRIPT>x = 1</SCRIPT><link rel=x>", False),
        ("<div><br></div>", False),
        ("<div>x</div>", True),
        ("<img src=x>", True),
        ("<!-- x -->y", True),
    ],
)
def test_raw_html_that_is_visible(html: str, is_visible: bool) -> None:
    """Comments, styles, scripts and empty elements show nothing; text and images do."""
    root = fromstring("<div><p/></div>")
    root[0].text = HTML_PLACEHOLDER % "0"
    assert list(visible_parts(root, {"0": html}, articles=())) == ([root[0]] if is_visible else [])


def test_the_order_of_what_is_visible() -> None:
    """An article counts as a whole, and a text after an element belongs to the parent."""
    root = fromstring("<div><p> </p><article>Text.<hr/></article>After it.<p><img/></p></div>")
    article = root[1]
    image = root[2][0]
    assert list(visible_parts(root, {}, articles=[article])) == [article, root, image]


@pytest.mark.parametrize(
    "invisible", ["\n \n", "<!-- x -->", "[a]: https://example.org\n", "*[HTML]: Markup\n"]
)
def test_the_start_of_a_source(invisible: str) -> None:
    """White space, comments and definitions are left out, up to a marker."""
    assert without_invisible_start(f"{invisible}<!-- contentgen -->") == "<!-- contentgen -->"
    assert without_invisible_start(f"{invisible}Text. <!-- x -->") == "Text. <!-- x -->"

"""Which article titles its page."""

from __future__ import annotations

import pytest
from sent_article import SentArticle

from mkdocs_contentgen.site.titles import leading_article


@pytest.mark.parametrize(
    ("before", "leads"),
    [
        ("<!-- one line -->", True),
        ("<!--\nseveral\nlines\n-->", True),
        ("<style>p { color: red }</style>", True),
        ("<script>\nx = 1\n</script>\n\n[a]: https://example.org/", True),
        ("<!-- x -->\n\nText of the author, <!-- y -->", False),
        ("[a]: https://example.org/\nText of the author.", False),
    ],
)
def test_what_nobody_sees_is_before_the_article_that_titles_a_page(
    before: str, leads: bool
) -> None:
    """Comments and styles on several lines do not keep an article from being the page's first."""
    articles = {"main": SentArticle("<article><h1>T</h1></article>")}
    found = leading_article(f"{before}\n\n<!-- contentgen -->\n", articles)
    assert found == ("main" if leads else None)

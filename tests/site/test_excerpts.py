"""Where the excerpts of posts end."""

from __future__ import annotations

import pytest
from markdown import Markdown
from markdown.treeprocessors import Treeprocessor
from mkdocs.structure.files import File
from sent_article import SentArticle

from mkdocs_contentgen.site.extension import ArticleExtension


@pytest.mark.parametrize(
    ("text", "shown", "left"),
    [
        ("<!-- contentgen -->\n\nMine.", "Lead.", "The rest."),
        ("<!-- contentgen -->\n\nMine.\n\n<!-- more -->\n\nFurther.", "Mine.", "Further."),
    ],
)
def test_where_an_excerpt_ends(text: str, shown: str, left: str) -> None:
    """The author's separator counts; only where there is none, an excerpt ends after the lead."""
    file = File("one.md", "docs", "site", use_directory_urls=True)
    extension = ArticleExtension(lambda md: file, lambda *arguments: None)
    article = "<article><h1>One</h1><p class='lead'>Lead.</p><p>The rest.</p></article>"
    extension.articles = {"one.md": {"main": SentArticle(article)}}
    md = Markdown(extensions=[extension])
    md.treeprocessors.register(Treeprocessor(md), "excerpt", 0)  # that of Material's blog
    excerpt, _, rest = md.convert(text).partition("<!-- more -->")
    assert shown in excerpt
    assert left in rest

"""What the Markdown extension keeps from one rendering to the next."""

from __future__ import annotations

from markdown import Markdown
from mkdocs.structure.files import File
from sent_article import SentArticle

from mkdocs_contentgen.html.presentation import ArticleMetadata
from mkdocs_contentgen.site.extension import ArticleExtension

METADATA = ArticleMetadata("T", "Lead.", "2026-01-02")


def test_a_title_is_that_of_its_page_only() -> None:
    """Where one converter renders several pages, as in a blog's views, no title is set twice."""
    files = iter(
        File(name, "docs", "site", use_directory_urls=True) for name in ("one.md", "two.md")
    )
    titles: list[str] = []
    extension = ArticleExtension(
        lambda md: next(files), lambda md, root, title: titles.append(title)
    )
    extension.articles = {
        "one.md": {"main": SentArticle("<article><h1>One</h1><p>x</p></article>")}
    }
    md = Markdown(extensions=[extension])
    for text in ("<!-- contentgen -->", "Text."):
        md.convert(text)
    assert titles == ["One", ""]


def test_what_is_known_of_a_page_is_of_its_last_rendering() -> None:
    """An article that does not begin its page any more is not what titles it."""
    file = File("one.md", "docs", "site", use_directory_urls=True)
    extension = ArticleExtension(lambda md: file, lambda *arguments: None)
    for text, leads in (("<!-- contentgen -->", True), ("Mine.\n\n<!-- contentgen -->", False)):
        extension.articles = {
            "one.md": {"main": SentArticle("<article><h1>T</h1></article>", METADATA)}
        }
        Markdown(extensions=[extension]).convert(text)
        assert extension.rendered["one.md"].metadata == {"main": METADATA}
        assert (extension.rendered["one.md"].leading == METADATA) == leads
    extension.articles = {}
    Markdown(extensions=[extension]).convert("Mine.")
    assert extension.rendered["one.md"].metadata == {}

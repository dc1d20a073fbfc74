"""Articles that were not made by the package, for the tests of pages."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from mkdocs_contentgen.html.presentation import ArticleMetadata
from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.site.content import PageContent


class SentArticle(PageContent):
    """An article as the service sent it."""

    def __init__(self, html: str, metadata: ArticleMetadata | None = None) -> None:
        super().__init__(html.encode())
        self.sent = html, metadata

    def make(self) -> tuple[Element, ArticleMetadata | None]:
        """Return its element."""
        return parse_article(self.sent[0]), self.sent[1]

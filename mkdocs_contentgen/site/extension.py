"""A Python-Markdown extension that inserts articles into the element tree of a page.

Extensions that process headings (table of contents, permalinks, anchor validation) run later, and
so see the headings of articles. Extensions that process text (attribute lists, abbreviations,
smarty) run earlier, and so do not change the text of articles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

from .markers import find_markers, marker_typos, raw_blocks
from .rendered_page import RenderedPage
from .stylesheet import insert_styles
from .titles import move_page_title, title_html

if TYPE_CHECKING:
    from mkdocs.structure.files import File

    from .anchors import FindId
    from .content import Made, PageContent


@dataclass(eq=False)
class ArticleExtension(Extension):
    """Replaces the markers of each page by articles, and appends articles without a marker.

    `find_page` returns the page that is being rendered, or None. `finish` is called with the root
    of a page at the end, and with its title as HTML if an article has set it, or an empty string.
    `articles` and `rendered` are by the `src_uri` of the page.
    """

    find_page: Callable[[Markdown], File | None]
    finish: Callable[[Markdown, Element, str], None]
    articles: Mapping[str, Mapping[str, PageContent]] = field(default_factory=dict)

    pages: Mapping[str, str] = field(default_factory=dict)
    """The `src_uri` of each page by its address, where the site has an address."""

    find_id: FindId | None = None
    """Returns the id of a cited heading, once the pages that are cited can be rendered."""

    styles: Callable[[Markdown, File], Element] | None = None
    """Makes the element that brings the style sheet to a page."""

    made: dict[tuple[str, str], Made] = field(default_factory=dict)
    """Articles that were made before their pages are rendered, by page and id; each is used once.

    Making one takes as long as rendering a short page."""

    rendered: dict[str, RenderedPage] = field(default_factory=dict)
    """Each page as it was rendered last."""

    def use(self, articles: Mapping[str, Mapping[str, PageContent]]) -> None:
        """Insert these articles from now on."""
        self.articles = articles
        self.made.clear()

    def make(self, page: str, name: str) -> Made:
        """Return an article of a page, which may have been made before. Raises UnsafeHTMLError."""
        made = self.made.pop((page, name), None)
        return made or self.articles[page][name].make()

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  the name is Python-Markdown's
        """Register the two tree processors."""
        end = _EndTreeprocessor(md, self.finish)
        articles = _ArticleTreeprocessor(md, self, end)
        # After processors of text (attr_list 8, abbr 7, smarty 6), before processors of headings
        # (toc 5, MkDocs' anchors 5).
        md.treeprocessors.register(articles, "contentgen", 5.5)
        # After MkDocs extracts the title (1).
        md.treeprocessors.register(end, "contentgen_end", 0.5)


class _EndTreeprocessor(Treeprocessor):
    """Calls `finish` at the end, with the title that an article has set, if one has."""

    def __init__(self, md: Markdown, finish: Callable[[Markdown, Element, str], None]) -> None:
        super().__init__(md)
        self._finish = finish
        self.title = ""

    def run(self, root: Element) -> None:
        self._finish(self.md, root, self.title)


class _ArticleTreeprocessor(Treeprocessor):
    """Inserts the articles of a page."""

    def __init__(self, md: Markdown, extension: ArticleExtension, end: _EndTreeprocessor) -> None:
        super().__init__(md)
        self.extension = extension
        self.end = end

    def run(self, root: Element) -> None:
        self.end.title = ""
        file = self.extension.find_page(self.md)
        if file is None:
            return
        rendered = RenderedPage()
        self.extension.rendered[file.src_uri] = rendered
        blocks = raw_blocks(root, self.md)
        rendered.problems += marker_typos(blocks)
        if find_markers(blocks) or self.extension.articles.get(file.src_uri):
            self._insert_articles(root, file, blocks, rendered)

    def _insert_articles(
        self, root: Element, file: File, blocks: Mapping[str, str], rendered: RenderedPage
    ) -> None:
        """Insert the articles of a page, and set its title, its excerpt and its styles."""
        from .ids import HeadingIds
        from .links import PageLinks
        from .placing import ArticlePlacer

        page = file.src_uri
        articles = self.extension.articles.get(page, {})
        placer = ArticlePlacer(
            root,
            blocks,
            articles,
            lambda name: self.extension.make(page, name),
            HeadingIds(self.md, root, blocks),
            PageLinks(page, self.extension.pages, self.extension.find_id),
            rendered,
        )
        placer.place_all(find_markers(blocks))
        if placer.title is not None:
            self.end.title = title_html(placer.title, self.md)
            move_page_title(root, placer.title, is_shown=placer.shows_title)
            if "excerpt" in self.md.treeprocessors:
                from .excerpts import fit_excerpt

                fit_excerpt(self.md, root, blocks)
        if articles and self.extension.styles:
            insert_styles(root, self.extension.styles(self.md, file))

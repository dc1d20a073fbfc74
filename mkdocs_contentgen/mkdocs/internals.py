"""Titles, metadata and the search index of MkDocs, with access to its private attributes.

Those exist in MkDocs 1.6.1 and ProperDocs 1.6.7. Tests fail if a release changes them.
"""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from markdown import Markdown
from mkdocs.commands import build
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import PluginCollection
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from ..site.article_spans import article_spans

if TYPE_CHECKING:
    from ..site.anchors import CitedHeading

_EXTRACTORS = ("mkdocs_extract_title", "properdocs_extract_title")
"""The tree processors that extract the title of a page, in MkDocs and in ProperDocs."""

_HEADING = re.compile(r"<h[1-6]\b[^<>]*>")
"""The start of a heading in the HTML of a page."""


def file_of_page(md: Markdown) -> File | None:
    """Return the file of the page that is being rendered, or None if `md` renders no page.

    The file is an attribute of the tree processor for links. Excerpts of Material's blog have that
    processor too. The Markdown instances of mkdocstrings may have it, but extract no title.
    """
    is_page = any(name in md.treeprocessors for name in (*_EXTRACTORS, "excerpt"))
    if "relpath" not in md.treeprocessors or not is_page:
        return None
    file = getattr(md.treeprocessors["relpath"], "file", None)
    return file if isinstance(file, File) else None


def folder_metadata(plugins: PluginCollection, files: Files) -> list[File]:
    """Return the files whose keys the plugin `meta` of Material adds to the pages of a folder."""
    plugin = plugins.get("material/meta")
    if plugin is None or not plugin.config.get("enabled"):
        return []
    name = plugin.config.get("meta_file")
    found = []
    for file in files:
        if PurePosixPath(file.src_uri).name == name:
            found.append(file)
    return found


def render_page(file: File, config: MkDocsConfig, files: Files) -> str:
    """Return the HTML that a build makes of the Markdown of a page, without logging anything."""
    page = file.page or Page(None, file, config)
    logger = logging.getLogger("mkdocs")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        build._populate_page(page, config, files)
    finally:
        logger.setLevel(level)
    return page.content or ""


def correct_links(page: Page, ids: Mapping[CitedHeading, str | None], files: Files) -> None:
    """Change the anchors of citations in the articles of a rendered page to these ids.

    A citation without an id stays as it is. MkDocs validates the links afterwards.
    """
    from ..site.anchors import replace_anchors

    new_ids: dict[tuple[str, str], str] = {}
    for citation, new_id in ids.items():
        file = files.get_file_from_path(citation.page)
        if new_id is None or file is None:
            continue
        new_ids[urljoin("/", file.url), citation.anchor] = new_id
        links_by_anchor = (page.links_to_anchors or {}).get(file, {})
        link = links_by_anchor.pop(citation.anchor, None)
        if link:
            links_by_anchor.setdefault(new_id, link)
    page.content = replace_anchors(page.content or "", page.url, new_ids)


def set_title_found(md: Markdown, root: Element, title: str) -> None:
    """Replace the title that MkDocs found in the page by `title`, which is HTML or empty.

    It is the `finish` of an ArticleExtension, which also gets the root.
    """
    if not title:
        return
    for name in _EXTRACTORS:
        if name in md.treeprocessors:
            extractor = md.treeprocessors[name]
            extractor.title = title  # type: ignore[attr-defined]  # MkDocs' own processor


def set_title_before_rendering(page: Page, title: str) -> None:
    """Set the title, which is text, that a page has until it is rendered."""
    page._title_from_render = html.escape(title, quote=False) or None


def index_articles_last(plugins: PluginCollection) -> None:
    """Let the search plugin of this build index each article after the text of its section.

    That plugin takes all text for a part of the section above, so the author's text after an
    article would be found under a heading of the article. The search plugins of Material for MkDocs
    and of Zensical know where an article ends.
    """
    for plugin in plugins.values():
        index = getattr(plugin, "search_index", None)
        if not index:
            continue
        from mkdocs.contrib.search.search_index import SearchIndex  # which takes 1 MB

        if isinstance(index, SearchIndex):
            add = partial(_add_page, index.add_entry_from_context)
            index.add_entry_from_context = add  # type: ignore[method-assign]  # of this build


def _add_page(add: Callable[[Page], None], page: Page) -> None:
    """Give a copy of a page to `add`, with the articles after the text of their sections."""
    page = copy(page)
    page.content = move_articles_last(page.content or "")
    add(page)


def move_articles_last(content: str) -> str:
    """Move each generated article of a page to the end of the author's section that it is in."""
    parts: list[str] = []
    articles: list[str] = []  # of the section that has not ended yet
    end = 0
    for start, next_end in article_spans(content):
        parts += _with_articles(content[end:start], articles)
        articles.append(content[start:next_end])
        end = next_end
    parts += _with_articles(content[end:], articles)
    return "".join([*parts, *articles])


def _with_articles(text: str, articles: list[str]) -> list[str]:
    """Return a text of the author, with the articles before it at the end of their section.

    The section ends with the next heading. If there is one in the text, the list `articles` is
    emptied; else it is kept for the text that follows.
    """
    heading = _HEADING.search(text)
    if heading is None:
        return [text]
    parts = [text[: heading.start()], *articles, text[heading.start() :]]
    articles.clear()
    return parts

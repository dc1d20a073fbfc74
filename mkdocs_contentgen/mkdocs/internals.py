"""Access to private attributes of MkDocs, where it has no public API.

They exist in MkDocs 1.6.1 and ProperDocs 1.6.7. Tests fail if a release changes them.
"""

from __future__ import annotations

import html
import logging

from markdown import Markdown
from mkdocs.commands import build
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_EXTRACTORS = ("mkdocs_extract_title", "properdocs_extract_title")
"""The tree processors that extract the title of a page, in MkDocs and in ProperDocs."""


def file_of_page(md: Markdown) -> File | None:
    """Return the file of the page that is being rendered, or None if `md` renders no page.

    The file is an attribute of the tree processor for links. Excerpts of Material's blog have that
    processor too. The Markdown instances of mkdocstrings may have it, but extract no title.
    """
    is_page = any(map(md.treeprocessors.__contains__, (*_EXTRACTORS, "excerpt")))
    if "relpath" not in md.treeprocessors or not is_page:
        return None
    file = getattr(md.treeprocessors["relpath"], "file", None)
    return file if isinstance(file, File) else None


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


def set_title_found(md: Markdown, title: str) -> None:
    """Replace the title that MkDocs extracted from the page by `title`, which is HTML."""
    for name in _EXTRACTORS:
        if name in md.treeprocessors:
            extractor = md.treeprocessors[name]
            extractor.title = title  # type: ignore[attr-defined]  # MkDocs' own processor


def set_title_before_rendering(page: Page, title: str) -> None:
    """Set the title, which is text, that a page has until it is rendered."""
    page._title_from_render = html.escape(title, quote=False) or None

"""Access to private attributes of MkDocs, where it has no public API.

They exist in MkDocs 1.6.1 and ProperDocs 1.6.7. Tests fail if a release changes them.
"""

from __future__ import annotations

import html

from markdown import Markdown
from mkdocs.structure.files import File
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


def set_title_found(md: Markdown, title: str) -> None:
    """Replace the title that MkDocs extracted from the page by `title`, which is HTML."""
    for name in _EXTRACTORS:
        if name in md.treeprocessors:
            extractor = md.treeprocessors[name]
            extractor.title = title  # type: ignore[attr-defined]  # MkDocs' own processor


def set_title_before_rendering(page: Page, title: str) -> None:
    """Set the title, which is text, that a page has until it is rendered."""
    page._title_from_render = html.escape(title, quote=False) or None

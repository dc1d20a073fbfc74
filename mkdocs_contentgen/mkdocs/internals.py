"""What MkDocs does not promise: the attributes of its classes that nothing public gives.

They were seen in MkDocs 1.6.1 and ProperDocs 1.6.7, and tests fail where a release changes them.
"""

from __future__ import annotations

import html

from markdown import Markdown
from mkdocs.structure.files import File
from mkdocs.structure.pages import Page

_EXTRACTORS = ("mkdocs_extract_title", "properdocs_extract_title")
"""The tree processors that look for the title of a page, in MkDocs and in ProperDocs."""


def file_of_page(md: Markdown) -> File | None:
    """Return the file of the page that is rendered, which the processor of links knows.

    The excerpts of Material's blog are rendered apart from their pages, with such a one as well.
    A Markdown of another kind, such as that of mkdocstrings for a docstring, may have a processor
    of links too, but does not look for a title: it gets no articles.
    """
    names = (*_EXTRACTORS, "excerpt")
    if "relpath" not in md.treeprocessors or not any(name in md.treeprocessors for name in names):
        return None
    file = getattr(md.treeprocessors["relpath"], "file", None)
    return file if isinstance(file, File) else None


def set_title_found(md: Markdown, title: str) -> None:
    """Let MkDocs take `title`, which is HTML, for the one that it found in the page's text."""
    for name in _EXTRACTORS:
        if name in md.treeprocessors:
            extractor = md.treeprocessors[name]
            extractor.title = title  # type: ignore[attr-defined]  # MkDocs' own processor


def set_title_before_rendering(page: Page, title: str) -> None:
    """Let a page have `title`, which is text, until MkDocs finds one when it renders the page."""
    page._title_from_render = html.escape(title, quote=False) or None

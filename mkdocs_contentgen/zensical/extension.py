"""The Markdown extension `contentgen`, which inserts articles when Zensical renders a page.

This module is imported by MkDocs too, where the extension does nothing: the plugin does its work.
"""

from __future__ import annotations

from markdown import Markdown
from markdown.extensions import Extension

CONTEXT = "rendering_context"
"""The name of the preprocessor that holds the page which Zensical renders."""


class ContentgenExtension(Extension):
    """Inserts approved and cached texts under Zensical, and sends no requests.

    Its options are those of the plugin, which are read from the configuration of the site.
    """

    def __init__(self, **options: object) -> None:
        super().__init__()

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  the name is Python-Markdown's
        """Register the tree processors, if Zensical renders the page."""
        if CONTEXT in md.preprocessors:
            from .rendering import register_processors

            register_processors(md, md.preprocessors[CONTEXT])

"""What a page gets in place of a request: an article, or a placeholder."""

from __future__ import annotations

import zlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from xml.etree.ElementTree import Element

from ..html.article import placeholder
from ..html.disclosure import DisclosureLine, Provenance
from ..html.presentation import ArticleMetadata, Presentation, present

Made = tuple[Element, ArticleMetadata | None]
"""The element to insert into a page, and the metadata of an article."""


@dataclass(slots=True)  # of which a site can have thousands
class PageContent:
    """One article of a page, or a placeholder, which has neither provenance nor presentation."""

    source: bytes
    """The HTML of the article, compressed, or the message of the placeholder."""

    provenance: Provenance | None = None
    presentation: Presentation | None = None

    cited: Collection[str] = ()
    """The addresses that the text cites."""

    level: int | Literal["none"] | None = None
    """The level that the request gives it, if any; with "none", its title is left out."""

    pending_topic: str = ""
    """The topic of a text that is being generated."""

    def make(self) -> Made:
        """Return a new element, and its metadata. Raises UnsafeHTMLError."""
        if self.provenance and self.presentation:
            html = zlib.decompress(self.source).decode()
            return present(html, self.provenance, self.presentation)
        if self.pending_topic:
            message = f"“{self.pending_topic}”. The page reloads when the text is there."
            return placeholder(message, "Generating …", kind="note"), None
        return placeholder(self.source.decode()), None

    def end_line(self) -> DisclosureLine | None:
        """Return the line at the end of the article if the author's text follows, or None."""
        if self.provenance is None or self.presentation is None:
            return None
        own_lines = self.presentation.disclosure
        if own_lines is None:
            return None
        return self.provenance.end_line(own_lines)

"""What is known about a page once it is rendered: its articles, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..html.presentation import ArticleMetadata
    from .anchors import CitedHeading


@dataclass
class RenderedPage:
    """What is known about a page once it is rendered."""

    problems: list[tuple[str, str]] = field(default_factory=list)
    """The marker or text in question with each message, which is searched for its line."""

    metadata: dict[str, ArticleMetadata] = field(default_factory=dict)
    """That of the articles by their ids, without those that could not be shown."""

    citations: list[CitedHeading] = field(default_factory=list)
    """The links of articles to headings of pages for which no id was found."""

    leading: ArticleMetadata | None = None
    """The metadata of the article whose title is the page's, if there is one."""

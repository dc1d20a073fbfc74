"""What an article adds to the metadata of its page, for themes and other plugins."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from mkdocs.structure.pages import Page

if TYPE_CHECKING:
    from ..html.presentation import ArticleMetadata


class PageMetadata:
    """Sets the metadata of pages where their authors did not.

    `has_feed` tells whether the site has the RSS plugin, whose feeds show descriptions to readers.
    """

    def __init__(self, *, has_feed: bool) -> None:
        self._has_feed = has_feed
        self._added: dict[tuple[str, str], dict[str, str]] = {}

    def add(self, page: Page, facts: ArticleMetadata | None) -> None:
        """Set description and date of a page, in place of those that were set before."""
        values = {"description": facts.lead, "date": facts.published} if facts else {}
        added = self._replace(page, "", page.meta, values)
        feed = page.meta.setdefault("rss", {}) if self._has_feed else None
        if isinstance(feed, dict):
            shown = facts.disclosed_lead if facts and "description" in added else ""
            self._replace(page, "rss", feed, {"feed_description": shown})

    def _replace(
        self,
        page: Page,
        part: str,
        metadata: MutableMapping[str, object],
        values: dict[str, str],
    ) -> dict[str, str]:
        """Add the values that the author did not set, and return them."""
        place = (page.file.src_uri, part)
        for key, before in self._added.pop(place, {}).items():
            if metadata.get(key) == before:
                del metadata[key]
        new = {key: value for key, value in values.items() if value and key not in metadata}
        metadata.update(new)
        self._added[place] = new
        return new

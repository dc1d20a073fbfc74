"""Decide which article titles its page, and at which level each article's title is.

An article that begins its page, where the author has no title, is the page: its title and its
metadata are the page's. Any other article is a section.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Literal
from xml.etree.ElementTree import Element

from markdown import Markdown
from mkdocs.utils.rendering import get_heading_text

from .markers import FENCED, MARKER
from .visibility import without_invisible_start

if TYPE_CHECKING:
    from ..html.presentation import ArticleMetadata
    from ..requests import Request
    from .content import PageContent

_TITLE_IN_SOURCE = re.compile(r"^#[^#]|^[^\n]+\n=+[ \t]*$|<h1[\s>]", re.MULTILINE | re.IGNORECASE)


def leading_article(markdown: str, articles: Mapping[str, PageContent | Request]) -> str | None:
    """Return the id of the article whose title is the title of the page, or None.

    That is an article at the start of a page without a first-level heading of its own, unless it
    has another level. Templates and included files can still change that.
    """
    text = without_invisible_start(markdown)
    marker = MARKER.match(text)
    begins_with_text = bool(text) and marker is None
    if begins_with_text or _TITLE_IN_SOURCE.search(FENCED.sub("", text)):
        return None
    name = next(iter(articles))
    if marker and marker[1]:
        name = marker[1]
    if name not in articles or level_of(marker, articles[name].level, 1) != 1:
        return None
    return name


def add_metadata(
    meta: MutableMapping[str, Any], article: ArticleMetadata | None, *, has_feed: bool
) -> None:
    """Fill in the metadata of a page from that of its leading article, if there is one.

    What the author has set stays. If the description is generated, the feed discloses that.
    """
    if article is None:
        return
    if "description" not in meta and has_feed and article.disclosed_lead:
        feed = meta.setdefault("rss", {})
        if isinstance(feed, dict):
            feed.setdefault("feed_description", article.disclosed_lead)
    for key, value in {"description": article.lead, "date": article.published}.items():
        if value:
            meta.setdefault(key, value)


def level_of(
    marker: re.Match[str] | None, requested: int | Literal["none"] | None, default: int
) -> int:
    """Return the level of an article's title.

    The level in its marker comes first, then the `requested` one of the front matter. Without both,
    it is `default`, but at most 3.
    """
    if marker and marker[2]:
        return int(marker[2])
    level = min(default, 3)
    if requested is None:
        return level
    if requested == "none":
        # The title is left out, and the first sections take its level: where it would have been an
        # h2, they are h2. Sections are one below the title, so that counts as one level higher.
        return max(level - 1, 1)
    return requested


def leaves_out_title(marker: re.Match[str] | None, requested: int | Literal["none"] | None) -> bool:
    """Tell whether an article has no title on its page; a marker with a level gives it one."""
    return requested == "none" and not (marker and marker[2])


def move_page_title(root: Element, title: Element, *, is_shown: bool) -> None:
    """Move the heading that titles the page to the top, or remove it where it is not shown.

    Material's search indexes everything before the first heading as a section of its own, even the
    start tag of an `<article>`. And an excerpt may end before its article.
    """
    from ..html.article import put_first, take_out

    if not is_shown:
        take_out(root, title)
        return
    put_first(root, title)
    title.set("class", " ".join(["contentgen-title", *title.get("class", "").split()]))


def title_html(title: Element, md: Markdown) -> str:
    """Return the text of a heading, escaped. Its permalink is not there yet."""
    from ..html.plaintext import plain_text

    text = plain_text(html.unescape(get_heading_text(title, md)))
    return html.escape(text, quote=False)

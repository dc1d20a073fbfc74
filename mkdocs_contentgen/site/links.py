"""Let the links of articles lead to the files of pages, and to the ids of cited headings."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.etree.ElementTree import Element

from ..display import quoted
from ..html.presentation import PAGE_OF_LINK

if TYPE_CHECKING:
    from .anchors import CitedHeading, FindId


@dataclass(frozen=True)
class PageLinks:
    """Sets the links of the articles of one page."""

    page: str
    """The `src_uri` of the page."""

    pages: Mapping[str, str]
    """The `src_uri` of each page of the site by its address."""

    find_id: FindId | None = None
    """Returns the id of a cited heading. None before the cited pages can be rendered."""

    def set(self, article: Element, cited: Collection[str]) -> list[CitedHeading]:
        """Replace the addresses of pages by the paths of their files, relative to the page.

        So MkDocs validates them as an author's own, and they work in `mkdocs serve`. A link to one
        of the `cited` addresses leads to the id of its heading.

        Returns the citations for which no id was found.
        """
        without_id = []
        for link in article.iter("a"):
            page_of_site = link.attrib.pop(PAGE_OF_LINK, "")
            if page_of_site:
                link.set("href", self._path_to(page_of_site))
            target = link.get("href", "")
            address, _, anchor = target.partition("#")
            cited_page = self.pages.get(address)
            if cited_page is None:
                continue
            if anchor and target in cited:
                from .anchors import CitedHeading

                citation = CitedHeading(cited_page, anchor)
                found = self.find_id(citation) if self.find_id else None
                if found is None:
                    without_id.append(citation)
                else:
                    target = f"{address}#{found}"
            link.set("href", page_link(target, self.pages, self.page))
        return without_id

    def _path_to(self, page: str) -> str:
        """Return the path to the file of a page, or an empty anchor for this page."""
        if page == self.page:
            return "#"
        return quote(posixpath.relpath(page, posixpath.dirname(self.page)))

    def problem(self, citation: CitedHeading) -> str:
        """Return the warning about a citation without an id, or an empty string.

        It is empty as long as nobody has looked for the ids.
        """
        from .anchors import missing_message

        return missing_message(citation, self.page) if self.find_id else ""


def dead_link_message(words: str, address: str, page: str) -> str:
    """Return the warning about a link in an approved text that leads to none of its headings."""
    command = f"contentgen review {shlex.quote(page)}"
    return (
        f"the text links {quoted(words)} to {quoted(address)}, and has no such heading; change the "
        f"link with `{command}`"
    )


def page_link(address: str, pages: Mapping[str, str], page: str) -> str:
    """Return the path to the file of a page from `page`, or an address of another site as it is."""
    known, separator, anchor = address.partition("#")
    target = pages.get(known)
    if target is None:
        return address
    path = posixpath.relpath(target, posixpath.dirname(page))
    return f"{quote(path)}{separator}{anchor}"

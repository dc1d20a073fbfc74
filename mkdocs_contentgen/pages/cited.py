"""Compare the sections that texts cite with those of the site now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from mkdocs.structure.files import File

from ..texts.articles import Article
from .options import link_of


class CitedSections:
    """The sections of a site now, to compare with those that texts cite.

    Of the pages `files`, only cited ones are read.
    """

    def __init__(self, files: Iterable[File], site_url: str | None) -> None:
        self._files, self._site_url = files, site_url
        self._digests: dict[str, dict[str, str]] = {}

    @cached_property
    def _pages(self) -> dict[str, File]:
        return {link_of(file): file for file in self._files}

    def changed(self, sources: Mapping[str, str]) -> tuple[str, ...]:
        """Return those of the `sources` of a text that have changed since or are gone, by path."""
        changed = []
        for address, digest in sources.items():
            if not self._site_url or not address.startswith(self._site_url):
                continue  # a served writer can cite another site
            link = address.removeprefix(self._site_url)
            page = link.partition("#")[0]
            if page not in self._digests:
                self._digests[page] = _digests(page, self._pages.get(page))
            if self._digests[page].get(link) != digest:
                changed.append(link)
        return tuple(changed)


def changed_source_warnings(articles: Iterable[Article]) -> list[str]:
    """Return a warning for each article whose sources have changed."""
    return [
        f"{article.place}: the text cites what has changed or is gone: "
        f"{', '.join(article.changed_sources)}; check it, or ask for a new one with "
        "`contentgen generate --refresh`"
        for article in articles
        if article.changed_sources
    ]


def _digests(page: str, file: File | None) -> dict[str, str]:
    """Return the SHA-256 of the sections of a page by their links."""
    from ..service.writer.sources import split_sections

    if file is None:
        return {}
    sections = split_sections(file.content_string, file.src_uri, page)
    return {section.link: section.digest for section in sections}

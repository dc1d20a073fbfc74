"""Compare the sections that texts cite with those of the site now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mkdocs.structure.files import File

from ..texts.articles import Article, ChangedSources
from .options import link_of


def changed_sources_of(files: Iterable[File], site_url: str | None) -> ChangedSources:
    """Return a function that compares cited sections with those of a site now.

    Of the pages `files`, only cited ones are read.
    """
    digests: dict[str, dict[str, str]] = {}
    pages: dict[str, File] = {}

    def changed(sources: Mapping[str, str]) -> tuple[str, ...]:
        if not pages:
            pages.update((link_of(file), file) for file in files)
        links = []
        for address, digest in sources.items():
            if not site_url or not address.startswith(site_url):
                continue  # a served writer can cite another site
            link = address.removeprefix(site_url)
            page = link.partition("#")[0]
            if page not in digests:
                digests[page] = _digests(page, pages.get(page))
            if digests[page].get(link) != digest:
                links.append(link)
        return tuple(links)

    return changed


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
    from ..service.writer.sources import split_sections

    if file is None:
        return {}
    sections = split_sections(file.content_string, file.src_uri, page)
    return {section.link: section.digest for section in sections}

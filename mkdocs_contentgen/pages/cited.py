"""Compare the sections that texts cite with those of the site now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..texts.articles import Article
from .options import PageFile, link_of


def with_changed_sources(
    articles: Iterable[Article], files: Iterable[PageFile], site_url: str | None
) -> list[Article]:
    """Return the articles with `changed_sources` set. Of `files`, only cited pages are read."""
    articles = list(articles)
    if not site_url or not any(article.sources for article in articles):
        return articles
    pages = {link_of(file): file for file in files}
    now: dict[str, dict[str, str]] = {}
    found = []
    for article in articles:
        changed = []
        for address, digest in article.sources.items():
            if not address.startswith(site_url):  # a served writer can cite another site
                continue
            link = address.removeprefix(site_url)
            page = link.partition("#")[0]
            if page not in now:
                now[page] = _digests(page, pages.get(page))
            if now[page].get(link) != digest:
                changed.append(link)
        found.append(replace(article, changed_sources=tuple(changed)) if changed else article)
    return found


def changed_source_warnings(articles: Iterable[Article]) -> list[str]:
    """Return a warning for each article whose sources have changed."""
    return [
        f"{article.asked.place}: the text cites what has changed or is gone: "
        f"{', '.join(article.changed_sources)}; check it, or ask for a new one with "
        "`contentgen generate --refresh`"
        for article in articles
        if article.changed_sources
    ]


def _digests(page: str, file: PageFile | None) -> dict[str, str]:
    """Return the SHA-256 of the sections of a page by their links."""
    from ..service.writer.sources import split_sections

    if file is None:
        return {}
    sections = split_sections(file.content_string, file.src_uri, page)
    return {section.link: section.digest for section in sections}

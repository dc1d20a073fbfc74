"""Find the texts that a change of the repository makes wrong, although it may not touch them.

Each text is judged with its sources as they are now, and as they were in the commit that the change
is based on. So an alarm that was there before is not the change's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ApprovalError
from ..git import changed_files
from ..site.site import Site
from ..stale import StaleSource
from ..text import Text
from ..texts.approved_dir import read_committed
from ..texts.articles import Article


@dataclass(frozen=True)
class SourceChange:
    """What a change does to a text through the passages that it cites."""

    article: Article
    made_stale: tuple[StaleSource, ...] = ()
    repaired: tuple[StaleSource, ...] = ()
    """What would be gone or wrong by the change if it did not repair the text as well."""


def find_source_changes(site: Site, articles: Sequence[Article], base: str) -> list[SourceChange]:
    """Return the texts whose sources have changed since the commit `base`."""
    if not changed_files(site.directory, base):
        return []
    now = site.cited_passages()
    at_base = site.cited_passages(base)
    found = []
    for article in articles:
        text = article.outcome.text
        if text is None or not text.sources or article.asked.original:
            continue
        before = _text_at(article, base) or text
        known = at_base.stale(before)
        repaired: tuple[StaleSource, ...] = ()
        if before.html != text.html:
            repaired = _repaired(_without(now.stale(before), known), article.stale)
        names = {source.source for source in repaired}
        made_stale = []
        for source in _without(article.stale, known):
            if source.source not in names:  # of these, a person has just read what has changed
                made_stale.append(source)
        if made_stale or repaired:
            found.append(SourceChange(article, tuple(made_stale), repaired))
    return found


def _text_at(article: Article, commit: str) -> Text | None:
    """Return the text that a file had in a commit, or None if it was not there or is damaged."""
    try:
        found = read_committed(article.path, commit)
    except ApprovalError:
        return None
    return found.text if found else None


def _repaired(
    would_be: Sequence[StaleSource], still: Sequence[StaleSource]
) -> tuple[StaleSource, ...]:
    """Return what would be gone or wrong with the text as it was, and is not with the new one."""
    left = {source.source for source in still if source.level != "changed"}
    found = []
    for source in would_be:
        if source.level != "changed" and source.source not in left:
            found.append(source)
    return tuple(found)


def _without(found: Sequence[StaleSource], known: Sequence[StaleSource]) -> tuple[StaleSource, ...]:
    """Return what was found, without what is said of the same sentences before the change."""
    said = {(source.source, source.level, source.sentences) for source in known}
    new = []
    for source in found:
        if (source.source, source.level, source.sentences) not in said:
            new.append(source)
    return tuple(new)

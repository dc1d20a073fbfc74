"""Say what in a draft has to be checked or read, with the passages of the sources beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import ConfigurationError
from ..html.document import Document
from ..site.site import Site
from ..text import Text
from ..texts.articles import Article
from ..writer.evidence import Evidence, EvidenceFinder
from ..writer.settings import WriterOptions
from ..writer.sources import Section


@dataclass(frozen=True)
class SentenceToCheck:
    """A sentence with statements to check, in `‹…›`, or one to read beside the sources."""

    text: str
    has_statements: bool
    evidence: tuple[Evidence, ...]
    """The closest passages of the sources, the closest first; none if no source says the like."""

    has_sources: bool
    """Whether there are sources to look into."""


def sentences_to_check(site: Site, article: Article, text: Text) -> Iterator[SentenceToCheck]:
    """Yield what of a draft a person has to check, then what to read, each with its evidence."""
    document = Document(text.html)
    finder = evidence_finder(site, article, text)
    checked: set[str] = set()
    for sentence in document.marked_sentences():
        plain = sentence.replace("‹", "").replace("›", "")
        checked.add(plain)
        found = tuple(finder.find(plain))
        yield SentenceToCheck(sentence, True, found, finder.has_sources)
    for sentence in document.sentences_to_read():
        if sentence in checked:  # with its evidence
            continue
        found = tuple(finder.find(sentence))
        yield SentenceToCheck(sentence, False, found, finder.has_sources)


def evidence_finder(site: Site, article: Article, text: Text) -> EvidenceFinder:
    """Return what finds passages in the sources of the site's writer, as they are now.

    Where the sources are not at hand, it finds them in the passages that the text has kept.
    """
    request = article.request
    options = _writer_options(site)
    if options is not None and (options.sources.paths or request.sources):
        sources = options.sources
        return EvidenceFinder(lambda sentence: sources.search(sentence, request.sources))
    url = site.config.site_url or ""
    kept = [
        Section(citation.shown(url), citation.shown(url), citation.before)
        for citation in text.citations()
        if citation.before
    ]
    return EvidenceFinder(lambda sentence: kept, has_sources=bool(kept))


def _writer_options(site: Site) -> WriterOptions | None:
    if not site.options.uses_writer():
        return None
    try:
        return site.reading_options()
    except ConfigurationError:  # as where the configuration is for another machine
        return None

"""Say what in a draft has to be checked or read, with the passages of the sources beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import ConfigurationError
from ..html.article import image_hosts_of
from ..html.document import Document, is_block
from ..site.site import Site
from ..text import Text
from ..texts.articles import Article
from ..writer.evidence import MAX_PASSAGES, Evidence, EvidenceFinder
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


class OriginalFinder(EvidenceFinder):
    """Finds the block of an original that a sentence of its translation stands for."""

    def __init__(self, originals: Sequence[tuple[str, Section]]) -> None:
        """`originals` are the texts of the translation's blocks, each with its original."""
        super().__init__(lambda sentence: [section for _, section in originals])
        self._originals = originals

    def find(self, sentence: str) -> list[Evidence]:
        """Return the originals of the blocks that have the sentence, or are cells in it."""
        line = " ".join(sentence.split())
        found = []
        for words, section in self._originals:
            if line in words or words in line:
                found.append(Evidence(section, ()))
        return found[:MAX_PASSAGES]


def originals_of_blocks(article: Article, text: Text) -> dict[int, str]:
    """Return what the blocks of a translation, by number, stand for in its original.

    Empty for a text that is no translation, or whose original is not there.
    """
    original = article.original.text_to_translate if article.original else None
    if text.original is None or original is None:
        return {}
    from ..texts.alignment import align

    leaves = Document(original.text.html, image_hosts_of(original.text.html)).leaves()
    own_leaves = Document(text.html, image_hosts_of(text.html)).leaves()
    changed_by = text.edits.changed_by if text.edits else {}
    alignment = align(text.original.blocks, leaves, own_leaves, changed_by)
    of_leaf = {pair.own: pair.original for pair in alignment.pairs}
    originals: dict[int, str] = {}
    blocks = [leaf for leaf in own_leaves if is_block(leaf.element)]
    for number, block in enumerate(blocks):
        stands_for = of_leaf.get(block.number)
        if stands_for is not None and leaves[stands_for].text:
            originals[number] = leaves[stands_for].text
    return originals


def evidence_finder(site: Site, article: Article, text: Text) -> EvidenceFinder:
    """Return what finds passages in the sources of the site's writer, as they are now.

    Where the sources are not at hand, it finds them in the passages that the text has kept. For a
    translation, it finds the blocks of its original.
    """
    if article.original:
        return _original_finder(article, article.original, text)
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


def _original_finder(article: Article, original: Article, text: Text) -> OriginalFinder:
    blocks = Document(text.html, image_hosts_of(text.html)).blocks()
    found = []
    for number, words in originals_of_blocks(article, text).items():
        section = Section(original.source_path, original.page, words)
        found.append((blocks[number].text, section))
    return OriginalFinder(found)


def _writer_options(site: Site) -> WriterOptions | None:
    if not site.options.uses_writer():
        return None
    try:
        return site.reading_options()
    except ConfigurationError:  # as where the configuration is for another machine
        return None

"""Say what in a draft has to be checked or read, with the passages of the sources beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..errors import ConfigurationError
from ..html.block import is_block
from ..html.document import Document
from ..site.site import Site
from ..text import Text
from ..texts.articles import Article
from ..writer.sources.evidence import PASSAGES_FOR_SENTENCE, Evidence, EvidenceFinder
from ..writer.sources.retrieval import Sources
from ..writer.sources.sources import Passage

_Found = dict[str, list[Evidence]]

KnownEvidence = dict[tuple[object, ...], _Found]
"""What was found for sentences, by the text and the passages that were searched."""


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
        found = tuple(finder.evidence_for(plain))
        yield SentenceToCheck(sentence, True, found, finder.has_sources)
    for sentence in document.sentences_to_read():
        if sentence in checked:  # with its evidence
            continue
        found = tuple(finder.evidence_for(sentence))
        yield SentenceToCheck(sentence, False, found, finder.has_sources)


class OriginalFinder(EvidenceFinder):
    """Finds the block of an original that a sentence of its translation is the translation of."""

    def __init__(self, words: Mapping[int, str], passages: Mapping[int, Passage]) -> None:
        """`words` are those of the translation's blocks, and `passages` the blocks' originals.

        Both are by the number of the block.
        """
        super().__init__(lambda sentence: list(passages.values()))
        self.passages = passages
        self._words = words

    def evidence_for(self, sentence: str) -> list[Evidence]:
        """Return the originals of the blocks that contain the sentence.

        If there is none, it can be the row of a table: then, those of the cells in it. The longest
        cells come first: a short one can be in any sentence.
        """
        line = " ".join(sentence.split())
        around = []
        within = []
        for number, words in self._words.items():
            if line in words:
                around.append(number)
            elif words in line:
                within.append(number)
        within.sort(key=lambda number: -len(self._words[number]))
        found = around or within
        return [Evidence(self.passages[number], ()) for number in found[:PASSAGES_FOR_SENTENCE]]

    def of_block(self, number: int) -> list[Evidence]:
        """Return the original of a block, none for one that stands for nothing in the original."""
        passage = self.passages.get(number)
        return [Evidence(passage, ())] if passage else []


def evidence_finder(
    site: Site, article: Article, text: Text, known: KnownEvidence | None = None
) -> EvidenceFinder:
    """Return what finds passages in the sources of the site's writer, as they are now.

    Where the sources are not at hand, it finds them in the passages that the text has kept. For a
    translation, it finds the blocks of its original.

    `known` keeps what is found for each sentence, until this is called for another text. It saves
    time where a text is described again after each change, since most sentences stay as they are.
    The sources may not change meanwhile.
    """
    if article.original:
        return _original_finder(article, article.original, text)
    request = article.request
    sources = _sources_of(site)
    if sources is not None and (sources.paths or request.sources):
        search = _SourceSearch(sources, request.sources)
        return EvidenceFinder(
            search.passages,
            repository=site.repository_folder(),
            found=_found_in((article.key,), known),
        )
    url = site.config.site_url or ""
    kept: list[Passage] = []
    for citation in text.citations():
        if citation.before:
            name = citation.shown(url)
            kept.append(Passage(name, name, citation.before))
    found = _found_in((article.key, *kept), known)
    return EvidenceFinder(lambda sentence: kept, has_sources=bool(kept), found=found)


class _SourceSearch:
    """Searches the sources of a request, which are read before the first search.

    Most texts are described without a search, and then nothing is read.
    """

    def __init__(self, sources: Sources, names: Sequence[str]) -> None:
        self._sources = sources
        self._names = names

    def passages(self, sentence: str) -> Sequence[Passage]:
        """Return the passages that are about the same as a sentence."""
        return self._find(sentence)

    @cached_property
    def _find(self) -> Callable[[str], Sequence[Passage]]:
        return self._sources.searcher(self._names)


def _found_in(searched: tuple[object, ...], known: KnownEvidence | None) -> _Found:
    """Return the part of `known` for what is searched, which the caller adds to.

    `searched` is the key of the text, and the passages if they are known before the search.
    """
    if known is None:
        return {}
    if searched not in known:
        known.clear()
        known[searched] = {}
    return known[searched]


def _original_finder(article: Article, original: Article, text: Text) -> OriginalFinder:
    """Return what finds the blocks of an original, none where it has no text."""
    translated = article.original_text
    if text.original is None or translated is None:
        return OriginalFinder({}, {})
    from ..translation.alignment import align_texts

    aligned = align_texts(text, translated.text)
    original_of = {pair.own: pair.original for pair in aligned.alignment.pairs}
    words: dict[int, str] = {}
    passages: dict[int, Passage] = {}
    blocks = [leaf for leaf in aligned.own_leaves if is_block(leaf.element)]
    for number, block in enumerate(blocks):
        leaf_number = original_of.get(block.number)
        if leaf_number is None:
            continue
        said = aligned.leaves[leaf_number].text
        if said:
            words[number] = block.text
            passages[number] = Passage(original.source_path, original.page, said)
    return OriginalFinder(words, passages)


def _sources_of(site: Site) -> Sources | None:
    if not site.options.uses_writer():
        return None
    try:
        return site.sources
    except ConfigurationError:  # as where the configuration is for another machine
        return None

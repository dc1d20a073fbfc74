"""Find the passages of the sources that come closest to a sentence, whatever its text cites."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...language.sentences import sentence_ranges
from ...language.words import content_stems, content_words
from .retrieval import Index
from .sources import Passage, RepositoryFolder

PASSAGES_FOR_SENTENCE = 3
"""The most passages for a sentence: the right one is nearly always among three."""

PASSAGE_LENGTH = 400
"""The maximum length of such a passage, in characters."""

_PART = re.compile(rf".{{1,{PASSAGE_LENGTH}}}(?:\s|$)|.{{1,{PASSAGE_LENGTH}}}", re.DOTALL)
"""Matches a part of a sentence that is too long for a passage. Lists and tables have no ends."""

_LEAST_SHARED = 2
"""Content words that a passage has in common with a sentence, or all if there are fewer."""

_LEAST_OF_BEST = 3 / 4
"""The part of the closest passage's shared words that another passage shares, at least.

One that shares fewer is about something else; `tests/benchmarks/marks.py` finds more of the right
passages with this limit."""


@dataclass(frozen=True)
class Evidence:
    """A passage of a source, and the words that it has in common with a sentence."""

    passage: Passage

    words: tuple[str, ...]

    address: str = ""
    """For code: the address of its line in the repository, if there is one."""


class EvidenceFinder:
    """Finds the closest short passages in those that `search` returns for a sentence.

    `has_sources` says whether there is anything to search. `repository` is where readers find code
    on the web. `found` keeps what was
    found for each sentence. Finders in the same sources can have it in common.
    """

    def __init__(
        self,
        search: Callable[[str], Sequence[Passage]],
        *,
        has_sources: bool = True,
        repository: RepositoryFolder | None = None,
        found: dict[str, list[Evidence]] | None = None,
    ) -> None:
        self.has_sources = has_sources
        self._search = search
        self._repository = repository
        self._found = {} if found is None else found

    def evidence_for(self, sentence: str) -> list[Evidence]:
        """Return the closest passages, the closest first; none if no source says the like."""
        if sentence not in self._found:
            self._found[sentence] = self._look_for(sentence)
        return self._found[sentence]

    def _look_for(self, sentence: str) -> list[Evidence]:
        wanted = content_stems(sentence)
        least = min(_LEAST_SHARED, len(wanted))
        if not self.has_sources or not wanted:
            return []
        short_passages: list[Passage] = []
        for passage in self._search(sentence):
            short_passages += _short_passages(passage)
        close: list[tuple[Passage, frozenset[str]]] = []
        for passage in Index(short_passages).search(sentence):
            shared = wanted & content_stems(passage.text)
            if len(shared) >= least:
                close.append((passage, shared))
        most = max((len(shared) for _, shared in close), default=0)
        found = []
        for passage, shared in close:
            if len(shared) >= most * _LEAST_OF_BEST:
                words = _words_with_stems(passage.text, shared)
                found.append(Evidence(passage, words, passage.address_in(self._repository)))
        return found[:PASSAGES_FOR_SENTENCE]


def _short_passages(passage: Passage) -> Iterator[Passage]:
    """Yield the parts of a passage: as many whole sentences as have room, or a part of one."""
    part = ""
    for sentence in _sentences(passage.text):
        if part and len(part) + len(sentence) > PASSAGE_LENGTH:
            yield replace(passage, text=part.strip())
            part = ""
        part += sentence
    if part.strip():
        yield replace(passage, text=part.strip())


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, which end with a paragraph, too, or parts of long ones."""
    for paragraph in re.split(r"(?<=\n\n)", text):
        for sentence in sentence_ranges(paragraph):
            yield from _PART.findall(sentence.of(paragraph))


def _words_with_stems(text: str, stems: frozenset[str]) -> tuple[str, ...]:
    """Return the words of a text that have one of the stems, each once."""
    found: dict[str, None] = {}
    for word in content_words(text):
        if content_stems(word) & stems:
            found[word] = None
    return tuple(found)

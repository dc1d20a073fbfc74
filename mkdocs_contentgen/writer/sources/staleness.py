"""Decide what of a text no longer holds, from the passages that it cites as they are now.

A statement is lost if what its paragraph cites does not have it now, and had it when the text was
approved. Old versions of sources are not needed for that: an approval keeps the few statements that
had no support then. Where there is no approval, the excerpts that the text keeps have to do.

Most changes of a source leave all statements as they are. For these, a person gets sentences to
read, since a negation or a new requirement has no statement that could be lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeVar

from msgspec import structs

from ...citation import Citation
from ...html.document import Document, ReadText
from ...html.elements import HEADINGS
from ...language.sentences import sentence_ranges
from ...language.words import content_stems
from ...stale import Level, StaleSentence, StaleSource
from ...text import MAX_EDIT, MAX_UNSUPPORTED, Text
from ..marks.marking import Given
from .passage_words import digest_of_words, words_of
from .support import CitingText, Sentence, cited_in, normal_statement, read_citing_text

_LEAST_SHARED = 2
"""Content words that a sentence of a source shares with one of the text, to be about the same."""

_LEAST_LOST_STEMS = 2
"""Content words of a sentence that its source has lost, so that somebody should read it."""

_Read = TypeVar("_Read", bound=ReadText)

_LETTER = re.compile(r"[^\W\d_]")

_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+|#]|\d{1,3}[.)])\s)")
"""What is between paragraphs, items and rows."""


@dataclass(frozen=True)
class CitedPassage:
    """A passage that a text cites, as it was and as it is."""

    citation: Citation

    shown: str
    """Its name as messages show it."""

    digest_before: str = ""
    """The digest of its words when the text was written."""

    moved_to: str = ""
    """Where it stands now, if it is gone from its place."""

    other_sections: Callable[[], Sequence[str]] = field(default=lambda: ())
    """Returns the other sections of the same page as they are now."""

    @property
    def knows_all_before(self) -> bool:
        """Whether `citation.before` is all that the passage said, and not only its beginning."""
        return digest_of_words(self.citation.before) == self.digest_before


def find_stale(
    text: Text, document: Document | None, passages: Sequence[CitedPassage]
) -> tuple[StaleSource, ...]:
    """Return those of the cited passages that are gone or have changed, and what that means.

    `document` is that of the text, or None for one that no build can show: its page says so, and it
    has no sentences here.
    """
    changed = [passage for passage in passages if passage.citation.has_changed]
    if not changed:
        return ()
    sentences: dict[str, list[_Judged]] = {}
    if document is not None:
        for sentence in _Judge(text, document, passages).sentences():
            sentences.setdefault(sentence.source.citation.name, []).append(sentence)
    found = []
    for passage in changed:
        found.append(_stale_source(passage, sentences.get(passage.citation.name, ())))
    return tuple(found)


def with_unsupported(read: _Read, passages: Sequence[CitedPassage]) -> _Read:
    """Return a text with those of its statements that what it cites does not have now."""
    if not read.text.sources:
        return read
    unsupported = _unsupported_statements(read, passages)
    return replace(read, text=structs.replace(read.text, unsupported=unsupported))


def as_approved(
    read: _Read, passages: Sequence[CitedPassage], stale: Sequence[StaleSource]
) -> _Read:
    """Return a text with what an approval keeps of what it cites.

    Whoever approves a text has read it beside its sources as they are now. So these are what later
    changes are compared with, but for those that are gone, and those of sentences that may still be
    wrong. `stale` is what find_stale() finds.
    """
    text = read.text
    seen = {source.source for source in stale if source.level == "changed"}
    sources = {**text.sources}
    said: dict[str, str] = {**text.passages}
    known = []
    for passage in passages:
        citation = passage.citation
        if passage.shown in seen and not passage.moved_to:
            sources[citation.name] = citation.digest
            said[citation.name] = citation.now
            known.append(replace(passage, citation=structs.replace(citation, before=citation.now)))
        else:
            known.append(passage)
    text = structs.replace(text, sources=sources, passages=said)
    return with_unsupported(replace(read, text=text), known)


def _unsupported_statements(
    approved: ReadText, passages: Sequence[CitedPassage]
) -> tuple[str, ...] | None:
    """Return the statements of a text that what it cites does not have, as an approval keeps them.

    What a passage said when the text was written counts, too. Returns None if they are too many.
    """
    text = approved.text
    read = read_citing_text(approved.document)
    titles = _titles(passages)
    by_name = {passage.citation.name: passage for passage in passages}
    found: dict[str, None] = {}
    for block in read.blocks:
        cited = [by_name[name] for name in cited_in(block, read, titles) or titles]
        given = _given(text, read, _said_before(cited) + _said_now(cited))
        for sentence in block.sentences(read.language):
            for part in sentence.all_unsupported(given):
                found[_as_kept(part.of(sentence.text))] = None
    return tuple(found) if len(found) <= MAX_UNSUPPORTED else None


@dataclass(frozen=True)
class _Judged:
    """A sentence that somebody should look at."""

    source: CitedPassage
    sentence: StaleSentence
    may_be_wrong: bool


def _stale_source(source: CitedPassage, judged: Sequence[_Judged]) -> StaleSource:
    """Return what is said of a passage: only the sentences of its highest level are named."""
    wrong = [found.sentence for found in judged if found.may_be_wrong]
    level: Level = "changed"
    sentences = [found.sentence for found in judged]
    if wrong:
        level = "wrong"
        sentences = wrong
    if not source.citation.now:
        level = "gone"
    return StaleSource(
        source.shown,
        level,
        tuple(dict.fromkeys(sentences)),
        added=tuple(_added_sentences(source)),
        moved_to=source.moved_to,
    )


def _added_sentences(source: CitedPassage) -> Sequence[str]:
    """Return the sentences that a passage did not have before, if all is known that it said."""
    if not source.citation.before or not source.knows_all_before:
        return ()
    return _new_sentences(source.citation.before, source.citation.now)


def _titles(passages: Sequence[CitedPassage]) -> dict[str, str]:
    return {passage.citation.name: passage.citation.title for passage in passages}


def _said_now(passages: Sequence[CitedPassage]) -> list[str]:
    said = []
    for passage in passages:
        if passage.citation.now:
            said += [passage.citation.title, passage.citation.now]
    return said


def _said_before(passages: Sequence[CitedPassage]) -> list[str]:
    return [passage.citation.before for passage in passages if passage.citation.before]


def _given(text: Text, read: CitingText, said: Sequence[str]) -> Given:
    """Return what a text can state without a mark: its topic, its brief, and what was said."""
    topic = str(text.request.get("topic") or "")
    brief = str(text.request.get("brief") or "")
    return Given("\n".join([topic, brief, *said]), has_sources=True, language=read.language)


class _Judge:
    """Judges the sentences of a text of which a cited passage has changed."""

    def __init__(self, text: Text, document: Document, passages: Sequence[CitedPassage]) -> None:
        self._text = text
        self._read = read_citing_text(document)
        self._by_name = {passage.citation.name: passage for passage in passages}
        self._titles = _titles(passages)
        self._unsupported_then: frozenset[str] | None = None
        if text.unsupported is not None:
            self._unsupported_then = frozenset(text.unsupported)

    def sentences(self) -> Iterator[_Judged]:
        """Yield the sentences to look at, in the order of the text."""
        for block in self._read.blocks:
            own = cited_in(block, self._read, self._titles)
            is_read = bool(own) and block.kind not in HEADINGS
            # What a paragraph without a citation says can be from any source of the text.
            cited = [self._by_name[name] for name in own or self._titles]
            changed = [passage for passage in cited if passage.citation.has_changed]
            if not changed:
                continue
            for sentence in block.sentences(self._read.language):
                found = self._judge(sentence, cited, changed)
                if found is None and is_read:
                    found = _to_read(sentence, changed)
                if found:
                    yield found

    def _judge(
        self, sentence: Sentence, cited: Sequence[CitedPassage], changed: Sequence[CitedPassage]
    ) -> _Judged | None:
        """Return a sentence with its lost statements, or None if it has lost none."""
        unsupported = self._unsupported(sentence, _said_now(cited))
        had_none = self._without_support_then(sentence, cited) if unsupported else frozenset()
        lost: dict[str, None] = {}
        for statement in unsupported:
            if _as_kept(statement) not in had_none:
                lost[" ".join(statement.split())] = None
        if not lost:
            return None
        source = _source_of(next(iter(lost)), changed)
        is_elsewhere = self._is_supported_elsewhere(sentence, lost, changed, had_none)
        now = "" if is_elsewhere else _says_now(sentence, source)
        return _Judged(source, StaleSentence(sentence.line, tuple(lost), now), not is_elsewhere)

    def _without_support_then(
        self, sentence: Sentence, cited: Sequence[CitedPassage]
    ) -> frozenset[str]:
        """Return the statements that had no support when the text was approved."""
        if self._unsupported_then is not None:
            return self._unsupported_then
        # What is kept of a passage can be only its beginning. So a statement that is not in it
        # does not count as one that had support.
        unchanged = [passage for passage in cited if not passage.citation.has_changed]
        said = _said_before(cited) + _said_now(unchanged)
        given = _given(self._text, self._read, said)
        without = sentence.all_unsupported(given)
        return frozenset(_as_kept(part.of(sentence.text)) for part in without)

    def _unsupported(self, sentence: Sentence, said: Sequence[str]) -> list[str]:
        given = _given(self._text, self._read, said)
        return [part.of(sentence.text) for part in sentence.unsupported(given)]

    def _is_supported_elsewhere(
        self,
        sentence: Sentence,
        lost: Iterable[str],
        changed: Sequence[CitedPassage],
        had_no_support: frozenset[str],
    ) -> bool:
        """Tell whether another section of a changed page supports the whole sentence."""
        stems = content_stems(sentence.text)
        statements = [normal_statement(statement) for statement in lost]
        # A section about something else has the same figure by chance, more than the same code.
        least = len(stems) / 2
        if all(_LETTER.search(statement) is None for statement in statements):
            least += 0.5
        for source in changed:
            for section in source.other_sections():
                if not _can_have(section, statements):
                    continue  # which takes a tenth of the time of what follows
                if len(stems & content_stems(section)) < least:
                    continue
                unsupported = map(_as_kept, self._unsupported(sentence, [section]))
                if had_no_support.issuperset(unsupported):
                    return True
        return False


def _can_have(section: str, statements: Sequence[str]) -> bool:
    """Tell whether a section has a word of each statement that is not a figure."""
    known = section.casefold()
    for statement in statements:
        words = re.findall(r"\w+", statement)
        if _LETTER.search(statement) and not any(word in known for word in words):
            return False
    return True


def _as_kept(statement: str) -> str:
    """Return a statement as an approval keeps it."""
    return normal_statement(statement)[:MAX_EDIT].strip()


def _source_of(statement: str, changed: Sequence[CitedPassage]) -> CitedPassage:
    """Return the passage that had a statement, as far as that is known, or else the first."""
    for passage in changed:
        if normal_statement(statement) in normal_statement(passage.citation.before):
            return passage
    return changed[0]


def _to_read(sentence: Sentence, changed: Sequence[CitedPassage]) -> _Judged | None:
    """Return a sentence without lost statements that should be read all the same, or None."""
    for source in changed:
        if _should_be_read(sentence, source):
            return _Judged(source, StaleSentence(sentence.line), may_be_wrong=False)
    return None


def _should_be_read(sentence: Sentence, source: CitedPassage) -> bool:
    """Tell whether a sentence without lost statements should be read beside a changed passage."""
    before = source.citation.before
    now = source.citation.now
    if not before:
        return True
    stems = content_stems(sentence.text)
    lost_stems = (stems & content_stems(before)) - content_stems(now)
    if len(lost_stems) >= _LEAST_LOST_STEMS:
        return True
    closest = _closest(stems, _sentences_of(before))
    return closest in _new_sentences(now, before)  # it is one that is no longer there


def _says_now(sentence: Sentence, source: CitedPassage) -> str:
    """Return the new sentence of a passage that is about the same as one of the text, or empty."""
    new = _new_sentences(source.citation.before, source.citation.now)
    return _closest(content_stems(sentence.text), new)


def _closest(stems: frozenset[str], sentences: Sequence[str]) -> str:
    """Return the sentence that shares most content words, or an empty string."""
    best = ""
    most = min(_LEAST_SHARED, len(stems)) - 1
    for sentence in sentences:
        shared = len(stems & content_stems(sentence))
        if shared > max(most, 0):
            best = sentence
            most = shared
    return best


@lru_cache(maxsize=64)  # the sentences of a text are compared with the same few passages
def _new_sentences(before: str, now: str) -> tuple[str, ...]:
    """Return the sentences of a passage that it did not have before."""
    known = set(map(_compared, _sentences_of(before)))
    return tuple(said for said in _sentences_of(now) if _compared(said) not in known)


@lru_cache(maxsize=64)  # the sentences of a text are compared with the same few passages
def _sentences_of(passage: str) -> tuple[str, ...]:
    """Return the sentences of a passage, and its items and rows, each on one line."""
    found = []
    for paragraph in _PARAGRAPHS.split(passage):
        for place in sentence_ranges(paragraph):
            sentence = " ".join(place.of(paragraph).split())
            if any(map(str.isalnum, sentence)):
                found.append(sentence)
    return tuple(found)


@lru_cache(maxsize=2048)
def _compared(sentence: str) -> str:
    return words_of(sentence)

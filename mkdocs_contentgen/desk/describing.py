"""What the desk shows of a text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
from bs4 import Tag
from msgspec import structs

from ..citation import Citation
from ..display import escape_controls
from ..errors import UnsafeHTMLError
from ..git import has_uncommitted
from ..html.block import Block
from ..html.differences import Row, compare
from ..html.document import Document
from ..html.marked_sentences import MarkedSentence
from ..html.tags import closest, strings_in, tags_in
from ..remark import Remark
from ..remark_words import sentence_of
from ..review.sentences_to_check import OriginalFinder, evidence_finder
from ..review.text_links import dead_links, lost_links
from ..site.cited_passages import CitedPassages
from ..site.site import Site
from ..stale import StaleSource
from ..text import Text
from ..texts.articles import Article, count_statements
from ..writer.sources.evidence import Evidence, EvidenceFinder
from ..writer.sources.source_lists import listed_items, name_of_listed
from ..writer.sources.sources import RepositoryFolder
from .acts import Change, Desk, Earlier, digest_of
from .block_views import BlockView
from .rendering import render

_MAX_HIDDEN = 200
"""How many hidden things are named."""

_CELLS = ("td", "th")

_MAX_ROW = 1_000
"""Characters of a row that are searched for in the sources with each of its cells."""

_UNSEEN = {"href": " →", "src": " →", "alt": ":", "title": ":", "datetime": ":"}
"""The attributes that a page does not show, with what stands between words and the value."""

_SHAPELESS = re.compile(
    "[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\u3164\\uffa0\\ufe00-\\ufe0f\\U000e0100-\\U000e01ef]"
)
"""What has no shape although its category does not say so."""

_WORD = re.compile(r"\w")

_LABEL = re.compile(r"\[(\d{1,4})\]")
"""Matches a citation: its number is the place of the source in the list at the end."""


class _CitedSource(NamedTuple):
    """What a sentence cites: an entry of a text's list of sources."""

    name: str
    """What names it in the text's record, or an empty string if the record does not have it."""

    title: str


def describe(desk: Desk, article: Article, on_page: Sequence[Article]) -> dict[str, object]:
    """Return what the desk shows of a text, beyond its row in the list of texts.

    `on_page` are the articles of its page in their order.
    """
    text = article.newest
    shown: dict[str, object] = {
        "brief": article.request.brief,
        "request": _requested(article),
        "seen": "",
        "left": 0,
        "blocks": [],
        "statements": [],
        "to_read": [],
        "sources": [],
        "stale": [],
        "links": [],
    }
    if text is None:
        return shown
    try:
        document = desk.read(text.html)
    except UnsafeHTMLError as error:
        return {**shown, "reason": f"no build can show this text: {error}"}
    blocks = document.blocks()
    views = desk.views.of(blocks)
    finder = evidence_finder(desk.site, article, text, desk.evidence)
    sources: list[dict[str, object]] = []
    stale: list[dict[str, object]] = []
    if article.original is None:  # the source of a translation is its original
        cited = desk.site.cited_passages()
        citations = cited.citations(text)
        sources = list(_sources(cited, citations, desk.site.repository_folder(), views))
        stale = list(_stale(citations, cited.stale(text, document), views))
    remarked = _with_dead_links(article, text, document)
    title = _title(article, views)
    described = {
        **shown,
        **_in_page(desk.site, article, on_page, blocks),
        **_metadata(desk, article, remarked, title),
        "left": count_statements(text, document),
        "blocks": _described_blocks(views, text, finder),
        "statements": _cards(blocks, views, text, finder, _sources_by_label(blocks, sources)),
        "to_read": [
            {"text": sentence, "evidence": _evidence(finder.evidence_for(sentence))}
            for sentence in document.sentences_to_read()
        ],
        "sources": sources,
        "stale": stale,
        "links": [asdict(link) for link in lost_links(text.remarks, blocks)],
        "hidden": list(_hidden(document)),
    }
    desk.parsed = {text.html: document}  # last, since read() hands it out to be changed
    return described


def _requested(article: Article) -> dict[str, str]:
    """Return the fields of the request of a text, without its topic and its brief."""
    fields: dict[str, str] = {}
    for name, value in article.request.record().items():
        if name not in ("topic", "brief"):
            fields[name] = ", ".join(value) if isinstance(value, list) else str(value)
    return fields


def _title(article: Article, views: Sequence[BlockView]) -> str:
    """Return the title of a text, or else its topic."""
    for view in views:
        if view.kind == "h1":
            return view.text
    return article.request.topic


def _metadata(desk: Desk, article: Article, text: Text, title: str) -> dict[str, object]:
    """Return the metadata that the desk shows of a text."""
    options = desk.site.options
    approved_file = _approved_file(desk.site, article)
    return {
        "title": title,
        "seen": digest_of(article),
        "undo": desk.undo_info(article),
        "can_approve_open": not any(remark.is_about_quotation for remark in text.remarks),
        **_vouched_metadata(article),
        "can_update": options.service_can("translate" if article.original else "update"),
        "original_language": text.original.language if text.original else "",
        "approved_file": approved_file,
        "commit_command": _commit_command(article.path, approved_file, title),
        "replaces": article.approved is not None and not article.newest_is_in_file,
        "updates": list(text.updates),
        "remarks": described_remarks(text.remarks),
        "redo": desk.redo_info(article),
    }


def described_remarks(remarks: Iterable[Remark]) -> list[dict[str, object]]:
    """Return remarks on a text, with what each says in English."""
    described: list[dict[str, object]] = []
    for remark in remarks:
        values = {"block": remark.block, **remark.values}
        described.append({"kind": remark.kind, "values": values, "words": sentence_of(remark)})
    return described


def _with_dead_links(article: Article, text: Text, document: Document) -> Text:
    """Return a text with remarks on its links to headings that it does not have."""
    if article.original:  # whose links those of a translation are
        return text
    return structs.replace(text, remarks=(*text.remarks, *dead_links(document)))


def _vouched_metadata(article: Article) -> dict[str, object]:
    """Return what the page says of how a text came about, as the desk shows it."""
    provenance = article.provenance
    generated_at = None
    approved_by = None
    if provenance and provenance.generated_at:
        generated_at = provenance.generated_at.isoformat()
    if provenance and provenance.review:
        approved_by = provenance.review.name
    return {
        "model": provenance.model if provenance else "",
        "generated_at": generated_at,
        "approved_by": approved_by,
    }


def _described_blocks(
    views: Sequence[BlockView], text: Text, finder: EvidenceFinder
) -> list[dict[str, object]]:
    """Return the blocks of a text, those of a translation with what they say in the original."""
    changed_by = text.changed_by
    originals = finder.passages if isinstance(finder, OriginalFinder) else {}
    described: list[dict[str, object]] = []
    for number, view in enumerate(views):
        original = originals.get(number)
        described.append(
            {
                "number": number,
                "kind": view.kind,
                "digest": view.digest,
                "text": view.text,
                "markdown": view.markdown,
                "changed_by": changed_by.get(view.digest, ""),
                "original": original.text if original else "",
            }
        )
    return described


def _approved_file(site: Site, article: Article) -> str:
    """Return the path of the file that has this text, or an empty string while it is a draft."""
    if article.needs_approval:
        return ""
    path = article.path
    directory = site.directory.absolute()
    return str(path.relative_to(directory) if path.is_relative_to(directory) else path)


def _commit_command(file: Path, approved_file: str, title: str) -> str:
    """Return a command for a shell, in which a title of a model has no power over the terminal.

    It is empty while there is nothing to commit.
    """
    if not approved_file or not has_uncommitted(file):
        return ""
    path = _in_quotes(approved_file)
    message = _in_quotes(f"Approve {title}")
    return f"git add -- {path} && git commit -m {message} -- {path}"


def commit_all_command(site: Site) -> str:
    """Return a command for a shell that commits all approved files, or nothing if they are."""
    if not has_uncommitted(site.approved_directory()):
        return ""
    directory = site.options.approved_dir
    return f"git add -- {_in_quotes(directory)} && git commit -m 'Approve texts'"


def _in_quotes(text: str) -> str:
    return "'" + escape_controls(text).replace("'", "'\\''") + "'"


def _in_page(
    site: Site, article: Article, on_page: Sequence[Article], blocks: Sequence[Block]
) -> dict[str, object]:
    """Return the article as its page will have it, or why it cannot be put there."""
    try:
        shown = render(site, article, on_page, blocks)
    except (Exception, SystemExit) as error:  # noqa: BLE001  plugins of the site raise anything
        return {"in_page": None, "page_problem": f"this page cannot be built: {error}"}
    problem = "" if shown else "this page does not contain the text"
    return {"in_page": shown, "page_problem": problem}


def describe_rows(
    desk: Desk, before: Text, after: Text, earlier: Earlier
) -> Iterator[dict[str, object]]:
    """Yield what differs between two versions of a text, and the change that takes it back.

    `earlier` is the name of the version `before`.
    """
    document = desk.read(after.html)
    rows = compare(desk.read(before.html), document, marks=False)
    numbers = {id(block.element): block.number for block in document.blocks()}
    for number, row in enumerate(rows):
        if not row.is_equal:
            change = Change(action="take_back", block=number, digest=row.digest, earlier=earlier)
            yield {
                "words": row.words_to_read(),
                "plain": row.plain_words(),
                "block": _block_at(rows, number, numbers),
                "is_gone": row.after is None,
                "change": msgspec.to_builtins(change),
            }


def _block_at(rows: Sequence[Row], number: int, numbers: dict[int, int]) -> int | None:
    """Return the number of the block of a row; of one that is gone, of the block before it.

    `numbers` are those of the blocks by the `id()` of their elements. A row can also be the start
    or the end of what contains blocks, which has no number.
    """
    piece = rows[number].after
    if piece:
        return numbers.get(id(piece.element))
    for row in reversed(rows[:number]):
        if row.after and id(row.after.element) in numbers:
            return numbers[id(row.after.element)]
    return None


def _cards(
    blocks: Sequence[Block],
    views: Sequence[BlockView],
    text: Text,
    finder: EvidenceFinder,
    listed: Mapping[str, _CitedSource],
) -> list[dict[str, object]]:
    """Return the sentences with statements to check, with what each cites and what is closest.

    Those with only weak marks come last. `listed` has the sources at the end, by their numbers.
    """
    tables = _Tables()
    strong: list[dict[str, object]] = []
    weak: list[dict[str, object]] = []
    for block, view in zip(blocks, views, strict=True):
        for sentence in view.sentences:
            statements = _statements_in(sentence)
            cited = _cited_by_link((*sentence.cited, *view.links), text)
            if cited is None:
                cited = _cited_by_number(sentence, listed)
            card: dict[str, object] = {
                "block": block.number,
                "statements": list(statements),
                "is_weak": sentence.is_weak,
                "digest": view.digest,
                "text": "; ".join(" ".join(words.split()) for words in statements.values()),
                "parts": sentence.parts,
                "place": tables.place(block.element),
                "source": cited.name or None,
                "source_title": cited.title,
                "evidence": _evidence(_find_evidence(finder, block, sentence, tables)),
            }
            if sentence.is_weak:
                weak.append(card)
            else:
                strong.append(card)
    return strong + weak


def _statements_in(sentence: MarkedSentence) -> dict[int, str]:
    """Return the words of the statements in a sentence, by their numbers in the block."""
    statements: dict[int, str] = {}
    for words, number in sentence.parts:
        if number is not None:  # else it is text between statements
            statements[number] = words
    return statements


def _sources_by_label(
    blocks: Sequence[Block], sources: Sequence[Mapping[str, object]]
) -> dict[str, _CitedSource]:
    """Return the sources in the list at the end of a text, by the number that cites each.

    An item of the list names its source by its address, or by its title where it has no link.
    """
    names: dict[str, str] = {}
    for source in sources:
        address = str(source["address"])
        names[str(source["title"])] = address
        names[address] = address
    found: dict[str, _CitedSource] = {}
    for number, item in enumerate(listed_items(blocks), start=1):
        name = names.get(name_of_listed(item), "")
        found[str(number)] = _CitedSource(name, item.text)
    return found


def _cited_by_link(addresses: Iterable[str], text: Text) -> _CitedSource | None:
    """Return the first source of a text among the addresses of links, or None."""
    for address in addresses:
        if address in text.sources:
            return _CitedSource(address, "")
    return None


def _cited_by_number(sentence: MarkedSentence, listed: Mapping[str, _CitedSource]) -> _CitedSource:
    """Return the source that a sentence cites without a link; one without a title if none."""
    words = "".join(part for part, _ in sentence.parts)
    for label in _LABEL.findall(words):
        if label in listed:
            return listed[label]
    return _CitedSource("", "")


def _find_evidence(
    finder: EvidenceFinder, block: Block, sentence: MarkedSentence, tables: _Tables
) -> list[Evidence]:
    """Return the passages beside a sentence; in a translation, the original of its block."""
    if isinstance(finder, OriginalFinder):
        return finder.of_block(block.number)
    return finder.evidence_for(_words_to_find(block, sentence, tables))


def _words_to_find(block: Block, sentence: MarkedSentence, tables: _Tables) -> str:
    """Return the words to look for in the sources: those of a sentence, or of the row of a cell.

    A cell can be only a figure, which does not say what it is about.
    """
    words = "".join(part for part, _ in sentence.parts)
    row = tables.words_of_row(block.element)
    if not row:
        return words
    if len(row) > _MAX_ROW:
        row = words
    return " ".join([*tables.place(block.element), row])


class _Tables:
    """The rows and the heads of the cells of a text. Each table is read once, for all its cells."""

    def __init__(self) -> None:
        self._read: set[int] = set()
        """The `id()` of each table that was read."""

        self._places: dict[int, list[str]] = {}
        """The heads of the column and the row of each cell that was read, by its `id()`."""

        self._rows: dict[int, str] = {}
        """The words of the row of each cell that was read, by its `id()`."""

    def place(self, element: Tag) -> list[str]:
        """Return the heads of the column and the row of a cell, and nothing for other elements."""
        self._read_table_of(element)
        return self._places.get(id(element), [])

    def words_of_row(self, element: Tag) -> str:
        """Return the words of the row that an element is in, or an empty string."""
        self._read_table_of(element)
        cell = element if element.name in _CELLS else closest(element, _CELLS)
        return self._rows.get(id(cell), "")

    def _read_table_of(self, element: Tag) -> None:
        table = closest(element, ("table",))
        if table is None or id(table) in self._read:
            return
        self._read.add(id(table))
        rows = []
        for row in tags_in(table, ("tr",)):
            if closest(row, ("table",)) is table:  # else it is a row of a table in this one
                rows.append(_cells_of(row))
        names_of_columns = [_name_of(head) for head in rows[0]]
        for cells in rows:
            if cells:
                self._read_row(cells, names_of_columns, is_first=cells is rows[0])

    def _read_row(
        self, cells: Sequence[Tag], names_of_columns: Sequence[str], *, is_first: bool
    ) -> None:
        words = " ".join(cell.get_text() for cell in cells)
        name_of_row = _name_of(cells[0])
        for column, cell in enumerate(cells):
            names = []
            if not is_first and column < len(names_of_columns):
                names.append(names_of_columns[column])
            if column:
                names.append(name_of_row)
            self._places[id(cell)] = [name for name in names if name]
            self._rows[id(cell)] = words


def _cells_of(row: Tag) -> list[Tag]:
    return [cell for cell in row.children if isinstance(cell, Tag) and cell.name in _CELLS]


def _name_of(head: Tag) -> str:
    return " ".join(head.get_text().split())


def _evidence(passages: Sequence[Evidence]) -> list[dict[str, object]]:
    """Return passages as the desk shows them."""
    return [
        {
            "title": found.passage.title,
            "file": found.passage.file,
            "text": found.passage.text,
            "language": found.passage.language,
            "line": found.passage.line,
            "link": found.address,
        }
        for found in passages
    ]


def _sources(
    cited: CitedPassages,
    citations: Sequence[Citation],
    repository: RepositoryFolder | None,
    views: Sequence[BlockView],
) -> Iterator[dict[str, object]]:
    """Yield the passages that a text cites as they were and as they are."""
    for citation in citations:
        passage = cited.passage(citation)
        words: list[tuple[str, str]] = []
        if citation.has_changed:
            words = list(_changed_words(citation.before, citation.now))
        yield {
            "address": citation.name,
            "title": citation.title,
            "text": citation.now,
            "words": words,
            "blocks": [number for number, view in enumerate(views) if citation.name in view.links],
            "state": _state_of(citation),
            "language": passage.language if passage else "",
            "line": passage.line if passage else None,
            "link": passage.address_in(repository) if passage else "",
        }


def _stale(
    citations: Sequence[Citation], stale: Sequence[StaleSource], views: Sequence[BlockView]
) -> Iterator[dict[str, object]]:
    """Yield the cited passages that say something else now, with the sentences to look at."""
    changed = [citation for citation in citations if citation.has_changed]
    if not changed:
        return
    letters = [_letters_of(view.text) for view in views]
    for citation, source in zip(changed, stale, strict=True):
        sentences: list[dict[str, object]] = []
        for sentence in source.sentences:
            sentences.append(
                {
                    "text": sentence.text,
                    "lost": list(sentence.lost),
                    "now": sentence.now,
                    "block": _block_with(sentence.text, letters),
                }
            )
        yield {
            "address": citation.name,
            "source": source.source,
            "level": source.level,
            "moved_to": source.moved_to,
            "sentences": sentences,
            "added": list(source.added),
        }


def _block_with(sentence: str, letters: Sequence[str]) -> int | None:
    """Return the number of the first block that has a sentence, or None.

    `letters` are those of each block.
    """
    wanted = _letters_of(sentence)
    for number, of_block in enumerate(letters):
        if wanted in of_block:
            return number
    return None


def _letters_of(text: str) -> str:
    """Return the letters and digits of a text without its citations, as sentences have them."""
    return "".join(filter(str.isalnum, _LABEL.sub("", text)))


def _state_of(citation: Citation) -> str:
    if not citation.has_changed:
        return "same"
    return "changed" if citation.now else "gone"


def _changed_words(before: str, after: str) -> Iterator[tuple[str, str]]:
    if not (_WORD.search(before) and _WORD.search(after)):  # there is no document without text
        yield ("old", before)
        yield ("new", after)
        return
    rows = compare(_document_of(before), _document_of(after))
    for row in rows:
        if not row.is_equal:
            yield from row.words_to_read()


def _document_of(text: str) -> Document:
    return Document(f"<article><p>{escape(text)}</p></article>")


def _hidden(document: Document) -> Iterator[str]:
    """Yield what a text contains and its page does not show.

    Text in an invisible colour is none of it, since a build takes such colours out.
    """
    found: dict[str, None] = {}
    texts: list[str] = list(strings_in(document.article))
    for tag in tags_in(document.article):
        texts += map(str, tag.attrs.values())
        for name, sign in _UNSEEN.items():
            if tag.get(name):
                words = " ".join(islice(tag.stripped_strings, 3))[:60] or tag.name
                found[f"{words}{sign} {tag[name]}"] = None
    for character, count in Counter("".join(texts)).most_common():
        if _SHAPELESS.match(character) or unicodedata.category(character) in ("Cf", "Co", "Cn"):
            name = unicodedata.name(character, "")
            found[f"{count} U+{ord(character):04X} {name}".strip()] = None
    yield from islice(found, _MAX_HIDDEN)
    if len(found) > _MAX_HIDDEN:
        yield f"… {len(found) - _MAX_HIDDEN}"

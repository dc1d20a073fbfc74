"""Find what texts cite, as it is now or was in a commit: passages of pages and other files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from ..citation import Citation
    from ..html.document import Document
    from ..stale import StaleSource
    from ..text import Text
    from ..writer.sources.moved import Sections
    from ..writer.sources.retrieval import Sources
    from ..writer.sources.sources import Passage
    from ..writer.sources.staleness import CitedPassage


@dataclass
class CitedPassages:
    """Finds cited passages in the pages of a site, and in other sources of its writer.

    Only files that are cited are read, each once.
    """

    url: str
    """The address of the site, or an empty string."""

    pages: Sequence[File]
    docs_dir: Path

    sources: Callable[[], Sources] | None
    """Returns what the writer of the site can write texts from, or None if another writes them."""

    commit: str = ""
    """The commit that pages are read from; by default they are as they are now."""

    nav_title: Callable[[str], str] = lambda page: ""
    """Returns the title that the navigation gives to a page by its `src_uri`, or nothing."""

    _passages: dict[tuple[str, bool], Sequence[Passage]] = field(default_factory=dict)

    def citations(self, text: Text) -> list[Citation]:
        """Return what a text cites, as it was and as it is, without what a served writer has."""
        found = []
        for citation in text.citations():
            passages = self._find(citation)
            if passages is None:
                continue
            if passages:
                said = "\n\n".join(passage.text for passage in passages)
                found.append(citation.as_found(passages[0].title, said, passages[0].digest))
            else:
                found.append(citation.as_gone(self.url))
        return found

    def passage(self, citation: Citation) -> Passage | None:
        """Return the passage that a citation names, or its first part; None if it is gone."""
        passages = self._find(citation)
        return passages[0] if passages else None

    def stale(self, text: Text, document: Document | None = None) -> tuple[StaleSource, ...]:
        """Return those of the cited passages that are gone or have changed, and what that means.

        `document` is that of the text, if it is at hand.
        """
        citations = self.citations(text)
        if not any(citation.has_changed for citation in citations):
            return ()
        from ..html.document import document_or_none  # most texts are up to date
        from ..writer.sources.staleness import find_stale

        cited = [self._cited(text, citation) for citation in citations]
        return find_stale(text, document or document_or_none(text.html), cited)

    def of(self, text: Text) -> list[CitedPassage]:
        """Return what a text cites, with what it takes to judge changes and statements."""
        return [self._cited(text, citation) for citation in self.citations(text)]

    def _cited(self, text: Text, citation: Citation) -> CitedPassage:
        """Return a cited passage with what it takes to judge its changes."""
        from msgspec import structs

        from ..writer.sources.staleness import CitedPassage

        shown = citation.shown(self.url)
        moved = None
        if citation.has_changed and not citation.now:
            moved = self._find_moved(citation)
        if moved is not None:
            now = structs.replace(citation, title=moved.title, now=moved.text)
            shown_now = moved.link or moved.place
            return CitedPassage(now, shown, text.sources[citation.name], moved_to=shown_now)
        return CitedPassage(
            citation,
            shown,
            text.sources[citation.name],
            other_sections=partial(self._other_sections, citation),
        )

    def _find_moved(self, citation: Citation) -> Passage | None:
        """Return the passage that has at least half of what a passage said that is gone."""
        from ..writer.sources.moved import find_moved

        return find_moved(citation.before, self._sections)

    @cached_property
    def _sections(self) -> Sections:
        """The sections of all pages, to find what has moved."""
        from ..writer.sources.moved import with_triples

        found: list[Passage] = []
        for path in self._files:
            found += self._passages_in(path, is_page=True)
        return with_triples(found)

    def _other_sections(self, citation: Citation) -> list[str]:
        """Return what other sections say that can have what a passage has lost.

        Those are the sections of its page or file, and one of another page that has most of it now.
        """
        from ..writer.sources.moved import find_moved_part

        place = citation.shown(self.url)
        path = place.partition("#")[0]
        others = []
        for passage in self._passages_in(path, is_page=citation.is_page):
            if place != (passage.place or passage.link):
                others.append(passage)
        if citation.is_page:
            moved = find_moved_part(citation.before, citation.now, self._sections)
            others += [moved] if moved else []
        return [f"{passage.title}\n{passage.text}" for passage in others]

    def _find(self, citation: Citation) -> list[Passage] | None:
        """Return the parts of a passage, none if it is gone, or None if a served writer has it."""
        if citation.is_page:
            is_of_site = bool(self.url) and citation.name.startswith(self.url)
        else:
            is_of_site = self.sources is not None
        if not is_of_site:
            return None
        path_with_anchor = citation.shown(self.url)
        path = path_with_anchor.partition("#")[0]
        found = []
        for passage in self._passages_in(path, is_page=citation.is_page):
            if path_with_anchor == (passage.place or passage.link):
                found.append(passage)
        return found

    def _passages_in(self, path: str, *, is_page: bool) -> Sequence[Passage]:
        """Return the passages of a page, or of a file that is not a page, which is read once."""
        name = path, is_page  # a page and a file can have the same path
        if name not in self._passages:
            self._passages[name] = self._read(path, is_page=is_page)
        return self._passages[name]

    @cached_property
    def _files(self) -> dict[str, File]:
        return {link_of(file): file for file in self.pages}

    def _read(self, path: str, *, is_page: bool) -> Sequence[Passage]:
        """Return the passages of a page, or of a file that is not a page."""
        from ..writer.sources.sources import split_passages

        if not is_page:
            if self.sources is None:
                return ()
            if self.commit:
                return self._read_committed_file(self.sources(), path)
            return self.sources().passages_of(path)
        file = self._files.get(path)
        if self.commit:
            return self._read_committed(path, file)
        if file is None:
            return ()
        title = self.nav_title(file.src_uri)
        return list(split_passages(file.content_string, file.src_uri, path, nav_title=title))

    def _read_committed_file(self, sources: Sources, place: str) -> Sequence[Passage]:
        """Return the passages that a file had in the commit, none if it was not there."""
        from ..git import file_at
        from ..writer.sources.sources import MAX_FILE, file_at_place, passages_in

        file = file_at_place(sources.paths, place)
        if file is None:
            return ()
        try:
            content = file_at(file.location.path, self.commit, MAX_FILE)
            return passages_in(file, content.decode("utf-8", "replace")) if content else ()
        except OSError:  # it is too long or no text, and no source now either
            return ()

    def _read_committed(self, path: str, file: File | None) -> Sequence[Passage]:
        """Return the passages that a page had in the commit, none if it was not there."""
        from ..git import file_at
        from ..writer.sources.sources import MAX_FILE, page_files, split_passages

        names = [file.src_uri] if file else page_files(path)
        for name in names:
            try:
                content = file_at(self.docs_dir / name, self.commit, MAX_FILE)
            except OSError:  # it is too long, and no source now either
                content = None
            if content is not None:
                text = content.decode("utf-8", "replace")
                title = self.nav_title(name)
                return list(split_passages(text, name, path, nav_title=title))
        return ()


def link_of(page: File) -> str:
    """Return the path of a page in the site, as links to sources have it."""
    return "" if page.url in ("", ".", "./") else page.url

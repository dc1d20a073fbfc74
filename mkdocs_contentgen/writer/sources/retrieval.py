"""Find the passages of the sources that suit a topic, with SQLite's full-text search.

Words are searched for, and no embeddings: an author who writes a topic uses the words of the site,
where names of options and commands matter most, and nothing has to be downloaded or asked. BM25
ranks a passage high if it has the rare words of the topic, and a word in the title counts twice.
The index is kept in memory, and made again if a file has changed, so that no file of an index can
be out of date.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from ...display import did_you_mean
from ...globs import Glob, is_glob
from ...language.words import separate_words, split_words
from .sources import (
    Location,
    Passage,
    SitePages,
    SourceFile,
    file_states,
    find_files,
    read_around,
    read_sources,
)

MAX_FOUND = 8
"""Passages that a search finds, which are those for a text."""

MAX_SOURCE_CHARACTERS = 10_000
"""Characters of all passages for a text, about 2,500 tokens."""

MAX_FILES_OF_GLOB = 500
"""Files that a glob in a request can stand for."""

_MAX_TERMS = 60
"""Words of a topic that are searched for."""


class Sources:
    """The files and folders in `paths`. Of the folders of a `site`, its pages are read.

    `option` is the name of the option that has the paths, for messages.

    The files are read when they are first searched, and again when one has changed.
    """

    def __init__(
        self,
        paths: Sequence[Location] = (),
        site: SitePages | None = None,
        option: str = "writer.sources",
    ) -> None:
        self.paths = paths
        self._option = option
        self.warnings: list[str] = []
        self._site = site
        self._index: Index | None = None
        self._left_out: list[str] = []
        self._states_read: tuple[tuple[Path, int, int], ...] = ()
        """Path, time and size of the files in the index."""

        self._lock = threading.Lock()

    def search(self, topic: str, names: Sequence[str] = ()) -> list[Passage]:
        """Return the passages of the named files, and those that suit a topic best.

        A name is the path of a file, or a glob.

        Any thread may call this. Afterwards, `warnings` has a message if files are left out.
        """
        search_now = self.searcher(names)
        return search_now(topic)

    def searcher(self, names: Sequence[str] = ()) -> Callable[[str], list[Passage]]:
        """Return a function that searches the files as they are now, for any number of topics.

        So a thousand files are looked at for changes once, which takes longer than a search.
        """
        files = self._named() if names else {}
        chosen: dict[SourceFile, None] = {}  # in their order, each once
        for name in names:
            chosen |= dict.fromkeys(_chosen(name, files))
        named, left_out = read_sources(chosen)
        # Named files that are too long for a prompt are searched for what suits the topic.
        has_room_for_named = len(_within_limits(named)) == len(named)
        index_of_named = None if has_room_for_named else Index(named)
        with self._lock:
            index = self._newest_index()
            left_out = [*self._left_out, *left_out]
            self.warnings = []
            if left_out:
                self.warnings.append(
                    f"{self._option}: files left out: {len(left_out)}, such as {left_out[0]}"
                )

        def search(topic: str) -> list[Passage]:
            with self._lock:
                found_in_named = index_of_named.search(topic) if index_of_named else []
                found = index.search(topic)
            first = found_in_named or named
            others = [passage for passage in found if passage not in first]
            room_for_others = max(0, MAX_FOUND - len(first))
            return _within_limits([*first, *others[:room_for_others]])

        return search

    def _newest_index(self) -> Index:
        """Return the index of the files, made again if one has changed. Called with the lock."""
        files = [file for file in find_files(self.paths, self._site) if file.is_searched]
        states = file_states(files)
        if self._index is None or states != self._states_read:
            passages, self._left_out = read_sources(files)
            self._index = Index(passages)
            self._states_read = states
        return self._index

    def passages_of(self, name: str) -> list[Passage]:
        """Return the passages of a file that a request can name; none if there is no such file."""
        file = self._named().get(name)
        if not file:
            return []
        return read_sources([file])[0]

    def text_around(self, page: str) -> str:
        """Return the Markdown around the articles of a page, or an empty string without any.

        `page` is its path in the directory of pages. One that another plugin makes has no file.
        """
        if self._site and page:
            return read_around(self._site.docs, page)
        return ""

    def problem(self, name: str) -> str:
        """Return why a text cannot be written from a page or a file, or an empty string.

        `name` can be a glob, of whose files one has to be readable.
        """
        known = self._named()
        files = _chosen(name, known)
        if not files:
            near = did_you_mean(name, known)
            if near:
                return f"is not a source{near}"
            return (
                "is not a source; name a page that the site publishes, by its path in docs_dir, or "
                f"add the file to {self._option} (of a folder there, Markdown, text and code are "
                "sources)"
            )
        if len(files) > MAX_FILES_OF_GLOB:
            return f"matches more than {MAX_FILES_OF_GLOB} files; name fewer"
        reason = "it has no text for others to read"
        for file in files:
            passages, left_out = read_sources([file])
            if passages:
                return ""
            if left_out:
                reason = left_out[0]
        return f"cannot be read: {reason}"

    def _named(self) -> dict[str, SourceFile]:
        """Return the files that a request can name, by that name."""
        files = {}
        for file in find_files(self.paths, self._site):
            is_page_of_site = self._site is not None and file.page is not None
            if not is_page_of_site:
                files[file.place] = file
        if self._site:
            for page in self._site.files():
                files[page.name] = page
        return files


class Index:
    """The passages of the sources, in memory. Used by one thread at a time."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self.passages = list(passages)
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(
            "CREATE VIRTUAL TABLE passages USING fts5(title, text, content='', tokenize='porter')"
        )
        rows = []
        for number, passage in enumerate(self.passages):
            rows.append((number, _indexed(passage.title), _indexed(passage.text)))
        self._database.executemany(
            "INSERT INTO passages (rowid, title, text) VALUES (?, ?, ?)", rows
        )

    def search(self, topic: str) -> list[Passage]:
        """Return the passages that suit a topic best, the best first."""
        terms = list(dict.fromkeys(split_words(topic)))[:_MAX_TERMS]
        if not terms or not self.passages:
            return []
        quoted_terms = ['"{}"'.format(term.replace('"', '""')) for term in terms]
        query = " OR ".join(quoted_terms)
        rows = self._database.execute(
            "SELECT rowid FROM passages WHERE passages MATCH ? "
            "ORDER BY bm25(passages, 2.0, 1.0) LIMIT ?",
            (query, MAX_FOUND),
        ).fetchall()
        return [self.passages[number] for (number,) in rows]

    def __del__(self) -> None:
        self._database.close()


def _indexed(text: str) -> str:
    """Return a text as the index takes it: without unpaired surrogates, as an escape makes them.

    The tokenizer would take a Chinese sentence for one word.
    """
    return separate_words(text).encode("utf-8", "replace").decode()


def _chosen(name: str, files: Mapping[str, SourceFile]) -> list[SourceFile]:
    """Return the files that a path or a glob stands for: at most MAX_FILES_OF_GLOB, and one more.

    `files` are those that can be named, by their names.
    """
    file = files.get(name)
    if file:
        return [file]
    if not is_glob(name):
        return []
    glob = Glob(name)
    matching = (files[path] for path in sorted(files) if glob.matches(path))
    return list(islice(matching, MAX_FILES_OF_GLOB + 1))


def _within_limits(found: Iterable[Passage]) -> list[Passage]:
    """Return the passages that have room."""
    passages = []
    left = MAX_SOURCE_CHARACTERS
    for passage in found:
        size = len(passage.title) + len(passage.text)
        if size <= left:
            passages.append(passage)
            left -= size
    return passages

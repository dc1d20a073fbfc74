"""Name the people who edited the blocks of a file, with the help of git."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path

from msgspec import structs

from ..display import hidden_character
from ..errors import UnsafeHTMLError
from ..git import committed_lines, user_name
from ..text import MAX_EDIT, Text
from ..texts.approved_dir import read_lines
from ..texts.approved_file import SOMEBODY, words_by_digest
from ..texts.articles import Article

_TAG = re.compile(r"<[^<>]*>")

_MIN_PART_WORDS = 3
"""Words of a line that is a part of a block: fewer can stand in any block."""


def with_authors(article: Article) -> Article:
    """Return an article whose blocks that were edited in its file name who git says it was."""
    approved = article.approved
    if approved is None or not _is_by_somebody(approved.text):
        return article
    named = name_authors(approved.text, article.path, article.directory)
    return replace(article, approved=replace(approved, text=named))


def _is_by_somebody(text: Text) -> bool:
    return bool(text.edits and SOMEBODY in text.edits.changed_by.values())


def name_authors(text: Text, path: Path, directory: Path) -> Text:
    """Return a text that names the authors of the lines of its file in place of somebody.

    `directory` is that of the approved files.
    """
    edits = text.edits
    if edits is None or not _is_by_somebody(text):
        return text
    lines = _line_authors(path, directory)
    try:
        words = words_by_digest(text.html)
    except UnsafeHTMLError:
        return text
    changed_by: dict[str, str] = {}
    for digest, name in edits.changed_by.items():
        if name == SOMEBODY:
            name = _author_of(words.get(digest, ""), lines)
        changed_by[digest] = name
    return structs.replace(text, edits=structs.replace(edits, changed_by=changed_by))


def _line_authors(path: Path, directory: Path) -> list[tuple[str, str]]:
    """Return each line of a file as it is now, and who wrote it; nothing if git cannot tell.

    Lines that are not committed yet are by the person who works here, or by nobody (an empty
    string) if git knows no name.
    """
    committed = committed_lines(path)
    if not committed:
        return []
    person = user_name(path.parent)
    authors = {}
    for line in committed:
        authors[line.text.rstrip()] = line.commit.author.name if line.commit else ""
    found = []
    for text in read_lines(path, directory):
        found.append((text, authors.get(text.rstrip(), person)))
    return found


def _author_of(words: str, lines: Sequence[tuple[str, str]]) -> str:
    """Return who wrote a block: the author of its line, or of the first line of it."""
    author_of_part = ""
    for line, author in lines:
        said = " ".join(unescape(_TAG.sub("", line)).split())
        if said and said == words:
            return _usable(author)
        # Editors break long lines.
        if not author_of_part and said in words and len(said.split()) >= _MIN_PART_WORDS:
            author_of_part = author
    return _usable(author_of_part)


def _usable(name: str) -> str:
    """Return a name of git if it can stand in a file, or else `SOMEBODY`."""
    name = name.strip()[:MAX_EDIT]
    if not name or hidden_character(name):
        return SOMEBODY
    return name

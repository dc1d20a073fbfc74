"""Collect what a reviewer of a pull request needs: what changed, what is to be checked, by whom.

`report_markdown` writes it for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..errors import ApprovalError, UnsafeHTMLError
from ..files import read_text
from ..git import changed_files
from ..html.differences import Row, compare
from ..html.document import Document
from ..site.site import Site
from ..text import Text
from ..texts.approved_dir import read_committed
from ..texts.approved_file import ApprovedText
from ..texts.articles import Article
from .earlier import approved_in_git
from .sentences_to_check import SentenceToCheck, sentences_to_check
from .vouching import Doubt, doubts_about

_MAX_SOURCE = 1_000_000
"""Characters of a source that are searched for the line of a passage."""

_LEAST_LINE = 20
"""Characters of a line that says where a passage begins; shorter ones stand in many places."""


@dataclass(frozen=True)
class PlacedPassage:
    """A passage of a source, and where it stands."""

    title: str
    text: str
    file: str
    """The path that a person reads."""

    path: Path | None = None
    """The file, or None if it is none of the project."""

    line: int | None = None
    """The number of the line that the passage begins in, if it is known."""


@dataclass(frozen=True)
class PlacedSentence:
    """A sentence to check or to read, as in SentenceToCheck, with the places of its evidence."""

    text: str
    has_statements: bool
    evidence: tuple[PlacedPassage, ...]
    has_sources: bool


@dataclass(frozen=True)
class TextReport:
    """What a reviewer should know of one text."""

    article: Article
    before: Text | None = None
    """The text that it is compared with, or None for a new one."""

    rows: tuple[Row, ...] = ()
    """What differs from the text before."""

    sentences: tuple[PlacedSentence, ...] = ()
    problem: str = ""
    """Why the text cannot be shown, or an empty string."""

    approved_by: str = ""
    """Who a new approval names, or an empty string if there is none."""

    doubts: tuple[Doubt, ...] = ()
    """What git says against that the person named has made a new approval."""

    @property
    def is_to_review(self) -> bool:
        """Whether somebody has to do something about the text."""
        return not self.article.newest_is_approved

    @property
    def has_doubtful_approval(self) -> bool:
        """Whether git says something against a new approval."""
        return bool(self.doubts)


def report_texts(site: Site, articles: Sequence[Article], base: str = "") -> list[TextReport]:
    """Return what there is to review, and with the commit `base` what has changed since.

    Without `base`, texts are compared with what was approved before.
    """
    changed = changed_files(site.directory, base) if base else set()
    places = _PassagePlaces(site)
    found = []
    for article in articles:
        if _is_reported(article, site, changed, base):
            found.append(_report(site, article, base, places))
    return found


def _is_reported(article: Article, site: Site, changed: set[Path], base: str) -> bool:
    """Tell whether a report has a text: it is to be reviewed, or has changed since `base`."""
    if not base:
        return not article.newest_is_approved
    files = [article.path, article.own_path]
    if article.source_path:
        files.append(site.directory / article.source_path)
    return any(_is_among(file, changed) for file in files)


def _is_among(file: Path, changed: set[Path]) -> bool:
    """Tell whether a file has changed, or a directory above it, which may be a submodule now."""
    for path in (file, file.resolve()):
        if path in changed or not changed.isdisjoint(path.parents):
            return True
    return False


class _Before(NamedTuple):
    """What a reviewer compares a text with, and what is new about its approval."""

    text: Text | None
    """The text before, or None for a new one."""

    approved_by: str = ""
    """Who an approval names that was not there before."""

    doubts: tuple[Doubt, ...] = ()
    """What git says against that approval."""


def _report(site: Site, article: Article, base: str, places: _PassagePlaces) -> TextReport:
    """Return the report of one text."""
    text = article.newest
    if article.damaged or text is None:
        return TextReport(article, problem=article.reason)
    if base:
        before = _before_commits_since(base, article)
    else:
        before = _before_draft(article)
    try:
        rows = _differences(site, before.text, text)
        sentences = []
        for sentence in sentences_to_check(site, article, text):
            sentences.append(_placed(sentence, places))
    except UnsafeHTMLError as error:
        return TextReport(article, problem=f"no build can show this text: {error}")
    return TextReport(
        article,
        before.text,
        rows,
        tuple(sentences),
        approved_by=before.approved_by,
        doubts=before.doubts,
    )


def _before_draft(article: Article) -> _Before:
    """Return what was approved of a text before its newest version, which waits for a review."""
    if article.approved and article.has_newer_draft:
        return _Before(article.approved.text)
    return _Before(approved_in_git(article))


def _before_commits_since(base: str, article: Article) -> _Before:
    """Return what the file of a text had in the commit `base`, and the approval since."""
    earlier = _version_at(article, base)
    text = None
    if earlier is not None:
        text = earlier.text
    approval = article.approval
    if approval is None or article.state != "approved":
        return _Before(text)
    if earlier and earlier.approval == approval:
        return _Before(text)
    return _Before(text, approval.approved_by, doubts_about(article, datetime.now(UTC)))


def _version_at(article: Article, commit: str) -> ApprovedText | None:
    """Return the file of a text in a commit, or None if it was not there or cannot be read."""
    try:
        return read_committed(article.path, commit)
    except ApprovalError:
        return None


def _differences(site: Site, before: Text | None, after: Text) -> tuple[Row, ...]:
    """Return what differs between two versions of a text. Raises UnsafeHTMLError."""
    if before is None:
        return ()
    hosts = site.options.image_hosts
    rows = compare(Document(before.html, hosts), Document(after.html, hosts), marks=False)
    return tuple(row for row in rows if not row.is_equal)


class _PassagePlaces:
    """Finds the files and lines of passages; each file is read once."""

    def __init__(self, site: Site) -> None:
        self._directory = site.directory.absolute()
        self._docs = Path(site.config.docs_dir).absolute()
        self._lines_of = cache(self._read_lines)

    def find(self, name: str, passage: str) -> tuple[Path | None, int | None]:
        """Return the file that a person knows by this name, and the line of a passage in it."""
        for directory in (self._directory, self._docs):
            path = directory / name
            lines = self._lines_of(path)
            if lines:
                return path, _find_line(passage, lines)
        return None, None

    def _read_lines(self, path: Path) -> Sequence[str]:
        try:
            return read_text(path, self._directory, _MAX_SOURCE).splitlines()
        except (OSError, ValueError):  # as for a source that is not a file of this project
            return ()


def _find_line(passage: str, lines: Iterable[str]) -> int | None:
    """Return the number of the line that a passage begins in, or None."""
    words = passage.strip()
    if not words:
        return None
    start = words.splitlines()[0].strip()
    for number, line in enumerate(lines, start=1):
        said = line.strip()
        # A passage joins the lines of a paragraph, and may begin within one.
        is_first_of_several = len(said) >= _LEAST_LINE and start.startswith(said)
        if start in said or is_first_of_several:
            return number
    return None


def _placed(sentence: SentenceToCheck, places: _PassagePlaces) -> PlacedSentence:
    """Return a sentence whose evidence says in which line it stands."""
    passages = []
    for evidence in sentence.evidence:
        passage = evidence.passage
        path, line = places.find(passage.file, passage.text)
        line = passage.line or line  # that of a symbol, whose text is not that of its lines
        passages.append(PlacedPassage(passage.title, passage.text, passage.file, path, line))
    return PlacedSentence(
        sentence.text, sentence.has_statements, tuple(passages), sentence.has_sources
    )

"""Find and read the files of `approved_dir`, on the disk, in commits, and kept in the cache.

No other module reads them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import ApprovalError
from ..files import cure_of, normal_form, read_bytes, reason_of
from ..git import content_at, file_at
from ..page_request import PageRequest
from ..requests import Request
from .approved_file import MAX_FILE, ApprovedText, decode_file

ArticleName = tuple[str, str]
"""The page of an article (`src_uri`), and its id."""


def approved_path(directory: Path, page: str, article_id: str) -> Path:
    """Return the path of the approved file for an article of a page (`src_uri`)."""
    return directory / page / f"{article_id}.html"


def read_approved(path: Path, directory: Path) -> ApprovedText | None:
    """Read the approved file `path` below `directory`. Return None if it does not exist.

    Raises ApprovalError, with file and line, for a damaged file.
    """
    content = read_content(path, directory)
    return None if content is None else decode_file(content, path)


def read_content(path: Path, directory: Path) -> bytes | None:
    """Return the content of the approved file `path`, or None if it does not exist.

    Raises ApprovalError if it cannot be read.
    """
    try:
        return read_bytes(path, directory, MAX_FILE)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ApprovalError(
            f"{path}: cannot be read ({reason_of(error)}){cure_of(error)}"
        ) from error


def read_committed(path: Path, revision: str = "HEAD") -> ApprovedText | None:
    """Read the approved file `path` as it was in a commit. Return None if it was not there.

    Raises ApprovalError for a damaged file.
    """
    return _decode_committed(lambda: file_at(path, revision, MAX_FILE), path)


def read_in_repository(top: Path, name: str, revision: str) -> ApprovedText | None:
    """Read an approved file as it was in a commit, as read_committed(), by its path in `top`."""
    return _decode_committed(lambda: content_at(top, name, revision, MAX_FILE), Path(name))


def read_kept(content: str) -> ApprovedText:
    """Read an approved file that the cache has kept. Raises ApprovalError for a damaged file."""
    return decode_file(content.encode(), Path("kept file"))


def _decode_committed(read: Callable[[], bytes | None], path: Path) -> ApprovedText | None:
    try:
        content = read()
    except OSError as error:
        raise ApprovalError(
            f"{path}: cannot be read ({reason_of(error)}){cure_of(error)}"
        ) from error
    return None if content is None else decode_file(content, path)


def read_lines(path: Path, directory: Path) -> list[str]:
    """Return the lines of the approved file `path` as they are now, or none if it is not there.

    Lines that are damaged or too many are not told apart: read_approved() says so.
    """
    try:
        content = read_bytes(path, directory, MAX_FILE)
    except (OSError, ValueError):
        return []
    return content.decode("utf-8", "replace").split("\n")


@dataclass(frozen=True)
class ApprovedFiles:
    """The approved files of a site."""

    directory: Path = Path()

    texts: dict[ArticleName, ApprovedText | ApprovalError] = field(default_factory=dict)
    """The texts by article, or the errors of damaged files."""

    moved: dict[ArticleName, Path] = field(default_factory=dict)
    """Files at another path than the page's: that of a former name of the page, found by their
    request, or one that looks the same and has other code points."""

    unclaimed: list[Path] = field(default_factory=list)
    """Files that belong to no article."""


def read_all(
    page_requests: Iterable[PageRequest],
    directory: Path,
    *,
    others: Collection[str] = (),
    files: Iterable[Path] | None = None,
) -> ApprovedFiles:
    """Read the approved files of the articles that pages ask for.

    An article without a file gets the file of a removed page with the same request. `others` are
    existing pages (`src_uri`) that are not among them; their files are left alone. `files` are
    those to consider beside the articles' own, by default all in the directory.
    """
    search = _FileSearch(directory)
    own_paths = {search.read_own_file(page_request) for page_request in page_requests}
    listed = list_files(directory) if files is None else files
    remaining = [path for path in listed if path not in own_paths]
    if not remaining:  # Zensical calls this for each page
        return search.found
    remaining = search.claim_by_normal_form(remaining)
    left_alone = {normal_form(page) for page in others}
    for path in remaining:
        page = path.parent.relative_to(directory).as_posix()
        if normal_form(page) not in left_alone:
            search.claim_by_request(path)
    return search.found


class _FileSearch:
    """Finds the file of each article: its own first, then another one for an article without."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.found = ApprovedFiles(directory)
        self._missing: dict[ArticleName, Request] = {}
        """The requests of the articles for which no file was found yet."""

    def read_own_file(self, page_request: PageRequest) -> Path:
        """Read the file of an article where it has to be, if it is there, and return its path."""
        article = page_request.page, page_request.request.id
        path = approved_path(self._directory, *article)
        text = self._read(path)
        if text is None:
            self._missing[article] = page_request.request
        else:
            self.found.texts[article] = text
        return path

    def claim_by_normal_form(self, paths: Iterable[Path]) -> list[Path]:
        """Give files to articles whose own path looks the same, and return the others.

        File systems and archives rename `é` from one code point to two, or back.
        """
        articles = {}
        for article in self._missing:
            articles[normal_form(approved_path(self._directory, *article))] = article
        left = []
        for path in paths:
            article_found = articles.pop(normal_form(path), None)
            if article_found is None:
                left.append(path)
                continue
            text = self._read(path)
            if text is not None:  # it has not gone since it was listed
                self._claim(path, article_found, text)
        return left

    def claim_by_request(self, path: Path) -> None:
        """Give a file to the first article that it was approved for, or to none."""
        # Of a damaged file, nobody knows for which request it was approved.
        text = self._read(path) if self._missing else None
        if isinstance(text, ApprovedText):
            for article, request in self._missing.items():
                if text.was_made_for(request):
                    self._claim(path, article, text)
                    return
        self.found.unclaimed.append(path)

    def _claim(self, path: Path, article: ArticleName, text: ApprovedText | ApprovalError) -> None:
        del self._missing[article]
        self.found.moved[article] = path
        self.found.texts[article] = text

    def _read(self, path: Path) -> ApprovedText | ApprovalError | None:
        """Return the text of a file, the error if it is damaged, or None if there is no file."""
        try:
            return read_approved(path, self._directory)
        except ApprovalError as error:
            return error


def list_files(directory: Path) -> list[Path]:
    """Return the paths of all approved files."""
    found = []
    for folder, _, names in os.walk(directory):
        if folder.endswith(".md"):  # the folder of a page
            for name in names:
                if name.endswith(".html"):
                    found.append(Path(folder, name))
    return sorted(found)

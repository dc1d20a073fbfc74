"""What the writer of approved files does not overwrite, and what it keeps before it writes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from approved_texts import NEWER, TEXT, approve, edited_file, propose, save_approved

from mkdocs_contentgen.errors import StoreError
from mkdocs_contentgen.files import locked, sha256
from mkdocs_contentgen.texts.approved_dir import read_approved
from mkdocs_contentgen.texts.approved_writer import restore_file
from mkdocs_contentgen.texts.file_to_write import FileChangedError
from mkdocs_contentgen.texts.store import DiskStore, Kept


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of an approved file."""
    return tmp_path / "page.md/main.html"


def test_the_file_counts_as_it_is_under_the_lock(path: Path) -> None:
    """What somebody writes while an approval waits for the lock is not overwritten."""
    directory = path.parents[1]
    save_approved(path, directory, propose(TEXT, "key", "writer"))
    seen = read_approved(path, directory)
    assert seen is not None
    agreed = seen.file_digest
    failures: list[FileChangedError] = []

    def approve_newer() -> None:
        try:
            new = approve(NEWER, "key", "writer", "Jo")
            save_approved(path, directory, new, before=seen, agreed=agreed)
        except FileChangedError as error:
            failures.append(error)

    with locked(directory):
        thread = threading.Thread(target=approve_newer)
        thread.start()
        path.write_text(path.read_text().replace("One.", "By hand."))
    thread.join()
    [failure] = failures
    assert failure.is_new
    assert [edit.words for edit in failure.edits] == ["By hand."]
    assert "By hand." in path.read_text()


class WatchedStore(DiskStore):
    """Notes what the file has when something is kept, and is full if it is told so."""

    def __init__(self, directory: Path, file: Path) -> None:
        super().__init__(directory)
        self.file = file
        self.kept: list[tuple[Kept, str]] = []
        self.is_full = False

    def keep(self, key: str, kept: Kept) -> None:
        """Note what is to be kept, and the content of the file then."""
        if self.is_full:
            raise StoreError("full")
        self.kept.append((kept, self.file.read_text()))


def test_what_is_replaced_is_kept_before(path: Path, tmp_path: Path) -> None:
    """It has the content before and the digest after; where it fails, nothing is written."""
    now = edited_file(path)
    content = path.read_text()
    new = approve(NEWER, "key", "writer", "Jo")
    store = WatchedStore(tmp_path / "cache", path)
    store.is_full = True
    directory = path.parents[1]
    with pytest.raises(StoreError):
        save_approved(path, directory, new, before=now, agreed=now.file_digest, store=store)
    assert path.read_text() == content
    store.is_full = False
    save_approved(path, directory, new, before=now, agreed=now.file_digest, store=store)
    [(kept, content_then)] = store.kept
    assert (kept.file, kept.after) == (content, sha256(path.read_bytes()))
    assert content_then == content


def test_only_what_was_written_is_taken_back(path: Path) -> None:
    """A file that somebody has edited since is neither restored nor deleted."""
    save_approved(path, path.parents[1], approve(TEXT, "key", "writer", "Jo"))
    written = read_approved(path, path.parents[1])
    path.write_text(path.read_text().replace("One.", "By hand."))
    for content in ("", "earlier"):
        with pytest.raises(FileChangedError, match=r"'By hand\.' by somebody"):
            restore_file(path, path.parents[1], content, before=written)
    assert "By hand." in path.read_text()

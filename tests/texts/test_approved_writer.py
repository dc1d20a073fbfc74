"""What the writer of approved files refuses to overwrite, and what it keeps before it writes."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from approved_texts import approve, propose, save_approved
from msgspec import structs

from mkdocs_contentgen.errors import StoreError
from mkdocs_contentgen.files import locked, sha256
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.approved_dir import read_approved
from mkdocs_contentgen.texts.approved_file import ApprovedText
from mkdocs_contentgen.texts.approved_writer import restore_file
from mkdocs_contentgen.texts.file_to_write import FileChangedError
from mkdocs_contentgen.texts.store import DiskStore, Kept

FIGURE = '<figure><img src="https://a.example/t.png" alt="{}"></figure>\n'
PICTURE = FIGURE.format("An image")
HTML = f"<article>\n<h1>T</h1>\n<p>One.</p>\n{PICTURE}<p>Two.</p>\n</article>\n"
TEXT = Text(HTML, datetime(2026, 11, 20, tzinfo=UTC), {})
NEWER = structs.replace(TEXT, html=HTML.replace("</article>", "<p>Three.</p>\n</article>"))
ORDER = "the order of the text, or the lists, tables and quotations in it by somebody"

EDITS = {
    "words": ("One.", "By hand.", "'By hand.' by somebody"),
    "a picture": ("An image", "A red house", "`alt` 'A red house' by somebody"),
    "a paragraph that was taken out": ("<p>Two.</p>\n", "", "'Two.', which was removed"),
    "the order": (
        f"<p>One.</p>\n{PICTURE}<p>Two.</p>",
        f"<p>Two.</p>\n{PICTURE}<p>One.</p>",
        ORDER,
    ),
    "a quotation": ("<p>Two.</p>", "<blockquote>\n<p>Two.</p>\n</blockquote>", ORDER),
    "a line": ("<p>Two.</p>", "<hr>\n<p>Two.</p>", ORDER),
    "a paragraph twice": ("<p>Two.</p>", "<p>Two.</p>\n<p>Two.</p>", ORDER),
    "a language": ("<article>", '<article lang="de">', ORDER),
}
"""What somebody changes in a file, by what, and what names it."""


def edited_file(path: Path, before: str = "One.", after: str = "By hand.") -> ApprovedText:
    """Propose a text, edit its file, and return what is in it."""
    save_approved(path, path.parents[1], propose(TEXT, "key", "writer"))
    path.write_text(path.read_text().replace(before, after))
    found = read_approved(path, path.parents[1])
    assert found is not None
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of an approved file."""
    return tmp_path / "page.md/main.html"


@pytest.mark.parametrize("what", EDITS)
@pytest.mark.parametrize("make", [propose, approve])
def test_human_edits_are_not_overwritten(path: Path, what: str, make: object) -> None:
    """Neither a proposal nor an approval loses them, unless a person has agreed to that."""
    before, after, named = EDITS[what]
    now = edited_file(path, before, after)
    new = propose(NEWER, "key", "writer")
    if make is approve:
        new = approve(NEWER, "key", "writer", "Jo")
    content = path.read_bytes()
    with pytest.raises(FileChangedError) as raised:
        save_approved(path, path.parents[1], new, before=now)
    assert named in str(raised.value)
    assert path.read_bytes() == content
    with pytest.raises(FileChangedError):  # that was said of another file
        save_approved(path, path.parents[1], new, before=now, agreed=sha256("another"))
    save_approved(path, path.parents[1], new, before=now, agreed=now.file_digest)
    assert path.read_bytes() != content


@pytest.mark.parametrize("what", EDITS)
def test_a_text_that_has_the_edits_is_written(path: Path, what: str) -> None:
    """Then nothing is lost, and nobody has to agree."""
    before, after, _ = EDITS[what]
    now = edited_file(path, before, after)
    newer = structs.replace(NEWER, html=NEWER.html.replace(before, after))
    save_approved(path, path.parents[1], approve(newer, "key", "writer", "Jo"), before=now)


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

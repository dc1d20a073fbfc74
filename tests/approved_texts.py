"""Approves, proposes and writes texts for tests: each takes a text, and reads it first."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from mkdocs_contentgen.html.document import ReadText, document_of
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts import approved_writer, file_to_write
from mkdocs_contentgen.texts.approved_dir import read_approved
from mkdocs_contentgen.texts.approved_file import ApprovedText
from mkdocs_contentgen.texts.store import DiskStore, Kept

FIGURE = '<figure><img src="https://a.example/t.png" alt="{}"></figure>\n'
PICTURE = FIGURE.format("An image")
HTML = f"<article>\n<h1>T</h1>\n<p>One.</p>\n{PICTURE}<p>Two.</p>\n</article>\n"
TEXT = Text(HTML, datetime(2026, 11, 20, tzinfo=UTC), {})
NEWER = structs.replace(TEXT, html=HTML.replace("</article>", "<p>Three.</p>\n</article>"))


def approve(
    text: Text,
    key: str,
    service: str,
    by: str,
    declined: datetime | None = None,
    unchecked: tuple[str, ...] = (),
) -> ApprovedText:
    """Return a text that a person approves now."""
    read = ReadText(text, document_of(text.html))
    return file_to_write.approve(read, key, service, by, declined, unchecked)


def propose(text: Text, key: str, service: str) -> ApprovedText:
    """Return a text as its file has it until somebody approves it."""
    return file_to_write.propose(ReadText(text, document_of(text.html)), key, service)


def save_approved(
    path: Path,
    directory: Path,
    approved: ApprovedText,
    *,
    before: ApprovedText | None = None,
    agreed: str = "",
    store: DiskStore | None = None,
) -> None:
    """Write an approved file in place of the one that was read `before`."""
    file = file_to_write.file_to_write(
        path,
        directory,
        approved,
        document_of(approved.text.html),
        before=before,
        kept=Kept("", page=path.parent.name, act="approve", by="Jo"),
        agreed=agreed,
    )
    approved_writer.write_file(file, store)


def edited_file(path: Path, before: str = "One.", after: str = "By hand.") -> ApprovedText:
    """Propose a text, edit its file, and return what is in it."""
    save_approved(path, path.parents[1], propose(TEXT, "key", "writer"))
    path.write_text(path.read_text().replace(before, after))
    found = read_approved(path, path.parents[1])
    assert found is not None
    return found

"""Write approved files, and put earlier ones back. No other module writes files of `approved_dir`.

A file counts as it is under the lock: what somebody has written there since it was read stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from ..errors import ApprovalError
from ..files import cure_of, locked, refuse_links, replace_text
from ..html.document import document_or_none
from .approved_dir import read_approved, read_content
from .approved_file import ApprovedText, content_digest
from .file_to_write import FileChangedError, FileToWrite
from .human_edits import HumanEdit, edits_lost_in

if TYPE_CHECKING:
    from .store import DiskStore


def write_file(file: FileToWrite, store: DiskStore | None) -> None:
    """Write an approved file atomically, if the one that it replaces is as it was read.

    `store` keeps what is replaced just before that, under the lock; it is None where that is kept
    elsewhere. Raises FileChangedError if somebody has changed the file, ApprovalError, and
    StoreError. Then, nothing changes.
    """
    try:
        with locked(file.directory):
            content_before = _read_unchanged(file.path, file.directory, file.before)
            if store is not None:
                store.keep(file.key, structs.replace(file.kept, file=content_before))
            replace_text(file.path, file.directory, file.content)
    except OSError as error:
        raise _write_error(file.path, error) from error


def restore_file(path: Path, directory: Path, content: str, *, before: ApprovedText | None) -> None:
    """Put an earlier content of an approved file back, or delete it if `content` is empty.

    Raises FileChangedError if the file is not as it was `before`, and ApprovalError.
    """
    try:
        with locked(directory):
            _read_unchanged(path, directory, before)
            if content:
                replace_text(path, directory, content)
            else:
                refuse_links(path, directory)
                path.unlink(missing_ok=True)
    except OSError as error:
        raise _write_error(path, error) from error


def _read_unchanged(path: Path, directory: Path, before: ApprovedText | None) -> str:
    """Return the content of a file that is as it was before, empty if there is none.

    Raises FileChangedError for another, which names what people have written since then, and
    ApprovalError.
    """
    content = read_content(path, directory)
    if content is None and before is None:
        return ""
    if content and before and content_digest(content) == before.file_digest:
        return content.decode()
    now = read_approved(path, directory)
    edits: list[HumanEdit] = []
    if now is not None and before is not None:
        edits = edits_lost_in(now, document_or_none(before.text.html))
    raise FileChangedError(path, now, edits, is_new=True)


def _write_error(path: Path, error: OSError) -> ApprovalError:
    return ApprovalError(f"{path}: cannot be written ({error.strerror}){cure_of(error)}")

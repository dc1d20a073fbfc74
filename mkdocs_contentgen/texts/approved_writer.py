"""Approve or propose a text, and write its file. No other module writes files of `approved_dir`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec
import yaml
from msgspec import structs

from ..errors import ApprovalError
from ..files import locked, read_text, refuse_links, replace_text, sha256
from ..html.document import Document, document_or_none
from ..text import Text, within_limits
from .approved_dir import read_approved
from .approved_file import (
    MAX_FILE,
    Approval,
    ApprovedText,
    DamagedError,
    Proposal,
    block_digests,
    check_header_length,
    check_html,
    decode,
    digest,
)
from .human_edits import HumanEdit, named_edits
from .read_text import ReadText


class FileChangedError(ApprovalError):
    """The file has human edits that its new text would lose, so it was not written.

    Either somebody has edited it since it was read (`is_new`), or nobody has agreed to lose them.
    """

    def __init__(
        self, path: Path, now: ApprovedText | None, edits: Sequence[HumanEdit], *, is_new: bool
    ) -> None:
        self.path = path
        self.now = now
        self.edits = tuple(edits)
        self.is_new = is_new
        super().__init__(self._message())

    def _message(self) -> str:
        named = named_edits(self.edits)
        if self.is_new:
            what = f": {named}" if named else ""
            return (
                f"{self.path}: has just been edited or approved by somebody else, so it is not "
                f"changed; look at it first{what}"
            )
        return f"{self.path} has human edits that the new text does not have: {named}"


Keep = Callable[[str, str], None]
"""Keeps the content of a file that is about to be replaced; an empty one if there is no file yet.
The second argument is the SHA-256 of the content that replaces it. It may raise StoreError."""


def save_approved(
    path: Path,
    directory: Path,
    approved: ApprovedText,
    *,
    before: ApprovedText | None = None,
    agreed: str = "",
    keep: Keep = lambda content, after: None,
) -> None:
    """Write an approved file atomically, if it is as it was `before`, or new with None.

    `agreed` is the `file_digest` of a file of which is known that nothing is lost that people wrote
    there, or that a person has agreed to that. `keep` is called just before the file is replaced,
    under its lock.

    Raises FileChangedError if somebody has changed the file, or if human edits would be lost and
    nobody has agreed. Raises ApprovalError, also if it would not be read as the same text. Then,
    nothing changes.
    """
    try:
        content = _encode(approved)
    except DamagedError as error:
        raise ApprovalError(
            f"{path}: cannot be written, since no build could read it ({error})"
        ) from error
    try:
        with locked(directory):
            _check_as_before(path, directory, before)
            lost: list[HumanEdit] = []
            if before is not None and before.file_digest != agreed:
                lost = before.edits_lost_in(approved.document)
            if lost:
                raise FileChangedError(path, before, lost, is_new=False)
            keep(_content_of(path, directory), sha256(content))
            replace_text(path, directory, content)
    except OSError as error:
        raise _write_error(path, error) from error


def restore_file(path: Path, directory: Path, content: str, *, before: ApprovedText | None) -> None:
    """Put an earlier content of an approved file back, or delete it if `content` is empty.

    Raises FileChangedError if the file is not as it was `before`, and ApprovalError.
    """
    try:
        with locked(directory):
            _check_as_before(path, directory, before)
            if content:
                replace_text(path, directory, content)
            else:
                refuse_links(path, directory)
                path.unlink(missing_ok=True)
    except OSError as error:
        raise _write_error(path, error) from error


def _check_as_before(path: Path, directory: Path, before: ApprovedText | None) -> None:
    """Raise FileChangedError unless a file is as it was before. Raises ApprovalError.

    It names what people have written since then.
    """
    now = read_approved(path, directory)
    if _file_digest(now) == _file_digest(before):
        return
    edits: list[HumanEdit] = []
    if now is not None and before is not None:
        edits = now.edits_lost_in(document_or_none(before.text.html))
    raise FileChangedError(path, now, edits, is_new=True)


def _content_of(path: Path, directory: Path) -> str:
    try:
        return read_text(path, directory, MAX_FILE)
    except FileNotFoundError:
        return ""


def _write_error(path: Path, error: OSError) -> ApprovalError:
    return ApprovalError(f"{path}: cannot be written ({error.strerror})")


def _encode(approved: ApprovedText) -> str:
    """Return the content of an approved file. All approved files are written with this function.

    Raises DamagedError unless decode() returns the same text, and a build can show it.
    """
    html = approved.text.html
    fields: dict[str, object] = {}
    for record in (approved.header, approved.text):
        fields |= msgspec.to_builtins(record, builtin_types=(date, datetime))
    del fields["html"]
    if "blocks" in fields:  # at the end, since nobody reads it
        fields["blocks"] = fields.pop("blocks")
    front = yaml.dump(fields, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    check_header_length(front)
    content = f"---\n{front}---\n{html}"
    try:
        read_again = decode(content.encode())
    except UnicodeEncodeError as error:
        raise DamagedError("the text has an unpaired surrogate", 1) from error
    changed = _different_fields(approved.header, read_again.header)
    changed += _different_fields(approved.text, read_again.text)
    if read_again.is_changed and not changed:
        changed = ["sha256"]
    if changed:
        raise DamagedError(f"{changed[0]}: would be another value", 1)
    # decode() checks only what may be cut off.
    check_html(html, read_again.line, approved.document)
    return content


def _different_fields(before: msgspec.Struct, after: msgspec.Struct) -> list[str]:
    """Return the names of the fields that differ in two records of the same type."""
    changed = []
    for name in before.__struct_fields__:
        # As JSON has them, so that tuples are lists.
        value = msgspec.to_builtins(getattr(before, name))
        if value != msgspec.to_builtins(getattr(after, name)):
            changed.append(name)
    return changed


def _file_digest(approved: ApprovedText | None) -> str:
    return approved.file_digest if approved else ""


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are."""


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _represent_text)


def approve(
    read: ReadText,
    key: str,
    service: str,
    by: str,
    declined: datetime | None = None,
    unchecked: tuple[str, ...] = (),
) -> ApprovedText:
    """Return a text that the person `by` approves now, with statements left `unchecked`."""
    text = structs.replace(_for_a_file(read.text), remarks=())
    approval = Approval(
        format=1,
        key=key,
        service=service,
        blocks=_block_digests_or_none(read.document),
        approved_by=by,
        approved_at=datetime.now(UTC).date(),
        sha256="",
        declined=declined.astimezone(UTC) if declined else None,
        unchecked=unchecked,
    )
    approval = structs.replace(approval, sha256=digest(approval, text))
    return ApprovedText(text, approval, document=read.document)


def propose(read: ReadText, key: str, service: str) -> ApprovedText:
    """Return a text as its file has it until somebody approves it, with what is to be checked."""
    text = _for_a_file(read.text)
    proposal = Proposal(
        format=1,
        key=key,
        service=service,
        blocks=_block_digests_or_none(read.document),
        proposed="",
    )
    proposal = structs.replace(proposal, proposed=digest(proposal, text))
    return ApprovedText(text, proposal, document=read.document)


def _block_digests_or_none(document: Document | None) -> str:
    """Return the digests of the blocks of a text that is written, none of one that cannot be."""
    return "" if document is None else block_digests(document)


def _for_a_file(text: Text) -> Text:
    """Return a text as files have it: within its limits, and with its time in whole seconds."""
    made = text.generated_at.astimezone(UTC).replace(microsecond=0)
    return structs.replace(within_limits(text), generated_at=made)

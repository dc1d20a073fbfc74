"""Decide what an approved file will say, before anything is written.

approve() or propose() makes the text that the file will have. file_to_write() makes a record of the
whole file, and is the guard of human edits: it makes none that would lose them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import yaml
from msgspec import structs

from ..errors import ApprovalError
from ..files import sha256
from ..html.document import Document, ReadText
from ..text import Text, within_limits
from .approved_file import (
    Approval,
    ApprovedText,
    DamagedError,
    Proposal,
    block_digests,
    check_header_length,
    check_whole,
    decode,
    digest,
)
from .human_edits import HumanEdit, edits_lost_in, named_edits

if TYPE_CHECKING:
    from .store import Kept


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


@dataclass(frozen=True)
class FileToWrite:
    """An approved file that nothing is wrong with, until write_file() writes it.

    Only file_to_write() makes it: so nothing is lost that people have written into the file that it
    replaces, unless a person has agreed to that.
    """

    path: Path
    directory: Path
    approved: ApprovedText
    """What the file will say."""

    document: Document
    """What a build reads from its HTML."""

    content: str
    before: ApprovedText | None
    """The file that it replaces, or None if there is none."""

    kept: Kept
    """What the cache keeps when it is written, but for the content of the file before.

    file_to_write() gets it without the digest of the new content, too."""

    @property
    def key(self) -> str:
        """The key of the request that its text is for."""
        return self.approved.header.key


def file_to_write(
    path: Path,
    directory: Path,
    approved: ApprovedText,
    document: Document,
    *,
    before: ApprovedText | None,
    kept: Kept,
    agreed: str = "",
) -> FileToWrite:
    """Return an approved file that can be written in place of the one that was read `before`.

    `document` is that of its text. `agreed` is the `file_digest` of a file of which is known that
    nothing is lost that people wrote there, or that a person has agreed to that.

    Raises FileChangedError if human edits would be lost and nobody has agreed, and ApprovalError if
    it would not be read as the same text.
    """
    try:
        content = _encode(approved)
    except DamagedError as error:
        raise ApprovalError(
            f"{path}: cannot be written, since no build could read it ({error})"
        ) from error
    lost: list[HumanEdit] = []
    if before is not None and before.file_digest != agreed:
        lost = edits_lost_in(before, document)
    if lost:
        raise FileChangedError(path, before, lost, is_new=False)
    kept = structs.replace(kept, after=sha256(content))
    return FileToWrite(path, directory, approved, document, content, before, kept)


def _encode(approved: ApprovedText) -> str:
    """Return the content of an approved file. All approved files are written with this function.

    Raises DamagedError unless decode() returns the same text.
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
    check_whole(html, read_again.line)  # decode() checks only what may be cut off
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
    """Return a text that the person `by` approves now, with statements left `unchecked`.

    Its document is what was read from the HTML that the file will have.
    """
    text = structs.replace(_for_a_file(read), remarks=())
    approval = Approval(
        format=1,
        key=key,
        service=service,
        blocks=block_digests(read.document),
        approved_by=by,
        approved_at=datetime.now(UTC).date(),
        sha256="",
        declined=declined.astimezone(UTC) if declined else None,
        unchecked=unchecked,
    )
    approval = structs.replace(approval, sha256=digest(approval, text))
    return ApprovedText(text, approval)


def propose(read: ReadText, key: str, service: str) -> ApprovedText:
    """Return a text as its file has it until somebody approves it, with what is to be checked.

    Its document is what was read from the HTML that the file will have.
    """
    text = _for_a_file(read)
    proposal = Proposal(
        format=1,
        key=key,
        service=service,
        blocks=block_digests(read.document),
        proposed="",
    )
    proposal = structs.replace(proposal, proposed=digest(proposal, text))
    return ApprovedText(text, proposal)


def _for_a_file(read: ReadText) -> Text:
    """Return a text as files have it: within its limits, and with its time in whole seconds."""
    made = read.text.generated_at.astimezone(UTC).replace(microsecond=0)
    html = read.document.source
    return structs.replace(within_limits(read.text), html=html, generated_at=made)

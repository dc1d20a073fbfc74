"""Approve or propose a text, and write its file. No other module writes files of `approved_dir`."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import msgspec
import yaml
from msgspec import structs

from ..errors import ApprovalError
from ..files import locked, refuse_links, replace_text
from ..text import Text, within_limits
from .approved_dir import read_approved
from .approved_file import (
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


def save_approved(
    path: Path, directory: Path, approved: ApprovedText, *, before: ApprovedText | None = None
) -> None:
    """Write an approved file atomically, if it is as it was `before`, or new with None.

    Raises ApprovalError, also if it would not be read as the same text. Then, nothing changes.
    """
    try:
        content = _encode(approved)
    except DamagedError as error:
        raise ApprovalError(
            f"{path}: cannot be written, since no build could read it ({error})"
        ) from error
    replace_file(path, directory, content, before=before)


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
    check_html(html, read_again.line)  # decode() checks only what may be cut off
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


def replace_file(path: Path, directory: Path, content: str, *, before: ApprovedText | None) -> None:
    """Write an approved file, or delete it if `content` is empty.

    Raises ApprovalError if the file is not as it was `before`, or cannot be written.
    """
    try:
        with locked(directory):
            now = read_approved(path, directory)
            if _file_digest(now) != _file_digest(before):
                raise ApprovalError(
                    f"{path}: has just been edited or approved by somebody else, so it is not "
                    "changed; look at it first"
                )
            if content:
                replace_text(path, directory, content)
            else:
                refuse_links(path, directory)
                path.unlink(missing_ok=True)
    except OSError as error:
        raise ApprovalError(f"{path}: cannot be written ({error.strerror})") from error


def _file_digest(approved: ApprovedText | None) -> str:
    return approved.file_digest if approved else ""


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are."""


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _represent_text)


def approve(
    text: Text,
    key: str,
    service: str,
    by: str,
    declined: datetime | None = None,
    unchecked: tuple[str, ...] = (),
) -> ApprovedText:
    """Return a text that the person `by` approves now, with statements left `unchecked`."""
    text = structs.replace(_for_a_file(text), remarks=())
    approval = Approval(
        format=1,
        key=key,
        service=service,
        blocks=block_digests(text.html),
        approved_by=by,
        approved_at=datetime.now(UTC).date(),
        sha256="",
        declined=declined.astimezone(UTC) if declined else None,
        unchecked=unchecked,
    )
    return ApprovedText(text, structs.replace(approval, sha256=digest(approval, text)))


def propose(text: Text, key: str, service: str) -> ApprovedText:
    """Return a text as its file has it until somebody approves it, with what is to be checked."""
    text = _for_a_file(text)
    proposal = Proposal(
        format=1,
        key=key,
        service=service,
        blocks=block_digests(text.html),
        proposed="",
    )
    return ApprovedText(text, structs.replace(proposal, proposed=digest(proposal, text)))


def _for_a_file(text: Text) -> Text:
    """Return a text as files have it: within its limits, and with its time in whole seconds."""
    made = text.generated_at.astimezone(UTC).replace(microsecond=0)
    return structs.replace(within_limits(text), generated_at=made)

"""The format of the files of `approved_dir`: texts that a person has reviewed, or is asked to.

The fields of a text are declared in `text.py`; only those of the approval are declared here.

The header of an approved text names who approved it. That of a proposed text does not, and its page
says that nobody has reviewed it. Both have a short digest of each block as it was written, so that
a block that somebody edits in the file is known as that of a person.

A file has a YAML header, then HTML with one block element per line, for readable diffs and editing
by hand. The same text always gives the same bytes.

Whoever has the bytes of such a file, from the directory, a commit or another branch, gives them to
decode_file(). It knows the limits, and in which lines each field of the header stands.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import structs

from ..display import one_line_problem
from ..errors import ApprovalError, UnsafeHTMLError
from ..files import sha256
from ..remark import Line
from ..requests import Request
from ..text import Edits, Text, is_storable
from ..yaml_files import NotYAMLError, read_yaml

if TYPE_CHECKING:
    from ..html.document import Document

SOMEBODY = "somebody"
"""The author of a block that was edited in its file, until git says who it was."""

MAX_HEADER = 256 * 1024
"""Maximum length of a header in characters: a text can have thousands of blocks by people."""

MAX_NAME = 200
"""Maximum length of the reviewer's name in characters."""

MAX_FILE = 512 * 1024
"""Maximum length of an approved file in bytes."""

_FILE = re.compile(r"\s*---[ \t]*\n(.*?\n)---[ \t]*\n(.*)", re.DOTALL)
"""Matches an approved file. The groups are the header and the HTML."""

_CONFLICT = re.compile(r"^(?:<{7}|>{7}|={7}(?!=)|\|{7}(?!\|))", re.MULTILINE)
"""Matches what git writes into a file that it cannot merge, by default or with a
`conflict-marker-size` of its own."""

_CONFLICT_IN_HTML = re.compile(r"<{7}|^[ \t]*>{7}", re.MULTILINE)
"""Matches the same after formatters have moved it. Text has `&lt;` and `&gt;` instead."""

_ONLY_IN_APPROVALS = ("approved_by", "approved_at", "sha256", "declined", "unchecked")
"""The fields of a header that a proposed text cannot have."""


class _Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a file says beside the fields of its text, approved or not."""

    format: Annotated[int, msgspec.Meta(ge=1, le=1)]
    key: str
    service: str
    blocks: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f ]*\Z")] = ""
    """The digests of the blocks as they were written, or an empty string if nobody knows."""


class Approval(_Header, frozen=True, kw_only=True, omit_defaults=True):
    """What an approved file says beside the fields of its text."""

    approved_by: str
    approved_at: date
    sha256: str
    """The `digest()` of all that the file said when the text was approved."""

    declined: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    """The generation time of the newest draft that the reviewer declined in favour of this text."""

    unchecked: tuple[Line, ...] = ()
    """The statements that were left to check; `edits.reason` says why it was approved."""

    @property
    def written_digest(self) -> str:
        """The digest under a name that both kinds of headers have."""
        return self.sha256


class Proposal(_Header, frozen=True, kw_only=True, omit_defaults=True):
    """What the file of a proposed text says beside the fields of its text."""

    proposed: str
    """The `digest()` of all that the file said when the text was proposed."""

    @property
    def written_digest(self) -> str:
        """The digest under a name that both kinds of headers have."""
        return self.proposed


@dataclass(frozen=True)
class ApprovedText:
    """A file of `approved_dir`: its text as it is now, approved or only proposed."""

    text: Text
    """The text. `edits` names who wrote the blocks that were edited in the file, at first
    `SOMEBODY`."""

    header: Approval | Proposal
    is_changed: bool = False
    """Whether anything of the file was edited after its text was approved or proposed."""

    line: int = 1
    """The number of the line that the text begins on."""

    file_digest: str = ""
    """The SHA-256 of the content of the file."""

    field_lines: Mapping[str, range] = field(default_factory=dict, compare=False)
    """The numbers of the lines in the file of each field of its header, as git counts lines.

    A field of `edits` has a name such as `edits.reason`."""

    @property
    def approval(self) -> Approval | None:
        """The approval, or None for a proposed text."""
        return self.header if isinstance(self.header, Approval) else None

    def was_made_for(self, request: Request) -> bool:
        """Tell whether `request` asks for this text. Fields are compared, not keys."""
        return request.answers_to(self.text.request)


def digest(header: Approval | Proposal, text: Text) -> str:
    """Return the SHA-256 of all that a file says of a text, but for the digest in its header.

    It is an empty string if the request has a value that JSON cannot have.
    """
    # The kind is in it, since renaming the field `proposed` to `sha256` must not make a proposed
    # text an approved one.
    if isinstance(header, Approval):
        said: list[object] = ["approved", structs.replace(header, sha256=""), text]
    else:
        said = ["proposed", structs.replace(header, proposed=""), text]
    try:
        return sha256(msgspec.json.encode(said, order="deterministic"))
    except (ValueError, OverflowError):
        return ""


def _is_as_written(header: Approval | Proposal, text: Text) -> bool:
    """Tell whether a file says all that it said when its text was approved or proposed."""
    return header.written_digest != "" and header.written_digest == digest(header, text)


def decode_file(content: bytes, path: Path) -> ApprovedText:
    """Return the text of a file with this content. Raises ApprovalError, which names `path`."""
    try:
        return decode(content)
    except DamagedError as error:
        raise ApprovalError(f"{path}:{error.line}: {error}") from error


class DamagedError(Exception):
    """The content of an approved file cannot be read. The message is about the line `line`."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def decode(data: bytes) -> ApprovedText:
    """Return the text in the bytes of an approved file. Raises DamagedError.

    Its HTML is put on the lines that approve() writes: formatters and editors change white space,
    which is not a change of the text.
    """
    if len(data) > MAX_FILE:
        raise DamagedError(f"it has more than {MAX_FILE:,} bytes", 1)
    try:
        content = _decoded(data)
    except UnicodeDecodeError as error:
        raise DamagedError("is not UTF-8", data.count(b"\n", 0, error.start) + 1) from error
    match = _FILE.match(content)
    conflict = _CONFLICT.search(content)
    if match and not conflict:
        conflict = _CONFLICT_IN_HTML.search(content, match.start(2))
    if conflict:
        line = _line_at(content, conflict.start())
        raise DamagedError(f"merge conflict in line {line}; resolve it with git", line)
    if not match:
        raise DamagedError("has no YAML header between two lines '---'", 1)
    line = _line_at(content, match.start(2))
    html = match[2].replace("\r", "\n")
    header_line = _line_at(content, match.start(1))
    check_header_length(match[1], header_line)
    text, header, field_lines = _decode_header(match[1], html, header_line)
    is_changed = not _is_as_written(header, text)
    if not is_changed:
        may_be_cut_off = not text.html.rstrip().endswith("</article>")
        if may_be_cut_off:  # others are known to be whole, and reading all takes too long
            _check_html(text.html, line)
    else:
        read_again = _check_html(text.html, line)
        text = structs.replace(text, html=read_again.lines)
        # A formatter may have changed only white space.
        is_changed = not _is_as_written(header, text)
        if is_changed:
            text = _with_edits_of_the_file(text, header, read_again.blocks)
    return ApprovedText(text, header, is_changed, line, sha256(content), field_lines)


def content_digest(data: bytes) -> str:
    """Return the `file_digest` of the file with this content, or an empty string if it has none."""
    try:
        content = _decoded(data)
    except UnicodeDecodeError:
        return ""
    return sha256(content)


def _decoded(data: bytes) -> str:
    """Return the content of a file without what editors on Windows add, which changes no text.

    Raises UnicodeDecodeError.
    """
    return data.decode().removeprefix("\ufeff").replace("\r\n", "\n")


def check_header_length(header: str, line: int = 1) -> None:
    """Raise DamagedError for a header that is too long; `line` is that of its first line."""
    if len(header) > MAX_HEADER:
        raise DamagedError(
            f"the header has {len(header):,} characters, {MAX_HEADER:,} at most; make the text or "
            "the brief shorter",
            line,
        )


def check_whole(html: str, first_line: int) -> None:
    """Raise DamagedError for HTML that a build would leave out a part of.

    `first_line` is the number of its first line in the file.
    """
    from ..html.surroundings import MisplacedError, check_surroundings

    try:
        check_surroundings(html)
    except MisplacedError as error:
        raise DamagedError(str(error), first_line + error.line - 1) from error


def _check_html(html: str, first_line: int) -> _ReadHTML:
    """Return what is read from HTML.

    Raises DamagedError if no build can show it, or would leave out a part of it.
    """
    check_whole(html, first_line)
    try:
        return _read_html(html)
    except UnsafeHTMLError as error:
        raise DamagedError(f"no build can show this text: {error}", first_line) from error


def _with_edits_of_the_file(
    text: Text, header: Approval | Proposal, blocks: Iterable[_ReadBlock]
) -> Text:
    """Return a text that has somebody as the author of the blocks that its header does not know."""
    known = set(header.blocks.split())
    edits = text.edits or Edits()
    changed_by = dict(edits.changed_by)
    for block in blocks:
        if block.short_content_digest not in known:
            changed_by[block.digest] = SOMEBODY
    if changed_by == edits.changed_by:
        return text
    edits = structs.replace(edits, changed_by=changed_by)
    return structs.replace(text, edits=edits)


def _line_at(content: str, position: int) -> int:
    return content.count("\n", 0, position) + 1


def _decode_header(
    header: str, html: str, first_line: int
) -> tuple[Text, Approval | Proposal, dict[str, range]]:
    """Return the text of a file, its header as a record, and the lines of the header's fields.

    Raises DamagedError.
    """
    try:
        parsed = read_yaml(header, first_line=first_line, plain=True, unique_keys=True)
        values = parsed.value if isinstance(parsed.value, dict) else {}
        fields = {}
        for name, value in values.items():
            if value is not None:
                fields[str(name)] = value
        kind: type[Approval | Proposal] = Proposal if "proposed" in fields else Approval
        record = msgspec.convert(fields, kind)
        text = msgspec.convert({**fields, "html": html}, Text)
    except (NotYAMLError, UnicodeEncodeError) as error:
        raise DamagedError(str(error), getattr(error, "line", first_line)) from error
    except msgspec.ValidationError as error:
        # Such as "Expected `str` matching regex '^[0-9a-f]{64}$' - at `$.sha256`", or "Object
        # missing required field `approved_by`".
        message, _, _ = str(error).partition(" - at ")
        named_field = re.search(r"(?:\$\.|field.`)(\w+)", str(error))
        name = named_field[1] if named_field else "header"
        reason = message.partition(" matching")[0].lower()
        raise DamagedError(f"{name}: {reason}", parsed.line_of(name)) from error
    first_problem = next(_header_problems(record, text, fields), None)
    if first_problem is not None:
        name, problem = first_problem
        raise DamagedError(f"{name}: {problem}", parsed.line_of(name))
    lines = parsed.field_lines()
    for name, lines_of_field in parsed.field_lines("edits").items():
        lines[f"edits.{name}"] = lines_of_field
    return text, record, lines


def _header_problems(
    header: Approval | Proposal, text: Text, fields: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield each field of a header that is wrong in spite of its type, and what is wrong."""
    times: dict[str, datetime | None] = {"generated_at": text.generated_at}
    if isinstance(header, Approval):
        problem = name_problem(header.approved_by)
        if problem:
            yield "approved_by", problem
        times["declined"] = header.declined
    else:
        for name in _ONLY_IN_APPROVALS:
            if name in fields:
                yield name, "a proposed text has no approval; `contentgen review` writes it"
    for name, moment in times.items():
        if moment and not is_storable(moment):
            yield name, f"is in the year {moment.year}"


@dataclass(frozen=True)
class _ReadBlock:
    """What is known of a block of an approved file."""

    short_content_digest: str
    """`Block.short_content_digest`, as headers have it."""

    digest: str
    """`Block.digest`, as `Edits.changed_by` has it."""

    words: str


@dataclass(frozen=True)
class _ReadHTML:
    """The HTML of an approved file."""

    lines: str
    """The HTML in the lines that approve() writes."""

    blocks: tuple[_ReadBlock, ...]


@lru_cache(maxsize=1000)  # a server reads all approved files after each change
def _read_html(html: str) -> _ReadHTML:
    """Return the HTML of an approved file as approve() writes it. Raises UnsafeHTMLError."""
    from ..html.document import document_of  # most texts are as they were approved

    document = document_of(html)
    blocks = []
    for block in document.blocks():
        blocks.append(_ReadBlock(block.short_content_digest, block.digest, block.text))
    return _ReadHTML(document.to_lines(), tuple(blocks))


def words_by_digest(html: str) -> dict[str, str]:
    """Return the words of each block of a file, by its digest. Raises UnsafeHTMLError."""
    return {block.digest: block.words for block in _read_html(html).blocks}


def block_digests(document: Document) -> str:
    """Return the digests of the blocks of a text as headers have them."""
    digests = [block.short_content_digest for block in document.blocks()]
    return " ".join(dict.fromkeys(digests))


def name_problem(name: str) -> str:
    """Return why a reviewer's name is not valid, or an empty string."""
    if not name.strip():
        return "is empty; it says who is responsible for the text"
    return one_line_problem(name, "a name", MAX_NAME)

"""Read and write the files of `approved_dir`: texts that a person has reviewed, or is asked to.

The header of an approved text names who approved it. That of a proposed text does not, and its page
says that nobody has reviewed it. Both have a short digest of each block as it was written, so that
a block that somebody edits in the file is known as that of a person.

A file has a YAML header, then HTML with one block element per line, for readable diffs and editing
by hand. The same text always gives the same bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import lru_cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import yaml

from ..display import one_line_problem
from ..errors import ApprovalError, UnsafeHTMLError
from ..files import locked, normal_form, read_text, reason_of, refuse_links, replace_text, sha256
from ..page_request import PageRequest
from ..requests import Request
from ..text import MAX_HTML, Edits, Line, Text, is_storable, within_limits
from ..yaml_files import NotYAMLError, read_yaml

if TYPE_CHECKING:
    from ..html.document import Block

MAX_HEADER = 256 * 1024
"""Maximum length of a header in characters: a text can have thousands of blocks by people."""

MAX_NAME = 200
"""Maximum length of the reviewer's name in characters."""

_MAX_FILE = MAX_HEADER + MAX_HTML + len("---\n---\n")
"""Maximum length of an approved file in characters."""

_FILE = re.compile(r"\s*---[ \t]*\n(.*?\n)---[ \t]*\n(.*)", re.DOTALL)
"""Matches an approved file. The groups are the header and the HTML."""

_CONFLICT = re.compile(r"^(?:<{7}|>{7}|={7}(?!=)|\|{7}(?!\|))", re.MULTILINE)
"""Matches what git writes into a file that it cannot merge, by default or with a
`conflict-marker-size` of its own."""

_CONFLICT_IN_HTML = re.compile(r"<{7}|^[ \t]*>{7}", re.MULTILINE)
"""Matches the same after formatters have moved it. Text has `&lt;` and `&gt;` instead."""

SOMEBODY = "somebody"
"""The author of a block that was edited in the file, until git says who it was."""

_BLOCK_DIGEST_LENGTH = 8
"""Hex digits of the digest of a block: files can have thousands, and nobody gains from forging."""

_ONLY_IN_APPROVALS = ("approved_by", "approved_at", "sha256")
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
    """The `digest()` of the text as it was approved."""

    declined: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    """The generation time of the newest draft that the reviewer declined in favour of this text."""

    unchecked: tuple[Line, ...] = ()
    """The statements that were left to check; `edits.reason` says why it was approved."""

    def is_of(self, text: Text) -> bool:
        """Tell whether a text is the one that was approved."""
        return self.sha256 == digest(text.html, text.written_by)


class Proposal(_Header, frozen=True, kw_only=True, omit_defaults=True):
    """What the file of a proposed text says beside the fields of its text."""

    proposed: str
    """The SHA-256 of the text as it was proposed, which is never that of an approval."""

    def is_of(self, text: Text) -> bool:
        """Tell whether a text is the one that was proposed."""
        return self.proposed == _proposal_digest(text)


@dataclass(frozen=True)
class ApprovedText:
    """A file of `approved_dir`: its text as it is now, approved or only proposed."""

    text: Text
    """The text. `edits` names who wrote the blocks that were edited in the file, at first
    `SOMEBODY`."""

    header: Approval | Proposal
    line: int = 1
    """The number of the line that the text begins on."""

    file_digest: str = ""
    """The SHA-256 of the content of the file."""

    @property
    def approval(self) -> Approval | None:
        """The approval, or None for a proposed text."""
        return self.header if isinstance(self.header, Approval) else None

    @property
    def is_changed(self) -> bool:
        """Whether the text, or who wrote it, was edited after it was approved or proposed."""
        return not self.header.is_of(self.text)

    def was_made_for(self, request: Request) -> bool:
        """Tell whether `request` asks for this text. Fields are compared, not keys."""
        return request.answers_to(self.text.request)


def digest(html: str, written_by: str) -> str:
    """Return the SHA-256 of a text and of the person who wrote it, if one did."""
    # An edited header must not make a generated text one of a person unnoticed.
    return sha256(f"{written_by}\n{html}" if written_by else html)


def _proposal_digest(text: Text) -> str:
    # Another digest than that of an approval: renaming the field `proposed` to `sha256` must not
    # make a proposed text an approved one.
    return sha256(f"proposed {digest(text.html, text.written_by)}")


ArticleName = tuple[str, str]
"""The page of an article (`src_uri`), and its id."""


def approved_path(directory: Path, page: str, article_id: str) -> Path:
    """Return the path of the approved file for an article of a page (`src_uri`)."""
    return directory / page / f"{article_id}.html"


def read_approved(path: Path, directory: Path) -> ApprovedText | None:
    """Read the approved file `path` below `directory`. Return None if it does not exist.

    Its HTML is put on the lines that approve() writes: formatters and editors change white space,
    which is no change of the text. Raises ApprovalError, with file and line, for a
    damaged file.
    """
    try:
        content = read_text(path, directory, _MAX_FILE)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise ApprovalError(f"{path}: cannot be read ({reason_of(error)})") from error
    return decode_file(content, path)


def decode_file(content: str, path: Path) -> ApprovedText:
    """Return the text of a file with this content. Raises ApprovalError, which names `path`."""
    try:
        return _decode(content)
    except _DamagedError as error:
        raise ApprovalError(f"{path}:{error.line}: {error}") from error


class _DamagedError(Exception):
    """The content of an approved file cannot be read. The message is about the line `line`."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def _decode(content: str) -> ApprovedText:
    """Return the text in the content of an approved file. Raises _DamagedError."""
    content = content.removeprefix("\ufeff")
    match = _FILE.match(content)
    conflict = _CONFLICT.search(content)
    if match and not conflict:
        conflict = _CONFLICT_IN_HTML.search(content, match.start(2))
    if conflict:
        line = _line_at(content, conflict.start())
        raise _DamagedError(f"merge conflict in line {line}; resolve it with git", line)
    if not match:
        raise _DamagedError("has no YAML header between two lines '---'", 1)
    line = _line_at(content, match.start(2))
    text, header = _decode_header(match[1], match[2], _line_at(content, match.start(1)))
    if header.is_of(text):
        may_be_cut_off = not text.html.rstrip().endswith("</article>")
        if may_be_cut_off:  # others are known to be whole, and reading all takes too long
            _check_html(text.html, line)
    else:
        read_again = _read_html(text.html, line)
        text = msgspec.structs.replace(text, html=read_again.lines)
        # A formatter may have changed white space alone.
        if not header.is_of(text):
            text = _with_edits_of_the_file(text, header, read_again.blocks)
    return ApprovedText(text, header, line, sha256(content))


def _check_html(html: str, first_line: int) -> None:
    """Raise _DamagedError for HTML that no build can show, or would leave out a part of."""
    _read_html(html, first_line)


def _with_edits_of_the_file(
    text: Text, header: Approval | Proposal, blocks: Iterable[_ReadBlock]
) -> Text:
    """Return a text that has somebody as the author of the blocks that its header does not know."""
    if not header.blocks:
        return text
    known = set(header.blocks.split())
    edits = text.edits or Edits()
    changed_by = dict(edits.changed_by)
    for block in blocks:
        if block.short_content_digest not in known:
            changed_by[block.digest] = SOMEBODY
    if changed_by == edits.changed_by:
        return text
    edits = msgspec.structs.replace(edits, changed_by=changed_by)
    return msgspec.structs.replace(text, edits=edits)


def _line_at(content: str, position: int) -> int:
    return content.count("\n", 0, position) + 1


def _decode_header(header: str, html: str, first_line: int) -> tuple[Text, Approval | Proposal]:
    """Return the text of a file, and its header as a record. Raises _DamagedError."""
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
        raise _DamagedError(str(error), getattr(error, "line", first_line)) from error
    except msgspec.ValidationError as error:
        # Such as "Expected `str` matching regex '^[0-9a-f]{64}$' - at `$.sha256`", or "Object
        # missing required field `approved_by`".
        message, _, _ = str(error).partition(" - at ")
        named_field = re.search(r"(?:\$\.|field.`)(\w+)", str(error))
        name = named_field[1] if named_field else "header"
        reason = message.partition(" matching")[0].lower()
        raise _DamagedError(f"{name}: {reason}", parsed.line_of(name)) from error
    first_problem = next(_header_problems(record, text, fields), None)
    if first_problem is not None:
        name, problem = first_problem
        raise _DamagedError(f"{name}: {problem}", parsed.line_of(name))
    return text, record


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
                yield name, "a proposed text has no approval; `contentgen approve` writes it"
    for name, moment in times.items():
        if moment and not is_storable(moment):
            yield name, f"is in the year {moment.year}"


@dataclass(frozen=True)
class _ReadBlock:
    """What is known of a block of an approved file."""

    short_content_digest: str
    """The beginning of `Block.content_digest`, as headers have it."""

    digest: str
    """`Block.digest`, as `Edits.changed_by` has it."""


@dataclass(frozen=True)
class _ReadHTML:
    """The HTML of an approved file."""

    lines: str
    """The HTML in the lines that approve() writes."""

    blocks: tuple[_ReadBlock, ...]


@lru_cache(maxsize=1000)  # a server reads all approved files after each change
def _read_html(html: str, first_line: int) -> _ReadHTML:
    """Return the HTML of an approved file as approve() writes it.

    `first_line` is the number of its first line in the file. Raises _DamagedError for what no build
    can show, or would leave out.
    """
    from ..html.document import document_of  # most texts are as they were approved
    from ..html.surroundings import MisplacedError, check_surroundings

    try:
        check_surroundings(html)
        document = document_of(html)
        blocks = []
        for block in document.blocks():
            blocks.append(_ReadBlock(_short_content_digest(block), block.digest))
        return _ReadHTML(document.to_lines(), tuple(blocks))
    except MisplacedError as error:
        raise _DamagedError(str(error), first_line + error.line - 1) from error
    except UnsafeHTMLError as error:
        raise _DamagedError(f"no build can show this text: {error}", first_line) from error


def _short_content_digest(block: Block) -> str:
    return block.content_digest[:_BLOCK_DIGEST_LENGTH]


def _block_digests(html: str) -> str:
    """Return the digests of the blocks of a text as headers have them."""
    try:
        blocks = _read_html(html, 1).blocks
    except _DamagedError:  # save_approved() says what is wrong
        return ""
    return " ".join(dict.fromkeys(block.short_content_digest for block in blocks))


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
    # Looking for no files saves a tenth of the time that status takes for 10,000 pages.
    if not directory.exists():
        return ApprovedFiles(directory)
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


def name_problem(name: str) -> str:
    """Return why a reviewer's name is not valid, or an empty string."""
    if not name.strip():
        return "is empty; it says who is responsible for the text"
    return one_line_problem(name, "a name", MAX_NAME)


def save_approved(
    path: Path, directory: Path, approved: ApprovedText, *, before: ApprovedText | None = None
) -> None:
    """Write an approved file atomically, if it is as it was `before`, or new with None.

    Raises ApprovalError, also if it would not be read as the same text. Then, nothing changes.
    """
    try:
        content = _encode(approved)
    except _DamagedError as error:
        raise ApprovalError(
            f"{path}: cannot be written, since no build could read it ({error})"
        ) from error
    replace_file(path, directory, content, before=before)


def _encode(approved: ApprovedText) -> str:
    """Return the content of an approved file. All approved files are written with this function.

    Raises _DamagedError unless _decode() returns the same text, and a build can show it.
    """
    html = approved.text.html
    fields: dict[str, object] = {}
    for record in (approved.header, approved.text):
        fields |= msgspec.to_builtins(record, builtin_types=(date, datetime))
    del fields["html"]
    if "blocks" in fields:  # at the end, since nobody reads it
        fields["blocks"] = fields.pop("blocks")
    front = yaml.dump(fields, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    if len(front) > MAX_HEADER:
        raise _DamagedError(
            f"the header has {len(front):,} characters, {MAX_HEADER:,} at most; make the text or "
            "the brief shorter",
            1,
        )
    content = f"---\n{front}---\n{html}"
    try:
        file = BytesIO(content.encode())
    except UnicodeEncodeError as error:
        raise _DamagedError("the text has an unpaired surrogate", 1) from error
    # As from a file, with each line end read as "\n".
    read_again = _decode(TextIOWrapper(file, "utf-8").read())
    changed = _different_fields(approved.header, read_again.header)
    changed += _different_fields(approved.text, read_again.text)
    if changed:
        raise _DamagedError(f"{changed[0]}: would be another value", 1)
    _check_html(html, read_again.line)  # _decode() checks only what may be cut off
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
    text = msgspec.structs.replace(_for_a_file(text), remarks=())
    approval = Approval(
        format=1,
        key=key,
        service=service,
        blocks=_block_digests(text.html),
        approved_by=by,
        approved_at=datetime.now(UTC).date(),
        sha256=digest(text.html, text.written_by),
        declined=declined.astimezone(UTC) if declined else None,
        unchecked=unchecked,
    )
    return ApprovedText(text, approval)


def propose(text: Text, key: str, service: str) -> ApprovedText:
    """Return a text as its file has it until somebody approves it, with what is to be checked."""
    text = _for_a_file(text)
    proposal = Proposal(
        format=1,
        key=key,
        service=service,
        blocks=_block_digests(text.html),
        proposed=_proposal_digest(text),
    )
    return ApprovedText(text, proposal)


def _for_a_file(text: Text) -> Text:
    """Return a text as files have it: within its limits, and with its time in whole seconds."""
    made = text.generated_at.astimezone(UTC).replace(microsecond=0)
    return msgspec.structs.replace(within_limits(text), generated_at=made)

"""Read and write approved files, which contain texts that a person has reviewed.

A file has a YAML header, then HTML with one block element per line, for readable diffs and editing
by hand. The same text always gives the same bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import lru_cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Annotated

import msgspec
import yaml

from ..display import hidden_character
from ..errors import ApprovalError, UnsafeHTMLError
from ..files import locked, normal_form, read_text, reason_of, refuse_links, replace_text, sha256
from ..html.sanitizer import MAX_CHARACTERS
from ..page_request import PageRequest
from ..requests import Request
from ..text import Line, Text, is_storable, mended
from ..yaml_files import NotYAMLError, read_yaml

MAX_HEADER = 256 * 1024
"""Maximum length of a header in characters: a text can have thousands of blocks by people."""

MAX_NAME = 200
"""Maximum length of the reviewer's name in characters."""

_MAX_FILE = MAX_HEADER + MAX_CHARACTERS + len("---\n---\n")


class Approval(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an approved file says beside the fields of its text."""

    format: Annotated[int, msgspec.Meta(ge=1, le=1)]
    key: str
    service: str
    approved_by: str
    approved_at: date
    sha256: str
    """That of the text when it was approved, and of the person who wrote it: see `digest()`."""

    declined: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    """The generation time of the newest draft that the reviewer declined in favour of this text."""

    unchecked: tuple[Line, ...] = ()
    """The statements that were left to check; `edits.reason` says why it was approved."""


@dataclass(frozen=True)
class ApprovedText:
    """An approved file: the text as it is now, and its approval."""

    text: Text
    approval: Approval
    line: int = 1
    """The number of the line that the text begins on."""

    @property
    def is_changed(self) -> bool:
        """Whether the text, or who wrote it, was edited after its approval."""
        return self.approval.sha256 != digest(self.text.html, self.text.written_by)

    def answers(self, request: Request) -> bool:
        """Tell whether the text was approved for `request`. Fields are compared, not keys."""
        try:
            approved = msgspec.convert({"type": None, **self.text.request}, type(request))
        except ValueError:  # also where it has another type
            return False
        return approved.record() == request.record()


def digest(html: str, written_by: str) -> str:
    """Return the SHA-256 of a text and of the person who wrote it, if one did."""
    # An edited header must not make a generated text one of a person unnoticed.
    return sha256(f"{written_by}\n{html}" if written_by else html)


def approved_path(directory: Path, page: str, name: str) -> Path:
    """Return the path of the approved file for the article `name` of a page (`src_uri`)."""
    return directory / page / f"{name}.html"


def read(path: Path, directory: Path) -> ApprovedText | None:
    """Read the approved file `path` below `directory`. Return None if it does not exist.

    Its HTML is in the lines that approve() writes, so that only a change of the document is one:
    formatters and editors change white space. Raises ApprovalError, with file and line, for a
    damaged file.
    """
    try:
        content = read_text(path, directory, _MAX_FILE)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise ApprovalError(f"{path}: cannot be read ({reason_of(error)})") from error
    try:
        return _decode(content)
    except _DamagedError as error:
        raise ApprovalError(f"{path}:{error.line}: {error}") from error


class _DamagedError(Exception):
    """The content of an approved file cannot be read. The message is about the line `line`."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


_FILE = re.compile(r"\s*---[ \t]*\n(.*?\n)---[ \t]*\n(.*)", re.DOTALL)
"""Matches an approved file. The groups are the header and the HTML."""

_CONFLICT = re.compile(r"^(?:<{7}(?!<)|={7}(?!=)|>{7}(?!>))", re.MULTILINE)
"""Matches what git writes into a file that it cannot merge."""


def _decode(content: str) -> ApprovedText:
    """Return the text in the content of an approved file. Raises _DamagedError."""
    content = content.removeprefix("\ufeff")
    if conflict := _CONFLICT.search(content):
        line = _line_at(content, conflict.start())
        raise _DamagedError(f"merge conflict in line {line}; resolve it with git", line)
    match = _FILE.match(content)
    if not match:
        raise _DamagedError("has no YAML header between two lines '---'", 1)
    line = _line_at(content, match.start(2))
    text, approval = _decode_header(match[1], match[2], _line_at(content, match.start(1)))
    if approval.sha256 != digest(text.html, text.written_by):
        text = msgspec.structs.replace(text, html=_normal_html(text.html, line))
    elif not text.html.rstrip().endswith("</article>"):
        _normal_html(text.html, line)  # which says what is wrong; it takes too long for all texts
    return ApprovedText(text, approval, line)


def _line_at(content: str, position: int) -> int:
    return content.count("\n", 0, position) + 1


def _decode_header(header: str, html: str, first_line: int) -> tuple[Text, Approval]:
    """Return the text and the approval that a header describes. Raises _DamagedError."""
    try:
        front = read_yaml(header, first_line=first_line, plain=True, unique_keys=True)
        values = front.value if isinstance(front.value, dict) else {}
        fields = {str(name): value for name, value in values.items() if value is not None}
        approval = msgspec.convert(fields, Approval)
        text = msgspec.convert({**fields, "html": html}, Text)
    except (NotYAMLError, UnicodeEncodeError) as error:
        raise _DamagedError(str(error), getattr(error, "line", first_line)) from error
    except msgspec.ValidationError as error:
        message, _, _ = str(error).partition(" - at ")
        found = re.search(r"\$\.(\w+)|field.`(\w+)`", str(error))
        name = (found[1] or found[2]) if found else "header"
        reason = message.partition(" matching")[0].lower()
        raise _DamagedError(f"{name}: {reason}", front.line_of(name)) from error
    problems = {"approved_by": name_problem(approval.approved_by)}
    times = {"generated_at": text.generated_at, "declined": approval.declined}
    for name, moment in times.items():
        if moment and not is_storable(moment):
            problems[name] = f"is in the year {moment.year}"
    for name, problem in problems.items():
        if problem:
            raise _DamagedError(f"{name}: {problem}", front.line_of(name))
    return text, approval


@lru_cache(maxsize=1000)  # a server reads all approved files after each change
def _normal_html(html: str, first_line: int) -> str:
    """Return the HTML of an approved file in the lines that approve() writes.

    `first_line` is the number of its first line in the file. Raises _DamagedError for what no build
    can show, or would leave out.
    """
    from ..html.document import Document  # most texts are as they were approved
    from ..html.surroundings import MisplacedError, check_surroundings

    try:
        check_surroundings(html)
        # Which hosts are allowed is a matter of the page, and of the approval.
        return Document(html, set(_IMAGE_HOST.findall(html))).to_lines()
    except MisplacedError as error:
        raise _DamagedError(str(error), first_line + error.line - 1) from error
    except UnsafeHTMLError as error:
        raise _DamagedError(f"no build can show this text: {error}", first_line) from error


_IMAGE_HOST = re.compile(r"https://([^\s/\\@?#:\"'<>]+)", re.IGNORECASE)


@dataclass(frozen=True)
class ApprovedFiles:
    """The approved files of a site."""

    directory: Path = Path()

    texts: dict[tuple[str, str], ApprovedText | ApprovalError] = field(default_factory=dict)
    """The texts by page (`src_uri`) and id, or the errors of damaged files."""

    moved: dict[tuple[str, str], Path] = field(default_factory=dict)
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
    found = ApprovedFiles(directory)
    if not directory.exists():  # a tenth of the time of status for 10,000 pages
        return found
    missing: dict[tuple[str, str], Request] = {}
    claimed = set()
    for it in page_requests:
        page, request = it.page, it.request
        path = approved_path(directory, page, request.id)
        claimed.add(path)
        try:
            text = read(path, directory)
        except ApprovalError as error:
            found.texts[page, request.id] = error
            continue
        if text is None:
            missing[page, request.id] = request
        else:
            found.texts[page, request.id] = text
    listed = list_files(directory) if files is None else files
    remaining = [path for path in listed if path not in claimed]
    if not remaining:  # Zensical calls this for each page
        return found
    remaining = _claim_by_normal_form(remaining, missing, found)
    left_alone = {normal_form(page) for page in others}
    for path in remaining:
        if normal_form(path.parent.relative_to(directory).as_posix()) in left_alone:
            continue
        try:
            text = read(path, directory) if missing else None
        except ApprovalError:
            text = None  # reported as unclaimed
        name = next((n for n, request in missing.items() if text and text.answers(request)), None)
        if text is None or name is None:
            found.unclaimed.append(path)
        else:
            del missing[name]
            found.moved[name] = path
            found.texts[name] = text
    return found


def _claim_by_normal_form(
    paths: Iterable[Path], missing: dict[tuple[str, str], Request], found: ApprovedFiles
) -> list[Path]:
    """Give files to `missing` articles whose own path looks the same, and return the others.

    File systems and archives rename `é` from one code point to two, or back.
    """
    names = {normal_form(approved_path(found.directory, *name)): name for name in missing}
    left = []
    for path in paths:
        name = names.pop(normal_form(path), None)
        if name is None:
            left.append(path)
            continue
        del missing[name]
        found.moved[name] = path
        try:
            text = read(path, found.directory)
        except ApprovalError as error:
            found.texts[name] = error
        else:
            if text is not None:  # it has not gone since it was listed
                found.texts[name] = text
    return left


def list_files(directory: Path) -> list[Path]:
    """Return the paths of all approved files."""
    return sorted(
        Path(folder, name)
        for folder, _, names in os.walk(directory)
        for name in names
        if name.endswith(".html") and folder.endswith(".md")
    )


def name_problem(name: str) -> str:
    """Return why a reviewer's name is not valid, or an empty string."""
    if not name.strip():
        return "is empty; it says who is responsible for the text"
    if len(name) > MAX_NAME:
        return f"has {len(name)} characters; a name has at most {MAX_NAME}"
    if character := hidden_character(name):
        return f"contains {character}, which is not allowed in a name"
    return ""


def write(
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
    restore(path, directory, content, before=before)


def _encode(approved: ApprovedText) -> str:
    """Return the content of an approved file. All approved files are written with this function.

    Raises _DamagedError unless _decode() returns the same text, and a build can show it.
    """
    html = approved.text.html
    fields: dict[str, object] = {}
    for record in (approved.approval, approved.text):
        fields |= msgspec.to_builtins(record, builtin_types=(date, datetime))
    del fields["html"]
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
    read_again = _decode(TextIOWrapper(file, "utf-8").read())
    for one, other in ((approved.approval, read_again.approval), (approved.text, read_again.text)):
        for name in one.__struct_fields__:
            if _plain(getattr(one, name)) != _plain(getattr(other, name)):
                raise _DamagedError(f"{name}: would be another value", 1)
    _normal_html(html, read_again.line)
    return content


def _plain(value: object) -> object:
    """Return a value as JSON has it, so that tuples are lists."""
    return msgspec.to_builtins(value)


def restore(path: Path, directory: Path, content: str, *, before: ApprovedText | None) -> None:
    """Write an approved file as it was, without content none, if it is as it was `before`.

    Raises ApprovalError.
    """
    try:
        with locked(directory):
            if read(path, directory) != before:
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
    made = text.generated_at.astimezone(UTC).replace(microsecond=0)
    text = msgspec.structs.replace(mended(text), generated_at=made, remarks=())
    approval = Approval(
        format=1,
        key=key,
        service=service,
        approved_by=by,
        approved_at=datetime.now(UTC).date(),
        sha256=digest(text.html, text.written_by),
        declined=declined.astimezone(UTC) if declined else None,
        unchecked=unchecked,
    )
    return ApprovedText(text, approval)

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
from pathlib import Path
from typing import Annotated

import msgspec
import yaml

from ..display import hidden_character
from ..errors import ApprovalError
from ..files import locked, normal_form, read_text, reason_of, refuse_links, replace_text, sha256
from ..html.sanitizer import MAX_CHARACTERS
from ..requests import Request
from ..text import Text, mended
from ..yaml_files import NotYAMLError, read_yaml
from .policy import PageRequest

MAX_HEADER = 64 * 1024
"""Maximum length of a header in characters."""

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

    Raises ApprovalError, with file and line, for a damaged file.
    """
    try:
        content = read_text(path, directory, _MAX_FILE).removeprefix("\ufeff")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise ApprovalError(f"{path}: cannot be read ({reason_of(error)})") from error
    match = re.match(r"---\n(.*?\n)---\n(.*)", content, re.DOTALL)
    if not match:
        raise ApprovalError(f"{path}:1: has no YAML header between two lines '---'")
    try:
        front = read_yaml(match[1], first_line=2, plain=True, unique_keys=True)
        header = front.value if isinstance(front.value, dict) else {}
        fields = {str(name): it for name, it in header.items() if it is not None}
        approval = msgspec.convert(fields, Approval)
        text = msgspec.convert({**fields, "html": match[2]}, Text)
    except (NotYAMLError, UnicodeEncodeError) as error:
        raise ApprovalError(f"{path}:{getattr(error, 'line', 2)}: {error}") from error
    except msgspec.ValidationError as error:
        message, _, _ = str(error).partition(" - at ")
        found = re.search(r"\$\.(\w+)|field.`(\w+)`", str(error))
        name = (found[1] or found[2]) if found else "header"
        reason = message.partition(" matching")[0].lower()
        raise ApprovalError(f"{path}:{front.line_of(name)}: {name}: {reason}") from error
    problems = {"approved_by": name_problem(approval.approved_by)}
    if not 1 < text.generated_at.year < 9999:  # other time zones would overflow
        problems["generated_at"] = f"is in the year {text.generated_at.year}"
    for name, problem in problems.items():
        if problem:
            raise ApprovalError(f"{path}:{front.line_of(name)}: {name}: {problem}")
    return ApprovedText(text, approval, match[1].count("\n") + 3)


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


def name_problem(name: str) -> str | None:
    """Return why a reviewer's name is not valid, or None."""
    if not name.strip():
        return "is empty; it says who is responsible for the text"
    if len(name) > MAX_NAME:
        return f"has {len(name)} characters; a name has at most {MAX_NAME}"
    if character := hidden_character(name):
        return f"contains {character}, which is not allowed in a name"
    return None


def write(
    path: Path, directory: Path, approved: ApprovedText, *, before: ApprovedText | None = None
) -> None:
    """Write an approved file atomically, if it is as it was `before`, or new with None.

    Raises ApprovalError.
    """
    html = approved.text.html
    fields: dict[str, object] = {}
    for record in (approved.approval, approved.text):
        fields |= msgspec.to_builtins(record, builtin_types=(date, datetime))
    del fields["html"]
    front = yaml.dump(fields, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    content = f"---\n{front}---\n{html}"
    problem = name_problem(approved.approval.approved_by)
    if len(front) > MAX_HEADER or len(html) > MAX_CHARACTERS:
        problem = f"more than {MAX_HEADER} characters of header, or {MAX_CHARACTERS} of text"
    if problem:
        raise ApprovalError(f"{path}: cannot be written ({problem})")
    restore(path, directory, content, before=before)


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
    text: Text, key: str, service: str, by: str, declined: datetime | None = None
) -> ApprovedText:
    """Return a text that the person `by` approves now."""
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
    )
    return ApprovedText(text, approval)

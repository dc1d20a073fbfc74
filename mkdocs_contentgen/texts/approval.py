"""Approved files: texts that a person answers for, committed beside the pages.

A file is made for diffs and for editing by hand: a YAML header, then HTML with one block element a
line, and the same bytes for the same text. Files of every earlier format are read for ever.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Literal
from xml.etree.ElementTree import Element

import msgspec
import yaml

from ..display import hidden_character, shown
from ..errors import ApprovalError
from ..files import read_text, replace_text
from ..html.sanitizer import MAX_CHARACTERS, VOID_TAGS
from ..requests import REQUEST_TYPES, Request

MAX_HEADER = 16 * 1024
"""Characters of a header."""

MAX_NAME = 200
"""Characters of the name of the person who approves."""

_MAX_FILE = MAX_HEADER + MAX_CHARACTERS + len("---\n---\n")
_MAX_DEPTH = 10


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What stands above the text of an approved file."""

    format: Annotated[int, msgspec.Meta(ge=1, le=1)] = 1
    request: dict[str, object]
    key: str
    service: str
    generated_at: datetime
    approved_by: str
    approved_at: date
    sha256: str
    declined: datetime | None = None
    """When the newest draft was generated that a person did not take in place of this text."""


@dataclass(frozen=True)
class ApprovedText:
    """A text from an approved file, and the request that it was approved for."""

    header: Header
    html: str
    line: int
    """The line of the file that the text begins with."""

    @property
    def is_changed(self) -> bool:
        """Tell whether the text was edited after its approval."""
        return self.header.sha256 != _sha256(self.html)

    def answers(self, request: Request) -> bool:
        """Tell whether this is the text for `request`, whatever its key was made of at the time."""
        kind = self.header.request.get("type")
        model = REQUEST_TYPES.get(kind) if isinstance(kind, str) else None
        try:
            approved = msgspec.convert(self.header.request, model) if model else None
        except ValueError:
            return False
        return approved is not None and _identity(approved) == _identity(request)


State = Literal["missing", "draft", "approved", "changed", "outdated"]


def state_of(
    request: Request,
    approved: ApprovedText | None,
    *,
    has_draft: bool,
    unused: Iterable[Mapping[str, object]] = (),
) -> tuple[State, str]:
    """Return the state of an article, and the reason in words.

    `unused` are requests whose texts are in the cache, though no page asks for them now.
    """
    if approved is None:
        return ("draft", "not reviewed") if has_draft else ("missing", _why(request, unused))
    by = f"{approved.header.approved_by} approved it"
    if not approved.answers(request):
        changes = _changes(approved.header.request, request) or ["the request was another"]
        new = "a draft" if has_draft else "missing"
        return "outdated", f"{' and '.join(changes)}; the new text is {new}"
    if approved.is_changed:
        return "changed", f"edited since {by}"
    return "approved", f"{by} on {approved.header.approved_at}"


def _why(request: Request, unused: Iterable[Mapping[str, object]]) -> str:
    """Say that there is no text, and what changed where one field explains it."""
    for before in unused:
        if len(changes := _changes(before, request)) == 1:
            return f"{changes[0]} in the text that the cache has"
    return "never generated"


def _changes(before: Mapping[str, object], request: Request) -> list[str]:
    """Say in words what an earlier request, as it was kept, had otherwise."""
    fields = request.record()
    return [
        f"{name} was {shown(before[name])}"
        for name, value in fields.items()
        if name in before and before[name] != value
    ]


def approved_path(directory: Path, page: str, name: str) -> Path:
    """Return where the article `name` of a page (`src_uri`) has its approved file."""
    return directory / page / f"{name}.html"


def read(path: Path, directory: Path) -> ApprovedText | None:
    """Return an approved text below the directory of approved files, or None where there is none.

    Raises ApprovalError, with file and line, for a file that is damaged.
    """
    try:
        content = read_text(path, directory, _MAX_FILE)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ApprovalError(f"{path}: cannot be read ({reason})") from error
    match = re.match(r"---\n(.*?\n)---\n(.*)", content, re.DOTALL)
    if not match:
        raise ApprovalError(f"{path}:1: has no YAML header between two lines '---'")
    _check_size(path, match[1], match[2])
    fields = _fields(_read_header(match[1], path))
    try:
        header = msgspec.convert(fields, Header)
    except UnicodeEncodeError as error:
        line, reason = 2, error.reason
        raise ApprovalError(f"{path}:{line}: the header is not plain YAML: {reason}") from error
    except msgspec.ValidationError as error:
        message, _, _ = str(error).partition(" - at ")
        found = re.search(r"\$\.(\w+)|field.`(\w+)`", str(error))
        name = (found[1] or found[2]) if found else "header"
        line = _line_of(name, match[1])
        value = fields.get(name) if isinstance(fields, dict) else None
        reason = _why_wrong(name, value) or message.lower()
        raise ApprovalError(f"{path}:{line}: {name}: {reason}") from error
    problems = {"approved_by": name_problem(header.approved_by)}
    if not 1 < header.generated_at.year < 9999:  # in another time zone there may be no such year
        problems["generated_at"] = f"is in the year {header.generated_at.year}"
    for name, reason in problems.items():
        if reason:
            raise ApprovalError(f"{path}:{_line_of(name, match[1])}: {name}: {reason}")
    return ApprovedText(header, match[2], match[1].count("\n") + 3)


@dataclass(frozen=True)
class ApprovedFiles:
    """What the directory of approved files holds for the articles of a site."""

    directory: Path = Path()

    texts: dict[tuple[str, str], ApprovedText | ApprovalError] = field(default_factory=dict)
    """By page (`src_uri`) and id: a text, or what is wrong with its file."""

    moved: dict[tuple[str, str], Path] = field(default_factory=dict)
    """The files that were found by their request, since their page has another name now."""

    unclaimed: list[Path] = field(default_factory=list)
    """Files of pages that do not ask for them."""


def read_all(
    articles: Iterable[tuple[str, Request]], directory: Path, *, others: Collection[str] = ()
) -> ApprovedFiles:
    """Return the approved texts of `articles`, each a page (`src_uri`) and its request.

    An article without a file of its own gets that of a page that is gone, if its request is the
    same. `others` are pages that are there, but were not looked at.
    """
    found = ApprovedFiles(directory)
    missing: dict[tuple[str, str], Request] = {}
    claimed = set()
    for page, request in articles:
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
    left = [path for path in _files_in(directory) if path not in claimed]
    for path in left:
        if path.parent.relative_to(directory).as_posix() in others:
            continue
        try:
            text = read(path, directory) if missing else None
        except ApprovalError:
            text = None  # it is named as a file of no page
        name = next((n for n, request in missing.items() if text and text.answers(request)), None)
        if text is None or name is None:
            found.unclaimed.append(path)
        else:
            del missing[name]
            found.moved[name] = path
            found.texts[name] = text
    return found


def _files_in(directory: Path) -> list[Path]:
    return sorted(
        Path(folder, name)
        for folder, _, names in os.walk(directory)
        for name in names
        if name.endswith(".html") and folder.endswith(".md")
    )


def name_problem(name: str) -> str | None:
    """Say why somebody cannot approve a text under a name, or return None."""
    if not name.strip():
        return "is empty; it says who answers for the text"
    if len(name) > MAX_NAME:
        return f"has {len(name)} characters; a name has at most {MAX_NAME}"
    if character := hidden_character(name):
        return f"holds {character}, which no name has"
    return None


class _HeaderLoader(yaml.SafeLoader):
    """Reads YAML that is no larger in memory than in the file."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # it has no types
        self.depth += 1
        problem = None
        if event.anchor is not None:  # that of an alias included
            problem = "it has an anchor or an alias"
        elif event.tag is not None:
            problem = "it has a tag"
        elif self.depth > _MAX_DEPTH:
            problem = f"it is nested more than {_MAX_DEPTH} deep"
        if problem:
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _check_size(path: Path, header: str, text: str) -> None:
    if len(header) > MAX_HEADER:
        raise ApprovalError(
            f"{path}:2: the header has {len(header)} characters, {MAX_HEADER} at most"
        )
    if len(text) > MAX_CHARACTERS:
        raise ApprovalError(
            f"{path}: the text has {len(text)} characters, {MAX_CHARACTERS} at most"
        )


def _read_header(header: str, path: Path) -> object:
    try:
        return yaml.load(header, _HeaderLoader)  # noqa: S506  it is a safe one
    except yaml.reader.ReaderError as error:
        line, reason = header.count("\n", 0, error.position) + 2, str(error.reason)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        reason = str(error.problem)
    except (ValueError, OverflowError) as error:
        line, reason = 2, str(error)
    raise ApprovalError(f"{path}:{line}: the header is not plain YAML: {reason[:200]}")


def _fields(header: object) -> object:
    """Return the fields of what YAML read as a header, with times and dates where they are due.

    People edit these files, and leave out the seconds, or all of the time, or add keys.
    """
    if not isinstance(header, dict):
        return header
    fields = {name: header[name] for name in Header.__struct_fields__ if name in header}
    for name in ("generated_at", "declined"):
        if moment := _moment(fields.get(name)):
            fields[name] = moment
    if moment := _moment(fields.get("approved_at")):
        fields["approved_at"] = moment.date()
    return fields


def _why_wrong(name: str, value: object) -> str | None:
    """Say what is wrong with a field of a header, and what would be right, where that is known."""
    if name == "format" and isinstance(value, int) and value > 1:
        return f"{shown(value)} is of a newer mkdocs-contentgen than this one; update it"
    if value is not None and name == "approved_at":
        return f"{shown(value)} is not a date; write it as 2026-11-02"
    if value is not None and name in ("generated_at", "declined"):
        return f"{shown(value)} is not a time; write it as 2026-11-02T10:11:12Z"
    return None


def _moment(value: object) -> datetime | None:
    """Return a date or a time, or a text that says one, as a time in a zone."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None


def write(path: Path, directory: Path, header: Header, text: str) -> None:
    """Write an approved file; another program never sees it half written. Raises ApprovalError."""
    fields = {k: v for k, v in msgspec.structs.asdict(header).items() if v is not None}
    front = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=10_000)
    _check_size(path, front, text)
    if problem := name_problem(header.approved_by):
        raise ApprovalError(f"{path}: cannot be written ({problem})")
    try:
        replace_text(path, directory, f"---\n{front}---\n{text}")
    except OSError as error:
        raise ApprovalError(f"{path}: cannot be written ({error.strerror})") from error


def approve(
    request: Request,
    key: str,
    service: str,
    generated_at: datetime,
    text: str,
    by: str,
    *,
    declined: datetime | None = None,
) -> Header:
    """Return the header that says that somebody approved `text` now.

    `declined` is the time of a newer draft that was not taken.
    """
    return Header(
        request=request.record(),
        key=key,
        service=service,
        generated_at=generated_at.astimezone(UTC).replace(microsecond=0),
        approved_by=by,
        approved_at=datetime.now(UTC).date(),
        sha256=_sha256(text),
        declined=declined and declined.astimezone(UTC).replace(microsecond=0),
    )


def to_lines(article: Element) -> str:
    """Return an article as HTML with one block element a line, ending in a line break."""
    return "".join(f"{line}\n" for line in _lines(article))


_BLOCKS = frozenset(
    "article section header footer aside div h1 h2 h3 h4 h5 h6 p hr ul ol li dl dt dd table "
    "caption thead tbody tfoot tr figure figcaption blockquote pre".split()
)


def _lines(element: Element) -> Iterator[str]:
    holds_only_blocks = (
        len(element) > 0
        and all(child.tag in _BLOCKS for child in element)
        and not (element.text or "").strip()
        and not any((child.tail or "").strip() for child in element)
    )
    if not holds_only_blocks:
        yield _inline(element)
        return
    yield _start(element)
    for child in element:
        yield from _lines(child)
    yield f"</{element.tag}>"


def _inline(element: Element, *, verbatim: bool = False) -> str:
    verbatim = verbatim or element.tag == "pre"

    def text(value: str | None) -> str:
        value = html.escape(value or "", quote=False)
        return value if verbatim else re.sub(r"\s+", " ", value)

    if element.tag in VOID_TAGS:
        return _start(element)
    inner = text(element.text) + "".join(
        _inline(child, verbatim=verbatim) + text(child.tail) for child in element
    )
    if element.tag in _BLOCKS and not verbatim:
        inner = inner.strip()
    return f"{_start(element)}{inner}</{element.tag}>"


def _start(element: Element) -> str:
    attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in element.items())
    return f"<{element.tag}{attributes}>"


def _identity(request: Request) -> tuple[object, ...]:
    return (request.operation, request.revision, *sorted(request.body().items()))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _line_of(name: str, header: str) -> int:
    before, found, _ = f"\n{header}".partition(f"\n{name}:")
    return before.count("\n") + 2 if found else 1

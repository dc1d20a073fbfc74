"""The record of a text: its fields, with the limits of each.

Who adds a field declares it here. The cache and the approved files keep all fields, answers have
those that are declared with `_ANSWERED`, and `status --json` those with `_IN_STATUS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta, structs

from .citation import MAX_KEPT, MAX_KEPT_OF_ALL, NAME, Citation
from .display import CONTROL_CHARACTERS, escape_controls
from .files import sha256
from .remark import MAX_LINE, MAX_REMARKS, Line, Remark, clean_line, clean_remarks

MAX_HTML = 256 * 1024
"""The maximum length of a text in characters. No longer one can be sanitized."""

MAX_BLOCK = 20_000
"""The maximum length of a block in characters."""

MAX_EDIT = MAX_LINE
"""The maximum length of a statement, a sentence, a name or a reason in edits, in characters."""

MAX_EDITION = 1_000_000_000
"""The highest number of an edition, which files and databases can have."""

MAX_MODEL = 100
"""The maximum length of a model's name in characters."""

_MAX_SOURCES = 20
"""The maximum number of passages that a text cites."""

MAX_UNSUPPORTED = 1000
"""The maximum number of statements without support that a text keeps."""

_MAX_LINES = 50
"""The maximum number of updates."""

_MAX_UPDATES = 20
"""How many lines a text keeps of those that say what updates have changed."""

_LINE = rf"^[^\n{CONTROL_CHARACTERS}]*\Z"
_PASSAGE = rf"^[^{CONTROL_CHARACTERS}]+\Z"

_Passage = Annotated[str, Meta(max_length=MAX_KEPT, pattern=_PASSAGE)]
_Name = Annotated[str, Meta(pattern=NAME)]
_SPACE_BETWEEN = r"(?: (?!\Z)|\Z)"
_REMEMBERED = rf"^(?:(?:[0-9a-f]{{8}}:){{3}}[0-9]{{1,4}}:[0-9a-f]{{8}}(?::p)?{_SPACE_BETWEEN})*\Z"
"""Matches what is remembered of blocks: `DIGEST:DIGEST:DIGEST:NUMBER:DIGEST` of each.

One that a person translated has `:p` after it."""

_ADDITIONS = rf"^(?:[0-9a-f]{{8}}{_SPACE_BETWEEN})*\Z"
"""Matches digests of blocks."""

_ANSWERED = Meta(extra={"is_answered": True})
"""Declares that an answer may have the field beside its `content`."""

_IN_STATUS = Meta(extra={"is_in_status": True})
"""Declares that `status --json` has the field."""


def _clean_lines(values: object) -> list[str]:
    """Return updates, each on one line, without those that are empty or no text."""
    lines: list[str] = []
    if not isinstance(values, list | tuple):
        return lines
    for value in values:
        if not isinstance(value, str):
            continue
        line = clean_line(value)
        if line:
            lines.append(line)
    return lines[:_MAX_LINES]


def clean_by_passage(values: object) -> dict[object, str]:
    """Return what is kept of passages, their digests or what they said, by valid names.

    The more there are, the less is kept of each, but always enough for a digest.
    """
    if not isinstance(values, dict):
        return {}
    named: list[object] = []
    for name in values:
        if re.match(NAME, str(name)) and len(named) < _MAX_SOURCES:
            named.append(name)
    most = min(MAX_KEPT, MAX_KEPT_OF_ALL // max(len(named), 1))
    kept = {}
    for name in named:
        lines = []
        for line in str(values[name]).splitlines():
            lines.append(escape_controls(line).rstrip())
        value = "\n".join(lines).strip()[:most].rstrip()
        if value:
            kept[name] = value
    return kept


_LINES = Meta(extra={"clean": _clean_lines})
"""Declares that untrusted values of the field are lines."""

_REMARKS = Meta(extra={"clean": clean_remarks})
"""Declares that untrusted values of the field are remarks."""

_BY_PASSAGE = Meta(extra={"clean": clean_by_passage})
"""Declares that untrusted values of the field are by the names of passages."""

_Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
_BlockDigest = Annotated[str, Meta(pattern=r"^[0-9a-f]{16,64}\Z")]


class Edits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What people did with a text on the review desk."""

    confirmed: tuple[Line, ...] = ()
    """Statements that were confirmed."""

    removed: tuple[Line, ...] = ()
    """Sentences and blocks that were removed."""

    changed_by: Mapping[_BlockDigest, Line] = {}
    """Who wrote a block, by its digest."""

    reason: Line = ""
    """Why it was approved although statements were left to check."""

    settled: Annotated[int, Meta(ge=0)] = 0
    """The number of sentences with statements that people have confirmed, changed or removed."""


class Original(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a translation remembers of its original, as that was when it was translated."""

    blocks: Annotated[str, Meta(pattern=_REMEMBERED)]
    """What is remembered of each block, in the order of the original.

    These are the digests of the original block's words, content and place; the number of elements
    that are around both this block and the one before it, such as a list; and the digest of the
    block that translates it. The module `remembered` reads and writes them."""

    digest: _Digest
    """The SHA-256 of the HTML of the original."""

    language: Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]{0,100}\Z")] = ""
    """The language of the original as a BCP 47 tag, or an empty string if it is not known."""

    is_draft: bool = False
    """Whether nobody had approved the original."""

    additions: Annotated[str, Meta(pattern=_ADDITIONS)] = ""
    """The digests of the translation's blocks that stand for none of the original."""


class Text(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A text as the service sent it (interface section 2.2), with its request and its time."""

    html: Annotated[str, Meta(max_length=MAX_HTML)]
    generated_at: Annotated[datetime, Meta(tz=True)]
    request: dict[str, object]
    model: Annotated[str, Meta(max_length=MAX_MODEL, pattern=_LINE), _ANSWERED, _IN_STATUS] = ""
    """The name of the model, or an empty string if the service did not tell."""

    sources: Annotated[
        Mapping[_Name, _Digest], Meta(max_length=_MAX_SOURCES), _BY_PASSAGE, _ANSWERED
    ] = {}
    """The SHA-256 of each passage that it cites, by its name."""

    remarks: Annotated[tuple[Remark, ...], Meta(max_length=MAX_REMARKS), _REMARKS, _ANSWERED] = ()
    """What is not as requested, although a person can use the text."""

    edits: Annotated[Edits | None, _IN_STATUS] = None
    """What people changed, or None if nobody did."""

    updates: Annotated[tuple[Line, ...], Meta(max_length=_MAX_LINES), _LINES] = ()
    """What updates changed and why, or that nothing had to change, the last one at the end.

    Of a translation from elsewhere, it begins with what was changed of its structure."""

    passages: Annotated[
        Mapping[_Name, _Passage], Meta(max_length=_MAX_SOURCES), _BY_PASSAGE, _ANSWERED
    ] = {}
    """What these passages said when the text was written, by their names."""

    written_by: Annotated[Line, _IN_STATUS] = ""
    """The person who wrote it, or an empty string for a text of a model."""

    edition: Annotated[int, Meta(ge=1, le=MAX_EDITION)] = 1
    """One more than that of the text that was there when this one was asked for.

    It says which of two texts is newer. Times cannot: they are of two machines."""

    original: Original | None = None
    """What a translation was made from, or None for any other text."""

    unsupported: Annotated[tuple[Line, ...], Meta(max_length=MAX_UNSUPPORTED)] | None = None
    """The statements that what it cites did not have when it was approved or proposed.

    It is None if nobody has looked."""

    @property
    def version(self) -> str:
        """The SHA-256 of what it says, and of what people did with it."""
        return sha256(f"{self.html}\0{self.edits}")

    @property
    def changed_by(self) -> Mapping[str, str]:
        """Who wrote each block that people have changed, by its digest."""
        if self.edits is None:
            return {}
        return self.edits.changed_by

    def with_words_of(self, model: str) -> Text:
        """Return the text as one of which a model has written a part.

        It is not only of a person then, even if the model has no name. Its model is the one that
        wrote it first, if that has a name.
        """
        return structs.replace(self, model=self.model or model, written_by="")

    def with_updates(self, lines: Iterable[str]) -> Text:
        """Return the text with further lines on what an update has changed, and the last ones."""
        return structs.replace(self, updates=(*self.updates, *lines)[-_MAX_UPDATES:])

    def citations(self) -> list[Citation]:
        """Return what it cites, as that was when the text was written."""
        citations = []
        for name, digest in self.sources.items():
            said = self.passages.get(name, "")
            citations.append(Citation(name, title="", now="", before=said, digest=digest))
        return citations

    def with_citations(self, citations: Iterable[Citation]) -> Text:
        """Return the text as one that cites these passages as they are now.

        A passage in several parts is several citations with one name. Citations without a name are
        not kept. Of a passage that is gone, what it said before is kept.
        """
        digests: dict[str, str] = {}
        passages: dict[str, list[str]] = {}
        for citation in citations:
            if not citation.name:
                continue
            digests[citation.name] = citation.digest
            said = citation.now or citation.before
            if said:
                passages.setdefault(citation.name, []).append(said)
        joined = {}
        for name, parts in passages.items():
            joined[name] = "\n\n".join(parts)
        fields = clean_fields({"sources": digests, "passages": joined})
        return structs.replace(
            self,
            sources=fields.get("sources", {}),
            passages=fields.get("passages", {}),
            unsupported=None,
        )


def _fields_declared_as(*kinds: Meta) -> tuple[str, ...]:
    """Return the names of the fields that are declared as one of these kinds."""
    names = []
    for field in structs.fields(Text):
        declared = getattr(field.type, "__metadata__", ())
        if not set(kinds).isdisjoint(declared):
            names.append(field.name)
    return tuple(names)


ANSWER_FIELDS = _fields_declared_as(_ANSWERED)
"""The fields that an answer may have beside its `content`."""

STATUS_FIELDS = _fields_declared_as(_IN_STATUS)
"""The fields that `status --json` has of a text."""

_FIELDS_OF_MODELS = _fields_declared_as(_ANSWERED, _LINES)
"""The fields that models have a say in, so that their values can be too long."""


def edition_after(*editions: int) -> int:
    """Return the edition of a text that is newer than all with these editions."""
    return min(max(editions, default=0) + 1, MAX_EDITION)


def is_storable(moment: datetime) -> bool:
    """Tell whether a time of a file can be converted to each time zone."""
    return datetime.min.year < moment.year < datetime.max.year


def clean_fields(
    fields: Mapping[str, object], names: Iterable[str] = ANSWER_FIELDS
) -> dict[str, Any]:
    """Return the fields of a text with these names, with usable values in place of untrusted ones.

    Control characters are escaped, what is too long is cut off, and other wrong values are dropped.
    """
    found = {}
    for name in names:
        value = fields.get(name)
        if value is None:
            continue
        with suppress(ValueError):
            kind = _types()[name]
            found[name] = msgspec.convert(_clean(value, kind), kind)
    return found


def within_limits(text: Text) -> Text:
    """Return a text with its time in UTC, and with what models said of it within its limits.

    What people did and said stays as it is: nothing of it may be lost unnoticed.
    """
    fields = structs.asdict(text)
    bounded = clean_fields(fields, _FIELDS_OF_MODELS)
    for name in _FIELDS_OF_MODELS:
        del fields[name]
    fields["generated_at"] = text.generated_at.astimezone(UTC)
    return Text(**fields, **bounded)


def model_name(value: object) -> str:
    """Return an untrusted name of a model, or an empty string if it cannot be shown."""
    return str(clean_fields({"model": value}).get("model", ""))


@cache
def _types() -> dict[str, object]:
    """Return the type of each field of a text."""
    types = {}
    for field in structs.fields(Text):
        types[field.name] = field.type
    return types


def _clean(value: object, kind: object) -> object:
    """Return an untrusted value of a field without what the limits of the field do not allow."""
    for declared in getattr(kind, "__metadata__", ()):
        clean = (declared.extra or {}).get("clean")
        if clean:
            return clean(value)
    return value.strip() if isinstance(value, str) else value

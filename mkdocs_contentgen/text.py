"""The record of a text: its fields, with the limits of each.

Who adds a field declares it here. The cache and the approved files keep all fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta, inspect

from .display import CONTROL_CHARACTERS, escape_controls

MAX_HTML = 256 * 1024
"""The maximum length of a text in characters, which is that of the sanitizer."""

MAX_EDIT = 300
"""The maximum length of a statement, a sentence, a name or a reason in edits, in characters."""

MAX_MODEL = 100
"""The maximum length of a model's name in characters."""

_MAX_SOURCES, _MAX_PASSAGE, _MAX_PASSAGES = 20, 2000, 8000
_MAX_REMARKS, _MAX_UPDATES, _MAX_EDITS = 50, 20, 2000


def _one_line(text: str) -> str:
    return escape_controls(" ".join(text.split()))


def _lines(text: str) -> str:
    return "\n".join(escape_controls(line).rstrip() for line in text.splitlines()).strip()


_LINE = rf"^[^\n{CONTROL_CHARACTERS}]*\Z"
_PASSAGE = rf"^[^{CONTROL_CHARACTERS}]+\Z"
_ADDRESS = r"^(https?://[\w.-]+(:\d+)?/[\w./%#~+-]{0,300}|file:[^\x00-\x1f\x7f\"<>\\`]{1,500})\Z"

# A `mend` function makes an untrusted text valid; texts without one are dropped instead.
_Line = Annotated[
    str, Meta(min_length=1, max_length=MAX_EDIT, pattern=_LINE, extra={"mend": _one_line})
]
_Passage = Annotated[str, Meta(max_length=_MAX_PASSAGE, pattern=_PASSAGE, extra={"mend": _lines})]
_Address = Annotated[str, Meta(pattern=_ADDRESS)]
_Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
_ModelName = Annotated[str, Meta(max_length=MAX_MODEL, pattern=_LINE)]
_EditList = Annotated[tuple[_Line, ...], Meta(max_length=_MAX_EDITS)]


class Edits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What people did with a text on the review desk."""

    confirmed: _EditList = ()
    """Statements that were confirmed."""

    removed: _EditList = ()
    """Sentences and blocks that were removed."""

    changed_by: Annotated[Mapping[_Digest, _Line], Meta(max_length=_MAX_EDITS)] = {}
    """Who wrote a block, by the SHA-256 of its text."""

    reason: Annotated[str, Meta(max_length=MAX_EDIT, pattern=_LINE, extra={"mend": _one_line})] = ""
    """Why it was approved although statements were left to check."""


class Text(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A text as the service sent it (interface section 2.2), with its request and its time.

    A note about a request is kept as a text too, under its note_key().
    """

    html: Annotated[str, Meta(max_length=MAX_HTML)]
    generated_at: Annotated[datetime, Meta(tz=True)]
    request: dict[str, object]
    model: _ModelName = ""
    """The name of the model, or an empty string if the service did not tell."""

    sources: Annotated[Mapping[_Address, _Digest], Meta(max_length=_MAX_SOURCES)] = {}
    """The SHA-256 of each cited section by its address."""

    remarks: Annotated[tuple[_Line, ...], Meta(max_length=_MAX_REMARKS)] = ()
    """What is not as requested, although a person can use the text."""

    edits: Edits | None = None
    """What people changed, or None if nobody did."""

    updates: Annotated[tuple[_Line, ...], Meta(max_length=_MAX_UPDATES)] = ()
    """What updates changed and why, or that nothing had to change, the last one at the end."""

    passages: Annotated[
        Mapping[_Address, _Passage],
        Meta(max_length=_MAX_SOURCES, extra={"characters": _MAX_PASSAGES}),
    ] = {}
    """What the cited sections said when the text was written, by their addresses."""

    written_by: Annotated[str, Meta(max_length=MAX_EDIT, pattern=_LINE)] = ""
    """The person who wrote it, or an empty string for a text of a model."""


ANSWERED = ("model", "sources", "remarks", "passages")
"""The fields that an answer may have beside its `content`."""


def mend(fields: Mapping[str, object], names: Iterable[str] = ANSWERED) -> dict[str, Any]:
    """Return the fields of a text with these names, with usable values in place of untrusted ones.

    Control characters are escaped, what is too long is cut off, and other wrong values are dropped.
    """
    found = {}
    for name in names:
        with suppress(ValueError):
            found[name] = _mend(_types()[name], fields.get(name))
    return found


def mended(text: Text) -> Text:
    """Return a text whose fields are within their limits, with its time in UTC."""
    fields = mend(msgspec.to_builtins(text), Text.__struct_fields__[3:])
    return Text(text.html, text.generated_at.astimezone(UTC), text.request, **fields)


def model_name(value: object) -> str:
    """Return an untrusted name of a model, or an empty string if it cannot be shown."""
    return str(mend({"model": value}).get("model", ""))


@cache
def _types() -> dict[str, inspect.Type]:
    kind = inspect.type_info(Text)
    return {it.name: it.type for it in kind.fields} if isinstance(kind, inspect.StructType) else {}


def _mend(kind: inspect.Type, value: object) -> object:
    """Return a value of a type in place of an untrusted one. Raises ValueError."""
    extra: Mapping[str, Any] = getattr(kind, "extra", None) or {}
    kind = getattr(kind, "type", kind)
    match kind, value:
        case inspect.StrType(), str():
            return _mend_string(kind, value, extra)
        case inspect.VarTupleType(), list() | tuple():
            return tuple(_mend_each(kind.item_type, value[: kind.max_length]))
        case inspect.DictType(), dict():
            return _mend_mapping(kind, value, extra)
        case inspect.UnionType(), dict():  # a record or None
            return _mend(kind.types[0], value)
        case inspect.StructType(), dict():
            names = ((it.name, it.type) for it in kind.fields)
            found = {name: list(_mend_each(it, [value.get(name)])) for name, it in names}
            return kind.cls(**{name: it[0] for name, it in found.items() if it})
    raise ValueError


def _mend_string(kind: inspect.StrType, value: str, extra: Mapping[str, Any]) -> str:
    text = value.strip()
    if "mend" in extra:
        text = extra["mend"](text)[: kind.max_length].rstrip()
    limits = Meta(min_length=kind.min_length, max_length=kind.max_length, pattern=kind.pattern)
    found: str = msgspec.convert(text, Annotated[str, limits])
    return found


def _mend_each(kind: inspect.Type, values: Iterable[object]) -> Iterator[object]:
    for value in values:
        with suppress(ValueError):
            yield _mend(kind, value)


def _mend_mapping(
    kind: inspect.DictType, value: Mapping[object, object], extra: Mapping[str, Any]
) -> dict[str, str]:
    found: dict[str, str] = {}
    left: int | None = extra.get("characters")
    for key, item in list(value.items())[: kind.max_length]:
        with suppress(ValueError):
            name, text = str(_mend(kind.key_type, key)), str(_mend(kind.value_type, item))
            text = text[:left].rstrip()
            left = None if left is None else left - len(text)
            if text:
                found[name] = text
    return found

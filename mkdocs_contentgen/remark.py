"""The record of a remark: what is not as requested in a text that a person can use.

Code decides by the kind of a remark, its block and its values. People read a sentence, which
`remark_words` has in English, and the desk in its own language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta, structs

from .display import CONTROL_CHARACTERS, escape_controls

MAX_LINE = 300
"""The maximum length of a line in characters."""

MAX_REMARKS = 50
"""The maximum number of remarks on a text."""

_MAX_NUMBER = 10**9

_MAX_QUOTED = 200
"""The maximum length of a quotation in a remark, in characters."""

_MAX_QUOTATIONS = 20
"""The maximum number of quotations that the remarks on a text name."""

# The OpenAPI document of the server has the pattern: JSON can have no unpaired surrogates, and
# JavaScript no `\Z`.
_NOT_IN_LINES = CONTROL_CHARACTERS.encode("unicode_escape").decode()

Line = Annotated[str, Meta(max_length=MAX_LINE, pattern=rf"^[^\n{_NOT_IN_LINES}]*$(?!\n)")]
_Number = Annotated[int, Meta(ge=0, le=_MAX_NUMBER)]

Kind = Literal[
    "cut",
    "cut_at_limit",
    "stopped",
    "open_end",
    "section_cut",
    "section_missing",
    "headings",
    "items",
    "closing",
    "length",
    "repetition",
    "self_reference",
    "brief",
    "brief_more",
    "citation",
    "link",
    "links_more",
    "dead_link",
    "quotation",
    "quotation_start",
    "quotations_more",
    "repaired_invisible",
    "repaired_thoughts",
    "repaired_next_turn",
    "repaired_fence",
    "repaired_spaces",
    "repaired_json",
    "repaired_front_matter",
    "repaired_site_boxes",
    "repaired_heading_ids",
    "repaired_html",
    "repaired_footnotes",
    "repaired_boxes",
    "repaired_definitions",
    "repaired_opening",
    "repaired_closing",
    "repaired_narration",
    "repaired_title",
    "repaired_copy",
    "repaired_placeholders",
    "repaired_references",
    "repaired_marks",
    "repaired_bold_lines",
    "repaired_loop",
    "repaired_pictures",
    "repaired_addresses",
    "repaired_addresses_more",
    "update_cut",
    "update_no_reason",
    "update_forbidden",
    "update_unusable",
    "update_doubt",
    "original_draft",
    "original_changed",
    "original_gone",
    "outdated",
    "descriptions",
    "untranslated",
    "untranslated_more",
    "differs",
    "missing",
    "missing_more",
    "unmatched",
    "unmatched_more",
    "not_followed",
    "other_code",
    "lacks",
    "lacks_more",
    "service",
]
"""What a remark says. Whoever adds a kind follows "Add a remark" in CONTRIBUTING.md."""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""The kinds in the order in which remarks are shown."""

_OF_FORM: Mapping[Kind, tuple[str, ...]] = {
    "cut": ("words", "reason", "said"),
    "cut_at_limit": ("words", "reason", "said"),
    "stopped": ("words",),
    "open_end": ("end",),
    "section_cut": ("heading", "said"),
    "section_missing": ("heading", "because"),
    "headings": (),
    "items": ("items", "wanted"),
    "closing": (),
    "length": ("words", "target"),
    "repetition": ("start",),
    "self_reference": ("quote",),
    "brief": ("parts",),
    "brief_more": ("parts", "more"),
    "citation": ("numbers",),
    "link": ("words", "address"),
    "links_more": ("more",),
    "dead_link": ("words", "address"),
}

_OF_QUOTATIONS: Mapping[Kind, tuple[str, ...]] = {
    "quotation": ("quotation",),
    "quotation_start": ("start",),
    "quotations_more": ("more",),
}

_OF_REPAIRS: Mapping[Kind, tuple[str, ...]] = {
    "repaired_invisible": (),
    "repaired_thoughts": (),
    "repaired_next_turn": (),
    "repaired_fence": (),
    "repaired_spaces": (),
    "repaired_json": (),
    "repaired_front_matter": (),
    "repaired_site_boxes": (),
    "repaired_heading_ids": (),
    "repaired_html": (),
    "repaired_footnotes": (),
    "repaired_boxes": (),
    "repaired_definitions": (),
    "repaired_opening": (),
    "repaired_closing": (),
    "repaired_narration": (),
    "repaired_title": (),
    "repaired_copy": (),
    "repaired_placeholders": (),
    "repaired_references": (),
    "repaired_marks": (),
    "repaired_bold_lines": (),
    "repaired_loop": (),
    "repaired_pictures": (),
    "repaired_addresses": ("addresses",),
    "repaired_addresses_more": ("addresses", "more"),
}

OF_UPDATES: Mapping[Kind, tuple[str, ...]] = {
    "update_cut": ("said",),
    "update_no_reason": ("number",),
    "update_forbidden": ("action", "number"),
    "update_unusable": ("number",),
    "update_doubt": ("block", "author", "reason"),
}
"""What the update of a text says, until another one."""

_OF_TRANSLATIONS: Mapping[Kind, tuple[str, ...]] = {
    "original_draft": (),
    "original_changed": ("block",),
    "original_gone": ("block",),
    "outdated": ("block", "because"),
    "descriptions": ("number",),
    "untranslated": ("block", "because"),
    "untranslated_more": ("more",),
    "differs": ("block", "because"),
    "missing": ("block",),
    "missing_more": ("more",),
    "unmatched": ("block",),
    "unmatched_more": ("more",),
    "not_followed": ("block", "number"),
    "other_code": ("block",),
    "lacks": ("block", "part"),
    "lacks_more": ("more",),
}

VALUES: Mapping[Kind, tuple[str, ...]] = {
    **_OF_FORM,
    **_OF_QUOTATIONS,
    **_OF_REPAIRS,
    **OF_UPDATES,
    **_OF_TRANSLATIONS,
    "service": ("text",),
}
"""The values of each kind. One that is called `block` is the block of the remark."""


class Remark(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is not as requested in a text, although a person can use it."""

    kind: Kind
    block: Line = ""
    """What names the block that it is about, as `leaf_name()` and `Block.first_words` do."""

    values: Mapping[str, Line | _Number] = {}
    """The values of its kind, by their names in VALUES."""

    def __post_init__(self) -> None:
        """Raise ValueError unless the remark has the values of its kind."""
        names = [*self.values, "block"] if self.block else [*self.values]
        if sorted(names) != sorted(VALUES[self.kind]) or "block" in self.values:
            needed = ", ".join(VALUES[self.kind]) or "none"
            raise ValueError(f"the values of a remark '{self.kind}' are: {needed}")

    @property
    def is_about_quotation(self) -> bool:
        """Whether it is about a quotation that is in no source.

        A text with one cannot be approved before a person has settled that quotation.
        """
        return self.kind in _OF_QUOTATIONS

    @property
    def is_of_update(self) -> bool:
        """Whether an update or a translation says it, and not a check of the form of a text."""
        return self.kind in OF_UPDATES or self.kind in _OF_TRANSLATIONS


def service_remark(text: str) -> Remark:
    """Return a remark in the words of a service."""
    return Remark("service", values={"text": text})


def quotation_remarks(quotations: Iterable[str]) -> list[Remark]:
    """Return the remarks about quotations that are in no source, one for each."""
    found = list(dict.fromkeys(" ".join(quotation.split()) for quotation in quotations))
    remarks = []
    for quotation in found[:_MAX_QUOTATIONS]:
        if len(quotation) > _MAX_QUOTED:
            remarks.append(Remark("quotation_start", values={"start": quotation[:_MAX_QUOTED]}))
        else:
            remarks.append(Remark("quotation", values={"quotation": quotation}))
    more = len(found) - len(remarks)
    if more > 0:
        remarks.append(Remark("quotations_more", values={"more": more}))
    return remarks


def first_remarks(remarks: Sequence[Remark], most: int, more: Kind) -> list[Remark]:
    """Return at most `most` remarks, and then one of the kind `more` with the number of others."""
    others = len(remarks) - most
    if others <= 0:
        return list(remarks)
    return [*remarks[:most], Remark(more, values={"more": others})]


def without_repeated(remarks: Iterable[Remark]) -> list[Remark]:
    """Return remarks, each once."""
    found: dict[tuple[object, ...], Remark] = {}
    for remark in remarks:  # a model can make thousands of them
        found.setdefault((remark.kind, remark.block, *remark.values.items()), remark)
    return list(found.values())


def clean_remarks(values: object) -> list[Remark]:
    """Return the remarks in an untrusted value, of which the words of a service can be a string.

    Control characters are escaped, what is too long is cut off, and what is not a remark is left
    out.
    """
    remarks: list[Remark] = []
    if not isinstance(values, list | tuple):
        return remarks
    for value in values:
        with suppress(ValueError):  # unknown kinds and other values
            remarks.append(_clean_remark(value))
    return remarks[:MAX_REMARKS]


def clean_line(value: str) -> str:
    """Return untrusted words on one line within its limits."""
    return escape_controls(" ".join(value.split()))[:MAX_LINE].rstrip()


def _clean_remark(value: object) -> Remark:
    """Return the remark in an untrusted value. Raises ValueError."""
    if isinstance(value, str):
        text = clean_line(value)
        if not text:
            raise ValueError("it has no words")
        return service_remark(text)
    if isinstance(value, Remark):
        value = structs.asdict(value)
    fields = msgspec.convert(value, dict[str, object])
    cleaned = _clean_strings(fields)
    values = fields.get("values")
    if isinstance(values, dict):
        cleaned["values"] = _clean_strings(values)
    return msgspec.convert(cleaned, Remark)


def _clean_strings(fields: Mapping[str, object]) -> dict[str, object]:
    """Return fields whose strings are lines."""
    cleaned: dict[str, object] = {}
    for name, value in fields.items():
        cleaned[name] = clean_line(value) if isinstance(value, str) else value
    return cleaned

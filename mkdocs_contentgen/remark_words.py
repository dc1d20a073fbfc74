"""The sentences of remarks, in English, for the command line, pages, reports and scripts.

In a sentence, `{words}` is a value. `{more:block|blocks}` chooses a word by a number, for one and
for many, and `{said:; the server said: }` puts words before a value that is not empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a build without requests needs no records
    from .remark import Kind, Remark

SENTENCES: Mapping[Kind, tuple[str, str]] = {
    "cut": (
        "cut",
        "the text was cut off after {words} words (finish_reason '{reason}')"
        "{said:; the server said: }",
    ),
    "cut_at_limit": (
        "cut",
        "the text was cut off after {words} words (finish_reason '{reason}')"
        "{said:; the server said: }; raise the model's limit of tokens or its context, or choose a "
        "shorter length",
    ),
    "stopped": ("cut", "the text was stopped after {words} words, far more than were asked for"),
    "open_end": ("cut", "the text ends in the middle of a sentence: '…{end}'"),
    "section_cut": ("cut", "the section '{heading}' was cut off{said:; the server said: }"),
    "section_missing": ("section", "'{heading}' is missing, since {because}"),
    "headings": ("headings", "the items have no headings with numbers in order"),
    "items": (
        "headings",
        "the text has {items} {items:item|items}, and the topic asks for {wanted}",
    ),
    "closing": ("closing", "the text does not end with a paragraph"),
    "length": ("length", "{words} words for about {target}"),
    "repetition": ("repetition", "a paragraph is repeated: '{start}…'"),
    "self_reference": ("self_reference", "the text talks about itself ('{quote}')"),
    "brief": ("brief", "the text leaves out {parts}"),
    "brief_more": ("brief", "the text leaves out {parts} and {more} more"),
    "citation": ("citation", "these numbers of sources were taken out: {numbers}"),
    "link": ("link", "the address of '{words}' was taken out, since nobody checked it: {address}"),
    "links_more": ("link", "the addresses of {more} more {more:link|links} were taken out"),
    "dead_link": ("link", "'{words}' leads to {address}, and no heading of the text has this name"),
    "quotation": ("quotation", "this quotation is in no source: {quotation}"),
    "quotation_start": ("quotation", "this quotation is in no source: {start} …"),
    "quotations_more": ("quotation", "{more} more {more:is|are} in no source"),
    "repaired_invisible": ("repaired", "characters that nobody sees were taken out"),
    "repaired_thoughts": ("repaired", "thinking text without an end was taken out"),
    "repaired_next_turn": ("repaired", "what follows the end of the model's turn was taken out"),
    "repaired_fence": ("repaired", "a code fence around the text was taken out"),
    "repaired_spaces": ("repaired", "spaces before all lines were taken out"),
    "repaired_json": ("repaired", "the text was taken out of JSON"),
    "repaired_front_matter": ("repaired", "front matter was taken out"),
    "repaired_site_boxes": ("repaired", "marks of boxes and tabs were taken out"),
    "repaired_heading_ids": ("repaired", "ids of headings were taken out"),
    "repaired_html": ("repaired", "HTML was replaced by Markdown or text"),
    "repaired_footnotes": ("repaired", "marks of footnotes were taken out"),
    "repaired_boxes": ("repaired", "marks of boxes were taken out"),
    "repaired_definitions": ("repaired", "marks of definitions were taken out"),
    "repaired_opening": ("repaired", "what the model said before the text was taken out"),
    "repaired_closing": ("repaired", "what the model said after the text was taken out"),
    "repaired_narration": ("repaired", "what the model said of its own work was taken out"),
    "repaired_title": ("repaired", "a title line became the title"),
    "repaired_copy": ("repaired", "a copy of the whole text was taken out"),
    "repaired_placeholders": ("repaired", "placeholders of images were taken out"),
    "repaired_references": ("repaired", "a list of references was taken out"),
    "repaired_marks": ("repaired", "marks of headings and items became Markdown"),
    "repaired_bold_lines": ("repaired", "lines in bold became headings"),
    "repaired_loop": ("repaired", "the text was cut where the model began to repeat itself"),
    "repaired_pictures": ("repaired", "pictures were taken out"),
    "repaired_addresses": ("repaired", "the addresses of links were taken out: {addresses}"),
    "repaired_addresses_more": (
        "repaired",
        "the addresses of links were taken out: {addresses} and {more} more",
    ),
    "update_cut": (
        "update",
        "the answer was cut off, so further blocks may still be wrong{said:; the server said: }",
    ),
    "update_no_reason": (
        "update",
        "no reason is given for block {number}, unlike others; ignored",
    ),
    "update_forbidden": ("update", "the model may not '{action}' at block {number}; ignored"),
    "update_unusable": ("update", "the model's text for block {number} cannot be used"),
    "update_doubt": ("update", "what {author} wrote may be wrong now: {block}: {reason}"),
    "original_draft": ("translation", "the original is a draft that nobody has approved"),
    "original_changed": ("translation", "its original has changed: {block}"),
    "original_gone": ("translation", "its original is gone: {block}"),
    "outdated": (
        "translation",
        "its original has changed: {block}: it is as before, since {because}",
    ),
    "descriptions": (
        "translation",
        "texts of `alt` and `title` that are those of the original: {number}",
    ),
    "untranslated": ("translation", "{block} stays in the language of the original: {because}"),
    "untranslated_more": (
        "translation",
        "{more} more {more:block|blocks} without a usable translation",
    ),
    "differs": ("translation", "{block}: {because}"),
    "missing": ("translation", "the original's {block} has no translation"),
    "missing_more": (
        "translation",
        "{more} more {more:block of the original has|blocks of the original have} no translation",
    ),
    "unmatched": ("translation", "{block} stands for nothing in the original"),
    "unmatched_more": (
        "translation",
        "{more} more {more:block stands|blocks stand} for nothing in the original",
    ),
    "not_followed": (
        "translation",
        "the {number} blocks from {block} on say other things than those beside them; check which "
        "one translates which",
    ),
    "other_code": ("translation", "the code {block} is not that of the original"),
    "lacks": ("translation", "{block} lacks {part} of the original"),
    "lacks_more": ("translation", "{more} more links, pictures or codes are not as there"),
    "service": ("", "{text}"),
}
"""What each kind is about, and what it says. The desk has the same in `remarks.json`."""


def sentence_of(remark: Remark) -> str:
    """Return a remark in words, such as `length: 640 words for about 900`."""
    subject, _ = SENTENCES[remark.kind]
    said = message_of(remark)
    return f"{subject}: {said}" if subject else said


def sentences_of(remarks: Iterable[Remark]) -> list[str]:
    """Return remarks in words."""
    return [sentence_of(remark) for remark in remarks]


def message_of(remark: Remark) -> str:
    """Return a remark in words, without what it is about, such as `640 words for about 900`."""
    values: dict[str, _Number | _Words] = {"block": _Words(remark.block)}
    for name, value in remark.values.items():
        values[name] = _Words(value) if isinstance(value, str) else _Number(value)
    _, said = SENTENCES[remark.kind]
    return said.format_map(values)


class _Number(int):
    """A number in a sentence, or a word that it chooses."""

    def __format__(self, words: str) -> str:
        one, is_choice, many = words.partition("|")
        if is_choice:
            return one if self == 1 else many
        return f"{int(self):,}"


class _Words(str):
    """Words in a sentence, after others unless they are empty."""

    __slots__ = ()

    def __format__(self, before: str) -> str:
        return f"{before}{self!s}" if self else ""

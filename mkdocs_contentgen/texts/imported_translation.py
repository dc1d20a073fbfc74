"""Find what a translation that was made elsewhere translates of its original."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..display import shortened
from ..files import sha256
from ..html.article import image_hosts_of
from ..html.descriptions import CITATION_LABEL
from ..html.document import Block, Document, is_block
from ..text import Original, Text
from .alignment import align_unknown
from .remembered import (
    MISSING,
    Remembered,
    forms_of,
    short_digest_of,
    write_additions,
    write_remembered,
)
from .translation import first_problems, leaf_name, problems_of_missing

_MAX_NAMED = 5
"""How many blocks are named of those that have the same problem."""

_MAX_ADDRESS = 80
"""How many characters of an address are shown in a message."""


@dataclass(frozen=True)
class AlignedImport:
    """What an imported translation is to remember, and what a person should know of it."""

    original: Original

    problems: Sequence[str]
    """What could not be aligned, and what of the original is not in its translation."""


def align_import(
    original: Text, html: str, *, language: str = "", is_draft: bool = False
) -> AlignedImport:
    """Return which blocks of a person's translation stand for which of its original.

    `html` is that of the translation as it is kept. `language` is that of the original, as a BCP 47
    tag, or empty, and `is_draft` says that nobody has approved it. Raises UnsafeHTMLError.
    """
    hosts = image_hosts_of(original.html) | image_hosts_of(html)
    leaves = Document(original.html, hosts).leaves()
    own_leaves = Document(html, hosts).leaves()
    matched = align_unknown(leaves, own_leaves)
    remembered = []
    for number, form in enumerate(forms_of(leaves)):
        own = matched.get(number)
        own_digest = MISSING if own is None else short_digest_of(own_leaves[own])
        remembered.append(Remembered(form, own_digest))
    aligned = set(matched.values())
    missing = [leaf for leaf in leaves if leaf.number not in matched]
    added = []
    for leaf in own_leaves:
        if leaf.number not in aligned and is_block(leaf.element):
            added.append(leaf)
    return AlignedImport(
        Original(
            write_remembered(remembered),
            sha256(original.html),
            language,
            is_draft=is_draft,
            additions=write_additions(added),
        ),
        [
            *_not_aligned(missing, added),
            *_lacking_parts(leaves, own_leaves, matched),
        ],
    )


def _not_aligned(missing: Sequence[Block], added: Sequence[Block]) -> list[str]:
    """Return what is to be said of blocks of one text that stand for none of the other."""
    of_added = first_problems(
        [f"{block.first_words} stands for nothing in the original" for block in added],
        _MAX_NAMED,
        "block stands for nothing in the original",
        "blocks stand for nothing in the original",
    )
    return problems_of_missing(missing) + of_added


def _lacking_parts(
    leaves: Sequence[Block], own_leaves: Sequence[Block], matched: dict[int, int]
) -> list[str]:
    """Return what is to be said of links, pictures and code that are not as in the original."""
    problems = []
    for number, own_number in matched.items():
        leaf = leaves[number]
        own = own_leaves[own_number]
        if leaf.kind == "pre" and leaf.element.get_text() != own.element.get_text():
            problems.append(f"the code {own.first_words} is not that of the original")
        for address in _addresses(leaf):
            if address not in _addresses(own):
                shown = shortened(address, _MAX_ADDRESS)
                problems.append(f"{leaf_name(own)} lacks {shown} of the original")
        if leaf.kind != "pre":
            for code in _missing_code(leaf, own):
                shown = shortened(code, _MAX_ADDRESS)
                problems.append(f"{leaf_name(own)} lacks `{shown}` of the original")
    what_they_are = "links, pictures or codes are not as there"
    return first_problems(problems, _MAX_NAMED, what_they_are, what_they_are)


def _missing_code(leaf: Block, own: Block) -> list[str]:
    """Return the code in the text of a leaf that does not stand in its translation, in any form."""
    text = " ".join(own.element.get_text().split())
    missing = []
    for element in leaf.element.find_all("code"):
        code = " ".join(element.get_text().split())
        # Letters of Chinese, for example, stand beside code without a space.
        in_text = rf"(?<![A-Za-z0-9_]){re.escape(code)}(?![A-Za-z0-9_])"
        if code and code not in missing and not re.search(in_text, text):
            missing.append(code)
    return missing


def _addresses(leaf: Block) -> list[str]:
    """Return the addresses of links and pictures in a leaf, and the citations without one."""
    addresses = []
    for tag in leaf.element.find_all(["a", "img"]):
        addresses.append(str(tag.get("href") or tag.get("src")))
    for text in leaf.element.find_all(string=CITATION_LABEL):
        if not text.find_parent(["a", "code"]):
            addresses += CITATION_LABEL.findall(text)
    return addresses

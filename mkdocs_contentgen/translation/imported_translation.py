"""Give a translation that was made elsewhere the structure of its original.

Which block translates which is found once, with nothing remembered of either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bs4 import Tag

from ..display import counted, shortened
from ..files import sha256
from ..html.block import Block, is_block
from ..html.descriptions import CITATION_LABEL
from ..html.document import Document, ReadText
from ..remark import Remark, first_remarks
from ..text import Original
from .alignment import align_unknown
from .code_blocks import have_same_code, take_label
from .composing import Former, compose, rows_in, tree_of
from .first_translation import (
    RESTORED,
    ReadAgain,
    for_translation,
    leaf_name,
    remarks_on_missing,
    reread,
    untranslated,
)
from .remembered import (
    MISSING,
    Remembered,
    forms_of,
    place_of,
    short_digest_of,
    write_additions,
    write_remembered,
)
from .translatable import has_words

_MAX_NAMED = 5
"""How many blocks are named of those that have the same problem."""

_MAX_ADDRESS = 80
"""How many characters of an address are shown in a message."""


@dataclass(frozen=True)
class ImportedTranslation:
    """A translation that was made elsewhere, with the structure of its original."""

    document: Document
    original: Original
    """What it is to remember. Marks of statements do not count for that."""

    translated: Sequence[tuple[Block, Block]]
    """Each leaf that translates one of the original, with that one."""

    remarks: Sequence[Remark]
    """What could not be aligned, and what of the original is not in its translation."""

    changes: Sequence[str]
    """What was changed of its structure."""


def import_translation(
    original: ReadText, own: Document, *, language: str = "", is_draft: bool = False
) -> ImportedTranslation:
    """Return a person's translation with the structure of its original.

    What stands for nothing there stays after what it stood after. `own` is the document of the
    translation, which is changed. `language` is that of the original, as a BCP 47 tag, or empty,
    and `is_draft` says that nobody has approved it. Raises EditError if the text could not be
    shown.
    """
    source = original.document
    leaves = source.leaves()
    own_leaves = own.leaves()
    matched = _keep_rows(align_unknown(leaves, own_leaves), leaves, own_leaves)
    words = _words(leaves, own_leaves, matched)
    former = Former(
        tree_of(own.article, own_leaves), {own: number for number, own in matched.items()}
    )
    composed = compose(tree_of(source.article, leaves), words, former)
    composed.root.attrs = dict(own.article.attrs)
    own.article = composed.root
    after = reread(own)
    read = ReadAgain(own, after)
    remembered = []
    translated = []
    without_words = []
    for leaf, form in zip(leaves, forms_of(leaves), strict=True):
        own_digest = MISSING
        if leaf.number in composed.placed:
            new = read.leaf(composed.placed[leaf.number])
            own_digest = short_digest_of(new)
            if leaf.number in matched:
                translated.append((new, leaf))
            elif has_words(leaf):
                without_words.append(untranslated(leaf.first_words, "its row has no words for it"))
        remembered.append(Remembered(form, own_digest))
    missing = [leaf for leaf in leaves if leaf.number not in composed.placed]
    added = [read.leaf(element) for element in composed.added.values()]
    return ImportedTranslation(
        after,
        Original(
            write_remembered(remembered),
            sha256(original.text.html),
            language,
            is_draft=is_draft,
            additions=write_additions(added),
        ),
        translated,
        [
            *_not_aligned(missing, [leaf for leaf in added if is_block(leaf.element)]),
            *first_remarks(without_words, _MAX_NAMED, "untranslated_more"),
            *_lacking_parts(translated),
        ],
        _changes(leaves, own_leaves, matched),
    )


def _keep_rows(
    matched: Mapping[int, int], leaves: Sequence[Block], own_leaves: Sequence[Block]
) -> dict[int, int]:
    """Return what was matched, with each row of a table in one row, and its cells by their column.

    In rows with another number of cells, those stay matched that are in the same two rows.
    """
    rows = rows_in(leaves)
    own_rows = rows_in(own_leaves)
    row_of = _row_of(rows)
    own_row_of = _row_of(own_rows)
    kept = {}
    votes: Counter[tuple[int, int]] = Counter()
    for number, own in matched.items():
        if number in row_of and own in own_row_of:
            votes[row_of[number], own_row_of[own]] += 1
        elif number not in row_of and own not in own_row_of:
            kept[number] = own
    taken: set[int] = set()
    own_taken: set[int] = set()
    for (row, own_row), _ in votes.most_common():
        if row in taken or own_row in own_taken:
            continue
        taken.add(row)
        own_taken.add(own_row)
        if len(rows[row]) == len(own_rows[own_row]):
            kept |= dict(zip(rows[row], own_rows[own_row], strict=True))
            continue
        for number in rows[row]:
            if matched.get(number) in own_rows[own_row]:
                kept[number] = matched[number]
    return dict(sorted(kept.items()))


def _row_of(rows: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return the row of each leaf, by their numbers."""
    found: dict[int, int] = {}
    for row, numbers in enumerate(rows):
        found |= dict.fromkeys(numbers, row)
    return found


def _words(
    leaves: Sequence[Block], own_leaves: Sequence[Block], matched: Mapping[int, int]
) -> list[Tag | None]:
    """Return the words for each leaf of the original: those of the leaf which translates it.

    A row stays whole: its cells without a translation have the words of the original.
    """
    words: list[Tag | None] = []
    for leaf in leaves:
        own = matched.get(leaf.number)
        if own is None:
            words.append(None)
        elif short_digest_of(own_leaves[own]) == short_digest_of(leaf):  # such as code
            words.append(for_translation(leaf).element)
        else:
            if leaf.kind == "pre":
                take_label(own_leaves[own].element, leaf.element)
            words.append(own_leaves[own].element)
    for row in rows_in(leaves):
        if not matched.keys().isdisjoint(row):
            for number in row:
                words[number] = words[number] or for_translation(leaves[number]).element
    return words


def _changes(
    leaves: Sequence[Block], own_leaves: Sequence[Block], matched: Mapping[int, int]
) -> list[str]:
    """Return what is to be said of blocks that get another tag, or something else around them."""
    changed = []
    for number, own in matched.items():
        if place_of(leaves[number]) != place_of(own_leaves[own]):
            changed.append(f"restored {leaf_name(own_leaves[own])}: {RESTORED}")
    more = len(changed) - _MAX_NAMED
    if more <= 0:
        return changed
    return [*changed[:_MAX_NAMED], f"{counted(more, 'more restored block')}: {RESTORED}"]


def _not_aligned(missing: Sequence[Block], added: Sequence[Block]) -> list[Remark]:
    """Return the remarks on blocks of one text that stand for none of the other."""
    of_added = [Remark("unmatched", block.first_words) for block in added]
    return [
        *remarks_on_missing(missing),
        *first_remarks(of_added, _MAX_NAMED, "unmatched_more"),
    ]


def _lacking_parts(translated: Sequence[tuple[Block, Block]]) -> list[Remark]:
    """Return the remarks on links, pictures and code that are not as in the original."""
    remarks = []
    for own, leaf in translated:
        if leaf.kind == "pre" and not have_same_code(leaf.element, own.element):
            remarks.append(Remark("other_code", own.first_words))
        for address in _addresses(leaf):
            if address not in _addresses(own):
                shown = shortened(address, _MAX_ADDRESS)
                remarks.append(Remark("lacks", leaf_name(own), {"part": shown}))
        if leaf.kind != "pre":
            for code in _missing_code(leaf, own):
                shown = shortened(code, _MAX_ADDRESS)
                remarks.append(Remark("lacks", leaf_name(own), {"part": f"`{shown}`"}))
    return first_remarks(remarks, _MAX_NAMED, "lacks_more")


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

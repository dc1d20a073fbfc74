"""Say what people have written in a text, and what of it a replacement would lose.

This is the one guard of human edits: the writer of approved files asks it under the lock of their
directory, unless the choice of the text has asked it of that same file, and the cache asks it in
the transaction that replaces a text. So no command can replace a text without it.

Leaves are compared by their content, in which links, titles, alternative texts of images and the
white space of code count as words do. Marks and inline styles do not count: an approval takes them
off.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..text import Text
from .approved_file import SOMEBODY, ApprovedText

if TYPE_CHECKING:
    from ..html.block import Leaf
    from ..html.document import Document

_STRUCTURE = "the order of the text, or the lists, tables and quotations in it"

_MAX_NAMED = 3
"""How many edits a message names."""


@dataclass(frozen=True)
class HumanEdit:
    """Something that a person has written in a text, or has taken out of it."""

    by: str
    """The name of the person, or `SOMEBODY`."""

    name: str
    """Names it in a message: its first words in quotes, and its descriptions."""

    words: str
    """The plain text of the block that was written, or the words that were taken out."""

    digest: str = ""
    """The `content_digest` of the block or the picture, or an empty string."""

    is_removal: bool = False
    """Whether a person has taken these words out, and the replacement has them again."""

    is_confirmation: bool = False
    """Whether it is a statement that a person has confirmed."""

    def __str__(self) -> str:
        if self.is_removal:
            return f"{self.name}, which was removed"
        if self.is_confirmation:
            return f"{self.name}, which was confirmed"
        return f"{self.name} by {self.by}"


_LOST_STRUCTURE = HumanEdit(SOMEBODY, _STRUCTURE, _STRUCTURE)


def has_human_edits(text: Text) -> bool:
    """Tell whether a person has written or changed something in a text."""
    return bool(text.written_by) or text.edits is not None


def has_edits_of_its_own(draft: Text, in_file: Text | None) -> bool:
    """Tell whether people have worked on a draft, beside what they did with the text of its file.

    An update keeps what is known of the text that it updates: who wrote its blocks, what was
    confirmed or removed, and the reason for its approval. Nobody did that with the draft.
    """
    if draft.written_by:
        return in_file is None or bool(lost_edits(draft, in_file))
    if draft.edits is None:
        return False
    known = in_file.edits if in_file else None
    if known is None:  # then no update has kept the edits, whatever is in them
        return True
    return (
        draft.edits.settled > known.settled
        or not known.changed_by.keys() >= draft.edits.changed_by.keys()
        or not set(known.confirmed).issuperset(draft.edits.confirmed)
        or not set(known.removed).issuperset(draft.edits.removed)
    )


def lost_edits(before: Text, after: Text) -> list[HumanEdit]:
    """Return what people have written in a text that another one in its place does not have."""
    if before.html == after.html or not has_human_edits(before):
        return []
    from ..html.document import leaves_or_none  # most texts have no human edits

    leaves = leaves_or_none(before.html)
    return _lost_in(before, leaves, leaves_or_none(after.html))


def edits_lost_in(file: ApprovedText, after: Document | None) -> list[HumanEdit]:
    """Return the human edits of an approved file that a text in its place would lose.

    `after` is the document of that text, or None if no build can show it.
    """
    before = file.text
    is_edited = file.is_changed or has_human_edits(before)
    if not is_edited or (after is not None and after.source == before.html):
        return []
    from ..html.document import leaves_or_none

    leaves = leaves_or_none(before.html)
    leaves_after = None if after is None else after.as_leaves()
    written = file.header.blocks.split() if file.is_changed else None
    return _lost_in(before, leaves, leaves_after, written)


def _lost_in(
    before: Text,
    leaves: Sequence[Leaf] | None,
    leaves_after: Sequence[Leaf] | None,
    written: Collection[str] | None = None,
) -> list[HumanEdit]:
    """Return what people have written in a text with these leaves that another one has not.

    `leaves_after` are those of the other one. Both are None for a text that no build can show.
    `written` are the short digests of the blocks of a file as it was written, if somebody has
    edited it since: then, nobody knows who wrote its pictures, has taken blocks out, or has put
    them into another order.
    """
    if leaves is None:  # nobody can tell what is lost, so it is all of it
        return [HumanEdit(before.written_by or SOMEBODY, "a text that no build can show", "")]
    pictures_by = "" if written is None else SOMEBODY
    lost = _lost_leaves(before, leaves, leaves_after or (), pictures_by)
    if leaves_after is not None:
        lost += _restored_words(before, leaves, leaves_after)
    if lost or written is None:
        return lost
    if leaves_after is None:
        return [_LOST_STRUCTURE]
    return _restored_blocks(written, leaves, leaves_after) or _lost_structure(leaves, leaves_after)


def lost_confirmations(before: Text, after: Text) -> list[HumanEdit]:
    """Return the statements that people have confirmed in a draft, and not in another one."""
    if before.edits is None:
        return []
    confirmed = after.edits.confirmed if after.edits else ()
    lost = []
    for statement in before.edits.confirmed:
        if statement not in confirmed:
            edit = HumanEdit(SOMEBODY, f"'{statement}'", statement, is_confirmation=True)
            lost.append(edit)
    return lost


def _restored_blocks(
    written: Collection[str], leaves: Sequence[Leaf], leaves_after: Sequence[Leaf]
) -> list[HumanEdit]:
    """Return the blocks that somebody has taken out of a file, and that another text has again."""
    gone = set(written)
    gone -= {leaf.short_content_digest for leaf in leaves}
    restored = []
    for leaf in leaves_after if gone else ():
        if leaf.short_content_digest in gone:
            edit = HumanEdit(SOMEBODY, leaf.names[0], leaf.text, is_removal=True)
            restored.append(edit)
    return restored


def _lost_structure(leaves: Sequence[Leaf], leaves_after: Sequence[Leaf]) -> list[HumanEdit]:
    """Return one edit if what both texts have has another order or other elements around it.

    Those are lists, rows, quotations and lines between paragraphs. A file that somebody has edited
    does not say how they were before, so nobody can tell who changed them.
    """
    in_both = {leaf.content_digest for leaf in leaves}
    in_both &= {leaf.content_digest for leaf in leaves_after}
    if _structure(leaves, in_both) == _structure(leaves_after, in_both):
        return []
    return [_LOST_STRUCTURE]


def _structure(leaves: Sequence[Leaf], in_both: Collection[str]) -> list[tuple[str, str]]:
    """Return the leaves that are `in_both` documents or have no words, and the tags around each."""
    found = []
    for leaf in leaves:
        if leaf.content_digest in in_both or leaf.kind != "block":
            found.append((leaf.content_digest, leaf.around))
    return found


def named_edits(edits: Sequence[HumanEdit]) -> str:
    """Return the first edits as a part of a message, and how many more there are."""
    named = ", ".join(map(str, edits[:_MAX_NAMED]))
    more = len(edits) - _MAX_NAMED
    return f"{named} and {more} more" if more > 0 else named


def _lost_leaves(
    before: Text, leaves: Sequence[Leaf], leaves_after: Sequence[Leaf], pictures_by: str
) -> list[HumanEdit]:
    """Return the leaves of a text by people that another one has not.

    `pictures_by` is the author of pictures beside blocks, or an empty string for a model. A text
    has no names for them, since they have no words of their own.
    """
    kept = {leaf.content_digest for leaf in leaves_after}
    lost = []
    for leaf in leaves:
        author = _author(before, leaf, pictures_by)
        if author and leaf.content_digest not in kept:
            name = " with ".join(leaf.names[:2]) or "a picture"
            lost.append(HumanEdit(author, name, leaf.text, leaf.content_digest))
    return lost


def _author(text: Text, leaf: Leaf, pictures_by: str) -> str:
    """Return the person who wrote a block or a picture, or an empty string for a model."""
    if leaf.kind == "block":
        return text.changed_by.get(leaf.digest, "") or text.written_by
    if leaf.kind == "picture":
        return text.written_by or pictures_by
    return ""


def _restored_words(
    before: Text, leaves: Sequence[Leaf], leaves_after: Sequence[Leaf]
) -> list[HumanEdit]:
    """Return what people have taken out of a text, and another one says again."""
    if before.edits is None or not before.edits.removed:
        return []
    said_before = "\n".join(leaf.text for leaf in leaves)
    said_after = "\n".join(leaf.text for leaf in leaves_after)
    restored = []
    for removed in before.edits.removed:
        words = removed.removesuffix("…")  # which shortened() adds
        if words in said_after and words not in said_before:
            restored.append(HumanEdit(SOMEBODY, f"'{removed}'", words, is_removal=True))
    return restored

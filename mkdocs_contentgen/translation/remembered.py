"""What a translation remembers of its original and of itself: digests, and no words.

For each leaf of the original, there are three digests and a number, so that it is known not only
that it has changed, but whether that needs other words: a heading of another level, an item that
is in a numbered list now, and a citation with another number have the same words. For what stands
for it, there is a digest without its tag, which is the original's, and whether a person wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bs4 import Tag

from ..files import short_digest
from ..html.block import Block, is_block
from ..html.html_writer import start_tag
from .composing import without_content
from .translatable import words_of

REMOVED = "00000000"
"""In place of the digest of a part of the translation that a person has removed."""

MISSING = "ffffffff"
"""In place of that of a part that never had a translation."""

_BY_PERSON = ":p"
"""After the digest of what a person wrote."""

_DIGITS = 8
"""How many hex digits of a digest are remembered."""


@dataclass(frozen=True)
class LeafDigests:
    """What is remembered of a leaf of an original."""

    words: str
    """The digest of the words that are translated, or of all if there are none."""

    content: str
    """The digest of all that is in it, such as its words, links and citations, or of its code."""

    place: str
    """The digest of its tag, and of those around it."""

    shared: int
    """How many of the elements around it are also around the leaf before it, such as a list."""

    def differs_only_in_content(self, other: LeafDigests) -> bool:
        """Tell whether another one has the same words, but other links, for example."""
        return self.words == other.words and self.content != other.content


@dataclass(frozen=True)
class Remembered:
    """A leaf of an original, as that was, and what stood for it in the translation."""

    form: LeafDigests
    own: str
    """The digest of what stood for it, without its tag, or REMOVED or MISSING."""

    is_by_person: bool = False
    """Whether a person wrote that."""


def forms_of(leaves: Sequence[Block]) -> list[LeafDigests]:
    """Return what is to be remembered of the leaves of an original."""
    forms = []
    all_around = [_elements_around(leaf) for leaf in leaves]
    for leaf, around, shared in zip(leaves, all_around, _count_shared(all_around), strict=True):
        words = words_of(leaf)
        if words:
            digest_of_words = short_digest(words)[:_DIGITS]
        else:
            digest_of_words = short_digest_of(leaf)
        content = short_digest_of(leaf)
        forms.append(LeafDigests(digest_of_words, content, _place_of(leaf, around), shared))
    return forms


def shared_elements(leaves: Iterable[Block]) -> list[int]:
    """Return `LeafDigests.shared` of each leaf."""
    return _count_shared(map(_elements_around, leaves))


def place_of(leaf: Block) -> str:
    """Return `LeafDigests.place` of a leaf."""
    return _place_of(leaf, _elements_around(leaf))


def _count_shared(all_around: Iterable[Sequence[Tag]]) -> list[int]:
    """Return how many of the elements around each leaf are also around the leaf before it."""
    counts = []
    before: set[int] = set()
    for elements in all_around:
        around = {id(element) for element in elements}
        counts.append(len(around & before))
        before = around
    return counts


def short_digest_of(leaf: Block) -> str:
    """Return the digest that is remembered of the content of a leaf.

    Of code, white space and the name of its language say nothing: texts from elsewhere have others.
    """
    if leaf.kind == "pre":
        return short_digest("".join(leaf.element.get_text().split()))[:_DIGITS]
    if not leaf.element.contents:  # an empty cell is not a line, so that the tag counts
        return leaf.content_digest[:_DIGITS]
    return leaf.inner_digest[:_DIGITS]


def write_remembered(remembered: Iterable[Remembered]) -> str:
    """Return `Original.blocks`."""
    parts = []
    for leaf in remembered:
        form = leaf.form
        by = _BY_PERSON if leaf.is_by_person else ""
        parts.append(f"{form.words}:{form.content}:{form.place}:{form.shared}:{leaf.own}{by}")
    return " ".join(parts)


def write_additions(leaves: Iterable[Block]) -> str:
    """Return `Original.additions`, without leaves that are not blocks, such as empty cells."""
    return " ".join(short_digest_of(leaf) for leaf in leaves if is_block(leaf.element))


def read_remembered(blocks: str) -> list[Remembered]:
    """Return what write_remembered() has written."""
    found = []
    for part in blocks.split():
        words, content, place, shared, own = part.removesuffix(_BY_PERSON).split(":")
        is_by_person = part.endswith(_BY_PERSON)
        found.append(Remembered(LeafDigests(words, content, place, int(shared)), own, is_by_person))
    return found


def _elements_around(leaf: Block) -> list[Tag]:
    """Return the elements around a leaf, except the article."""
    return list(leaf.element.parents)[:-1]


def _place_of(leaf: Block, around: Iterable[Tag]) -> str:
    """Return the digest of the tags around a leaf, and of its own, which loose text has not."""
    elements = [*around]
    if leaf.kind != "text":
        elements.insert(0, leaf.element)
    tags = []
    for element in elements:
        plain = without_content(element)
        plain.attrs.pop("style", None)  # an approval takes it off
        tags.append(start_tag(plain))
    return short_digest("".join(tags))[:_DIGITS]

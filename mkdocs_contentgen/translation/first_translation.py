"""Take a text apart for a translator, and make a text of its structure and the translated words.

Everything but words is the original's: structure, order, levels, code, links, pictures, citations
and the list of sources. What a translator answers is checked against each block of the original; a
block without a usable translation stays in the original's language, with a remark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from datetime import datetime
from functools import lru_cache

from bs4 import Tag
from msgspec import structs

from ..errors import EditError, UnsafeHTMLError
from ..files import sha256
from ..html.block import Block, is_block
from ..html.descriptions import (
    Description,
    description_name,
    descriptions_in,
    replace_descriptions,
)
from ..html.document import Document, document_of
from ..html.elements import BLOCK_LEVEL
from ..html.html_writer import unwrap_hints
from ..html.plaintext import plain_text
from ..language.languages import Language, find_language
from ..language.words import count_words, split_words
from ..remark import Remark, first_remarks
from ..service.protocol import MAX_BLOCKS, OriginalBlock, Translated, TranslatedBlock, Translation
from ..text import Original, Text, clean_fields
from . import alignment
from .composing import compose, tree_of
from .remembered import Remembered, forms_of, short_digest_of, write_remembered
from .translatable import set_translated, to_translatable
from .units import BESIDE_BYLINE, OriginalParts, find_byline

RESTORED = "a translation has the levels and lists of its original"
"""What is said of a block around which a person had another structure."""

_NOT_ANSWERED = "the answer has no translation of it"
_ANSWERED_TWICE = "the answer has two translations of it"
_TOO_MANY = f"at most {MAX_BLOCKS:,} blocks are translated"

_MAX_MISSING = 5
"""How many blocks for which nothing stands have a remark of their own."""

_MAX_UNTRANSLATED = 20
"""How many blocks in the language of the original have a remark of their own."""

_MAX_COUNTED = 200
"""For how many changed originals it is known what has changed, while a site is served."""


def plan_translation(original: Text, language: str, from_language: str = "") -> Translation:
    """Return what a translator gets of a text. Raises UnsafeHTMLError.

    Both languages are BCP 47 tags; that of the original is empty if it is not known.
    """
    blocks = []
    for _, part in OriginalParts(document_of(original.html), language):
        with suppress(EditError):  # the composed text will have a remark that says why
            blocks.append(OriginalBlock(part.number, part.kind, to_translatable(part)))
    return Translation(language, blocks[:MAX_BLOCKS], from_language)


def first_translation(
    original: Text,
    asked: Translation,
    translated: Translated,
    *,
    request: Mapping[str, object],
    generated_at: datetime,
    is_draft: bool = False,
) -> Text:
    """Return the translation of a text, made of the answer to what plan_translation() returned.

    `request` is the record of the translation's request, and `is_draft` says that nobody has
    approved the original. Raises EditError if the text could not be shown.
    """
    document = document_of(original.html)
    parts = OriginalParts(document, asked.language)
    wording = Wording(parts, asked.language, asked.blocks, translated)
    words = []
    problems = []
    for leaf in parts.leaves:
        new, problem = wording.translated(leaf)
        words.append(new.element)
        if problem:
            problems.append(untranslated(leaf.first_words, problem))
    problems += wording.problems
    described = descriptions_in(document.article)
    composed = compose(tree_of(document.article, parts.leaves), words)
    set_language(composed.root, asked.language)
    document.article = composed.root
    after = reread(document)
    leaves = after.leaves()
    if len(leaves) != len(parts.leaves):
        raise EditError("the blocks of the translation are not those of the original")
    remembered = []
    for form, leaf in zip(forms_of(parts.leaves), leaves, strict=True):
        remembered.append(Remembered(form, short_digest_of(leaf)))
    remarks = remarks_on_whole(described, after.article, is_draft=is_draft)
    remarks += [*remarks_on_untranslated(problems), *wording.remarks, *translated.remarks]
    return Text(
        after.to_lines(),
        generated_at,
        dict(request),
        sources=original.sources,
        passages=original.passages,
        original=Original(
            write_remembered(remembered),
            sha256(original.html),
            asked.from_language,
            is_draft=is_draft,
        ),
        **clean_fields({"model": translated.model, "remarks": remarks}),
    )


@lru_cache(_MAX_COUNTED)
def count_changes(original: Original, html: str) -> int:
    """Return how many blocks of an original are new, moved, other than they were, or gone.

    `original` is what its translation remembers. Raises UnsafeHTMLError.
    """
    leaves = document_of(html).leaves()
    return alignment.count_changed_leaves(original.blocks, leaves)


def of_approved_original(translation: Text) -> Text:
    """Return a translation that knows that its original, a draft so far, is approved now."""
    if translation.original is None:
        return translation
    remarks = []
    for remark in translation.remarks:
        if remark.kind != "original_draft":
            remarks.append(remark)
    original = structs.replace(translation.original, is_draft=False)
    return structs.replace(translation, remarks=tuple(remarks), original=original)


def for_translation(leaf: Block) -> Block:
    """Return a copy of a leaf of an original that can stand in a text in another language."""
    element = copy(leaf.element)
    unwrap_hints(element)
    return Block(leaf.number, element)


class Wording:
    """The words in another language for the parts of an original.

    `translated` is the untrusted answer for those of `asked` that have no translation yet.
    """

    def __init__(
        self,
        parts: OriginalParts,
        language: str,
        asked: Iterable[OriginalBlock],
        translated: Translated,
    ) -> None:
        self._language = find_language(language)
        self._parts = parts
        self._asked = {block.number for block in asked if not block.translation}
        self._answers: dict[int, list[TranslatedBlock]] = {}
        for answer in translated.blocks:
            self._answers.setdefault(answer.block, []).append(answer)
        self.remarks: list[Remark] = []
        """What a translator says of what was translated so far."""

        self.problems: list[Remark] = []
        """The remarks on descriptions that have no translation."""

        self.has_new_words = False
        """Whether words of the answer were put into a leaf."""

    def translated(self, leaf: Block) -> tuple[Block, str]:
        """Return a copy of a leaf of the original in the other language.

        Words stay as they are if they need no translation, or have none. Then it is said why they
        have none.
        """
        new = for_translation(leaf)
        problem = self._put_words(new)
        if not problem:
            self._put_descriptions(new)
        return new, problem

    def _put_words(self, leaf: Block) -> str:
        """Replace the words of a leaf, or return why they have no translation."""
        part = self._parts.words.get(leaf.number)
        if part is None:
            if self._language:
                self._put_known_words(leaf, self._language)
            return ""
        problem = self._put_answer(part, leaf)
        if not problem:
            self._remark(leaf.first_words, [self._answer(part).remark])
        return problem

    def _put_answer(self, part: Block, block: Block) -> str:
        """Replace the words of a block by the answer for a part, or return why not."""
        problem = self._problem_of_answer(part)
        if problem:
            return problem
        try:
            set_translated(block, self._answer(part).text)
        except EditError as error:
            return str(error)
        self.has_new_words = True
        return ""

    def _put_descriptions(self, leaf: Block) -> None:
        """Replace the descriptions in a leaf, and note which have no translation."""
        replaced: dict[Description, str] = {}
        for part in self._parts.descriptions(leaf.number):
            block = Block(part.number, copy(part.element))
            problem = self._put_answer(part, block)
            if problem:
                self.problems.append(
                    untranslated(description_name((part.kind, part.text)), problem)
                )
                continue
            words = plain_text(block.text)
            replaced[part.kind, part.element.get_text()] = words
            # An attribute has no place for a mark.
            name = description_name((part.kind, words))
            invented = map(not_in_original, block.statements)
            self._remark(name, [*invented, self._answer(part).remark])
        replace_descriptions(leaf.element, replaced)

    def _remark(self, name: str, said: Iterable[str]) -> None:
        """Keep what is to be said of what has this name, if there is anything."""
        self.remarks += remarks_on_words(name, said)

    def _put_known_words(self, leaf: Block, language: Language) -> None:
        """Replace words that are the same in all texts of a language."""
        byline = find_byline(leaf)
        if byline:
            words = byline.strip(BESIDE_BYLINE)
            byline.replace_with(byline.replace(words, language.byline))
        elif leaf.number in self._parts.listed and leaf.kind == "h2":
            leaf.element.string = language.sources

    def _answer(self, part: Block) -> TranslatedBlock:
        """Return the answer for a part, if _problem_of_answer() has no objection to it."""
        return self._answers[part.number][0]

    def _problem_of_answer(self, part: Block) -> str:
        """Return why there is not one answer with words for a part, or an empty string."""
        if part.number not in self._asked:
            return _problem_of(part) or _TOO_MANY
        answers = self._answers.get(part.number, [])
        if len(answers) > 1:
            return _ANSWERED_TWICE
        if not answers:
            return _NOT_ANSWERED
        if not answers[0].text.strip():
            return answers[0].remark or _NOT_ANSWERED
        return ""


def remarks_on_whole(
    described: Collection[Description], translation: Tag, *, is_draft: bool
) -> list[Remark]:
    """Return the remarks on a whole translation. `is_draft` is about its original.

    They say that the original is a draft, and how many descriptions of pictures and links are still
    among those of the original, which are `described`.
    """
    remarks = [Remark("original_draft")] if is_draft else []
    same = 0
    for description in descriptions_in(translation):
        _, words = description
        # A single word is a name in most texts, and stays.
        if description in described and count_words(split_words(words)) > 1:
            same += 1
    if same:
        remarks.append(Remark("descriptions", values={"number": same}))
    return remarks


def is_on_whole(remark: Remark) -> bool:
    """Tell whether a remark is one of remarks_on_whole()."""
    return remark.kind in ("original_draft", "descriptions")


def untranslated(name: str, because: str) -> Remark:
    """Return the remark on what has this name and stays in the language of the original."""
    return Remark("untranslated", name, {"because": because})


def remarks_on_words(name: str, said: Iterable[str]) -> list[Remark]:
    """Return a remark on the words of what has this name, or none if there is nothing to say."""
    words = "; ".join(filter(None, said))
    return [Remark("differs", name, {"because": words})] if words else []


def not_in_original(statement: str) -> str:
    """Return what is to be said of a statement where it cannot be marked."""
    return f"'{statement}' is not in the original"


def leaf_name(leaf: Block) -> str:
    """Return what names a leaf in a message."""
    if leaf.text:
        return leaf.first_words
    if leaf.kind == "hr":
        return "a line"
    return "a picture" if leaf.element.find("img") else "an empty cell"


def remarks_on_untranslated(remarks: Sequence[Remark]) -> list[Remark]:
    """Return the first of the remarks about blocks without a translation, so others have room."""
    return first_remarks(remarks, _MAX_UNTRANSLATED, "untranslated_more")


def remarks_on_missing(blocks: Sequence[Block]) -> list[Remark]:
    """Return remarks on blocks of an original for which nothing stands.

    On lines and empty cells, there are none.
    """
    names = filter(None, map(_name_of_missing, blocks))
    remarks = [Remark("missing", name) for name in names]
    return first_remarks(remarks, _MAX_MISSING, "missing_more")


def _name_of_missing(block: Block) -> str:
    """Return what names a part of an original that is missing, or an empty string."""
    if is_block(block.element):
        return block.first_words
    return "picture" if block.element.find("img") else ""


def renew_remarks_on_missing(remarks: Sequence[Remark], blocks: Sequence[Block]) -> list[Remark]:
    """Return remarks in which those on missing blocks are replaced by others on `blocks`.

    If no remark is on a missing block, none is added.
    """
    others = []
    for remark in remarks:
        if remark.kind not in ("missing", "missing_more"):
            others.append(remark)
    had_some = len(others) < len(remarks)
    if not had_some:
        return others
    return [*others, *remarks_on_missing(blocks)]


def _problem_of(block: Block) -> str:
    """Return why a translator cannot be asked for a block, or an empty string."""
    try:
        to_translatable(block)
    except EditError as error:
        return str(error)
    return ""


class ReadAgain:
    """The leaves of a document that was changed and then read again.

    They are those before if nobody can say which is which.
    """

    def __init__(self, before: Document, after: Document) -> None:
        leaves = before.leaves()
        read = after.leaves()
        if len(read) != len(leaves):
            read = leaves
        self._read: dict[int, Block] = {}
        """By the `id()` of their elements before."""

        for leaf, again in zip(leaves, read, strict=True):
            self._read[id(leaf.element)] = again

    def leaf(self, element: Tag) -> Block:
        """Return what an element is now, or the one that it is the only content of."""
        for around in (element, *element.parents):
            if id(around) in self._read:
                return self._read[id(around)]
        raise EditError("a block of the translation could not be shown")


def set_language(article: Tag, language: str) -> None:
    """Give a text its language, which all its blocks have then. Code has none."""
    for element in [article, *article.find_all(BLOCK_LEVEL - {"pre"})]:
        element.attrs.pop("lang", None)
        element.attrs.pop("dir", None)  # a page sets it
    article["lang"] = language


def reread(document: Document) -> Document:
    """Return a document as it is read from its HTML. Raises EditError if it cannot be shown."""
    try:
        return Document(document.to_lines(), document.image_hosts)
    except UnsafeHTMLError as error:
        raise EditError(f"the translation cannot be shown: {error}") from error

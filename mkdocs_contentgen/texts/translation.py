"""Take a text apart for a translator, and make a text of its structure and the translated words.

Everything but words is the original's: structure, order, levels, code, links, pictures, citations
and the list of sources. What a translator answers is checked against each block of the original; a
block without a usable translation stays in the original's language, with a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache

from bs4 import Tag
from bs4.element import NavigableString
from msgspec import structs

from ..errors import EditError, UnsafeHTMLError
from ..files import sha256
from ..html.document import Block, Document, document_of, unwrap_signs
from ..html.elements import BLOCK_LEVEL
from ..html.translatable import has_words, set_translated, to_translatable
from ..service.protocol import MAX_BLOCKS, OriginalBlock, Translated, TranslatedBlock, Translation
from ..text import Original, Text, clean_fields
from ..writer.languages import BYLINES, Language, find_language
from ..writer.source_lists import listed_sources
from ..writer.words import count_words, split_words
from . import alignment
from .remembered import Remembered, forms_of, short_digest_of, write_remembered

REMARK = "translation: "
"""The beginning of each remark about a translation."""

DRAFT_REMARK = f"{REMARK}the original is a draft that nobody has approved"

_DESCRIPTIONS = f"{REMARK}texts of `alt` and `title` in the language of the original: "
"""The beginning of a remark on what nobody translates: what pictures and links say unseen."""

STAYS = "stays in the language of the original"
"""What a remark says of a block behind its first words, if it has no translation."""

MORE_UNTRANSLATED = "without a usable translation"
"""What a remark says of many blocks behind their number."""

_BESIDE_BYLINE = " ·"
"""What stands between a byline and its date."""

_NOT_ANSWERED = "the answer has no translation of it"
_ANSWERED_TWICE = "the answer has two translations of it"
_TOO_MANY = f"at most {MAX_BLOCKS:,} blocks are translated"

_OF_ORIGINAL = "the original's "
_MISSING = "has no translation"
_MORE_MISSING = re.compile(
    rf"{REMARK}[\d,]+ more blocks? of the original ha(?:s|ve) no translation"
)
"""What a remark says of a block of the original for which nothing stands, and of many."""

_MAX_MISSING = 5
"""How many of them have a remark of their own."""

_MAX_COUNTED = 200
"""For how many changed originals it is known what has changed, while a site is served."""

_MAX_UNTRANSLATED = 20
"""How many blocks in the language of the original have a remark of their own."""


def plan_translation(original: Text, language: str, from_language: str = "") -> Translation:
    """Return what a translator gets of a text. Raises UnsafeHTMLError.

    Both languages are BCP 47 tags; that of the original is empty if it is not known.
    """
    asked = []
    for block in blocks_with_words(document_of(original.html).blocks(), language):
        with suppress(EditError):  # the composed text will have a remark that says why
            asked.append(OriginalBlock(block.number, block.kind, to_translatable(block)))
    return Translation(language, asked[:MAX_BLOCKS], from_language)


def compose(
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
    blocks = document.blocks()
    forms = forms_of(document.leaves())
    wording = Wording(blocks, asked.language, asked.blocks, translated)
    unwrap_signs(document.article)
    problems = []
    for block in blocks:
        problem = wording.put_into(block)
        if problem:
            problems.append(f"{block.first_words} {STAYS}: {problem}")
    set_language(document.article, asked.language)
    changed = reread(document)
    leaves = changed.leaves()
    if len(leaves) != len(forms):
        raise EditError("the blocks of the translation are not those of the original")
    pairs = zip(forms, leaves, strict=True)
    remembered = [Remembered(form, short_digest_of(leaf)) for form, leaf in pairs]
    remarks = remarks_on_whole(document.article, changed.article, is_draft=is_draft)
    remarks += [*remarks_on_untranslated(problems), *wording.remarks, *translated.remarks]
    return Text(
        changed.to_lines(),
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
    return alignment.count_changes(original.blocks, leaves)


def of_approved_original(translation: Text) -> Text:
    """Return the translation of a draft as one of an approved text, for when that is approved."""
    if translation.original is None:
        return translation
    remarks = tuple(remark for remark in translation.remarks if remark != DRAFT_REMARK)
    original = structs.replace(translation.original, is_draft=False)
    return structs.replace(translation, remarks=remarks, original=original)


class Wording:
    """The words in another language for the blocks of an original.

    `blocks` are those of the original, and `translated` is the untrusted answer for those of
    `asked` that have no translation yet.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        language: str,
        asked: Iterable[OriginalBlock],
        translated: Translated,
    ) -> None:
        self._language = find_language(language)
        self._listed = {block.number for block in listed_sources(blocks)}
        self._needed = {block.number for block in blocks_with_words(blocks, language)}
        self._asked = {block.number for block in asked if not block.translation}
        self._answers: dict[int, list[TranslatedBlock]] = {}
        for answer in translated.blocks:
            self._answers.setdefault(answer.block, []).append(answer)
        self.remarks: list[str] = []
        """What a translator says of the blocks that were translated so far."""

    def put_into(self, block: Block) -> str:
        """Replace the words of a block of the original, or of a copy with the same number.

        What needs no translation stays as it is, and so does what has none. Return why it has none,
        or an empty string.
        """
        if block.number not in self._needed:
            if self._language:
                self._put_known_words(block, self._language)
            return ""
        answer = self._answer(block)
        if not answer.text:
            return answer.remark
        try:
            set_translated(block, answer.text)
        except EditError as error:
            return str(error)
        if answer.remark:
            self.remarks.append(f"{REMARK}{block.first_words}: {answer.remark}")
        return ""

    def _put_known_words(self, block: Block, language: Language) -> None:
        """Replace words that are the same in all texts of a language."""
        byline = _find_byline(block)
        if byline:
            byline.replace_with(byline.replace(byline.strip(_BESIDE_BYLINE), language.byline))
        elif block.number in self._listed and block.kind == "h2":
            block.element.string = language.sources

    def _answer(self, block: Block) -> TranslatedBlock:
        """Return the answer for a block, in which a remark says why it has no text."""
        answers = self._answers.get(block.number, [])
        if block.number not in self._asked:
            problem = _problem_of(block) or _TOO_MANY
        elif len(answers) > 1:
            problem = _ANSWERED_TWICE
        elif answers and answers[0].text.strip():
            return answers[0]
        elif answers and answers[0].remark:
            problem = answers[0].remark
        else:
            problem = _NOT_ANSWERED
        return TranslatedBlock(block.number, remark=problem)


def remarks_on_whole(original: Tag, translation: Tag, *, is_draft: bool) -> list[str]:
    """Return the remarks on a whole translation. `is_draft` is about its original.

    They say that the original is a draft, and that descriptions of pictures are the original's: in
    the HTML of a block they have no words of their own, so a person has to translate them.
    """
    remarks = [DRAFT_REMARK] if is_draft else []
    known = set(_descriptions_in(original))
    same = [said for said in _descriptions_in(translation) if said in known]
    if same:
        remarks.append(f"{_DESCRIPTIONS}{len(same)}")
    return remarks


def is_on_whole(remark: str) -> bool:
    """Tell whether a remark is one of remarks_on_whole()."""
    return remark == DRAFT_REMARK or remark.startswith(_DESCRIPTIONS)


def _descriptions_in(article: Tag) -> Iterator[str]:
    """Yield what pictures and links say unseen. A single word is a name in most texts."""
    for tag in article.find_all(["img", "a", "abbr", "dfn"]):
        for name in ("alt", "title"):
            said = str(tag.get(name, ""))
            if count_words(split_words(said)) > 1:
                yield said


def remarks_on_untranslated(problems: Sequence[str]) -> list[str]:
    """Return remarks about blocks without a translation, so many that others have room."""
    more = f"block {MORE_UNTRANSLATED}", f"blocks {MORE_UNTRANSLATED}"
    return [f"{REMARK}{problem}" for problem in first_problems(problems, _MAX_UNTRANSLATED, *more)]


def problems_of_missing(blocks: Sequence[Block]) -> list[str]:
    """Return what is to be said of blocks of an original for which nothing stands."""
    return first_problems(
        [f"{_OF_ORIGINAL}{block.first_words} {_MISSING}" for block in blocks],
        _MAX_MISSING,
        "block of the original has no translation",
        "blocks of the original have no translation",
    )


def first_problems(problems: Sequence[str], most: int, of_one: str, of_many: str) -> list[str]:
    """Return the first problems, and the number of those that are more, with what they are."""
    more = len(problems) - most
    if more <= 0:
        return list(problems)
    return [*problems[:most], f"{more:,} more {of_one if more == 1 else of_many}"]


def renew_remarks_on_missing(remarks: Sequence[str], blocks: Sequence[Block]) -> list[str]:
    """Return remarks in which those on what has no translation are about these blocks."""
    others = [remark for remark in remarks if not _is_on_missing(remark)]
    if len(others) == len(remarks):
        return others
    return [*others, *(f"{REMARK}{problem}" for problem in problems_of_missing(blocks))]


def _is_on_missing(remark: str) -> bool:
    is_on_one = remark.startswith(f"{REMARK}{_OF_ORIGINAL}") and remark.endswith(_MISSING)
    return is_on_one or _MORE_MISSING.fullmatch(remark) is not None


def blocks_with_words(blocks: Sequence[Block], language: str) -> list[Block]:
    """Return the blocks of an original with words to translate into a language.

    The list of sources is not among them, nor are its heading and the byline of a news report, if
    the words for them are known.
    """
    fixed = {block.number for block in listed_sources(blocks)}
    if find_language(language):
        fixed |= {block.number for block in blocks if _find_byline(block)}
    else:
        fixed -= {block.number for block in blocks if block.kind == "h2"}
    return [block for block in blocks if block.number not in fixed and has_words(block)]


def _find_byline(block: Block) -> NavigableString | None:
    """Return what a block has of a byline that names no person, before its date, or None."""
    if block.element.get("class") != "byline":
        return None
    first = block.element.find(string=True)
    if not isinstance(first, NavigableString) or first.strip(_BESIDE_BYLINE) not in BYLINES:
        return None
    return first


def _problem_of(block: Block) -> str:
    """Return why a translator cannot be asked for a block, or an empty string."""
    try:
        to_translatable(block)
    except EditError as error:
        return str(error)
    return ""


def set_language(article: Tag, language: str) -> None:
    """Make a language that of a text, and so that of each of its blocks. Code has none."""
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

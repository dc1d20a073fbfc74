"""Read a translation that a person, a chat or another tool made, and hold it against its original.

Such a text has a structure of its own, so the rules for the form of other texts do not apply to it.
An answer to the prompt of a translation is read as that of the site's own model: only its words are
taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from bs4 import Tag
from markdown_it import MarkdownIt
from msgspec import structs

from ..errors import EditError, FailedTextError, UnsafeHTMLError
from ..html.block import Block, as_block, is_block
from ..html.descriptions import (
    ATTRIBUTES,
    description_name,
    description_names,
    descriptions_in,
)
from ..html.document import Document, ReadText, document_of
from ..html.markdown_parser import new_block_parser
from ..html.markdown_reader import read_blocks
from ..html.markup import root
from ..language.values import guess_language
from ..page_request import OriginalText
from ..remark import Remark
from ..service.protocol import Translation
from ..text import Text, clean_fields
from ..texts.articles import Article
from ..translation.alignment import align_texts
from ..translation.asking import prompts, translation_from_answer
from ..translation.checks import check, fits
from ..translation.compared_words import common_words_of
from ..translation.first_translation import (
    first_translation,
    is_on_whole,
    leaf_name,
    not_in_original,
    plan_translation,
    remarks_on_whole,
    remarks_on_words,
    renew_remarks_on_missing,
    reread,
    set_language,
)
from ..translation.imported_translation import ImportedTranslation, import_translation
from ..translation.updated_translation import (
    apply_translation_update,
    plan_translation_update,
    remarks_still_true,
)
from ..writer.answers.answers import read_answer
from ..writer.answers.containers import without_fence, without_front_matter
from ..writer.answers.extensions import read_extensions, read_footnote_references
from ..writer.answers.html_rules import read_html
from ..writer.answers.transforms import remarks_in
from ..writer.models.program import prompt_text
from ..writer.models.settings import WriterOptions

_MARKDOWN = re.compile(r"^#{1,6} ", re.MULTILINE)
"""Matches a heading in Markdown: a text that has one is no HTML, even if it begins with a tag."""

_NUMBERED = re.compile(r"^[^\w\n]{0,9}\[\d{1,5}\\?\]", re.MULTILINE)
"""Matches a block in the form that is asked for. An item of a numbered list is none."""

_LEAST_RUN = 3
"""So many neighbours that do not fit their originals, or more, are said to be in another order."""

_MAX_REMARKED = 20
"""How many blocks have a remark on what they say."""


def translation_prompts(article: Article, original: Article, options: WriterOptions) -> list[str]:
    """Return what a model is asked for a translation, in each of the calls.

    Where the original has changed, only what has changed is asked for. Raises
    FailedTextError if the original has no text, or only its structure has changed.
    """
    to_translate = _plan_changes(article, original)
    if to_translate is None and article.original_changes:
        raise FailedTextError(
            f"{article.place}: the change of its original needs no words; next: "
            f"`contentgen update {article.page_argument}`"
        )
    if to_translate is None:
        to_translate = _plan(article, original)
    request = original.asked.in_its_language()
    conversations = prompts(request, to_translate, options)
    return [prompt_text(messages) for messages in conversations]


def read_translation(
    article: Article, original: Article, options: WriterOptions, answer: str
) -> Text:
    """Return a translation in Markdown or HTML, or in the answers to translation_prompts().

    Raises FailedTextError for what is not a text, and if the original has none.
    """
    original_text = _text_of(article, original)
    to_translate = _plan(article, original)
    request = original.asked.in_its_language()
    written = read_answer(answer).text
    translated = translation_from_answer(request, to_translate, options, written)
    try:
        if translated is None:
            return _read_text(article, original_text, options, written)
        return first_translation(
            original_text.text,
            to_translate,
            translated,
            request=article.request.record(),
            generated_at=datetime.now(UTC),
            is_draft=original_text.is_draft,
        )
    except (EditError, UnsafeHTMLError) as error:
        raise FailedTextError(f"the text cannot be used: {error}") from error


def read_changes(
    article: Article, original: Article, options: WriterOptions, answer: str, model: str
) -> Text | None:
    """Return the translation with an answer to translation_prompts() for a changed original.

    It is None for what is no such answer. Raises FailedTextError.
    """
    before = article.newest
    to_translate = _plan_changes(article, original)
    written = read_answer(answer).text
    if before is None or to_translate is None or not _NUMBERED.search(written):
        return None
    request = original.asked.in_its_language()
    translated = translation_from_answer(request, to_translate, options, written)
    if translated is None:
        return None
    original_text = _text_of(article, original)
    moment = datetime.now(UTC)
    try:
        text = apply_translation_update(
            before,
            original_text.text,
            to_translate,
            structs.replace(translated, model=model),
            moment.date(),
            is_draft=original_text.is_draft,
        )
    except (EditError, UnsafeHTMLError) as error:
        raise FailedTextError(f"the text cannot be used: {error}") from error
    return structs.replace(text, generated_at=moment)


def remarks_on_changed(before: Text, changed: Text, original: Text | None) -> tuple[Remark, ...]:
    """Return the remarks about a translation that a person has changed.

    A remark that names a block by its words is dropped with these words. One on a block that has no
    translation is dropped once there is one, which only a comparison with the `original` shows.
    """
    aligned = align_texts(changed, original) if original and changed.original else None
    own_leaves = aligned.own_leaves if aligned else document_of(changed.html).leaves()
    names = []
    for leaf in own_leaves:
        names += [leaf_name(leaf), *description_names(leaf.element)]
    remarks = []
    for remark in before.remarks:
        if is_on_whole(remark):
            remarks.append(remark)
    remarks += remarks_still_true(before.remarks, new=(), names=names)
    if aligned:
        remarks = renew_remarks_on_missing(remarks, aligned.missing)
    return tuple(remarks)


def _text_of(article: Article, original: Article) -> OriginalText:
    """Return the text of an original. Raises FailedTextError if it has none."""
    found = original.text_to_translate
    if found is None:
        raise FailedTextError(f"{article.place}: {original.no_text_to_translate}")
    return found


def _plan_changes(article: Article, original: Article) -> Translation | None:
    """Return what a translator gets of a changed original, or None if no words are needed.

    Raises FailedTextError.
    """
    before = article.newest
    if before is None or not article.original_changes:
        return None
    try:
        return plan_translation_update(before, _text_of(article, original).text)
    except (EditError, UnsafeHTMLError) as error:
        raise FailedTextError(f"{article.page}: {error}") from error


def _plan(article: Article, original: Article) -> Translation:
    """Return what a translator gets of an original. Raises FailedTextError."""
    found = _text_of(article, original)
    language = article.asked.in_its_language().language
    try:
        return plan_translation(found.text, language, found.language)
    except UnsafeHTMLError as error:
        raise FailedTextError(f"{original.page}: {error}") from error


def _read_text(
    article: Article, original: OriginalText, options: WriterOptions, answer: str
) -> Text:
    """Return a translation with a structure of its own. Raises EditError and UnsafeHTMLError."""
    language = article.asked.in_its_language().language
    html, repaired = _to_html(answer, article.request.type, language)
    source = document_of(original.text.html)
    own = Document(html, source.image_hosts)
    set_language(own.article, language)
    imported = import_translation(
        ReadText(original.text, source),
        reread(own),
        language=original.language,
        is_draft=original.is_draft,
    )
    document = imported.document
    on_blocks = _check(imported, source, original.language, language, options)
    described = descriptions_in(source.article)
    remarks = remarks_on_whole(described, document.article, is_draft=original.is_draft)
    remarks += [*repaired, *imported.remarks, *on_blocks]
    moment = datetime.now(UTC)
    return Text(
        document.to_lines(),
        moment,
        article.request.record(),
        sources=original.text.sources,
        passages=original.text.passages,
        updates=tuple(f"{moment.date()}: {line}" for line in imported.changes),
        original=imported.original,
        **clean_fields({"remarks": remarks}),
    )


def _to_html(answer: str, kind: str, language: str) -> tuple[str, list[Remark]]:
    """Return the HTML of a text, and remarks about what was not kept. Raises EditError."""
    text = without_front_matter(without_fence(answer.strip())).strip()
    is_html = text.startswith("<") and not _MARKDOWN.search(text)
    if is_html and "<article" in text:
        return text, []
    if is_html:
        return root(kind, [text], language), []
    blocks, remarks = _read_markdown(text)
    return root(kind, [blocks], language), remarks


def _read_markdown(text: str) -> tuple[str, list[Remark]]:
    """Return the HTML of a text in Markdown, and remarks about what was not kept of it.

    Comments, HTML that is a block, and what only some sites can show become Markdown or text.
    Raises EditError for what has no form in Markdown.
    """
    environment: dict[str, Any] = {}
    html = read_blocks(text, has_title=True, parser=_parser(), environment=environment)
    return html, remarks_in(environment)


@cache
def _parser() -> MarkdownIt:
    """Return a parser of blocks that knows what other tools write."""
    parser = new_block_parser()
    parser.enable("html_block")
    read_html(parser)
    read_extensions(parser)
    read_footnote_references(parser)
    return parser


def _check(
    imported: ImportedTranslation,
    original: Document,
    from_language: str,
    language: str,
    options: WriterOptions,
) -> list[Remark]:
    """Mark what blocks state and their originals do not, and return remarks about them.

    `from_language` is empty if it is not known.
    """
    text = original.article.get_text(" ")
    from_language = from_language or guess_language(text)
    common = common_words_of(text, imported.document.article.get_text(" "))

    def check_part(block: Block, of_original: Block) -> list[str]:
        """Mark a block, and return what to remark on it."""
        checked = check(
            block.element,
            of_original.element,
            language,
            from_language,
            options.glossary,
            common,
        )
        if block.kind not in ATTRIBUTES:
            return [checked]
        # An attribute has no place for a mark.
        return [*map(not_in_original, block.statements), checked]

    remarks: list[Remark] = []
    run: list[_Checked] = []
    for own, leaf in imported.translated:
        if leaf.kind == "pre":
            continue
        marks = own.element.find_all("mark")
        found: list[Remark] = []
        for name, block, of_original in _parts_to_compare(own, leaf):
            found += remarks_on_words(name, check_part(block, of_original))
        if found and not fits(own.element, leaf.element, language, from_language):
            run.append(_Checked(own, marks, found))
            continue
        remarks += [*_remarks_on_run(run), *found]
        run = []
    remarks += _remarks_on_run(run)
    return remarks[:_MAX_REMARKED]


@dataclass(frozen=True)
class _Checked:
    """A block that says other things than the one beside it."""

    block: Block
    marks: Sequence[Tag]
    """Those that it had before."""

    remarks: Sequence[Remark]


def _remarks_on_run(run: Sequence[_Checked]) -> list[Remark]:
    """Return the remarks on neighbours that do not fit their originals: one, if they are many.

    Then a person has put what they say in another order, and marks would say nothing.
    """
    if len(run) < _LEAST_RUN:
        return [remark for checked in run for remark in checked.remarks]
    for checked in run:
        for mark in checked.block.element.find_all("mark"):
            if not any(mark is before for before in checked.marks):
                mark.unwrap()
        checked.block.element.smooth()
    return [Remark("not_followed", leaf_name(run[0].block), {"number": len(run)})]


def _parts_to_compare(own: Block, leaf: Block) -> Iterator[tuple[str, Block, Block]]:
    """Yield the names of the words and the descriptions of a leaf, with both blocks of each."""
    if leaf.kind == "pre":
        return
    if is_block(leaf.element) and is_block(own.element):
        yield own.first_words, own, leaf
    described = descriptions_in(own.element)
    of_original = descriptions_in(leaf.element)
    if [name for name, _ in described] == [name for name, _ in of_original]:
        for one, other in zip(described, of_original, strict=True):
            yield description_name(one), as_block(one), as_block(other)

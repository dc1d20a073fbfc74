"""Make drafts out of texts from elsewhere, and say what such a text has to answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from msgspec import structs

from ..errors import FailedTextError, UnsafeHTMLError
from ..html.block import Block
from ..html.document import Document, document_of
from ..html.markdown_parser import link_addresses
from ..remark import Kind, Remark
from ..requests import Request
from ..site.site import Site
from ..text import Edits, Text, edition_after
from ..texts.articles import Article
from ..writer.answers.links import remark_on_addresses
from ..writer.models.program import prompt_text
from ..writer.models.settings import WriterOptions
from ..writer.writing import find_passages, prompt, remarks_on_form, text_from_answer
from .translated_elsewhere import (
    read_changes,
    read_translation,
    remarks_on_changed,
    translation_prompts,
)

MAX_IMPORT = 512 * 1024
"""The maximum length of a file that is imported, in characters."""

FormRemarks = dict[tuple[str, str], dict[Kind, Remark]]
"""The remarks on the form of a text by their kind, by the key and the HTML of the text."""


def import_text(
    site: Site,
    article: Article,
    answer: str,
    *,
    model: str,
    by: str,
    ask_before_replacing: Callable[[], None] = lambda: None,
) -> Text:
    """Make a draft out of Markdown or HTML, which is read and checked as an answer of a model.

    A translation is aligned with its original, and compared with nothing else. If `answer` is one
    to the prompt for what has changed in the original, it is put into the translation. Any other
    text takes the place of a draft; `ask_before_replacing` is called before that. Once it returns,
    a person has agreed to lose what people wrote in the draft as it was read.

    `model` is the name of the model that wrote it, or empty, and `by` the person, if it was none.
    No update of a model changes what a person wrote.

    Raises FailedTextError for what is not a text, StoreError, also if somebody has changed the
    draft meanwhile, and ConfigurationError.
    """
    request, options = _request_and_options(site, article)
    if article.original:
        changed = read_changes(article, article.original, options, answer, model)
        if changed is not None:
            return _keep(site, article, _with_new_blocks_by(by, changed, article.newest))
    ask_before_replacing()
    if article.original:
        found = read_translation(article, article.original, options, answer)
    else:
        around = options.sources.text_around(article.page)
        written = text_from_answer(
            request, options, answer, author=by, today=date.today(), text_around=around
        )
        found = written.text
    text = structs.replace(found, model=model)
    if by:
        text = _with_all_blocks_by(by, text, answer)
    return _keep(site, article, text, agreed=True)


def _keep(site: Site, article: Article, text: Text, *, agreed: bool = False) -> Text:
    """Save a text as a draft that is newer than all others, and return it. Raises StoreError."""
    record = article.request.record()
    text = structs.replace(text, request=record, edition=edition_after(article.edition))
    store = site.store()
    try:
        store.save({article.key: text}, replacing={article.key: article.draft}, agreed=agreed)
    finally:
        store.close()
    return text


def _with_new_blocks_by(by: str, text: Text, before: Text | None) -> Text:
    """Return a changed text whose new blocks are by a person, if there is a name."""
    if not by or before is None:
        return text
    known = document_of(before.html).digests()
    edits = text.edits or Edits()
    changed_by = dict(edits.changed_by)
    for block in document_of(text.html).blocks():
        if block.digest not in known:
            changed_by[block.digest] = by
    edits = structs.replace(edits, changed_by=changed_by)
    return structs.replace(text, edits=edits, model=before.model, written_by=before.written_by)


def _with_all_blocks_by(by: str, text: Text, answer: str) -> Text:
    """Return a text as one of a person, with a remark on the links that were not kept of it."""
    blocks = Document(text.html).blocks()
    edits = Edits(changed_by={block.digest: by for block in blocks})
    remarks = text.remarks
    named = {remark.values.get("address") for remark in remarks}
    gone = [address for address in _addresses_taken_out(blocks, answer) if address not in named]
    if gone and not any(remark.kind.startswith("repaired_addresses") for remark in remarks):
        remarks = (*remarks, remark_on_addresses(gone))
    return structs.replace(text, model="", written_by=by, edits=edits, remarks=remarks)


def _addresses_taken_out(blocks: Sequence[Block], answer: str) -> list[str]:
    """Return the addresses of links in an answer that are neither links nor words of its text."""
    kept: set[str] = set()
    for block in blocks:
        kept.update(block.links)
    said = " ".join(block.text for block in blocks)
    gone = []
    for address in link_addresses(answer):
        if address not in kept and address not in said:
            gone.append(address)
    return gone


def changed_remarks(
    site: Site, article: Article, before: Text, changed: Text, known: FormRemarks
) -> tuple[Remark, ...]:
    """Return the remarks about a text that a person has changed.

    Those on its form, such as its length, are made again. Those on sources stay: nothing is looked
    up. A translation has the form of its original, so there are no remarks on that.

    `known` keeps the remarks on the form of the changed text for the next call: it is faster for
    the text that was changed last.
    """
    if before.original:
        original = article.original_text
        return remarks_on_changed(before, changed, original.text if original else None)
    if not site.options.uses_writer():  # what another service was asked for, nobody checks
        return before.remarks
    request = article.asked.in_its_language()
    options = site.reading_options(sources=[])
    try:
        form_before = known.get((article.key, before.html))
        if not form_before:
            form_before = _remarks_on_form(request, options, before)
        form_now = _remarks_on_form(request, options, changed)
    except (FailedTextError, UnsafeHTMLError):
        return before.remarks
    known.clear()
    known[article.key, changed.html] = form_now
    return _renewed(before.remarks, form_before, form_now)


def _renewed(
    remarks: Sequence[Remark],
    form_before: Mapping[Kind, Remark],
    form_now: Mapping[Kind, Remark],
) -> tuple[Remark, ...]:
    """Return the remarks on a text with those on its form as they are now.

    `form_before` has what is to be said of the form of the text before, by kind. What was not
    among its remarks then, a person has settled, and it stays so.
    """
    kept = [remark for remark in remarks if remark.kind not in form_before]
    settled = form_before.keys() - {remark.kind for remark in remarks}
    for kind, remark in form_now.items():
        if kind not in settled:
            kept.append(remark)
    return tuple(kept)


def _remarks_on_form(request: Request, options: WriterOptions, text: Text) -> dict[Kind, Remark]:
    """Return the remarks about the form of a text, by their kind. Raises FailedTextError.

    Those on quotations are left out: they are about its sources.
    """
    by_kind: dict[Kind, Remark] = {}
    for remark in remarks_on_form(request, options, text.html):
        if not remark.is_about_quotation:
            by_kind[remark.kind] = remark
    return by_kind


def prompts_for(site: Site, article: Article) -> list[str]:
    """Return what a model is asked for the text of an article, with the sources to cite.

    For a long translation, these are several prompts, and import_text() takes the answers one below
    the other. Raises ConfigurationError, and FailedTextError for a translation of a text that is
    not there.
    """
    request, options = _request_and_options(site, article)
    if article.original:
        return translation_prompts(article, article.original, options)
    passages = find_passages(request, options, options.sources.text_around(article.page))
    return [prompt_text(prompt(request, options, passages))]


def _request_and_options(site: Site, article: Article) -> tuple[Request, WriterOptions]:
    """Return what is asked for, and with which options an answer to that is read."""
    return article.asked.in_its_language(), site.reading_options()

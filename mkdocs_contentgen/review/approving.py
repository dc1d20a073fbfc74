"""Approve texts: choose a text of an article, and decide what its file will say.

Neither writes anything: texts/approved_writer.py writes what was decided. The text is read into its
document once, and what the file will say is read back, so that it can be compared with what people
have written there.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime

from msgspec import structs

from ..display import escape_controls, first_names, one_line_problem, quoted, shortened
from ..errors import ApprovalError, UnsafeHTMLError
from ..html.document import Document, ReadText
from ..remark import Remark
from ..remark_words import sentence_of, sentences_of
from ..site.options import ContentgenConfig
from ..stale import StaleSource
from ..text import MAX_EDIT, Edits, Text, edition_after
from ..texts.approved_file import ApprovedText
from ..texts.articles import Article
from ..texts.file_to_write import FileToWrite, approve, file_to_write
from ..texts.human_edits import HumanEdit, edits_lost_in, has_edits_of_its_own, named_edits
from ..texts.store import Kept
from ..writer.sources.staleness import CitedPassage, as_approved, find_stale
from .text_links import dead_links

_MAX_HISTORY = 10_000
"""The maximum number of characters in an approved file of what was confirmed, removed or left."""

_MAX_NAMED = 3
"""The number of statements that a message names."""


@dataclass(frozen=True)
class TextToApprove(ReadText):
    """One of the two texts that an article may have, which somebody approves, with its document."""

    _: KW_ONLY
    article: Article

    is_in_file: bool
    """Whether it is the text of the file, and not the draft."""

    agreed: str = ""
    """The digest of the file of which nothing is lost that people wrote there, or nothing without
    the consent of a person; see file_to_write()."""

    @property
    def file(self) -> ApprovedText | None:
        """The file that it is the text of, or None for a draft."""
        return self.article.approved if self.is_in_file else None

    @property
    def was_approved(self) -> bool:
        """Whether it is the text of a file that was approved, which may have been edited since."""
        return self.file is not None and self.file.approval is not None


def text_to_approve(
    article: Article, options: ContentgenConfig, prefer_draft: Callable[[Article], bool]
) -> TextToApprove:
    """Return the text that an approval of an article is about: its draft, or the edited file.

    `prefer_draft` is called if there are both a newer draft and human edits in the file that the
    draft does not have. It tells whether a person agrees to lose them. Raises ApprovalError if
    there is no text, or none that can be shown.
    """
    if article.damaged:
        raise article.damaged
    draft = article.draft
    approved = article.approved
    if approved and draft and article.has_newer_draft:
        return _choose_text(article, approved, draft, options, prefer_draft)
    if approved and article.state != "outdated":  # that is the text for another request
        return read_to_approve(article, approved.text, options, is_in_file=True)
    if draft is None:
        raise ApprovalError(
            f"{article.place}: there is no text to approve; {article.how_to_get_text}"
        )
    return read_to_approve(article, draft, options, is_in_file=False)


def read_to_approve(
    article: Article, text: Text, options: ContentgenConfig, *, is_in_file: bool
) -> TextToApprove:
    """Return a text of an article, the draft or that of the file, with its document.

    Raises ApprovalError if no build can show it.
    """
    try:
        document = Document(text.html, options.image_hosts)
    except UnsafeHTMLError as error:
        raise unusable_text_error(article, error, is_in_file=is_in_file) from error
    return TextToApprove(text, document, article=article, is_in_file=is_in_file)


def _choose_text(
    article: Article,
    approved: ApprovedText,
    draft: Text,
    options: ContentgenConfig,
    prefer_draft: Callable[[Article], bool],
) -> TextToApprove:
    """Return the newer draft, or the text of the file. Raises ApprovalError."""
    chosen = read_to_approve(article, draft, options, is_in_file=False)
    chosen = replace(chosen, agreed=approved.file_digest)
    lost: Sequence[HumanEdit] = ()
    if article.state != "changed":  # else a person chooses, whatever was edited
        lost = edits_lost_in(approved, chosen.document)
        if not lost:
            return chosen
    if prefer_draft(article):
        return chosen
    if article.state in ("changed", "proposed"):
        return read_to_approve(article, approved.text, options, is_in_file=True)
    # The text of the file needs no approval, or is the one for another request.
    raise ApprovalError(
        f"{article.path} has human edits that the draft does not have: {named_edits(lost)}; "
        f"compare them with `contentgen diff {article.page_argument}`, and approve the draft with "
        "--yes"
    )


@dataclass(frozen=True)
class DecidedApproval:
    """An approval that nothing is wrong with, until write_file() writes its file."""

    article: Article
    file: FileToWrite

    check_lines: Sequence[str]
    """A line for each remark about the text, each sentence with statements left to check, and each
    passage that it cites and that has changed, and one for a draft that is declined with it."""


def decide_approval(
    chosen: TextToApprove,
    by: str,
    options: ContentgenConfig,
    *,
    cited: Sequence[CitedPassage],
    reason: str = "",
) -> DecidedApproval:
    """Return what the approved file of an article will say, in the name of the person `by`.

    `cited` is what the text cites: the file keeps that, and which statements it does not have.
    `reason` says why a text with statements left to check is approved; the file keeps both.

    Raises ApprovalError if the text cannot be shown, if it has statements to check and there is no
    reason, or if it is a draft that quotes what nobody said. Raises FileChangedError if human edits
    of the file would be lost and nobody has agreed.
    """
    article = chosen.article
    _check_draft(chosen)
    unchecked = _unchecked_statements(chosen, reason)
    declined = _declined_draft(chosen)
    written = _with_record(_as_written(chosen, options), reason, unchecked)
    stale = find_stale(written.text, written.document, cited)
    written = as_approved(written, cited, stale)
    approved = approve(written, article.key, service_name(options), by, declined, unchecked)
    file = file_to_write(
        article.path,
        article.directory,
        approved,
        written.document,
        before=article.approved,
        kept=Kept("", article.draft, page=article.page, act="approve", by=by),
        agreed=chosen.agreed,
    )
    return DecidedApproval(article, file, _lines_to_print(chosen, stale))


def _check_draft(chosen: TextToApprove) -> None:
    """Raise ApprovalError for a draft, or a proposed text, that quotes what nobody said."""
    if not chosen.was_approved:
        is_edited = chosen.file is not None and chosen.file.is_changed
        check_quotations(chosen.article, chosen.text, chosen.document, is_edited_in_file=is_edited)


def _as_written(chosen: TextToApprove, options: ContentgenConfig) -> TextToApprove:
    """Return a text with the HTML and the document of its file. Raises ApprovalError."""
    if not chosen.was_approved:  # else only what people have edited in its file may differ
        _drop_idle_styles(chosen.document, options)
    try:
        document = chosen.document.read_back()
    except UnsafeHTMLError as error:
        raise unusable_text_error(chosen.article, error, is_in_file=chosen.is_in_file) from error
    text = structs.replace(chosen.text, html=document.source)
    return replace(chosen, text=text, document=document)


def _with_record(written: TextToApprove, reason: str, unchecked: Sequence[str]) -> TextToApprove:
    """Return a text with what its file says of it: its request, its edition, and its edits."""
    text = structs.replace(
        written.text,
        request=written.article.request.record(),
        edits=_edits_to_keep(written.text, reason, unchecked),
    )
    if _declines_draft(written):  # the text of the file is newer than that draft now
        text = structs.replace(text, edition=edition_after(written.article.edition))
    return replace(written, text=text)


def _lines_to_print(chosen: TextToApprove, stale: Sequence[StaleSource]) -> list[str]:
    """Return the lines of an approval on what a person should know of a text."""
    remarks = chosen.text.remarks
    changed: list[str] = []
    if not chosen.article.original:  # else that is its source, and its links are those of that
        remarks = (*remarks, *dead_links(chosen.document))
        changed = [f"  {source.message}" for source in stale]
    declined: list[str] = []
    if _declines_draft(chosen):
        declined.append("  the newer draft is declined: it is not shown again")
    return check_lines(remarks, chosen.document) + changed + declined


def _declines_draft(chosen: TextToApprove) -> bool:
    """Tell whether the text of the file is approved in place of a newer draft."""
    return chosen.is_in_file and chosen.article.has_newer_draft


def _declined_draft(chosen: TextToApprove) -> datetime | None:
    """Return the time of the newest draft that was declined, which is not shown again, or None."""
    article = chosen.article
    if article.draft and _declines_draft(chosen):
        return article.draft.generated_at
    return article.approval.declined if article.approval else None


def document_of_file(
    document: Document, options: ContentgenConfig, *, marks: bool = False
) -> Document:
    """Return the document that the file of a draft will have: its `source` is the HTML to write.

    `document` is that of the draft, and loses the styles that the file has not. Raises
    UnsafeHTMLError.
    """
    _drop_idle_styles(document, options)
    return document.read_back(marks=marks)


def _drop_idle_styles(document: Document, options: ContentgenConfig) -> None:
    if options.styles != "keep":
        document.drop_idle_styles()


def check_lines(remarks: Sequence[Remark], document: Document) -> list[str]:
    """Return a line for each remark about a text, and each sentence with statements to check.

    The statements are in `‹…›`, and what has only weak marks comes last.
    """
    lines = [f"  not as requested: {said}" for said in sentences_of(remarks)]
    sentences = document.marked_sentences()
    return lines + [f"  to check: {sentence}" for sentence in dict.fromkeys(sentences)]


def service_name(options: ContentgenConfig) -> str:
    """Return what files say of who made their texts: never the address of a service."""
    if options.uses_sandbox() or options.uses_writer():
        return options.address()
    return "content generation service"


def check_quotations(
    article: Article, draft: Text, document: Document, *, is_edited_in_file: bool
) -> None:
    """Raise ApprovalError for a draft of the writer that quotes what nobody said.

    A person settles its quotations on the desk, with all other statements to check.
    """
    in_file = article.approved.text if article.approved else None
    has_edits = has_edits_of_its_own(draft, None if draft is in_file else in_file)
    if (is_edited_in_file or has_edits) and not document.count_statements():
        return  # they have settled all marks, and so the quotations
    for remark in draft.remarks:
        if remark.is_about_quotation:
            raise ApprovalError(
                f"{article.place}: this draft cannot be approved: {sentence_of(remark)}; confirm, "
                f"change or remove each statement with `contentgen review {article.page_argument}`"
                ", or ask for another text with `contentgen generate --refresh "
                f"{article.page_argument}`"
            )


def unusable_text_error(
    article: Article, error: UnsafeHTMLError, *, is_in_file: bool
) -> ApprovalError:
    """Return the error for a text that no build can show: a draft, or that of a file."""
    in_file = article.approved if is_in_file else None
    if in_file is None or in_file.approval is None:
        return unusable_draft_error(article, error)
    return ApprovalError(f"{article.path}:{in_file.line}: no build can show this text: {error}")


def unusable_draft_error(article: Article, error: UnsafeHTMLError) -> ApprovalError:
    """Return the error for a draft that no build can show, which says what to do."""
    return ApprovalError(
        f"{article.place}: no build can show this draft: {error}; "
        f"`contentgen generate --refresh {article.page_argument}` requests another"
    )


def _unchecked_statements(chosen: TextToApprove, reason: str) -> tuple[str, ...]:
    """Return the statements of a text that nobody has checked, for its approved file.

    Raises ApprovalError if it has statements to check, and there is no reason.
    """
    article = chosen.article
    statements = chosen.document.statements()
    if statements and not reason:
        raise ApprovalError(f"{article.place}: {_left_message(article.page, statements)}")
    unchecked: list[str] = []
    if article.approval and article.approval.unchecked:
        # They were approved unchecked, and are so still as long as the text says them.
        words = "\n".join(block.text for block in chosen.document.blocks())
        for statement in article.approval.unchecked:
            if statement.removesuffix("…") in words:  # which shorten() adds
                unchecked.append(statement)
    unchecked += map(shorten, statements)
    return _bounded(unchecked)


def _left_message(page: str, statements: Sequence[str]) -> str:
    """Return what is left to check in the text of a page, and what to do."""
    named = first_names([quoted(statement) for statement in statements], _MAX_NAMED)
    if len(statements) == 1:
        left = f"1 statement is left to check ({named}); settle it"
    else:
        left = f"{len(statements)} statements are left to check ({named}); settle them"
    return (
        f"{left} with `contentgen review {shlex.quote(page)}`, or say with --reason why you "
        "approve the text all the same"
    )


def reason_problem(reason: str) -> str:
    """Return what is wrong with the reason for an approval, or an empty string."""
    if not any(map(str.isalnum, reason)):
        return "has no words"
    return one_line_problem(reason, "a reason", MAX_EDIT)


def _edits_to_keep(text: Text, reason: str, unchecked: Sequence[str]) -> Edits | None:
    """Return what the approved file says of what people did with a text."""
    if not (reason or text.edits):
        return None
    edits = text.edits or Edits()
    if unchecked:
        # If they are left from an earlier approval, its reason still holds.
        reason = reason or edits.reason
    return structs.replace(
        edits,
        confirmed=_bounded(edits.confirmed),
        removed=_bounded(edits.removed),
        reason=reason,
    )


def with_confirmed(text: Text, statements: Sequence[str]) -> Edits:
    """Return what people did with a text once they have confirmed these statements, too."""
    edits = text.edits or Edits()
    confirmed = _bounded([*edits.confirmed, *map(shorten, statements)])
    return structs.replace(edits, confirmed=confirmed, removed=_bounded(edits.removed))


def _bounded(items: Sequence[str]) -> tuple[str, ...]:
    """Return what was confirmed, removed or left so that it fits into an approved file."""
    kept: list[str] = []
    length = 0
    for item in items:
        length += len(item)
        if length > _MAX_HISTORY:
            return (*kept, f"… and {len(items) - len(kept)} more")
        kept.append(item)
    return tuple(kept)


def shorten(statement: str) -> str:
    """Return a statement, a sentence or a block as edits keep it."""
    return shortened(escape_controls(statement), MAX_EDIT)

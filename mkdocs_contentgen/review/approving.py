"""Approve texts: choose a text of an article, and decide what its file will say.

Neither writes anything: texts/approved_writer.py writes what was decided. The text is read into its
document once, and what the file will say is read back, so that it can be compared with what people
have written there.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from ..display import escape_controls, first_names, one_line_problem, quoted, shortened
from ..errors import ApprovalError, UnsafeHTMLError
from ..html.document import Document, ReadText
from ..html.inline_styles import adapted_classes
from ..remark import Remark
from ..remark_words import sentence_of, sentences_of
from ..site.options import ContentgenConfig
from ..text import MAX_EDIT, Edits, Text, edition_after
from ..texts.approved_file import ApprovedText
from ..texts.articles import Article
from ..texts.file_to_write import FileToWrite, approve, file_to_write
from ..texts.human_edits import HumanEdit, edits_lost_in, named_edits
from ..texts.store import Kept
from ..writer.sources.staleness import CitedPassage, as_approved
from .text_links import dead_links

_MAX_HISTORY = 10_000
"""The maximum number of characters in an approved file of what was confirmed, removed or left."""

_MAX_PASSES = 5
"""How often HTML is read again until it stays the same."""

_MAX_NAMED = 3
"""The number of statements that a message names."""


@dataclass(frozen=True)
class TextToApprove:
    """One of the two texts that an article may have, which somebody approves."""

    text: Text

    document: Document
    """What was read from it. decide_approval() changes that."""

    is_in_file: bool
    """Whether it is the text of the file, and not the draft."""

    agreed: str = ""
    """The digest of the file of which nothing is lost that people wrote there, or nothing without
    the consent of a person; see file_to_write()."""


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
    return TextToApprove(text, document, is_in_file=is_in_file)


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
    """A line for each remark about the text, and each sentence with statements left to check."""


def decide_approval(
    article: Article,
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
    text = chosen.text
    document = chosen.document
    in_file = article.approved if chosen.is_in_file else None
    was_approved = in_file is not None and in_file.approval is not None
    remarks = text.remarks
    if not article.original:
        remarks = (*remarks, *dead_links(document))
    lines = check_lines(remarks, document)
    statements = document.statements()
    if not was_approved:  # else its file has no idle styles, and only edits may differ
        is_edited_proposal = in_file is not None and in_file.is_changed
        check_quotations(article, text, document, is_edited_in_file=is_edited_proposal)
        take_idle_styles_out(document, options)
    unchecked = _unchecked_statements(article, document, statements, reason)
    edits = _edits_to_keep(text, reason, unchecked)
    try:
        written = read_back(document)
    except UnsafeHTMLError as error:
        raise unusable_text_error(article, error, is_in_file=chosen.is_in_file) from error
    declined = article.approval.declined if article.approval else None
    edition = text.edition
    if chosen.is_in_file and article.draft and article.has_newer_draft:
        # That draft is declined: it is not shown again, and is older than the file now.
        declined = article.draft.generated_at
        edition = edition_after(article.edition)
    text = structs.replace(
        text,
        html=written.source,
        request=article.request.record(),
        edits=edits,
        edition=edition,
    )
    text = as_approved(ReadText(text, written), cited).text
    approved = approve(text, written, article.key, service_name(options), by, declined, unchecked)
    file = file_to_write(
        article.path,
        article.directory,
        approved,
        written,
        before=article.approved,
        kept=Kept("", article.draft, page=article.page, act="approve", by=by),
        agreed=chosen.agreed,
    )
    return DecidedApproval(article, file, lines)


def approved_document(document: Document, options: ContentgenConfig) -> Document:
    """Return the document that the approved file of a draft will have, see read_back().

    `document` is that of the draft, and loses the styles that the file has not.
    """
    take_idle_styles_out(document, options)
    return read_back(document)


def take_idle_styles_out(document: Document, options: ContentgenConfig) -> None:
    """Remove the inline styles without an effect from a document: they make diffs hard to read."""
    for tag in (document.article, *document.article.find_all(style=True)):
        style = str(tag.get("style", ""))
        if style and not (options.styles == "keep" or adapted_classes(tag.name, style)):
            del tag["style"]


def read_back(document: Document, *, marks: bool = False) -> Document:
    """Return the document that a file will have: its `source` is the HTML to write.

    That HTML is the same when it is read again. It has one block a line, and by default no marks.
    Reading it once is not always enough: where a mark was, there can be a space too many. Raises
    UnsafeHTMLError, as for HTML that is too large once it has all of its end tags.
    """
    html = document.to_lines(marks=marks)
    for _ in range(_MAX_PASSES):
        again = Document(html, document.image_hosts)
        html = again.to_lines()  # with the marks that are left
        if html == again.source:
            return again
    raise UnsafeHTMLError("the HTML changes each time that it is read")


def check_lines(remarks: Sequence[Remark], document: Document) -> list[str]:
    """Return a line for each remark about a text, and each sentence with statements to check.

    The statements are in `‹…›`, and what has weak marks alone comes last.
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
    has_changes_of_people = is_edited_in_file or draft.edits is not None
    if has_changes_of_people and not document.count_statements():
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


def _unchecked_statements(
    article: Article, document: Document, statements: Sequence[str], reason: str
) -> tuple[str, ...]:
    """Return the statements of a text that nobody has checked, for its approved file.

    `statements` are those to check. Raises ApprovalError if there are some, and no reason.
    """
    if statements and not reason:
        raise ApprovalError(f"{article.place}: {_left_message(article.page, statements)}")
    unchecked: list[str] = []
    if article.approval and article.approval.unchecked:
        # They were approved unchecked, and are so still as long as the text says them.
        words = "\n".join(block.text for block in document.blocks())
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

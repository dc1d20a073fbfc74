"""Compare approved texts with drafts, and approve texts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

import click
from msgspec import structs

from ..display import escape_controls, first_names, one_line_problem, quoted, shortened
from ..errors import ApprovalError, UnsafeHTMLError
from ..html.differences import Row, Word, compare
from ..html.document import Document
from ..html.inline_styles import adapted_classes
from ..site.options import ContentgenConfig
from ..text import MAX_EDIT, Edits, Text, edition_after, is_about_quotation
from ..texts.approved_file import ApprovedText, block_digests
from ..texts.approved_writer import Keep, approve, edits_at_risk, save_approved
from ..texts.articles import Article, has_marks
from ..texts.human_edits import named_edits
from .earlier import approved_in_git, text_as_written

_SHOWN_IN_DIFFS = re.compile(
    "[\\xad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u2060-\\u2065\\u2800\\u3164"
    "\\ufe00-\\ufe0d\\ufeff\\uffa0\\U000e0100-\\U000e01ef]"
)
"""Invisible characters that a diff shows, although texts may have them. They join no letters.

Among them are variation selectors, with which whole sentences can be hidden behind a letter, but
not the two that choose between text and picture for a symbol.
"""

_MAX_HISTORY = 10_000
"""The maximum number of characters in an approved file of what was confirmed, removed or left."""

_MAX_PASSES = 5
"""How often HTML is read again until it stays the same."""

_MAX_NAMED = 3
"""The number of statements that a message names."""


def approved_html(draft: Text, options: ContentgenConfig) -> str:
    """Return the HTML that the approved file of a draft contains: without marks.

    Raises UnsafeHTMLError.
    """
    return _file_html(draft, options, marks=False)


def proposed_html(draft: Text, options: ContentgenConfig) -> str:
    """Return the HTML that the file of a proposed draft contains: with its marks.

    Raises UnsafeHTMLError.
    """
    return _file_html(draft, options, marks=True)


def _file_html(draft: Text, options: ContentgenConfig, *, marks: bool) -> str:
    """Return the HTML of a draft as files have it: settled, and without styles of no effect."""
    document = Document(draft.html, options.image_hosts)
    for tag in (document.article, *document.article.find_all(style=True)):
        # Styles without an effect make diffs hard to read.
        style = str(tag.get("style", ""))
        if style and not (options.styles == "keep" or adapted_classes(tag.name, style)):
            del tag["style"]
    return settled_html(document, marks=marks)


def settled_html(document: Document, *, marks: bool = False) -> str:
    """Return the HTML of a document that is the same when it is read again.

    It has one block a line, and by default no marks. Reading it once is not enough: where a mark
    was, there can be a space too many. Raises UnsafeHTMLError, as for HTML that is too large
    once it has all of its end tags.
    """
    html = document.to_lines(marks=marks)
    for _ in range(_MAX_PASSES):
        before = html
        html = Document(html, document.image_hosts).to_lines()  # with the marks that are left
        if html == before:
            return html
    raise UnsafeHTMLError("the HTML changes each time that it is read")


def check_lines(draft: Text) -> list[str]:
    """Return a line for each remark about a text, and each sentence with statements to check.

    The statements are in `‹…›`, and what has weak marks alone comes last. Raises UnsafeHTMLError.
    """
    remarks = [f"  not as requested: {remark}" for remark in draft.remarks]
    sentences = []
    if has_marks(draft):
        sentences = Document(draft.html).marked_sentences()
    return remarks + [f"  to check: {sentence}" for sentence in dict.fromkeys(sentences)]


def compare_versions(article: Article, options: ContentgenConfig) -> Iterator[tuple[str, str]]:
    """Compare the versions of a text with each other, always the earlier with the later one.

    Return a heading and the lines to print for each comparison, with control characters escaped. An
    edited file is compared with what was approved, and with a draft only if that is newer.
    """
    approved = article.approved
    draft = article.draft
    if approved is None:
        return
    is_proposed = approved.approval is None
    is_edited = article.state == "changed"
    if is_proposed:
        name_of_file = "proposed file"
        yield from _compare_proposal(article, approved, options)
    elif is_edited:
        name_of_file = "edited file"
        yield "from the approved text to the edited file", _changes_since_approval(article, options)
    else:
        name_of_file = "approved file"
    # A file as it was approved is compared with any draft. The others are the later version, but
    # for a newer draft.
    is_as_approved = not is_proposed and not is_edited
    if draft and (is_as_approved or article.has_newer_draft):
        html = approved_html(draft, options)
        changes = word_diff(approved.text.html, html, options.image_hosts)
        checks = check_lines(draft) if html != approved.text.html else []
        yield (
            f"from the {name_of_file} to the draft",
            "\n".join([changes, *map(escape_controls, checks)]),
        )


def _changes_since_approval(article: Article, options: ContentgenConfig) -> str:
    """Return what was changed in a file since its approval, to be printed."""
    approved = article.approved
    if approved is None:
        return ""
    original = _html_when_approved(article, options)
    if not original:
        return escape_controls(
            "the approved text is neither in the cache nor in git; "
            f"`git log -p --word-diff {article.path}` shows earlier versions"
        )
    if original == approved.text.html:
        return escape_controls(_header_changes(article, approved.text))
    return word_diff(original, approved.text.html, options.image_hosts)


def _header_changes(article: Article, now: Text) -> str:
    """Return what the header of an edited file says now that it did not say when it was approved.

    An approval vouches for each of its fields, and pages say some of them.
    """
    author = now.written_by or "nobody, so a model"
    message = f"only the header was changed; who wrote it, says: {author}"
    before = text_as_written(article)
    if before is None:
        return message
    changed = []
    for name in sorted({*Text.__struct_fields__} - {"html", "written_by"}):
        value = getattr(now, name)
        if value != getattr(before, name):
            changed.append(f"{name}: {value}" if isinstance(value, str | datetime) else name)
    return "; ".join([message, *changed])


def _html_when_approved(article: Article, options: ContentgenConfig) -> str:
    """Return the HTML of a text as it was approved, or an empty string if nobody has it."""
    approval = article.approval
    draft = article.draft
    if approval and draft:
        # The draft is that text, unless it is newer, or from another machine.
        with suppress(UnsafeHTMLError):
            html = approved_html(draft, options)
            if approval.blocks and approval.blocks == block_digests(html):
                return html
    before = text_as_written(article)
    return before.html if before else ""


def _compare_proposal(
    article: Article, proposed: ApprovedText, options: ContentgenConfig
) -> Iterator[tuple[str, str]]:
    """Compare a proposed text with what was approved before, and with what was proposed."""
    now = proposed.text.html
    before = approved_in_git(article)
    if before:
        changes = word_diff(before.html, now, options.image_hosts)
        yield "from the approved text to the proposed file", changes
    if proposed.is_changed:
        written = text_as_written(article)
        changes = "the text as it was proposed is not in git"
        if written:
            changes = word_diff(written.html, now, options.image_hosts)
        yield "from the proposed text to the edited file", changes


@dataclass(frozen=True)
class TextToApprove:
    """One of the two texts that an article may have, which somebody approves."""

    text: Text
    is_in_file: bool
    """Whether it is the text of the file, and not the draft."""

    agreed: bool = False
    """Whether a person has agreed that the human edits of the file are lost that it has not."""


def text_to_approve(article: Article, prefer_draft: Callable[[Article], bool]) -> TextToApprove:
    """Return the text that an approval of an article is about: its draft, or the edited file.

    `prefer_draft` is called if there are both a newer draft and human edits in the file that the
    draft does not have. It tells whether a person agrees to lose them. Raises ApprovalError if
    there is no text.
    """
    if article.damaged:
        raise article.damaged
    draft = article.draft
    approved = article.approved
    if approved and draft and article.has_newer_draft:
        return _choose_text(article, approved, draft, prefer_draft)
    if approved and article.state != "outdated":  # that is the text for another request
        return TextToApprove(approved.text, is_in_file=True)
    if draft is None:
        raise ApprovalError(
            f"{article.place}: there is no text to approve; "
            f"`contentgen generate {article.page_argument}` makes one"
        )
    return TextToApprove(draft, is_in_file=False)


def _choose_text(
    article: Article,
    approved: ApprovedText,
    draft: Text,
    prefer_draft: Callable[[Article], bool],
) -> TextToApprove:
    """Return the newer draft, or the text of the file. Raises ApprovalError."""
    lost = edits_at_risk(approved, draft)
    if article.state != "changed" and not lost:
        return TextToApprove(draft, is_in_file=False)
    if prefer_draft(article):
        return TextToApprove(draft, is_in_file=False, agreed=True)
    if article.state in ("changed", "proposed"):
        return TextToApprove(approved.text, is_in_file=True)
    # The text of the file needs no approval, or is the one for another request.
    raise ApprovalError(
        f"{article.path} has human edits that the draft does not have: {named_edits(lost)}; "
        f"compare them with `contentgen diff {article.page_argument}`, and approve the draft with "
        "--yes"
    )


def write_approval(
    article: Article,
    chosen: TextToApprove,
    by: str,
    options: ContentgenConfig,
    *,
    reason: str = "",
    keep: Keep = lambda content, after: None,
) -> None:
    """Write a text of an article to its approved file, in the name of the person `by`.

    `reason` says why a text with statements left to check is approved; the file keeps both. `keep`
    keeps what the file had before, see save_approved().

    Raises FileChangedError if the file is not as it was read, or has human edits that would be
    lost. Raises ApprovalError if the text cannot be shown, if it has statements to check and there
    is no reason, or if it is a draft that quotes what nobody said.
    """
    text = chosen.text
    declined = article.approval.declined if article.approval else None
    edition = text.edition
    if chosen.is_in_file and article.draft and article.has_newer_draft:
        # That draft is declined: it is not shown again, and is older than the file now.
        declined = article.draft.generated_at
        edition = edition_after(article.edition)
    html = _html_to_approve(article, chosen, options)
    unchecked = _unchecked_statements(article, text, reason)
    text = structs.replace(
        text,
        html=html,
        request=article.request.record(),
        edits=_edits_to_keep(text, reason, unchecked),
        edition=edition,
    )
    written = approve(text, article.key, service_name(options), by, declined, unchecked)
    save_approved(
        article.path,
        article.directory,
        written,
        before=article.approved,
        agreed=chosen.agreed,
        keep=keep,
    )


def service_name(options: ContentgenConfig) -> str:
    """Return what files say of who made their texts: never the address of a service."""
    if options.uses_sandbox() or options.uses_writer():
        return options.address()
    return "content generation service"


def _html_to_approve(article: Article, chosen: TextToApprove, options: ContentgenConfig) -> str:
    """Return the HTML of a text as its approved file has it. Raises ApprovalError."""
    in_file = article.approved if chosen.is_in_file else None
    if in_file and in_file.approval:  # it was edited after an approval
        return _edited_html(article, in_file, options)
    is_edited_proposal = in_file is not None and in_file.is_changed
    _check_quotations(article, chosen.text, is_edited_in_file=is_edited_proposal)
    return _approved_html_or_raise(article, chosen.text, options)


def _edited_html(article: Article, edited: ApprovedText, options: ContentgenConfig) -> str:
    """Return the HTML of an edited file with one block a line, as this package writes it.

    So an update changes only the lines of its own blocks. Raises ApprovalError.
    """
    try:
        return settled_html(Document(edited.text.html, options.image_hosts))
    except UnsafeHTMLError as error:
        place = f"{article.path}:{edited.line}"
        raise ApprovalError(f"{place}: no build can show this text: {error}") from error


def _check_quotations(article: Article, draft: Text, *, is_edited_in_file: bool) -> None:
    """Raise ApprovalError for a draft of the writer that quotes what nobody said.

    A person settles its quotations on the desk, with all other statements to check.
    """
    has_changes_of_people = is_edited_in_file or draft.edits is not None
    if has_changes_of_people and not has_marks(draft):
        return  # they have settled all marks, and so the quotations
    for remark in draft.remarks:
        if is_about_quotation(remark):
            raise ApprovalError(
                f"{article.place}: this draft cannot be approved: {remark}; confirm, change or "
                f"remove each statement with `contentgen review {article.page_argument}`, or ask "
                f"for another text with `contentgen generate --refresh {article.page_argument}`"
            )


def _approved_html_or_raise(article: Article, text: Text, options: ContentgenConfig) -> str:
    """Return the HTML that the approved file of a draft, or of a proposed text, contains.

    Raises ApprovalError.
    """
    try:
        return approved_html(text, options)
    except UnsafeHTMLError as error:
        raise unusable_draft_error(article, error) from error


def unusable_draft_error(article: Article, error: UnsafeHTMLError) -> ApprovalError:
    """Return the error for a draft that no build can show, which says what to do."""
    return ApprovalError(
        f"{article.place}: no build can show this draft: {error}; "
        f"`contentgen generate --refresh {article.page_argument}` requests another"
    )


def _unchecked_statements(article: Article, text: Text, reason: str) -> tuple[str, ...]:
    """Return the statements of a text that nobody has checked, for its approved file.

    Raises ApprovalError if the text has statements to check, and there is no reason.
    """
    statements = statements_to_check(text)
    if statements and not reason:
        raise ApprovalError(f"{article.place}: {_left_message(article.page, statements)}")
    unchecked: list[str] = []
    if article.approval and article.approval.unchecked:
        # They were approved unchecked, and are so still as long as the text says them.
        words = "\n".join(block.text for block in Document(text.html).blocks())
        for statement in article.approval.unchecked:
            if statement.removesuffix("…") in words:  # which shorten() adds
                unchecked.append(statement)
    unchecked += map(shorten, statements)
    return _bounded(unchecked)


def statements_to_check(text: Text) -> list[str]:
    """Return the statements to check in a text, those with weak marks last.

    Raises UnsafeHTMLError.
    """
    if not has_marks(text):
        return []
    return Document(text.html).statements()


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


def check_before_ejection(article: Article, options: ContentgenConfig) -> list[str]:
    """Return what a person should know of the text that is written, and of one that is left out.

    Raises ApprovalError for a text that has to be approved first.
    """
    notes = []
    if article.shows_approved_file and article.has_newer_draft:
        notes.append(f"{article.page}: the newer draft was left out; `contentgen prune` drops it")
    text = article.outcome.text
    if text is None or article.state == "approved":
        return notes
    if options.require_approval:
        raise ApprovalError(
            f"{article.place}: nobody approved this text, and require_approval is set; review and "
            f"approve it with `contentgen approve {article.page_argument}` first"
        )
    consequence = "and from now on, the page does not say how it came about"
    approved = article.approved
    if article.approval and article.state == "changed":
        approver = article.approval.approved_by
        notes.append(
            f"{article.page}: {article.path} was edited since {approver} approved it; nobody "
            f"approved the text as it is now, {consequence}"
        )
        return notes
    is_edited = article.shows_file and approved is not None and approved.is_changed
    _check_quotations(article, text, is_edited_in_file=is_edited)
    return [*notes, f"{article.page}: nobody approved this text, {consequence}", *check_lines(text)]


def word_diff(before: str, after: str, image_hosts: Sequence[str] = ()) -> str:
    """Return a diff with removed words in `[-…-]`, added words in `{+…+}`, and ANSI colours.

    Of the HTML, it has the tags that differ. Control characters and invisible ones are escaped.
    """
    try:
        rows = compare(Document(before, image_hosts), Document(after, image_hosts))
    except UnsafeHTMLError as error:
        return f"no build can show both texts: {error}"
    if all(row.is_equal for row in rows):
        return "both texts are the same for a reader"
    shown: list[str] = []
    for is_equal, group in groupby(filter(_is_read, rows), lambda row: row.is_equal):
        neighbours = list(group)
        if is_equal:
            shown.append(_show_equal(neighbours))
        else:
            for row in neighbours:
                shown.append("".join(map(_show_word, row.words_to_read())))
    return "\n".join(shown)


def _is_read(row: Row) -> bool:
    """Tell whether a row says something to a reader: it differs, or is no tag alone."""
    return not row.is_equal or (row.after is not None and row.after.part == "all")


def _show_equal(rows: Sequence[Row]) -> str:
    """Return one line that is the same in both versions, or how many there are."""
    if len(rows) > 1:
        return f"… {len(rows)} lines the same …"
    after = rows[0].after
    if not after:
        return ""
    return _escape_lines(after.element.get_text())


def _show_word(word: Word) -> str:
    kind, text = word
    text = _escape_lines(text)
    if kind == "equal":
        return text
    bare = text.rstrip()
    if kind == "old":
        shown = click.style(f"[-{bare}-]", fg="red")
    else:
        shown = click.style(f"{{+{bare}+}}", fg="green")
    return shown + text[len(bare) :]


def _escape_lines(text: str) -> str:
    text = _SHOWN_IN_DIFFS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
    return "\n".join(map(escape_controls, text.split("\n")))

"""Compare approved texts with drafts, and approve texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby

import click
from msgspec import structs

from ..display import escape_controls
from ..errors import ApprovalError, UnsafeHTMLError
from ..html.differences import Word, compare
from ..html.document import Document
from ..html.stylesheet import adapted_classes
from ..site.options import ContentgenConfig
from ..text import Text
from ..texts.approval import ApprovedText, approve, digest, write
from ..texts.articles import Article, ChangedSources, count_marks

_INVISIBLE = re.compile("[\\xad\\u115f\\u1160\\u180e\\u200b\\u2060-\\u2065\\u3164\\ufeff\\uffa0]")
"""What a diff has to show although other texts may have it. No letter needs it to be joined."""

_MAX_PASSES = 5


def draft_lines(draft: Text, options: ContentgenConfig) -> str:
    """Return the HTML that the approved file of a draft would contain. Raises UnsafeHTMLError."""
    document = Document(draft.html, options.image_hosts)
    for tag in (document.article, *document.article.find_all(style=True)):
        # Styles without an effect make diffs hard to read.
        style = str(tag.get("style", ""))
        if style and not (options.styles == "keep" or adapted_classes(tag.name, style)):
            del tag["style"]
    return _settled_lines(document, options)


def _settled_lines(document: Document, options: ContentgenConfig) -> str:
    """Return the HTML of a document without marks, as it is when it is read again.

    The end tags of thousands of items can make it too large, and space that stood beside a mark can
    be too much without it. Raises UnsafeHTMLError.
    """
    lines = document.to_lines(marks=False)
    for _ in range(_MAX_PASSES):
        before = lines
        lines = Document(lines, options.image_hosts).to_lines()
        if lines == before:
            return lines
    raise UnsafeHTMLError("the HTML changes each time that it is read")


def check_lines(draft: Text) -> list[str]:
    """Return a line for each remark about a draft, and each sentence with statements to check.

    The statements are in `‹…›`.
    """
    remarks = [f"  not as requested: {remark}" for remark in draft.remarks]
    sentences = Document(draft.html).marked_sentences() if count_marks(draft) else []
    return remarks + [f"  to check: {sentence}" for sentence in dict.fromkeys(sentences)]


def compare_versions(article: Article, options: ContentgenConfig) -> Iterator[tuple[str, str]]:
    """Compare the versions of a text with each other, always the earlier with the later one.

    Return a heading and the lines to print for each comparison, with control characters escaped. An
    edited file is compared with what was approved, and with a draft only if that is newer.
    """
    approved, draft = article.approved, article.draft
    if approved is None:
        return
    file = "approved file"
    if article.state == "changed":
        file = "edited file"
        # Its SHA-256 is that of the draft, unless this is another machine, or the draft is newer.
        original = ""
        with suppress(UnsafeHTMLError):
            original = draft_lines(draft, options) if draft else ""
        changes = escape_controls(
            "the approved text is no longer in the cache; "
            f"`git log -p --word-diff {article.path}` shows earlier versions"
        )
        if draft and approved.approval.sha256 == digest(original, draft.written_by):
            changes = word_diff(original, approved.text.html, options.image_hosts)
            if original == approved.text.html:
                author = approved.text.written_by or "nobody, so a model"
                changes = escape_controls(f"who wrote it was changed to: {author}")
        yield "from the approved text to the edited file", changes
        if not article.has_newer_draft:
            return
    if draft:
        lines = draft_lines(draft, options)
        changes = word_diff(approved.text.html, lines, options.image_hosts)
        checks = check_lines(draft) if lines != approved.text.html else []
        yield f"from the {file} to the draft", "\n".join([changes, *map(escape_controls, checks)])


def approve_article(
    article: Article,
    options: ContentgenConfig,
    by: str,
    prefer_draft: Callable[[Article], bool],
    changed_sources: ChangedSources,
) -> list[str]:
    """Write the approved file of an article, and return the lines to print.

    They are what was approved, the remarks about a draft, its statements that had to be checked,
    and its `changed_sources`. `prefer_draft` is called if there are both an edited
    text and a newer draft. Raises ApprovalError if there is no text, if it cannot be shown, or if
    it is a draft that quotes what nobody said.
    """
    statements: list[str] = []
    approved, draft, request = article.approved, article.draft, article.request
    if article.damaged:
        raise article.damaged
    newer = article.has_newer_draft
    if article.state == "approved" and not newer:
        return [f"{article.page}: already approved: {article.reason}"]
    declined = approved.approval.declined if approved else None
    if approved and article.state == "changed" and not (newer and prefer_draft(article)):
        html = _edited_lines(article, approved, options)
        text = structs.replace(approved.text, html=html, request=request.record())
        declined = draft.generated_at if newer and draft else declined
    elif draft:
        _check_quotations(article, draft)
        try:
            text = structs.replace(draft, html=draft_lines(draft, options))
            statements = check_lines(draft)
        except UnsafeHTMLError as error:
            raise ApprovalError(
                f"{article.place}: no build can show this draft: {error}; "
                f"`contentgen generate --refresh {article.page}` requests another"
            ) from error
    else:
        raise ApprovalError(
            f"{article.place}: there is no text to approve; "
            f"`contentgen generate {article.page}` makes one"
        )
    service = "content generation service"
    if options.uses_sandbox() or options.uses_writer():
        service = options.address()
    approval = approve(text, article.key, service, by, declined)
    write(article.path, article.directory, approval, before=approved)
    changed = changed_sources(text.sources)
    cited = [f"  cites what has changed or is gone: {link}" for link in changed]
    author = f", as a text by {text.written_by}" if text.written_by else ""
    return [f"{article.page}: approved in {article.path}{author}", *statements, *cited]


def check_before_ejection(article: Article, options: ContentgenConfig) -> list[str]:
    """Return what a person should know of a text that nobody has approved; otherwise nothing.

    Raises ApprovalError for a text that has to be approved first.
    """
    draft = article.draft
    if draft is None or (article.approved and article.state in ("approved", "changed")):
        return []
    if options.require_approval:
        raise ApprovalError(
            f"{article.place}: nobody approved this text, and require_approval is set; review and "
            f"approve it with `contentgen approve {article.page}` first"
        )
    _check_quotations(article, draft)
    return [
        f"{article.page}: nobody approved this text, and from now on, the page does not say how "
        "it came about",
        *check_lines(draft),
    ]


def _check_quotations(article: Article, draft: Text) -> None:
    """Raise ApprovalError for a draft of the writer that quotes what nobody said.

    A person settles its quotations on the desk, with all other statements to check.
    """
    if draft.edits and not count_marks(draft):
        return
    for remark in draft.remarks:
        if remark.startswith("quotation: "):
            raise ApprovalError(
                f"{article.place}: this draft cannot be approved: {remark}; confirm, change or "
                f"remove each statement with `contentgen review {article.page}`, or ask for "
                f"another text with `contentgen generate --refresh {article.page}`"
            )


def _edited_lines(article: Article, edited: ApprovedText, options: ContentgenConfig) -> str:
    """Return an edited text in the lines that an update writes, so that it changes no others."""
    try:
        return _settled_lines(Document(edited.text.html, options.image_hosts), options)
    except UnsafeHTMLError as error:
        place = f"{article.path}:{edited.line}"
        raise ApprovalError(f"{place}: no build can show this text: {error}") from error


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
    shown = []
    seen = (row for row in rows if not row.is_equal or (row.after and row.after.part == "all"))
    for is_equal, group in groupby(seen, lambda row: row.is_equal):
        same = list(group)
        if not is_equal:
            shown += ["".join(map(_show_word, row.words_to_read())) for row in same]
        elif len(same) > 1:
            shown.append(f"… {len(same)} lines the same …")
        elif it := same[0].after:
            shown.append(_escape_lines(it.element.get_text()))
    return "\n".join(shown)


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
    text = _INVISIBLE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
    return "\n".join(map(escape_controls, text.split("\n")))

"""Show what differs between the versions of a text, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby

import click

from ..display import escape_controls
from ..errors import UnsafeHTMLError
from ..html.differences import Row, Word, compare
from ..html.document import Document
from ..site.options import ContentgenConfig
from ..text import Text
from ..texts.approved_file import ApprovedText, block_digests
from ..texts.articles import Article
from .approving import check_lines, document_of_file
from .earlier import approved_in_git, text_as_written

_SHOWN_IN_DIFFS = re.compile(
    "[\\xad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u2060-\\u2065\\u2800\\u3164"
    "\\ufe00-\\ufe0d\\ufeff\\uffa0\\U000e0100-\\U000e01ef]"
)
"""Invisible characters that a diff shows, although texts may have them. They join no letters.

Among them are variation selectors, with which whole sentences can be hidden after one letter, but
not the two that choose between text and picture for a symbol.
"""


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
        document = Document(draft.html, options.image_hosts)
        html = document_of_file(document, options).source
        changes = word_diff(approved.text.html, html, options.image_hosts)
        checks: list[str] = []
        if html != approved.text.html:
            checks = check_lines(draft.remarks, document)
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
            document = document_of_file(Document(draft.html, options.image_hosts), options)
            if approval.blocks and approval.blocks == block_digests(document):
                return document.source
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
    """Tell whether a row says something to a reader: it differs, and is more than a tag."""
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

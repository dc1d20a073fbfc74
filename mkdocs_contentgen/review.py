"""Reviewing texts: comparing the approved one with a draft, and approving."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator

import click

from .approval import approve, to_lines, write
from .article import parse_article
from .config import ContentgenConfig
from .display import visible
from .errors import ApprovalError
from .site import Article
from .store import StoredText
from .stylesheet import adapted_classes


def draft_lines(draft: StoredText, options: ContentgenConfig) -> str:
    """Return a draft as an approved file would hold it."""
    element = parse_article(draft.html, options.image_hosts)
    for part in element.iter():
        # A style without an effect would only be in the reader's way.
        style = part.get("style", "")
        if style and not (options.styles == "keep" or adapted_classes(part.tag, style)):
            del part.attrib["style"]
    return to_lines(element)


def approve_article(
    article: Article, options: ContentgenConfig, by: str, prefer_draft: Callable[[Article], bool]
) -> str:
    """Write the approved file of an article, and say what was done.

    `prefer_draft` decides where an edited text and a newer draft are both there. Raises
    ApprovalError where there is no text.
    """
    approved, draft = article.approved, article.draft
    newer = draft and (
        approved is None or draft.generated_at.replace(microsecond=0) > approved.header.generated_at
    )
    if article.state == "approved" and not newer:
        return f"{article.entry.page}: already approved: {article.reason}"
    if approved and article.state == "changed" and not (newer and prefer_draft(article)):
        text, generated_at = approved.html, approved.header.generated_at
    elif draft:
        text, generated_at = draft_lines(draft, options), draft.generated_at
    else:
        raise ApprovalError(
            f"{article.entry.place}: there is no text to approve; "
            f"`contentgen generate {article.entry.page}` makes one"
        )
    service = "sandbox" if options.uses_sandbox() else "content generation service"
    header = approve(article.entry.request, article.key, service, generated_at, text, by)
    write(article.path, article.directory, header, text)
    return f"{article.entry.page}: approved in {article.path}"


def word_diff(before: str, after: str) -> str:
    """Return the lines that differ, with what went in `[-…-]` and what came in `{+…+}`.

    What a terminal would obey is shown as an escape, but for the colours.
    """
    if before == after:
        return "the draft says the same as the approved text"
    old, new = ([visible(line) for line in text.split("\n")] for text in (before, after))
    shown = []
    for kind, a, b, c, d in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind == "equal":
            shown.append(f"… {b - a} lines the same …" if b - a > 1 else old[a])
        else:
            shown.append("".join(_words("\n".join(old[a:b]), "\n".join(new[c:d]))))
    return "\n".join(shown)


def _words(before: str, after: str) -> Iterator[str]:
    old, new = (re.findall(r"<[^>]*>|\s+|[^\s<]+", text) for text in (before, after))
    for kind, a, b, c, d in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "".join(old[a:b])
            continue
        if a < b:
            yield click.style(f"[-{''.join(old[a:b])}-]", fg="red")
        if c < d:
            yield click.style(f"{{+{''.join(new[c:d])}+}}", fg="green")

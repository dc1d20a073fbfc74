"""Reviewing texts: comparing the approved one with a draft, and approving."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator

import click

from .approval import approve, to_lines, write
from .article import parse_article
from .config import ContentgenConfig
from .errors import ApprovalError
from .site import Article
from .stylesheet import adapted_classes


def draft_lines(article: Article, options: ContentgenConfig) -> str:
    """Return the draft of an article as an approved file would hold it."""
    if article.draft is None:
        raise ApprovalError(
            f"{article.entry.place}: there is no text to approve; "
            f"`contentgen generate {article.entry.page}` makes one"
        )
    element = parse_article(article.draft.html, options.image_hosts)
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
    approved = article.approved
    newer = article.draft and (
        approved is None
        or article.draft.generated_at.replace(microsecond=0) > approved.header.generated_at
    )
    if article.state == "approved" and not newer:
        return f"{article.entry.page}: already approved: {article.reason}"
    take_draft = newer or article.state not in ("changed", "approved")
    if article.state == "changed" and take_draft:
        take_draft = prefer_draft(article)

    if take_draft or approved is None:
        text = draft_lines(article, options)
        generated_at = article.draft.generated_at if article.draft else None
    else:
        text, generated_at = approved.html, approved.header.generated_at
    assert generated_at is not None  # noqa: S101  draft_lines() has raised otherwise
    service = "sandbox" if options.uses_sandbox() else "content generation service"
    header = approve(article.entry.request, article.key, service, generated_at, text, by)
    write(article.path, header, text)
    return f"{article.entry.page}: approved in {article.path}"


def word_diff(before: str, after: str) -> str:
    """Return the lines that differ, with what went in `[-…-]` and what came in `{+…+}`."""
    if before == after:
        return "the draft says the same as the approved text"
    old, new = before.splitlines(), after.splitlines()
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

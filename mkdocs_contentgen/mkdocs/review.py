"""Reviewing texts: comparing the approved one with a draft, and approving."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from ..display import visible
from ..errors import ApprovalError, UnsafeHTMLError
from ..html.article import parse_article
from ..html.stylesheet import adapted_classes
from ..texts.approval import ApprovedText, approve, to_lines, write
from ..texts.articles import Article
from ..texts.store import StoredText
from .options import ContentgenConfig


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
    if article.damaged:
        raise article.damaged
    newer = draft and (
        approved is None
        or draft.generated_at.replace(microsecond=0)
        > max(approved.header.generated_at, approved.header.declined or _LONG_AGO)
    )
    if article.state == "approved" and not newer:
        return f"{article.asked.page}: already approved: {article.reason}"
    declined = approved.header.declined if approved else None
    if approved and article.state == "changed" and not (newer and prefer_draft(article)):
        _check_edited(article.path, approved)
        text, generated_at = approved.html, approved.header.generated_at
        declined = draft.generated_at if newer and draft else declined
    elif draft:
        generated_at = draft.generated_at
        try:
            text = draft_lines(draft, options)
        except UnsafeHTMLError as error:
            raise ApprovalError(
                f"{article.asked.place}: no build can show this draft: {error}; "
                f"`contentgen generate --refresh {article.asked.page}` asks for another"
            ) from error
    else:
        raise ApprovalError(
            f"{article.asked.place}: there is no text to approve; "
            f"`contentgen generate {article.asked.page}` makes one"
        )
    service = "sandbox" if options.uses_sandbox() else "content generation service"
    request, key = article.asked.request, article.key
    header = approve(request, key, service, generated_at, text, by, declined=declined)
    write(article.path, article.directory, header, text)
    return f"{article.asked.page}: approved in {article.path}"


_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def _check_edited(path: Path, edited: ApprovedText) -> None:
    """Raise ApprovalError for a text that no build could show."""
    text = edited.html
    try:
        parse_article(text)
    except UnsafeHTMLError as error:
        second = text.find("<article", text.find("<article") + 1)
        line = edited.line + text.count("\n", 0, max(second, 0))
        raise ApprovalError(f"{path}:{line}: no build can show this text: {error}") from error


def word_diff(before: str, after: str) -> str:
    """Return the lines that differ, with what went in `[-…-]` and what came in `{+…+}`.

    What a terminal would obey is shown as an escape, but for the colours. Texts that would take too
    long to compare word by word are compared by lines in part.
    """
    if before == after:
        return "the draft says the same as the approved text"
    texts = (text.removesuffix("\n").split("\n") for text in (before, after))
    old, new = ([visible(line) for line in lines] for lines in texts)
    budget = _Budget(_MAX_PAIRS)
    shown = []
    for kind, a, b, c, d in _Matcher(old, new, budget).get_opcodes():
        if kind == "equal":
            shown.append(f"… {b - a} lines the same …" if b - a > 1 else old[a])
        else:
            shown.append("".join(_words("\n".join(old[a:b]), "\n".join(new[c:d]), budget)))
    return "\n".join(shown)


def _words(before: str, after: str, budget: _Budget) -> Iterator[str]:
    old, new = (re.findall(r"(?:<[^<>]*>|[^\s<]+|<)\s*|\s+", text) for text in (before, after))
    keys = [[token.strip() for token in tokens] for tokens in (old, new)]
    for kind, a, b, c, d in _Matcher(keys[0], keys[1], budget).get_opcodes():
        went, came = "".join(old[a:b]), "".join(new[c:d])
        if kind == "equal":
            yield came
            continue
        if went:
            yield click.style(f"[-{went.rstrip()}-]", fg="red")
        if came:
            yield click.style(f"{{+{came.rstrip()}+}}", fg="green")
        yield (came or went)[len((came or went).rstrip()) :]


_MAX_PAIRS = 4_000_000
"""How many pairs of equal lines or words are looked at, which takes about a second."""


@dataclass
class _Budget:
    pairs: int


class _Matcher(difflib.SequenceMatcher[str]):
    """Matches two lists as long as there is a budget; what is left then does not match."""

    def __init__(self, old: list[str], new: list[str], budget: _Budget) -> None:
        super().__init__(a=old, b=new)
        self._budget = budget
        # What is more frequent difflib does not look for.
        most = len(new) // 100 + 1 if len(new) >= 200 else len(new)
        there = {word: number for word, number in Counter(new).items() if number <= most}
        self._pairs = [1 + there.get(word, 0) for word in old]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        """Return the longest match, or an empty one where it would take too long to find it."""
        self._budget.pairs -= sum(self._pairs[alo:ahi])
        if self._budget.pairs < 0:
            return difflib.Match(alo, blo, 0)
        return super().find_longest_match(alo, ahi, blo, bhi)

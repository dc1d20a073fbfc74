"""Write untrusted texts in the Markdown of GitHub and GitLab: in comments and summaries.

GitHub works in two steps. The parser makes HTML of Markdown; character references such as `&#42;`
are text to it, and never markup. Filters then look into the text of that HTML for mentions, issues,
emoji and addresses, so that a character reference does not stop them: a zero-width space does,
after the character that they look for.

GitLab reads its Markdown in the same two steps, with more characters that begin a reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..display import escape_controls

MAX_COMMENT = 60_000
"""Maximum length of a text in characters: GitHub refuses comments of more than 65,536."""

_ZERO_WIDTH_SPACE = "&#8203;"

_MARKUP = re.compile(r"[\\`*_\[\]{}<>&~|!#@$:^=+\"']")
"""What can be markup within a line."""

_STARTS_A_REFERENCE = re.compile(
    r"[@#!$%~&](?=[\w({\"'])"  # a mention, an issue, and what GitLab has beside them
    r"|(?<=GH)-(?=\d)"  # an issue
    r"|:(?=[\w/+-])"  # an emoji, an address
    r"|(?<=www)\.",
    re.IGNORECASE,
)
"""What begins a reference; none can begin after a zero-width space."""

_LINE_START = re.compile(r"^(?:-|\d+(?=[.)]))")
"""What can begin a list or a heading of two lines."""

_TAGS = {"old": "del", "new": "ins"}
"""The tags of words that were there before, and of those that are there now."""


def escaped(text: str) -> str:
    """Return a text on one line as Markdown that shows it, and does nothing else."""
    line = " ".join(escape_controls(text).split())
    parts = []
    end = 0
    for found in _STARTS_A_REFERENCE.finditer(line):
        parts += [_without_markup(line[end : found.end()]), _ZERO_WIDTH_SPACE]
        end = found.end()
    parts.append(_without_markup(line[end:]))
    shown = "".join(parts)
    return _LINE_START.sub(lambda found: f"{_ZERO_WIDTH_SPACE}{found[0]}", shown)


def _without_markup(text: str) -> str:
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", text)


def with_bold(sentence: str) -> str:
    """Return a sentence as Markdown, in which what stands in `‹…›` is bold."""
    parts = re.split("([‹›])", sentence)
    shown = []
    for part in parts:
        if part == "‹":
            shown.append("<b>")
        elif part == "›":
            shown.append("</b>")
        else:
            shown.append(_keep_spaces(part))
    # A sentence may have such a sign of its own.
    balanced = shown.count("<b>") == shown.count("</b>")
    if balanced:
        return "".join(shown)
    return escaped(sentence)


def changed_words(parts: Iterable[tuple[str, str]]) -> str:
    """Return words as Markdown, with the old ones struck through and the new ones underlined.

    Each part is `equal`, `old` or `new`, and its words.
    """
    # Two parts without a tag between them are one text to the filters.
    joined: list[tuple[str, str]] = []
    for kind, text in parts:
        if not text:
            continue
        if joined and joined[-1][0] == kind:
            _, text_before = joined.pop()
            text = text_before + text
        joined.append((kind, text))
    return "".join(_tagged(kind, text) for kind, text in joined).strip()


def _tagged(kind: str, text: str) -> str:
    """Return words as Markdown, in the tag of their kind, if it has one."""
    tag = _TAGS.get(kind)
    if tag is None or not text.strip():
        return _keep_spaces(text)
    before, after = _spaces_around(text)
    return f"{before}<{tag}>{escaped(text)}</{tag}>{after}"


def _keep_spaces(text: str) -> str:
    """Return a text as Markdown, with the space at its beginning and end."""
    before, after = _spaces_around(text)
    return f"{before}{escaped(text)}{after}"


def _spaces_around(text: str) -> tuple[str, str]:
    """Return the space before and after the words of a text, each one character or none."""
    before = ""
    if text[:1].isspace():
        before = " "
    after = ""
    has_words = bool(text.strip())
    if has_words and text[-1].isspace():
        after = " "
    return before, after


def link(text: str, address: str) -> str:
    """Return a link as Markdown, or the text alone for an address that is none of the web."""
    if not re.fullmatch(r"https?://[\w.:-]+/[\w./%#?=&~+-]*", address, re.ASCII):
        return escaped(text)
    return f'<a href="{address.replace("&", "&amp;")}">{escaped(text)}</a>'


def folded(summary: str, content: str) -> str:
    """Return content that is shown once a person opens it. Both are Markdown already."""
    return f"<details>\n<summary>{summary}</summary>\n\n{content}\n\n</details>"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    names = list(head)
    lines = [names, ["---"] * len(names), *map(list, rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

"""Detect misspelled requests and markers in the source of a page."""

from __future__ import annotations

import re

NAME = "contentgen"

MAYBE_REQUEST = re.compile(r"^[\"']?[Cc][\w -]{7,12}[\"']?[ \t]*:", re.MULTILINE)
"""Found in each source that request_typo_problems() has to read; most pages need not be read."""

_BEFORE_FRONT_MATTER = re.compile(r"\A\ufeff?(?:[ \t]*\n)*[ \t]*(?=---[ \t]*\n)")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEYS = re.compile(r"^[\"']?([A-Za-z][\w -]{7,12})[\"']?[ \t]*:", re.MULTILINE)
_METADATA = re.compile(r"\A(?:[A-Za-z][\w -]*:.*\n(?:[ \t].*\n)*)+")
_COMMENT = re.compile(r"<!--\s*([A-Za-z][\w-]{7,12})\b([^<]*?)-->")


def request_typo_problems(source: str) -> list[tuple[int, str]]:
    """Return the line and the problem of everything that looks like a request but is not one."""
    before = _BEFORE_FRONT_MATTER.match(source)
    start = before.end() if before else 0
    front_matter = _FRONT_MATTER.match(source, start)
    block = front_matter or _METADATA.match(source)
    span = block.span(1 if front_matter else 0) if block else (0, 0)
    keys = {
        source.count("\n", 0, match.start()) + 1: match[1]
        for match in _KEYS.finditer(source, *span)
        if _resembles_name(match[1])
    }
    if not front_matter:
        problem = "is read only in YAML front matter: put a line '---' above and below it"
        return [(line, f"'{NAME}' {problem}") for line in keys]
    if keys and source[:start].lstrip("\ufeff"):
        problem = (
            "the front matter is not read, since there are blank lines or spaces before its "
            "first line '---'; remove them"
        )
        return [(source.count("\n", 0, start) + 1, problem)]
    return [
        (line, f"'{key}' is not a known key; did you mean '{NAME}'?")
        for line, key in keys.items()
        if key != NAME
    ]


def marker_typo_problem(html: str) -> str | None:
    """Return what is wrong with a comment that looks like a marker but is not one, or None."""
    match = _COMMENT.search(html)
    if match is None or not _resembles_name(match[1]):
        return None
    name = re.search(r"[a-z0-9-]+", match[2].lower())
    right = f"<!-- {NAME} {name[0]} -->" if name else f"<!-- {NAME} -->"
    return f"'{' '.join(match[0].split())[:80]}' is no marker; did you mean '{right}'?"


def _resembles_name(word: str) -> bool:
    word = re.sub(r"[\W_]", "", word).lower()
    if not word.startswith("c"):
        return False
    import difflib  # importing it takes 5 ms

    return difflib.SequenceMatcher(None, word, NAME).ratio() >= 0.85

"""Detect misspelled requests and markers in the source of a page."""

from __future__ import annotations

import re

NAME = "contentgen"

_BEFORE_FRONT_MATTER = re.compile(r"\A\ufeff?(?:[ \t]*\n)*[ \t]*(?=---[ \t]*\n)")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEYS = re.compile(r"^[\"']?([A-Za-z][\w -]{7,12})[\"']?[ \t]*:", re.MULTILINE)
_METADATA = re.compile(r"\A(?:[A-Za-z][\w -]*:.*\n(?:[ \t].*\n)*)+")
_COMMENT = re.compile(r"<!--\s*([A-Za-z][\w-]{7,12})\b([^<]*?)-->")


def request_typo_problems(source: str) -> list[tuple[int, str]]:
    """Return the line and the problem of everything that looks like a request but is not one."""
    before = _BEFORE_FRONT_MATTER.match(source)
    start = before.end() if before else 0
    match = _FRONT_MATTER.match(source, start)
    if match is None:
        metadata = _METADATA.match(source)
        return [
            (
                line,
                f"'{NAME}' is read only in YAML front matter: put a line '---' above and below it",
            )
            for line, key in _keys(metadata[0] if metadata else "", 1)
            if _resembles_name(key)
        ]
    first_line = source.count("\n", 0, match.start(1)) + 1
    keys = [(line, key) for line, key in _keys(match[1], first_line) if _resembles_name(key)]
    if keys and source[:start].lstrip("\ufeff"):
        return [
            (
                first_line - 1,
                "the front matter is not read, since there are blank lines or spaces before its "
                "first line '---'; remove them",
            )
        ]
    return [
        (line, f"'{key}' is not a known key; did you mean '{NAME}'?")
        for line, key in keys
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


def _keys(block: str, first_line: int) -> list[tuple[int, str]]:
    keys = []
    line, end = first_line, 0
    for match in _KEYS.finditer(block):
        line, end = line + block.count("\n", end, match.start()), match.start()
        keys.append((line, match[1]))
    return keys


def _resembles_name(word: str) -> bool:
    word = re.sub(r"[\W_]", "", word).lower()
    if not word.startswith("c"):
        return False
    import difflib  # importing it takes 5 ms

    return difflib.SequenceMatcher(None, word, NAME).ratio() >= 0.85

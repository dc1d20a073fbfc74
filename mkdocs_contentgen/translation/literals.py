"""Compare what a translation and its original write letter for letter: addresses, flags, `SHA-256`.

No language translates it. Some have another form for it: `SHA 256`, `version 1.2` for `v1.2`, or an
ending after a name.
"""

from __future__ import annotations

import re

from ..language.ranges import Range
from ..writer.marks.code_parts import FILE_TYPES
from .compared_words import BlockText, as_compared

_MOST_MESSAGES = 5
"""A block gets no more messages than this."""

_MOST_ENDING = 3
"""So many letters can be the ending of a name such as `GitHub`."""

_LITERAL = re.compile(
    # HTML that is text, and addresses
    r"</?[A-Za-z][^<>]{0,100}>|\b(?:javascript|data|file|ftp|tel):[^\s<>]{1,100}"
    r"|https?://[A-Za-z0-9./?&=%#_~+@:-]*[A-Za-z0-9/#]"
    r"|www\.[A-Za-z0-9.-]{1,200}[A-Za-z0-9]"
    r"|(?<![A-Za-z0-9.@-])[A-Za-z0-9-]{1,63}\.(?:com|org|net|io|dev)\b"
    r"|[A-Za-z0-9.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}"
    # placeholders, and environment variables in shells
    r"|\{\{?[^\s{}]{1,60}\}?\}|%\([a-z_]{1,40}\)s|%[sd]\b|\$\{?[A-Z][A-Z0-9_]*\}?"
    # flags, and no dash after a word
    r"|(?<![\w.,!?)\"'’”-])--[a-z][a-z0-9-]*(?<!-)|(?<=[\s(])-[A-Za-z](?![\w-])"
    # paths
    r"|(?<![A-Za-z0-9_.~/])(?:~|\.{1,2})?(?:/[A-Za-z0-9_.-]*[A-Za-z0-9_-]){2,}"
    # identifiers such as `MAX_AGE` and `max_age`
    r"|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b"
    # colours, sizes of pictures, and releases such as `1.2.0-rc1`
    r"|(?<!\w)#(?=\d{0,5}[A-Fa-f])[0-9A-Fa-f]{6}\b|(?<!\w)\d{2,5}[x\u00d7]\d{2,5}\b"
    r"|(?<![\w.])v?\d+(?:\.\d+)+-?(?:alpha|beta|rc|dev)[.-]?\d+\b"
    # files
    r"|(?<![A-Za-z0-9_.-])[A-Za-z0-9_-]{2,60}"
    rf"\.(?:{'|'.join(sorted(FILE_TYPES))})(?![A-Za-z0-9_])"
    # designations such as `SHA-256`, `HTTP/2`, `IPv4` and `v1.2`, and no quarter of a year
    r"|(?<![\w./-])(?![QT][1-4]\b)(?:[A-Z]+-|[A-Z]{2,}/|[A-Za-z]{1,12}(?:\+\+)?)"
    r"\d[A-Za-z0-9]*(?:[.-]\d[A-Za-z0-9]*)*"
    # names such as `GitHub` and `maxAge`
    r"|(?<![A-Za-z0-9_])[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*",
    re.ASCII,
)
"""What is written letter for letter in each language: addresses, flags, files, `GitHub`."""

_DESIGNATION = re.compile(
    r"(?<![A-Za-z0-9.])(?P<name>[A-Za-z]{1,12}\+{0,2}[ \u00a0/-]?)?"
    r"(?P<number>\d[A-Za-z0-9]*(?:[.-]\d[A-Za-z0-9]*)*(?:\u00d7\d+)?)"
)
"""Matches what can be a designation such as `SHA-256` in another form, such as `SHA 256`."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?:\.[a-z]{2,4})?", re.ASCII)
"""Matches a literal that is a name, such as `GitHub` and `p5.js`: no flag, path or placeholder."""

_SIGNS = re.compile("[ \u00a0/-]")
"""What is between the parts of a designation, or is not."""


_WORDS_IN_TAG = re.compile(
    r"""(?<=\s)(text|title|alt|label|placeholder|aria-label|summary)\s*=\s*("[^"]*"|'[^']*')"""
)
"""Matches an attribute of an HTML tag that has words for readers."""


def literals_of(text: str) -> list[Range]:
    """Return where a text has what is written letter for letter."""
    return [Range(*match.span()) for match in _LITERAL.finditer(text)]


def compare_literals(pair: BlockText) -> tuple[list[Range], list[str]]:
    """Return the literals that only the translation has, and messages for those that it lacks."""
    return _added_literals(pair), _missing_literals(pair)


def _added_literals(pair: BlockText) -> list[Range]:
    """Return where the translation has literals that the original has not."""
    whole_original = pair.original_with_code or pair.original
    of_original = _designations_in(pair.original)
    known = {*_literals_in(whole_original), *map(as_compared, _NAME.findall(whole_original))}
    added = []
    for match in _LITERAL.finditer(pair.translation):
        forms = _forms_of(match[0])
        if _NAME.fullmatch(match[0]):
            forms = {*forms, *map(as_compared, forms)}
        if known.isdisjoint(forms) and not _is_one_of(of_original, match[0]):
            added.append(Range(*match.span()))
    return added


def _missing_literals(pair: BlockText) -> list[str]:
    """Return a message for each literal of the original that the translation lacks."""
    whole_translation = pair.translation_with_code or pair.translation
    kept: set[str] = set()
    for literal in set(_LITERAL.findall(pair.translation)):
        kept |= _forms_of(literal)
    of_translation = _designations_in(pair.translation)
    messages: list[str] = []
    for literal in sorted(_literals_in(pair.original) - kept):
        if len(messages) == _MOST_MESSAGES:
            break
        if _is_in_own_letters(literal, pair) or _is_one_of(of_translation, literal):
            continue
        if not _stands_in(literal, whole_translation):
            messages.append(f"'{literal}' of the original is missing")
    return messages


def _literals_in(text: str) -> set[str]:
    """Return the literals of a text, without the words for readers in HTML tags."""
    found = set()
    for literal in _LITERAL.findall(text):
        found.add(_WORDS_IN_TAG.sub(r"\1", literal) if literal.startswith("<") else literal)
    return found


def numbers_in_literals(text: str) -> set[str]:
    """Return the numbers of the designations in a text: 3 of `Python3`, and 1.2 of `v1.2`."""
    matches = map(_DESIGNATION.fullmatch, _LITERAL.findall(text))
    return {match["number"] for match in matches if match}


def _forms_of(literal: str) -> set[str]:
    """Return what a literal can be with an ending: `GitHubs` is `GitHub`."""
    if literal.startswith("<"):
        return {_WORDS_IN_TAG.sub(r"\1", literal)}
    if not literal.isalpha():
        return {literal}
    return {literal[: len(literal) - size] for size in range(_MOST_ENDING + 1)}


def _stands_in(literal: str, text: str) -> bool:
    """Tell whether a text has a literal, or a name such as `GitHub` in other letters."""
    if re.search(rf"{re.escape(literal)}(?![A-Za-z0-9_])", text):
        return True
    if not _NAME.fullmatch(literal):
        return False
    # Many write `Github`, and `Wi-Fi` for `WiFi`.
    name = re.escape(as_compared(literal))
    return re.search(rf"{name}s?(?![a-z0-9_])", as_compared(text)) is not None


def _is_in_own_letters(literal: str, pair: BlockText) -> bool:
    """Tell whether another script may write a name such as `JavaScript` in its own letters."""
    is_name = literal[0].isupper() and literal.isalpha()
    return is_name and not pair.is_translation_latin


def _designations_in(text: str) -> set[str]:
    """Return what can be designations in a text, without their signs, and only their numbers."""
    found = set()
    for match in _DESIGNATION.finditer(text):
        found.add(_key(match[0]))
        found.add(_key(match["number"]))
    return found


def _is_one_of(designations: set[str], literal: str) -> bool:
    """Tell whether a literal is a designation that a text has in this or in another form."""
    match = _DESIGNATION.fullmatch(literal)
    return match is not None and _key(literal) in designations


def _key(designation: str) -> str:
    """Return a designation as it is compared: `v1.2` and `x1.2` are 1.2, and `MP3s` is `MP3`."""
    written = _SIGNS.sub("", designation).casefold().replace("\u00d7", "x")
    return re.sub(r"^[vx](?=\d)|(?<=\d)s$", "", written)

"""Show untrusted texts and values safely on a terminal, in a log and in messages."""

from __future__ import annotations

import os
import re
import reprlib
from collections.abc import Iterable, Sequence
from datetime import date

CONTROL_CHARACTERS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ud800-\udfff"
"""Control characters except tab and line feed, line separators, bidirectional controls (deprecated
ones included) and unpaired surrogates, for a regular expression.

The characters U+200E, U+200F and U+061C are allowed: right-to-left texts need them, and they cannot
reorder letters.
"""

_NOT_ON_ONE_LINE = re.compile(f"[\n{CONTROL_CHARACTERS}]")
"""Matches a control character, or a line feed."""

# GitHub executes a line that begins with `::name`, and a log may wrap at any space; Azure executes
# `##vso[` and `##[` anywhere in a line.
_CI_COMMAND = re.compile(r"(?<!\S):(?=:\w)|#(?=#\w*\[)")

_MAX_QUOTED = 60
"""The maximum length of a quoted value in characters."""

_MAX_NAME = 60
"""Longer texts are not compared with names, since the time is quadratic."""


def hidden_character(text: str) -> str | None:
    r"""Return the first control character as an escape such as `\x1b`, or None."""
    match = _NOT_ON_ONE_LINE.search(text)
    return _escape(match) if match else None


def one_line_problem(text: str, what: str, most: int) -> str:
    """Return what is wrong with a line that a person gives, or an empty string.

    `what` says in a message what the line is, such as "a name", and `most` is its maximum length.
    """
    if len(text) > most:
        return f"has {len(text)} characters; {what} has at most {most}"
    character = hidden_character(text)
    if character:
        return f"contains {character}, which is not allowed in {what}"
    return ""


def escape_controls(text: str) -> str:
    r"""Return a text on one line, with control characters and CI commands escaped.

    Escapes are such as `\x1b`. Text of all languages stays as it is.
    """
    return without_commands(_NOT_ON_ONE_LINE.sub(_escape, text))


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters, the last of which is … if it was longer."""
    if len(text) <= most:
        return text
    return f"{text[: most - 1]}…"


def without_commands(text: str) -> str:
    r"""Return lines with CI commands escaped: `\x3a:error::` for `::error::`."""
    return _CI_COMMAND.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def quoted(value: object) -> str:
    """Return a value from YAML or JSON on one line, of 60 characters at most."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    try:
        if isinstance(value, date):
            text = str(value)
        elif isinstance(value, (str, int, float)):
            text = repr(value)
        else:
            text = reprlib.repr(value)
    except ValueError:  # Python does not convert integers of more than 4300 digits
        return "a number with too many digits"
    if len(text) > _MAX_QUOTED:
        return f"{text[: _MAX_QUOTED - 3]}…"
    return text


def paths_from_here(line: str) -> str:
    """Return a message, with the paths of files below the current directory relative to it."""
    try:
        here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118  with a separator at its end
    except OSError:  # it was deleted
        return line
    return line.replace(here, "") if here != os.sep else line


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about a name, if it is not `known` but near to one that is."""
    near = nearest_name(name, known)
    return f"; did you mean `{near}`?" if near else ""


def nearest_name(name: object, known: Iterable[str]) -> str:
    """Return the one of the `known` names that is near to a name, or an empty string."""
    known = list(known)
    if not isinstance(name, str) or len(name) > _MAX_NAME or name in known:
        return ""
    import difflib  # importing it takes 5 ms

    by_letters = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.strip().lower(), by_letters, n=1, cutoff=0.7)
    return by_letters[near[0]] if near else ""


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun, such as `1 text` or `2 texts`.

    `nouns` is the plural, if it is not the noun with an `s`.
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number} {nouns or f'{noun}s'}"


def first_names(names: Sequence[str], most: int = 2) -> str:
    """Return the first names of a list, and how many others there are."""
    listed = ", ".join(names[:most])
    others = len(names) - most
    if others > 0:
        return f"{listed} and {others} more"
    return listed


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()

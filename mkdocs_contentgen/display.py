"""How values and texts that somebody else wrote are shown on a terminal, in a log, in a message."""

from __future__ import annotations

import re
import reprlib
from datetime import date

# Control characters but the tab, separators of lines, characters that set the direction of what
# follows (deprecated ones included), unpaired surrogates. The marks U+200E, U+200F and U+061C are
# not among them: right-to-left texts need them, and they cannot reorder letters.
_HIDDEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ud800-\udfff]")
# GitHub obeys a line that begins with `::name`, and a log may be wrapped at any space; Azure obeys
# `##vso[` and `##[` wherever they stand.
_COMMAND = re.compile(r"(?<!\S):(?=:\w)|#(?=#\w*\[)")


def hidden_character(text: str) -> str | None:
    r"""Return the first character that is not seen but does something, as an escape (`\x1b`)."""
    match = _HIDDEN.search(text)
    return _escaped(match) if match else None


def visible(text: str) -> str:
    r"""Return a text as one line that a terminal or a log of CI shows, and does not obey.

    What would be obeyed is shown as an escape such as `\x1b`. Text of all languages stays as it is.
    """
    return without_commands(_HIDDEN.sub(_escaped, text))


def without_commands(text: str) -> str:
    r"""Return lines that no CI takes for commands: `\x3a:error::` for `::error::`."""
    return _COMMAND.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def shown(value: object) -> str:
    """Return a value from YAML or JSON on one line, as its author would recognise it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    try:
        if isinstance(value, (str, int, float)):
            text = repr(value)
        else:
            # Of a date its digits; of a list or mapping a glance, however much is in it.
            text = str(value) if isinstance(value, date) else reprlib.repr(value)
    except ValueError:  # Python shows no whole number of more than 4300 digits
        return "a number of very many digits"
    return text if len(text) <= 60 else f"{text[:57]}…"


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()

"""Show untrusted texts and values safely on a terminal, in a log and in messages."""

from __future__ import annotations

import re
import reprlib
from datetime import date

# Control characters except the tab, line separators, bidirectional controls (deprecated ones
# included) and unpaired surrogates. The marks U+200E, U+200F and U+061C are allowed: right-to-left
# texts need them, and they cannot reorder letters.
_CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ud800-\udfff]"
)
_MAX_SOURCES = 20
_MAX_REMARKS, _MAX_REMARK = 50, 300
_ADDRESS = re.compile(
    r"https?://[\w.-]+(:\d+)?/[\w./%#~+-]{0,300}|file:[^\x00-\x1f\x7f\"<>\\`]{1,500}"
)

MAX_PASSAGE, MAX_PASSAGES = 2000, 8000
"""The maximum length in characters of what a text keeps of a cited section, and of all."""

MAX_MODEL = 100
"""The maximum length of a model's name in characters."""

# GitHub executes a line that begins with `::name`, and a log may wrap at any space; Azure executes
# `##vso[` and `##[` anywhere in a line.
_CI_COMMAND = re.compile(r"(?<!\S):(?=:\w)|#(?=#\w*\[)")


def hidden_character(text: str) -> str | None:
    r"""Return the first control character as an escape such as `\x1b`, or None."""
    match = _CONTROL_CHARACTERS.search(text)
    return _escape(match) if match else None


def escape_controls(text: str) -> str:
    r"""Return a text on one line, with control characters and CI commands escaped.

    Escapes are such as `\x1b`. Text of all languages stays as it is.
    """
    return without_commands(_CONTROL_CHARACTERS.sub(_escape, text))


def without_commands(text: str) -> str:
    r"""Return lines with CI commands escaped: `\x3a:error::` for `::error::`."""
    return _CI_COMMAND.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def model_name(value: object) -> str:
    """Return an untrusted name of a model if it can be shown, or else an empty string."""
    name = value.strip() if isinstance(value, str) else ""
    return name if name.isprintable() and len(name) <= MAX_MODEL else ""


def valid_sources(value: object) -> dict[str, str]:
    """Return the cited sections in an untrusted value, without those that cannot be such."""
    items = list(value.items())[:_MAX_SOURCES] if isinstance(value, dict) else []
    return {
        address: digest
        for address, digest in items
        if isinstance(address, str)
        and _ADDRESS.fullmatch(address)
        and isinstance(digest, str)
        and re.fullmatch("[0-9a-f]{64}", digest)
    }


def valid_passages(value: object) -> dict[str, str]:
    """Return what cited sections said, by address, without what cannot be such in the value."""
    items = list(value.items())[:_MAX_SOURCES] if isinstance(value, dict) else []
    found: dict[str, str] = {}
    left = MAX_PASSAGES
    for address, text in items:
        if isinstance(address, str) and _ADDRESS.fullmatch(address) and isinstance(text, str):
            shown = "".join(it if it.isprintable() or it in "\t\n" else " " for it in text)
            lines = (escape_controls(line).rstrip() for line in shown.splitlines())
            passage = "\n".join(lines).strip()[: min(left, MAX_PASSAGE)].rstrip()
            left -= len(passage)
            if passage:
                found[address] = passage
    return found


def valid_remarks(value: object) -> tuple[str, ...]:
    """Return the remarks in an untrusted value, each on one line, with control characters escaped.

    Further and longer ones are cut off. Remarks that are valid stay the same.
    """
    items = value[:_MAX_REMARKS] if isinstance(value, list) else []
    lines = (" ".join(item.split()) for item in items if isinstance(item, str))
    return tuple(escape_controls(line)[:_MAX_REMARK].rstrip() for line in lines if line)


def quoted(value: object) -> str:
    """Return a value from YAML or JSON on one line, of 60 characters at most."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    try:
        if isinstance(value, (str, int, float)):
            text = repr(value)
        else:
            text = str(value) if isinstance(value, date) else reprlib.repr(value)
    except ValueError:  # Python does not convert integers of more than 4300 digits
        return "a number with too many digits"
    return text if len(text) <= 60 else f"{text[:57]}…"


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()

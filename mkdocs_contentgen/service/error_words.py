"""Find the message in a server's error, whatever its form, and quote it without the token.

What is found is untrusted until without_secret() returns it.
"""

from __future__ import annotations

import re

from ..display import escape_controls
from .bodies import decode_json
from .event_stream import parse_events

_MAX_REASON = 200
_MAX_DEPTH = 8

_REASON_FIELDS = tuple(
    "error errors message detail msg error_message error_msg err errorMessage error_description "
    "reason status_msg base_resp metadata raw".split()
)
"""The fields of errors that have a message, or contain such fields."""

_NO_MESSAGE = re.compile(r"<|[{\[]\s*([\"{}\[\]\d-]|\Z)")
"""The beginning of what is not a message: a page of a proxy, or a part of the JSON of an answer."""


def reason_in(body: bytes) -> str:
    """Return the server's own message in the body of an error, or an empty string."""
    found = decode_json(body)
    if found is not None:
        return error_message(found)
    for event in parse_events(body):
        message = words_of_error(event.data)
        if message:
            return message
    return ""


def error_message(found: object) -> str:
    """Return the messages in the JSON of an error, or an empty string."""
    return ": ".join(dict.fromkeys(_find_reasons(found, _MAX_DEPTH)))


def _find_reasons(found: object, depth: int) -> list[str]:
    """Return the messages in a part of the JSON of an error, the most general first."""
    if isinstance(found, str):
        quoted_json = _json_in(found)
        if quoted_json is None:
            return [found] if found.strip() else []
        found = quoted_json
    if depth <= 0:
        return []
    parts: list[object] = []
    if isinstance(found, dict):
        parts = [found[name] for name in _REASON_FIELDS if name in found]
    elif isinstance(found, list):
        parts = found[:1]
    reasons = []
    for part in parts:
        reasons += _find_reasons(part, depth - 1)
    return reasons


def _json_in(message: str) -> object:
    """Return the JSON of the server behind a gateway that quotes it as a message, or None."""
    if message[:1] not in ("{", "["):
        return None
    return decode_json(message.encode("utf-8", "replace"))


def words_of_error(data: bytes) -> str:
    """Return the message in an error of any form, or an empty string."""
    found = decode_json(data)
    if found is not None:
        return error_message(found)
    try:
        text = data.decode().strip()
    except UnicodeDecodeError:
        return ""
    name, _, value = text.partition(":")
    if name.lower() == "error":
        return words_of_error(value.strip().encode())
    return "" if _NO_MESSAGE.match(text) else text


def has_secret(text: str, secret: str) -> bool:
    """Tell whether a text contains eight consecutive characters of a secret.

    Of a shorter secret, it tells whether the text contains all of it.
    """
    if not secret:
        return False
    letters = "".join(text.split()).lower()
    secret = secret.lower()
    length = min(len(secret), 8)
    parts = {secret[start : start + length] for start in range(len(secret) - length + 1)}
    return any(part in letters for part in parts)


def without_secret(text: str, secret: str) -> str:
    """Return the start of a server's text, to quote it in a message; empty with has_secret()."""
    if has_secret(text, secret):
        return ""
    return escape_controls(" ".join(text.split()))[:_MAX_REASON].rstrip(".")

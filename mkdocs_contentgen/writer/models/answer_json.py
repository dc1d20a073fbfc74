"""The JSON of OpenAI's chat completions API: messages, and errors of any form.

The API is copied by hundreds of servers. So no field is required, each can have any type, and an
error has any of a dozen names.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

import msgspec

from ...service.bodies import decode_json
from ...service.event_stream import BOM

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][\da-fA-F]{2}")
"""An unpaired surrogate: the tokens of some models split an emoji in the middle of its pair."""

_ERROR_FIELDS = (
    "error",
    "errors",
    "err",
    "error_code",
    "error_message",
    "error_msg",
    "detail",
    "errorCode",
    "errorMessage",
)
"""The fields of answers and events that are errors, whatever else these have."""

_NO_ERRORS = ("", "ok", "success", "none", "null")
"""What servers write into the fields of errors where there is none, in lower case."""


def decode(data: bytes) -> object:
    """Return the value in JSON, with U+FFFD for what cannot be decoded, or None.

    `NaN`, as some servers give the cost, is read as null.
    """
    value = decode_json(data)
    if value is None:
        text = _SURROGATE.sub(r"\\ufffd", data.removeprefix(BOM).decode("utf-8", "replace"))
        with suppress(ValueError, RecursionError):
            value = json.loads(text, parse_constant=lambda name: None)
    return value


class AnswerMessage(msgspec.Struct):
    """The next part of a text, or all of it."""

    content: object = None
    reasoning: object = None
    reasoning_content: object = None
    refusal: object = None

    @property
    def text(self) -> str:
        """The text, or an empty string."""
        if isinstance(self.content, str):
            return self.content
        return self._join_parts("text")

    @property
    def has_thoughts(self) -> bool:
        """Whether there is thinking text apart from the text."""
        has_parts = isinstance(self.content, list) and bool(self.content)
        has_only_thoughts = has_parts and not self.text
        return bool(self.reasoning or self.reasoning_content) or has_only_thoughts

    @property
    def refusal_words(self) -> str:
        """What the model says in place of a text, or an empty string."""
        refusal = self.refusal if isinstance(self.refusal, str) else ""
        return refusal + self._join_parts("refusal")

    def _join_parts(self, name: str) -> str:
        """Return what has this name in the parts that some servers send in place of a text."""
        if not isinstance(self.content, list):
            return ""
        words = ""
        for part in self.content:
            found = part.get(name) if isinstance(part, dict) else None
            if isinstance(found, str):
                words += found
        return words


class Choice(msgspec.Struct):
    """One of the texts that a server writes at once, and why it ends if it does."""

    index: object = 0
    message: AnswerMessage | None = None
    delta: AnswerMessage | None = None
    finish_reason: object = None


class Response(msgspec.Struct):
    """The fields of an answer or an event that are used. Others are ignored."""

    choices: list[Choice] | None = None
    usage: object = None


def find_error(fields: dict[str, object]) -> object:
    """Return the part of an answer or an event that is an error, or None."""
    if any(_is_error(fields.get(name)) for name in _ERROR_FIELDS):
        return fields
    if "error" in (fields.get("object"), fields.get("type")):
        return fields
    base = fields.get("base_resp")  # of MiniMax, in each answer
    if isinstance(base, dict) and base.get("status_code"):
        return base
    choices = fields.get("choices")
    if choices:
        return _find_choice_error(choices)
    for name in ("message", "msg"):
        words = fields.get(name)
        if isinstance(words, str) and words:
            return fields
    return None


def _is_error(value: object) -> bool:
    """Tell whether a field of errors has one.

    Some servers send the field with each event, as an object without a message and with code 0.
    """
    if isinstance(value, dict):
        return any(map(_is_error, value.values()))
    if isinstance(value, str):
        return value.strip().lower() not in _NO_ERRORS
    return bool(value)


def _find_choice_error(choices: object) -> object:
    """Return the first error in the choices of an answer, or None."""
    if not isinstance(choices, list):
        return None
    for choice in choices:
        if not isinstance(choice, dict):
            continue
        if _is_error(choice.get("error")):
            return choice["error"]
        if choice.get("finish_reason") == "error":
            return {"error": "finish_reason is 'error'"}
    return None

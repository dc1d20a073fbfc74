"""The body of a successful answer (interface section 2.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from ..errors import FailedTextError, InvalidAnswerError, UnsafeHTMLError
from ..html.article import parse_article
from ..requests import Request
from ..text import ANSWERED, Text, mend, model_name


def encode_answer(text: Text, **fields: object) -> bytes:
    """Return the body of the answer with a text (interface section 2.2), and further fields."""
    kept = {name: value for name in ANSWERED if (value := getattr(text, name))}
    return msgspec.json.encode({"success": True, "content": text.html, **kept, **fields})


def parse_answer(answer: bytes, request: Request) -> Text:
    """Return the text in an answer (interface section 2.2), generated now for `request`.

    The writer adds further fields. Raises FailedTextError if the service reports success, but sent
    no article, and InvalidAnswerError for other answers: they may be from another program than the
    service.
    """
    try:
        # Python refuses integers of more than 4300 digits.
        fields = json.loads(answer.decode("utf-8-sig"), parse_int=float)
    except (ValueError, RecursionError) as error:
        raise InvalidAnswerError("the answer is not JSON in UTF-8; is base_url right?") from error
    if not isinstance(fields, dict):
        raise InvalidAnswerError("the answer is not a JSON object")
    if fields.get("success") is not True:
        raise InvalidAnswerError("the service reports a failure (`success` is not true)")
    content = fields.get("content")
    if not isinstance(content, str):
        raise failed_text("the answer has no text in `content`", answer.decode(), fields)
    try:
        parse_article(content)
        content.encode()
    except UnsafeHTMLError as error:
        message = f"the answer's `content` cannot be used: {error}"
        raise failed_text(message, content, fields) from error
    except UnicodeEncodeError as error:
        message = "the answer's `content` contains an unpaired surrogate"
        raise failed_text(message, content, fields) from error
    return Text(content, datetime.now(UTC), request.record(), **mend(fields))


def failed_text(message: str, answer: str, fields: Mapping[str, object]) -> FailedTextError:
    """Return the error for an unusable text, with the model and the cost in the answer's fields."""
    usage = fields.get("usage")
    cost = usage.get("cost") if isinstance(usage, dict) else None
    if not isinstance(cost, int | float) or isinstance(cost, bool) or not 0 <= cost < _MAX_COST:
        cost = None
    return FailedTextError(message, answer, model=model_name(fields.get("model")), cost=cost)


_MAX_COST = 10**9
"""Reported costs of this size or larger are errors of the service."""

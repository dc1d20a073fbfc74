"""The body of a successful answer (interface section 2.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from ..display import model_name, valid_sources
from ..errors import InvalidAnswerError, UnsafeHTMLError
from ..html.article import parse_article


@dataclass(frozen=True)
class GeneratedText:
    """The HTML of a generated text, and the name of the model, or an empty string."""

    html: str
    model: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each cited section by its address."""


def encode_answer(html: str, **fields: object) -> bytes:
    """Return the body of a successful answer (interface section 2.2) with further fields."""
    return msgspec.json.encode({"success": True, "content": html, **fields})


def parse_answer(answer: bytes) -> GeneratedText:
    """Return the text in an answer (interface section 2.2). Raises InvalidAnswerError.

    The writer adds the fields `model` and `sources`. Unusable values count as none.
    """
    try:
        fields = json.loads(answer.decode())
    except (ValueError, RecursionError) as error:
        raise InvalidAnswerError("the answer is not JSON in UTF-8; is base_url right?") from error
    if not isinstance(fields, dict):
        raise InvalidAnswerError("the answer is not a JSON object")
    if fields.get("success") is not True:
        raise InvalidAnswerError("the service reports a failure (`success` is not true)")
    content = fields.get("content")
    if not isinstance(content, str):
        raise InvalidAnswerError("the answer has no text in `content`")
    try:
        parse_article(content)
        content.encode()
    except UnsafeHTMLError as error:
        raise InvalidAnswerError(f"the answer's `content` cannot be used: {error}") from error
    except UnicodeEncodeError as error:
        raise InvalidAnswerError("the answer's `content` contains an unpaired surrogate") from error
    return GeneratedText(
        content, model_name(fields.get("model")), valid_sources(fields.get("sources"))
    )

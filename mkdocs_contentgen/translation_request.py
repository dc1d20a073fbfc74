"""The requests for translations of other texts of a site.

The front matter of such a request names the page of its original. All that says what the text is
about is in the original's request, which is found when all pages are read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import yaml

from .files import sha256
from .requests import (
    CANONICAL_JSON,
    KEY_FORMAT,
    TRANSLATION_KEY,
    Request,
    TranslationOf,
    without_original,
)


class TranslationRequest(Request, frozen=True, kw_only=True):
    """The request for a translation of the text for another request, into `language`."""

    operation = "translate-text"

    original: Request
    """The request of the text that is translated, which is not a translation itself."""

    def body(self) -> dict[str, str]:
        """Return the body of the original's request. The text to translate is sent beside it."""
        return self.original.body()

    def record(self) -> dict[str, object]:
        """Return what the text depends on, as stored in caches and approved files."""
        return {
            "type": self.type,
            "topic": self.topic,
            "language": self.language,
            "revision": self.revision,
            TRANSLATION_KEY: self.original.record(),
        }

    def key(self, *, sandbox: bool) -> str:
        """Return the cache key, which depends on the original's request, but not on its text."""
        identity = {
            "format": KEY_FORMAT,
            "operation": self.operation,
            "original": self.original.key(sandbox=sandbox),
            "language": self.language,
            "revision": self.revision,
        }
        return sha256(CANONICAL_JSON.encode(identity))

    def answers_to(self, record: Mapping[str, object]) -> bool:
        """Tell whether a record is that of an equal request."""
        own = {"language": self.language, "revision": self.revision}
        if any(record.get(name) != value for name, value in own.items()):
            return False
        of_original = record.get(TRANSLATION_KEY)
        return isinstance(of_original, dict) and self.original.answers_to(of_original)


def translation_request(
    asked: TranslationOf, original: Request, language: str
) -> TranslationRequest:
    """Return the request for the translation of the text for another request."""
    return TranslationRequest(
        type=original.type,
        topic=original.topic,
        length=original.length,
        level=original.level,
        id=asked.own.id,
        revision=asked.own.revision,
        owner=asked.own.owner,
        language=language,
        original=original,
    )


def request_of_its_own(asked: TranslationOf, record: Mapping[str, object]) -> str:
    """Return the YAML of a request for a new text that a translation answers.

    With it in the page, the translation stays there, though its original is gone. `record` is that
    of the translation's request.
    """
    fields = dict(without_original(record))
    if asked.own.revision == 1:
        fields.pop("revision", None)
    if asked.own.id != "main":
        fields["id"] = asked.own.id
    if asked.own.owner:
        fields["owner"] = asked.own.owner
    written = yaml.safe_dump(
        fields, default_flow_style=True, sort_keys=False, allow_unicode=True, width=math.inf
    )
    return written.strip()

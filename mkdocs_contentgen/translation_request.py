"""The requests for translations of other texts of a site.

The front matter of such a request names the page of its original. All that says what the text is
about is in the original's request, which is found when all pages are read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from .display import quoted
from .files import sha256
from .requests import CANONICAL_JSON, KEY_FORMAT, TRANSLATION_KEY, Request

OWN_FIELDS = ("id", "language", "revision", "owner")
"""The other keys that such a request can have. All else is the original's."""

_MAX_NAME = 400
_NAME = re.compile(r"([^#\s][^#\x00-\x1f\x7f]*)(?:#([a-z0-9-]+))?")
"""Matches the page of an original, and the id of its article on it."""


@dataclass(frozen=True)
class TranslationOf:
    """The front matter of a translation, before its original is found."""

    page: str
    """The path of the original's page in the directory of pages (`src_uri`)."""

    article: str
    """The id of the original on its page."""

    own: Request
    """A request whose OWN_FIELDS are those of the translation; its other fields say nothing."""

    @property
    def id(self) -> str:
        """The id of the translation on its own page."""
        return self.own.id

    def request(self, original: Request, language: str) -> TranslationRequest:
        """Return the request for the translation of the text for another request."""
        return TranslationRequest(
            type=original.type,
            topic=original.topic,
            length=original.length,
            level=original.level,
            id=self.own.id,
            revision=self.own.revision,
            owner=self.own.owner,
            language=language,
            original=original,
        )


def parse_name(value: object) -> tuple[str, str]:
    """Return the page and the id that a value of `translation_of` names. Raises ValueError."""
    match = _NAME.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or len(match[0]) > _MAX_NAME:
        raise ValueError(
            "expected the path of a page, such as guide/builds.md, or guide/builds.md#second for "
            f"its article with the id 'second'; found {quoted(value)}"
        )
    return unicodedata.normalize("NFC", match[1]).removeprefix("./"), match[2] or "main"


class TranslationRequest(Request, frozen=True, kw_only=True):
    """The request for a translation of the text for another request, into `language`."""

    operation = "translate-text"

    original: Request
    """The request of the text that is translated, which is no translation itself."""

    def body(self) -> dict[str, str]:
        """Return the body of the original's request: what is asked is in the text beside it."""
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

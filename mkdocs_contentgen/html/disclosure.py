"""AI disclosure of articles: a visible line, the attribute `ai-disclosure`, and JSON-LD."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime

from .plaintext import plain_text

LINES = {
    "draft": "AI-generated, not reviewed",
    "approved": "AI-generated, reviewed by {name} on {date}",
    "written": "Written by {author}",
    "end": "End of the AI-generated text",
    "responsibility": "Editorial responsibility: {name}",
}
"""The default disclosure lines. The option `disclosure` can replace them.

`written` is for a text that a person wrote. `end` stands at the end of an article that the author's
text follows, and `responsibility` behind the line of an approved article, with the option
`editorial_responsibility`.
"""

HUMAN_ONLY = "human-only"
"""The value of the attribute `ai-disclosure` for a text that a person wrote."""

_DIGITAL_CREATION = "http://cv.iptc.org/newscodes/digitalsourcetype/digitalCreation"
"""IPTC's term for what a person wrote. Unlike its other terms, schema.org has no own one for it."""

_PLACEHOLDER = re.compile(r"\{(model|name|date|author)\}")
_SCHEMA_TYPES = {"article": "Article", "blog": "BlogPosting", "news": "NewsArticle"}


@dataclass(frozen=True)
class Review:
    """The name of the reviewer, and the date of the approval."""

    name: str
    date: date


@dataclass(frozen=True, slots=True)
class Provenance:
    """The type, generation time, review, model and remarks of an article.

    `review` is None for a draft.
    """

    type: str
    generated_at: datetime
    review: Review | None = None
    model: str = ""
    """The name of the model, or an empty string if it is not known."""

    remarks: tuple[str, ...] = ()
    """What is not as requested in a draft."""

    language: str = ""
    """The BCP 47 tag of the text, or an empty string if it is not known."""

    is_edited: bool = False
    """Whether a person wrote some of it."""

    author: str = ""
    """The person who wrote it, or an empty string for a text of a model."""

    publisher: str = ""
    """Who has the editorial responsibility for an approved article, or an empty string."""

    def published_by(self, name: str) -> Provenance:
        """Return the provenance with the one who has the editorial responsibility, if approved."""
        return replace(self, publisher=name) if self.review else self

    def line(self, lines: Mapping[str, str]) -> str:
        """Return the disclosure line. `lines` is LINES or the value of the option `disclosure`."""
        text = lines[self._kind_of_line()]
        if self.model and "{model}" not in text:
            text += " · {model}"
        values = {"model": self.model, "author": self.author}
        if self.review:
            values |= {"name": self.review.name, "date": self.review.date.isoformat()}
        # All at once, since names may themselves contain a placeholder.
        text = _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)
        if not self.publisher:
            return text
        return f"{text} · {lines['responsibility'].replace('{name}', self.publisher)}"

    def _kind_of_line(self) -> str:
        if self.author:
            return "written"
        return "approved" if self.review else "draft"

    def attribute(self) -> str:
        """Return the value of the attribute `ai-disclosure` (a draft of a W3C community group)."""
        if self.author:
            return HUMAN_ONLY
        return "ai-assisted" if self.review else "ai-autonomous"

    def json_ld(self, title: str, published: str) -> dict[str, object]:
        """Return the schema.org properties of the article. `published` is an ISO date or empty."""
        properties: dict[str, object] = {
            "@context": "https://schema.org",
            "@type": _SCHEMA_TYPES[self.type],
            "headline": title,
            "dateCreated": self.generated_at.isoformat(timespec="seconds"),
            "author": self.author and _named("Person", self.author),
            "digitalSourceType": self._source_type(),
            "inLanguage": self.language,
            "creator": self.model and _named("SoftwareApplication", self.model),
            "datePublished": published,
            "editor": self.review and _named("Person", self.review.name),
            "dateModified": self.review and self.review.date.isoformat(),
            "publisher": self.publisher and _named("Organization", self.publisher),
        }
        return {name: value for name, value in properties.items() if value}

    def _source_type(self) -> str:
        if self.author:
            return _DIGITAL_CREATION
        if self.is_edited:
            return "https://schema.org/CompositeWithTrainedAlgorithmicMediaDigitalSource"
        return "https://schema.org/TrainedAlgorithmicMediaDigitalSource"


def _named(kind: str, name: str) -> dict[str, str]:
    return {"@type": kind, "name": plain_text(name)}


def json_ld_script(articles: Iterable[dict[str, object]]) -> str:
    """Return a `<script>` with the JSON-LD of a page's articles.

    Characters that could end the script or a string in it are escaped.
    """
    text = json.dumps(list(articles), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/ld+json">{text}</script>'

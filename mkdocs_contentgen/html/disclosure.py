"""How a text came about, said to readers and to machines: a line, an attribute, and JSON-LD."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from .plaintext import plain_text

LINES = {
    "draft": "AI-generated, not reviewed",
    "approved": "AI-generated, reviewed by {name} on {date}",
}
"""The visible lines; the option `disclosure` can say them otherwise."""

_SCHEMA_TYPES = {"article": "Article", "blog": "BlogPosting", "news": "NewsArticle"}


@dataclass(frozen=True)
class Review:
    """Who answers for a text, and since when."""

    name: str
    date: date


@dataclass(frozen=True)
class Provenance:
    """How one article came about. `review` is None for a draft."""

    type: str
    generated_at: datetime
    review: Review | None = None

    def line(self, lines: Mapping[str, str]) -> str:
        """Return the visible line; `lines` is LINES or what the option `disclosure` says."""
        if self.review is None:
            return lines["draft"]
        text = lines["approved"].replace("{date}", self.review.date.isoformat())
        return text.replace("{name}", self.review.name)

    def attribute(self) -> str:
        """Return the value of the attribute `ai-disclosure` (a W3C community group's draft)."""
        return "ai-assisted" if self.review else "ai-autonomous"

    def json_ld(self, title: str, published: str) -> dict[str, object]:
        """Return the article as schema.org describes one; `published` is a date or empty."""
        properties: dict[str, object] = {
            "@context": "https://schema.org",
            "@type": _SCHEMA_TYPES[self.type],
            "headline": title,
            "dateCreated": self.generated_at.isoformat(timespec="seconds"),
            "digitalSourceType": "https://schema.org/TrainedAlgorithmicMediaDigitalSource",
        }
        if published:
            properties["datePublished"] = published
        if self.review:
            properties["editor"] = {"@type": "Person", "name": plain_text(self.review.name)}
            properties["dateModified"] = self.review.date.isoformat()
        return properties


def json_ld_script(articles: Iterable[dict[str, object]]) -> str:
    """Return a `<script>` that holds the articles of a page, and can hold nothing else."""
    text = json.dumps(list(articles), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/ld+json">{text}</script>'

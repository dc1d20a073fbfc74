"""AI disclosure of articles: a visible line, the attribute `ai-disclosure`, and JSON-LD."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from ..display import counted
from ..language.tags import base_language
from .plaintext import plain_text

if TYPE_CHECKING:  # a build without requests needs no records
    from ..remark import Remark

DISCLOSURE_LINES = {
    "draft": "AI-generated, not reviewed",
    "approved": "AI-generated, reviewed by {name} on {date}",
    "written": "Written by {author}",
    "translated": "AI-translated[ from {language}], not reviewed",
    "translated_approved": "AI-translated[ from {language}], reviewed by {name} on {date}",
    "translated_by": "Translated by {author}[ from {language}]",
    "end": "End of the AI-generated text",
    "translated_end": "End of the AI-translated text",
    "responsibility": "Editorial responsibility: {name}",
    "original_changed": "The[ {language}] original has changed since ({paragraphs})",
}
"""The default disclosure lines. The option `disclosure` can replace them.

`written` and `translated_by` are for texts and translations by a person. `end` and `translated_end`
stand at the end of an article that the author's text follows, and `responsibility` after the line
of an approved article, with the option `editorial_responsibility`. `original_changed` tells the
readers of a translation that its original says something else now. Translations have these lines in
their own language if `translation_lines.toml` has that. What is in square brackets is left out
where nothing says in which language the original is.
"""

HUMAN_ONLY = "human-only"
"""The value of the attribute `ai-disclosure` for a text that a person wrote."""

_DIGITAL_CREATION = "http://cv.iptc.org/newscodes/digitalsourcetype/digitalCreation"
"""IPTC's term for what a person wrote. Unlike its other terms, schema.org has no own one for it."""

_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
"""Matches what is in square brackets in a default line."""

_SEPARATOR = " · "
_PLACEHOLDER = re.compile(r"\{(model|name|date|author|language|count|paragraphs)\}")
_SCHEMA_TYPES = {"article": "Article", "blog": "BlogPosting", "news": "NewsArticle"}


@dataclass(frozen=True)
class Review:
    """The name of the reviewer, and the date of the approval."""

    name: str
    date: date


@dataclass(frozen=True)
class LinePart:
    """A part of a disclosure line."""

    text: str
    is_value: bool = False
    """Whether it is a name, a date or a language, and no words of the line itself."""


@dataclass(frozen=True)
class DisclosureLine:
    """A line of text about an article."""

    parts: Sequence[LinePart]
    language: str = ""
    """The language of the words as a BCP 47 tag, or an empty string if it is not known."""

    def __str__(self) -> str:
        said = ""
        for part in self.parts:
            said += part.text
        return said

    def __bool__(self) -> bool:
        return bool(str(self))


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a page says of how an article came about.

    `review` is None for a text that nobody has approved as it is.
    """

    type: str
    generated_at: datetime | None = None
    """When it was generated, or None if nobody vouches for a time."""

    review: Review | None = None
    model: str = ""
    """The name of the model, or an empty string if it is not known."""

    remarks: tuple[Remark, ...] = ()
    """What is not as requested in a draft."""

    language: str = ""
    """The BCP 47 tag of the text, or an empty string if it is not known."""

    is_edited: bool = False
    """Whether a person wrote some of it."""

    author: str = ""
    """The person who wrote it, or an empty string for a text of a model."""

    publisher: str = ""
    """Who has the editorial responsibility for an approved article, or an empty string."""

    translated_from: str | None = None
    """The BCP 47 tag of a translation's original, which is empty if it is not known.

    It is None for what is not a translation."""

    original_title: str = ""
    """The title of a translation's original, or an empty string."""

    original_by_person: bool = False
    """Whether a person wrote the original of a translation."""

    original_page: str = ""
    """The `src_uri` of the page of a translation's original, or an empty string."""

    original_changes: int = 0
    """The number of blocks of the original that have changed since they were translated."""

    def published_by(self, name: str) -> Provenance:
        """Return the provenance with the one who has the editorial responsibility, if approved."""
        return replace(self, publisher=name) if self.review else self

    def line(self, own_lines: Mapping[str, str]) -> DisclosureLine:
        """Return the disclosure line.

        `own_lines` are those that the option `disclosure` has in place of the default ones.
        """
        words, language = self._words(self._kind_of_line(), own_lines)
        of_original = ""
        if self.translated_from:
            of_original = self._name_of_language(self.translated_from, language)
        is_own_line = not language
        if not is_own_line:  # brackets in an own line are text
            words = _OPTIONAL.sub(r"\1" if of_original else "", words)
        if self.model and "{model}" not in words:
            words += f"{_SEPARATOR}{{model}}"
        values = {"model": self.model, "author": self.author}
        if self.review:
            values |= {"name": self.review.name, "date": self.review.date.isoformat()}
        if self.translated_from is not None:
            values["language"] = of_original or self._another_language
        parts = _fill(words, values)
        if self.publisher:
            responsibility, _ = self._words("responsibility", own_lines)
            parts.append(LinePart(_SEPARATOR))
            parts += _fill(responsibility, {"name": self.publisher})
        return DisclosureLine(parts, language)

    def notice(self, own_lines: Mapping[str, str]) -> DisclosureLine | None:
        """Return the line about an original that has changed since, or None if it has not."""
        if not self.original_changes:
            return None
        words, language = self._words("original_changed", own_lines)
        of_original = ""
        if self.translated_from:
            of_original = self._name_of_language(self.translated_from, language)
        if language:
            words = _OPTIONAL.sub(r"\1" if of_original else "", words)
        values = {
            "language": of_original or self._another_language,
            "count": str(self.original_changes),
            "paragraphs": counted(self.original_changes, "paragraph"),
        }
        return DisclosureLine(_fill(words, values), language)

    def end_line(self, own_lines: Mapping[str, str]) -> DisclosureLine | None:
        """Return the line at the end of an article that the author's text follows.

        It is None for a text or a translation by a person, which needs none.
        """
        if self.author:
            return None
        kind = "end" if self.translated_from is None else "translated_end"
        words, language = self._words(kind, own_lines)
        return DisclosureLine([LinePart(words)], language)

    def _kind_of_line(self) -> str:
        if self.translated_from is not None:
            if self.author:
                return "translated_by"
            return "translated_approved" if self.review else "translated"
        if self.author:
            return "written"
        return "approved" if self.review else "draft"

    def _words(self, kind: str, own_lines: Mapping[str, str]) -> tuple[str, str]:
        """Return the words of a line, and their language, which is empty for own lines."""
        if kind in own_lines:
            return own_lines[kind], ""
        if self.translated_from is None:
            return DISCLOSURE_LINES[kind], "en"
        from .translation_lines import find_lines

        found = find_lines(self.language)
        return found.lines.get(kind, DISCLOSURE_LINES[kind]), found.language

    def _name_of_language(self, tag: str, language: str) -> str:
        """Return the name of a language for a line in another one, if it is known.

        That is its English name in English, and its own name in others. `language` is empty for an
        own line, which is most likely in the language of the text.
        """
        from .translation_lines import displayed_language_name

        in_english = (language or base_language(self.language)) == "en"
        return displayed_language_name(tag, in_english=in_english)

    @property
    def _another_language(self) -> str:
        """What an own line says in place of the name of a language that is not known."""
        from .translation_lines import find_lines

        return find_lines(self.language).another_language

    @property
    def _is_of_people(self) -> bool:
        """Whether no model has written anything of it."""
        return bool(self.author) and (self.translated_from is None or self.original_by_person)

    def attribute(self) -> str:
        """Return the value of the attribute `ai-disclosure` (a draft of a W3C community group)."""
        if self._is_of_people:
            return HUMAN_ONLY
        return "ai-assisted" if self.author or self.review else "ai-autonomous"

    def json_ld(self, title: str, published: str) -> dict[str, object]:
        """Return the schema.org properties of the article. `published` is an ISO date or empty."""
        person = _named("Person", self.author)
        editor: dict[str, str] = {}
        modified = ""
        if self.review:
            editor = _named("Person", self.review.name)
            modified = self.review.date.isoformat()
        created = ""
        if self.generated_at:
            created = self.generated_at.isoformat(timespec="seconds")
        is_translation = self.translated_from is not None
        properties: dict[str, object] = {
            "@context": "https://schema.org",
            "@type": _SCHEMA_TYPES[self.type],
            "headline": title,
            "dateCreated": created,
            "author": {} if is_translation else person,
            # Only a person or an organization can be one there; a model is the creator.
            "translator": person if is_translation else {},
            "digitalSourceType": self._source_type(),
            "inLanguage": self.language,
            "translationOfWork": self._original() if is_translation else {},
            "creator": _named("SoftwareApplication", self.model),
            "datePublished": published,
            "editor": editor,
            "dateModified": modified,
            "publisher": _named("Organization", self.publisher),
        }
        return {name: value for name, value in properties.items() if value}

    def _original(self) -> dict[str, str]:
        """Return the schema.org properties of the original of a translation."""
        properties = {"@type": _SCHEMA_TYPES[self.type]}
        if self.translated_from:
            properties["inLanguage"] = self.translated_from
        title = plain_text(self.original_title)
        if title:
            properties["name"] = title
        return properties

    def _source_type(self) -> str:
        if self._is_of_people:
            return _DIGITAL_CREATION
        if self.author or self.is_edited:
            return "https://schema.org/CompositeWithTrainedAlgorithmicMediaDigitalSource"
        return "https://schema.org/TrainedAlgorithmicMediaDigitalSource"


def _fill(words: str, values: Mapping[str, str]) -> list[LinePart]:
    """Return the parts of a line whose words have placeholders for values.

    All at once, since values may themselves contain a placeholder.
    """
    parts = []
    position = 0
    for placeholder in _PLACEHOLDER.finditer(words):
        parts.append(LinePart(words[position : placeholder.start()]))
        value = values.get(placeholder[1], placeholder[0])
        parts.append(LinePart(value, is_value=True))
        position = placeholder.end()
    parts.append(LinePart(words[position:]))
    return parts


def _named(kind: str, name: str) -> dict[str, str]:
    """Return the schema.org properties of what has this name; none if there is no name."""
    if not name:
        return {}
    return {"@type": kind, "name": plain_text(name)}


def json_ld_script(articles: Iterable[dict[str, object]]) -> str:
    """Return a `<script>` with the JSON-LD of a page's articles.

    Characters that could end the script or a string in it are escaped.
    """
    text = json.dumps(list(articles), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/ld+json">{text}</script>'

"""What an update of a text asks a service for.

A text is updated because its sources have changed or a person has a note, and a translation because
its original has changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, ClassVar, Protocol

import msgspec

from ..display import counted
from ..files import sha256
from ..page_request import OriginalText, PageRequest
from ..requests import Request
from ..service.protocol import Attempt, Client, ServiceRequest, Translated, Translation, Update
from ..text import Text

if TYPE_CHECKING:
    from ..writer.models.settings import WriterOptions
    from ..writer.writing import Estimate


class ApplyAnswer(Protocol):
    """Changes a text as the answer of a service says."""

    def __call__(self, before: Text, today: date) -> Text:
        """Return the updated text. Raises EditError or UnsafeHTMLError."""


@dataclass(frozen=True)
class SourceUpdate:
    """What an update asks for because of sources that have changed, or of a note."""

    update: Update

    @property
    def why(self) -> str:
        """Why the text is updated, in a few words."""
        changed = [source.title for source in self.update.sources if source.has_changed]
        return self.update.note or ", ".join(changed)

    def operation(self, request: Request) -> str:
        """Return what tells this request from others of the text, for its Idempotency-Key.

        With another note, it is another request.
        """
        return _operation_of(ServiceRequest(request, self.update))

    async def ask(self, client: Client, asked: PageRequest, attempt: Attempt) -> ApplyAnswer:
        """Ask a client, and return what applies its answer to the text. Raises ServiceError."""
        updated = await client.update(asked, self.update, attempt)

        def apply_answer(before: Text, today: date) -> Text:
            from .block_updates import apply_update

            return apply_update(before, self.update, updated, today)

        return apply_answer

    def estimate(self, options: WriterOptions) -> Estimate:
        """Estimate the calls and the usage of it."""
        from ..writer.changes import estimate_update

        return estimate_update(self.update, options)


@dataclass(frozen=True)
class _OriginalUpdate:
    """An update of a translation, because its original has changed."""

    original: OriginalText
    changes: int
    repeats: bool
    """Whether a person names the page, and so asks for what the translation lacks."""

    lacks: ClassVar[str]
    """What the translation lacks if the original has not changed."""

    @property
    def why(self) -> str:
        """Why the text is updated, in a few words."""
        if not self.changes:
            return self.lacks
        return f"the original has changed: {counted(self.changes, 'block')}"

    def _apply(
        self, before: Text, today: date, asked: Translation | None, translated: Translated
    ) -> Text:
        from ..translation.updated_translation import apply_translation_update

        return apply_translation_update(
            before,
            self.original.text,
            asked,
            translated,
            today,
            is_draft=self.original.is_draft,
            repeats=self.repeats,
        )


@dataclass(frozen=True)
class TranslationUpdate(_OriginalUpdate):
    """What an update asks for because the original of a translation has changed."""

    to_translate: Translation
    lacks: ClassVar[str] = "untranslated blocks"

    def operation(self, request: Request) -> str:
        """Return what tells this request from others of the text, for its Idempotency-Key.

        With other words of the original, it is another request.
        """
        return _operation_of(ServiceRequest(request, self.to_translate))

    async def ask(self, client: Client, asked: PageRequest, attempt: Attempt) -> ApplyAnswer:
        """Ask a client, and return what applies its answer to the text. Raises ServiceError."""
        translated = await client.translate(asked, self.to_translate, attempt)

        def apply_answer(before: Text, today: date) -> Text:
            return self._apply(before, today, self.to_translate, translated)

        return apply_answer

    def estimate(self, options: WriterOptions) -> Estimate:
        """Estimate the calls and the usage of it."""
        from ..translation.asking import estimate_translation

        return estimate_translation(self.to_translate, options)


@dataclass(frozen=True)
class WordlessUpdate(_OriginalUpdate):
    """An update of a translation that needs no new words, so that nobody is asked for any."""

    lacks: ClassVar[str] = "what it lacks of its original"

    def apply(self, before: Text, today: date) -> Text:
        """Return the updated text. Raises EditError or UnsafeHTMLError."""
        return self._apply(before, today, None, Translated([]))

    def estimate(self, options: WriterOptions) -> Estimate:
        """Return that it needs no calls."""
        from ..writer.writing import Estimate

        return Estimate(0, 0, 0, 0)


def _operation_of(sent: ServiceRequest) -> str:
    """Return the operation of a request, with a digest of what is sent."""
    return f"{sent.operation} {sha256(msgspec.json.encode(sent.body()))}"

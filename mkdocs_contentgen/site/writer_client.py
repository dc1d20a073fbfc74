"""The writer in place of the service: the answers of the interface, written by a model."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import Self

import msgspec

from ..display import quoted
from ..page_request import PageRequest
from ..reporting import SILENT, Reporter
from ..service.protocol import UNOBSERVED, Attempt, Translated, Translation, Update, Updated
from ..text import Text
from ..translation.asking import translate
from ..writer.changes import find_changes
from ..writer.models.model import make_model
from ..writer.models.settings import WriterOptions
from ..writer.models.usage import Spending
from ..writer.prompts import check_prompts
from ..writer.writing import write


class WriterClient:
    """Writes texts with a model. Used with `async with`, like ServiceClient.

    `spending` gets the usage of each call, and `reporter` a line for each call and each text.
    `retries` counts for each call. Raises ConfigurationError for invalid options.
    """

    def __init__(
        self,
        options: WriterOptions,
        spending: Spending | None = None,
        *,
        retries: int = 2,
        reporter: Reporter = SILENT,
    ) -> None:
        self._options = options
        self._reporter = reporter
        check_prompts(options)
        self._model = make_model(
            options, spending or Spending(), retries=retries, reporter=reporter
        )

    @property
    def warnings(self) -> list[str]:
        """Warnings about all requests."""
        return [*self._model.warnings, *self._options.sources.warnings]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._model.__aexit__(*error)

    async def generate(self, asked: PageRequest, attempt: Attempt = UNOBSERVED) -> Text:
        """Write a text.

        `attempt` keeps the answers of a text of several calls until it is finished. Its
        Idempotency-Key and timeout are ignored, since nothing is sent twice, and each call to the
        model has its own timeout. Raises a ServiceError, such as FailedTextError, but never a
        NotSentError: an earlier call for the text may have been sent.
        """
        request = asked.request
        sources = self._options.sources
        is_grounded = sources.paths or request.sources
        written = await write(
            asked.in_its_language(),
            self._options,
            partial(self._model.ask, is_stopped=attempt.is_stopped),
            today=date.today(),
            text_around=sources.text_around(asked.page) if is_grounded else "",
            attempt=attempt,
        )
        self._reporter.debug(
            f"{request.type} {quoted(request.topic)}: {written.words:,} words, {written.usage}, "
            f"sources: {len(written.text.sources)}"
        )
        return msgspec.structs.replace(written.text, request=request.record())

    async def update(
        self, asked: PageRequest, update: Update, attempt: Attempt = UNOBSERVED
    ) -> Updated:
        """Return the changes of the text for a request. Raises the same as generate()."""
        ask = partial(self._model.ask, is_stopped=attempt.is_stopped)
        updated, usage = await find_changes(
            asked.in_its_language(), update, self._options, ask, attempt=attempt
        )
        self._reporter.debug(f"{asked.request.type} {quoted(asked.request.topic)}: update, {usage}")
        return updated

    async def translate(
        self, asked: PageRequest, translation: Translation, attempt: Attempt = UNOBSERVED
    ) -> Translated:
        """Return the translated blocks of a text. Raises the same as generate()."""
        original = asked.original or asked
        translated, usage = await translate(
            original.in_its_language(),
            translation,
            self._options,
            partial(self._model.ask, is_stopped=attempt.is_stopped),
            attempt=attempt,
        )
        done = sum(1 for block in translated.blocks if block.text)
        self._reporter.debug(
            f"{asked.request.type} {quoted(asked.request.topic)}: translation into "
            f"{translation.language}, {done} of {len(translated.blocks)} blocks, {usage}"
        )
        return translated

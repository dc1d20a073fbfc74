"""The writer in place of the service: the answers of the interface, written by a model."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Self

import msgspec

from ..display import quoted
from ..requests import Request
from ..service.protocol import UNOBSERVED, Attempt, Update, Updated
from ..text import Text
from .changes import find_changes
from .model import make_model
from .prompts import check_prompts
from .settings import WriterOptions
from .usage import Spending
from .writing import write


class WriterClient:
    """Writes texts with a model. Used with `async with`, like ServiceClient.

    `spending` gets the usage of each call, and `debug` a line for each call and each text.
    `retries` counts for each call. `own_text` returns the text around an article on its page, and
    `language` the BCP 47 tag of its language, or an empty string for that of the topic.
    Raises ConfigurationError for invalid options.
    """

    def __init__(
        self,
        options: WriterOptions,
        spending: Spending | None = None,
        *,
        retries: int = 2,
        debug: Callable[[str], None] | None = None,
        own_text: Callable[[Request], str] = lambda request: "",
        language: Callable[[Request], str] = lambda request: request.language,
    ) -> None:
        self._options = options
        self._own_text = own_text
        self._language = language
        self._debug = debug or (lambda line: None)
        check_prompts(options)
        self._model = make_model(options, spending or Spending(), retries=retries, debug=debug)

    @property
    def warnings(self) -> list[str]:
        """Warnings about all requests."""
        return [*self._model.warnings, *self._options.sources.warnings]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._model.__aexit__(*error)

    async def generate(self, request: Request, attempt: Attempt = UNOBSERVED) -> Text:
        """Write a text.

        `attempt` keeps the answers of a text of several calls until it is finished. Its
        Idempotency-Key and timeout are ignored, since nothing is sent twice, and each call to the
        model has its own timeout. Raises a ServiceError, such as FailedTextError, but never a
        NotSentError: an earlier call for the text may have been sent.
        """
        is_grounded = self._options.sources.paths or request.sources
        own = self._own_text(request) if is_grounded else ""
        written = await write(
            self._with_language(request),
            self._options,
            partial(self._model.ask, is_stopped=attempt.is_stopped),
            today=date.today(),
            own=own,
            attempt=attempt,
        )
        self._debug(
            f"{request.type} {quoted(request.topic)}: {written.words:,} words, {written.usage}, "
            f"sources: {len(written.text.sources)}"
        )
        return msgspec.structs.replace(written.text, request=request.record())

    async def update(
        self, request: Request, update: Update, attempt: Attempt = UNOBSERVED
    ) -> Updated:
        """Return the changes of the text for a request. Raises the same as generate()."""
        ask = partial(self._model.ask, is_stopped=attempt.is_stopped)
        updated, usage = await find_changes(
            self._with_language(request), update, self._options, ask, attempt=attempt
        )
        self._debug(f"{request.type} {quoted(request.topic)}: update, {usage}")
        return updated

    def _with_language(self, request: Request) -> Request:
        return msgspec.structs.replace(request, language=self._language(request))

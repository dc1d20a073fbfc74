"""The writer in place of the service: the answers of the interface, written by a model."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Self

import msgspec

from ..display import quoted
from ..requests import Request
from ..service.answer import parse_answer
from ..service.progress import UNOBSERVED, TextInProgress
from ..service.updates import Update, Updated
from .model import Model
from .options import WriterOptions
from .prompts import check_prompts
from .updating import update
from .usage import Spending
from .writing import encode_written, write


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
        self._model = Model(options, spending or Spending(), retries=retries, debug=debug)

    read = staticmethod(parse_answer)

    @property
    def warnings(self) -> list[str]:
        """Warnings about all requests."""
        return [*self._model.warnings, *self._options.sources.warnings]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._model.__aexit__(*error)

    async def send(
        self,
        request: Request,
        *,
        idempotency_key: str,
        timeout: float,
        progress: TextInProgress = UNOBSERVED,
    ) -> bytes:
        """Write a text, and return it as the body of an answer (interface section 2.2).

        `progress` keeps the answers of a text of several calls until it is finished.
        `idempotency_key` and `timeout` are ignored, since nothing is sent twice, and each call to
        the model has its own timeout. Raises a ServiceError, such as FailedTextError, but never a
        NotSentError: an earlier call for the text may have been sent.
        """
        is_grounded = self._options.sources.paths or request.sources
        own = self._own_text(request) if is_grounded else ""
        written = await write(
            msgspec.structs.replace(request, language=self._language(request)),
            self._options,
            self._model.ask,
            today=date.today(),
            own=own,
            progress=progress,
        )
        usage = written.usage
        self._debug(
            f"{request.type} {quoted(request.topic)}: {written.words:,} words, "
            f"statements to check: {written.marked}, remarks: {len(written.text.remarks)}, "
            f"repairs: {written.repairs}, {usage}, "
            f"sections of sources: {len(written.sources)}, cited: {len(written.cited)}"
        )
        return encode_written(written)

    async def update(
        self,
        request: Request,
        what: Update,
        *,
        idempotency_key: str,
        timeout: float,
        progress: TextInProgress = UNOBSERVED,
    ) -> Updated:
        """Return the changes of the text for a request. The arguments are those of send()."""
        request = msgspec.structs.replace(request, language=self._language(request))
        ask = self._model.ask
        updated, usage = await update(request, what, self._options, ask, progress=progress)
        self._debug(
            f"{request.type} {quoted(request.topic)}: update, changes: {len(updated.changes)}, "
            f"{usage}"
        )
        return updated

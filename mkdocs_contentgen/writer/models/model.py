"""Ask a language model, wherever it is: how many calls at once, the back-off, and the budget.

A Transport sends one call: `chat_completions.py` to a server, `program.py` to a program.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Self

from ...concurrency import Backoff, Clock
from ...errors import (
    BusyModelError,
    LoadingModelError,
    NotSentError,
    StoppedRunError,
    UnavailableModelError,
    UnreachableError,
    UnusableServiceError,
)
from ...reporting import SILENT, Reporter
from ...service.waits import format_seconds
from .chat_completions import ChatCompletions
from .completion import Completion, ModelCall
from .program import Program
from .settings import WriterOptions
from .transport import RefusedSystemError, Transport
from .usage import Spending, format_cost

FIRST_BACKOFF = 1.0
"""Maximum seconds before the second try if the server does not say how long to wait."""

_RETRIES = 2
"""For a server that cannot be reached, where none are given."""

_LOADING_INTERVAL = 2.0
"""Seconds between two questions to a server that is reading its model."""

_PAUSE_INTERVAL = 0.5
"""Seconds between two checks whether the run was stopped during a pause."""


class Model:
    """A language model. Used with `async with`.

    `spending` gets the usage of each call, and `reporter` a line for each further try. `retries` is
    the maximum for each call; with None, a server that is busy is asked again as long as the first
    token may take.
    """

    def __init__(
        self,
        options: WriterOptions,
        transport: Transport,
        spending: Spending,
        *,
        retries: int | None,
        reporter: Reporter,
        clock: Clock,
    ) -> None:
        self.name = options.fields.model
        self._fields = options.fields
        self._prefix = options.prefix
        self._transport = transport
        self._spending = spending
        self._retries = retries
        self._reporter = reporter
        self._clock = clock
        self._backoff = Backoff(clock, FIRST_BACKOFF)
        self._first_call = asyncio.Lock()
        self._places = asyncio.Semaphore(options.fields.calls_at_once)

    @property
    def warnings(self) -> list[str]:
        """Messages about all calls so far."""
        return self._transport.warnings

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._transport.close()

    async def ask(
        self,
        call: ModelCall,
        spending: Spending | None = None,
        *,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> Completion:
        """Return the model's answer to a conversation, `parallel` of them at once.

        `spending` gets the usage instead of the one of the model. Once `is_stopped` returns True,
        no call begins: StoppedRunError is raised instead.

        After a status such as 429 and 503, or a refused connection, the call is tried again, as
        long as the first token may take. A pause that the server asks for applies to all calls.
        Raises a ServiceError, and an UnusableServiceError if all calls would fail. A NotSentError
        is never raised, since earlier calls for the same text may have been sent.
        """
        spending = spending or self._spending
        started = self._clock.monotonic()
        async with self._places:
            spending.waited += self._clock.monotonic() - started
            await self._wait_for_pause(is_stopped)
            began = self._clock.monotonic()
            tries = 1
            while True:
                if is_stopped():
                    raise StoppedRunError("the run was stopped before this call began")
                try:
                    return await self._call(call, spending)
                except RefusedSystemError:
                    continue  # the transport sends no system message any more
                except LoadingModelError as error:
                    self._wait_for_model(error, tries, began)
                except NotSentError as error:
                    self._back_off(error, tries, began)
                await self._wait_for_pause(is_stopped)
                tries += 1

    async def _call(self, call: ModelCall, spending: Spending) -> Completion:
        """Send a call once, unless `max_cost` allows no more.

        The first one is sent alone if only its answer can tell whether costs are known. Otherwise,
        a call for each text would be paid for before the first of them says that they are not.
        """
        if not self._fields.knows_cost:
            async with self._first_call:
                if not self._spending.total.calls:
                    self._check_budget()
                    return await self._transport.call(call, spending)
        self._check_budget()
        return await self._transport.call(call, spending)

    async def _wait_for_pause(self, is_stopped: Callable[[], bool]) -> None:
        while self._backoff.remaining and not is_stopped():
            await self._clock.sleep(min(self._backoff.remaining, _PAUSE_INTERVAL))

    def _wait_for_model(self, error: LoadingModelError, tries: int, began: float) -> None:
        """Pause all calls until the server may have read its model. Raises UnavailableModelError.

        It is asked again for `call_timeout`, however many retries there are.
        """
        timeout = self._fields.call_timeout
        option = f"{self._prefix}call_timeout"
        seconds = max(_LOADING_INTERVAL, error.retry_after or 0.0)
        if self._clock.monotonic() + seconds >= began + timeout:
            raise UnavailableModelError(
                f"{error}; the model was not there after {format_seconds(timeout)} s "
                f"({option}); wait until the server has read it, or raise {option}",
                error.retry_after,
            ) from None
        if tries == 1:
            self._reporter.log(f"{error}; waiting up to {format_seconds(timeout)} s ({option})")
        self._backoff.pause(seconds)

    def _back_off(self, error: NotSentError, tries: int, began: float) -> None:
        """Pause all calls, or raise an error if a call that was tried so often is given up."""
        deadline = began + self._fields.first_token_timeout
        is_unreachable = isinstance(error, UnreachableError)
        retries = self._retries
        if retries is None and is_unreachable:
            retries = _RETRIES
        seconds = max(self._backoff.seconds_after(tries - 1), error.retry_after or 0.0)
        may_repeat = retries is None or tries <= retries
        if may_repeat and self._clock.monotonic() + seconds < deadline:
            detail = f" ({error.detail})" if error.detail else ""
            self._reporter.debug(f"{error}{detail}; next try in {seconds:.1f} s")
            self._backoff.pause(seconds)
        elif is_unreachable or seconds > self._fields.first_token_timeout:
            raise UnavailableModelError(
                str(error), error.retry_after, detail=error.detail
            ) from None
        else:
            raise BusyModelError(
                f"{error}; gave up after try {tries}; a lower {self._prefix}parallel may help",
                error.retry_after,
                detail=error.detail,
            ) from None

    def _check_budget(self) -> None:
        """Raise UnusableServiceError if `max_cost` allows no more calls.

        A served writer has none: the ledger limits what its calls cost.
        """
        limit = self._fields.max_cost
        cost = self._spending.total.cost
        if limit is None:
            return
        option = f"{self._prefix}max_cost"
        if cost is None:
            raise UnusableServiceError(
                f"{option} cannot be kept, since {self._transport.label} does not report what a "
                f"call costs; set {self._prefix}price, or leave max_cost out"
            )
        if cost >= limit:
            currency = self._fields.currency
            raise UnusableServiceError(
                f"{option} is reached: {format_cost(cost)} of {format_cost(limit, currency)} were "
                "spent, so no more calls are made; the finished texts are kept"
            )


def make_model(
    options: WriterOptions,
    spending: Spending,
    *,
    retries: int | None = 2,
    reporter: Reporter = SILENT,
    quotes: bool = True,
    clock: Clock | None = None,
) -> Model:
    """Return the model of the options: the program of `command`, or else one on a server.

    `reporter` gets a line for each call. Without `quotes`, no message has what the server or the
    program says. The other arguments are those of Model. Raises ConfigurationError for invalid
    options. No message contains the key.
    """
    transport: Transport
    if options.fields.command:
        transport = Program(options, reporter=reporter, quotes=quotes)
    else:
        transport = ChatCompletions(options, reporter=reporter, quotes=quotes)
    return Model(
        options,
        transport,
        spending,
        retries=retries,
        reporter=reporter,
        clock=clock or Clock(),
    )

"""Write texts with the first of several models that can be used."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Self

from ...display import quoted
from ...errors import (
    BusyModelError,
    FailedTextError,
    ServiceError,
    UnavailableModelError,
    UnusableServiceError,
)
from ...requests import Request
from ...service.protocol import Attempt
from ...service.updates import Update
from ..changes import estimate_update, find_changes
from ..model import Model
from ..options import WriterOptions
from ..usage import Spending
from ..writing import estimate, write

PAUSE = 30.0
"""Seconds for which a model that cannot be used is asked only if there is no other one."""

MAX_FACTOR = 10.0
"""The highest share of its estimate that is reserved for a text."""

MAX_PAUSE = 600.0
"""The longest such pause. It doubles with each failure in a row."""


@dataclass
class _Candidate:
    """A model with its options. `problem` is why it can be used only after a person acts."""

    options: WriterOptions
    model: Model
    paused_until: float = 0.0
    failures: int = 0
    problem: str = ""
    logged: list[str] = field(default_factory=list)


class Models:
    """The models in the order in which they are tried. Used with `async with`.

    `on_warning` gets what a person has to know, each warning once.
    """

    def __init__(
        self,
        models: Sequence[tuple[WriterOptions, Model]],
        on_warning: Callable[[str], None],
    ) -> None:
        self._on_warning = on_warning
        self._candidates = [_Candidate(*it) for it in models]
        self._factor = 1.0
        self._exits = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for candidate in self._candidates:
            await self._exits.enter_async_context(candidate.model)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._exits.aclose()

    @property
    def problem(self) -> str:
        """Why no model can be used until a person acts, or an empty string.

        After a pause it is empty too, so that a request finds out whether somebody has acted.
        """
        now = time.monotonic()
        problems = [it.problem for it in self._candidates if it.problem and it.paused_until > now]
        return problems[0] if len(problems) == len(self._candidates) else ""

    def reserve(self, request: Request, what: Update | None) -> float | None:
        """Return what a text may cost by estimate, or None without a price.

        If texts have cost more than their estimates, as those of a model that thinks, so may this.
        """
        costs = []
        for options in (it.options for it in self._candidates):
            if options.fields.price is None:
                return None
            guess = estimate_update(what, options) if what else estimate(request, options)
            calls = guess.most_calls / guess.calls
            costs.append(calls * options.fields.price.cost(guess.input_tokens, guess.output_tokens))
        # A failed text of one model, and that of the next one, both cost something.
        return sum(costs) * self._factor

    def settle(self, request: Request, what: Update | None, cost: float) -> None:
        """Learn from what a text has cost: at once that it is more, slowly that it is less."""
        guess = (self.reserve(request, what) or 0.0) / self._factor
        ratio = min(MAX_FACTOR, max(1.0, cost / guess)) if guess else 1.0
        self._factor = max(ratio, self._factor + (ratio - self._factor) / 8)

    async def write(
        self,
        request: Request,
        what: Update | None,
        spending: Spending,
        attempt: Attempt,
    ) -> tuple[bytes, str]:
        """Return the body of the answer with a text, and the name of its model.

        Raises the error of a model: rather a FailedTextError, since the text was paid for, or one
        that passes.
        """
        now = time.monotonic()
        usable = [it for it in self._candidates if it.paused_until <= now]
        least_bad = min(self._candidates, key=lambda it: (bool(it.problem), it.paused_until))
        failures: list[ServiceError] = []
        for candidate in usable or [least_bad]:
            try:
                body = await _write(candidate, request, what, spending, attempt)
            except ServiceError as error:
                self._note(candidate, error)
                failures.append(error)
            else:
                candidate.problem, candidate.failures = "", 0
                return body, candidate.model.name
            finally:
                self._log(candidate)
        raise max(failures, key=_rank)

    def _note(self, candidate: _Candidate, error: ServiceError) -> None:
        """Pause a model that cannot be used, and tell why where a person has to know."""
        is_busy = isinstance(error, BusyModelError | UnavailableModelError)
        lasts = isinstance(error, UnusableServiceError) and not is_busy
        others = len(self._candidates) > 1
        if lasts or (others and not isinstance(error, FailedTextError)):
            asked = error.retry_after or 0.0
            wait = min(MAX_PAUSE, max(asked, PAUSE * 2**candidate.failures))
            candidate.paused_until = time.monotonic() + wait
            candidate.failures = min(candidate.failures + 1, 10)
            if others:
                name = quoted(candidate.model.name)
                self._on_warning(f"{error}; the model {name} is left out for {wait:.0f} s")
        problem = str(error) if lasts else ""
        if problem and problem != candidate.problem and not others:
            self._on_warning(problem)
        candidate.problem = problem

    def _log(self, candidate: _Candidate) -> None:
        """Log the warnings of a model that are new, and of its sources if they have changed."""
        warnings = [*candidate.model.warnings, *candidate.options.sources.warnings]
        for warning in warnings:
            if warning not in candidate.logged:
                self._on_warning(warning)
        candidate.logged = warnings


def _rank(error: ServiceError) -> int:
    kinds = (UnusableServiceError, ServiceError, BusyModelError, UnavailableModelError)
    ranks = [number for number, kind in enumerate(kinds) if isinstance(error, kind)]
    return len(kinds) if isinstance(error, FailedTextError) else max(ranks)


def connect(options: Sequence[WriterOptions]) -> list[tuple[WriterOptions, Model]]:
    """Return the models of a server. Raises ConfigurationError.

    One that is busy is asked again only if it is the last. Messages of a model server can quote
    the topic, which the log must not contain.
    """
    retries = [*(0 for _ in options[1:]), None]
    return [
        (it, Model(it, Spending(), retries=number, quotes=False))
        for it, number in zip(options, retries, strict=True)
    ]


async def _write(
    candidate: _Candidate,
    request: Request,
    what: Update | None,
    spending: Spending,
    attempt: Attempt,
) -> bytes:
    ask = partial(candidate.model.ask, spending=spending)
    if what:
        updated, usage = await find_changes(request, what, candidate.options, ask, attempt=attempt)
        return updated.encode(usage=usage.fields())
    today = datetime.now(UTC).date()
    written = await write(request, candidate.options, ask, today=today, attempt=attempt)
    return written.encode()

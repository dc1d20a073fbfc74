"""Try out a model: write texts and measure them, without storing them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import msgspec

from ..errors import FailedTextError, ServiceError
from ..remark_words import sentences_of
from ..requests import REQUEST_TYPES, Request, choices
from .models.model import Model
from .models.settings import WriterOptions
from .models.usage import Usage, format_cost
from .writing import Estimate, FinishedText, write

_TOPICS = {
    "article": "How teams keep their documentation up to date",
    "blog": "Seven habits of good documentation",
    "news": "City library opens its catalogue to everyone",
}
"""The topics of the texts that are written to try a model, by type."""


@dataclass(frozen=True)
class TotalEstimate:
    """What texts or updates will take of a model."""

    calls: int
    most_calls: int
    """The number of calls if all repairs are needed."""

    tokens: int
    """About how many tokens they take without repairs."""

    cost: str
    """About what these cost, or an empty string without a price."""

    hint: str = ""
    """What to do so that the cost is known, or an empty string."""

    def __str__(self) -> str:
        """Return one line for a terminal."""
        line = (
            f"calls to the model: {self.calls}, or up to {self.most_calls} with repairs; about "
            f"{self.tokens:,} tokens"
        )
        if self.cost:
            line += f", costing about {self.cost}"
        line += " without repairs"
        if self.hint:
            line += f"; {self.hint}"
        return line


def total_estimate(estimates: Iterable[Estimate], options: WriterOptions) -> TotalEstimate:
    """Return what texts or updates will take together."""
    calls = 0
    most = 0
    given = 0
    written = 0
    for estimate in estimates:
        calls += estimate.calls
        most += estimate.most_calls
        given += estimate.input_tokens
        written += estimate.output_tokens
    price = options.fields.price
    cost = format_cost(price.cost(given, written), price.currency) if price else ""
    hint = ""
    if not options.fields.knows_cost:
        hint = (
            f"set {options.prefix}price, since {options.prefix}max_cost stops after the first "
            "call if the server does not report what a call costs"
        )
    return TotalEstimate(calls, most, given + written, cost, hint)


@dataclass(frozen=True)
class Trial:
    """A request with its text and the seconds that it took, or with an error."""

    request: Request
    seconds: float
    target: int
    """The target number of words."""

    written: FinishedText | None = None
    error: ServiceError | None = None

    @property
    def outcome(self) -> str:
        """What became of the request: `kept`, `remarks`, `refused` or `error`."""
        if self.written:
            return "remarks" if self.written.text.remarks else "kept"
        return "refused" if isinstance(self.error, FailedTextError) else "error"

    @property
    def name(self) -> str:
        """The type and the values that are not the default, such as `blog, format listicle`."""
        defaults = _request_of(self.request.type).body()
        parts: list[str] = [self.request.type]
        for name, value in self.request.body().items():
            if name != "topic" and value != defaults[name]:
                parts.append(f"{name} {value}")
        return ", ".join(parts)

    def to_json(self) -> dict[str, object]:
        """Return the figures as an object for scripts."""
        written = self.written
        usage = written.usage if written else Usage()
        return {
            **self.request.body(),
            "type": self.request.type,
            "words": written.words if written else 0,
            "target": self.target,
            "outcome": self.outcome,
            "remarks": sentences_of(written.text.remarks) if written else [],
            "error": str(self.error) if self.error else None,
            "repairs": written.repairs if written else 0,
            "marked": written.text.html.count("<mark") if written else 0,
            "calls": usage.calls,
            "tokens": usage.tokens,
            "cost": usage.cost,
            "seconds": round(self.seconds, 1),
        }


def summary(trials: Sequence[Trial]) -> str:
    """Return how many texts have which outcome, with their share."""
    counts = Counter(trial.outcome for trial in trials).most_common()
    shares = []
    for outcome, number in counts:
        shares.append(f"{number} {outcome} ({100 * number / len(trials):.0f} %)")
    return f"{len(trials)} texts: {', '.join(shares)}"


def _request_of(kind: str, **fields: str) -> Request:
    """Return a request of a type, with the defaults of the fields that are not given."""
    given = {"type": kind, "topic": _TOPICS[kind], **fields}
    return msgspec.convert(given, REQUEST_TYPES[kind])


def requests_to_evaluate() -> Iterator[Request]:
    """Return requests of all types in which each value of each field occurs."""
    for kind, request_type in REQUEST_TYPES.items():
        default = _request_of(kind)
        yield default
        for name, value in default.body().items():
            for other in choices(request_type).get(name, ()):
                if other != value:
                    yield _request_of(kind, **{name: other})


async def try_out(
    requests: Iterable[Request],
    options: WriterOptions,
    model: Model,
    *,
    on_trial: Callable[[Trial], None] = lambda trial: None,
) -> Sequence[Trial]:
    """Write a text for each request, and return the trials in the same order.

    Errors are part of a trial. `on_trial` gets each trial as soon as it is done.
    """
    places = asyncio.Semaphore(options.fields.calls_at_once)

    async def attempt(request: Request) -> Trial:
        async with places:
            started = time.monotonic()
            written: FinishedText | None = None
            error: ServiceError | None = None
            try:
                written = await write(request, options, model.ask, today=date.today())
            except ServiceError as failure:
                error = failure
            seconds = time.monotonic() - started
            trial = Trial(request, seconds, options.target(request.length), written, error)
            on_trial(trial)
            return trial

    return await asyncio.gather(*map(attempt, requests))

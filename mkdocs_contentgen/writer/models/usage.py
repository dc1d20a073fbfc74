"""Tokens and cost of calls to a model."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ...display import counted
from ...service.protocol import reported_cost
from .settings import Price

CHARACTERS_PER_TOKEN = 4
"""The usual number of characters of a token, for estimates."""

_MAX_COUNT = 10**9
"""Reported numbers of this size or larger are errors of the server."""


@dataclass(frozen=True)
class Usage:
    """The tokens and the cost of one or more calls. `cost` is None if it is not known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input_tokens + self.output_tokens

    def fields(self) -> dict[str, float | None]:
        """Return the object `usage` of an answer, which `read_usage` reads."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost": self.cost,
        }

    def __add__(self, other: Usage) -> Usage:
        cost = None
        if self.cost is not None and other.cost is not None:
            cost = self.cost + other.cost
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=cost,
        )

    def __str__(self) -> str:
        return self.message()

    def message(self, currency: str = "") -> str:
        """Return calls, tokens and cost in words."""
        cost = ""
        if self.cost:
            cost = f", {format_cost(self.cost, currency)} in all"
        return f"{counted(self.calls, 'call')}, {self.tokens:,} tokens{cost}"


def format_cost(cost: float, currency: str = "") -> str:
    """Return a cost such as `12.34 USD`, without a currency if it is not known.

    Below 0.1, it has two significant digits, such as `0.0042`.
    """
    figure = f"{cost:.2f}"
    if 0 < cost < 0.1:
        figure = format(Decimal(f"{cost:.2g}"), "f")
    return f"{figure} {currency}".rstrip()


def read_usage(fields: object, price: Price | None) -> Usage:
    """Return the usage that a server reports for one call, in OpenAI's format.

    A reported `cost` above zero takes precedence over `price`. Tokens that are not reported as a
    plausible number count as zero, but then `price` gives no cost.
    """
    reported = fields if isinstance(fields, dict) else {}
    given = _count(reported.get("prompt_tokens"))
    written = _count(reported.get("completion_tokens"))
    cost = reported_cost(reported.get("cost"))
    if price and not cost and given is not None and written is not None:
        cost = price.cost(given, written)
    return Usage(1, given or 0, written or 0, cost)


def estimate_usage(asked: int, written: int, price: Price | None, known: Usage) -> Usage:
    """Return a guess of the usage of a call for which the server reports none.

    `asked` and `written` are numbers of characters. Without a `price`, a token costs what it has
    cost in the `known` usage.
    """
    input_tokens = asked // CHARACTERS_PER_TOKEN
    output_tokens = written // CHARACTERS_PER_TOKEN
    cost: float | None = None
    if price:
        cost = price.cost(input_tokens, output_tokens)
    elif known.cost is not None and known.tokens:
        cost = known.cost * (input_tokens + output_tokens) / known.tokens
    elif known.cost is not None:
        cost = 0.0
    return Usage(1, input_tokens, output_tokens, cost)


def _count(value: object) -> int | None:
    if type(value) is int and 0 <= value < _MAX_COUNT:
        return value
    return None


@dataclass
class Spending:
    """The usage of all calls of a build or a text.

    `waited` is the time in seconds that calls spent waiting for other calls.
    """

    total: Usage = Usage()
    waited: float = 0.0

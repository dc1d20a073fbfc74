"""Tokens and cost, as servers report them and as people read them."""

from __future__ import annotations

import pytest
from golden_file import cases

from mkdocs_contentgen.writer.models.settings import Price
from mkdocs_contentgen.writer.models.usage import Spending, Usage, format_cost, read_usage

CASES = cases("usage")

PRICE = Price(input=1.0, output=10.0)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"prompt_tokens": 1000, "completion_tokens": 200}, (1000, 200, 0.003)),
        ({"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 5}, (1000, 200, 0.003)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (0, 0, 0.0)),
        ({"prompt_tokens": 1000}, (1000, 0, None)),
        ({"prompt_tokens": -1, "completion_tokens": 200}, (0, 200, None)),
        ({"prompt_tokens": 1000, "completion_tokens": 2.0}, (1000, 0, None)),
        ({"prompt_tokens": 1000, "completion_tokens": True}, (1000, 0, None)),
        ({"prompt_tokens": "1000", "completion_tokens": 200}, (0, 200, None)),
        ({"prompt_tokens": 10**9, "completion_tokens": 200}, (0, 200, None)),
        ({"prompt_tokens": None, "completion_tokens": [2]}, (0, 0, None)),
        ({}, (0, 0, None)),
        (None, (0, 0, None)),
        ("1000", (0, 0, None)),
        ([1000, 200], (0, 0, None)),
    ],
)
def test_the_cost_by_price(fields: object, expected: tuple[int, int, float | None]) -> None:
    """`price` gives the cost of tokens that were reported, and none of those that were not."""
    usage = read_usage(fields, PRICE)
    assert usage == Usage(1, *expected)


@pytest.mark.parametrize(
    ("cost", "with_price", "without"),
    [
        (0.5, 0.5, 0.5),
        (2, 2.0, 2.0),
        (0, 0.003, 0.0),
        (0.0, 0.003, 0.0),
        (-1, 0.003, None),
        (True, 0.003, None),
        ("0.5", 0.003, None),
        (None, 0.003, None),
        (float("nan"), 0.003, None),
        (float("inf"), 0.003, None),
        (1e30, 0.003, None),
    ],
)
def test_a_cost_that_the_server_reports(
    cost: object, with_price: float | None, without: float | None
) -> None:
    """A plausible cost goes before `price`; zero does so only where no price is set."""
    fields = {"prompt_tokens": 1000, "completion_tokens": 200, "cost": cost}
    assert read_usage(fields, PRICE).cost == with_price
    assert read_usage(fields, None).cost == without


def test_the_sum() -> None:
    """Calls, tokens and costs are added; a cost that is not known makes the sum unknown."""
    spending = Spending()
    assert spending.total.cost == 0
    spending.total += Usage(1, 10, 5, 0.25)
    spending.total += Usage(1, 20, 5, 0.5)
    assert spending.total == Usage(2, 30, 10, 0.75)
    assert spending.total.tokens == 40
    spending.total += Usage(1, 1, 1, None)
    spending.total += Usage(1, 1, 1, 0.5)
    assert spending.total == Usage(4, 32, 12, None)


@pytest.mark.parametrize(
    ("usage", "text"),
    [
        (Usage(5, 9000, 120, 0.004), "5 calls, 9,120 tokens, 0.004 in all"),
        (Usage(1, 9, 1, 0.0), "1 call, 10 tokens"),
        (Usage(0, 0, 0, None), "0 calls, 0 tokens"),
    ],
)
def test_the_usage_as_text(usage: Usage, text: str) -> None:
    """A cost is shown where there is one."""
    assert str(usage) == text


@pytest.mark.parametrize(("cost", "text"), CASES["a_cost_as_text"])
def test_a_cost_as_text(cost: float, text: str) -> None:
    """A small cost is rounded to two significant digits, and none has an exponent."""
    assert format_cost(cost) == text

"""The metrics of the server, for Prometheus."""

from __future__ import annotations

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ..writer.models.usage import Usage


class Metrics:
    """What the server counts and measures."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry)
        self.requests = counter(
            "contentgen_requests",
            "Answered requests by operation and status.",
            ["operation", "status"],
        )
        self.refusals = counter(
            "contentgen_refusals",
            "Requests that got no text, by reason: a limit, queue, stop, token, ledger, model…",
            ["reason"],
        )
        self.texts = counter(
            "contentgen_texts",
            "Texts by operation and outcome (written, failed or kept).",
            ["operation", "outcome"],
        )
        self._calls = counter("contentgen_model_calls", "Calls to the model.")
        self._tokens = counter(
            "contentgen_tokens", "Tokens of the model by direction.", ["direction"]
        )
        self._cost = counter("contentgen_cost", "Cost of the calls.")
        self.model_errors = counter(
            "contentgen_model_errors", "Texts that failed, by error.", ["error"]
        )
        self.ledger_seconds = Histogram(
            "contentgen_ledger_seconds",
            "Time for a call of the ledger, with the wait for a thread.",
            buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 2, 5, 10),
            registry=self._registry,
        )
        self.ledger_errors = counter("contentgen_ledger_errors", "Calls of the ledger that failed.")
        self.in_progress = gauge("contentgen_in_progress", "Requests in progress or waiting.")
        self.queue = gauge("contentgen_queue", "Texts that wait for the model.")
        self.budgets = gauge(
            "contentgen_budget_used_ratio",
            "The share of this month's budget of each user, or of all, that is spent.",
            ["user"],
        )

    def count_usage(self, usage: Usage) -> None:
        """Count the calls for a text."""
        self._calls.inc(usage.calls)
        self._tokens.labels("input").inc(usage.input_tokens)
        self._tokens.labels("output").inc(usage.output_tokens)
        self._cost.inc(usage.cost or 0)

    def render(self) -> bytes:
        """Return all metrics in the text format."""
        return generate_latest(self._registry)

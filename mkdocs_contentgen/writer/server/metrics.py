"""The metrics of the server, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ..usage import Usage

_SECONDS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200)
_LEDGER_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.5, 2, 5, 10)


class Metrics:
    """What the server counts and measures."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "contentgen_requests",
            "Answered requests by operation and status.",
            ["operation", "status"],
            registry=registry,
        )
        self.refusals = Counter(
            "contentgen_refusals",
            "Requests that got no text, by reason: a limit, queue, stop, token, ledger, model…",
            ["reason"],
            registry=registry,
        )
        self.texts = Counter(
            "contentgen_texts",
            "Texts by operation and outcome (written, failed or kept).",
            ["operation", "outcome"],
            registry=registry,
        )
        self.text_seconds = Histogram(
            "contentgen_text_seconds",
            "Time for a text, with the time in the queue.",
            ["operation"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._calls = Counter("contentgen_model_calls", "Calls to the model.", registry=registry)
        self._tokens = Counter(
            "contentgen_tokens",
            "Tokens of the model by direction.",
            ["direction"],
            registry=registry,
        )
        self._cost = Counter("contentgen_cost", "Cost of the calls.", registry=registry)
        self.model_errors = Counter(
            "contentgen_model_errors", "Texts that failed, by error.", ["error"], registry=registry
        )
        self.ledger_seconds = Histogram(
            "contentgen_ledger_seconds",
            "Time for a call of the ledger, with the wait for a thread.",
            buckets=_LEDGER_SECONDS,
            registry=registry,
        )
        self.ledger_errors = Counter(
            "contentgen_ledger_errors", "Calls of the ledger that failed.", registry=registry
        )
        self.in_progress = Gauge(
            "contentgen_in_progress", "Requests in progress or waiting.", registry=registry
        )
        self.queue = Gauge("contentgen_queue", "Texts that wait for the model.", registry=registry)
        self.budgets = Gauge(
            "contentgen_budget_used_ratio",
            "The share of this month's budget of each user, or of all, that is spent.",
            ["user"],
            registry=registry,
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

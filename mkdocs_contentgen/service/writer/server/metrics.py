"""The metrics of the server, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ..usage import Usage

_SECONDS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200)


class Metrics:
    """Counts requests, texts, tokens and cost. `in_progress` returns the number of requests."""

    def __init__(self, in_progress: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        self._requests = counter(
            "contentgen_requests",
            "Answered requests by operation and status.",
            ["operation", "status"],
        )
        self._texts = counter(
            "contentgen_texts",
            "Texts by operation and outcome: written, failed or kept.",
            ["operation", "outcome"],
        )
        self._tokens = counter(
            "contentgen_tokens", "Tokens of the model by direction.", ["direction"]
        )
        self._calls = counter("contentgen_model_calls", "Calls to the model.")
        self._cost = counter("contentgen_cost", "Cost of the calls.")
        self._seconds = Histogram(
            "contentgen_text_seconds",
            "Time for a text, with the time in the queue.",
            ["operation"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        Gauge(
            "contentgen_in_progress", "Requests in progress or waiting.", registry=self._registry
        ).set_function(in_progress)

    def count_request(self, operation: str, status: int) -> None:
        """Count an answer."""
        self._requests.labels(operation, str(status)).inc()

    def count_text(self, operation: str, outcome: str, usage: Usage, seconds: float) -> None:
        """Count a text that was written, failed or already kept."""
        self._texts.labels(operation, outcome).inc()
        self._calls.inc(usage.calls)
        self._tokens.labels("input").inc(usage.input_tokens)
        self._tokens.labels("output").inc(usage.output_tokens)
        self._cost.inc(usage.cost or 0)
        if outcome == "written":
            self._seconds.labels(operation).observe(seconds)

    def render(self) -> bytes:
        """Return all metrics in the text format."""
        return generate_latest(self._registry)

"""The metrics of the server, for Prometheus."""

from __future__ import annotations

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from .jobs import Job, Jobs

_SECONDS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200)


class Metrics:
    """Counts requests, texts, tokens and cost, and shows how many of the `jobs` wait."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        self._requests = counter(
            "contentgen_requests",
            "Answered requests by operation and status.",
            ["operation", "status"],
        )
        self._texts = counter(
            "contentgen_texts",
            "Texts by operation, outcome (written, failed or kept) and model.",
            ["operation", "outcome", "model"],
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
        gauge = partial(Gauge, registry=self._registry)
        in_progress = gauge("contentgen_in_progress", "Requests in progress or waiting.")
        in_progress.set_function(jobs.__len__)
        queue = gauge("contentgen_queue", "Texts that wait for the model.")
        queue.set_function(lambda: jobs.waiting)
        self._budgets = gauge(
            "contentgen_budget_used_ratio",
            "The share of this month's budget of each user, or of all, that is spent.",
            ["user"],
        )

    def count_request(self, operation: str, status: int) -> None:
        """Count an answer."""
        self._requests.labels(operation, str(status)).inc()

    def count_text(self, operation: str, job: Job) -> None:
        """Count a text that was written, failed or already kept."""
        outcome, usage, seconds = job.outcome, job.spending.total, job.seconds
        self._texts.labels(operation, outcome, job.model).inc()
        self._calls.inc(usage.calls)
        self._tokens.labels("input").inc(usage.input_tokens)
        self._tokens.labels("output").inc(usage.output_tokens)
        self._cost.inc(usage.cost or 0)
        if outcome == "written":
            self._seconds.labels(operation).observe(seconds)

    def render(self) -> bytes:
        """Return all metrics in the text format."""
        self._budgets.clear()
        for user, share in self._jobs.budgets.items():
            self._budgets.labels(user).set(share)
        return generate_latest(self._registry)

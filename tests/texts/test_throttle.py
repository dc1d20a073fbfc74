"""When requests may be sent, in simulated time: how many at once, pauses, failures."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from simulated_time import SimulatedTime

from mkdocs_contentgen.concurrency import Clock
from mkdocs_contentgen.errors import (
    MissingReason,
    NotSentError,
    RejectedError,
    ServiceError,
    UnreachableError,
    UnusableServiceError,
)
from mkdocs_contentgen.texts.policy import Limits
from mkdocs_contentgen.texts.throttle import FIRST_BACKOFF, Throttle

NOT_SENT = "it was not requested, since another request failed"


class Run:
    """A throttle in simulated time, with what it works with."""

    def __init__(self, loop: SimulatedTime, concurrency: int) -> None:
        self.time = loop.time
        self.throttle = Throttle(
            Clock(monotonic=loop.time, random=lambda: 1.0), Limits(concurrency, timeout=120)
        )

    async def send(self, seconds: float = 0.0, failure: ServiceError | None = None) -> float:
        """Send a request that is answered or fails after a time; return when it was sent."""
        await self.throttle.wait_for_turn()
        started = self.time()
        with self.throttle.sending():
            await asyncio.sleep(seconds)
        if failure:
            self.throttle.failed(failure, attempt=0)
        else:
            self.throttle.answered()
        return started

    async def in_flight_at_most(self, requests: int, seconds: float) -> int:
        """Send requests that take a time; return how many were in flight at once."""
        most = 0

        async def send() -> None:
            nonlocal most
            await self.throttle.wait_for_turn()
            with self.throttle.sending():
                most = max(most, self.throttle.in_flight)
                await asyncio.sleep(seconds)

        await asyncio.gather(*(send() for _ in range(requests)))
        return most


def simulate(story: Callable[[Run], Awaitable[None]], concurrency: int = 8) -> None:
    """Let a story happen in simulated time."""
    loop = SimulatedTime()

    async def main() -> None:
        await story(Run(loop, concurrency))

    loop.run_until_complete(main())
    loop.close()


def test_no_more_than_concurrency_are_in_flight() -> None:
    """The others wait until one is done, which is not for their deadlines to pay."""

    async def story(run: Run) -> None:
        assert await run.in_flight_at_most(7, seconds=30) == 3
        first = [asyncio.create_task(run.send(30)) for _ in range(3)]
        await asyncio.sleep(1)
        assert 28 < await run.throttle.wait_for_turn() < 30
        await asyncio.gather(*first)

    simulate(story, concurrency=3)


def test_a_pause_is_for_all() -> None:
    """What the service asks of one request, the others respect."""

    async def story(run: Run) -> None:
        before = run.time()
        await run.send(failure=NotSentError("busy", retry_after=60))
        assert 59 < run.throttle.pause <= 66
        moments = await asyncio.gather(run.send(), run.send())
        assert all(60 <= moment - before < 70 for moment in moments)
        assert run.throttle.pause == 0

    simulate(story)


def test_a_pause_counts_for_the_deadline() -> None:
    """Only the time for which other requests were in the way is returned."""

    async def story(run: Run) -> None:
        await run.send(failure=NotSentError("busy", retry_after=60))
        assert await run.throttle.wait_for_turn() < 1

    simulate(story)


def test_a_service_that_refuses_gets_fewer_at_once() -> None:
    """After a refusal, as many are in flight as the service took; answers make it more again."""

    async def story(run: Run) -> None:
        taken = [asyncio.create_task(run.send(30)) for _ in range(2)]
        await run.send(1, NotSentError("busy", retry_after=1))
        assert await run.in_flight_at_most(4, seconds=1) == 2
        await asyncio.gather(*taken)
        for _ in range(20):
            await run.send()
        assert await run.in_flight_at_most(10, seconds=1) > 4

    simulate(story)


def test_no_connection_does_not_narrow_the_window() -> None:
    """It says nothing about how much the service can take."""

    async def story(run: Run) -> None:
        await run.send(failure=UnreachableError("refused"))
        assert 0 < run.throttle.pause <= FIRST_BACKOFF
        assert await run.in_flight_at_most(9, seconds=1) == 8

    simulate(story)


def test_back_off_doubles() -> None:
    """Without `retry_after`, each try of a request waits twice as long as the one before."""

    async def story(run: Run) -> None:
        for attempt in range(4):
            run.throttle.failed(NotSentError("busy"), attempt=attempt)
            assert run.throttle.pause == pytest.approx(FIRST_BACKOFF * 2**attempt, rel=1e-3)

    simulate(story)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (UnusableServiceError("status 401"), "status 401"),
        (NotSentError("come back tomorrow", retry_after=86400), "come back tomorrow"),
        (NotSentError("busy", retry_after=60), None),
        (RejectedError("status 422"), None),
    ],
    ids=str,
)
def test_what_stops_the_run(failure: ServiceError, reason: str | None) -> None:
    """Denied access and a pause that no request can outlast concern all requests."""

    async def story(run: Run) -> None:
        await run.send(failure=failure)
        stopped = run.throttle.stop_reason
        expected = reason and MissingReason("stopped", f"{NOT_SENT}: {reason}", cause=failure)
        assert stopped == expected

    simulate(story)


@pytest.mark.parametrize("waits_for", ["room", "the end of a pause"])
def test_nobody_waits_after_a_stop(waits_for: str) -> None:
    """Who waits for a turn is let go at once, to find out about the stop."""

    async def story(run: Run) -> None:
        if waits_for == "room":
            in_flight = asyncio.create_task(run.send(100))
            await asyncio.sleep(1)
        else:
            await run.send(failure=NotSentError("busy", retry_after=100))
        before = run.time()
        reason = MissingReason("stopped", "enough")
        asyncio.get_running_loop().call_later(3, run.throttle.stop, reason)
        await run.throttle.wait_for_turn()
        assert 3 <= run.time() - before < 4
        if waits_for == "room":
            await in_flight

    simulate(story, concurrency=1)


def test_the_first_reason_stays() -> None:
    """A run that is stopped twice says why it was stopped first."""

    async def story(run: Run) -> None:
        run.throttle.stop(MissingReason("stopped", "enough"))
        run.throttle.stop(MissingReason("stopped", "more than enough"))
        assert str(run.throttle.stop_reason) == "enough"

    simulate(story)

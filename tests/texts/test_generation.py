"""Resolving many requests: every decision about trying, waiting and stopping, without waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from client_double import ClientDouble, text_for
from conftest import until, wait_until
from msgspec import structs
from simulated_time import SimulatedTime

from mkdocs_contentgen.concurrency import Clock
from mkdocs_contentgen.errors import (
    ContentgenError,
    FailedTextError,
    InvalidAnswerError,
    MissingReason,
    NotSentError,
    RejectedError,
    ServiceError,
    StoreError,
    UnknownOutcomeError,
    UnreachableError,
    UnusableServiceError,
)
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.reporting import SILENT, Progress, Reporter
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.service.protocol import Attempt, Client
from mkdocs_contentgen.site.progress import LineReporter
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.generation import Generation
from mkdocs_contentgen.texts.lookup import Outcome, load_failures, load_parts, save_failure
from mkdocs_contentgen.texts.policy import Limits, SendingOptions
from mkdocs_contentgen.texts.store import DiskStore, Kept, NoteKind
from mkdocs_contentgen.texts.store.entries import Note

HTML = "<article><h1>T</h1><p>Text.</p></article>"


@dataclass
class FakeTime:
    """Time that passes only where the code waits for it."""

    now: float = 1000.0
    chance: float = 0.5

    def clock(self) -> Clock:
        """Return what to hand in."""

        async def sleep(seconds: float) -> None:
            self.now += seconds
            await asyncio.sleep(0)

        return Clock(monotonic=lambda: self.now, sleep=sleep, random=lambda: self.chance)


@dataclass
class Script(ClientDouble):
    """Stands for the service: what it does with the tries of a topic, one after the other."""

    time: FakeTime
    plan: dict[str, Sequence[ServiceError | None]] = field(default_factory=dict)
    default: ServiceError | None = None
    sent: list[tuple[str, float, str, float]] = field(default_factory=list)
    takes: float = 0.0

    async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
        """Note the try, and answer or raise as planned."""
        request = asked.request
        tries = sum(topic == request.topic for topic, *_ in self.sent)
        self.sent.append((request.topic, self.time.now, attempt.idempotency_key, attempt.timeout))
        await asyncio.sleep(self.takes)
        steps = self.plan.get(request.topic, ())
        error = steps[tries] if tries < len(steps) else self.default
        if error:
            raise error
        return text_for(request)

    @property
    def topics(self) -> list[str]:
        """The topics in the order in which they were sent."""
        return [topic for topic, *_ in self.sent]

    def connect(self) -> AbstractAsyncContextManager[Script]:
        """Return itself as what `async with` makes."""
        return nullcontext(self)


@dataclass
class Watching(Reporter):
    """Gives the progress to a function."""

    note: Callable[[Progress], None]

    def show(self, progress: Progress) -> None:
        """Note how far the texts are."""
        self.note(progress)


@pytest.fixture
def store(tmp_path: Path) -> DiskStore:
    """Return a cache in a fresh directory."""
    return DiskStore(tmp_path / "cache")


def requests(*topics: str) -> dict[str, PageRequest]:
    """Return blog requests about topics, by topic: any text may be a key here."""
    return {topic: PageRequest(BlogRequest(topic=topic)) for topic in topics}


def run(
    script: Script,
    store: DiskStore,
    asked: dict[str, PageRequest],
    reporter: Reporter = SILENT,
    **limits: float,
) -> tuple[dict[str, Outcome], Generation]:
    """Run a generation with fake time."""
    generation: list[Generation] = []

    async def main() -> dict[str, Outcome]:
        generation.append(
            Generation(
                SendingOptions(store, script.connect, Limits(**limits)),  # type: ignore[arg-type]  # the tests pass whole numbers where these are due
                clock=script.time.clock(),
                reporter=reporter,
            )
        )
        return await generation[0].run(asked)

    try:
        return asyncio.run(main()), generation[0]
    finally:
        store.close()


def test_what_surely_did_not_run_is_tried_again(store: DiskStore) -> None:
    """Each try of a request has the same idempotency key, and each request its own."""
    time = FakeTime()
    script = Script(time, {"a": [UnreachableError("x"), NotSentError("429")], "b": []})
    outcomes, _ = run(script, store, requests("a", "b"))
    assert [outcome.origin for outcome in outcomes.values()] == ["service", "service"]
    keys = {topic: {key for name, _, key, _ in script.sent if name == topic} for topic in "ab"}
    assert len(keys["a"]) == len(keys["b"]) == 1
    assert keys["a"] != keys["b"]
    assert script.topics.count("a") == 3


def simulate(client: Client, store: DiskStore, topics: str, **limits: float) -> dict[str, Outcome]:
    """Run a generation in simulated time, with a topic for each letter."""
    loop = SimulatedTime()
    source = SendingOptions(
        store,
        lambda: nullcontext(client),
        Limits(**limits),  # type: ignore[arg-type]  # the tests pass whole numbers where due
    )
    generation = Generation(source, clock=Clock(monotonic=loop.time))
    outcomes = loop.run_until_complete(generation.run(requests(*topics)))
    loop.close()
    return outcomes


class Slow(DiskStore):
    """A cache that saves no text before both requests are sent."""

    script: Script

    def save(
        self,
        texts: Mapping[str, Text],
        *,
        replacing: Mapping[str, Text | None] | None = None,
        operation: str = "",
        agreed: bool = False,
        kept: Mapping[str, Sequence[Kept]] | None = None,
        undone: Mapping[str, Kept] | None = None,
    ) -> None:
        """Wait for the requests."""
        wait_until(lambda: len(self.script.sent) == 2, 10)
        super().save(texts, replacing=replacing, operation=operation, agreed=agreed)


def test_the_next_request_does_not_wait_for_the_last_text(store: DiskStore) -> None:
    """While a text is saved, the next request is on its way."""
    slow = Slow(store.directory)
    slow.script = Script(FakeTime(), takes=0.2)
    outcomes, _ = run(slow.script, slow, requests("a", "b"), concurrency=1)
    assert all(outcome.text for outcome in outcomes.values())


@dataclass
class Refusing(ClientDouble):
    """A service that refuses the first requests, each after a time and for a time."""

    refusals: list[tuple[float, float]]
    sent: list[tuple[float, float]] = field(default_factory=list)

    async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
        """Note when the request came, and the time that it has; refuse or answer."""
        number = len(self.sent)
        self.sent.append((asyncio.get_running_loop().time(), attempt.timeout))
        if number < len(self.refusals):
            seconds, pause = self.refusals[number]
            await asyncio.sleep(seconds)
            raise NotSentError("too many requests", retry_after=pause)
        return text_for(asked.request)


def refuse(
    store: DiskStore, refusals: list[tuple[float, float]], topics: str, **limits: float
) -> tuple[list[tuple[float, float]], dict[str, Outcome]]:
    """Return when what was sent to a service that refuses, and the outcomes."""
    service = Refusing(refusals)
    outcomes = simulate(service, store, topics, **limits)
    started = service.sent[0][0]
    return [(moment - started, timeout) for moment, timeout in service.sent], outcomes


def test_a_pause_is_also_for_those_who_wait_for_room(store: DiskStore) -> None:
    """What waits until less is in flight looks once more whether the service wants a pause."""
    sent, outcomes = refuse(store, [(20, 60), (0, 5)], "ab")
    assert all(outcome.text for outcome in outcomes.values())
    assert [moment >= 80 for moment, _ in sent] == [False, False, True, True]


def test_nothing_is_sent_without_time_left(store: DiskStore) -> None:
    """A request whose deadline passes in a pause that another one brought about gives up."""
    sent, outcomes = refuse(store, [(1, 5), (4, 9)], "ab", timeout=10)
    assert len(sent) == 2
    assert [str(outcome.error) for outcome in outcomes.values()] == ["too many requests"] * 2


def test_retries_come_to_an_end(store: DiskStore) -> None:
    """After `retries` more tries the last error is the outcome; each is reported by its number."""
    script = Script(FakeTime(), default=NotSentError("503"))
    lines: list[str] = []
    reporter = LineReporter(print, lines.append)
    outcomes, _ = run(script, store, requests("a"), reporter, retries=2)
    assert script.topics == ["a"] * 3
    assert [line for line in lines if "try 3 of 3" in line] == lines[-1:]
    assert isinstance(outcomes["a"].error, NotSentError)


@pytest.mark.parametrize(
    "error", [UnknownOutcomeError("x"), RejectedError("x"), InvalidAnswerError("x")]
)
def test_what_may_have_run_is_not_sent_again(store: DiskStore, error: ServiceError) -> None:
    """An unknown outcome, a rejection and a wrong answer get no second try, and stop nobody."""
    script = Script(FakeTime(), {"a": [error]})
    outcomes, _ = run(script, store, requests("a", "b"), concurrency=1)
    assert script.topics == ["a", "b"]
    assert outcomes["a"].error is error
    assert outcomes["b"].text


def test_the_deadline_is_for_all_tries(store: DiskStore) -> None:
    """A later try gets what is left of the time."""
    script = Script(FakeTime(), {"a": [NotSentError("429", retry_after=30)]})
    run(script, store, requests("a"), timeout=100)
    assert [round(timeout) for *_, timeout in script.sent] == [100, 68]


def test_denied_access_stops_all(store: DiskStore) -> None:
    """After 401 or 403 nothing more is sent, and every request says why it was not."""
    denied = UnusableServiceError("401")
    script = Script(FakeTime(), {"a": [denied]})
    outcomes, _ = run(script, store, requests("a", "b", "c"), concurrency=1)
    assert script.topics == ["a"]
    assert outcomes["a"].error is denied
    assert [outcomes[key].stopped_by for key in "abc"] == [None, denied, denied]
    assert str(outcomes["b"].error) == "it was not requested, since another request failed: 401"


def test_a_service_that_is_down_ends_the_run_soon(store: DiskStore) -> None:
    """The tries of the first requests end the run: not pages times tries."""
    script = Script(FakeTime(), default=UnreachableError("refused"))
    outcomes, _ = run(script, store, requests(*map(str, range(100))), concurrency=8, retries=2)
    assert len(script.sent) <= 3 * 8
    assert 1 <= [str(outcome.error) for outcome in outcomes.values()].count("refused") <= 8
    assert str(outcomes["99"].stopped_by) == "refused"


def test_a_stop_during_a_pause(store: DiskStore) -> None:
    """A request that was surely not processed counts as not requested once the run is stopped."""

    @dataclass
    class Stopped(Script):
        """Stops the run as soon as both requests are sent."""

        async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
            if len(self.sent) == 1:
                generation.throttle.stop(MissingReason("stopped", "interrupted"))
            return await super().generate(asked, attempt)

    script = Stopped(FakeTime(), default=NotSentError("503"))
    generation = Generation(SendingOptions(store, script.connect), clock=script.time.clock())
    outcomes = asyncio.run(generation.run(requests("a", "b")))
    store.close()
    assert all(isinstance(outcome.error, MissingReason) for outcome in outcomes.values())
    assert len(script.sent) == 2
    assert generation.summary() == "0 texts kept, 2 not requested"


def test_more_workers_than_requests(store: DiskStore) -> None:
    """A huge `concurrency` takes no more than one worker for each request."""
    outcomes, _ = run(Script(FakeTime()), store, requests("a"), concurrency=10**24)
    assert outcomes["a"].origin == "service"


def test_each_text_is_kept_at_once(store: DiskStore) -> None:
    """What was generated before a failure can be loaded from the directory."""
    script = Script(FakeTime(), {"b": [RejectedError("x")]})
    run(script, store, requests("a", "b"), concurrency=1)
    texts, problems = store.load(["a", "b"])
    assert set(texts) == {"a"}
    assert problems == []
    assert texts["a"].html == HTML
    assert texts["a"].request["topic"] == "a"


def test_progress_counts_to_the_end(store: DiskStore) -> None:
    """The last progress has everything done and nothing in flight."""
    seen: list[Progress] = []
    script = Script(FakeTime(), {"b": [RejectedError("x")]}, takes=0.1)

    async def main() -> None:
        generation = Generation(
            SendingOptions(store, script.connect), reporter=Watching(seen.append)
        )
        await generation.run(requests("a", "b", "c"))

    asyncio.run(main())
    store.close()
    assert seen[-1] == Progress(total=3, done=3, failed=1, in_flight=0)
    assert max(progress.in_flight for progress in seen) == 3


def two_at_once(
    store: DiskStore, first: Script, second: Script
) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
    """Run two generations of the same requests on one directory, the second a moment later."""

    async def main() -> tuple[dict[str, Outcome], dict[str, Outcome]]:
        other = DiskStore(store.directory)
        one = Generation(SendingOptions(store, first.connect))
        two = Generation(SendingOptions(other, second.connect))
        running = asyncio.create_task(one.run(requests("a", "b")))
        await until(lambda: len(first.sent) == 2)
        outcomes = await asyncio.gather(running, two.run(requests("a", "b")))
        store.close()
        other.close()
        return outcomes

    return asyncio.run(main())


def test_two_builds_pay_once(store: DiskStore) -> None:
    """The second build gets what the first one is asking for, and sends nothing."""
    time = FakeTime()
    first, second = Script(time, takes=0.5), Script(time)
    one, two = two_at_once(store, first, second)
    assert sorted(first.topics) == ["a", "b"]
    assert second.topics == []
    assert {outcome.origin for outcome in one.values()} == {"service"}
    assert {outcome.origin for outcome in two.values()} == {"cache"}


def test_a_build_takes_over_what_another_failed_to_get(store: DiskStore) -> None:
    """A claim is given up with a failure, and the other build asks in its turn."""
    time = FakeTime()
    first = Script(time, {"a": [RejectedError("x")]}, takes=0.5)
    second = Script(time)
    one, two = two_at_once(store, first, second)
    assert second.topics == ["a"]
    assert isinstance(one["a"].error, RejectedError)
    assert two["a"].origin == "service"


def test_stop_awaits_what_is_in_flight(store: DiskStore) -> None:
    """Nothing new is sent after a stop, and what is in flight is kept."""
    script = Script(FakeTime(), takes=0.2)

    async def main() -> dict[str, Outcome]:
        generation = Generation(SendingOptions(store, script.connect, Limits(concurrency=2)))
        running = asyncio.create_task(generation.run(requests("a", "b", "c", "d")))
        await until(lambda: len(script.sent) == 2)
        generation.throttle.stop(MissingReason("stopped", "stopped"))
        return await running

    outcomes = asyncio.run(main())
    store.close()
    assert script.topics == ["a", "b"]
    assert [bool(outcome.text) for outcome in outcomes.values()] == [True, True, False, False]
    assert set(store.load("abcd")[0]) == {"a", "b"}


def test_nothing_is_sent_where_nothing_can_be_kept(tmp_path: Path) -> None:
    """An unusable cache is found out before a request costs money."""
    (tmp_path / "file").touch()
    script = Script(FakeTime())
    with pytest.raises(ContentgenError, match="cannot be written"):
        run(script, DiskStore(tmp_path / "file"), requests("a"))
    assert script.sent == []


# --- failed texts, and texts in progress ---------------------------------------------------------

FAILED = FailedTextError("looped", "a a a\x1b[2J\nb\ud83d::error::x", model="m", cost=0.25)


def test_a_failed_text_is_remembered(store: DiskStore) -> None:
    """What was paid for in vain is kept at once, fit for a terminal, and its key is not."""
    asked = requests("a")
    script = Script(FakeTime(), {"a": [FAILED]})
    outcomes, generation = run(script, store, asked)
    assert (outcomes["a"].error, generation.problems) == (FAILED, [])
    failures, problems = load_failures(["a"], store)
    failure = failures["a"]
    assert str(failure) == f"looped (on {datetime.now(UTC).date()})"
    assert failure.answer == "a a a\\x1b[2J\nb\\ud83d::error::x"
    assert (failure.model, failure.cost, problems) == ("m", 0.25, [])
    assert store.requests("failed") == ({"a": asked["a"].request.record()}, [])
    first = script.sent[0][2]
    assert store.claim({"a": "generate"}, "me") != {"a": first}
    store.close()


class UnwritableNotes(DiskStore):
    """A disk that is full for a note."""

    def save_notes(self, key: str, notes: Mapping[NoteKind, Note | None]) -> None:
        """Fail."""
        raise StoreError("the cache is full")


class Unwritable(DiskStore):
    """A disk that is full already for a text."""

    def save(
        self,
        texts: Mapping[str, Text],
        *,
        replacing: Mapping[str, Text | None] | None = None,
        operation: str = "",
        agreed: bool = False,
        kept: Mapping[str, Sequence[Kept]] | None = None,
        undone: Mapping[str, Kept] | None = None,
    ) -> None:
        """Fail."""
        raise StoreError("the cache is full")


def test_a_failure_that_cannot_be_kept(store: DiskStore) -> None:
    """Then nothing more is sent, as for texts, and it is said once."""
    script = Script(FakeTime(), default=FAILED)
    full = UnwritableNotes(store.directory)
    outcomes, generation = run(script, full, requests("a", "b", "c"), concurrency=1)
    assert "c" not in script.topics
    assert generation.problems == [
        "the cache is full; the next build pays again for a failed text, "
        "and no more requests are sent"
    ]
    assert outcomes["a"].error is FAILED
    assert "the cache can keep no more texts" in str(outcomes["c"].error)


def test_a_text_that_cannot_be_saved_is_claimed_no_longer(store: DiskStore) -> None:
    """Whoever asks for it next need not wait, and repeats its request with the same key."""
    script = Script(FakeTime())
    run(script, Unwritable(store.directory), requests("a"))
    sent_with = script.sent[0][2]
    assert store.claim({"a": "generate"}, "another run") == {"a": sent_with}
    store.close()


@dataclass
class Growing(Script):
    """Answers the topic `a` with a text that is too long for the cache."""

    async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
        """Return the text."""
        text = await super().generate(asked, attempt)
        return structs.replace(text, html="x" * 300_000) if asked.request.topic == "a" else text


def test_a_text_that_could_not_be_read_again(store: DiskStore) -> None:
    """It is remembered as failed, with what was answered, and the other texts are asked for."""
    script = Growing(FakeTime())
    outcomes, generation = run(script, store, requests("a", "b", "c"), concurrency=1)
    assert script.topics == ["a", "b", "c"]
    assert generation.problems == []
    failure = outcomes["a"].error
    assert isinstance(failure, FailedTextError)
    assert "its HTML has 300,000 characters, 262,144 at most" in str(failure)
    assert outcomes["b"].text and outcomes["c"].text
    remembered, _ = load_failures(["a"], store)
    assert remembered["a"].answer.startswith("xxx")
    store.close()


def test_two_builds_fail_once(store: DiskStore) -> None:
    """What one build pays for in vain, another that waits for it does not pay for again."""
    time = FakeTime()
    first = Script(time, {"a": [FAILED]}, takes=0.5)
    second = Script(time)
    _, two = two_at_once(store, first, second)
    assert second.topics == []
    assert isinstance(two["a"].error, FailedTextError)
    assert two["b"].origin == "cache"


def test_a_failure_that_is_to_be_replaced(store: DiskStore) -> None:
    """A person can ask again: only failures since then count."""
    asked = requests("a")
    save_failure(store, "a", asked["a"].request, FAILED)
    script = Script(FakeTime())

    async def main(replaced: Sequence[str]) -> dict[str, Outcome]:
        return await Generation(SendingOptions(store, script.connect)).run(asked, replaced=replaced)

    assert str(asyncio.run(main([]))["a"].error).startswith("looped (on ")
    assert script.topics == []
    assert asyncio.run(main(["a"]))["a"].text
    assert load_failures(["a"], store) == ({}, [])
    store.close()


@dataclass
class InParts(Script):
    """Writes a text in three parts, and is interrupted after some of them."""

    loaded: list[bytes] = field(default_factory=list)

    async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
        """Go on with what is there."""
        parts = await attempt.load()
        self.loaded.append(parts)
        for number in range(len(parts), 3):
            if self.plan and number == 2:
                await super().generate(asked, attempt)
            parts += b"\xff"
            attempt.report(100 * len(parts), 300)
            await attempt.save(parts)
        return text_for(asked.request)


@pytest.mark.parametrize("error", [UnknownOutcomeError("lost"), RejectedError("max_cost")])
def test_parts_survive_an_interruption(store: DiskStore, error: ServiceError) -> None:
    """The next build goes on with what was written, and leaves nothing of it."""
    script = InParts(FakeTime(), {"a": [error]})
    _, generation = run(script, store, requests("a"))
    assert generation.summary() == "0 texts kept, 1 unfinished, which the next run goes on with"
    run(script, store, requests("a"))
    assert script.loaded == [b"", b"\xff\xff"]
    assert store.load(["a"])[0]
    assert load_parts(store, "a") == (b"", [])
    store.close()


def test_a_stop_between_two_parts(store: DiskStore) -> None:
    """No more of a text is paid for after Ctrl-C, and the next build goes on with what is saved."""
    script = InParts(FakeTime())

    reason = MissingReason("stopped", "interrupted")

    async def main() -> dict[str, Outcome]:
        def interrupt(progress: Progress) -> None:
            if progress.words:
                generation.throttle.stop(reason)

        generation = Generation(SendingOptions(store, script.connect), reporter=Watching(interrupt))
        return await generation.run(requests("a"))

    assert asyncio.run(main())["a"].error == reason
    assert run(script, store, requests("a"))[0]["a"].text
    assert script.loaded == [b"", b"\xff"]
    store.close()


def test_a_failed_text_leaves_no_parts(store: DiskStore) -> None:
    """Who asks again gets another text."""
    _, generation = run(InParts(FakeTime(), {"a": [FAILED]}), store, requests("a"))
    assert generation.summary() == "0 texts kept, 1 failed"
    assert load_parts(store, "a") == (b"", [])
    store.close()


def test_parts_that_cannot_be_kept(store: DiskStore) -> None:
    """That is a problem of the cache, and none of the text."""
    script = InParts(FakeTime())
    outcomes, generation = run(script, UnwritableNotes(store.directory), requests("a", "b"))
    assert all(outcome.text for outcome in outcomes.values())
    assert generation.problems == ["the cache is full"]


def test_a_repair_does_not_take_words_back(store: DiskStore) -> None:
    """A text that is written again begins with few words, but the progress never falls."""
    seen: list[Progress] = []

    @dataclass
    class Repaired(Script):
        """Writes 300 words, and then another text."""

        async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
            for words in (300, 20, 310):
                attempt.report(words, 300)
            return await super().generate(asked, attempt)

    script = Repaired(FakeTime())
    generation = Generation(SendingOptions(store, script.connect), reporter=Watching(seen.append))
    asyncio.run(generation.run(requests("a")))
    store.close()
    written = [progress.words for progress in seen]
    assert written == sorted(written)
    assert {300, 310} <= set(written)


def test_progress_has_the_words_so_far(store: DiskStore) -> None:
    """The words are those of all texts, done or not, and never fall."""
    seen: list[Progress] = []
    script = InParts(FakeTime())

    async def main() -> None:
        generation = Generation(
            SendingOptions(store, script.connect), reporter=Watching(seen.append)
        )
        await generation.run(requests("a", "b"))

    asyncio.run(main())
    store.close()
    assert (400, 600) in [(progress.words, progress.target) for progress in seen]
    assert [it.words for it in seen] == sorted(it.words for it in seen)
    assert seen[-1] == Progress(total=2, done=2, failed=0, in_flight=0, words=600, target=600)

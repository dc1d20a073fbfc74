"""Texts that are generated beside a server: which requests are sent, and when pages are rebuilt."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from client_double import ClientDouble, text_for
from conftest import wait_until

from mkdocs_contentgen.errors import InvalidAnswerError, MissingReason
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.service.protocol import Attempt
from mkdocs_contentgen.site.background import Background
from mkdocs_contentgen.site.progress import LineReporter
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.lookup import Outcome
from mkdocs_contentgen.texts.obtain import Foreground
from mkdocs_contentgen.texts.policy import Limits
from mkdocs_contentgen.texts.store import DiskStore

DEBOUNCE = 0.6


@dataclass
class Service(ClientDouble):
    """Answers each request but those about `bad`, and not before the gate is open."""

    topics: list[str] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)

    async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
        """Note the topic, and answer."""
        request = asked.request
        attempt.report(340, 900)
        self.moments.append(time.monotonic())
        self.topics.append(request.topic)
        await asyncio.to_thread(self.gate.wait, 30)
        if request.topic == "bad":
            raise InvalidAnswerError("it is no article")
        return text_for(request, f"<article><p>About {request.topic}.</p></article>")

    def connect(self) -> AbstractAsyncContextManager[Service]:
        """Return itself as what `async with` makes."""
        return nullcontext(self)


@dataclass
class Server:
    """A server whose builds ask for texts by their topics, which are the keys as well."""

    background: Background
    service: Service
    lines: list[str]

    def build(self, *topics: str, failed: bool = False) -> dict[str, Outcome]:
        """Rebuild a site with these requests."""
        self.background.build_started()
        outcomes = self.get(*topics)
        self.background.build_ended(failed=failed)
        return outcomes

    def get(self, *topics: str) -> dict[str, Outcome]:
        """Ask for texts within a build."""
        wanted = {topic: PageRequest(BlogRequest(topic=topic)) for topic in topics}
        return self.background.get(wanted, (), refresh=False)[0]

    def wait_for(self, *topics: str) -> None:
        """Rebuild the site until there are texts, or errors in their places."""
        wait_until(lambda: not any(is_pending(it) for it in self.build(*topics).values()), 20)

    def news(self) -> str:
        """Return what the server watches."""
        return self.background.trigger_file.read_text()


def is_pending(outcome: Outcome) -> bool:
    """Return whether a text is still being generated."""
    return isinstance(outcome.error, MissingReason) and outcome.error.absence == "pending"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Return a server with a cache of its own."""
    service = Service()
    service.gate.set()
    lines: list[str] = []
    background = Background(
        5, LineReporter(lines.append, always_lines=True, interval=0.01), debounce=DEBOUNCE
    )

    store = DiskStore(tmp_path / "cache")
    background.source(lambda: Foreground(store, service.connect, Limits(retries=0)))
    yield Server(background, service, lines)
    service.gate.set()
    if background.trigger_file.exists():
        background.stop()


def test_the_first_build_does_not_wait(server: Server) -> None:
    """What it asks for is sent once, and rebuilds get the texts."""
    assert all(map(is_pending, server.build("a", "b").values()))
    server.wait_for("a", "b")
    outcomes = server.build("a", "b")
    assert {outcome.origin for outcome in outcomes.values()} == {"service"}
    assert sorted(server.service.topics) == ["a", "b"]


def test_only_later_builds_wait_for_typing(server: Server, tmp_path: Path) -> None:
    """The first build's requests were not typed just now, so they are sent at once."""
    background = Background(5, debounce=3600)
    store = DiskStore(tmp_path / "another")
    background.source(lambda: Foreground(store, server.service.connect, Limits(retries=0)))
    patient = Server(background, server.service, [])
    try:
        patient.build("a")
        patient.wait_for("a")
        assert is_pending(patient.build("a", "typed")["typed"])
    finally:
        background.stop()
    assert server.service.topics == ["a"]


def test_typing_pays_for_the_last_state_only(server: Server) -> None:
    """Of the requests of rebuilds that follow each other, only those that stay are sent."""
    server.build("a")
    server.wait_for("a")
    for typed in ("T", "Th", "The", "The e"):
        server.build("a", typed)
    started = time.monotonic()
    server.build("a", "The end")
    server.wait_for("The end")
    assert server.service.moments[-1] >= started + DEBOUNCE
    assert server.service.topics == ["a", "The end"]


def test_a_failure_is_not_repeated(server: Server) -> None:
    """Each save of a page would pay for it."""
    server.build("bad")
    server.wait_for("bad")
    assert "it is no article" in str(server.build("bad")["bad"].error)
    server.build("bad", "b")
    server.wait_for("b")
    assert server.service.topics == ["bad", "b"]


def test_the_budget_is_for_all_builds(server: Server) -> None:
    """A build with more new requests than `max_requests` leaves sends none of them."""
    server.build(*"abc")
    server.wait_for(*"abc")
    outcomes = server.build(*"abcdef")
    assert {type(outcomes[key].error) for key in "abc"} == {type(None)}
    assert "3 more requests would be sent, and max_requests leaves 2" in str(outcomes["d"].error)
    server.build(*"abcde")
    server.wait_for(*"de")
    assert sorted(server.service.topics) == [*"abcde"]


def test_nested_builds_are_one(server: Server) -> None:
    """What the outer build asked for stays queued while it makes another; a failed one ends all."""
    server.build()
    server.background.build_started()
    server.get("outer")
    server.build("inner")
    server.background.build_ended()
    wait_until(lambda: sorted(server.service.topics) == ["inner", "outer"], 20)
    server.background.build_started()
    server.build("x", failed=True)
    server.build("y")
    server.wait_for("y")
    assert server.service.topics[2:] == ["y"]


def test_texts_that_have_arrived_cause_a_rebuild(server: Server) -> None:
    """The server watches a file, which changes when a text is there."""
    assert server.news() == ""
    server.build("a")
    wait_until(server.news, 20)
    assert server.build("a")["a"].origin == "service"


def test_a_stop_waits_for_what_was_sent(server: Server) -> None:
    """What is in flight is waited for, and said so; nothing else is sent."""
    server.service.gate.clear()
    server.build("a")
    wait_until(lambda: server.service.topics)
    server.build("a", "b")
    threading.Timer(0.2, server.service.gate.set).start()
    server.background.stop()
    lines = [line for line in server.lines if " of " not in line]  # those of the progress
    assert lines == ["Waiting for the requests in flight (Ctrl-C gives them up)", "1 text kept"]
    assert server.get("a")["a"].origin == "service"
    assert server.service.topics == ["a"]
    assert not server.background.trigger_file.parent.exists()


def test_the_log_says_how_far_texts_are(server: Server) -> None:
    """While texts are written, lines of the log say how many words there are."""
    server.service.gate.clear()
    server.build("a", "b")
    line = "0 of 2 texts, 2 in flight, 0 failed, 680 of about 1,800 words"
    wait_until(lambda: line in server.lines)

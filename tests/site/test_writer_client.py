"""The writer in place of a service: what it answers, and which calls that takes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from model_double import (
    KEY,
    MODEL,
    Answer,
    ModelDouble,
    error,
    raw,
    sequence,
    written,
)
from model_writer import sentences
from remarks import said
from service_double import reset

from mkdocs_contentgen.errors import (
    BusyModelError,
    ConfigurationError,
    InvalidAnswerError,
    NotSentError,
    ServiceError,
    UnknownOutcomeError,
    UnusableServiceError,
)
from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import ArticleRequest, Request
from mkdocs_contentgen.site.writer_client import WriterClient
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.writer.models.settings import Words, WriterFields, WriterOptions
from mkdocs_contentgen.writer.models.usage import Spending, Usage
from mkdocs_contentgen.writer.sources.retrieval import Sources
from mkdocs_contentgen.writer.sources.sources import Location

SENTENCES = [
    "The tide rises and falls along every coast of the sea.",
    "The moon pulls at the water, and the water follows it.",
    "Fishers know the hours of the tide by heart.",
    "A harbour is deep at noon and shallow in the evening.",
    "Sailors read the tables before they leave the port.",
    "So the sea sets the rhythm of the whole town.",
]
TEXT = (
    "# How tides work\n\n"
    f"{SENTENCES[0]}\n\n## What moves the water\n\n{SENTENCES[1]} {SENTENCES[2]}\n\n"
    f"## What people do\n\n{SENTENCES[3]} {SENTENCES[4]}\n\n{SENTENCES[5]}\n"
)
REQUEST = ArticleRequest(topic="Tides", length="short")


def options(server: ModelDouble, **given: Any) -> WriterOptions:
    """Return options for short texts of 60 words and long ones of 180."""
    fields = WriterFields(
        model=MODEL,
        endpoint=server.endpoint,
        api_key=KEY,
        words=Words(60, 60, 180),
        call_timeout=20,
    )
    return WriterOptions(fields, **given)


def generate(
    server: ModelDouble, request: Request = REQUEST, *, spending: Spending | None = None
) -> Text:
    """Return the text for one request."""

    async def run() -> Text:
        async with WriterClient(options(server), spending, retries=0) as client:
            return await client.generate(PageRequest(request))

    return asyncio.run(run())


def test_the_text(server: ModelDouble) -> None:
    """It has the request and the model's name, and its usage is that of the build."""
    server.answer = written(TEXT, usage={"prompt_tokens": 9, "completion_tokens": 5, "cost": 0.5})
    spending = Spending()
    text = generate(server, spending=spending)
    assert (text.model, text.request, said(text)) == (MODEL, REQUEST.record(), ())
    parse_article(text.html)
    assert "How tides work</h1>" in text.html
    assert spending.total == Usage(1, 9, 5, 0.5)
    assert len(server.calls) == 1


def test_another_attempt(server: ModelDouble) -> None:
    """A text that nobody can use is asked for anew with a penalty, and both calls count."""
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    server.answer = sequence([written("Too short.", usage=usage), written(TEXT, usage=usage)])
    spending = Spending()
    generate(server, spending=spending)
    assert spending.total == Usage(2, 20, 10, None)
    first, second = (call.body for call in server.calls)
    assert second.pop("frequency_penalty") == 0.5
    assert first == second


def test_a_long_text(server: ModelDouble) -> None:
    """A long text is a plan and its sections, each with the text so far."""
    plan = "# Tides\n\n## Moon: pulls\n## Sea: moves\n## Port: waits\n"
    first = f"First of all.\n\n## Moon\n\n{sentences(56, 'moon')}"
    sections = [f"## Sea\n\n{sentences(58, 'sea')}", f"## Port\n\n{sentences(58, 'port')}"]
    server.answer = sequence([written(text) for text in (plan, first, *sections)])
    content = generate(server, ArticleRequest(topic="Tides", length="long")).html
    for heading in ("Moon: pulls</h2>", "Sea: moves</h2>", "Port: waits</h2>"):
        assert heading in content
    assert len(server.calls) == 4
    assert "First" in server.calls[2].body["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (raw(error("Bad key"), 401), UnusableServiceError),
        (raw(error("busy"), 429, {"Retry-After": "0"}), BusyModelError),
        (raw(b"{}"), InvalidAnswerError),
        (raw(b"", 504), UnknownOutcomeError),
        (reset, UnknownOutcomeError),
    ],
)
def test_an_error_in_the_middle(
    server: ModelDouble, failure: Answer, expected: type[ServiceError]
) -> None:
    """No error of a later call lets the first one be sent again."""
    server.answer = sequence([written(""), failure])
    with pytest.raises(expected) as caught:
        generate(server)
    assert not isinstance(caught.value, NotSentError)
    assert len(server.calls) == 2


def test_the_warning_about_a_prompt_that_was_cut(server: ModelDouble) -> None:
    """The warnings about all requests are those of the model."""
    server.answer = written(TEXT, usage={"prompt_tokens": 3, "completion_tokens": 3})

    async def run() -> list[str]:
        async with WriterClient(options(server, instructions="Say you. " * 100)) as client:
            for _ in range(2):
                await client.generate(PageRequest(REQUEST))
            return client.warnings

    (warning,) = asyncio.run(run())
    assert "so it probably cut the prompt" in warning


def test_the_warning_about_sources(server: ModelDouble, tmp_path: Path) -> None:
    """What is left out of the sources is one of the warnings about all requests."""
    server.answer = written(TEXT)
    (tmp_path / "a.md").write_bytes(b"\xff")
    sources = Sources([Location(tmp_path, tmp_path)])

    async def run() -> list[str]:
        async with WriterClient(options(server, sources=sources)) as client:
            await client.generate(PageRequest(REQUEST))
            return client.warnings

    assert f"{tmp_path}/a.md (" in asyncio.run(run())[-1]


@pytest.mark.parametrize("name", ["essay", "Article", "section"])
def test_a_prompt_file_with_a_wrong_name(server: ModelDouble, name: str) -> None:
    """A prompt file that would never be used is an error before anything is sent."""
    given = options(server, prompts={name: (str(Path("p") / f"{name}.md"), "Write.")})
    with pytest.raises(ConfigurationError, match=f"{name}.md: is not a name of a prompt file"):
        WriterClient(given)

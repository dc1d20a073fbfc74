"""What to do about the errors of a model server."""

from __future__ import annotations

import httpx
import pytest

from mkdocs_contentgen.service.exchange import URL, Answer
from mkdocs_contentgen.writer.models.known_servers import ServerCures, base_address


def cures_of(address: str, model: str = "qwen3:8b") -> ServerCures:
    """Return what to do about errors of the server at an address."""
    return ServerCures(URL(address), "writer.endpoint", "writer.model", model)


def answer(status: int, body: bytes) -> Answer:
    """Return an answer of a server."""
    return Answer(status, httpx.Headers(), body)


@pytest.mark.parametrize(
    ("address", "command"),
    [
        ("http://127.0.0.1:11434/v1", "`ollama pull qwen3:8b` gets it; or"),
        ("http://127.0.0.1:1234/v1", "`lms get qwen3:8b` gets it; or"),
        ("https://models.example/v1", "https://models.example/v1/models lists those"),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        (404, b'{"error": {"message": "model \\"qwen3:8b\\" not found"}}'),
        (400, b'{"error": {"message": "qwen3:8b is not a valid model ID"}}'),
        (404, b'{"error": {"message": "no such thing", "code": "model_not_found"}}'),
    ],
)
def test_a_model_that_is_missing(address: str, command: str, body: tuple[int, bytes]) -> None:
    """The command that gets it is that of the server."""
    assert command in cures_of(address).of_status(answer(*body))


def test_the_name_of_a_model_in_a_command_is_quoted() -> None:
    """It is from a file that others can change."""
    cures = cures_of("http://127.0.0.1:11434/v1", "a; touch x")
    assert "`ollama pull 'a; touch x'`" in cures.of_status(answer(404, b"model not found"))


@pytest.mark.parametrize(
    "words", ["404 page not found", '{"detail": "Not Found"}', "<title>Not Found</title>"]
)
def test_an_address_without_an_api(words: str) -> None:
    """What says nothing of a model is about the address, which is named."""
    cure = cures_of("http://127.0.0.1:9/api").of_status(answer(404, words.encode()))
    assert cure.startswith("http://127.0.0.1:9/api/chat/completions was tried: correct writer.end")


@pytest.mark.parametrize(
    ("endpoint", "base"),
    [
        ("https://models.example/v1/chat/completions", "https://models.example/v1"),
        ("https://models.example/v1/chat/completions/", "https://models.example/v1"),
        ("http://127.0.0.1:1234/v1/models", "http://127.0.0.1:1234/v1"),
        ("https://models.example/v1", "https://models.example/v1"),
        ("https://models.example/models/v1", "https://models.example/models/v1"),
    ],
)
def test_the_address_of_an_operation(endpoint: str, base: str) -> None:
    """What is left is the address of the API."""
    assert base_address(endpoint) == base

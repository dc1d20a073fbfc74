"""A real small model, SmolLM2-135M-Instruct, with fixed seeds."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from llama_server import NEEDS_LLAMA, NEEDS_SMOLLM2, SMOLLM2, smollm2_running

pytestmark = [pytest.mark.system, NEEDS_LLAMA, NEEDS_SMOLLM2]


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the model for the tests of this file, and yield the endpoint."""
    with smollm2_running(tmp_path_factory.mktemp("smollm2")) as endpoint:
        yield endpoint


def test_a_streamed_answer(smollm2: str) -> None:
    """The server streams an answer in several events, and its usage at the end."""
    body = {
        "model": SMOLLM2,
        "messages": [{"role": "user", "content": "Name the colours of the rainbow."}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 30,
        "seed": 7,
    }
    with httpx.stream("POST", f"{smollm2}/chat/completions", json=body, timeout=60) as response:
        assert response.status_code == 200
        lines = [line for line in response.iter_lines() if line]
    assert lines.pop() == "data: [DONE]"
    events = [json.loads(line.removeprefix("data: ")) for line in lines]
    parts = [choice["delta"].get("content") for event in events for choice in event["choices"]]
    assert len([part for part in parts if part]) > 5
    assert events[-1]["usage"]["completion_tokens"] <= 30

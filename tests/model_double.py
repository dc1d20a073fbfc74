"""A model server on loopback that answers as a test wants it to.

It takes what OpenAI's API reference allows: `POST /v1/chat/completions` and `GET /v1/models`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from service_double import Handler, Received, Server

KEY = "sk-5ecret.very~long/key+value="
MODEL = "qwen3:8b"


@dataclass(frozen=True)
class Call(Received):
    """A request to the model server. The body of a GET is empty."""

    body: Any


Answer = Callable[[Call, "ModelHandler"], None]


def completion(content: object = "A text.", **fields: object) -> bytes:
    """Return the body of an answer. `fields` are those of the choice, or `usage` and so on."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}}
    choice["finish_reason"] = fields.pop("finish_reason", "stop")
    usage = {"prompt_tokens": 40, "completion_tokens": 10, "total_tokens": 50}
    body = {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage, **fields}
    return json.dumps(body).encode()


def message(**fields: object) -> bytes:
    """Return the body of an answer whose message has these fields."""
    choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice]}).encode()


def error(text: str) -> bytes:
    """Return the body of an error, as OpenAI's API has it."""
    return json.dumps({"error": {"message": text, "type": "error", "code": None}}).encode()


def written(content: object = "A text.", **fields: object) -> Answer:
    """Return what answers with a completion."""
    return lambda call, handler: handler.send(completion(content, **fields))


def streamed(text: str, seconds: float = 0.0, *, finish_reason: str = "stop") -> Answer:
    """Return what streams a text in parts of four characters, evenly over so many seconds."""

    def answer(call: Call, handler: ModelHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        started = time.monotonic()
        for start in range(0, len(text), 4):
            choice = {"index": 0, "delta": {"content": text[start : start + 4]}}
            handler.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
            due = started + seconds * (start + 4) / len(text)
            time.sleep(max(0.0, due - time.monotonic()))
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]}
        handler.wfile.write(f"data: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode())
        handler.close_connection = True

    return answer


def raw(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """Return what answers with exactly this body."""
    return lambda call, handler: handler.send(body, status, headers)


def sequence(answers: Sequence[Answer]) -> Answer:
    """Return what gives one answer after the other, and then the last one again and again."""
    left = list(answers)
    lock = threading.Lock()

    def answer(call: Call, handler: ModelHandler) -> None:
        with lock:
            chosen = left.pop(0) if len(left) > 1 else left[0]
        chosen(call, handler)

    return answer


@dataclass
class ModelDouble:
    """The state of a running double. Tests set `answer` and `models`, and read the rest."""

    endpoint: str
    answer: Answer = field(default_factory=written)
    models: Answer = field(
        default_factory=lambda: raw(json.dumps({"data": [{"id": MODEL}]}).encode())
    )
    calls: list[Call] = field(default_factory=list)
    lists: list[Call] = field(default_factory=list)
    """The requests for the list of models."""

    strays: list[str] = field(default_factory=list)
    """Requests that the API does not have."""

    lock: threading.Lock = field(default_factory=threading.Lock)


class ModelHandler(Handler):
    """Reads a request, and lets the test answer."""

    def do_POST(self) -> None:  # noqa: N802  http.server's name
        """Handle a call."""
        length = int(self.headers.get("Content-Length", 0))
        raw_body = self.rfile.read(length)
        if len(raw_body) < length:  # the client was killed
            self.close_connection = True
            return
        double = self._double
        self._deal("/v1/chat/completions", double.calls, json.loads(raw_body), double.answer)

    def do_GET(self) -> None:  # noqa: N802  http.server's name
        """Handle a request for the list of models."""
        self._deal("/v1/models", self._double.lists, None, self._double.models)

    @property
    def _double(self) -> ModelDouble:
        return cast("ModelServer", self.server).model

    def _deal(self, path: str, requests: list[Call], body: object, answer: Answer) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self._double.lock:
            call = Call(len(requests) + 1, self.command, self.path, [], headers, body)
            requests.append(call)
            if self.path != path:
                self._double.strays.append(self.path)
        try:
            answer(call, self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class ModelServer(Server):
    """Carries the state of the double to its handlers."""

    model: ModelDouble


@contextmanager
def running_model() -> Iterator[ModelDouble]:
    """Serve a double on a free port until the block ends."""
    with ModelServer(("127.0.0.1", 0), ModelHandler) as server:
        server.model = ModelDouble(f"http://127.0.0.1:{server.server_address[1]}/v1")
        with server.serving():
            yield server.model

"""Asking a model, against a server on loopback that does its worst."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import re
import socket
import time
import traceback
from collections.abc import Sequence
from threading import Barrier
from typing import Any, TypeVar

import pytest
from conftest import until, wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
from model_double import (
    KEY,
    MODEL,
    Answer,
    Call,
    ModelDouble,
    ModelHandler,
    completion,
    error,
    message,
    raw,
    running_model,
    sequence,
    written,
)
from service_double import SECRET, forever, reset, silence, wire

from mkdocs_contentgen.concurrency import Clock
from mkdocs_contentgen.display import hidden_character
from mkdocs_contentgen.errors import (
    BusyModelError,
    ConfigurationError,
    ContentgenError,
    InvalidAnswerError,
    NotSentError,
    RejectedError,
    ServiceError,
    StoppedRunError,
    UnavailableModelError,
    UnknownOutcomeError,
    UnreachableError,
    UnusableServiceError,
)
from mkdocs_contentgen.reporting import SILENT
from mkdocs_contentgen.site.progress import LineReporter
from mkdocs_contentgen.writer.models.completion import Completion, Message, ModelCall
from mkdocs_contentgen.writer.models.model import Model, make_model
from mkdocs_contentgen.writer.models.settings import OLLAMA_PORT, Price, WriterFields, WriterOptions
from mkdocs_contentgen.writer.models.transport import Transport
from mkdocs_contentgen.writer.models.usage import Spending, Usage

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
QUESTION: list[Message] = [
    {"role": "system", "content": "You write texts."},
    {"role": "user", "content": "Topic: Tides"},
]
USE_NEW_FIELD = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."

AnyError = TypeVar("AnyError", bound=ContentgenError)


WRONG_ADDRESS = (
    "/v1/chat/completions was tried: correct writer.endpoint, which is what stands before "
    "/chat/completions, and often ends in /v1"
)
WRONG_KEY = "; set CONTENTGEN_MODEL_KEY (or writer.api_key) to a key that this server takes"
NO_MODEL = "; write the name of another one as writer.model; "
NO_MESSAGE = "without a message in `choices`; "


class Asked:
    """The answers of a model, and all that it says besides."""

    def __init__(self, *, retries: int = 0) -> None:
        self.spending = Spending()
        self.lines: list[str] = []
        self.warnings: list[str] = []
        self._retries = retries

    async def ask(
        self,
        endpoint: str,
        messages: Sequence[Message] = QUESTION,
        *,
        together: int = 1,
        times: int = 1,
        penalty: bool = False,
        **fields: Any,
    ) -> list[Completion]:
        """Ask `times` times, each time `together` questions at once."""
        given = {"model": MODEL, "api_key": KEY, "call_timeout": 20, **fields}
        options = WriterOptions(WriterFields(endpoint=endpoint, **given))
        answers: list[Completion] = []
        reporter = LineReporter(print, self.lines.append)
        model = make_model(options, self.spending, retries=self._retries, reporter=reporter)
        async with model:
            for _ in range(times):
                call = ModelCall(messages, 500, penalty=penalty)
                answers += await asyncio.gather(*(model.ask(call) for _ in range(together)))
            self.warnings = model.warnings
        return answers


def ask(server: ModelDouble, *, retries: int = 0, **fields: Any) -> Completion:
    """Return the answer to one question."""
    return asyncio.run(Asked(retries=retries).ask(server.endpoint, **fields))[0]


def failure(
    expected: type[AnyError], endpoint: str, *, retries: int = 0, **fields: Any
) -> AnyError:
    """Ask what must fail with exactly this error, on one line, with nothing of the key in it."""
    asked = Asked(retries=retries)
    with pytest.raises(ContentgenError) as caught:
        asyncio.run(asked.ask(endpoint, **fields))
    assert_discreet(caught.value, asked.lines)
    assert type(caught.value) is expected, repr(caught.value)
    assert str(caught.value).isprintable()
    return caught.value


def assert_discreet(error: BaseException, lines: Sequence[str] = ()) -> None:
    """Look for the key in an error, its traceback and the debug lines."""
    shown = "".join([*traceback.format_exception(error), *lines])
    behind = error.__context__
    while behind:  # also what a traceback does not show
        shown += repr(behind)
        behind = behind.__context__
    for start in range(len(KEY) - 7):
        assert KEY[start : start + 8] not in shown


# --- what is sent --------------------------------------------------------------------------------


def test_the_body_of_a_call(server: ModelDouble) -> None:
    """A call has the model, the messages and a limit, and no temperature that nobody asked for."""
    ask(server)
    assert server.calls[0].body == {
        "model": MODEL,
        "messages": QUESTION,
        "max_tokens": 500,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.calls[0].headers["accept-encoding"] == "identity"


def test_the_parameters_reach_the_body(server: ModelDouble) -> None:
    """`parameters` are fields of each call."""
    ask(server, parameters={"temperature": 0.7, "options": {"num_ctx": 8192}})
    assert server.calls[0].body["temperature"] == 0.7
    assert server.calls[0].body["options"] == {"num_ctx": 8192}


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_limit_in_the_parameters(server: ModelDouble, name: str) -> None:
    """A limit of the site's own replaces the writer's, under either name."""
    ask(server, parameters={name: 7})
    limits = {field: value for field, value in server.calls[0].body.items() if "max_" in field}
    assert limits == {name: 7}


def test_a_call_without_a_key(server: ModelDouble) -> None:
    """A server of one's own often needs no key."""
    ask(server, api_key="")
    assert "authorization" not in server.calls[0].headers


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, error(USE_NEW_FIELD)),
        (422, b'{"detail": [{"loc": ["body"], "msg": "use max_completion_tokens"}]}'),
    ],
)
def test_a_server_that_wants_the_other_field(server: ModelDouble, status: int, body: bytes) -> None:
    """`max_completion_tokens` is used where the server asks for it, and is remembered."""
    server.answer = lambda call, handler: (
        raw(body, status) if "max_tokens" in call.body else written()
    )(call, handler)
    assert len(asyncio.run(Asked().ask(server.endpoint, times=2))) == 2
    fields = ["max_completion_tokens" in call.body for call in server.calls]
    assert fields == [False, True, True]
    assert "max_tokens" not in server.calls[1].body


def test_calls_at_once_to_a_server_that_wants_the_other_field(server: ModelDouble) -> None:
    """A call that another one has overtaken is sent again with the other field, too."""
    server.answer = lambda call, handler: (
        raw(error(USE_NEW_FIELD), 400) if "max_tokens" in call.body else written()
    )(call, handler)
    assert len(asyncio.run(Asked().ask(server.endpoint, together=4))) == 4


def test_a_server_that_takes_neither_field(server: ModelDouble) -> None:
    """The limit is sent in both ways once, not for ever."""
    server.answer = raw(error(USE_NEW_FIELD), 400)
    assert "max_completion_tokens" in str(failure(RejectedError, server.endpoint))
    assert len(server.calls) == 2


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, error("Unsupported parameter: 'frequency_penalty' is not supported with this model")),
        (400, error("Penalty is not enabled for models/gemini-2.5-flash")),
        (400, b'{"code": "invalid-argument", "error": "Argument not supported: frequencyPenalty"}'),
        (422, b'{"detail": [{"loc": ["body", "frequency_penalty"], "msg": "Extra inputs"}]}'),
    ],
)
def test_a_model_without_a_penalty(server: ModelDouble, status: int, body: bytes) -> None:
    """A second attempt is worth having without one, and this is remembered."""
    server.answer = lambda call, handler: (
        raw(body, status) if "frequency_penalty" in call.body else written()
    )(call, handler)
    answers = asyncio.run(Asked().ask(server.endpoint, times=2, penalty=True))
    assert [answer.text for answer in answers] == ["A text."] * 2
    fields = ["frequency_penalty" in call.body for call in server.calls]
    assert fields == [True, False, False]


def test_a_penalty_in_the_parameters(server: ModelDouble) -> None:
    """What the site itself asks for is not taken out, and the server's words say what is wrong."""
    server.answer = raw(error("no frequency_penalty"), 400)
    parameters = {"frequency_penalty": 1}
    error_of_call = failure(RejectedError, server.endpoint, parameters=parameters)
    assert "no frequency_penalty" in str(error_of_call)
    assert [call.body["frequency_penalty"] for call in server.calls] == [1]


def answer_up_to(most: int, body: bytes, status: int) -> Answer:
    """Return an answer to calls for at most so many tokens; all others are refused."""

    def answer(call: Call, handler: ModelHandler) -> None:
        limit = call.body.get("max_tokens") or call.body["max_completion_tokens"]
        (written() if limit <= most else raw(body, status))(call, handler)

    return answer


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, error("max_tokens is too large: 500. This model supports at most 150 completion to")),
        (400, error("Invalid max_tokens value, the valid range of max_tokens is [1, 150]")),
        (400, error("<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1")),
        (400, error("max_tokens: 500 > 150, which is the maximum allowed number of output tokens")),
        (400, error("The parameter `max_completion_tokens` is not valid: expected a value <= 150")),
        (400, error("`max_tokens` must be less than or equal to `150`")),
        (
            400,
            error("This model's maximum context length is 300 tokens. However, you requested 650"),
        ),
        (400, error("'max_tokens' or 'max_completion_tokens' is too large: 500. This model's max")),
        (416, error("max_completion_tokens is limited to 150 for this model")),
        (422, error("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 300")),
    ],
)
def test_a_model_that_writes_fewer_tokens(server: ModelDouble, status: int, body: bytes) -> None:
    """It is asked with half the limit, and half of that. What it takes is remembered."""
    server.answer = answer_up_to(150, body, status)
    answers = asyncio.run(Asked().ask(server.endpoint, times=2))
    assert [answer.text for answer in answers] == ["A text."] * 2
    limits = [max(call.body.get(name, 0) for name in LIMITS) for call in server.calls]
    assert list(dict.fromkeys(limits)) == [500, 250, 125]
    assert limits.count(125) == 2


LIMITS = ("max_tokens", "max_completion_tokens")


def test_a_prompt_that_is_too_long(server: ModelDouble) -> None:
    """No limit helps, so that the server's words are shown, and the next call has its own limit."""
    words = "This model's maximum context length is 300 tokens. Your prompt has 400"
    server.answer = raw(error(words), 400)
    assert words in str(failure(RejectedError, server.endpoint))
    assert [call.body["max_tokens"] for call in server.calls] == [500, 250, 125]


def test_a_limit_in_the_parameters_that_is_refused(server: ModelDouble) -> None:
    """It is the site's own, so that only a person can change it."""
    server.answer = answer_up_to(150, error("max_tokens is too large: at most 150"), 400)
    text = str(failure(RejectedError, server.endpoint, parameters={"max_tokens": 200}))
    assert "max_tokens is too large" in text
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b'{"object": "error", "message": "System role not supported", "code": 400}'),
        (400, error("Conversation roles must alternate user/assistant/user/assistant/...")),
        (400, error("'messages[0].role' does not support 'system' with this model.")),
        (400, error("Developer instruction is not enabled for models/gemma-3-1b-it")),
        (400, error("Only user and assistant roles are supported!")),
        (400, error("System messages are not supported")),
        (400, error("'system' is not one of ['user', 'assistant'] - 'messages.0.role'")),
        (400, error("Invalid value: 'system'. Supported values are: 'user' and 'assistant'.")),
        (400, error("This model does not support system messages")),
        (400, error("systemInstruction is not supported by this model")),
        (400, error("Unknown role: system")),
        (400, error("Only user, assistant and tool roles are supported")),
        (400, b"Template error: System role not supported (in chat template:1)"),
        (400, b'event: error\ndata: {"message": "System role not supported"}\n\n'),
        (
            400,
            json.dumps(
                {
                    "error": {
                        "message": "Provider returned error",
                        "code": 400,
                        "metadata": {"raw": error("System role not supported").decode()},
                    }
                }
            ).encode(),
        ),
        (422, b'{"error": "Template error: System role not supported", "error_type": "template"}'),
        (500, b'{"error": {"code": 500, "message": "System role not supported at row 1"}}'),
        (200, error("System role not supported")),
        (200, b'event: error\ndata: {"message": "System role not supported"}\n\ndata: [DONE]\n\n'),
    ],
)
def test_a_model_without_system_messages(server: ModelDouble, status: int, body: bytes) -> None:
    """It gets the system message as the beginning of the first one, and this is remembered."""
    server.answer = lambda call, handler: (
        raw(body, status) if call.body["messages"][0]["role"] == "system" else written()
    )(call, handler)
    asked = Asked()
    answers = asyncio.run(asked.ask(server.endpoint, times=2, together=2))
    assert [answer.text for answer in answers] == ["A text."] * 4
    roles = [call.body["messages"][0]["role"] for call in server.calls]
    assert roles.count("user") == 4
    assert roles.count("system") in (1, 2)  # two calls are under way before this is known
    folded = [{"role": "user", "content": "You write texts.\n\nTopic: Tides"}]
    assert server.calls[-1].body["messages"] == folded


@pytest.mark.parametrize("words", ["System role not supported", "no such parameter"])
def test_a_model_that_refuses_any_message(server: ModelDouble, words: str) -> None:
    """The server's words are in the message, and nothing is sent for ever."""
    server.answer = raw(error(words), 400)
    text = str(failure(RejectedError, server.endpoint))
    assert text.endswith(f"400 Bad Request: {words}")
    assert len(server.calls) == (1 if "parameter" in words else 2)


# --- what is read --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "text", "reason"),
    [
        (completion("A text."), "A text.", "stop"),
        (completion("Half", finish_reason="length"), "Half", "length"),
        (completion("", finish_reason="content_filter"), "", "content_filter"),
        (completion("A text.", finish_reason=None), "A text.", "stop"),
        (completion("A text.", finish_reason=7), "A text.", "unknown"),
        (completion("A text.", finish_reason=KEY), "A text.", "unknown"),
        (completion("A text.", finish_reason="a\n\x1bb"), "A text.", "a \\x1bb"),
        (completion(""), "", "stop"),
        (completion(None), "", "stop"),
        (completion(5), "", "stop"),
        (message(), "", "stop"),
        (message(content="", reasoning="Hm."), "", "stop"),
        (message(content=None, reasoning_content="Hm."), "", "stop"),
        (message(content="A text.", reasoning={"steps": 3}), "A text.", "stop"),
        (message(content="A text.", tool_calls=[], x={"y": 1}), "A text.", "stop"),
        (
            message(content=[{"type": "text", "text": "A "}, {"type": "text", "text": "text."}]),
            "A text.",
            "stop",
        ),
        (message(content=[{"type": "thinking", "thinking": "Hm."}]), "", "stop"),
        (message(content=[1, None, {"text": 2}, {"text": "A text."}]), "A text.", "stop"),
        (message(content=[]), "", "stop"),
        (completion("A text.", error=None), "A text.", "stop"),
        (message(content=None, refusal="Not that topic."), "Not that topic.", "refusal"),
        (message(content="", refusal="Not that topic."), "Not that topic.", "refusal"),
        (message(content="A text.", refusal=None), "A text.", "stop"),
        (message(content=[{"type": "refusal", "refusal": "Not that."}]), "Not that.", "refusal"),
        (completion("A text.", usage={"cost": math.nan, "a": -math.inf}), "A text.", "stop"),
    ],
)
def test_an_answer(server: ModelDouble, body: bytes, text: str, reason: str) -> None:
    """What servers answer in different ways is read, and unknown fields are ignored."""
    server.answer = raw(body)
    answer = ask(server)
    assert (answer.text, answer.finish_reason) == (text, reason)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", NO_MESSAGE),
        (b"{", NO_MESSAGE),
        (b"[]", NO_MESSAGE),
        (b'"\xff"', NO_MESSAGE),
        (b"[" * 100_000, NO_MESSAGE),
        (b'{"choices": NaN}', "without a message in `choices`"),
        (b"\n<!doctype html><html></html>", NO_MESSAGE),
        (b"{}", NO_MESSAGE),
        (b'{"message": {"content": "x"}}', NO_MESSAGE),
        (b'{"choices": []}', "without a message in `choices`"),
        (b'{"choices": null}', "without a message in `choices`"),
        (b'{"choices": [{}]}', "without a message in `choices`"),
        (b'{"choices": [{"message": "x"}]}', "without a message in `choices`"),
        (b'{"choices": [null]}', "without a message in `choices`"),
        (error("overloaded"), "reports an error with status 200: overloaded"),
        (b'{"error": true}', "reports an error with status 200: without a message"),
        (b'{"error": "no\\n room"}', "reports an error with status 200: no room"),
        (completion("A text.", error={"message": "cut"}), "with status 200: cut"),
        (completion(f"Authorization: Bearer {KEY}"), "repeats writer.api_key in its text"),
    ],
)
def test_an_answer_that_cannot_be_used(server: ModelDouble, body: bytes, words: str) -> None:
    """A message says what the answer is not."""
    server.answer = raw(body)
    text = str(failure(InvalidAnswerError, server.endpoint))
    assert words in text
    assert text.startswith("the model server 127.0.0.1:")


NAMES = "choices message content reasoning finish_reason text usage prompt_tokens cost error detail"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(KEY),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(NAMES.split()), inner),
)


@pytest.mark.system
@settings(max_examples=12)  # each is a server and a client
@given(
    choices=st.lists(st.fixed_dictionaries({"message": VALUES, "finish_reason": VALUES}) | VALUES),
    rest=st.dictionaries(st.sampled_from(NAMES.split()), VALUES),
    status=st.sampled_from([200, 200, 400, 429, 500]),
)
def test_any_answer(choices: list[Any], rest: dict[str, Any], status: int) -> None:
    """Whatever JSON a server answers, it is a completion or one clear error without the key."""
    body = json.dumps({**rest, "choices": choices}).encode()
    asked = Asked()
    with running_model() as server:
        server.answer = raw(body, status)
        try:
            (answer,) = asyncio.run(asked.ask(server.endpoint))
        except ServiceError as error:
            assert_discreet(error, asked.lines)
            assert hidden_character(str(error)) is None
        else:
            assert KEY not in f"{answer} {asked.lines}"


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(reset, id="reset"),
        pytest.param(wire(HEAD + b"X: \0" + SECRET + b"\r\n\r\n"), id="echo-in-a-broken-header"),
    ],
)
def test_an_answer_that_breaks_off(server: ModelDouble, broken: Answer) -> None:
    """A call that may have been carried out is not sent again."""
    server.answer = broken
    text = str(failure(UnknownOutcomeError, server.endpoint, retries=5))
    assert "was lost after the request was sent" in text
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "slow",
    [
        pytest.param(silence, id="silent"),
        pytest.param(forever(CHUNKED, b"1\r\n \r\n", 0.05), id="drips-chunks"),
    ],
)
def test_an_answer_that_does_not_end_in_time(server: ModelDouble, slow: Answer) -> None:
    """The first token may take five times `call_timeout`, drips included, and is awaited once."""
    server.answer = slow
    text = str(failure(UnknownOutcomeError, server.endpoint, retries=5, call_timeout=0.1))
    assert "sent nothing for 0.5 s (the option `writer.call_timeout` sets the" in text
    assert len(server.calls) == 1


# --- statuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "reason", "expected", "words"),
    [
        (400, "bad value", RejectedError, "400 Bad Request: bad value"),
        (401, "Bad key", UnusableServiceError, f"401 Unauthorized: Bad key{WRONG_KEY}"),
        (402, "no credit", UnusableServiceError, "402 Payment Required: no credit"),
        (403, "", UnusableServiceError, f"403 Forbidden{WRONG_KEY}, or choose"),
        (404, "no 'qwen3:8b'", UnusableServiceError, f"404 Not Found: no 'qwen3:8b'{NO_MODEL}"),
        (405, "", UnusableServiceError, WRONG_ADDRESS),
        (410, "", RejectedError, "410 Gone"),
        (413, "too long", RejectedError, "413 Request Entity Too Large: too long"),
        (422, "bad field", RejectedError, "422 Unprocessable"),
        (429, "slow down", BusyModelError, "slow down; gave up after try 1"),
        (500, "it broke", RejectedError, "500 Internal Server Error: it broke; try again later"),
        (501, "", UnusableServiceError, WRONG_ADDRESS),
        (408, "", UnknownOutcomeError, "408 Request Timeout; it may have been processed"),
        (499, "", UnknownOutcomeError, "499 Client Closed Request; it may have been processed"),
        (524, "", UnknownOutcomeError, "524 A Timeout Occurred; it may have been processed"),
        (529, "", BusyModelError, "529 Overloaded; gave up after try 1"),
        (202, "", UnknownOutcomeError, "202 Accepted; it may have been processed"),
        (502, "", UnknownOutcomeError, "502 Bad Gateway; it may have been processed"),
        (503, "loading", BusyModelError, "503 Service Unavailable: loading; gave up after try 1"),
        (504, "", UnknownOutcomeError, "504 Gateway Timeout; it may have been processed"),
        (299, "odd", RejectedError, "answered 299: odd"),
        (600, "odd", RejectedError, "answered 600"),
    ],
)
def test_a_status(
    server: ModelDouble, status: int, reason: str, expected: type[ServiceError], words: str
) -> None:
    """Each status is one line that says what to do."""
    server.answer = raw(error(reason), status)
    text = str(failure(expected, server.endpoint))
    assert text.startswith("the model server 127.0.0.1:")
    assert words in text
    assert len(server.calls) == 1


@pytest.mark.parametrize("status", [200, 201, 203])
def test_a_whole_answer_with_another_status_of_success(server: ModelDouble, status: int) -> None:
    """A text that was paid for is a text, whichever status of success it comes with."""
    whole = {"choices": [{"message": {"content": "A text."}, "finish_reason": "stop"}]}
    server.answer = raw(json.dumps(whole).encode(), status)
    assert ask(server).text == "A text."


def test_a_compressed_answer(server: ModelDouble) -> None:
    """It cannot be read, but it may have cost something."""
    server.answer = raw(gzip.compress(b"{}"), 200, {"Content-Encoding": "gzip"})
    text = str(failure(UnknownOutcomeError, server.endpoint))
    assert "sent its answer compressed (gzip), although the request asks for" in text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": "no room"}', "400 Bad Request: no room"),
        (b'{"message": "no room"}', "400 Bad Request: no room"),
        (b'{"detail": "no room"}', "400 Bad Request: no room"),
        (b'{"detail": [{"loc": ["body"], "msg": "no room"}]}', "400 Bad Request: no room"),
        (b'{"error": {"message": {"detail": ["no room"]}}}', "400 Bad Request: no room"),
        (b"no room", "400 Bad Request: no room"),
        (b'\xef\xbb\xbf{"error": "no room"}', "400 Bad Request: no room"),
        (b'data: {"error": {"message": "no room"}}\n\n', "400 Bad Request: no room"),
        (b"event: error\ndata: no room\n\ndata: [DONE]\n\n", "400 Bad Request: no room"),
        (
            b'{"error": "Bad Request", "message": "no room"}',
            "400 Bad Request: Bad Request: no room",
        ),
        (b'{"error": true, "error_msg": "no room"}', "400 Bad Request: no room"),
        (
            b'{"error": {"code": 400, "message": "exceeds the available context size"}}',
            "400 Bad Request: exceeds the available context size",
        ),
        (b"<html>", "400 Bad Request"),
        (b"\xff", "400 Bad Request"),
        (b"[[[]]]", "400 Bad Request"),
        (b'{"error": 7}', "400 Bad Request"),
    ],
)
def test_the_message_of_an_error(server: ModelDouble, body: bytes, words: str) -> None:
    """The server's own message is part of the line, whatever form it has."""
    server.answer = raw(body, 400)
    assert str(failure(RejectedError, server.endpoint)).endswith(f" answered {words}")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "the server needs a key: set CONTENTGEN_MODEL_KEY (or api_key)"),
        (404, "correct endpoint, which is what stands before /chat/completions"),
        (429, "a lower parallel may help"),
    ],
)
def test_the_names_of_options_in_writer_yml(server: ModelDouble, status: int, words: str) -> None:
    """A served writer has no option `writer`, so that the names of options are other ones."""

    async def run() -> None:
        fields = WriterFields(model=MODEL, endpoint=server.endpoint)
        async with make_model(WriterOptions(fields, prefix=""), Spending(), retries=0) as model:
            await model.ask(ModelCall(QUESTION, 1))

    server.answer = raw(b"", status)
    with pytest.raises(ServiceError) as caught:
        asyncio.run(run())
    assert words in str(caught.value)
    assert "writer." not in str(caught.value)


def test_a_redirect(server: ModelDouble) -> None:
    """A redirect is not followed, and the key goes to no other server."""
    with running_model() as other:
        server.answer = raw(b"", 307, {"Location": f"{other.endpoint}/chat/completions"})
        text = str(failure(UnusableServiceError, server.endpoint))
    assert "307 Temporary Redirect; http://127.0.0.1:" in text
    assert text.endswith(WRONG_ADDRESS)
    assert other.calls == []
    assert "Location" not in text and other.endpoint not in text


# --- tries ---------------------------------------------------------------------------------------


def test_a_server_that_is_busy(server: ModelDouble) -> None:
    """A call that did not run is tried again, after the time that the server asks for if any."""
    busy = raw(error("busy"), 429, {"Retry-After": "0"})
    server.answer = sequence([busy, raw(b"", 503), written()])
    assert ask(server, retries=2).text == "A text."
    assert len(server.calls) == 3


def instant_clock() -> Clock:
    """Return a clock on which each pause is over at once."""
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    return Clock(monotonic=lambda: now, sleep=sleep)


def test_a_server_that_loads_its_model(server: ModelDouble) -> None:
    """It is asked again for `call_timeout`, however few retries there are, and that is said."""
    loading = raw(error("Loading model"), 503)
    server.answer = sequence([loading, loading, loading, written()])
    lines: list[str] = []
    asked = ModelCall(QUESTION, 1)

    async def run() -> str:
        options = WriterOptions(WriterFields(model=MODEL, endpoint=server.endpoint))
        reporter = LineReporter(log=lines.append, debug=lines.append)
        async with make_model(
            options, Spending(), retries=0, reporter=reporter, clock=instant_clock()
        ) as model:
            return (await model.ask(asked)).text

    assert asyncio.run(run()) == "A text."
    assert sum("waiting up to 60 s (writer.call_timeout)" in line for line in lines) == 1


def test_a_server_that_loads_for_too_long(server: ModelDouble) -> None:
    """All calls would fail, so that the message says which option waits longer."""
    server.answer = raw(error("Loading model"), 503)

    async def run() -> None:
        fields = WriterFields(model=MODEL, endpoint=server.endpoint, call_timeout=20)
        async with make_model(WriterOptions(fields), Spending(), clock=instant_clock()) as model:
            await model.ask(ModelCall(QUESTION, 1))

    with pytest.raises(
        UnavailableModelError, match=r"not there after 20 s \(writer.call_timeout\);"
    ):
        asyncio.run(run())
    assert 5 < len(server.calls) < 15


def test_no_call_begins_in_a_stopped_run(server: ModelDouble) -> None:
    """Neither a first try nor the one after a pause, which is not waited for to its end."""
    stopped = False

    def stop(call: Call, handler: ModelHandler) -> None:
        nonlocal stopped
        stopped = True
        raw(b"", 429, {"Retry-After": "30"})(call, handler)

    async def run() -> None:
        options = WriterOptions(WriterFields(model=MODEL, endpoint=server.endpoint))
        async with make_model(options, Spending()) as model:
            for _ in range(2):
                with pytest.raises(StoppedRunError):
                    await model.ask(ModelCall(QUESTION, 1), is_stopped=lambda: stopped)

    server.answer = stop
    started = time.monotonic()
    asyncio.run(run())
    assert time.monotonic() - started < 20
    assert len(server.calls) == 1


def test_a_server_that_stays_busy(server: ModelDouble) -> None:
    """After `retries` tries the call is given up."""
    server.answer = raw(error("busy"), 429, {"Retry-After": "0"})
    text = str(failure(BusyModelError, server.endpoint, retries=1))
    assert text.endswith("busy; gave up after try 2; a lower writer.parallel may help")
    assert len(server.calls) == 2


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}',
        b'{"error": {"message": "suspended", "type": "exceeded_current_quota_error"}}',
        '{"error": {"code": "1113", "message": "余额不足或无可用资源包,请充值。"}}'.encode(),
        b'{"error": "Your team has used all available credits"}',
        b'{"detail": "Insufficient balance"}',
    ],
)
def test_an_account_without_credit(server: ModelDouble, body: bytes) -> None:
    """Its status 429 never ends, so that no call waits for that."""
    server.answer = raw(body, 429)
    text = str(failure(UnusableServiceError, server.endpoint, retries=5))
    assert text.endswith("; add credit to the account of the model server")
    assert "answered 429 Too Many Requests: " in text
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "words",
    [
        "Rate limit reached. Need more tokens? Upgrade at https://x.example/settings/billing",
        "You exceeded your current quota, please check your plan and billing details. Please retry",
    ],
)
def test_a_limit_that_ends(server: ModelDouble, words: str) -> None:
    """A rate limit that speaks of plans is one that passes."""
    server.answer = sequence([raw(error(words), 429, {"Retry-After": "0"}), written()])
    assert ask(server, retries=1).text == "A text."


def test_a_pause_holds_back_all_calls(server: ModelDouble) -> None:
    """While the server wants a pause, no other call goes out."""
    arrivals: list[float] = []
    busy_once = sequence([raw(b"", 429, {"Retry-After": "1"}), written()])

    def answer(call: Call, handler: ModelHandler) -> None:
        arrivals.append(time.monotonic())
        busy_once(call, handler)

    async def run() -> None:
        options = WriterOptions(WriterFields(model=MODEL, endpoint=server.endpoint))
        lines: list[str] = []
        reporter = LineReporter(print, lines.append)
        async with make_model(options, Spending(), retries=1, reporter=reporter) as model:
            first = asyncio.create_task(model.ask(ModelCall(QUESTION, 1)))
            await until(lambda: lines)
            await asyncio.gather(first, *(model.ask(ModelCall(QUESTION, 1)) for _ in range(3)))
            assert re.search(
                "429 Too Many Requests, and asks to retry after 1 s; next try in 1.0 s$", lines[0]
            )

    server.answer = answer
    asyncio.run(run())
    assert len(arrivals) == 5
    assert all(arrival - arrivals[0] >= 1 for arrival in arrivals[1:])


def test_a_pause_that_is_too_long(server: ModelDouble) -> None:
    """A server that is busy for hours is an error at once, for all texts."""
    server.answer = raw(error("quota"), 429, {"Retry-After": "3600"})
    text = str(failure(UnavailableModelError, server.endpoint, retries=5))
    assert text.endswith("quota, and asks to retry after 3600 s")
    assert len(server.calls) == 1


@pytest.mark.parametrize("retries", [0, 1])
def test_no_server(retries: int) -> None:
    """Where nothing listens, all texts would fail."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        text = str(failure(UnavailableModelError, endpoint, retries=retries))
    assert "no connection to the model server 127.0.0.1:" in text
    assert text.endswith("; is writer.endpoint right, and is the server running?")


def test_no_ollama() -> None:
    """On Ollama's port, the message says how to start it."""
    with socket.socket() as unused:
        try:
            unused.bind(("127.0.0.7", OLLAMA_PORT))
        except OSError:
            pytest.skip("needs Ollama's port on 127.0.0.7")
        text = str(failure(UnavailableModelError, f"http://127.0.0.7:{OLLAMA_PORT}/v1"))
    assert text.endswith("is writer.endpoint right? Is Ollama running? `ollama serve` starts it")


# --- the key -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "echo",
    [
        b"HTTP/1.1 %d %s\r\nContent-Length: 0\r\n\r\n",
        b'HTTP/1.1 %d X\r\nConnection: close\r\n\r\n{"error": {"message": "got %s"}}',
        b'HTTP/1.1 %d X\r\nConnection: close\r\n\r\n{"choices": [{"message": {"content": "%s"}}]}',
    ],
    ids=["reason", "error", "text"],
)
@pytest.mark.parametrize("status", [200, 302, 400, 401, 404, 429, 500])
def test_a_server_that_repeats_the_key(server: ModelDouble, status: int, echo: bytes) -> None:
    """The key is in no message, debug line or traceback, whatever the server repeats."""
    server.answer = wire(echo % (status, SECRET))
    asked = Asked(retries=0)
    with pytest.raises(ServiceError) as caught:
        asyncio.run(asked.ask(server.endpoint))
    assert_discreet(caught.value, asked.lines)


def test_a_part_of_the_key(server: ModelDouble) -> None:
    """Not even a part of the key is shown, as providers do in their messages."""
    server.answer = raw(error(f"Incorrect API key provided: {KEY[:8].upper()}***"), 401)
    text = str(failure(UnusableServiceError, server.endpoint))
    assert re.search(r"answered 401 Unauthorized; set CONTENTGEN", text)


def test_a_short_key_that_is_a_usual_word(server: ModelDouble) -> None:
    """A placeholder for a key does not forbid a text."""
    server.answer = written("About ollama.")
    assert ask(server, api_key="ollama").text == "About ollama."


@pytest.mark.parametrize("key", [f"{KEY} x", f"{KEY}\nX: y", f"{KEY}\0"])
def test_a_key_that_cannot_be_one(server: ModelDouble, key: str) -> None:
    """A key that was copied wrongly is an error before anything is sent."""
    text = str(failure(ConfigurationError, server.endpoint, api_key=key))
    assert text.startswith("writer.api_key: contains an invalid character")
    assert server.calls == []


@pytest.mark.parametrize("endpoint", [f"https://u:{KEY}@h/v1", KEY, "http://192.0.2.1/v1"])
def test_an_endpoint_that_cannot_be_used(endpoint: str) -> None:
    """The message names the option, and does not quote what could be the key."""
    text = str(failure(ConfigurationError, endpoint))
    assert text.startswith("writer.endpoint: ")
    assert "`allow_http: true`" in text or "192" not in endpoint


# --- usage and cost ------------------------------------------------------------------------------


def test_the_usage_of_calls(server: ModelDouble) -> None:
    """The usage of each call is part of its answer and of the spending."""
    server.answer = written(usage={"prompt_tokens": 1000, "completion_tokens": 200})
    asked = Asked()
    price = Price(input=1, output=10)
    answers = asyncio.run(asked.ask(server.endpoint, times=2, price=price))
    assert answers[0].usage == Usage(1, 1000, 200, 0.003)
    assert asked.spending.total == Usage(2, 2000, 400, 0.006)
    assert re.fullmatch(
        rf"'{MODEL}': answered after \d+\.\d s, 1,200 tokens, finish_reason 'stop'", asked.lines[0]
    )


def test_a_prompt_that_was_cut(server: ModelDouble) -> None:
    """A prompt of which the server read little is a warning, once."""
    messages: list[Message] = [{"role": "user", "content": "word " * 10_000}]
    server.answer = written(usage={"prompt_tokens": 2048, "completion_tokens": 9})
    asked = Asked()
    asyncio.run(asked.ask(server.endpoint, messages, times=2))
    assert len(asked.warnings) == 1
    assert "read 2,048 tokens of a prompt with 50,000 characters" in asked.warnings[0]


@pytest.mark.parametrize("tokens", [0, -1, 9_000, True, 2048.0, "2048", None, 10**30])
def test_a_prompt_that_was_not_cut(server: ModelDouble, tokens: object) -> None:
    """Without a plausible number of tokens, nothing is known."""
    messages: list[Message] = [{"role": "user", "content": "word " * 10_000}]
    server.answer = written(usage={"prompt_tokens": tokens, "completion_tokens": 9})
    asked = Asked()
    asyncio.run(asked.ask(server.endpoint, messages))
    assert asked.warnings == []


def test_the_maximum_cost(server: ModelDouble) -> None:
    """`max_cost` stops before the next call."""
    server.answer = written(usage={"prompt_tokens": 9, "completion_tokens": 9, "cost": 0.04})
    text = str(failure(UnusableServiceError, server.endpoint, times=9, max_cost=0.1))
    assert text.startswith("writer.max_cost is reached: 0.12 of 0.10 were spent, so no more calls")
    assert len(server.calls) == 3


def test_the_maximum_cost_of_calls_that_wait(server: ModelDouble) -> None:
    """`max_cost` also stops a second try, after another call has spent it. 1 s."""
    costly = written(usage={"prompt_tokens": 9, "completion_tokens": 9, "cost": 0.2})
    in_turn = sequence([raw(b"", 429, {"Retry-After": "1"}), costly])

    def answer(call: Call, handler: ModelHandler) -> None:
        wait_until(lambda: len(server.calls) > 1)
        in_turn(call, handler)

    server.answer = answer
    price = Price(input=0, output=0)
    options = {"max_cost": 0.1, "price": price}
    failure(UnusableServiceError, server.endpoint, retries=1, together=2, **options)
    assert len(server.calls) == 2


def test_no_cost_at_all(server: ModelDouble) -> None:
    """`max_cost: 0` allows no call."""
    failure(UnusableServiceError, server.endpoint, max_cost=0)
    assert server.calls == []


@pytest.mark.parametrize("fields", [{"choices": []}, {"error": {"message": "filtered"}}])
def test_what_an_unusable_answer_cost(server: ModelDouble, fields: dict[str, object]) -> None:
    """It counts: a server that answers nonsense for money is asked no more than `max_cost` says."""
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "cost": 0.04}
    server.answer = raw(json.dumps({"usage": usage, **fields}).encode())
    asked = Asked()
    with pytest.raises(InvalidAnswerError):
        asyncio.run(asked.ask(server.endpoint))
    assert asked.spending.total == Usage(1, 9, 9, 0.04)


@pytest.mark.parametrize(
    "lost", [reset, raw(b"", 504), raw(b"", 524), raw(b"", 200, {"Content-Encoding": "gzip"})]
)
def test_what_a_lost_answer_cost(server: ModelDouble, lost: Answer) -> None:
    """It may have been paid for, so `max_cost` counts it by an estimate."""

    async def run() -> None:
        fields = WriterFields(
            model=MODEL, endpoint=server.endpoint, max_cost=0.5, price=Price(input=1e6, output=1e6)
        )
        spending = Spending()
        async with make_model(WriterOptions(fields), spending, retries=0) as model:
            with pytest.raises(UnknownOutcomeError):
                await model.ask(ModelCall(QUESTION, 1))
            assert spending.total.calls == 1
            assert (spending.total.cost or 0) > 0.5
            with pytest.raises(UnusableServiceError, match="max_cost is reached"):
                await model.ask(ModelCall(QUESTION, 1))

    server.answer = lost
    asyncio.run(run())
    assert len(server.calls) == 1


def test_a_maximum_without_a_known_cost(server: ModelDouble) -> None:
    """`max_cost` cannot be kept if the cost is not known, and the message says what to do."""
    text = str(failure(UnusableServiceError, server.endpoint, times=9, max_cost=0.1))
    assert "does not report what a call costs; set writer.price, or leave max_cost out" in text
    assert len(server.calls) == 1


def test_a_maximum_without_a_known_cost_at_once(server: ModelDouble) -> None:
    """One call is paid for at most, although four texts are asked for at once."""

    def answer(call: Call, handler: ModelHandler) -> None:
        assert len(server.calls) == 1
        written()(call, handler)

    server.answer = answer
    failure(UnusableServiceError, server.endpoint, together=4, max_cost=0.1)
    assert len(server.calls) == 1


def test_a_maximum_with_costs_that_the_server_reports(server: ModelDouble) -> None:
    """Once the first answer says what it costs, the others are asked for together."""
    all_are_there = Barrier(3)

    def answer(call: Call, handler: ModelHandler) -> None:
        if call.number > 1:
            all_are_there.wait(20)
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "cost": 0.01}
        written(usage=usage)(call, handler)

    server.answer = answer
    asyncio.run(Asked().ask(server.endpoint, together=4, max_cost=1))
    assert len(server.calls) == 4


def test_a_maximum_and_a_price_without_usage(server: ModelDouble) -> None:
    """With a price it is kept by estimates, where the server does not report tokens."""
    server.answer = written(usage=None)
    price = Price(input=1e6, output=1e6)
    text = str(failure(UnusableServiceError, server.endpoint, times=9, max_cost=9, price=price))
    assert "writer.max_cost" in text
    assert len(server.calls) == 2


class Busy(Transport):
    """A transport to a model that has time at the second call only."""

    label = "the model"

    def __init__(self, options: WriterOptions) -> None:
        super().__init__(options, reporter=SILENT, quotes=True)
        self.calls = 0

    async def call(self, call: ModelCall, spending: Spending) -> Completion:
        """Ask to wait for an hour, and then answer."""
        self.calls += 1
        if self.calls == 1:
            raise NotSentError("the model is busy", 3600)
        return Completion("A text.")

    async def close(self) -> None:
        """Do nothing."""


class Unreachable(Busy):
    """A transport to a model that nobody has started."""

    async def call(self, call: ModelCall, spending: Spending) -> Completion:
        """Fail like a refused connection."""
        self.calls += 1
        raise UnreachableError("no connection")


def test_how_often_a_server_that_cannot_be_reached_is_tried() -> None:
    """Where no number of tries is given, the call is given up after the third."""
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    async def run() -> int:
        options = WriterOptions(WriterFields(model=MODEL))
        unreachable = Unreachable(options)
        clock = Clock(monotonic=lambda: now, sleep=sleep, random=lambda: 0.0)
        async with Model(
            options, unreachable, Spending(), retries=None, reporter=SILENT, clock=clock
        ) as model:
            with pytest.raises(UnavailableModelError, match="no connection"):
                await model.ask(ModelCall(QUESTION, 1))
        return unreachable.calls

    assert asyncio.run(run()) == 3


def test_an_hour_of_waiting() -> None:
    """The clock that is handed in counts, for the pause as for the five times `call_timeout`."""
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    async def run(call_timeout: float) -> str:
        fields = WriterFields(model=MODEL, call_timeout=call_timeout)
        clock = Clock(monotonic=lambda: now, sleep=sleep, random=lambda: 0.0)
        options = WriterOptions(fields)
        busy = Busy(options)
        model = Model(options, busy, Spending(), retries=None, reporter=SILENT, clock=clock)
        async with model:
            return (await model.ask(ModelCall(QUESTION, 1))).text

    assert asyncio.run(run(721)) == "A text."
    assert now == pytest.approx(3600)
    with pytest.raises(UnavailableModelError, match="the model is busy"):
        asyncio.run(run(719))

"""Answers that a model server streams, in simulated time: what is read, and when it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from simulated_time import SimulatedTime

from mkdocs_contentgen.errors import InvalidAnswerError, RejectedError, UnknownOutcomeError
from mkdocs_contentgen.writer.models.completion import Completion, Message, ModelCall, Watch
from mkdocs_contentgen.writer.models.model import make_model
from mkdocs_contentgen.writer.models.settings import Price, WriterFields, WriterOptions
from mkdocs_contentgen.writer.models.usage import Spending, Usage

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"
DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 40, "completion_tokens": 10}
KEY = "sk-5ecret.very~long/key+value="

Item = bytes | float
"""What a server sends, or the seconds that it waits."""


def event(content: object = None, **fields: object) -> bytes:
    """Return an event with a part of the text. `fields` are those of the choice."""
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": None, **fields}
    return f"data: {json.dumps({'choices': [choice]}, ensure_ascii=False)}\n\n".encode()


def usage(**fields: object) -> bytes:
    """Return the last event, which has the usage and no choice."""
    return f"data: {json.dumps({'choices': [], 'usage': {**USAGE, **fields}})}\n\n".encode()


STOP = event("", finish_reason="stop")


@dataclass
class Exchange:
    """What a server got, and what came of it."""

    bodies: list[dict[str, Any]] = field(default_factory=list)
    completion: Completion | None = None
    spending: Spending = field(default_factory=Spending)
    seconds: float = 0.0


def ask(
    *scripts: Sequence[Item],
    watch: Watch | None = None,
    calls: int = 1,
    spending: Spending | None = None,
    **fields: Any,
) -> Exchange:
    """Ask a server that plays one script for each connection, the last one again and again."""
    exchange = Exchange(spending=spending or Spending())
    left = [list(script) for script in scripts]

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        exchange.bodies.append(json.loads(await reader.readexactly(length)))
        script = left.pop(0) if len(left) > 1 else left[0]
        try:
            for item in script:
                if isinstance(item, float):
                    await asyncio.sleep(item)
                else:
                    writer.write(item)
                    await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        values = {"model": "m", "endpoint": f"http://127.0.0.1:{port}/v1", "api_key": KEY}
        options = WriterOptions(WriterFields(**{**values, **fields}))
        started = asyncio.get_running_loop().time()
        try:
            async with make_model(options, exchange.spending, retries=0) as model:
                for _ in range(calls):
                    question = [Message(role="user", content="A question." * 8)]
                    exchange.completion = await model.ask(ModelCall(question, 100, watch))
        finally:
            exchange.seconds = asyncio.get_running_loop().time() - started
            server.close()

    with asyncio.Runner(loop_factory=SimulatedTime) as runner:
        runner.run(run())
    return exchange


def completion(*script: Item, **more: Any) -> Completion:
    """Return the answer in a stream."""
    found = ask([HEAD, *script], **more).completion
    assert found
    return found


TEXT = "Wörter 缓存 🚀"


def pretty(sent: bytes) -> bytes:
    """Return an event with its JSON in several lines."""
    lines = json.dumps(json.loads(sent[6:]), indent=1).split("\n")
    return "".join(f"data: {line}\n" for line in lines).encode() + b"\n"


def with_fields(sent: bytes, **fields: object) -> bytes:
    """Return an event with further fields beside its choices."""
    return f"data: {json.dumps({**json.loads(sent[6:]), **fields})}\n\n".encode()


NO_ERRORS: list[dict[str, object]] = [
    {"error": {"message": "", "type": "", "param": "", "code": None}},
    {"error": {"code": 0, "message": "success"}},
    {"error_code": 0, "error_msg": "Success"},
    {"error": False, "detail": None},
]
"""How servers say with each event that there is no error."""


def split(data: bytes, size: int) -> Iterable[bytes]:
    """Return the parts of a body."""
    return (data[start : start + size] for start in range(0, len(data), size))


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([event(TEXT), STOP, usage(), DONE], id="whole"),
        pytest.param([*map(event, TEXT), STOP, usage(), DONE], id="each-character"),
        pytest.param([*split(event(TEXT) + STOP + usage() + DONE, 1)], id="each-byte"),
        pytest.param([event(TEXT) + STOP + usage() + DONE + event("again")], id="after-the-end"),
        pytest.param([event(TEXT), STOP, usage()], id="no-done"),
        pytest.param([(event(TEXT) + STOP + usage()).replace(b"\n", b"\r\n"), DONE], id="crlf"),
        pytest.param([(event(TEXT) + STOP + usage()).replace(b"\n", b"\r"), DONE], id="cr"),
        pytest.param([b": hi\n\n", event(TEXT), b":\n", STOP, usage(), DONE], id="comments"),
        pytest.param([b"event: x\nid: 7\n", event(TEXT), STOP, usage(), DONE], id="fields"),
        pytest.param([(event(TEXT) + STOP + usage()).rstrip()], id="no-last-line-break"),
        pytest.param([event(TEXT).replace(b": {", b":{", 1), STOP, usage(), DONE], id="no-space"),
        pytest.param([b"data: {}\n\ndata: []\n\n", event(TEXT), STOP, usage(), DONE], id="no-text"),
        pytest.param([event(TEXT), event("", finish_reason="stop"), usage(), DONE], id="empty"),
        pytest.param([event(TEXT), STOP, usage(), b'data: {"error": "x"}\n\n', DONE], id="error"),
        pytest.param([pretty(event(TEXT)), pretty(STOP), usage(), DONE], id="several-lines"),
        pytest.param([b"\xef\xbb\xbf", event(TEXT), STOP, usage(), DONE], id="byte-order-mark"),
        pytest.param([event(TEXT)[:-1], STOP[:-1], usage()[:-1], DONE], id="no-empty-lines"),
        pytest.param([event(TEXT)[6:], STOP[6:], usage()[6:], DONE], id="no-data"),
        pytest.param(
            [event(TEXT), b"event: ping\ndata: 17\n\ndata: ping\n\n", STOP, usage(), DONE],
            id="ping",
        ),
        pytest.param(
            [*map(event, TEXT), event(delta=None, message={"content": TEXT}), STOP, usage(), DONE],
            id="message-repeated",
        ),
        pytest.param(
            [
                *(event(delta=None, message={"content": part}) for part in (TEXT[:3], TEXT[3:])),
                *(STOP, usage(), DONE),
            ],
            id="messages",
        ),
        pytest.param(
            [event([{"type": "text", "text": TEXT}]), STOP, usage(), DONE], id="list-of-parts"
        ),
        pytest.param(
            [b"\xef\xbb\xbf" + part for part in (event(TEXT), STOP, usage(), DONE)],
            id="byte-order-marks",
        ),
        pytest.param(
            [b"data: " + part for part in (event(TEXT), STOP, usage(), DONE)], id="data-twice"
        ),
        pytest.param(
            [event(TEXT[:3]), event("Other", index=1), event(TEXT[3:]), STOP, usage(), DONE],
            id="two-texts",
        ),
        pytest.param(
            [event(TEXT[:3], finish_reason="null"), event(TEXT[3:]), STOP, usage(), DONE],
            id="reason-null",
        ),
        *(
            pytest.param(
                [*(with_fields(event(part), **fields) for part in TEXT), STOP, usage(), DONE],
                id=f"no-error-{number}",
            )
            for number, fields in enumerate(NO_ERRORS)
        ),
    ],
)
def test_a_stream(script: Sequence[bytes]) -> None:
    """However it is sent, the text, its end and the usage are the same."""
    assert completion(*script) == Completion(TEXT, "stop", usage=Usage(1, 40, 10, None))


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([event("A"), event(finish_reason="length"), DONE], "length"),
        ([event("A"), DONE], "stop"),
        ([event("A")], "unknown"),
        ([event("A", finish_reason="null")], "unknown"),
    ],
)
def test_why_a_stream_ends(script: Sequence[bytes], reason: str) -> None:
    """A text without a reason is whole where the server says that the stream is."""
    assert completion(*script).finish_reason == reason


@pytest.mark.parametrize(
    "last",
    [
        {"delta": None, "message": {"content": "word " * 60}},
        {"delta": {"content": "word " * 60}},
        {"delta": {"content": "word " * 60}, "finish_reason": None},
        {"delta": {"content": ""}, "message": {"content": ("word " * 60).strip()}},
    ],
)
def test_a_last_event_with_all_of_the_text(last: dict[str, object]) -> None:
    """A text that the last event repeats is taken once."""
    ending = {"finish_reason": "stop", **last}
    found = completion(*[event("word ")] * 60, event(**ending), DONE)
    assert (found.text, found.finish_reason) == ("word " * 60, "stop")


@pytest.mark.parametrize(
    "label", ["text/plain; charset=utf-8", "application/json", "application/octet-stream", ""]
)
def test_a_label_that_is_wrong(label: str) -> None:
    """The body says whether it is a stream, and not its label."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {label}\r\n\r\n".encode()
    found = ask([head, event("A"), 50.0, event("B"), 50.0, STOP, DONE, event("again")]).completion
    assert found and (found.text, found.finish_reason) == ("AB", "stop")


def test_a_refusal_in_a_stream() -> None:
    """What a model says in place of a text is kept apart from one."""
    parts = (event(None, delta={"refusal": part}) for part in ("I", " can", "not", "."))
    found = completion(*parts, STOP, DONE)
    assert (found.text, found.finish_reason) == ("I cannot.", "refusal")


def test_thinking() -> None:
    """Thinking text apart from the answer counts as a sign of life."""
    think = event(None, delta={"reasoning_content": "hm"})
    thoughts: list[Item] = [think, 50.0]
    assert completion(*thoughts * 20, event("A"), STOP, DONE).text == "A"


class TestUsage:
    """Tokens and cost of a stream."""

    @pytest.mark.parametrize(
        "report", [b"", usage(prompt_tokens=-1, completion_tokens=10**30, cost="free")]
    )
    def test_no_numbers(self, report: bytes) -> None:
        """Without a report, and with implausible numbers, the usage of an answer is not known."""
        assert completion(event("A"), STOP, report, DONE).usage == Usage(1, 0, 0, None)

    def test_a_server_that_ends_early(self) -> None:
        """A stream without its end counts with an estimate, although no connection was lost."""
        found = completion(event("A" * 80))
        assert found.finish_reason == "unknown"
        assert found.usage.output_tokens == 20

    def test_a_time_out(self) -> None:
        """A call without an answer counts with an estimate: four characters are a token."""
        price = Price(input=1.0, output=2.0)
        exchange = Exchange()
        with pytest.raises(UnknownOutcomeError):
            exchange = ask([HEAD, 400.0], price=price)
        assert exchange.bodies == []
        found = completion(event("A" * 80), 100.0, price=price)
        assert found.usage == Usage(1, 22, 20, (22 * 1 + 20 * 2) / 1e6)


class TestTime:
    """How long a server may take, in simulated seconds."""

    def test_slow_and_steady(self) -> None:
        """A token a second for ten minutes is an answer."""
        tokens: list[Item] = [item for number in range(600) for item in (1.0, event(f"w{number} "))]
        found = completion(*tokens, STOP, DONE)
        assert len(found.text.split()) == 600

    def test_the_first_token(self) -> None:
        """It may take five times as long as the others."""
        assert completion(299.0, event("A"), STOP, DONE).text == "A"
        with pytest.raises(UnknownOutcomeError, match=r"sent nothing for 300 s \(the option `wr"):
            completion(301.0, event("A"), STOP, DONE)

    @pytest.mark.parametrize(
        "script", [[61.0, event(" text"), STOP, DONE], [20.0, b": ping\n\n", event("")] * 10]
    )
    def test_silence(self, script: Sequence[Item]) -> None:
        """A server that sends no token has lost the answer, of which the start is kept."""
        found = completion(event("Half a"), *script)
        assert (found.text, found.finish_reason) == ("Half a", "lost")
        assert "sent nothing for 60 s" in str(found.error)

    def test_call_timeout(self) -> None:
        """The option sets both times."""
        with pytest.raises(UnknownOutcomeError, match="sent nothing for 10 s"):
            completion(11.0, call_timeout=2)


def test_a_lost_connection() -> None:
    """What has arrived is kept."""
    head = HEAD.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n")
    part = event("Half a")
    body = f"{len(part):x}\r\n".encode() + part + b"\r\n"
    found = ask([head, body]).completion
    assert found and (found.text, found.finish_reason) == ("Half a", "lost")
    assert "was lost" in str(found.error)


def test_watching() -> None:
    """The model is stopped where the text is no use, and nothing more is read of it."""
    tokens = [event("word " * 20)] * 100
    found = completion(*tokens, 1.0, watch=lambda text: "loop" if len(text) > 1000 else "")
    assert found.finish_reason == "loop"
    assert 1000 < len(found.text) < 2000
    assert found.usage.output_tokens == len(found.text) // 4


class TestRefusals:
    """Servers that do not stream."""

    @pytest.mark.parametrize("label", [b"application/json", b"text/event-stream", b"text/plain"])
    @pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\n\n"])
    @pytest.mark.parametrize("end", [b"", b"\n\n" + DONE])
    def test_a_whole_answer_with_any_label(self, label: bytes, start: bytes, end: bytes) -> None:
        """JSON is read whatever its label says, also with the end of a stream behind it."""
        head = b"HTTP/1.1 200 OK\r\nContent-Type: " + label + b"\r\n\r\n"
        found = ask([head, start + self.ANSWER + end]).completion
        assert found == Completion("A", "stop", usage=Usage(1, 40, 10, None))

    ANSWER = json.dumps(
        {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}], "usage": USAGE}
    ).encode()

    def reply(self, body: bytes, status: bytes = b"200 OK") -> bytes:
        """Return a whole answer."""
        length = str(len(body)).encode()
        return (
            b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\nContent-Length: "
            + length + b"\r\n\r\n" + body
        )  # fmt: skip

    def test_a_refusal(self) -> None:
        """A server that refuses is asked again without, once, and that is remembered."""
        refusal = self.reply(b'{"error": "stream_options is not allowed"}', b"400 Bad Request")
        exchange = ask([refusal], [self.reply(self.ANSWER)], calls=2)
        assert exchange.completion and exchange.completion.text == "A"
        assert ["stream" in body for body in exchange.bodies] == [True, False, False]
        assert "stream_options" not in exchange.bodies[1]

    def test_another_error(self) -> None:
        """Other errors are not tried again."""
        refusal = self.reply(b'{"error": "no such field"}', b"400 Bad Request")
        with pytest.raises(RejectedError, match="no such field"):
            ask([refusal])

    def test_a_whole_answer(self) -> None:
        """A server may ignore `stream`."""
        found = ask([self.reply(self.ANSWER)]).completion
        assert found == Completion("A", "stop", usage=Usage(1, 40, 10, None))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([b'data: {"error": {"message": "out of memory"}}\n\n'], "out of memory"),
        ([b"event: error\ndata: out of memory\n\n"], "status 200: out of memory"),
        ([b"out of memory"], "status 200: out of memory"),
        ([b"<html>\n<p>Hello</p>\n"], "without a message"),
        ([b"<html>\n\nbody { margin: 0 }\n\nPlease log in\n\n</html>"], "without a message in"),
        ([b"data: <html>\n\n"], "without a message"),
        ([DONE], "without a message"),
        ([b""], "without a message"),
        ([b"data: " + b"x" * 2**20] * 40, "larger than 32 MiB"),
        ([event(None, delta={"reasoning": "x" * 2**20})] * 40, "larger than 32 MiB"),
        ([event(f"It is {KEY}"), STOP, DONE], "repeats writer.api_key"),
    ],
    ids=[
        "error",
        "named",
        "plain",
        "html",
        "page",
        "html-event",
        "nothing",
        "empty",
        "event",
        "ever",
        "key",
    ],
)
def test_a_stream_that_is_none(script: Sequence[Item], words: str) -> None:
    """A stream without a text is one line, with bounded memory."""
    with pytest.raises(InvalidAnswerError) as caught:
        completion(*script)
    assert words in str(caught.value)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)


HALF = event("Half a")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([HALF, b'data: {"error": {"message": "out of memory"}}\n\n'], "out of memory"),
        ([HALF, b"data: " + b"x" * 2**25], "larger than 32 MiB"),
        ([HALF, b'data: {"error": {"message": "out of memory"}}\n\n', DONE], "out of memory"),
        ([HALF, b'event: error\ndata: {"message": "out of memory"}\n\n', DONE], "out of memory"),
        ([HALF, b"event: error\ndata: out of memory\n\n"], "out of memory"),
        ([HALF, b"event: error\ndata:\n\n"], "status 200: error"),
        ([HALF, b'{"error": {"message": "out of memory"}}\n'], "out of memory"),
        ([HALF, b'{\n "error": {\n  "message": "out of memory"\n }\n}\n', DONE], "out of memory"),
        ([HALF, b'error: {"message": "out of memory"}\n\n', DONE], "out of memory"),
        ([HALF, b"error: out of memory\n\n"], "out of memory"),
        ([HALF, b"Internal error: out of memory", DONE], "Internal error: out of memory"),
        ([HALF, b"data: out of memory\n\n", DONE], "out of memory"),
        ([HALF, b'data: "out of memory"\n\n', DONE], "out of memory"),
        ([HALF, b'data: {"object": "error", "message": "out of memory"}\n\n'], "out of memory"),
        ([HALF, b'data: {"type": "error", "msg": "out of memory"}\n\n'], "out of memory"),
        ([HALF, b'data: {"error_code": 5, "error_msg": "out of memory"}\n\n'], "out of memory"),
        ([HALF, b'data: {"detail": [{"msg": "out of memory"}]}\n\n', DONE], "out of memory"),
        ([HALF, b'data: {"code": 500, "message": "out of memory"}\n\n'], "out of memory"),
        ([HALF, b'data: [{"error": {"message": "out of memory"}}]\n\n'], "out of memory"),
        ([event("Half a", finish_reason="null"), b"out of memory\n\n"], "out of memory"),
        ([HALF, event("", error={"message": "out of memory"}), DONE], "out of memory"),
        ([HALF, event("", finish_reason="error"), DONE], "finish_reason is 'error'"),
        (
            [HALF, b'data: {"base_resp": {"status_code": 5, "status_msg": "no memory"}}\n\n'],
            "no memory",
        ),
        ([HALF, b"data: [ERROR] out of memory\n\n", DONE], "[ERROR] out of memory"),
        ([HALF, b'data: {"errorCode": 5, "errorMessage": "out of memory"}\n\n'], "out of memory"),
        ([HALF, b"<html>Bad gateway</html>\n\n", DONE], "what is not an event"),
        ([HALF, b'data: {"choices": [{"del\n\n', DONE], "what is not an event"),
    ],
)
def test_an_error_after_a_part_of_the_text(script: Sequence[Item], words: str) -> None:
    """What has arrived is kept, and counts."""
    found = completion(*script, price=Price(input=1.0, output=2.0))
    assert (found.text, found.finish_reason) == ("Half a", "lost")
    assert words in str(found.error)
    assert found.usage.cost


def test_endless_thinking_counts() -> None:
    """A call that is given up costs something, so it counts with an estimate."""
    exchange = Exchange()
    think = event(None, delta={"reasoning": "x" * 2**20})
    with pytest.raises(InvalidAnswerError):
        ask([HEAD, *[think] * 40], spending=exchange.spending)
    assert exchange.spending.total.calls == 1


def test_a_key_in_a_lost_answer() -> None:
    """The start of an answer is kept, but never one with the key."""
    with pytest.raises(InvalidAnswerError, match=r"repeats writer\.api_key"):
        completion(*map(event, f"It is {KEY}"), 100.0)


def test_what_cannot_be_read() -> None:
    """After an event that is no JSON, reading goes on; of a broken word a mark is left."""
    broken = event("caf\0 is open").replace(b"\\u0000", b"\xe9")
    half = event("A \0face").replace(b"\\u0000", b"\\ud83d")
    found = ask([HEAD, event("The "), b"data: oops\n\n", broken, half, STOP, DONE]).completion
    assert found
    assert found.text == "The caf\ufffd is openA \ufffdface"
    assert (found.is_cut, found.server_words) == (True, "oops")

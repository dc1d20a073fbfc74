"""The format of server-sent events, as the HTML standard defines it and as servers send it."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.service.event_stream import EventParser, ServerSentEvent, parse_events


def parsed(*chunks: bytes) -> list[ServerSentEvent]:
    """Return the events of a stream that comes in parts."""
    parser = EventParser()
    found = [event for chunk in chunks for event in parser.feed(chunk)]
    return [*found, *parser.close()]


def data(*values: bytes) -> list[ServerSentEvent]:
    """Return events without a name."""
    return [ServerSentEvent(value) for value in values]


def stray(value: bytes) -> ServerSentEvent:
    """Return lines that are no event."""
    return ServerSentEvent(value, is_stray=True)


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        # The examples of the standard.
        (b"data: YHOO\ndata: +2\ndata: 10\n\n", data(b"YHOO\n+2\n10")),
        (
            b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
            b"data:  third event\n\n",
            data(b"first event", b"second event", b" third event"),
        ),
        (b"data\n\ndata\ndata\n\ndata:\n\n", data(b"", b"\n", b"")),
        (b"data:test\n\ndata: test\n\n", data(b"test", b"test")),
        # Line breaks, byte order mark, fields.
        (b"data: a\r\rdata: b\r\n\r\ndata: c\n\n", data(b"a", b"b", b"c")),
        (b"data: a\r\ndata: b\r\n\r\n", data(b"a\nb")),
        (b"\xef\xbb\xbfdata: a\n\n", data(b"a")),
        (
            b'\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: {"b": "\xef\xbb\xbf"}\n\n',
            data(b"a", b'{"b": "\xef\xbb\xbf"}'),
        ),
        (b'data: data: {"a": 1}\n\ndata:data:[DONE]\n\n', data(b'{"a": 1}', b"[DONE]")),
        (b"data: data: a\n\n", data(b"data: a")),
        (
            b"event: error\ndata: a\n\ndata: b\n\n",
            [ServerSentEvent(b"a", "error"), ServerSentEvent(b"b")],
        ),
        (b"event: error\n\n", [ServerSentEvent(b"", "error")]),
        (b"retry: 3000\nid: 7\ndata: a\n\n", data(b"a")),
        (b"time: 5\ndata: a\n\n", data(b"a")),
        (b": ping\n\n:\n\n\n\n", []),
        (b"", []),
        # What is not an event.
        (b"Internal Server Error", [stray(b"Internal Server Error")]),
        (b'data: a\n\n{"error":\n "b"}\n\n', [*data(b"a"), stray(b'{"error":\n "b"}')]),
        (b"error: b\ndata: [DONE]\n\n", [stray(b"error: b"), *data(b"[DONE]")]),
        (b"Error: b\ndata: [DONE]\n\n", [stray(b"Error: b"), *data(b"[DONE]")]),
        (b'{"a": 1}\n{"a": 2}\n', [stray(b'{"a": 1}'), stray(b'{"a": 2}')]),
        # The end of a stream, and no empty lines.
        (b'data: {"a": 1}', data(b'{"a": 1}')),
        (b'data: {"a": 1}\n\ndata: {"a"', data(b'{"a": 1}')),
        (b'data: {"a": 1}\n\ndat', data(b'{"a": 1}')),
        (b'data: {"a": 1}\ndata: {\ndata: }\n\n', data(b'{"a": 1}', b"{\n}")),
        (b'data: {"a": 1}\ndata: [DONE]\n', data(b'{"a": 1}', b"[DONE]")),
    ],
)
def test_a_stream(stream: bytes, events: list[ServerSentEvent]) -> None:
    """The events are the same, however the stream is cut into parts."""
    assert parsed(stream) == events
    assert parsed(*re.findall(b"(?s).", stream)) == events
    assert list(parse_events(stream)) == events


@given(
    values=st.lists(st.dictionaries(st.text(), st.text() | st.integers(), min_size=1)),
    indent=st.sampled_from([None, 0, 2]),
    line_break=st.sampled_from(["\n", "\r", "\r\n"]),
    size=st.integers(1, 50),
)
def test_any_json(
    values: list[dict[str, object]], indent: int | None, line_break: str, size: int
) -> None:
    """JSON in one line or several comes out as it was sent."""
    stream = ""
    for value in values:
        for line in json.dumps(value, indent=indent).split("\n"):
            stream += f"data: {line}{line_break}"
        stream += line_break
    body = stream.encode()
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    assert [json.loads(event.data) for event in parsed(*chunks)] == values


def test_line_breaks_of_two_kinds() -> None:
    """A line break that comes in two parts hides no empty line behind it."""
    stream = b"event: error\r\n\ndata: x\n\n"
    chunks = [b"event: error\r", b"\n", b"\n", b"data: x\n\n"]
    assert (
        parsed(*chunks) == parsed(stream) == [ServerSentEvent(b"", "error"), ServerSentEvent(b"x")]
    )


@given(st.lists(st.binary()))
def test_any_bytes(chunks: list[bytes]) -> None:
    """Whatever arrives is read, in whatever parts."""
    assert parsed(*chunks) == parsed(b"".join(chunks))


@pytest.mark.parametrize("value", [b"[DONE]", b" [DONE] ", b'"[DONE]"', b"[done]", b"DONE"])
def test_the_end(value: bytes) -> None:
    """The last event is known however a server writes it."""
    assert ServerSentEvent(value).is_done
    assert not ServerSentEvent(value + b"x").is_done

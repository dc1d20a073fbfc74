"""Parse server-sent events, in the format of the HTML standard.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

The parser differs from the standard where servers of language models do:

- Lines that are not events are returned too, since they can be an error: `error: out of memory`,
  plain text, or JSON without `data:`. The standard drops such lines.
- An event without an empty line after it counts, since many servers leave out the last one. If it
  was cut off within its JSON, it is dropped, as in the standard.
- Some gateways write each event of the server that they ask as an event of their own, so that it
  begins with `data: data:`, and some write a byte order mark before each event.
- Servers that leave out all empty lines send one JSON value in each line. A line with a whole value
  is an event of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

import msgspec

BOM = b"\xef\xbb\xbf"
"""The byte order mark, which can begin a stream and the JSON of some servers."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_IGNORED = (b"id", b"retry")
_DATA_AGAIN = re.compile(rb"\A(?:data: ?)+(?=[{\[])")
_UNKNOWN_FIELD = re.compile(rb"(?!error)[a-z][\w-]*:")
_DONE = (b"[DONE]", b"DONE")


@dataclass(frozen=True)
class ServerSentEvent:
    """An event, or lines that are not an event."""

    data: bytes
    name: str = ""
    """The value of its field `event`."""

    is_stray: bool = False
    """Whether `data` are lines without a known field."""

    @property
    def is_done(self) -> bool:
        """Whether the event says that nothing follows, as in OpenAI's API."""
        return self.data.strip(b'" \t').upper() in _DONE


class StreamEvent(Enum):
    """What an event means to whoever reads a stream."""

    TOKEN = auto()
    OTHER = auto()
    END = auto()
    """Nothing that follows is read."""


class EventParser:
    """Parses a stream, part by part."""

    def __init__(self) -> None:
        self._line = bytearray()
        """The beginning of the line that has not ended."""

        self._ends_with_cr = False
        """Whether the stream so far ends with `\\r`, which a `\\n` may follow as a part of it."""

        self._name = ""
        self._data: list[bytes] = []
        self._stray: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that end in this part of the stream."""
        if self._ends_with_cr and chunk.startswith(b"\n"):
            chunk = chunk.removeprefix(b"\n")  # the second half of a line break
            self._ends_with_cr = False
        if chunk:
            self._ends_with_cr = chunk.endswith(b"\r")
        *ends, rest = _LINE_END.split(chunk)
        for end in ends:
            self._line += end
            line = bytes(self._line)
            self._line.clear()
            yield from self._read_line(line)
        self._line += rest

    def close(self) -> Iterator[ServerSentEvent]:
        """Yield the last event of a stream that has ended."""
        line = bytes(self._line)
        # A stream can be cut off within the name of a field, which then says nothing.
        is_cut_name = any(name.startswith(line) for name in (b"data:", b"event:"))
        if line and not is_cut_name:
            yield from self._read_line(line)
        data = b"\n".join(self._data)
        is_json = data.lstrip()[:1] in (b"{", b"[")
        if is_json and not self._name and not _is_whole(data):  # it was cut off
            self._data.clear()
        yield from self._end_block()

    def _read_line(self, line: bytes) -> Iterator[ServerSentEvent]:
        """Add a line to its event, and yield the event that has ended before it, if one has."""
        line = line.removeprefix(BOM)
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            yield from self._end_block()
        elif name == b"data":
            value = _DATA_AGAIN.sub(b"", value)
            if len(self._data) == 1 and _is_whole(self._data[0]):
                yield from self._end_block()
            self._data.append(value)
        elif name == b"event":
            self._name = value.decode("utf-8", "replace").strip()
        elif name and name not in _IGNORED:
            if len(self._stray) == 1 and _is_whole(self._stray[0]):
                yield from self._end_block()
            self._stray.append(line)

    def _end_block(self) -> Iterator[ServerSentEvent]:
        """Yield what stands between two empty lines."""
        stray = self._stray
        if self._data:
            # The standard ignores fields that it does not know.
            stray = [line for line in stray if not _UNKNOWN_FIELD.match(line)]
        if stray:
            yield ServerSentEvent(b"\n".join(stray), is_stray=True)
        if self._data or self._name:
            yield ServerSentEvent(b"\n".join(self._data), self._name)
        self._data = []
        self._stray = []
        self._name = ""


def parse_events(body: bytes) -> Iterator[ServerSentEvent]:
    """Yield the events of a whole stream."""
    parser = EventParser()
    yield from parser.feed(body)
    yield from parser.close()


def _is_whole(data: bytes) -> bool:
    """Tell whether data are a whole JSON object or array, or `[DONE]`."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return False
    if ServerSentEvent(data).is_done:
        return True
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (ValueError, RecursionError):
        return False
    return True

"""Read the answers of OpenAI's chat completions API, and keep those of an unfinished text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypedDict

import msgspec

from ..errors import ServiceError
from ..files import sha256
from ..service.connection import StreamEvent, decode_json
from ..service.protocol import Attempt
from .usage import Usage

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][\da-fA-F]{2}")
"""Half a pair of UTF-16, as some servers write one of the tokens of an emoji."""

_FINISHED = frozenset(
    {"stop", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "completed", "done"}
    | {"loop", "too long"}  # how the writer ends a text
)

Watch = Callable[[str], str]
"""Gets the text so far, and returns why the model has to stop: `loop`, `too long` or nothing."""

_WATCH_INTERVAL = 300
"""The least number of characters between two looks at a text that is being written."""


class Message(TypedDict):
    """A message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class ModelCall:
    """A conversation that the model is to go on with."""

    messages: Sequence[Message]
    max_tokens: int
    watch: Watch | None = None
    """Can stop the model while it writes."""

    penalty: bool = False
    """Whether the model is told to repeat itself less."""

    @property
    def characters(self) -> int:
        """The length of the conversation."""
        return sum(len(message["content"]) for message in self.messages)


class Completion(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer of the model, and the usage of the call."""

    text: str
    finish_reason: str = "stop"
    """As the server reports it, or `loop` or `too long` if the writer stopped the model."""

    usage: Usage = Usage()
    error: ServiceError | None = None
    """Why the answer ended early, such as a lost connection or an error of the server."""

    @property
    def is_cut(self) -> bool:
        """Whether the answer ended before the model was done."""
        return self.finish_reason.lower() not in _FINISHED


Ask = Callable[[ModelCall], Awaitable[Completion]]
"""Asks the model, as Model.ask() does."""


def decode(data: bytes) -> object:
    """Return the value in JSON, with U+FFFD for what cannot be decoded, or None.

    `NaN`, as some servers give the cost, is read as null.
    """
    value = decode_json(data)
    if value is None:
        text = _SURROGATE.sub(r"\\ufffd", data.decode("utf-8", "replace"))
        with suppress(ValueError, RecursionError):
            value = json.loads(text, parse_constant=lambda name: None)
    return value


class _AnswerMessage(msgspec.Struct):
    content: object = None
    reasoning: object = None
    reasoning_content: object = None

    def texts(self) -> tuple[str, bool]:
        """Return the text, and whether there is thinking text apart from it."""
        thought = bool(self.reasoning or self.reasoning_content)
        if isinstance(self.content, str):
            return self.content, thought
        # Some servers answer with a list of parts.
        parts = self.content if isinstance(self.content, list) else []
        texts = [part.get("text") for part in parts if isinstance(part, dict)]
        text = "".join(text for text in texts if isinstance(text, str))
        return text, thought or (bool(parts) and not text)


class _Choice(msgspec.Struct):
    message: _AnswerMessage | None = None
    delta: _AnswerMessage | None = None
    finish_reason: object = None


class _Response(msgspec.Struct):
    """The fields of an answer or an event that are used. Others are ignored."""

    choices: list[_Choice] | None = None
    usage: object = None
    error: object = None


class AnswerReader:
    """Reads an answer, whole or event by event. `watch` can end a stream.

    The attributes say what was read so far.
    """

    def __init__(self, watch: Watch | None = None) -> None:
        self.finish_reason: object = None
        self.usage: dict[str, object] | None = None
        self.error: object = None
        self.has_message = False
        self.was_streamed = False
        self.was_stopped = False
        self.is_complete = False
        self._parts: list[str] = []
        self._watch = watch
        self._length = 0
        self._next_watch = _WATCH_INTERVAL

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    @property
    def has_ended(self) -> bool:
        """Whether all of the answer has arrived, as far as the server says."""
        is_early = self.was_stopped or bool(self.error)
        return not is_early and (self.is_complete or self.finish_reason is not None)

    @property
    def reason(self) -> str:
        """Why the text ends."""
        if isinstance(self.finish_reason, str):
            return self.finish_reason
        return "stop" if self.is_complete and self.finish_reason is None else "unknown"

    def read_answer(self, fields: object) -> None:
        """Read the JSON of a whole answer."""
        self.is_complete = True
        self._read(fields)

    def _read(self, fields: object) -> bool:
        """Return whether the JSON of an answer or an event has a part of the text."""
        try:
            response = msgspec.convert(fields, _Response)
        except ValueError:
            return False
        if isinstance(response.usage, dict):
            self.usage = response.usage
        if self.finish_reason is None:  # a text that has ended is whole
            self.error = self.error or response.error
        choice = next(iter(response.choices or ()), None)
        if choice is None:
            return False
        self.finish_reason = choice.finish_reason or self.finish_reason
        message = choice.message or choice.delta
        if message is None:
            return False
        self.has_message = True
        text, thought = message.texts()
        self._add(text)
        return bool(text or thought)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def read_event(self, data: bytes) -> StreamEvent:
        """Read the data of a server-sent event."""
        self.was_streamed = True
        if data == b"[DONE]":
            self.is_complete = True
            return StreamEvent.END
        is_token = self._read(decode(data))
        if self._is_watched_enough() or self.error:
            return StreamEvent.END
        return StreamEvent.TOKEN if is_token else StreamEvent.OTHER

    def read_text(self, text: str) -> StreamEvent:
        """Read a part of a text that is not in events."""
        self._add(text)
        return StreamEvent.END if self._is_watched_enough() else StreamEvent.TOKEN

    def _is_watched_enough(self) -> bool:
        """Tell whether the text has to end, for the reason that `watch` says."""
        if self._watch is None or self._length < self._next_watch:
            return False
        # In growing steps, so that all looks together take linear time.
        self._next_watch = self._length + max(_WATCH_INTERVAL, self._length // 20)
        if reason := self._watch(self.text):
            self.finish_reason, self.was_stopped = reason, True
        return self.was_stopped


class KeptAnswers:
    """An Ask that answers from `attempt` what an interrupted run has asked before.

    Answers are saved before the next call, so that a text of one call costs no writing.
    """

    def __init__(self, ask: Ask, attempt: Attempt, model: str) -> None:
        self.usage = Usage()
        self._model = model
        self._ask = ask
        self._attempt = attempt
        self.parts: dict[str, Completion] | None = None
        """The answers so far, by the conversations; None before the first call."""

        self._is_saved = True
        self._times: Counter[str] = Counter()

    async def __call__(self, call: ModelCall) -> Completion:
        """Return the answer to a conversation."""
        if self.parts is None:
            self.parts = {}
            with suppress(ValueError):  # of another version
                kept = await self._attempt.load()
                self.parts = msgspec.json.decode(kept or b"{}", type=dict[str, Completion])
        digest = sha256(msgspec.json.encode([self._model, call.messages]))
        self._times[digest] += 1  # a further attempt is not answered with the first one
        key = f"{digest}-{self._times[digest]}"
        completion = self.parts.get(key)
        if completion is None:
            if not self._is_saved:
                await self._attempt.save(msgspec.json.encode(self.parts))
                self._is_saved = True
            completion = await self._ask(call)
            if completion.error is None:
                self.parts[key] = completion
                self._is_saved = False
        self.usage += completion.usage
        return completion

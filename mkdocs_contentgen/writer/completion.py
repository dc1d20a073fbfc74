"""Read the answers of OpenAI's chat completions API, and keep those of an unfinished text.

The API is copied by hundreds of servers, and each departs from it: a message in a stream is the
next part or all of the text so far, an error has any of a dozen names and comes with status 200,
and what says that the server is still there looks like an event. So nothing is required. What is
known to be a text is added, what is known to be an error is kept, and everything else counts as a
sign of life. A text that has ended stays whole, whatever follows it.
"""

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
from ..service.connection import StreamEvent, decode_json, words_of
from ..service.event_stream import BOM, Event
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

_MIN_REPEATED = 200
"""The minimum length of a text that one event of a stream can repeat."""

_ERROR_NAME = re.compile(r"error|exception|fail|abort", re.IGNORECASE)
"""The names of events that are errors."""

_ERROR_FIELDS = (
    *("error", "errors", "err", "error_code", "error_message", "error_msg", "detail"),
    *("errorCode", "errorMessage"),
)
"""The fields of answers and events that are errors, whatever else these have."""

_NO_ERRORS = ("", "ok", "success", "none", "null")
"""What servers write into the fields of errors where there is none, in lower case."""

_NO_REASONS = ("null", "none", "None")
"""What servers write as the reason why a text ends while it goes on."""

_SIGN_OF_LIFE = re.compile(r"\W*(ping|pong|keep-?alive|heartbeat|null|\d*)\W*", re.IGNORECASE)
"""Events without JSON that only say that the server is still there."""


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

    server_words: str = ""
    """What the server said of an answer that ended early. Safe to show."""

    @property
    def quote(self) -> str:
        """The words of the server, to end a message with; or empty."""
        return f"; the server said: {self.server_words}" if self.server_words else ""

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
        text = _SURROGATE.sub(r"\\ufffd", data.removeprefix(BOM).decode("utf-8", "replace"))
        with suppress(ValueError, RecursionError):
            value = json.loads(text, parse_constant=lambda name: None)
    return value


class _AnswerMessage(msgspec.Struct):
    content: object = None
    reasoning: object = None
    reasoning_content: object = None
    refusal: object = None

    def texts(self) -> tuple[str, bool]:
        """Return the text, and whether there is thinking text apart from it."""
        thought = bool(self.reasoning or self.reasoning_content)
        if isinstance(self.content, str):
            return self.content, thought
        text = self._join_parts("text")
        has_other_parts = isinstance(self.content, list) and bool(self.content) and not text
        return text, thought or has_other_parts

    def refused(self) -> str:
        """Return what the model says in place of a text, or an empty string."""
        refusal = self.refusal if isinstance(self.refusal, str) else ""
        return refusal + self._join_parts("refusal")

    def _join_parts(self, name: str) -> str:
        """Return what has this name in the parts that some servers send in place of a text."""
        if not isinstance(self.content, list):
            return ""
        found = [part.get(name) for part in self.content if isinstance(part, dict)]
        return "".join(words for words in found if isinstance(words, str))


class _Choice(msgspec.Struct):
    index: object = 0
    message: _AnswerMessage | None = None
    delta: _AnswerMessage | None = None
    finish_reason: object = None


class _Response(msgspec.Struct):
    """The fields of an answer or an event that are used. Others are ignored."""

    choices: list[_Choice] | None = None
    usage: object = None


def find_error(fields: dict[str, object]) -> object:
    """Return the part of an answer or an event that is an error, or None."""
    if any(_is_error(fields.get(name)) for name in _ERROR_FIELDS):
        return fields
    if "error" in (fields.get("object"), fields.get("type")):
        return fields
    base = fields.get("base_resp")  # of MiniMax, in each answer
    if isinstance(base, dict) and base.get("status_code"):
        return base
    choices = fields.get("choices")
    if choices:
        return _find_choice_error(choices)
    for name in ("message", "msg"):
        words = fields.get(name)
        if isinstance(words, str) and words:
            return fields
    return None


def _is_error(value: object) -> bool:
    """Tell whether a field of errors has one.

    Some servers send the field with each event, as an object without a message and with code 0.
    """
    if isinstance(value, dict):
        return any(map(_is_error, value.values()))
    if isinstance(value, str):
        return value.strip().lower() not in _NO_ERRORS
    return bool(value)


def _find_choice_error(choices: object) -> object:
    """Return the first error in the choices of an answer, or None."""
    if not isinstance(choices, list):
        return None
    for choice in choices:
        if not isinstance(choice, dict):
            continue
        if _is_error(choice.get("error")):
            return choice["error"]
        if choice.get("finish_reason") == "error":
            return {"error": "finish_reason is 'error'"}
    return None


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
        self.is_broken = False
        """Whether something arrived that is no event, and that nobody can quote."""

        self._parts: list[str] = []
        self._refusal_parts: list[str] = []
        self._has_deltas = False
        self._has_choice = False
        self._index: object = None
        self._changeable = ""
        self._watch = watch
        self._length = 0
        self._next_watch = _WATCH_INTERVAL

    @property
    def text(self) -> str:
        """The text so far, or else why the model refuses to write one."""
        return ("".join(self._parts) + self._changeable) or self.refusal

    @property
    def refusal(self) -> str:
        """What the model says in place of a text."""
        return "".join(self._refusal_parts)

    @property
    def has_ended(self) -> bool:
        """Whether all of the answer has arrived, as far as the server says."""
        is_early = self.was_stopped or bool(self.error)
        return not is_early and (self.is_complete or self.finish_reason is not None)

    @property
    def reason(self) -> str:
        """Why the text ends."""
        if self.refusal:
            return "refusal"
        if isinstance(self.finish_reason, str):
            return self.finish_reason
        return "stop" if self.is_complete and self.finish_reason is None else "unknown"

    def read_event(self, event: Event) -> StreamEvent:
        """Read an event of a stream, or the JSON of a whole answer."""
        if event.is_done:
            self.is_complete = True
            return StreamEvent.END
        value = decode(event.data)
        if isinstance(value, list):  # as Google's API sends errors
            value = value[0] if value else {}
        if _ERROR_NAME.search(event.name):
            self._add_error(value or words_of(event.data) or event.name)
            return StreamEvent.END
        if not isinstance(value, dict):
            self._read_other(event, value)
            return StreamEvent.OTHER
        if not event.is_stray:
            self.was_streamed = True
        error = find_error(value)
        self._add_error(error)
        is_token = self._read(value)
        if self._is_watched_enough() or error:
            return StreamEvent.END
        return StreamEvent.TOKEN if is_token else StreamEvent.OTHER

    def _read_other(self, event: Event, value: object) -> None:
        """Read an event without JSON, or lines that are no event: an error, or a part of one."""
        text = value if isinstance(value, str) else event.data.decode("utf-8", "replace")
        is_named = event.name not in ("", "message")  # such as `ping`
        if is_named or _SIGN_OF_LIFE.fullmatch(text.strip()):
            return
        # Of a page in place of an answer, no part is quoted.
        is_page = self.is_broken and not self.has_message
        words = "" if is_page else words_of(event.data)
        if words:
            self._add_error(words)
        elif self.finish_reason is None:
            self.is_broken = True

    def _add_error(self, error: object) -> None:
        if self.finish_reason is None:  # a text that has ended is whole
            self.error = self.error or error

    def _read(self, fields: dict[str, object]) -> bool:
        """Return whether the JSON of an answer or an event has a part of the text."""
        try:
            response = msgspec.convert(fields, _Response)
        except ValueError:
            return False
        if isinstance(response.usage, dict):
            self.usage = response.usage
        choice = self._choice_of_text(response.choices or [])
        return self._read_choice(choice) if choice else False

    def _choice_of_text(self, choices: Sequence[_Choice]) -> _Choice | None:
        """Return the choice that has the text, or a part of it, or None.

        With `n` in `parameters`, a server writes several texts at once. The first one counts.
        """
        if choices and not self._has_choice:
            self._has_choice = True
            self._index = choices[0].index
        return next((choice for choice in choices if choice.index == self._index), None)

    def _read_choice(self, choice: _Choice) -> bool:
        """Return whether a choice has a part of the text, or of thinking text."""
        if choice.finish_reason and choice.finish_reason not in _NO_REASONS:
            self.finish_reason = choice.finish_reason
        if choice.message:
            self.has_message = True
            if not self.was_streamed:
                self.is_complete = True
            return self._read_message(choice.message)
        if choice.delta:
            self.has_message = True
            return self._read_delta(choice.delta)
        return False

    def _read_message(self, message: _AnswerMessage) -> bool:
        """Read a message, which can be the whole text or a part of it."""
        text, thought = message.texts()
        refusal = message.refused()
        if refusal:
            self._refusal_parts = [refusal]
        if self._length:
            self._add_whole(text)
        elif not self._repeats(text):
            self._add(text)
        return bool(text or thought)

    def _read_delta(self, delta: _AnswerMessage) -> bool:
        """Read a part of the text."""
        text, thought = delta.texts()
        refusal = delta.refused()
        if refusal:
            self._refusal_parts.append(refusal)
        if not self._repeats(text):
            self._add(text)
            self._has_deltas = self._has_deltas or bool(text)
        return bool(text or thought)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _add_whole(self, text: str) -> None:
        """Add a message in a stream: all of the text once more, or a part of it."""
        if self._has_deltas and len(text) <= self._length:
            return
        # Some servers send each part as a message, and others all of the text so far.
        if self._has_deltas or text.startswith(self.text):
            self._parts = []
            self._length = 0
        self._add(text)

    def _repeats(self, text: str) -> bool:
        """Tell whether a part is all of the text once more."""
        return len(text) >= _MIN_REPEATED and text.strip() == self.text.strip()

    def read_text(self, text: str, changeable: str = "") -> StreamEvent:
        """Read a part of a text that is not in events. `changeable` follows it for now."""
        self._add(text)
        self._changeable = changeable
        return StreamEvent.END if self._is_watched_enough() else StreamEvent.TOKEN

    def _is_watched_enough(self) -> bool:
        """Tell whether the text has to end, for the reason that `watch` says."""
        length = self._length + len(self._changeable)
        if self._watch is None or length < self._next_watch:
            return False
        # In growing steps, so that all looks together take linear time.
        self._next_watch = length + max(_WATCH_INTERVAL, length // 20)
        reason = self._watch(self.text)
        if reason:
            self.finish_reason = reason
            self.was_stopped = True
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
        self._answers: dict[str, Completion] = {}
        """The answers so far, by the digest of the conversation and the number of its call."""

        self._is_loaded = False
        self._is_saved = True
        self._times_asked: Counter[str] = Counter()

    @property
    def has_answers(self) -> bool:
        """Whether a call was answered in this run or, as far as is loaded, before."""
        return bool(self._answers)

    async def __call__(self, call: ModelCall) -> Completion:
        """Return the answer to a conversation."""
        if not self._is_loaded:
            self._answers = await self._load()
            self._is_loaded = True
        digest = sha256(msgspec.json.encode([self._model, call.messages]))
        # A second call with the same conversation is not answered with the first answer.
        self._times_asked[digest] += 1
        key = f"{digest}-{self._times_asked[digest]}"
        completion = self._answers.get(key)
        if completion is None:
            completion = await self._ask_model(key, call)
        self.usage += completion.usage
        return completion

    async def _load(self) -> dict[str, Completion]:
        saved = await self._attempt.load()
        if not saved:
            return {}
        try:
            return msgspec.json.decode(saved, type=dict[str, Completion])
        except ValueError:  # of another version
            return {}

    async def _ask_model(self, key: str, call: ModelCall) -> Completion:
        if not self._is_saved:
            await self._attempt.save(msgspec.json.encode(self._answers))
            self._is_saved = True
        completion = await self._ask(call)
        if completion.error is None:
            self._answers[key] = completion
            self._is_saved = False
        return completion

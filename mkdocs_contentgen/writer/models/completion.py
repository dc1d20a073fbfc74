"""Read the answers of OpenAI's chat completions API.

The API is copied by hundreds of servers, and each departs from it: a message in a stream is the
next part or all of the text so far, an error comes with status 200, and what says that the server
is still there looks like an event. So nothing is required. What is known to be a text is added,
what is known to be an error is kept, and everything else counts as a sign of life. A text that has
ended stays whole, whatever follows it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

import msgspec

from ...errors import ServiceError
from ...service.error_words import words_of_error
from ...service.event_stream import ServerSentEvent, StreamEvent
from .answer_json import AnswerMessage, Choice, Response, decode, find_error
from .usage import Usage

_ENDED_BY_MODEL = frozenset(
    {"stop", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "completed", "done"}
)
"""The finish reasons of a text that is whole, in lower case."""

_ENDED_BY_WRITER = frozenset({"loop", "too long"})
"""The finish reasons of a text that the writer stopped."""

Watch = Callable[[str], str]
"""Gets the text so far, and returns why the model has to stop: `loop`, `too long` or nothing."""

_WATCH_INTERVAL = 300
"""The least number of characters between two looks at a text that is being written."""

_MIN_REPEATED = 200
"""The minimum length of a text that one event of a stream can repeat."""

_ERROR_NAME = re.compile(r"error|exception|fail|abort", re.IGNORECASE)
"""The names of events that are errors."""

_NO_REASONS = ("null", "none", "None")
"""What servers give as the finish reason in each event while the text goes on."""

_SIGN_OF_LIFE = re.compile(r"\W*(ping|pong|keep-?alive|heartbeat|null|\d*)\W*", re.IGNORECASE)
"""Events without JSON that only say that the server is still there."""

_UNKNOWN = object()
"""The index of a choice before the first one has arrived. Servers give it any value."""


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
    def has_system_message(self) -> bool:
        """Whether a message is one of the role `system`."""
        return any(message["role"] == "system" for message in self.messages)

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
    def is_cut(self) -> bool:
        """Whether the answer ended before the model was done, and the writer did not stop it."""
        reason = self.finish_reason.lower()
        return reason not in _ENDED_BY_MODEL and reason not in _ENDED_BY_WRITER


Ask = Callable[[ModelCall], Awaitable[Completion]]
"""Asks the model, as Model.ask() does."""


async def ask_nobody(call: ModelCall) -> Completion:
    """Ask nothing: an Ask where an answer is only read, or where a person passes prompts on."""
    raise NotImplementedError


class AnswerText:
    """The text of an answer, which arrives in parts."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._parts_length = 0
        self._changeable = ""
        self._has_deltas = False
        """Whether a delta with text has arrived. A message after it has the whole text."""

        self._refusal_parts: list[str] = []

    @property
    def so_far(self) -> str:
        """The text so far, or else why the model refuses to write one."""
        return ("".join(self._parts) + self._changeable) or self.refusal

    @property
    def length(self) -> int:
        """The length of the text so far, without putting it together."""
        return self._parts_length + len(self._changeable)

    @property
    def refusal(self) -> str:
        """What the model says in place of a text."""
        return "".join(self._refusal_parts)

    def add(self, text: str) -> None:
        """Add the next part."""
        self._parts.append(text)
        self._parts_length += len(text)

    def set_changeable(self, text: str) -> None:
        """Set what follows the parts for now. A program can still overwrite it on its terminal."""
        self._changeable = text

    def add_delta(self, delta: AnswerMessage) -> bool:
        """Add the next part of the text, and tell whether the model wrote or thought anything."""
        text = delta.text
        if delta.refusal_words:
            self._refusal_parts.append(delta.refusal_words)
        # Some servers end a stream with all of the text in one more delta: "A ", "b.", "A b."
        if not self._repeats(text):
            self.add(text)
            self._has_deltas = self._has_deltas or bool(text)
        return bool(text) or delta.has_thoughts

    def add_message(self, message: AnswerMessage) -> bool:
        """Add a message, and tell whether the model wrote or thought anything.

        A message that is not streamed is the whole text. In a stream, each can be the next part of
        the text, or all of it so far.
        """
        text = message.text
        if message.refusal_words:
            self._refusal_parts = [message.refusal_words]
        if self._parts_length:
            self._add_later_message(text)
        elif not self._repeats(text):
            self.add(text)
        return bool(text) or message.has_thoughts

    def _add_later_message(self, text: str) -> None:
        """Add the text of a message before which a part of the text has arrived."""
        if self._has_deltas:
            # Deltas, and then a message: "A ", "b.", "A b." If it is longer, a delta was lost.
            if len(text) > self._parts_length:
                self._replace(text)
        elif text.startswith(self.so_far):
            # Messages with all of the text so far: "A ", "A b."
            self._replace(text)
        else:
            # Messages with the next part each: "A ", "b."
            self.add(text)

    def _replace(self, text: str) -> None:
        self._parts = []
        self._parts_length = 0
        self.add(text)

    def _repeats(self, text: str) -> bool:
        """Tell whether a part is all of the text once more."""
        return len(text) >= _MIN_REPEATED and text.strip() == self.so_far.strip()


class _Watcher:
    """Looks at a text while it is written, if there is a Watch.

    It does so in growing steps, so that all looks together take linear time.
    """

    def __init__(self, watch: Watch | None) -> None:
        self.reason = ""
        """Why the model has to stop, or an empty string."""

        self._watch = watch
        self._next_length = _WATCH_INTERVAL

    def look(self, text: AnswerText) -> None:
        """Set the reason, if the text has grown enough since the last look."""
        length = text.length
        if self._watch is None or length < self._next_length:
            return
        self._next_length = length + max(_WATCH_INTERVAL, length // 20)
        self.reason = self._watch(text.so_far)


class AnswerReader:
    """Reads an answer, whole or event by event. `watch` can end a stream.

    The attributes say what was read so far. What says that the answer is over:

    | who says so                                      | attribute                        |
    |--------------------------------------------------|----------------------------------|
    | the server: the text ends, for this reason       | `finish_reason`                  |
    | the server: nothing follows, as after `[DONE]`   | `is_complete`                    |
    | the server: an error                             | `error`                          |
    | `watch`                                          | `was_stopped`, `finish_reason`   |

    `has_ended` and `reason` put them together.
    """

    def __init__(self, watch: Watch | None = None) -> None:
        self.finish_reason: object = None
        """Why the text ends, as the server or `watch` says."""

        self.is_complete = False
        """Whether the server says that nothing follows, or has sent a whole answer."""

        self.error: object = None
        """What the server says of an error, in whatever form, or None."""

        self.usage: dict[str, object] | None = None
        self.has_message = False
        """Whether a message, or a part of one, has arrived."""

        self.was_streamed = False
        """Whether an event with JSON has arrived, and not one JSON document as the whole body."""

        self.is_broken = False
        """Whether something arrived that is not an event, and that nobody can quote."""

        self._answer = AnswerText()
        self._watcher = _Watcher(watch)
        self._index: object = _UNKNOWN
        """The index of the choice with the text."""

    @property
    def text(self) -> str:
        """The text so far, or else why the model refuses to write one."""
        return self._answer.so_far

    @property
    def was_stopped(self) -> bool:
        """Whether `watch` has ended the text."""
        return bool(self._watcher.reason)

    @property
    def has_ended(self) -> bool:
        """Whether all of the answer has arrived, as far as the server says."""
        is_early = self.was_stopped or bool(self.error)
        return not is_early and (self.is_complete or self.finish_reason is not None)

    @property
    def reason(self) -> str:
        """Why the text ends."""
        if self._answer.refusal:
            return "refusal"
        if isinstance(self.finish_reason, str):
            return self.finish_reason
        if self.finish_reason is None and self.is_complete:
            return "stop"
        return "unknown"

    def read_text(self, text: str, changeable: str = "") -> StreamEvent:
        """Read a part of a text that is not in events. `changeable` follows it for now."""
        self._answer.add(text)
        self._answer.set_changeable(changeable)
        return StreamEvent.END if self._let_watch_look() else StreamEvent.TOKEN

    def read_event(self, event: ServerSentEvent) -> StreamEvent:
        """Read an event of a stream, or the JSON of a whole answer."""
        if event.is_done:
            self.is_complete = True
            return StreamEvent.END
        value = decode(event.data)
        if isinstance(value, list):  # as Google's API sends errors
            value = next(iter(value), {})
        if _ERROR_NAME.search(event.name):
            self._add_error(value or words_of_error(event.data) or event.name)
            return StreamEvent.END
        if not isinstance(value, dict):
            self._read_other(event, value)
            return StreamEvent.OTHER
        if not event.is_stray:
            self.was_streamed = True
        error = find_error(value)
        self._add_error(error)
        is_token = self._read_fields(value)
        if self._let_watch_look() or error:
            return StreamEvent.END
        return StreamEvent.TOKEN if is_token else StreamEvent.OTHER

    def _let_watch_look(self) -> bool:
        """Let `watch` look at the text, and return whether it ends the text, with its reason."""
        self._watcher.look(self._answer)
        if self.was_stopped:
            self.finish_reason = self._watcher.reason
        return self.was_stopped

    def _read_other(self, event: ServerSentEvent, value: object) -> None:
        """Read an event without JSON, or lines that are no event: an error, or a part of one."""
        if isinstance(value, str):
            text = value
        else:
            text = event.data.decode("utf-8", "replace")
        is_named = event.name not in ("", "message")  # such as `ping`
        if is_named or _SIGN_OF_LIFE.fullmatch(text.strip()):
            return
        # If the first lines are neither a message nor words to quote, they begin a page in place of
        # an answer, such as the HTML of a proxy. No part of that is quoted.
        is_page = self.is_broken and not self.has_message
        words = "" if is_page else words_of_error(event.data)
        if words:
            self._add_error(words)
        elif self.finish_reason is None:
            self.is_broken = True

    def _add_error(self, error: object) -> None:
        if self.finish_reason is None:  # a text that has ended is whole
            self.error = self.error or error

    def _read_fields(self, fields: dict[str, object]) -> bool:
        """Read the JSON of an answer or an event, and tell whether it has a part of the text."""
        try:
            response = msgspec.convert(fields, Response)
        except ValueError:
            return False
        if isinstance(response.usage, dict):
            self.usage = response.usage
        choice = self._choice_of_text(response.choices or [])
        return self._read_choice(choice) if choice else False

    def _choice_of_text(self, choices: Sequence[Choice]) -> Choice | None:
        """Return the choice that has the text, or a part of it, or None.

        With `n` in `parameters`, a server writes several texts at once. The first one counts.
        """
        if choices and self._index is _UNKNOWN:
            self._index = choices[0].index
        return next((choice for choice in choices if choice.index == self._index), None)

    def _read_choice(self, choice: Choice) -> bool:
        """Read a choice, and tell whether it has a part of the text, or of thinking text."""
        if choice.finish_reason and choice.finish_reason not in _NO_REASONS:
            self.finish_reason = choice.finish_reason
        if choice.message:
            self.has_message = True
            if not self.was_streamed:
                self.is_complete = True
            return self._answer.add_message(choice.message)
        if choice.delta:
            self.has_message = True
            return self._answer.add_delta(choice.delta)
        return False

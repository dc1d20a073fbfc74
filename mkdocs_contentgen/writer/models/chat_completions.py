"""Send a call to a model's server, through OpenAI's chat completions API.

Ollama, llama.cpp, vLLM, LM Studio and most providers have this API. Each takes other fields, and no
server says which. So a call first has all fields; where the server refuses one by name, the call is
sent again without it, and the later ones begin without it. A refused call costs nothing.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...display import quoted
from ...errors import (
    ConfigurationError,
    InvalidAnswerError,
    LoadingModelError,
    ServiceError,
    UnknownOutcomeError,
    UnusableServiceError,
)
from ...reporting import Reporter
from ...service.addresses import check_address, check_token
from ...service.error_words import error_message
from ...service.exchange import MAY_BE_PAID_HINT, Answer, HTTPConnection
from .completion import AnswerReader, Completion, Message, ModelCall
from .known_servers import ServerCures, base_address
from .settings import OLLAMA, WriterOptions
from .transport import RefusedSystemError, Transport
from .usage import Spending, Usage, estimate_usage, read_usage

_MAX_CHARACTERS_PER_TOKEN = 10
"""With more characters for each token of a prompt, the server probably cut the prompt."""

PENALTY = 0.5
"""The `frequency_penalty` of a second attempt, after a text that repeats itself."""

_MIN_KEY = 16
"""The minimum length of a key to search for in texts. A shorter one can be a word: `ollama`."""

_REFUSES_SYSTEM = re.compile(
    r"system[\W_]{0,3}(role|message|prompt|instruction)|\broles?\b.{0,60}\bsystem\b"
    r"|system\W{1,3}(is not|isn't)\b|\bsupports? \W?system\b|\bvalue\W{1,3}system\b"
    r"|developer instruction|roles must alternate|only [\w ,]{1,40} roles",
    re.IGNORECASE | re.DOTALL,
)
"""How servers say that a model, or its chat template, takes no system message."""

_IS_LOADING = re.compile(r"loading (?:the )?model|model is (?:still )?loading", re.IGNORECASE)
"""What llama.cpp says, with status 503, until it has read the model."""

_NO_CREDIT = re.compile(
    r"insufficient[_ ](quota|balance|credits?|funds)|exceeded_current_quota_error"
    r"|billing_(hard_limit_reached|not_active)|credit balance is too low"
    r"|(used all available|run out of|out of|no|not enough) credits|余额不足|欠费",
    re.IGNORECASE,
)
"""How providers say with status 429 that an account has no credit. None says it of a rate limit."""

_STREAM_FIELDS = re.compile(rb"\bstream(_options)?\b")
"""The fields that ask for a stream, where an answer names one that it refuses."""

_PENALTY_FIELD = re.compile(rb"penalty", re.IGNORECASE)
"""The field `frequency_penalty`, or its name in a provider's own API, in an answer that refuses it.
Models that reason first often do."""

_LIMIT_FIELD = "max_tokens"
_NEWER_LIMIT_FIELD = "max_completion_tokens"
"""The fields with the limit of tokens. Each is refused by some servers."""

_NAMES_LIMIT = re.compile(
    r"\bmax\w*tokens?\b|\bcontext (length|window)\b|\b(completion|output) tokens\b", re.IGNORECASE
)
_NAMES_SIZE = re.compile(
    r"too (large|high|big|long|many)|at most|maximum|less than|exceed|range|limited|above|<=|≤|>",
    re.IGNORECASE,
)
"""How servers say that a model writes fewer tokens than the limit, or has no room for so many."""

_MIN_TOKENS = 100
"""The least number of tokens that is worth asking for."""


@dataclass
class _Support:
    """What a server supports, as far as its answers have told."""

    streams: bool = True
    system_messages: bool = True
    penalty: bool = True
    limit_field: str = _LIMIT_FIELD


class ChatCompletions(Transport):
    """The transport to a model on a server.

    No message contains the key. Raises ConfigurationError for invalid options.
    """

    def __init__(self, options: WriterOptions, *, reporter: Reporter, quotes: bool = True) -> None:
        super().__init__(options, reporter=reporter, quotes=quotes)
        address = check_address(
            self._fields.endpoint,
            f"{self._prefix}endpoint",
            f"one such as https://models.example/v1, or {OLLAMA} for Ollama",
            allow_http=options.allow_http,
        )
        self._key = check_token(self._fields.api_key, f"{self._prefix}api_key")
        _refuse_operation(self._fields.endpoint, f"{self._prefix}endpoint")
        self._cures = ServerCures(
            address,
            f"{self._prefix}endpoint",
            f"{self._prefix}model",
            self._fields.model,
            f"{self._prefix}api_key",
            has_key=bool(self._key),
        )
        self.label = f"the model server {address.netloc.decode()}"
        self._connection = HTTPConnection(
            address,
            self.label,
            self._key,
            unreachable_hint=self._cures.unreachable,
            timeout_option=f"{self._prefix}call_timeout",
            unknown_hint=MAY_BE_PAID_HINT if quotes else "it may have been paid for",
        )
        self._quote = self._connection.quote
        self._support = _Support()
        self._max_tokens = sys.maxsize
        """The highest limit that is known to be taken, after a higher one was refused."""

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def call(self, call: ModelCall, spending: Spending) -> Completion:
        """Return the answer to one call that is sent once."""
        started = time.monotonic()
        # Before it is sent: another call may learn meanwhile that the model takes no such message.
        sends_system = self._support.system_messages and call.has_system_message
        reader = AnswerReader(call.watch)
        error = await self._send(call, reader)
        # Before the answer is checked, since an unusable one may have cost something too.
        usage = self._count_usage(call, reader, spending, error)
        if error is None:
            error = self._answer_error(reader)
        if sends_system and not reader.text and _refuses_system(error_message(reader.error)):
            self._support.system_messages = False
            raise RefusedSystemError
        # A part of a stream was paid for, and is worth having. One of anything else is not a text.
        has_part_of_text = bool(reader.text) and reader.was_streamed
        if error and not has_part_of_text:
            raise error
        self._refuse_key(reader.text)
        completion = self._completion(reader, usage, error)
        self._reporter.debug(
            f"{quoted(self._fields.model)}: answered after {time.monotonic() - started:.1f} s, "
            f"{usage.tokens:,} tokens, finish_reason {quoted(completion.finish_reason)}"
        )
        self._warn_of_cut_prompt(call, usage)
        return completion

    def _completion(
        self, reader: AnswerReader, usage: Usage, error: ServiceError | None
    ) -> Completion:
        """Return an answer, or the part that has arrived before an error."""
        if error:
            return Completion(reader.text, "lost", usage, error, self._server_words(reader))
        reason = self._quote(reader.reason) or "unknown"
        return Completion(reader.text, reason, usage)

    async def _send(
        self, call: ModelCall, reader: AnswerReader
    ) -> UnknownOutcomeError | InvalidAnswerError | None:
        """Let `reader` read the answer to a call.

        Return the error of an answer that is not whole; `reader` may have read a part of it. Raises
        the ServiceError of a call without any answer.
        """
        try:
            answer = await self._post(call, reader)
        except (UnknownOutcomeError, InvalidAnswerError) as error:
            return error
        # Some servers send an answer with another status of success, such as 201.
        has_answer = answer.status == 200 or reader.was_streamed or reader.has_message
        if answer.is_success and has_answer:
            return None
        status_error = self._status_error(answer, reader)
        if isinstance(status_error, UnknownOutcomeError | InvalidAnswerError):
            return status_error
        raise status_error

    def _refuse_key(self, text: str) -> None:
        """Raise InvalidAnswerError if a text has the key in it."""
        if len(self._key) >= _MIN_KEY and self._key in text:
            raise InvalidAnswerError(f"{self.label} repeats {self._prefix}api_key in its text")

    def _warn_of_cut_prompt(self, call: ModelCall, usage: Usage) -> None:
        """Warn once if the server read so few tokens that it cannot have read the whole prompt."""
        expected = call.characters / _MAX_CHARACTERS_PER_TOKEN
        is_cut = 0 < usage.input_tokens < expected
        if self.warnings or not is_cut:
            return
        self.warnings.append(
            f"{self.label} read {usage.input_tokens:,} tokens of a prompt with "
            f"{call.characters:,} characters, so it probably cut the prompt; give the model a "
            "larger context (Ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: --ctx-size)"
        )

    def _count_usage(
        self, call: ModelCall, reader: AnswerReader, spending: Spending, error: ServiceError | None
    ) -> Usage:
        """Return the usage of a call, and add it to `spending` if the model may have worked."""
        usage = self._usage(call, reader, spending, error)
        may_be_paid = isinstance(error, UnknownOutcomeError)
        if may_be_paid or reader.usage is not None or reader.has_message:
            spending.total += usage
        return usage

    def _usage(
        self, call: ModelCall, reader: AnswerReader, spending: Spending, error: ServiceError | None
    ) -> Usage:
        """Return the reported usage, or an estimate if it gives no cost or the answer is lost."""
        price = self._fields.price
        usage = read_usage(reader.usage, price)
        if usage.cost is not None:
            return usage
        ended_early = error is not None or not reader.has_ended
        is_lost = reader.usage is None and ended_early
        if price is None and not is_lost:
            return usage  # what it costs is not known
        return estimate_usage(call.characters, len(reader.text), price, spending.total)

    async def _post(self, call: ModelCall, reader: AnswerReader) -> Answer:
        """Send a call with the fields that the server supports, and remember which these are."""
        max_tokens = min(call.max_tokens, self._max_tokens)
        while True:
            sent = replace(self._support)  # another call can change it in the meantime
            answer = await self._connection.request(
                "POST",
                "chat/completions",
                body=self._body(call, sent, max_tokens),
                timeout=self._fields.first_token_timeout,
                on_event=reader.read_event,
                token_timeout=self._fields.call_timeout,
            )
            if self._learn(answer, call, sent):
                continue
            if self._has_own_limit and max_tokens >= 2 * _MIN_TOKENS and _refuses_limit(answer):
                max_tokens //= 2
                continue
            if answer.is_success and max_tokens < call.max_tokens:
                self._max_tokens = max_tokens
            return answer

    @property
    def _has_own_limit(self) -> bool:
        """Whether the limit of tokens is the writer's, and not one of the site's `parameters`."""
        return self._fields.parameters.keys().isdisjoint((_LIMIT_FIELD, _NEWER_LIMIT_FIELD))

    def _learn(self, answer: Answer, call: ModelCall, sent: _Support) -> bool:
        """Tell whether an answer refuses something that the call can do without, and remember it.

        `sent` is what was thought to be supported when the call was sent.
        """
        refused = answer.body if answer.status in (400, 422) else b""
        may_refuse_system = answer.status in (400, 422, 500, 501)
        if sent.system_messages and may_refuse_system and _refuses_system(answer.reason()):
            self._support.system_messages = False
        elif sent.streams and _STREAM_FIELDS.search(refused):
            self._support.streams = False
        elif sent.penalty and call.penalty and _PENALTY_FIELD.search(refused):
            self._support.penalty = False
        elif sent.limit_field == _LIMIT_FIELD and _NEWER_LIMIT_FIELD.encode() in refused:
            self._support.limit_field = _NEWER_LIMIT_FIELD
        else:
            return False
        return True

    def _body(self, call: ModelCall, support: _Support, max_tokens: int) -> dict[str, object]:
        parameters = self._fields.parameters
        messages = call.messages
        if not support.system_messages:
            messages = fold_system(call.messages)
        body: dict[str, object] = {"model": self._fields.model, "messages": list(messages)}
        if call.penalty and support.penalty:
            body["frequency_penalty"] = PENALTY
        if self._has_own_limit:
            body[support.limit_field] = max_tokens
        if support.streams:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        return {**body, **parameters}

    def _status_error(self, answer: Answer, reader: AnswerReader) -> ServiceError:
        """Return the error for the status of an answer without a message."""
        message = f"{self.label} answered {answer.status_text}"
        words = self._quote(answer.reason()) if self._quotes else ""
        words = words or self._server_words(reader)
        if words:
            message += f": {words}"
        if answer.status == 429 and _NO_CREDIT.search(answer.body.decode("utf-8", "replace")):
            # Waiting does not help, so that no call is tried again.
            hint = "add credit to the account of the model server"
            return UnusableServiceError(f"{message}; {hint}")
        if answer.status == 503 and _IS_LOADING.search(answer.body.decode("utf-8", "replace")):
            return LoadingModelError(message, answer.retry_after().seconds)
        cure = self._cures.of_status(answer)
        if self._cures.lacks_model(answer):  # as all other calls would be told
            return UnusableServiceError(f"{message}; {cure}")
        return self._connection.status_error(answer, message, cure)

    def _answer_error(self, reader: AnswerReader) -> InvalidAnswerError | None:
        """Return the error for an answer that is none of this API, or that ends with an error."""
        if reader.error:
            reason = self._server_words(reader) or "without a message"
            return InvalidAnswerError(f"{self.label} reports an error with status 200: {reason}")
        if not reader.has_message:
            return InvalidAnswerError(
                f"{self.label} answered without a message in `choices`; "
                f"{self._cures.wrong_address('chat/completions')}"
            )
        if reader.is_broken:
            return InvalidAnswerError(f"{self.label} sent in its stream what is not an event")
        return None

    def _server_words(self, reader: AnswerReader) -> str:
        """Return what the server says of an error, to show it in messages and remarks."""
        return self._quote(error_message(reader.error)) if self._quotes else ""


def _refuse_operation(endpoint: str, option: str) -> None:
    """Raise ConfigurationError for the address of an operation in place of that of the API."""
    base = base_address(endpoint)
    if base != endpoint.strip():
        operation = endpoint.strip().removeprefix(base)
        raise ConfigurationError(f"{option}: leave {operation} out: write `{base}`")


def fold_system(messages: Sequence[Message]) -> list[Message]:
    """Return a conversation whose system message is the beginning of the first other one."""
    system = []
    others = []
    for message in messages:
        if message["role"] == "system":
            system.append(message["content"])
        else:
            others.append(message)
    if not others:
        return [Message(role="user", content="\n\n".join(system))]
    first, *rest = others
    text = "\n\n".join([*system, first["content"]])
    return [Message(role=first["role"], content=text), *rest]


def _refuses_system(reason: str) -> bool:
    return bool(_REFUSES_SYSTEM.search(reason))


def _refuses_limit(answer: Answer) -> bool:
    """Tell whether a server refuses a call since its limit of tokens is too high."""
    if answer.status not in (400, 413, 416, 422):
        return False
    words = answer.reason() or answer.body.decode("utf-8", "replace")
    return bool(_NAMES_LIMIT.search(words) and _NAMES_SIZE.search(words))

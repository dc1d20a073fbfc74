"""Ask a language model, through OpenAI's chat completions API.

Ollama, llama.cpp, vLLM, LM Studio and most providers have this API.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Callable, Sequence
from typing import Self

from ..concurrency import backoff
from ..display import quoted
from ..errors import (
    BusyModelError,
    InvalidAnswerError,
    NotSentError,
    ServiceError,
    StoppedRunError,
    UnavailableModelError,
    UnknownOutcomeError,
    UnreachableError,
    UnusableServiceError,
)
from ..service.connection import (
    MAY_BE_PAID_HINT,
    Answer,
    HTTPConnection,
    check_address,
    check_token,
    error_message,
)
from .completion import AnswerReader, Completion, Message, ModelCall
from .settings import OLLAMA, OLLAMA_PORT, WriterOptions
from .usage import Spending, Usage, estimate_usage, format_cost, read_usage

FIRST_BACKOFF = 1.0
"""Maximum seconds before the second try if the server does not say how long to wait."""

_RETRIES = 2
"""For a server that cannot be reached, where none are given."""

_PAUSE_INTERVAL = 0.5
"""Seconds between two checks whether the run was stopped during a pause."""

_CHARACTERS_PER_TOKEN = 10
"""With more characters for each token of a prompt, the server probably cut the prompt."""

PENALTY = 0.5
"""The `frequency_penalty` of a second attempt, after a text that repeats itself."""

_MIN_SECRET = 16
"""The minimum length of a key to search for in texts. A shorter one can be a word: `ollama`."""

_REFUSES_SYSTEM = re.compile(
    r"system[\W_]{0,3}(role|message|prompt|instruction)|\broles?\b.{0,60}\bsystem\b"
    r"|system\W{1,3}(is not|isn't)\b|\bsupports? \W?system\b|\bvalue\W{1,3}system\b"
    r"|developer instruction|roles must alternate|only [\w ,]{1,40} roles",
    re.IGNORECASE | re.DOTALL,
)
"""How servers say that a model, or its chat template, takes no system message."""

_NO_CREDIT = re.compile(
    r"insufficient[_ ](quota|balance|credits?|funds)|exceeded_current_quota_error"
    r"|billing_(hard_limit_reached|not_active)|credit balance is too low"
    r"|(used all available|run out of|out of|no|not enough) credits|余额不足|欠费",
    re.IGNORECASE,
)
"""How providers say with status 429 that an account has no credit. None says it of a rate limit."""

_STREAM_FIELDS = re.compile(rb"\bstream(_options)?\b")
_LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")


class _RefusedSystemError(Exception):
    """The model refused a system message in its stream, so the call is sent again without one."""


class Model:
    """A language model on a server. Used with `async with`.

    `spending` gets the usage of each call, and `debug` a line for it. `warnings` are messages about
    all calls. `retries` is the maximum for each call; with None, a server that is busy is asked
    again as long as the first token may take. Without `quotes`, no message quotes the server.
    Raises ConfigurationError for invalid options. No message contains the key.
    """

    def __init__(
        self,
        options: WriterOptions,
        spending: Spending,
        *,
        retries: int | None = 2,
        debug: Callable[[str], None] | None = None,
        quotes: bool = True,
    ) -> None:
        self.name = options.fields.model
        self.warnings: list[str] = []
        self._fields = options.fields
        self._prefix = options.prefix
        # A function, so that no attribute shows them.
        self._secrets: Callable[[], Sequence[str]] = lambda: options.secrets
        self._spending = spending
        self._retries = retries
        self._quotes = quotes
        self._debug = debug or (lambda line: None)
        self._paused_until = 0.0
        self._calls = asyncio.Semaphore(options.fields.calls_at_once)
        self._connect(allow_http=options.allow_http)

    def _connect(self, *, allow_http: bool) -> None:
        address = check_address(
            self._fields.endpoint,
            f"{self._prefix}endpoint",
            f"one such as https://models.example/v1, or {OLLAMA} for Ollama",
            allow_http=allow_http,
        )
        self._key = check_token(self._fields.api_key, f"{self._prefix}api_key")
        self._options_hint = (
            f"check {self._prefix}endpoint, which often ends in /v1, {self._prefix}model and "
            f"{self._prefix}api_key (CONTENTGEN_MODEL_KEY)"
        )
        is_ollama = address.port == OLLAMA_PORT
        start_hint = " Is Ollama running? `ollama serve` starts it" if is_ollama else ""
        self._unknown_hint = MAY_BE_PAID_HINT if self._quotes else "it may have been paid for"
        self._server = f"the model server {address.netloc.decode()}"
        self._connection = HTTPConnection(
            address,
            self._server,
            self._key,
            unreachable_hint=f"is {self._prefix}endpoint right?{start_hint}",
            timeout_option=f"{self._prefix}call_timeout",
            unknown_hint=self._unknown_hint,
        )
        self._quote = self._connection.quote
        self._limit_field = _LIMIT_FIELDS[0]
        self._streams = True
        self._has_system = True
        """Whether the model takes system messages, as far as is known."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._connection.__aexit__(*error)

    async def ask(
        self,
        call: ModelCall,
        spending: Spending | None = None,
        *,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> Completion:
        """Return the model's answer to a conversation, `parallel` of them at once.

        `spending` gets the usage instead of the one of the model. Once `is_stopped` returns True,
        no call begins: StoppedRunError is raised instead.

        After a status such as 429 and 503, or a refused connection, the call is tried again, as
        long as the first token may take. A pause that the server asks for applies to all calls.
        Raises a ServiceError: an UnusableServiceError if all calls would fail, and never a
        NotSentError, since a text can have calls that were sent before.
        """
        spending = spending or self._spending
        started = time.monotonic()
        async with self._calls:
            spending.waited += time.monotonic() - started
            await self._wait_for_pause(is_stopped)
            deadline = time.monotonic() + self._fields.first_token_timeout
            tries = 1
            while True:
                if is_stopped():
                    raise StoppedRunError("the run was stopped before this call began")
                self._check_budget()
                try:
                    return await self._call(call, spending)
                except _RefusedSystemError:
                    continue
                except NotSentError as error:
                    self._back_off(error, tries, deadline)
                await self._wait_for_pause(is_stopped)
                tries += 1

    async def _wait_for_pause(self, is_stopped: Callable[[], bool]) -> None:
        while not is_stopped() and (seconds := self._paused_until - time.monotonic()) > 0:
            await asyncio.sleep(min(seconds, _PAUSE_INTERVAL))

    def _back_off(self, error: NotSentError, tries: int, deadline: float) -> None:
        """Pause all calls, or raise an error if a call that was tried so often is given up."""
        is_unreachable = isinstance(error, UnreachableError)
        retries = _RETRIES if self._retries is None and is_unreachable else self._retries
        seconds = backoff(FIRST_BACKOFF, tries - 1, random.random())  # noqa: S311
        seconds = max(seconds, error.retry_after or 0.0)
        may_repeat = retries is None or tries <= retries
        if may_repeat and time.monotonic() + seconds < deadline:
            detail = f" ({error.detail})" if error.detail else ""
            self._debug(f"{error}{detail}; next try in {seconds:.1f} s")
            self._paused_until = max(self._paused_until, time.monotonic() + seconds)
        elif is_unreachable or seconds > self._fields.first_token_timeout:
            raise UnavailableModelError(
                str(error), error.retry_after, detail=error.detail
            ) from None
        else:
            raise BusyModelError(
                f"{error}; gave up after try {tries}; a lower {self._prefix}parallel may help",
                error.retry_after,
                detail=error.detail,
            ) from None

    def _check_budget(self) -> None:
        """Raise UnusableServiceError if `max_cost` allows no more calls."""
        limit, total = self._fields.max_cost, self._spending.total
        if limit is None:
            return
        option = f"{self._prefix}max_cost"
        if total.cost is None:
            raise UnusableServiceError(
                f"{option} cannot be kept, since {self._server} does not report what a call costs; "
                f"set {self._prefix}price, or leave max_cost out"
            )
        if total.cost >= limit:
            raise UnusableServiceError(
                f"{option} is reached: {format_cost(total.cost)} of {format_cost(limit)} were "
                "spent, so no more calls are made; the finished texts are kept"
            )

    async def _call(self, call: ModelCall, spending: Spending) -> Completion:
        """Return the answer to one call that is sent once."""
        started = time.monotonic()
        had_system = self._has_system and any(
            message["role"] == "system" for message in call.messages
        )
        reader = AnswerReader(call.watch)
        error: UnknownOutcomeError | InvalidAnswerError | None = None
        try:
            answer = await self._post(call, reader)
            # Status 201 has an answer as 200 has.
            has_answer = answer.status == 200 or reader.was_streamed or reader.has_message
            if not (answer.is_success and has_answer):
                raise self._status_error(answer, reader)
        except (UnknownOutcomeError, InvalidAnswerError) as failure:
            error = failure
        usage = self._usage(call, reader, spending, error)
        # Before the answer is checked, since an unusable one may have cost something too.
        if isinstance(error, UnknownOutcomeError) or reader.usage is not None or reader.has_message:
            spending.total += usage
        error = error or self._problem(reader)
        if had_system and not reader.text and _refuses_system(error_message(reader.error)):
            self._has_system = False
            raise _RefusedSystemError
        if error and not (reader.text and reader.was_streamed):
            raise error
        if len(self._key) >= _MIN_SECRET and self._key in reader.text:
            raise InvalidAnswerError(f"{self._server} repeats {self._prefix}api_key in its text")
        reason = "lost" if error else self._quote(reader.reason) or "unknown"
        self._debug(
            f"{quoted(self.name)}: answered after {time.monotonic() - started:.1f} s, "
            f"{usage.tokens:,} tokens, finish_reason {quoted(reason)}"
        )
        if not self.warnings and 0 < usage.input_tokens < call.characters / _CHARACTERS_PER_TOKEN:
            self.warnings.append(
                f"{self._server} read {usage.input_tokens:,} tokens of a prompt with "
                f"{call.characters:,} characters, so it probably cut the prompt; give the model a "
                "larger context (Ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: --ctx-size)"
            )
        words = self._words(reader) if error else ""
        return Completion(reader.text, reason, usage, error, words)

    def _usage(
        self, call: ModelCall, reader: AnswerReader, spending: Spending, error: ServiceError | None
    ) -> Usage:
        """Return the reported usage, or an estimate if it gives no cost or the answer is lost."""
        price = self._fields.price
        usage = read_usage(reader.usage, price)
        is_lost = reader.usage is None and bool(error or not reader.has_ended)
        if usage.cost is not None or not (price or is_lost):
            return usage
        return estimate_usage(call.characters, len(reader.text), price, spending.total)

    async def _post(self, call: ModelCall, reader: AnswerReader) -> Answer:
        """Send a call with the fields that the server supports, and remember which these are."""
        while True:
            # Another call can change the attributes in the meantime.
            streams, limit, has_system = self._streams, self._limit_field, self._has_system
            answer = await self._connection.request(
                "POST",
                "chat/completions",
                body=self._body(call, limit, streams=streams, has_system=has_system),
                timeout=self._fields.first_token_timeout,
                on_event=reader.read_event,
                token_timeout=self._fields.call_timeout,
            )
            refused = answer.body if answer.status in (400, 422) else b""
            if (
                has_system
                and answer.status in (400, 422, 500, 501)
                and _refuses_system(answer.reason())
            ):
                self._has_system = False
            elif streams and _STREAM_FIELDS.search(refused):
                self._streams = False
            elif limit == _LIMIT_FIELDS[0] and _LIMIT_FIELDS[1].encode() in refused:
                self._limit_field = _LIMIT_FIELDS[1]
            else:
                return answer

    def _body(
        self, call: ModelCall, limit: str, *, streams: bool, has_system: bool
    ) -> dict[str, object]:
        parameters = self._fields.parameters
        has_limit = parameters.keys() & set(_LIMIT_FIELDS)
        return {
            "model": self.name,
            "messages": list(call.messages if has_system else fold_system(call.messages)),
            **({"frequency_penalty": PENALTY} if call.penalty else {}),
            **({} if has_limit else {limit: call.max_tokens}),
            **({"stream": True, "stream_options": {"include_usage": True}} if streams else {}),
            **parameters,
        }

    def _status_error(self, answer: Answer, reader: AnswerReader) -> ServiceError:
        """Return the error for the status of an answer without a message."""
        message = f"{self._server} answered {answer.status_text}"
        words = self._quote(answer.reason()) if self._quotes else ""
        words = words or self._words(reader)
        if words:
            message += f": {words}"
        if answer.status == 429 and _NO_CREDIT.search(answer.body.decode("utf-8", "replace")):
            # Waiting does not help, so that no call is tried again.
            hint = "add credit to the account of the model server"
            return UnusableServiceError(f"{message}; {hint}")
        return self._connection.status_error(answer, message, self._options_hint)

    def _problem(self, reader: AnswerReader) -> InvalidAnswerError | None:
        """Return the error for an answer that is none of this API, or that ends with an error."""
        if reader.error:
            reason = self._words(reader) or "without a message"
            return InvalidAnswerError(f"{self._server} reports an error with status 200: {reason}")
        if not reader.has_message:
            return InvalidAnswerError(
                f"{self._server} answered without a message in `choices`; {self._options_hint}"
            )
        if reader.is_broken:
            return InvalidAnswerError(
                f"{self._server} sent something in its stream that is no event"
            )
        return None

    def _words(self, reader: AnswerReader) -> str:
        """Return what the server says of an error, to show it in messages and remarks."""
        return self._quote(error_message(reader.error)) if self._quotes else ""


def fold_system(messages: Sequence[Message]) -> list[Message]:
    """Return a conversation whose system message is the beginning of the first other one."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    others = [message for message in messages if message["role"] != "system"]
    if not others:
        return [Message(role="user", content="\n\n".join(system))]
    first, *rest = others
    text = "\n\n".join([*system, first["content"]])
    return [Message(role=first["role"], content=text), *rest]


def _refuses_system(reason: str) -> bool:
    return bool(_REFUSES_SYSTEM.search(reason))

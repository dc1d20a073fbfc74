"""Ask a language model, through OpenAI's chat completions API.

Ollama, llama.cpp, vLLM, LM Studio and most providers have this API.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Self

from ..concurrency import backoff
from ..display import quoted
from ..errors import (
    BusyModelError,
    InvalidAnswerError,
    NotSentError,
    RejectedError,
    ServiceError,
    UnavailableModelError,
    UnknownOutcomeError,
    UnreachableError,
    UnusableServiceError,
)
from ..service.connection import (
    MAY_BE_PAID_HINT,
    Answer,
    HTTPConnection,
    StreamEvent,
    check_address,
    check_token,
    reason_of,
)
from .completion import AnswerReader, Completion, ModelCall, decode
from .discovery import listed_models
from .settings import OLLAMA, OLLAMA_PORT, WriterOptions
from .usage import Spending, Usage, estimate_usage, format_cost, most_cost, read_usage

FIRST_BACKOFF = 1.0
"""Maximum seconds before the second try if the server does not say how long to wait."""

MIN_PAUSE = 1.0
"""The least number of seconds before the next try, if the server asks to wait for less."""

_RETRIES = 2
"""For a server that cannot be reached, where none are given."""

LIST_TIMEOUT = 10.0
"""Seconds for the list of models, which is only asked for after an error."""

_CHARACTERS_PER_TOKEN = 10
"""With more characters for each token of a prompt, the server probably cut the prompt."""

PENALTY = 0.5
"""The `frequency_penalty` of a second attempt, after a text that repeats itself."""

PENALTY_FIELDS = {"frequency_penalty", "presence_penalty", "repeat_penalty", "repetition_penalty"}
"""With one of these among the user's parameters, none is added."""

_CONTEXT_OPTIONS = "Ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: --ctx-size"
_MAX_NAMES = 10

_MIN_SECRET = 16
"""The minimum length of a key to search for in texts. A shorter one can be a word: `ollama`."""

_TOO_LONG = re.compile(
    "context (length|size|window)|prompt is too long|token count exceeds", re.IGNORECASE
)
_LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")


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
        self._fields = fields = options.fields
        self._prefix = options.prefix
        address = check_address(
            fields.endpoint,
            f"{self._prefix}endpoint",
            f"one such as https://models.example/v1, or {OLLAMA} for Ollama",
            allow_http=options.allow_http,
        )
        self.warnings: list[str] = []
        self._warned: set[str] = set()
        self.name = fields.model
        self._key = check_token(fields.api_key, f"{self._prefix}api_key")
        self._is_ollama = address.port == OLLAMA_PORT
        self._unknown_hint = MAY_BE_PAID_HINT if quotes else "it may have been paid for"
        self._server = f"the model server {address.netloc.decode()}"
        self._connection = HTTPConnection(
            address,
            self._server,
            self._key,
            address_option=f"{self._prefix}endpoint",
            timeout_option=f"{self._prefix}call_timeout",
            unknown_hint=self._unknown_hint,
        )
        self._quote = self._connection.quote
        self._spending = spending
        self._retries = retries
        self._quotes = quotes
        self._debug = debug or (lambda line: None)
        self._limit_field = _LIMIT_FIELDS[0]
        self._streams = True
        self._paused_until = 0.0
        self._calls = asyncio.Semaphore(fields.calls_at_once)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._connection.__aexit__(*error)

    async def ask(self, call: ModelCall, spending: Spending | None = None) -> Completion:
        """Return the model's answer to a conversation, `parallel` of them at once.

        `spending` gets the usage instead of the one of the model.

        After status 429 or 503 or a refused connection, the call is tried again, as long as the
        first token may take. A pause that the server asks for applies to all calls. Raises a
        ServiceError: an UnusableServiceError if all calls would fail, and never a NotSentError,
        since a text can have calls that were sent before.
        """
        spending = spending or self._spending
        started = time.monotonic()
        async with self._calls:
            spending.waited += time.monotonic() - started
            return await self._ask(call, spending)

    async def _ask(self, call: ModelCall, spending: Spending) -> Completion:
        await self._wait_for_pause()
        deadline = time.monotonic() + self._fields.first_token_timeout
        tries = 1
        while True:
            self._check_budget()
            try:
                return await self._call(call, spending)
            except NotSentError as error:
                self._back_off(error, tries, deadline)
            await self._wait_for_pause()
            tries += 1

    async def _wait_for_pause(self) -> None:
        while (seconds := self._paused_until - time.monotonic()) > 0:
            await asyncio.sleep(seconds)

    def _back_off(self, error: NotSentError, tries: int, deadline: float) -> None:
        """Pause all calls, or raise an error if a call that was tried so often is given up."""
        seconds = error.retry_after
        longest = self._fields.first_token_timeout
        is_unreachable = isinstance(error, UnreachableError)
        retries = _RETRIES if self._retries is None and is_unreachable else self._retries
        if seconds is not None and seconds > longest:
            raise UnavailableModelError(
                f"{error}, and asks to wait {seconds:.0f} s, which is longer than "
                f"{longest:g} s (5 times {self._prefix}call_timeout); try again later",
                seconds,
            ) from None
        if seconds is None:
            seconds = backoff(FIRST_BACKOFF, tries - 1, random.random())  # noqa: S311
        else:
            seconds = max(MIN_PAUSE, seconds)
        may_repeat = retries is None or tries <= retries
        if may_repeat and time.monotonic() + seconds < deadline:
            self._debug(f"{error}; next try in {seconds:.1f} s")
            self._paused_until = max(self._paused_until, time.monotonic() + seconds)
        elif is_unreachable:
            raise UnavailableModelError(str(error)) from None
        else:
            noun = "try" if tries == 1 else "tries"
            raise BusyModelError(
                f"{error}; gave up after {tries} {noun}; a lower {self._prefix}parallel may help",
                error.retry_after,
            ) from None

    def _check_budget(self) -> None:
        """Raise UnusableServiceError if `max_cost` allows no more calls."""
        limit, total = self._fields.max_cost, self._spending.total
        if limit is None:
            return
        if total.cost is None:
            raise UnusableServiceError(
                f"writer.max_cost cannot be kept, since {self._server} does not report what a call "
                "costs; set writer.price, or leave max_cost out"
            )
        if total.cost >= limit:
            raise UnusableServiceError(
                f"writer.max_cost is reached: {format_cost(total.cost)} of {format_cost(limit)} "
                "were spent, so no more calls are made; the finished texts are kept"
            )

    async def _call(self, call: ModelCall, spending: Spending) -> Completion:
        started = time.monotonic()
        reader = AnswerReader(call.watch)
        error: UnknownOutcomeError | InvalidAnswerError | None = None
        try:
            answer = await self._post_with_limit(call, reader)
            if answer.status != 200:
                await self._raise_status(answer)
            self._read_body(answer, reader)
        except (UnknownOutcomeError, InvalidAnswerError) as failure:
            error = failure
        usage = self._plausible(self._usage(call, reader, spending, error), call)
        # Before the answer is checked, since an unusable one may have cost something too.
        if isinstance(error, UnknownOutcomeError) or reader.usage is not None or reader.has_message:
            spending.add(usage)
        error = error or self._problem(reader)
        if error and not (reader.text and reader.was_streamed):
            raise error
        if len(self._key) >= _MIN_SECRET and self._key in reader.text:
            raise InvalidAnswerError(f"{self._server} repeats {self._prefix}api_key in its text")
        reason = "lost" if error else self._quote(reader.reason) or "unknown"
        self._debug(
            f"{quoted(self.name)}: answered after {time.monotonic() - started:.1f} s, "
            f"{usage.tokens:,} tokens, finish_reason {quoted(reason)}"
        )
        self._warn_if_cut(call.characters, usage)
        return Completion(reader.text, reason, reader.thought, usage, error, reader.lost_events)

    def _usage(
        self, call: ModelCall, reader: AnswerReader, spending: Spending, error: ServiceError | None
    ) -> Usage:
        price, total = self._fields.price, spending.total
        guess = estimate_usage(call.characters, len(reader.text), price, total)
        if reader.usage is None and (error or not reader.has_ended):
            return guess
        usage = read_usage(reader.usage, price)
        if usage.cost is not None or price is None:
            return usage
        self._warn(
            "tokens",
            f"{self._server} does not report the tokens of a call, so they are estimated, and "
            f"their cost is that of {self._prefix}price",
        )
        return guess

    def _plausible(self, usage: Usage, call: ModelCall) -> Usage:
        """Return the usage with a cost that the call can have had, if there is a `price`."""
        price = self._fields.price
        most = most_cost(call.characters, call.max_tokens, price) if price else math.inf
        if usage.cost is None or usage.cost <= most:
            return usage
        self._warn(
            "cost",
            f"{self._server} reports a cost of {format_cost(usage.cost)} for a call, which can "
            f"cost {format_cost(most)} at most by {self._prefix}price; that is counted",
        )
        return replace(usage, cost=most)

    def _warn(self, kind: str, warning: str) -> None:
        """Keep a warning about all calls, the first of its kind."""
        if kind not in self._warned:
            self._warned.add(kind)
            self.warnings.append(warning)

    async def _post_with_limit(self, call: ModelCall, reader: AnswerReader) -> Answer:
        """Send a call with the fields that the server supports, and remember which these are."""
        old, new = _LIMIT_FIELDS
        limit = self._limit_field
        if any(name in self._fields.parameters for name in _LIMIT_FIELDS):
            limit = ""
        streams = self._streams
        answer = await self._post(call, limit, reader, streams=streams)
        # Another call may have changed the attributes in the meantime.
        if streams and answer.status in (400, 422) and b"stream" in answer.body:
            streams = False
            answer = await self._post(call, limit, reader, streams=False)
        if limit == old and answer.status in (400, 422) and new.encode() in answer.body:
            limit = new
            answer = await self._post(call, limit, reader, streams=streams)
        if answer.status == 200:
            self._streams, self._limit_field = streams, limit or self._limit_field
        return answer

    async def _post(
        self, call: ModelCall, limit: str, reader: AnswerReader, *, streams: bool
    ) -> Answer:
        penalty = call.penalty and not self._fields.parameters.keys() & PENALTY_FIELDS
        body = {
            "model": self.name,
            "messages": list(call.messages),
            **({"frequency_penalty": PENALTY} if penalty else {}),
            **({limit: call.max_tokens} if limit else {}),
            **({"stream": True, "stream_options": {"include_usage": True}} if streams else {}),
            **self._fields.parameters,
        }
        try:
            return await self._connection.request(
                "POST",
                "chat/completions",
                body=body,
                timeout=self._fields.first_token_timeout,
                on_event=reader.read_event,
                token_timeout=self._fields.call_timeout,
            )
        except UnreachableError as error:
            hint = " Is Ollama running? `ollama serve` starts it" if self._is_ollama else ""
            raise UnreachableError(f"{error}{hint}") from None

    async def _raise_status(self, answer: Answer) -> None:
        status, reason = answer.status, answer.reason()
        message = f"{self._server} answered {answer.status_text}"
        if self._quotes and (quote := self._quote(reason)):
            message += f": {quote}"
        self._raise_known_status(answer, message)
        if status == 413 or _TOO_LONG.search(reason):
            raise RejectedError(
                f"{message}; give the model a larger context ({_CONTEXT_OPTIONS}), or choose a "
                "shorter length"
            )
        if status == 404 or "model" in reason.lower():
            await self._raise_unknown_model()
        if status == 404:
            raise UnusableServiceError(
                f"{message}; check {self._prefix}model, and {self._prefix}endpoint, which often "
                "ends in /v1"
            )
        hint = ""
        if any(name in reason for name in _LIMIT_FIELDS):
            hint = f"; set it in {self._prefix}parameters"
        elif _is_page(answer) or (not reason and status < 500):
            hint = self._endpoint_hint
        raise RejectedError(f"{message}{hint}")

    def _raise_known_status(self, answer: Answer, message: str) -> None:
        """Raise the error for a status with the same meaning on all servers."""
        key, endpoint = f"{self._prefix}api_key", f"{self._prefix}endpoint"
        match answer.status:
            case 429 | 503:
                raise NotSentError(message, answer.retry_after())
            case 502 | 504:
                raise UnknownOutcomeError(f"{message}; {self._unknown_hint}")
            case 401 | 402 | 403:
                hint = f"; check {key} (CONTENTGEN_MODEL_KEY) and {endpoint}"
            case 405 | 501:
                hint = self._endpoint_hint
            case status if 300 <= status < 400:
                hint = f", and redirects are not followed; set {endpoint} to its new address"
            case _:
                return
        raise UnusableServiceError(f"{message}{hint}")

    @property
    def _endpoint_hint(self) -> str:
        return f"; is {self._prefix}endpoint right? It often ends in /v1"

    async def _raise_unknown_model(self) -> None:
        """Raise UnusableServiceError if the server lists its models, and this one is missing."""
        try:
            answer = await self._connection.request("GET", "models", timeout=LIST_TIMEOUT)
        except ServiceError:
            return
        known = listed_models(answer)
        if known is None or self.name in known:
            return
        quotable = [quoted(name) for name in known if self._quote(name)]
        names = ", ".join(quotable[:_MAX_NAMES]) or "none"
        more = f" and {len(quotable) - _MAX_NAMES} more" if len(quotable) > _MAX_NAMES else ""
        hint = f"; `ollama pull {self.name}` gets it" if self._is_ollama else ""
        raise UnusableServiceError(
            f"{self._server} does not know the model {quoted(self.name)} ({self._prefix}model); it "
            f"has {names}{more}{hint}"
        )

    def _read_body(self, answer: Answer, reader: AnswerReader) -> None:
        """Read the body of an answer that was not streamed. Raises InvalidAnswerError."""
        if reader.was_streamed:
            return
        if answer.body.startswith(b"data:"):  # a stream with a wrong media type
            for line in answer.body.splitlines():
                if reader.read_event(line.removeprefix(b"data:").strip()) is StreamEvent.END:
                    return
            return
        if _is_page(answer):
            raise InvalidAnswerError(
                f"{self._server} answered with HTML, not JSON{self._endpoint_hint}"
            )
        fields = decode(answer.body)
        if not isinstance(fields, dict):
            raise InvalidAnswerError(
                f"{self._server} did not answer with a JSON object in UTF-8{self._endpoint_hint}"
            )
        reader.read_answer(fields)

    def _problem(self, reader: AnswerReader) -> InvalidAnswerError | None:
        """Return the error for an answer that is none of this API, or that ends with an error."""
        if reader.error:
            quote = self._quote(reason_of(reader.error)) if self._quotes else ""
            reason = quote or "without a message"
            return InvalidAnswerError(f"{self._server} reports an error with status 200: {reason}")
        if not reader.has_message:
            hint = "" if reader.has_choices else self._endpoint_hint
            return InvalidAnswerError(
                f"{self._server} answered without a message in `choices`{hint}"
            )
        return None

    def _warn_if_cut(self, characters: int, usage: Usage) -> None:
        if 0 < usage.input_tokens < characters / _CHARACTERS_PER_TOKEN:
            self._warn(
                "cut",
                f"{self._server} read {usage.input_tokens:,} tokens of a prompt with "
                f"{characters:,} characters, so it probably cut the prompt; give the model a "
                f"larger context ({_CONTEXT_OPTIONS})",
            )


def _is_page(answer: Answer) -> bool:
    """Tell whether an answer is HTML, so not one of this API."""
    return answer.body.lstrip().startswith(b"<")

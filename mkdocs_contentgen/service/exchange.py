"""Send HTTP requests with a deadline, and limit the size of their answers.

Errors tell whether a request was sent, and may have been processed.

The clients of the service and of a model server share this module, the only one that uses httpx.
Messages quote no header, since one could contain the token. Of an answer, they quote only what
without_secret() returns.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from importlib.metadata import version
from ipaddress import ip_address
from typing import Self
from urllib.request import getproxies

from ..display import quoted
from ..errors import (
    ConfigurationError,
    InvalidAnswerError,
    NotSentError,
    RejectedError,
    ServiceError,
    UnknownOutcomeError,
    UnreachableError,
    UnusableServiceError,
)
from .bodies import MAX_ANSWER, MAX_STREAM, TooLargeError, limited, read_body
from .error_words import has_secret, reason_in, without_secret
from .event_stream import EventParser, ServerSentEvent, StreamEvent
from .waits import RetryAfter, format_seconds, read_retry_after

# With rich and pygments installed, httpx also loads its command line, which takes most of the time
# of its import. It does without if that module is missing.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # means that it is missing
import httpx  # noqa: E402

URL = httpx.URL

REASON_TIMEOUT = 5.0
"""Seconds for the body of an answer with an error, which only explains the status."""

NOT_PROCESSED = frozenset({425, 429, 503, 529})
"""Statuses of a request that was surely not processed: too early, too many requests, overloaded."""

MAY_HAVE_RUN = frozenset({202, 408, 409, 460, 499, 502, 504, *range(520, 525), 598, 599})
"""Statuses of a request that may have been processed, or still is.

Most are those of gateways, such as Cloudflare's 520 to 524, nginx's 499, and 460 of AWS: they have
passed the request on, and give up waiting.
"""

_UNUSABLE = frozenset({401, 402, 403, 404, 405, 501, *range(300, 400)})
"""Statuses that all other requests would get too."""

_PHRASES = {
    460: "Client Closed Connection",
    499: "Client Closed Request",
    520: "Unknown Error",
    521: "Web Server Is Down",
    522: "Connection Timed Out",
    523: "Origin Is Unreachable",
    524: "A Timeout Occurred",
    529: "Overloaded",
    598: "Network Read Timeout",
    599: "Network Connect Timeout",
}
"""The phrases of statuses that no standard has."""

_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""The first bytes of compressed data."""

MAY_BE_PAID_HINT = (
    "it may have been processed, so it is not sent again in this build, only in the next one"
)

FOREIGN_ERRORS = (
    TimeoutError,
    httpx.HTTPError,
    httpx.StreamError,
    httpx.InvalidURL,
    # httpx parses the address of a redirect even if it does not follow it.
    UnicodeError,
)
"""What httpx raises while a request is sent and its answer is read."""


@dataclass(frozen=True)
class Answer:
    """An answer. The body is empty if it was not read."""

    status: int
    headers: httpx.Headers
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status says that the request was processed, as 200 and 201 do."""
        return 200 <= self.status < 300

    @property
    def status_text(self) -> str:
        """The status with its standard phrase, such as `404 Not Found`."""
        # Not the reason phrase of the answer, which could repeat the token.
        phrase = httpx.codes.get_reason_phrase(self.status) or _PHRASES.get(self.status, "")
        return f"{self.status} {phrase}".rstrip()

    def reason(self) -> str:
        """Return the server's own message about an error, or an empty string. It is untrusted."""
        return reason_in(self.body)

    def retry_after(self) -> RetryAfter:
        """Return for how long the server asks to wait."""
        return read_retry_after(self.headers.get_list)


class _Exchange:
    """A request on its way, and how long its answer may take.

    Without a `token_timeout`, all of it may take `timeout` seconds.
    """

    def __init__(self, method: str, timeout: float, token_timeout: float) -> None:
        self._method = method
        self._token_timeout = token_timeout
        self.deadline = asyncio.timeout(timeout)
        self.limit = f"{round(timeout, 1):g} s"
        """The time until the deadline, in words for a message."""

        self.was_sent = False

    def on_token(self) -> None:
        """Move the deadline after a token."""
        self.limit = f"{self._token_timeout:g} s"
        self.deadline.reschedule(asyncio.get_running_loop().time() + self._token_timeout)

    async def trace(self, event: str, info: Mapping[str, object]) -> None:
        """Note that the request was sent: httpx calls this for each step."""
        if event.endswith("send_request_headers.started"):
            sent_method = getattr(info["request"], "method", b"")
            if sent_method == self._method.encode():  # a proxy gets a CONNECT first
                self.was_sent = True


class HTTPConnection:
    """Sends requests to one server. Used with `async with`.

    `name` is the name of the server in messages, `token` is sent with each request, and
    `timeout_option` is the option to check. `unreachable_hint` and `unknown_hint` end the messages
    of UnreachableError and UnknownOutcomeError. With an ASGI application as `app`, requests go
    there. Raises ConfigurationError if the environment names a proxy or a certificate that cannot
    be used.
    """

    def __init__(
        self,
        address: URL,
        name: str,
        token: str = "",
        *,
        params: Mapping[str, str] | None = None,
        app: Callable[..., Awaitable[None]] | None = None,
        unreachable_hint: str = "is base_url right?",
        timeout_option: str = "timeout",
        unknown_hint: str = MAY_BE_PAID_HINT,
    ) -> None:
        self._name = name
        self._unknown_hint = unknown_hint
        self._unreachable_hint = unreachable_hint
        self._timeout_option = timeout_option
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"mkdocs-contentgen/{version('mkdocs-contentgen')}",
            **({"Authorization": f"Bearer {token}"} if token else {}),
        }
        # Functions, so that no attribute shows the token.
        self.has_token: Callable[[str], bool] = lambda text: has_secret(text, token)
        self.quote: Callable[[str], str] = lambda text: without_secret(text, token)
        try:
            self._client = httpx.AsyncClient(
                base_url=address,
                params=params,
                headers=headers,
                transport=httpx.ASGITransport(app) if app else None,
                # httpx would restart its timeout with each byte; request() has one of its own.
                timeout=None,  # noqa: S113
                follow_redirects=False,
                # Loading the certificates is slow, and plain http does not need them.
                verify=address.scheme == "https",
                # If the server closed a reused connection, the outcome would be unknown.
                limits=httpx.Limits(max_keepalive_connections=0),
                # A proxy would see the token of a request over plain http.
                trust_env=address.scheme == "https",
            )
        except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
            raise ConfigurationError(_environment_problem(error)) from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def request(
        self,
        method: str,
        path: str,
        *,
        timeout: float,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        on_event: Callable[[ServerSentEvent], StreamEvent] | None = None,
        token_timeout: float = 0,
    ) -> Answer:
        """Send a request with a JSON `body`, and return the answer.

        Without `on_event`, `timeout` is the number of seconds from the start of the connection to
        the last byte of the answer.

        With `on_event`, the answer is read as a stream: the function gets each server-sent event,
        and lines that are not events, and returns what they mean. The first token has `timeout`
        seconds, and each further one `token_timeout` seconds. The returned answer then has no body.

        The body of an error is empty, too, if it cannot be read.

        Raises UnreachableError if nothing was sent, UnknownOutcomeError if the answer is missing,
        incomplete or compressed, and InvalidAnswerError if it is too large.
        """
        exchange = _Exchange(method, timeout, token_timeout)
        try:
            async with (
                exchange.deadline,
                self._client.stream(
                    method, path, json=body, headers=headers, extensions={"trace": exchange.trace}
                ) as response,
            ):
                content = await self._receive(response, on_event, exchange.on_token)
                return Answer(response.status_code, response.headers, content)
        except FOREIGN_ERRORS as error:
            limit = exchange.limit
            if on_event:
                silence = f"nothing for {limit}"
            else:
                silence = f"no complete answer within {limit}"
            mapped = self.connection_error(error, limit, silence, was_sent=exchange.was_sent)
        # Raised outside of the `try`, so that no traceback shows the original error: it quotes the
        # answer, which could repeat the token.
        raise mapped

    def connection_error(
        self, error: Exception, limit: str, silence: str, *, was_sent: bool
    ) -> UnreachableError | UnknownOutcomeError:
        """Return our error for one of FOREIGN_ERRORS.

        `limit` and `silence` are words for the message about a timeout: how long it was, such as
        `5 s`, and what the server sent until then, such as `nothing for 5 s`.
        """
        reason = type(error).__name__
        is_timeout = isinstance(error, TimeoutError)
        if not was_sent:
            problem = f"no connection to {self._name} ({str(error) or reason})"
            if is_timeout:
                problem = f"no connection to {self._name} within {limit}"
            return UnreachableError(f"{problem}; {self._unreachable_hint}")
        problem = f"the connection to {self._name} was lost after the request was sent ({reason})"
        if is_timeout:
            hint = f"the option `{self._timeout_option}` sets the limit"
            problem = f"{self._name} sent {silence} ({hint})"
        return UnknownOutcomeError(f"{problem}; {self._unknown_hint}")

    def status_error(self, answer: Answer, message: str, options_hint: str) -> ServiceError:
        """Return the error for a status without a text. `options_hint` names options to check.

        This is the only place that knows what a status means for the request.
        """
        status = answer.status
        if status in NOT_PROCESSED:
            wait = answer.retry_after()
            if wait.seconds:
                message += f", and asks to retry after {format_seconds(wait.seconds)} s"
            unread = self.quote(wait.unread)
            detail = f"the header `{unread}` cannot be read" if unread else ""
            return NotSentError(message, wait.seconds, detail=detail)
        if status in MAY_HAVE_RUN:
            return UnknownOutcomeError(f"{message}; {self._unknown_hint}")
        if status in _UNUSABLE:
            return UnusableServiceError(f"{message}; {options_hint}")
        later = "; try again later, or tell the operator of the server" if status >= 500 else ""
        return RejectedError(f"{message}{later}")

    async def _receive(
        self,
        response: httpx.Response,
        on_event: Callable[[ServerSentEvent], StreamEvent] | None,
        on_token: Callable[[], None],
    ) -> bytes:
        """Return the body of an answer. It is empty if `on_event` got its events."""
        if not response.is_success:
            # The status counts, whether or not its reason arrives.
            with suppress(TimeoutError, httpx.HTTPError, InvalidAnswerError):
                async with asyncio.timeout(REASON_TIMEOUT):
                    return await self._read(response)
            return b""
        self._check_encoding(response.headers.get("Content-Encoding", ""))
        if on_event is None:
            body = await self._read(response)
            self._check_first_bytes(body)
            return body
        # The body says whether it is a stream: servers label both as anything.
        async with aclosing(self._events(response)) as events:
            async for event in events:
                meaning = on_event(event)
                if meaning is StreamEvent.END:
                    break
                if meaning is StreamEvent.TOKEN:
                    on_token()
        return b""

    def _check_encoding(self, encoding: str) -> None:
        """Raise UnknownOutcomeError if an answer says that it is compressed.

        Nobody has asked for that. The answer was written and paid for, so the request keeps its
        Idempotency-Key.
        """
        if encoding.strip().lower() in ("", "identity"):
            return
        how = self.quote(encoding) or "unknown"
        raise UnknownOutcomeError(
            f"{self._name} sent its answer compressed ({how}), although the request asks for an "
            "uncompressed one; turn compression off there, or in the proxy in front of it; "
            f"{self._unknown_hint}"
        )

    def _check_first_bytes(self, start: bytes) -> None:
        """Raise UnknownOutcomeError if an answer is compressed without saying so."""
        for first_bytes, encoding in _COMPRESSED.items():
            if start.startswith(first_bytes):
                self._check_encoding(encoding)

    async def _events(self, response: httpx.Response) -> AsyncGenerator[ServerSentEvent]:
        """Yield the events of an answer, and lines that are not events, as they come.

        Raises InvalidAnswerError if the answer is too large.
        """
        parser = EventParser()
        is_first = True
        try:
            async with aclosing(limited(response.aiter_raw(), MAX_STREAM)) as chunks:
                async for chunk in chunks:
                    if is_first:
                        self._check_first_bytes(chunk)
                        is_first = False
                    for event in parser.feed(chunk):
                        yield event
        except TooLargeError:
            raise self._too_large(MAX_STREAM) from None
        for event in parser.close():
            yield event

    async def _read(self, response: httpx.Response) -> bytes:
        """Return the body of an answer. Raises InvalidAnswerError if it is too large."""
        # Not decompressed, since 661 bytes of gzip can expand to 300 MB.
        try:
            return await read_body(response.aiter_raw(), MAX_ANSWER)
        except TooLargeError:
            raise self._too_large(MAX_ANSWER) from None

    def _too_large(self, limit: int) -> InvalidAnswerError:
        return InvalidAnswerError(
            f"the answer of {self._name} is larger than {limit // 1024**2} MiB"
        )


def _environment_problem(error: Exception) -> str:
    """Return a message about a proxy or a certificate of the environment that cannot be used."""
    reason = str(error)
    if isinstance(error, httpx.InvalidURL):
        unread = _unread_no_proxy_entry()
        if unread:
            return (
                f"NO_PROXY: {unread} cannot be read; write host names, IPv4 addresses, and "
                "IPv6 addresses without brackets, such as ::1, and no network of IPv6"
            )
        reason = type(error).__name__  # its message could quote a password
    return (
        "a proxy or certificate file that the environment names (HTTPS_PROXY, ALL_PROXY, "
        f"SSL_CERT_FILE, SSL_CERT_DIR) cannot be used: {reason}"
    )


def _unread_no_proxy_entry() -> str:
    """Return the first entry of NO_PROXY that httpx cannot read, in quotes, or an empty string."""
    for entry in getproxies().get("no", "").split(","):
        entry = entry.strip()
        try:
            ip_address(entry)
        except ValueError:
            # httpx makes such a URL of each entry that is not an IP address.
            address = entry if "://" in entry else f"all://*{entry}"
            if parse_url(address) is None:
                return "an entry" if "@" in entry else quoted(entry)
    return ""


def parse_url(address: str) -> URL | None:
    """Return an address as a URL, or None if it is not a URL."""
    try:
        url = URL(address)
        _ = url.host  # raises UnicodeError if it cannot be decoded
    except (httpx.InvalidURL, UnicodeError):
        return None
    is_port = 0 <= (url.port or 0) < 2**16
    return url if is_port else None

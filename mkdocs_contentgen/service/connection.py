"""Send HTTP requests with a deadline, and limit the size of their answers.

Errors tell whether a request was sent, and may have been processed.

The clients of the service and of a model server share this module. Messages quote no header, which
could contain the token, and only those parts of an answer that without_secret() returns.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from importlib.metadata import version
from ipaddress import ip_address
from typing import NoReturn, Self

import msgspec

from ..display import escape_controls
from ..errors import (
    ConfigurationError,
    InvalidAnswerError,
    NotSentError,
    RejectedError,
    UnknownOutcomeError,
    UnreachableError,
    UnusableServiceError,
)

# With rich and pygments installed, httpx also loads its command line, which takes most of the time
# of its import. It does without if that module is missing.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # means that it is missing
import httpx  # noqa: E402

MAX_ANSWER = 2 * 1024 * 1024
"""The maximum size of an answer in bytes."""

MAX_STREAM = 32 * 1024 * 1024
"""The maximum size of a stream in bytes. Each token has an event of some hundred bytes."""

REASON_TIMEOUT = 5.0
"""Seconds for the body of an answer with an error, which only explains the status."""

_MAX_REASON = 200

REQUEST_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
"""What the header `X-Request-Id` can be, for a served writer and for those who ask it."""

MAY_BE_PAID_HINT = (
    "it may have been processed, so it is not sent again in this build, only in the next one"
)


class StreamEvent(Enum):
    """The meaning of a server-sent event."""

    TOKEN = auto()
    OTHER = auto()
    END = auto()
    """Nothing that follows is read."""


@dataclass(frozen=True)
class Answer:
    """An answer. The body is empty if it was not read."""

    status: int
    headers: httpx.Headers
    body: bytes

    @property
    def status_text(self) -> str:
        """The status with its standard phrase, such as `404 Not Found`."""
        # Not the reason phrase of the answer, which could repeat the token.
        return f"{self.status} {httpx.codes.get_reason_phrase(self.status)}".rstrip()

    def reason(self) -> str:
        """Return the server's own message about an error, or an empty string. It is untrusted."""
        return reason_of(decode_json(self.body))

    def retry_after(self) -> float | None:
        """Return the seconds in the header `Retry-After`, which is a number or a date."""
        value = self.headers.get("Retry-After", "").strip()
        if re.fullmatch(r"[0-9]{1,9}", value):
            return float(value)
        with suppress(ValueError, OverflowError):
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        return None


def raise_status(answer: Answer, message: str, hint: str) -> NoReturn:
    """Raise the error for a status other than 200. `hint` names the options that can be wrong."""
    status = answer.status
    if status in (429, 503):
        seconds = answer.retry_after()
        retry_hint = f", and asks to retry after {seconds:.0f} s" if seconds else ""
        raise NotSentError(f"{message}{retry_hint}", seconds)
    if status in (401, 402, 403, 404, 405, 501) or 300 <= status < 400:
        raise UnusableServiceError(f"{message}; {hint}")
    later = "; try again later, or tell the operator of the server" if status >= 500 else ""
    raise RejectedError(f"{message}{later}")


def reason_of(found: object) -> str:
    """Return the message in the JSON of an error, or an empty string. It is untrusted."""
    while not isinstance(found, str):
        if isinstance(found, dict):
            names = ("error", "message", "detail", "msg")
            found = next((found[name] for name in names if found.get(name)), "")
        else:
            found = found[0] if isinstance(found, list) and found else ""
    return found


def decode_json(body: bytes) -> object:
    """Return the value in a body, or None if it is not JSON."""
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return None


def has_secret(text: str, secret: str) -> bool:
    """Tell whether a text contains eight consecutive characters of a secret, or a shorter one."""
    length = min(len(secret), 8)
    letters, secret = "".join(text.split()).lower(), secret.lower()
    parts = (secret[start : start + length] for start in range(len(secret) - length + 1))
    return bool(secret) and any(part in letters for part in parts)


def without_secret(text: str, secret: str) -> str:
    """Return the start of a server's text, to quote it in a message; empty with has_secret()."""
    if has_secret(text, secret):
        return ""
    return escape_controls(" ".join(text.split()))[:_MAX_REASON].rstrip(".")


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
        address: httpx.URL,
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
            # The message of InvalidURL could quote a password.
            reason = type(error).__name__ if isinstance(error, httpx.InvalidURL) else error
            raise ConfigurationError(
                "a proxy or certificate file that the environment names (HTTPS_PROXY, ALL_PROXY, "
                f"SSL_CERT_FILE, SSL_CERT_DIR) cannot be used: {reason}"
            ) from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._client.aclose()

    async def request(
        self,
        method: str,
        path: str,
        *,
        timeout: float,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        on_event: Callable[[bytes], StreamEvent] | None = None,
        token_timeout: float = 0,
    ) -> Answer:
        """Send a request with a JSON `body`, and return the answer.

        `timeout` is in seconds, from the start of the connection to the last byte. With `on_event`,
        it ends with the first token, and each further one has `token_timeout` seconds: the function
        gets the data of each server-sent event, and returns what it is. The body of the answer is
        empty if it was streamed, or if that of an error cannot be read. Raises UnreachableError if
        nothing was sent, UnknownOutcomeError if the answer is missing or incomplete, and
        InvalidAnswerError if it is too large.
        """
        sent = False
        deadline = asyncio.timeout(timeout)
        limit = f"{round(timeout, 1):g} s"

        def on_token() -> None:
            nonlocal limit
            limit = f"{token_timeout:g} s"
            deadline.reschedule(asyncio.get_running_loop().time() + token_timeout)

        async def trace(event: str, info: Mapping[str, object]) -> None:
            nonlocal sent
            if event.endswith("send_request_headers.started"):
                # A proxy gets a CONNECT first.
                sent = sent or getattr(info["request"], "method", b"") == method.encode()

        try:
            async with (
                deadline,
                self._client.stream(
                    method, path, json=body, headers=headers, extensions={"trace": trace}
                ) as response,
            ):
                content = await self._receive(response, on_event, on_token)
                return Answer(response.status_code, response.headers, content)
        except TimeoutError:
            unreached = f"no connection to {self._name} within {limit}"
            silence = f"nothing for {limit}" if on_event else f"no complete answer within {limit}"
            option = f"the option `{self._timeout_option}` sets the limit"
            lost = f"{self._name} sent {silence} ({option})"
        # UnicodeError: httpx parses the address of a redirect even if it does not follow it.
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            reason = type(error).__name__
            unreached = f"no connection to {self._name} ({str(error) or reason})"
            lost = f"the connection to {self._name} was lost after the request was sent ({reason})"
        # Raised outside of the `try`, so that no traceback shows the original error: it quotes the
        # answer, which could repeat the token.
        if sent:
            raise UnknownOutcomeError(f"{lost}; {self._unknown_hint}")
        raise UnreachableError(f"{unreached}; {self._unreachable_hint}")

    async def _receive(
        self,
        response: httpx.Response,
        on_event: Callable[[bytes], StreamEvent] | None,
        on_token: Callable[[], None],
    ) -> bytes:
        """Return the body of an answer. It is empty if `on_event` got its events."""
        if response.status_code != 200:
            # The status counts, whether or not its reason arrives.
            with suppress(TimeoutError, httpx.HTTPError, InvalidAnswerError):
                async with asyncio.timeout(REASON_TIMEOUT):
                    return await self._read(response)
            return b""
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        if on_event is None or media_type.strip().lower() != "text/event-stream":
            return await self._read(response)
        async with aclosing(self._events(response)) as events:
            async for data in events:
                event = on_event(data)
                if event is StreamEvent.END:
                    break
                if event is StreamEvent.TOKEN:
                    on_token()
        return b""

    async def _events(self, response: httpx.Response) -> AsyncGenerator[bytes]:
        """Yield the data of each server-sent event, which is one line of all known servers."""
        line = bytearray()
        async with aclosing(self._chunks(response, MAX_STREAM)) as chunks:
            async for chunk in chunks:
                *ends, rest = re.split(rb"\r\n|\r|\n", chunk)
                for end in ends:
                    line += end
                    if line.startswith(b"data:"):
                        yield bytes(line[5:]).strip()
                    line.clear()
                line += rest
        if line.startswith(b"data:"):  # the last line may have no end
            yield bytes(line[5:]).strip()

    async def _read(self, response: httpx.Response) -> bytes:
        return b"".join([chunk async for chunk in self._chunks(response, MAX_ANSWER)])

    async def _chunks(self, response: httpx.Response, limit: int) -> AsyncGenerator[bytes]:
        """Yield the parts of an answer as they come. Raises InvalidAnswerError if it is too large.

        They are not decompressed, since 661 bytes of gzip can expand to 300 MB.
        """
        total = 0
        async for chunk in response.aiter_raw():
            total += len(chunk)
            if total > limit:
                raise InvalidAnswerError(
                    f"the answer of {self._name} is larger than {limit // 1024**2} MiB"
                )
            yield chunk


def check_address(address: str, option: str, expected: str, *, allow_http: bool) -> httpx.URL:
    """Return the URL in an option. Raises ConfigurationError, which says what is `expected`."""
    address = address.strip()
    url = _parse_url(address)
    is_alone = url and not (url.userinfo or "?" in address or "#" in address)
    if not (url and url.scheme in ("http", "https") and url.host and is_alone):
        # Not quoted, since it could be the token or contain a password.
        raise ConfigurationError(
            f"{option}: is not an https address; expected {expected}, without a user, '?' or '#'"
        )
    if url.scheme == "http" and not (allow_http or _is_loopback(url.host)):
        raise ConfigurationError(
            f"{option}: '{url}' would send credentials unencrypted; "
            "use https, or set `allow_http: true` where the network is trusted"
        )
    return url


def check_token(token: str, option: str) -> str:
    """Return a token without surrounding spaces. Raises ConfigurationError if it is invalid."""
    token = token.strip()
    if not re.fullmatch(r"[!-~]*", token):
        raise ConfigurationError(
            f"{option}: contains an invalid character, such as a space or a line break; "
            "copy it again"
        )
    return token


def _parse_url(address: str) -> httpx.URL | None:
    try:
        url = httpx.URL(address)
        # Reading the host raises UnicodeError if it cannot be decoded.
        return url if url.host is not None and 0 <= (url.port or 0) < 2**16 else None
    except (httpx.InvalidURL, UnicodeError):
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")

"""The HTTP client of the content generation service (interface sections 2, 4 and 5)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from importlib.metadata import version
from ipaddress import ip_address
from typing import Self

import httpx

from ..errors import (
    AccessDeniedError,
    ConfigurationError,
    InvalidAnswerError,
    NotSentError,
    RejectedError,
    ServiceError,
    UnknownOutcomeError,
    UnreachableError,
    UnsafeHTMLError,
)
from ..html.article import parse_article
from ..requests import Request
from . import SANDBOX

MAX_ANSWER = 2 * 1024 * 1024
"""The maximum size of an answer in bytes."""

MAY_BE_PAID_HINT = (
    "it may have been processed, so it is not sent again in this build, only in the next one"
)


class ServiceClient:
    """Sends requests to the service, or to the sandbox. Used with `async with`.

    `base_url`, `user_id` and `token` are the plugin options of these names. Raises
    ConfigurationError if one of them is invalid. No message contains the token.
    """

    def __init__(
        self, base_url: str, user_id: str = "", token: str = "", *, allow_http: bool = False
    ) -> None:
        transport: httpx.AsyncBaseTransport | None = None
        if base_url.strip() == SANDBOX:
            from .sandbox import app

            transport = httpx.ASGITransport(app)
            base_url, user_id, token = "http://localhost", user_id or SANDBOX, token or SANDBOX
        url = _check_url(base_url, allow_http=allow_http)
        self._host = url.netloc.decode() if transport is None else "the sandbox"
        params = {"user_id": _check_user_id(user_id)}
        headers = {
            "Authorization": f"Bearer {_check_token(token)}",
            "Accept": "application/json",
            # 661 bytes of gzip can expand to 300 MB.
            "Accept-Encoding": "identity",
            "User-Agent": f"mkdocs-contentgen/{version('mkdocs-contentgen')}",
        }
        try:
            self._client = httpx.AsyncClient(
                base_url=url,
                params=params,
                headers=headers,
                transport=transport,
                # httpx would restart its timeout with each byte; send() has one of its own.
                timeout=None,  # noqa: S113
                follow_redirects=False,
                # Loading the certificates is slow, and plain http does not need them.
                verify=url.scheme == "https",
                # If the service closed a reused connection, the outcome would be unknown.
                limits=httpx.Limits(max_keepalive_connections=0),
                # A proxy would see the token of a request over plain http.
                trust_env=url.scheme == "https",
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

    async def send(self, request: Request, *, idempotency_key: str, timeout: float) -> bytes:
        """Send `request` and return the body of the answer, if its status is 200.

        `timeout` is in seconds, from the start of the connection to the last byte. Raises a
        subclass of ServiceError, which tells whether the request may be sent again.
        """
        failure: ServiceError
        sent = False

        async def trace(event: str, info: Mapping[str, object]) -> None:
            nonlocal sent
            if event.endswith("send_request_headers.started"):
                # A proxy gets a CONNECT first.
                sent = sent or getattr(info["request"], "method", b"") == b"POST"

        try:
            async with (
                asyncio.timeout(timeout),
                self._client.stream(
                    "POST",
                    f"/{request.operation}",
                    json=request.body(),
                    headers={"Idempotency-Key": idempotency_key},
                    extensions={"trace": trace},
                ) as response,
            ):
                _check_status(response)
                return await _read(response)
        except TimeoutError:
            failure = (
                UnknownOutcomeError(
                    f"{self._host} sent no complete answer within {timeout:g} s "
                    f"(the option `timeout` sets the limit); {MAY_BE_PAID_HINT}"
                )
                if sent
                else UnreachableError(f"no connection to {self._host} within {timeout:g} s")
            )
        # UnicodeError: httpx parses the address of a redirect even if it does not follow it.
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            reason = type(error).__name__
            failure = (
                UnknownOutcomeError(
                    f"the connection to {self._host} was lost after the request was sent "
                    f"({reason}); {MAY_BE_PAID_HINT}"
                )
                if sent
                else UnreachableError(
                    f"no connection to {self._host} ({str(error) or reason}); is base_url right?"
                )
            )
        # Raised outside of the `try`, so that no traceback shows the original error: it quotes the
        # answer, which could repeat the token.
        raise failure

    @staticmethod
    def content(answer: bytes) -> str:
        """Return the HTML of an answer (interface section 2.2), or raise InvalidAnswerError."""
        try:
            fields = json.loads(answer.decode())
        except (ValueError, RecursionError) as error:
            raise InvalidAnswerError(
                "the answer is not JSON in UTF-8; is base_url right?"
            ) from error
        if not isinstance(fields, dict):
            raise InvalidAnswerError("the answer is not a JSON object")
        if fields.get("success") is not True:
            raise InvalidAnswerError("the service reports a failure (`success` is not true)")
        content = fields.get("content")
        if not isinstance(content, str):
            raise InvalidAnswerError("the answer has no text in `content`")
        try:
            parse_article(content)
            content.encode()
        except UnsafeHTMLError as error:
            raise InvalidAnswerError(f"the answer's `content` cannot be used: {error}") from error
        except UnicodeEncodeError as error:
            raise InvalidAnswerError(
                "the answer's `content` contains an unpaired surrogate"
            ) from error
        return content


# --- options -------------------------------------------------------------------------------------


def _check_url(base_url: str, *, allow_http: bool) -> httpx.URL:
    base_url = base_url.strip()
    url = _parse_url(base_url)
    if url is None or url.scheme not in ("http", "https") or not url.host:
        # Not quoted, since it could be the token or contain a password.
        raise ConfigurationError(
            f"base_url: is not an https address; expected 'https://…' or '{SANDBOX}'"
        )
    if url.userinfo or "?" in base_url or "#" in base_url:
        raise ConfigurationError(
            "base_url: expected https://host/path, without a user, '?' or '#'; "
            "user_id and token are separate options"
        )
    if url.scheme == "http" and not (allow_http or _is_loopback(url.host)):
        raise ConfigurationError(
            f"base_url: '{url}' would send the token unencrypted; "
            "use https, or set `allow_http: true` where the network is trusted"
        )
    return url


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


def _check_user_id(user_id: str) -> str:
    user_id = user_id.strip()
    if not user_id:
        raise ConfigurationError(
            "user_id: is not set; set CONTENTGEN_USER_ID to the identifier from the dashboard"
        )
    if not user_id.isprintable():
        raise ConfigurationError(
            "user_id: contains an invalid character, such as a line break; copy it again"
        )
    return user_id


def _check_token(token: str) -> str:
    token = token.strip()
    if not token:
        raise ConfigurationError(
            "token: is not set; set CONTENTGEN_TOKEN to the token from the dashboard"
        )
    if not re.fullmatch(r"[!-~]+", token):
        raise ConfigurationError(
            "token: contains an invalid character, such as a space or a line break; copy it again"
        )
    return token


# --- answers -------------------------------------------------------------------------------------


def _check_status(response: httpx.Response) -> None:
    status = response.status_code
    if status == 200:
        return
    # Not the reason phrase or body of the answer, which could repeat the token.
    status_text = f"{status} {_reason_phrase(status)}".strip()
    if status in (401, 403):
        raise AccessDeniedError(f"the service answered {status_text}; check token and user_id")
    if status in (429, 503):
        seconds = _retry_after(response.headers)
        retry_hint = f", and asks to retry after {seconds:.0f} s" if seconds else ""
        raise NotSentError(f"the service answered {status_text}{retry_hint}", seconds)
    if status in (502, 504):
        raise UnknownOutcomeError(f"a gateway answered {status_text}; {MAY_BE_PAID_HINT}")
    if response.is_redirect:
        raise RejectedError(
            f"the service answered {status_text}, and redirects are not followed; "
            "set base_url to its new address"
        )
    hint = "; is the path in base_url right?" if status == 404 else ""
    if status >= 500:
        hint = "; this is an error of the service: build again later, or tell its operator"
    raise RejectedError(f"the service answered {status_text}{hint}")


def _reason_phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _retry_after(headers: httpx.Headers) -> float | None:
    """Return the seconds in a `Retry-After` header, which is a number or a date."""
    value = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
        return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


async def _read(response: httpx.Response) -> bytes:
    if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise InvalidAnswerError("the service sent a compressed answer, which was not requested")
    answer = bytearray()
    async for chunk in response.aiter_raw():
        answer += chunk
        if len(answer) > MAX_ANSWER:
            raise InvalidAnswerError(f"the answer is larger than {MAX_ANSWER // 1024**2} MiB")
    return bytes(answer)

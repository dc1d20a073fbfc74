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

SANDBOX = "sandbox"
"""The `base_url` that stands for the sandbox inside this package."""

MAX_ANSWER = 2 * 1024 * 1024
"""Bytes that are read of an answer."""

MAY_BE_PAID = (
    "it may have been carried out, so it is not sent again in this build; the next one asks anew"
)


class ServiceClient:
    """Sends requests to the service, or to the sandbox. Used with `async with`.

    `base_url`, `user_id` and `token` are the plugin options of these names. Raises
    ConfigurationError for what cannot be used; no message ever holds the token.
    """

    def __init__(
        self, base_url: str, user_id: str = "", token: str = "", *, allow_http: bool = False
    ) -> None:
        transport: httpx.AsyncBaseTransport | None = None
        if base_url.strip() == SANDBOX:
            from .sandbox import app

            transport = httpx.ASGITransport(app)
            base_url, user_id, token = "http://localhost", user_id or SANDBOX, token or SANDBOX
        url = _checked_address(base_url, allow_http=allow_http)
        self._place = url.netloc.decode() if transport is None else "the sandbox"
        params = {"user_id": _checked_user(user_id)}
        headers = {
            "Authorization": f"Bearer {_checked_token(token)}",
            "Accept": "application/json",
            # 661 bytes of gzip can become 300 MB.
            "Accept-Encoding": "identity",
            "User-Agent": f"mkdocs-contentgen/{version('mkdocs-contentgen')}",
        }
        try:
            self._client = httpx.AsyncClient(
                base_url=url,
                params=params,
                headers=headers,
                transport=transport,
                # The deadline of send() is for the request as a whole, its drips included.
                timeout=None,  # noqa: S113
                follow_redirects=False,
                # Reading the machine's certificates takes longer than all else that starts here.
                verify=url.scheme == "https",
                # A kept connection that the service closes just now would leave it unknown whether
                # the request ran.
                limits=httpx.Limits(max_keepalive_connections=0),
                # A proxy would see the token of a request over plain http.
                trust_env=url.scheme == "https",
            )
        except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
            # The words for a wrong address could quote a password in it.
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
        """Return the body of the answer to `request`, as it came, if the answer was 200.

        `timeout` is in seconds, for everything from the connection to the last byte. Raises
        ServiceError; which one says whether the request may be sent again.
        """
        failure: ServiceError
        sent = False

        async def trace(event: str, info: Mapping[str, object]) -> None:
            nonlocal sent
            if event.endswith("send_request_headers.started"):
                # On the way through a proxy, a CONNECT goes first.
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
                    f"{self._place} sent no whole answer within {timeout:g} s "
                    f"(the option `timeout` gives it longer); {MAY_BE_PAID}"
                )
                if sent
                else UnreachableError(f"no connection to {self._place} within {timeout:g} s")
            )
        # UnicodeError: httpx looks at where a redirect leads, though it does not go there.
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            reason = type(error).__name__
            failure = (
                UnknownOutcomeError(
                    f"{self._place} broke off after the request was sent ({reason}); {MAY_BE_PAID}"
                )
                if sent
                else UnreachableError(
                    f"no connection to {self._place} ({str(error) or reason}); is base_url right?"
                )
            )
        # Out here, since the words of the error that it comes from quote what the service sent,
        # and that could repeat the token.
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
            raise InvalidAnswerError(
                "the service says that it did not succeed (`success` is not true)"
            )
        content = fields.get("content")
        if not isinstance(content, str):
            raise InvalidAnswerError("the answer has no text in `content`")
        try:
            parse_article(content)
            content.encode()
        except UnsafeHTMLError as error:
            raise InvalidAnswerError(f"the answer's `content` cannot be used: {error}") from error
        except UnicodeEncodeError as error:
            raise InvalidAnswerError("the answer's `content` holds half a character") from error
        return content


# --- what goes out -------------------------------------------------------------------------------


def _checked_address(base_url: str, *, allow_http: bool) -> httpx.URL:
    base_url = base_url.strip()
    url = _parsed(base_url)
    if url is None or url.scheme not in ("http", "https") or not url.host:
        # It is not shown, since it could be the token, or hold a password.
        raise ConfigurationError(
            f"base_url: is not an https address; expected is 'https://…' or '{SANDBOX}'"
        )
    if url.userinfo or "?" in base_url or "#" in base_url:
        raise ConfigurationError(
            "base_url: only https://host/path is expected, without a user, '?' or '#'; "
            "user_id and token are options of their own"
        )
    if url.scheme == "http" and not (allow_http or _is_loopback(url.host)):
        raise ConfigurationError(
            f"base_url: '{url}' would show the token to everybody on the way; "
            "use https, or set `allow_http: true` where the network is trusted"
        )
    return url


def _parsed(address: str) -> httpx.URL | None:
    try:
        url = httpx.URL(address)
        # The host can be one that cannot be decoded, which shows when it is asked for.
        return url if url.host is not None and 0 <= (url.port or 0) < 2**16 else None
    except (httpx.InvalidURL, UnicodeError):
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _checked_user(user_id: str) -> str:
    user_id = user_id.strip()
    if not user_id:
        raise ConfigurationError(
            "user_id: is not set; set CONTENTGEN_USER_ID to the identifier from the dashboard"
        )
    if not user_id.isprintable():
        raise ConfigurationError(
            "user_id: holds a character that no identifier can have, such as a line break inside; "
            "copy it anew"
        )
    return user_id


def _checked_token(token: str) -> str:
    token = token.strip()
    if not token:
        raise ConfigurationError(
            "token: is not set; set CONTENTGEN_TOKEN to the token from the dashboard"
        )
    if not re.fullmatch(r"[!-~]+", token):
        raise ConfigurationError(
            "token: holds a character that no token can have, such as a space or a line break "
            "inside; copy it anew"
        )
    return token


# --- what comes back -----------------------------------------------------------------------------


def _check_status(response: httpx.Response) -> None:
    status = response.status_code
    if status == 200:
        return
    # The reason phrase and the body are the service's own words, and could repeat the token.
    shown = f"{status} {_phrase(status)}".strip()
    if status in (401, 403):
        raise AccessDeniedError(f"the service answered {shown}; check token and user_id")
    if status in (429, 503):
        seconds = _retry_after(response.headers)
        when = f", and asks to come back in {seconds:.0f} s" if seconds else ""
        raise NotSentError(f"the service answered {shown}{when}", seconds)
    if status in (502, 504):
        raise UnknownOutcomeError(f"a gateway answered {shown}; {MAY_BE_PAID}")
    if response.is_redirect:
        raise RejectedError(
            f"the service answered {shown}, and redirects are not followed; "
            "set base_url to the address that it has now"
        )
    advice = "; is the path in base_url right?" if status == 404 else ""
    if status >= 500:
        advice = "; the fault is its own: build again later, or tell those who run it"
    raise RejectedError(f"the service answered {shown}{advice}")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _retry_after(headers: httpx.Headers) -> float | None:
    """Return the seconds of a `Retry-After` header, which holds a number or a date."""
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
        raise InvalidAnswerError("the service answered in a compressed form that was not asked for")
    answer = bytearray()
    async for chunk in response.aiter_raw():
        answer += chunk
        if len(answer) > MAX_ANSWER:
            raise InvalidAnswerError(f"the answer is larger than {MAX_ANSWER // 1024**2} MiB")
    return bytes(answer)

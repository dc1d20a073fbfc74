"""The HTTP client of the content generation service (interface sections 2, 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from ..errors import (
    AccessDeniedError,
    ConfigurationError,
    NotSentError,
    RejectedError,
    UnknownOutcomeError,
)
from ..requests import Request
from . import SANDBOX
from .answer import parse_answer
from .connection import Answer, Connection, check_address, check_token

SAME_KEY_HINT = (
    "it may have been processed, so only the next build asks again, with the same Idempotency-Key"
)


class ServiceClient:
    """Sends requests to the service, or to the sandbox. Used with `async with`.

    `base_url`, `user_id` and `token` are the plugin options of these names. Raises
    ConfigurationError if one of them is invalid. No message contains the token.
    """

    def __init__(
        self, base_url: str, user_id: str = "", token: str = "", *, allow_http: bool = False
    ) -> None:
        app = None
        if base_url.strip() == SANDBOX:
            from . import sandbox

            app = sandbox.app
            base_url, user_id, token = "http://localhost", user_id or SANDBOX, token or SANDBOX
        url = check_address(
            base_url, "base_url", f"'https://…' or '{SANDBOX}'", allow_http=allow_http
        )
        name = url.netloc.decode() if app is None else "the sandbox"
        params = {"user_id": _check_user_id(user_id)}
        headers = {"Authorization": f"Bearer {_check_token(token)}"}
        self._connection = Connection(
            url, name, headers, params=params, app=app, unknown_hint=SAME_KEY_HINT
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._connection.__aexit__(*error)

    read = staticmethod(parse_answer)

    @property
    def warnings(self) -> Sequence[str]:
        """Messages about all requests: none."""
        return ()

    async def send(self, request: Request, *, idempotency_key: str, timeout: float) -> bytes:
        """Send `request` and return the body of the answer, if its status is 200.

        `timeout` is in seconds, from the start of the connection to the last byte. Raises a
        subclass of ServiceError, which tells whether the request may be sent again.
        """
        answer = await self._connection.request(
            "POST",
            f"/{request.operation}",
            body=request.body(),
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        _check_status(answer)
        return answer.body


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
    if not (token := check_token(token, "token")):
        raise ConfigurationError(
            "token: is not set; set CONTENTGEN_TOKEN to the token from the dashboard"
        )
    return token


def _check_status(answer: Answer) -> None:
    status, status_text = answer.status, answer.status_text
    if status == 200:
        return
    if status in (401, 403):
        raise AccessDeniedError(f"the service answered {status_text}; check token and user_id")
    if status in (429, 503):
        seconds = answer.retry_after()
        retry_hint = f", and asks to retry after {seconds:.0f} s" if seconds else ""
        raise NotSentError(f"the service answered {status_text}{retry_hint}", seconds)
    if status == 409:
        raise UnknownOutcomeError(
            f"the service answered {status_text}: it may still be processing this request; "
            "the next build asks again, with the same Idempotency-Key"
        )
    if status in (502, 504):
        raise UnknownOutcomeError(f"a gateway answered {status_text}; {SAME_KEY_HINT}")
    if 300 <= status < 400:
        raise RejectedError(
            f"the service answered {status_text}, and redirects are not followed; "
            "set base_url to its new address"
        )
    hint = "; is the path in base_url right?" if status == 404 else ""
    if status >= 500:
        hint = "; this is an error of the service: build again later, or tell its operator"
    raise RejectedError(f"the service answered {status_text}{hint}")

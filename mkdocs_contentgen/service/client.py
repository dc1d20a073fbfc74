"""The HTTP client of the content generation service (interface sections 2, 4 and 5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import msgspec

from ..errors import (
    AccessDeniedError,
    ConfigurationError,
    FailedTextError,
    GatewayError,
    InvalidAnswerError,
    NotSentError,
    RejectedError,
    UnknownOutcomeError,
)
from ..requests import Request
from ..text import Text
from . import SANDBOX
from .answer import failed_text, parse_answer
from .connection import (
    REQUEST_ID,
    Answer,
    Connection,
    check_address,
    check_token,
    decode_json,
    has_secret,
    without_secret,
)
from .progress import UNOBSERVED, TextInProgress

if TYPE_CHECKING:
    from .updates import Update, Updated

"""What an operator can look for in the log of a served writer."""

GATEWAY_PAUSE = 3.0
"""Seconds after which a request is sent again that a gateway could not pass on."""

SAME_KEY_HINT = (
    "it may have been processed, so only the next build asks again, with the same Idempotency-Key"
)


class ServiceClient(Connection):
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
        user_id, token = _check_user_id(user_id), _check_token(token)
        params = {"user_id": user_id}
        headers = {"Authorization": f"Bearer {token}"}
        # A function, so that no attribute shows the token.
        self._reason: Callable[[Answer], str] = lambda answer: _quoted_reason(
            answer, user_id, token
        )
        self._without_token: Callable[[str], str] = lambda text: (
            "" if has_secret(text, token) else text
        )
        super().__init__(url, name, headers, params=params, app=app, unknown_hint=SAME_KEY_HINT)

    warnings: Sequence[str] = ()

    def read(self, answer: bytes, request: Request) -> Text:
        """Return the text in an answer, as parse_answer() does."""
        try:
            return parse_answer(answer, request)
        except FailedTextError as error:
            error.answer = self._without_token(error.answer)
            raise

    async def send(
        self,
        request: Request,
        *,
        idempotency_key: str,
        timeout: float,
        progress: TextInProgress = UNOBSERVED,
    ) -> bytes:
        """Send `request` and return the body of the answer, if its status is 200.

        `timeout` is in seconds, from the start of the connection to the last byte. `progress` is
        not used. Raises a subclass of ServiceError, which tells whether the request may be sent
        again.
        """
        return await self._post(request.operation, request.body(), idempotency_key, timeout)

    async def update(
        self,
        request: Request,
        what: Update,
        *,
        idempotency_key: str,
        timeout: float,
        progress: TextInProgress = UNOBSERVED,
    ) -> Updated:
        """Send what is to be updated of the text for a request to a served writer.

        The interface has no such operation. The arguments, and what is raised, are those of send().
        """
        from .updates import OPERATION, Updated

        body = {"type": request.type, **request.body(), "update": msgspec.to_builtins(what)}
        answer = await self._post(OPERATION, body, idempotency_key, timeout)
        try:
            return msgspec.json.decode(answer, type=Updated)
        except (ValueError, RecursionError) as error:
            raise InvalidAnswerError("the answer to the update is not one of a writer") from error

    async def _post(
        self, operation: str, body: Mapping[str, object], idempotency_key: str, timeout: float
    ) -> bytes:
        answer = await self.request(
            "POST",
            f"/{operation}",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
            read=range(200, 600),
        )
        if answer.status == 500:
            self._raise_failed_text(answer)
        if answer.status != 200:
            _raise_status(answer, self._reason(answer))
        return answer.body

    def _raise_failed_text(self, answer: Answer) -> None:
        """Raise FailedTextError if a served writer tells what its model has answered."""
        fields = decode_json(answer.body)
        if isinstance(fields, dict) and isinstance(text := fields.get("answer"), str):
            message = _status_message(answer, self._reason(answer))
            raise failed_text(message, self._without_token(text), fields)


def _check_user_id(user_id: str) -> str:
    user_id = user_id.strip()
    if not user_id:
        raise ConfigurationError(
            "user_id: is not set; set CONTENTGEN_USER_ID to the identifier from the service's "
            "dashboard, or to a name that was given to `contentgen writer user add`"
        )
    if not user_id.isprintable():
        raise ConfigurationError(
            "user_id: contains an invalid character, such as a line break; copy it again"
        )
    return user_id


def _check_token(token: str) -> str:
    if not (token := check_token(token, "token")):
        raise ConfigurationError(
            "token: is not set; set CONTENTGEN_TOKEN to the token from the service's dashboard, or "
            "from `contentgen writer user add`"
        )
    return token


def _quoted_reason(answer: Answer, user_id: str, token: str) -> str:
    """Return the service's own message without the user, or nothing if it has the token in it.

    A served writer's name for the request follows, for its operator.
    """
    forms = "|".join(map(re.escape, (user_id, quote(user_id, safe=""), quote_plus(user_id))))
    reason = re.sub(rf"(?<!\w)({forms})(?!\w)", "…", answer.reason(), flags=re.IGNORECASE)
    request = answer.headers.get("X-Request-Id", "")
    known = REQUEST_ID.fullmatch(request) and without_secret(request, token)
    return without_secret(reason, token) + (f" (request {request})" if known else "")


def _status_message(answer: Answer, reason: str) -> str:
    return f"the service answered {answer.status_text}: {reason}".removesuffix(": ")


def _raise_status(answer: Answer, reason: str) -> None:
    """Raise the error for a status other than 200. `reason` is the service's message, or empty."""
    status, status_text = answer.status, answer.status_text
    message = _status_message(answer, reason)
    if status in (401, 403):
        raise AccessDeniedError(
            f"{message}; check token and user_id, which are from the service's dashboard, or from "
            "`contentgen writer user add`"
        )
    if status in (429, 503):
        seconds = answer.retry_after()
        retry_hint = f", and asks to retry after {seconds:.0f} s" if seconds else ""
        raise NotSentError(f"{message}{retry_hint}", seconds)
    if status == 409:
        raise UnknownOutcomeError(
            f"the service answered {status_text}: it may still be processing this request; "
            "the next build asks again, with the same Idempotency-Key"
        )
    if status in (502, 504):
        # A gateway that cannot reach the service does so again while that restarts.
        seconds = answer.retry_after() or GATEWAY_PAUSE
        raise GatewayError(f"a gateway answered {status_text}; {SAME_KEY_HINT}", seconds)
    if 300 <= status < 400:
        raise RejectedError(
            f"{message}, and redirects are not followed; set base_url to its new address"
        )
    hint = "; is the path in base_url right?" if status == 404 else ""
    if status >= 500:
        hint = "; this is an error of the service: build again later, or tell its operator"
    raise RejectedError(f"{message}{hint}")

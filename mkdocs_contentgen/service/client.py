"""The HTTP client of the content generation service (interface sections 2, 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import msgspec

from ..errors import ConfigurationError, FailedTextError, RejectedError, UnknownOutcomeError
from ..requests import Request
from ..text import Text
from . import SANDBOX
from .connection import (
    REQUEST_ID,
    Answer,
    HTTPConnection,
    check_address,
    check_token,
    decode_json,
    raise_status,
)
from .protocol import OPERATION, Attempt, Update, Updated, failed_text, parse_answer, parse_updated

SAME_KEY_HINT = (
    "it may have been processed, so only the next build asks again, with the same Idempotency-Key"
)

CREDENTIALS_HINT = "from the service's dashboard, or from `contentgen writer user add`"


class ServiceClient(HTTPConnection):
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
        user_id, token = user_id.strip(), check_token(token, "token")
        for option, value in (("user_id", user_id), ("token", token)):
            if not (value and value.isprintable()):
                raise ConfigurationError(
                    f"{option}: is not set, or has an invalid character; set "
                    f"CONTENTGEN_{option.upper()} to the one {CREDENTIALS_HINT}"
                )
        params = {"user_id": user_id}
        super().__init__(url, name, token, params=params, app=app, unknown_hint=SAME_KEY_HINT)

    warnings: Sequence[str] = ()

    async def generate(self, request: Request, attempt: Attempt) -> Text:
        """Send a request, and return the text in the answer, as parse_answer() does.

        Of `attempt`, only the Idempotency-Key and the timeout are used. Raises a subclass of
        ServiceError, which tells whether the request may be sent again.
        """
        answer = await self._post(request.operation, request.body(), attempt)
        try:
            return parse_answer(answer, request)
        except FailedTextError as error:
            if self.has_token(error.answer):
                error.answer = ""
            raise

    async def update(self, request: Request, update: Update, attempt: Attempt) -> Updated:
        """Send what is to be updated of the text for a request, and return the changes.

        The interface has no such operation, a served writer and the sandbox have. Raises the same
        as generate().
        """
        body = {"type": request.type, **request.body(), "update": msgspec.to_builtins(update)}
        return parse_updated(await self._post(OPERATION, body, attempt))

    async def _post(self, operation: str, body: Mapping[str, object], attempt: Attempt) -> bytes:
        answer = await self.request(
            "POST",
            f"/{operation}",
            body=body,
            headers={"Idempotency-Key": attempt.idempotency_key},
            timeout=attempt.timeout,
        )
        if answer.status != 200:
            self._raise_status(answer)
        return answer.body

    def _raise_status(self, answer: Answer) -> NoReturn:
        """Raise the error for a status other than 200."""
        message = f"the service answered {answer.status_text}: {self._reason(answer)}"
        message = message.removesuffix(": ")
        fields = decode_json(answer.body) if answer.status == 500 else None
        if isinstance(fields, dict) and isinstance(text := fields.get("answer"), str):
            # A served writer tells what its model has answered.
            raise failed_text(message, "" if self.has_token(text) else text, fields)
        if answer.status in (409, 502, 504):  # a gateway may have passed the request on
            raise UnknownOutcomeError(f"{message}; {SAME_KEY_HINT}")
        hint = f"check base_url, token and user_id, {CREDENTIALS_HINT}"
        if answer.status == 404:  # the service can have other operations
            raise RejectedError(f"{message}; {hint}")
        raise_status(answer, message, hint)

    def _reason(self, answer: Answer) -> str:
        """Return the service's own message, or nothing if it has the token in it.

        A served writer's name for the request follows, for its operator.
        """
        request = answer.headers.get("X-Request-Id", "")
        known = REQUEST_ID.fullmatch(request) and not self.has_token(request)
        return self.quote(answer.reason()) + (f" (request {request})" if known else "")

"""The HTTP client of the content generation service (interface sections 2, 4 and 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import TypeVar

from ..errors import (
    ConfigurationError,
    FailedTextError,
    InvalidAnswerError,
    RejectedError,
    ServiceError,
)
from ..page_request import PageRequest
from ..text import Text
from . import SANDBOX, WRITER
from .addresses import check_address, check_token
from .bodies import decode_json
from .exchange import Answer, HTTPConnection
from .protocol import (
    MAX_TEXT_BODY,
    REQUEST_ID,
    Attempt,
    ServiceRequest,
    Translated,
    Translation,
    Update,
    Updated,
    failed_text,
    parse_answer,
    parse_translated,
    parse_updated,
)

SAME_KEY_HINT = (
    "it may have been processed, so only the next build asks again, with the same Idempotency-Key"
)

CREDENTIALS_HINT = "from the service's dashboard, or from `contentgen writer user add`"

_NO_OPERATION = frozenset({404, 405, 501})
"""Statuses of servers that do not have an operation."""

_Parsed = TypeVar("_Parsed")


def _credentials_problem(values: Mapping[str, str]) -> str:
    """Return a message about the credentials that cannot be used, or an empty string.

    `values` are those of the options.
    """
    missing = [option for option, value in values.items() if not value]
    if missing:
        options = " and ".join(missing)
        variables = " and ".join(f"CONTENTGEN_{option.upper()}" for option in missing)
        verb, found = ("is", "the one") if len(missing) == 1 else ("are", "those")
        return (
            f"{options}: {verb} not set; set {variables} to {found} {CREDENTIALS_HINT}; "
            "for a language model of your own, write "
            f"`base_url: {WRITER}`, and the address of its server as `writer.endpoint`"
        )
    for option, value in values.items():
        if not value.isprintable():
            return f"{option}: has an invalid character, such as a line break; copy it again"
    return ""


class ServiceClient(HTTPConnection):
    """Sends requests to the service, or to the sandbox. Used with `async with`.

    `base_url`, `user_id` and `token` are the plugin options of these names. Raises
    ConfigurationError if one of them is invalid. No message contains the token.
    """

    warnings: Sequence[str] = ()
    """A client has messages about all requests here. This one has none."""

    def __init__(
        self, base_url: str, user_id: str = "", token: str = "", *, allow_http: bool = False
    ) -> None:
        app = None
        if base_url.strip() == SANDBOX:
            from . import sandbox

            app = sandbox.app
            base_url = "http://localhost"
            user_id = user_id or SANDBOX
            token = token or SANDBOX
        url = check_address(
            base_url,
            "base_url",
            f"'https://…', '{WRITER}' for a language model of your own, or '{SANDBOX}'",
            allow_http=allow_http,
        )
        name = url.netloc.decode() if app is None else "the sandbox"
        user_id = user_id.strip()
        token = check_token(token, "token")
        problem = _credentials_problem({"user_id": user_id, "token": token})
        if problem:
            raise ConfigurationError(problem)
        self._address = url
        params = {"user_id": user_id}
        super().__init__(url, name, token, params=params, app=app, unknown_hint=SAME_KEY_HINT)

    async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
        """Send the request of a page, and return the text in the answer, as parse_answer() does.

        Of `attempt`, only the Idempotency-Key and the timeout are used. Raises a subclass of
        ServiceError, which tells whether the request may be sent again.
        """
        request = asked.request
        answer = await self._post(ServiceRequest(request), attempt)
        try:
            return self._parse(answer, lambda body: parse_answer(body, request))
        except FailedTextError as error:
            if self.has_token(error.answer):
                error.answer = ""
            raise

    async def update(self, asked: PageRequest, update: Update, attempt: Attempt) -> Updated:
        """Send what is to be updated of the text for a request, and return the changes.

        The interface has no such operation, a served writer and the sandbox have. Raises the same
        as generate().
        """
        answer = await self._post(ServiceRequest(asked.request, update), attempt)
        return self._parse(answer, parse_updated)

    async def translate(
        self, asked: PageRequest, translation: Translation, attempt: Attempt
    ) -> Translated:
        """Send the blocks of an original, and return their translations.

        `asked` is the request for the translation. As for updates, the interface has no such
        operation. Raises the same as generate().
        """
        answer = await self._post(ServiceRequest(asked.request, translation), attempt)
        return self._parse(answer, parse_translated)

    async def _post(self, sent: ServiceRequest, attempt: Attempt) -> Answer:
        """Return the answer of a request that was processed. Raises ServiceError."""
        answer = await self.request(
            "POST",
            f"/{sent.operation}",
            body=sent.body(),
            headers={"Idempotency-Key": attempt.idempotency_key},
            timeout=attempt.timeout,
        )
        if answer.is_success:
            return answer
        if sent.of_text is not None and answer.status in _NO_OPERATION:
            raise RejectedError(
                f"{self._answered(answer)}; only writers have the operation `{sent.operation}`: "
                f"use `base_url: {WRITER}` for a language model of your own, or the address of a "
                "served writer of this version"
            )
        if sent.of_text is not None and answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise RejectedError(
                f"{self._answered(answer)}; the text is too long for a proxy in front of the "
                f"writer, which has to let {MAX_TEXT_BODY // 2**20} MiB pass (nginx: "
                f"`client_max_body_size {MAX_TEXT_BODY // 2**20}m`)"
            )
        raise self._error(answer)

    def _parse(self, answer: Answer, parse: Callable[[bytes], _Parsed]) -> _Parsed:
        """Return what `parse` finds in an answer. Raises ServiceError.

        Where the status says more than the body, the error is that of the status: 202 says that the
        request is still being processed.
        """
        try:
            return parse(answer.body)
        except InvalidAnswerError:
            if answer.status == HTTPStatus.OK:
                raise
        except FailedTextError:
            if answer.status != HTTPStatus.ACCEPTED:
                raise
        raise self._error(answer)

    def _error(self, answer: Answer) -> ServiceError:
        """Return the error for the status of an answer without a text."""
        message = self._answered(answer)
        if answer.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            fields = decode_json(answer.body)
            if isinstance(fields, dict) and isinstance(fields.get("answer"), str):
                return self._failure_of_model(message, fields)
        if answer.status == HTTPStatus.NOT_FOUND:  # the service can have other operations
            return RejectedError(f"{message}; {self._wrong_address}")
        return self.status_error(answer, message, self._cure(answer.status))

    def _cure(self, status: int) -> str:
        """Return what to do about a status of all requests: its one cause."""
        match status:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                return f"check token and user_id, {CREDENTIALS_HINT}"
            case HTTPStatus.PAYMENT_REQUIRED:
                return "add credit to your account at the service"
            case _:
                return self._wrong_address

    @property
    def _wrong_address(self) -> str:
        """What to do where no such service answers."""
        return (
            f"is base_url right? {self._address} was tried; for a language model of your own, "
            f"write `base_url: {WRITER}`, and the address of its server as `writer.endpoint`"
        )

    def _failure_of_model(self, message: str, fields: Mapping[str, object]) -> FailedTextError:
        """Return the error of a served writer, which tells what its model has answered."""
        text = str(fields["answer"])
        return failed_text(message, "" if self.has_token(text) else text, fields)

    def _answered(self, answer: Answer) -> str:
        """Return what the service answered, with its reason if it gives one."""
        message = f"the service answered {answer.status_text}: {self._reason(answer)}"
        return message.removesuffix(": ")

    def _reason(self, answer: Answer) -> str:
        """Return the service's own message, or nothing if it has the token in it.

        A served writer's name for the request follows, for its operator.
        """
        reason = self.quote(answer.reason())
        request = answer.headers.get("X-Request-Id", "")
        if REQUEST_ID.fullmatch(request) and not self.has_token(request):
            reason += f" (request {request})"
        return reason

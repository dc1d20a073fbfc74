"""The HTTP interface of the service as a Starlette application (interface sections 2, 4 and 5).

Where the interface leaves details open (sections 4, 7 and 8), the application is strict, so that
errors in a client are found before requests to the real service cost money.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from typing import TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HTTPRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..display import escape_controls
from ..requests import EXTRA_FIELDS, REQUEST_TYPES, Request, expected_value, wrong_fields
from .bodies import TooLargeError, read_body
from .protocol import (
    MAX_TEXT_BODY,
    TRANSLATE_OPERATION,
    UPDATE_OPERATION,
    ServiceRequest,
    Translation,
    Update,
)

MAX_BODY = 2**20
"""The maximum size of the body of a request for a new text in bytes.

The interface has no limit (section 8)."""

MAX_IDEMPOTENCY_KEY = 255

_MAX_PROBLEM = 300
"""The maximum length of a message about a field in characters. A client gives them names."""

OPERATIONS = {f"/{model.operation}": model for model in REQUEST_TYPES.values()}
"""The three requests by path."""

TEXT_OPERATIONS: dict[str, tuple[str, type[Update | Translation]]] = {
    f"/{UPDATE_OPERATION}": ("update", Update),
    f"/{TRANSLATE_OPERATION}": ("translation", Translation),
}
"""The operations that update or translate a text, by path.

Each has the name of the field of the body that says what is to become of the text, and its type.
"""


Caller = TypeVar("Caller")

Write = Callable[[ServiceRequest, Caller, str], Awaitable[bytes]]
"""Returns the body of the answer to a request. May raise HTTPException.

It gets the request, who calls, and the Idempotency-Key, which is empty if there is none.
"""

Parse = Callable[[dict[str, object]], ServiceRequest]
"""Returns what the fields of a body ask for. Raises HTTPException."""

Authenticate = Callable[[str, str], Awaitable[Caller]]
"""Returns who calls. Raises HTTPException unless a user may use this token."""


async def allow_everybody(user: str, token: str) -> str:
    """Accept any user and any token."""
    return user


def application(
    write: Write[Caller], authenticate: Authenticate[Caller], routes: Sequence[Route] = ()
) -> Starlette:
    """Return an ASGI application for new texts, updates, translations and `routes`.

    The operations `update-text` and `translate-text` are not in the interface.

    Errors are answered with `{"success": false, "error": …}`. The status is 400, 401, 404, 405,
    413, 415 or 422 if the request is invalid (interface section 7 leaves it open), and 500 if
    `write` raises an exception, which is then passed on to the server. Of the request, `error`
    repeats only the names of fields.
    """

    def operation(path: str, parse: Parse, max_body: int) -> Route:
        return Route(path, _endpoint(authenticate, parse, max_body, write), methods=["POST"])

    operations = []
    for path, model in OPERATIONS.items():
        operations.append(operation(path, partial(_parse_new_text, model), MAX_BODY))
    for path, (field, kind) in TEXT_OPERATIONS.items():
        operations.append(operation(path, partial(_parse_of_text, field, kind), MAX_TEXT_BODY))
    app = Starlette(
        routes=[*operations, *routes],
        exception_handlers={HTTPException: error_response, Exception: error_response},
    )
    app.router.redirect_slashes = False
    return app


def _endpoint(
    authenticate: Authenticate[Caller], parse: Parse, max_body: int, write: Write[Caller]
) -> Callable[[HTTPRequest], Awaitable[Response]]:
    """Return what answers the requests of an operation."""

    async def answer(request: HTTPRequest) -> Response:
        token = _token(request)
        user = _single(request.query_params.getlist("user_id"))
        if not user:
            raise HTTPException(400, "give the query parameter user_id exactly once, and not empty")
        caller = await authenticate(user, token)
        _check_media_type(request)
        key = _idempotency_key(request)
        asked = parse(_fields(await _read(request, max_body)))
        content = await write(asked, caller, key)
        return Response(content, media_type="application/json")

    return answer


def _token(request: HTTPRequest) -> str:
    scheme, _, token = _single(request.headers.getlist("authorization")).partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        message = "send one header 'Authorization: Bearer <token>'"
        raise HTTPException(401, message, {"WWW-Authenticate": "Bearer"})
    return token.strip()


def _check_media_type(request: HTTPRequest) -> None:
    media_type, _, _ = _single(request.headers.getlist("content-type")).partition(";")
    if media_type.strip().lower() != "application/json":
        raise HTTPException(415, "send the body as 'Content-Type: application/json'")


def _idempotency_key(request: HTTPRequest) -> str:
    keys = request.headers.getlist("idempotency-key")
    if not keys:
        return ""
    key = _single(keys)
    if not key or len(key) > MAX_IDEMPOTENCY_KEY:
        raise HTTPException(
            400,
            f"send at most one header Idempotency-Key, with 1 to {MAX_IDEMPOTENCY_KEY} characters",
        )
    return key


def _single(values: list[str]) -> str:
    """Return the value if there is exactly one, otherwise an empty string."""
    if len(values) != 1:
        return ""
    return values[0].strip()


async def _read(request: HTTPRequest, max_body: int) -> bytes:
    # Starlette's own max_body_size is new, answers in plain text, and is checked before the token.
    try:
        return await read_body(request.stream(), max_body)
    except TooLargeError:
        message = f"the body is too large; at most {max_body} bytes are allowed"
        raise HTTPException(413, message) from None
    except ClientDisconnect:
        raise HTTPException(400, "the body ended early; send all of it") from None


def _fields(body: bytes) -> dict[str, object]:
    try:
        # Unlike json.loads, msgspec refuses NaN and unpaired surrogates.
        fields = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not valid JSON in UTF-8") from None
    if not isinstance(fields, dict):
        raise HTTPException(400, 'the body must be a JSON object such as {"topic": "…"}')
    return fields


@cache
def body_fields(model: type[Request]) -> list[str]:
    """Return the fields that a body can have. The models also have fields of the plugin."""
    any_request = msgspec.convert({"topic": "-"}, model)
    return [*any_request.body(), *EXTRA_FIELDS]


def _parse_new_text(model: type[Request], fields: dict[str, object]) -> ServiceRequest:
    return ServiceRequest(_parse_request(model, fields))


def _parse_of_text(
    field: str, kind: type[Update | Translation], fields: dict[str, object]
) -> ServiceRequest:
    """Return what a body asks for a text. `field` has the update or translation, of this kind."""
    name = fields.pop("type", None)
    given = fields.pop(field, None)
    model = None
    if isinstance(name, str):
        model = REQUEST_TYPES.get(name)
    if model is None:
        raise HTTPException(422, f"type must be one of {', '.join(REQUEST_TYPES)}")
    request = _parse_request(model, fields)
    try:
        return ServiceRequest(request, msgspec.convert(given, kind))
    except ValueError as error:  # its message names the field, and quotes no value
        problem = escape_controls(str(error))[:_MAX_PROBLEM]
        raise HTTPException(422, f"{field} is not valid: {problem}") from None


def _parse_request(model: type[Request], fields: dict[str, object]) -> Request:
    allowed = body_fields(model)
    unknown = []
    for name in fields:
        if name not in allowed:
            unknown.append(ascii(name)[:60])
    if unknown:
        names = ", ".join(unknown[:3])
        raise HTTPException(422, f"unknown field {names}; allowed are {', '.join(allowed)}")
    try:
        return msgspec.convert(fields, model)
    except ValueError:
        invalid = wrong_fields(model, fields)
        problems = (f"{name} must be {expected_value(model, name)}" for name in invalid)
        raise HTTPException(422, "; ".join(problems)) from None


async def error_response(request: HTTPRequest, error: Exception) -> JSONResponse:
    """Return the answer to a request that raised an exception."""
    if not isinstance(error, HTTPException):
        error = HTTPException(500, "an error in the server; its log has the details")
    message = error.detail
    if error.status_code in (404, 405):
        paths = [route.path for route in request.app.routes if "POST" in (route.methods or ())]
        message = f"there is no such operation; send a POST to {', '.join(paths)}"
    return JSONResponse({"success": False, "error": message}, error.status_code, error.headers)

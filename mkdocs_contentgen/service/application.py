"""The HTTP interface of the service as a Starlette application (interface sections 2, 4 and 5).

Where the interface leaves details open (sections 4, 7 and 8), the application is strict, so that
errors in a client are found before requests to the real service cost money.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HTTPRequest
from starlette.responses import JSONResponse
from starlette.routing import Route

from ..requests import REQUEST_TYPES, Request, choices, wrong_fields

MAX_BODY = 2**20
"""The maximum size of a request body in bytes. The interface has no limit (section 8)."""

_OPERATIONS = {f"/{model.operation}": model for model in REQUEST_TYPES.values()}

_ROUTING_ERRORS = {
    404: f"no such address; there are {', '.join(_OPERATIONS)}",
    405: "only POST is allowed here",
}
"""The messages for the errors of Starlette's router."""


def application(write: Callable[[Request], Awaitable[str]]) -> Starlette:
    """Return an ASGI application for the three operations. `write` returns the HTML of a text.

    Errors are answered with `{"success": false, "error": …}`. The status is 400, 401, 404, 405,
    413, 415 or 422 if the request is invalid (interface section 7 leaves it open), and 500 if
    `write` raises an exception, which is then passed on to the server. Of the request, `error`
    repeats only the names of fields.
    """
    app = Starlette(
        routes=[
            Route(path, _endpoint(model, write), methods=["POST"])
            for path, model in _OPERATIONS.items()
        ],
        exception_handlers={HTTPException: _error_response, Exception: _error_response},
    )
    app.router.redirect_slashes = False
    return app


def _endpoint(
    model: type[Request], write: Callable[[Request], Awaitable[str]]
) -> Callable[[HTTPRequest], Awaitable[JSONResponse]]:
    async def generate(request: HTTPRequest) -> JSONResponse:
        _check_headers(request)
        content = await write(_parse(model, await _read(request)))
        return JSONResponse({"success": True, "content": content})

    return generate


def _check_headers(request: HTTPRequest) -> None:
    """Check the headers and the query parameters (interface sections 4 and 5)."""
    scheme, _, token = _single(request.headers.getlist("authorization")).partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        message = "send one header 'Authorization: Bearer <token>'; any token will do here"
        raise HTTPException(401, message, {"WWW-Authenticate": "Bearer"})
    if not _single(request.query_params.getlist("user_id")):
        raise HTTPException(400, "give the query parameter user_id exactly once, and not empty")
    media_type, _, _ = _single(request.headers.getlist("content-type")).partition(";")
    if media_type.strip().lower() != "application/json":
        raise HTTPException(415, "send the body as 'Content-Type: application/json'")


def _single(values: list[str]) -> str:
    """Return the value if there is exactly one, otherwise an empty string."""
    return values[0].strip() if len(values) == 1 else ""


async def _read(request: HTTPRequest) -> bytes:
    # Starlette's own max_body_size is new, answers in plain text, and comes before the 401.
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                message = f"the body is too large; at most {MAX_BODY} bytes are allowed"
                raise HTTPException(413, message)
    except ClientDisconnect:
        raise HTTPException(400, "the body ended early; send all of it") from None
    return bytes(body)


def _parse(model: type[Request], body: bytes) -> Request:
    """Return the request in a JSON body (interface section 2.1)."""
    try:
        # Unlike json.loads, msgspec refuses NaN and unpaired surrogates.
        fields = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not valid JSON in UTF-8") from None
    if not isinstance(fields, dict):
        raise HTTPException(400, 'the body must be a JSON object such as {"topic": "…"}')

    # The models also have fields of the plugin, which are not part of the body.
    allowed = list(msgspec.convert({"topic": "-"}, model).body())
    unknown = [ascii(name)[:60] for name in fields if name not in allowed]
    if unknown:
        names = ", ".join(unknown[:3])
        raise HTTPException(422, f"unknown field {names}; allowed are {', '.join(allowed)}")
    if invalid := wrong_fields(model, fields):
        raise HTTPException(422, "; ".join(_field_problem(model, name) for name in invalid))
    return msgspec.convert(fields, model)


def _field_problem(model: type[Request], name: str) -> str:
    if allowed_values := choices(model).get(name):
        return f"{name} must be one of {', '.join(allowed_values)}"
    return f"{name} is required and must be valid text that is not empty"


async def _error_response(_: HTTPRequest, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        error = HTTPException(500, "an error in the server; its log has the details")
    message = _ROUTING_ERRORS.get(error.status_code, error.detail)
    return JSONResponse({"success": False, "error": message}, error.status_code, error.headers)

"""Describe the server as an OpenAPI document, made from the records of requests and answers."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ...requests import EXTRA_FIELDS, REQUEST_TYPES, Request
from ...service.application import MAX_IDEMPOTENCY_KEY, OPERATIONS
from ...service.protocol import OPERATION, Update, Updated
from ..ledger.users import NAME


class Cost(msgspec.Struct):
    """What a text took."""

    cost: float | None
    input_tokens: int = 0
    output_tokens: int = 0


class Written(msgspec.Struct):
    """A text."""

    success: Literal[True]
    content: Annotated[str, Meta(description="HTML with one root element `<article>`.")]
    model: Annotated[str, Meta(description="The name of the model.")]
    usage: Cost
    sources: Annotated[
        dict[str, str], Meta(description="The SHA-256 of each cited section by its address.")
    ] = {}
    passages: Annotated[
        dict[str, str], Meta(description="What each cited section says, by its address.")
    ] = {}
    remarks: Annotated[list[str], Meta(description="What is not as requested.")] = []


class Failure(msgspec.Struct):
    """The reason why there is no text."""

    success: Literal[False]
    error: str
    answer: Annotated[str, Meta(description="What the model wrote that cannot be used.")] = ""
    model: str = ""
    usage: Cost | None = None


_FAILURES = (
    "400, 401, 403, 404, 405, 413, 415, 422: the request cannot be used, and `error` says why. "
    "409, 429, 503: nothing was written; ask again after the seconds in `Retry-After`, with the "
    "same Idempotency-Key. 500: the text could not be written, or nobody can use it. 502: the "
    "model server refuses all requests, until the operator acts."
)
_HEADERS = {
    "X-Request-Id": "The id of the request in the log of the server.",
    "RateLimit": "How many requests are left, and the seconds until there are more.",
    "Retry-After": "Seconds after which to ask again.",
}
_PARAMETERS = [
    {
        "name": "user_id",
        "in": "query",
        "required": True,
        "description": "The name of the user.",
        "schema": {"type": "string", "pattern": f"^{NAME.pattern}$"},
    },
    {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "A new one for each text. The same key and body get the same answer, so "
        "that a request can be sent again.",
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_IDEMPOTENCY_KEY},
    },
]


def describe() -> dict[str, object]:
    """Return the document, for OpenAPI 3.1."""
    _, schemas = msgspec.json.schema_components(
        [Written, Failure, Update, Updated], ref_template="#/components/schemas/{name}"
    )
    operations = {
        path: _operation(model.operation, model.__doc__ or "", _body(model), "Written")
        for path, model in OPERATIONS.items()
    }
    update = {"oneOf": [_update(name, model) for name, model in REQUEST_TYPES.items()]}
    operations[f"/{OPERATION}"] = _operation(
        OPERATION, "Update a text that is there", update, "Updated"
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "mkdocs-contentgen writer", "version": version("mkdocs-contentgen")},
        "paths": {path: {"post": operation} for path, operation in operations.items()},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
        },
    }


def _operation(name: str, summary: str, body: object, answer: str) -> dict[str, object]:
    return {
        "operationId": name,
        "summary": summary.partition(" (")[0],
        "security": [{"token": []}],
        "parameters": _PARAMETERS,
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": _response("The answer.", answer, "X-Request-Id", "RateLimit"),
            "default": _response(_FAILURES, "Failure", *_HEADERS),
        },
    }


def _response(description: str, schema: str, *headers: str) -> dict[str, object]:
    return {
        "description": description,
        "headers": {
            name: {"description": _HEADERS[name], "schema": {"type": "string"}} for name in headers
        },
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}},
    }


def _body(model: type[Request]) -> dict[str, Any]:
    """Return the JSON Schema of a body: interface section 2.1, and the fields of the writer."""
    _, components = msgspec.json.schema_components([model])
    schema: dict[str, Any] = components[model.__name__]
    names = [*msgspec.convert({"topic": "-"}, model).body(), *EXTRA_FIELDS]
    properties = {name: schema["properties"][name] for name in names}
    return {
        "type": "object",
        "properties": properties,
        "required": ["topic"],
        "additionalProperties": False,
    }


def _update(name: str, model: type[Request]) -> dict[str, Any]:
    """Return the JSON Schema of an update: the fields of a request, its type, and the update."""
    body = _body(model)
    update = {"type": {"const": name}, "update": {"$ref": "#/components/schemas/Update"}}
    required = ["type", "topic", "update"]
    return {**body, "properties": {**body["properties"], **update}, "required": required}

"""Describe the server as an OpenAPI document, made from the request models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from ...requests import EXTRA_FIELDS, REQUEST_TYPES, Request, choices
from ...service.application import MAX_BODY, MAX_IDEMPOTENCY_KEY, OPERATIONS
from ...service.updates import OPERATION, Update, Updated
from ..ledger.users import NAME

_STATUSES = {
    400: "The query parameter, the header Idempotency-Key or the JSON is not valid.",
    401: "The header Authorization is missing or malformed.",
    403: "The token is not that of the user.",
    405: "The method is not POST.",
    409: "Another request with the same Idempotency-Key is still in progress. Ask again later.",
    413: f"The body is larger than {MAX_BODY} bytes.",
    415: "The body is not sent as application/json.",
    422: "A field is unknown, missing or has an invalid value, or the Idempotency-Key was used for "
    "another request.",
    429: "A limit of the user is reached; nothing was written.",
    500: "The text could not be written, or nobody can use it.",
    502: "The model server refuses all requests, until the operator acts.",
    503: "The server is busy, or cannot be used now. Ask again later.",
}
_RETRY_AFTER = {
    "Retry-After": {
        "description": "Seconds after which to ask again.",
        "schema": {"type": "integer", "minimum": 1},
    }
}


_REQUEST_ID = {
    "X-Request-Id": {
        "description": "The id of the request in the log of the server.",
        "schema": {"type": "string"},
    }
}
_LIMIT_HEADERS = {
    "RateLimit": {
        "description": "How many are left, and the seconds until there are more.",
        "schema": {"type": "string"},
    },
}


def describe() -> dict[str, object]:
    """Return the document, for OpenAPI 3.1."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mkdocs-contentgen writer",
            "description": "Writes articles, blog posts and news articles with a language model.",
            "version": version("mkdocs-contentgen"),
        },
        "paths": {
            **{
                path: {"post": _operation(model.operation, model.__doc__ or "", _body(model))}
                for path, model in OPERATIONS.items()
            },
            f"/{OPERATION}": {
                "post": _operation(OPERATION, "Update a text that is there", _update(), "Updated")
            },
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Text": _TEXT, "Failure": _FAILURE, **_UPDATE_SCHEMAS},
        },
    }


def _operation(
    name: str, summary: str, body: dict[str, Any], answer: str = "Text"
) -> dict[str, object]:
    return {
        "operationId": name,
        "summary": summary.partition(" (")[0],
        "security": [{"token": []}],
        "parameters": [
            {
                "name": "user_id",
                "in": "query",
                "required": True,
                "description": "The name of the user.",
                "schema": {"type": "string", "pattern": f"^{NAME.pattern}$"},
                "example": "alice",
            },
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "A new one for each text. The same key and body get the same "
                "answer, so that a request can be sent again.",
                "schema": {"type": "string", "minLength": 1, "maxLength": MAX_IDEMPOTENCY_KEY},
                "example": "newsletter-2026-11",
            },
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": body}},
        },
        "responses": {
            "200": _response("The text.", answer, headers=_LIMIT_HEADERS),
            **{
                str(status): _response(
                    description,
                    "Failure",
                    headers=_RETRY_AFTER if status in (409, 429, 503) else {},
                )
                for status, description in _STATUSES.items()
            },
        },
    }


def _body(model: type[Request]) -> dict[str, Any]:
    """Return the JSON Schema of a body: interface section 2.1, and the fields of the writer."""
    _, components = msgspec.json.schema_components([model])
    schema: dict[str, Any] = components[model.__name__]
    names = [*msgspec.convert({"topic": "-"}, model).body(), *EXTRA_FIELDS]
    properties = {name: schema["properties"][name] for name in names}
    for name, values in choices(model).items():
        if name in properties:
            properties[name]["enum"] = list(values)
    properties["topic"] |= {
        "description": "What to write about: the main topic or title, for news the headline.",
        "examples": ["Ten ways to speed up a docs build"],
    }
    return {**_object(["topic"], **properties), "additionalProperties": False}


def _update() -> dict[str, Any]:
    """Return the JSON Schema of an update: the fields of a request, its type, and the update."""
    bodies = []
    for name, model in REQUEST_TYPES.items():
        properties = _body(model)["properties"] | {
            "type": {"const": name},
            "update": {"$ref": "#/components/schemas/Update"},
        }
        body = _object(["type", "topic", "update"], **properties)
        bodies.append({**body, "additionalProperties": False})
    return {"oneOf": bodies}


def _response(description: str, schema: str, *, headers: Mapping[str, object]) -> dict[str, object]:
    return {
        "description": description,
        "headers": {**_REQUEST_ID, **headers},
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}},
    }


def _object(required: Sequence[str], **properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": required}


_INTEGER, _STRING = {"type": "integer"}, {"type": "string"}
_TEXT = _object(
    ["success", "content", "model", "usage"],
    success={"const": True},
    content={"type": "string", "description": "HTML with one root element `<article>`."},
    model={"type": "string", "description": "The name of the model."},
    sources={
        "type": "object",
        "description": "The SHA-256 of each cited section by its address.",
        "additionalProperties": _STRING,
    },
    passages={
        "type": "object",
        "description": "What each cited section says, by its address.",
        "additionalProperties": _STRING,
    },
    remarks={"type": "array", "description": "What is not as requested.", "items": _STRING},
    usage=_object(
        ["input_tokens", "output_tokens", "cost"],
        input_tokens=_INTEGER,
        output_tokens=_INTEGER,
        cost={"type": ["number", "null"]},
    ),
)
_FAILURE = _object(
    ["success", "error"],
    success={"const": False},
    error=_STRING,
    answer={"type": "string", "description": "What the model wrote that cannot be used."},
    model=_STRING,
    usage={"type": "object", "properties": {"cost": {"type": ["number", "null"]}}},
)
_, _UPDATE_SCHEMAS = msgspec.json.schema_components(
    [Update, Updated], ref_template="#/components/schemas/{name}"
)

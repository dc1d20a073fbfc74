"""Describe the server as an OpenAPI document: `openapi.yml`, with the fields of requests."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import msgspec
import yaml

from ..requests import REQUEST_TYPES
from ..service.application import OPERATIONS, TEXT_OPERATIONS, body_fields
from ..service.protocol import Translated, Translation, Update, Updated


@cache
def openapi_document() -> dict[str, Any]:
    """Return the document, for OpenAPI 3.1."""
    document: dict[str, Any] = yaml.safe_load(
        files(__package__).joinpath("openapi.yml").read_text("utf-8")
    )
    document["info"]["version"] = version("mkdocs-contentgen")
    document["components"]["schemas"] |= _schemas()
    template = msgspec.json.encode(document["paths"].pop("/OPERATION"))
    for path in (*OPERATIONS, *TEXT_OPERATIONS):
        operation = path.removeprefix("/").encode()
        document["paths"][path] = msgspec.json.decode(template.replace(b"OPERATION", operation))
    return document


def _schemas() -> dict[str, Any]:
    """Return the schemas of the bodies of all operations, and of the records in them."""
    _, records = msgspec.json.schema_components(
        [Update, Updated, Translation, Translated, *REQUEST_TYPES.values()],
        ref_template="#/components/schemas/{name}",
    )
    fields_of_type: dict[str, dict[str, Any]] = {}
    for name, request_type in REQUEST_TYPES.items():
        properties = records.pop(request_type.__name__)["properties"]
        fields_of_type[name] = {field: properties[field] for field in body_fields(request_type)}
    bodies: dict[str, Any] = {}
    for name, request_type in REQUEST_TYPES.items():
        bodies[request_type.operation] = _body(fields_of_type[name], ["topic"])
    for path, (text_field, record) in TEXT_OPERATIONS.items():
        text = {"$ref": f"#/components/schemas/{record.__name__}"}
        choices = []
        for name, fields in fields_of_type.items():
            properties = {**fields, "type": {"const": name}, text_field: text}
            choices.append(_body(properties, ["type", "topic", text_field]))
        bodies[path.removeprefix("/")] = {"oneOf": choices}
    return {**records, **bodies}


def _body(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """Return the schema of the body of a request."""
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "required": required,
    }

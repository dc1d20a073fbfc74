"""Describe the server as an OpenAPI document: `openapi.yml`, with the fields of requests."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import msgspec
import yaml

from ..requests import EXTRA_FIELDS, REQUEST_TYPES
from ..service.application import OPERATIONS, TEXT_OPERATIONS
from ..service.protocol import Translated, Translation, Update, Updated


@cache
def describe() -> dict[str, Any]:
    """Return the document, for OpenAPI 3.1."""
    document: dict[str, Any] = yaml.safe_load(
        files(__package__).joinpath("openapi.yml").read_text("utf-8")
    )
    document["info"]["version"] = version("mkdocs-contentgen")
    _, schemas = msgspec.json.schema_components(
        [Update, Updated, Translation, Translated, *REQUEST_TYPES.values()],
        ref_template="#/components/schemas/{name}",
    )
    bodies: dict[str, dict[str, Any]] = {}
    for name, model in REQUEST_TYPES.items():
        fields = schemas.pop(model.__name__)["properties"]
        names = [*msgspec.convert({"topic": "-"}, model).body(), *EXTRA_FIELDS]
        bodies[name] = {field: fields[field] for field in names}
        schemas[model.operation] = _body(bodies[name], ["topic"])
    for path, (field, kind) in TEXT_OPERATIONS.items():
        of_text = {field: {"$ref": f"#/components/schemas/{kind.__name__}"}}
        choices = []
        for name, properties in bodies.items():
            own = {**properties, "type": {"const": name}, **of_text}
            choices.append(_body(own, ["type", "topic", field]))
        schemas[path.removeprefix("/")] = {"oneOf": choices}
    document["components"]["schemas"] |= schemas
    template = msgspec.json.encode(document["paths"].pop("/OPERATION"))
    for path in (*OPERATIONS, *TEXT_OPERATIONS):
        operation = path.removeprefix("/").encode()
        document["paths"][path] = msgspec.json.decode(template.replace(b"OPERATION", operation))
    return document


def _body(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """Return the schema of the body of a request."""
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "required": required,
    }

"""Describe the server as an OpenAPI document: `openapi.yml`, with the fields of requests."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import msgspec
import yaml

from ..requests import EXTRA_FIELDS, REQUEST_TYPES
from ..service.protocol import OPERATION, Update, Updated


@cache
def describe() -> dict[str, Any]:
    """Return the document, for OpenAPI 3.1."""
    document: dict[str, Any] = yaml.safe_load(
        files(__package__).joinpath("openapi.yml").read_text("utf-8")
    )
    document["info"]["version"] = version("mkdocs-contentgen")
    _, schemas = msgspec.json.schema_components(
        [Update, Updated, *REQUEST_TYPES.values()], ref_template="#/components/schemas/{name}"
    )
    updates = []
    for name, model in REQUEST_TYPES.items():
        fields = schemas.pop(model.__name__)["properties"]
        names = [*msgspec.convert({"topic": "-"}, model).body(), *EXTRA_FIELDS]
        properties = {field: fields[field] for field in names}
        body = {"type": "object", "properties": properties, "additionalProperties": False}
        update = {"type": {"const": name}, "update": {"$ref": "#/components/schemas/Update"}}
        schemas[model.operation] = {**body, "required": ["topic"]}
        required = ["type", "topic", "update"]
        updates.append({**body, "properties": {**properties, **update}, "required": required})
    schemas[OPERATION] = {"oneOf": updates}
    document["components"]["schemas"] |= schemas
    path = msgspec.json.encode(document["paths"].pop("/OPERATION"))
    for name in (*(model.operation for model in REQUEST_TYPES.values()), OPERATION):
        own = path.replace(b"OPERATION", name.encode())
        document["paths"][f"/{name}"] = msgspec.json.decode(own)
    return document

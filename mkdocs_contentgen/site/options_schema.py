"""Describe the options of the plugin as a JSON Schema, from where they are declared."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, cast

import msgspec
from mkdocs.config import config_options as c
from mkdocs.config.base import BaseConfigOption, get_schema

from ..requests import defaults_schema
from ..writer.options import WriterFields
from .options import ContentgenConfig

_NAME = "contentgen"


def options_schema() -> dict[str, object]:
    """Return the JSON Schema of `mkdocs.yml` with the plugin; all else in it is allowed.

    `$defs` has the item of `plugins` on its own, for schemas that list all plugins.
    """
    entry = {
        "description": "Generated articles, blog posts and news in pages.",
        "if": {"type": "object"},
        "then": _only({_NAME: {"$ref": "#/$defs/options"}}),
        "else": {"const": _NAME},
    }
    # Unlike `anyOf`, conditions let editors name the very option that is wrong.
    is_ours = {"anyOf": [{"const": _NAME}, {"type": "object", "required": [_NAME]}]}
    place = {
        "if": {"type": "array"},
        "then": {"items": {"if": is_ours, "then": {"$ref": "#/$defs/plugin"}}},
        "else": {"properties": {_NAME: {"$ref": "#/$defs/options"}}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The options of mkdocs-contentgen in mkdocs.yml",
        "type": "object",
        "properties": {"plugins": place, "markdown_extensions": place},
        "$defs": {"plugin": entry, "options": _options()},
    }


def _options() -> dict[str, object]:
    descriptions = _docstrings(ContentgenConfig)
    properties = {}
    for name, option in get_schema(ContentgenConfig):
        schema = _values(option)
        if not isinstance(option, c.ListOfItems):  # which MkDocs takes for missing if it is empty
            schema = _or_empty(schema)
        properties[name] = {**schema, "description": descriptions[name]}
    properties["writer"] = {**_writer(), "description": descriptions["writer"]}
    defaults = _or_empty(defaults_schema())
    properties["defaults"] = {**defaults, "description": descriptions["defaults"]}
    return {**_only(properties), "type": ["object", "null"]}


def _or_empty(schema: dict[str, object]) -> dict[str, object]:
    """Let an option be empty, which means its default."""
    for name, empty in (("enum", None), ("anyOf", {"type": "null"})):
        if name in schema:
            return {**schema, name: [*cast(list[object], schema[name]), empty]}
    return {**schema, "type": [schema["type"], "null"]}


def _only(properties: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _values(option: BaseConfigOption[Any]) -> dict[str, object]:
    """Return the JSON Schema of the values of an option."""
    match option:
        case c.Optional():
            return _values(option.option)
        case c.Choice():
            return {"enum": list(option.choices)}
        case c.ListOfItems():
            return {"type": "array", "items": _values(option.option_type)}
        case c.Type():
            kinds = {bool: "boolean", str: "string", dict: "object"}
            return {"type": kinds[option._type]}
        case _:
            own: Mapping[str, object] = option.json_schema  # type: ignore[attr-defined]  # of ours
            return dict(own)


def _writer() -> dict[str, object]:
    """Return the JSON Schema of the options of the writer."""
    (reference,), components = msgspec.json.schema_components(
        [WriterFields], schema_hook=lambda kind: {"title": "anything"}
    )
    schema = _inlined(reference, components)
    for name, description in _docstrings(WriterFields).items():
        if name in schema["properties"]:
            own = _or_empty(schema["properties"][name])
            schema["properties"][name] = {**own, "description": description}
    return {**schema, "type": ["object", "null"]}


def _inlined(schema: Any, components: Mapping[str, Any]) -> Any:
    """Return a schema with what its references name, and without Python's own words."""
    if isinstance(schema, list):
        return [_inlined(it, components) for it in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(components[schema["$ref"].rpartition("/")[2]], components)
    return {key: _inlined(it, components) for key, it in schema.items() if key != "title"}


def _docstrings(model: type) -> dict[str, str]:
    """Return the text below each attribute of a class, in one line for each paragraph."""
    definition = cast(ast.ClassDef, ast.parse(inspect.getsource(model)).body[0])
    found = {}
    for before, after in pairwise(definition.body):
        match before, after:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                paragraphs = inspect.cleandoc(text).split("\n\n")
                found[name] = "\n\n".join(" ".join(it.split()) for it in paragraphs)
    return found

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

from ..writer.models.settings import WriterFields
from .options import Options

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
    plugins = {
        "if": {"type": "array"},
        "then": {"items": {"if": is_ours, "then": {"$ref": "#/$defs/plugin"}}},
        "else": {"properties": {_NAME: {"$ref": "#/$defs/options"}}},
    }
    options, referenced = _options()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The options of mkdocs-contentgen in mkdocs.yml",
        "type": "object",
        "properties": {"plugins": plugins},
        "$defs": {"plugin": entry, "options": options, **referenced},
    }


def _options() -> tuple[dict[str, object], dict[str, Any]]:
    """Return the JSON Schema of the options, and what it refers to."""
    _, components = msgspec.json.schema_components(
        [WriterFields], ref_template="#/$defs/{name}", schema_hook=_any_type
    )
    for component in components.values():
        component["type"] = ["object", "null"]
    _describe(components["WriterFields"]["properties"], WriterFields)
    properties: dict[str, Any] = {}
    for name, option in get_schema(Options):
        properties[name] = _values(option)
    properties["writer"] = {"$ref": "#/$defs/WriterFields"}
    _describe(properties, Options)
    return _only(properties) | {"type": ["object", "null"]}, components


def _describe(properties: dict[str, Any], declaration: type) -> None:
    """Add the text of each option, and let it be empty, which means its default."""
    for name, description in _docstrings(declaration).items():
        match properties[name]:
            case {"anyOf": kinds}:
                kinds.append({"type": "null"})
            case {"enum": values}:
                values.append(None)
            # MkDocs refuses an empty list as one that is missing.
            case {"type": kind} if kind != "array":
                properties[name]["type"] = [kind, "null"]
        properties[name]["description"] = description


def _only(properties: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _values(option: BaseConfigOption[Any]) -> dict[str, Any]:
    """Return the JSON Schema of the values of an option."""
    match option:
        case c.Choice():
            return {"enum": list(option.choices)}
        case c.ListOfItems():
            return {"type": "array", "items": _values(option.option_type)}
        case _:
            kind = option.kind  # type: ignore[attr-defined]  # of ours
            return msgspec.json.schema(kind, schema_hook=_any_type)


def _any_type(kind: type) -> dict[str, object]:
    """Return the schema of a type that msgspec knows none for."""
    return {"title": "any"}


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
                lines = [" ".join(paragraph.split()) for paragraph in paragraphs]
                found[name] = "\n\n".join(lines)
    return found

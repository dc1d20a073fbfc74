"""Read the operations and schemas of OpenAPI and JSON Schema documents, property by property.

A reference is followed in its own document only. References can make a small document endless, so
what is read has a limit, as have the lines of a symbol and their depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

import yaml

from .code_symbols import Symbol

MAX_PARSED = 512 * 1024
"""Characters of a document that is parsed, which takes up to half a second."""

_MAX_LINES = 200
"""Lines about properties in a symbol."""

_MAX_READ = 4_000_000
"""Characters that are read of a document, where what several references lead to counts each time.

That takes half a second. It is more than documents of MAX_PARSED characters are known to need.
"""

_REFERENCE_COST = 40
"""Characters whose reading takes as long as looking at a part of a document."""

_MAX_DEPTH = 4
"""How deep properties within properties are shown."""

_MAX_REFERENCES = 20
"""References that lead from one to the next."""

_MAX_NAME = 200
"""Characters of the name of a symbol."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")

_LIMITS = (
    *("format", "default", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"),
    *("minProperties", "maxProperties", "nullable", "readOnly", "writeOnly", "deprecated"),
)
"""The keys of a schema whose values are shown as they are."""

_CHOICES = ("allOf", "oneOf", "anyOf")

_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\"<>\\`]")
"""What the name of a cited passage cannot have."""

_Items = Mapping[str, yaml.Node]


def read_api_schema(text: str) -> list[Symbol] | None:
    """Return the operations and schemas of a document, or None if it is of another kind.

    The document is JSON or YAML. None is also returned for what cannot be parsed.
    """
    if len(text) > MAX_PARSED:
        return None
    try:
        return _read(text)
    except (yaml.YAMLError, ValueError, RecursionError, _TooLongError):
        return None


def _read(text: str) -> list[Symbol] | None:
    root: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
    items = _items(root)
    if "openapi" in items or "swagger" in items:
        return _Document(root).api()
    if any(name in items for name in ("$schema", "properties", "$defs")):
        return _Document(root).schema()
    return None


class _TooLongError(Exception):
    """References lead to more than _MAX_READ characters."""


@dataclass
class _Document:
    """A document whose references are followed."""

    _node: yaml.Node | None
    _left: int = _MAX_READ
    """Characters that may still be read."""

    @cached_property
    def root(self) -> _Items:
        """The values at the top."""
        return _items(self._node)

    def api(self) -> list[Symbol]:
        """Return the symbols of an OpenAPI document."""
        found = []
        about = _items(self.root.get("info"))
        said = [f"{name}: {_text(about[name])}" for name in ("title", "version") if name in about]
        said += _described(about)
        if said:
            found.append(_symbol("", 1, said))
        for path, node in _items(self.root.get("paths")).items():
            methods = self._resolved(node)
            for method, line in _lines_of_keys(methods).items():
                if method in _METHODS:
                    name = f"{method.upper()} {path}"
                    found.append(_symbol(name, line, self._operation(name, methods, method)))
        components = _items(self.root.get("components"))
        found += self._schemas(self.root.get("definitions"))
        return [*found, *self._schemas(components.get("schemas"))]

    def schema(self) -> list[Symbol]:
        """Return the symbols of a JSON Schema."""
        lines = [*_described(self.root), *self._limited_lines(self._node)]
        found = [_symbol("", 1, lines)] if lines else []
        found += self._schemas(self.root.get("definitions"))
        return [*found, *self._schemas(self.root.get("$defs"))]

    def _schemas(self, schemas: yaml.Node | None) -> Iterator[Symbol]:
        lines = _lines_of_keys(schemas)
        for name, node in _items(schemas).items():
            schema = self._resolved(node)
            said = [self._line(name, _items(schema), is_required=False)]
            yield _symbol(name, lines[name], [*said, *self._limited_lines(schema)])

    def _operation(self, name: str, methods: yaml.Node | None, method: str) -> list[str]:
        """Return the lines of an operation. `methods` are those of its path."""
        said: list[str] = [name]
        shared = _items(methods)
        operation = _items(shared[method])
        for key in ("summary", "operationId", "deprecated"):
            if key in operation:
                said.append(f"{key}: {_text(operation[key])}")
        said += _described(operation)
        for parameter in (*_list(shared.get("parameters")), *_list(operation.get("parameters"))):
            said.append(self._parameter(_items(self._resolved(parameter))))
        body = _items(self._resolved(operation.get("requestBody")))
        said += self._contents("body", body)
        for status, response in _items(operation.get("responses")).items():
            answered = _items(self._resolved(response))
            said.append(f"response {status}: {' '.join(_described(answered))}".rstrip(": "))
            said += self._contents(f"response {status}", answered)
        return said

    def _parameter(self, parameter: _Items) -> str:
        schema = {**parameter, **_items(self._resolved(parameter.get("schema")))}
        if "description" in parameter:
            schema["description"] = parameter["description"]
        name = f"parameter {_text(parameter.get('name'))} ({_text(parameter.get('in'))})"
        return self._line(name, schema, is_required=_text(parameter.get("required")) == "true")

    def _contents(self, name: str, owner: _Items) -> list[str]:
        """Return lines about the schemas of a body: one for each property of each media type."""
        said = []
        media = _items(owner.get("content"))
        schemas = {kind: _items(content).get("schema") for kind, content in media.items()}
        if "schema" in owner:  # of version 2
            schemas[""] = owner["schema"]
        for kind, node in schemas.items():
            schema = self._resolved(node)
            is_required = _text(owner.get("required")) == "true"
            title = f"{name} {kind}".rstrip()
            said.append(self._line(title, _items(schema), is_required=is_required))
            said += self._limited_lines(schema)
        return said

    def _limited_lines(self, schema: yaml.Node | None) -> list[str]:
        """Return lines about the properties of a schema and those within them, up to the limits."""
        said: list[str] = []
        for line in self._lines("", schema, ()):
            if len(said) == _MAX_LINES:
                said.append("…")
                break
            said.append(line)
        return said

    def _lines(
        self, prefix: str, node: yaml.Node | None, around: Sequence[yaml.Node]
    ) -> Iterator[str]:
        """Yield lines about what is in a schema. `around` are the schemas that it stands in."""
        is_cycle = any(node is outer for outer in around)
        if node is None or is_cycle or len(around) == _MAX_DEPTH:
            return
        around = (*around, node)
        schema = _items(node)
        required = {_text(name) for name in _list(schema.get("required"))}
        for name, value in _items(schema.get("properties")).items():
            inner = self._resolved(value)
            yield self._line(f"{prefix}{name}", _items(inner), is_required=name in required)
            yield from self._lines(f"{prefix}{name}.", inner, around)
            items = self._resolved(_items(inner).get("items"))
            yield from self._lines(f"{prefix}{name}[].", items, around)
        for choice in _CHOICES:
            for option in _list(schema.get(choice)):
                yield from self._lines(prefix, self._resolved(option), around)

    def _line(self, name: str, schema: _Items, *, is_required: bool) -> str:
        """Return a line about a value: type, required, values, default, limits, description."""
        parts = [self._type_of(schema)]
        if is_required:
            parts.append("required")
        if "enum" in schema:
            values = ", ".join(_text(value) for value in _list(schema["enum"]))
            parts.append(f"one of {values}")
        for key in _LIMITS:
            if key in schema:
                parts.append(f"{key} {_text(schema[key])}")
        parts += _described(schema)
        return f"{name}: {'; '.join(filter(None, parts))}".removesuffix(": ")

    def _type_of(self, schema: _Items) -> str:
        kind = schema.get("type")
        kinds = [_text(one) for one in _list(kind)] or [_text(kind)]
        shown = " or ".join(filter(None, kinds))
        if "items" in schema:
            inner = _items(self._resolved(schema["items"]))
            shown = f"{shown} of {_text(inner.get('type')) or 'values'}".strip()
        return shown

    def _resolved(self, node: yaml.Node | None) -> yaml.Node | None:
        """Return what a reference in this document leads to, or a node that is not a reference.

        Raises _TooLongError.
        """
        for _ in range(_MAX_REFERENCES):
            reference = _text(_items(node).get("$ref"))
            self._left -= _REFERENCE_COST + _size(node)
            if self._left < 0:
                raise _TooLongError
            if not reference.startswith("#/"):
                return node
            node = self._found(reference)
        return None

    def _found(self, reference: str) -> yaml.Node | None:
        items = self.root
        node = None
        for step in reference.removeprefix("#/").split("/"):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            node = items.get(name)
            items = _items(node)
        return node


def _symbol(name: str, line: int, said: Sequence[str]) -> Symbol:
    text = "\n".join(said)
    return Symbol(_NOT_IN_NAMES.sub("_", name)[:_MAX_NAME], line, text, text)


def _items(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Return the values of a mapping by their keys; none of anything else."""
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def _lines_of_keys(node: yaml.Node | None) -> dict[str, int]:
    """Return the lines of the keys of a mapping, from 1; none of anything else."""
    if not isinstance(node, yaml.MappingNode):
        return {}
    lines = {}
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            lines[key.value] = key.start_mark.line + 1
    return lines


def _list(node: yaml.Node | None) -> Sequence[yaml.Node]:
    return node.value if isinstance(node, yaml.SequenceNode) else ()


def _size(node: yaml.Node | None) -> int:
    """Return the length of what a line can show of a part of a document."""
    size = 0
    for value in _items(node).values():
        size += 1
        for shown in (value, *_list(value)):
            size += len(shown.value) if isinstance(shown, yaml.ScalarNode) else 1
    return size


def _text(node: yaml.Node | None) -> str:
    """Return a value on one line; of a mapping or a list nothing but the values in it."""
    if isinstance(node, yaml.ScalarNode):
        return " ".join(str(node.value).split())
    return ", ".join(_text(value) for value in _list(node) if isinstance(value, yaml.ScalarNode))


def _described(items: _Items) -> list[str]:
    description = _text(items.get("description"))
    return [description] if description else []

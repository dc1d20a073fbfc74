"""Split files of programs, and OpenAPI documents, into the parts that a text can be about."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from textwrap import dedent

import yaml

from ..yaml_files import NotYAMLError, read_yaml

_DOCUMENTS = frozenset({".json", ".yaml", ".yml"})
_PROGRAMS = frozenset(
    ".c .cc .cpp .cs .go .h .hpp .java .js .jsx .kt .php .pl .py .rb .rs .scala .sh .sql .swift "
    ".ts .tsx".split()
)
CODE = _DOCUMENTS | _PROGRAMS
"""The suffixes of the files that a request can name. Of documents, only those of OpenAPI are read:
others can be configurations with secrets."""

_BLANK = re.compile(r"\n\n+")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_WORDS = frozenset(
    "abstract async class const def default enum export extern final fn fun func function impl "
    "interface let module namespace package private protected pub public static struct sub trait "
    "type val var void".split()
)
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_MAX_NAME = 100


def split_code(text: str, suffix: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of each function, class or operation; what is none of them has no name.

    Names are unique. Text that cannot be parsed is divided at its blank lines.
    """
    if suffix in _DOCUMENTS:
        parts = _operations(text, suffix)
    elif suffix == ".py":
        parts = _definitions(text)
    else:
        parts = _paragraphs(text)
    used: dict[str, int] = {}
    for name, part in parts:
        name = re.sub(r"[^\w./{} -]", "", name)[:_MAX_NAME]
        used[name] = used.get(name, 0) + 1
        if part.strip():
            text = dedent(part).strip()
            yield name if used[name] == 1 else f"{name} {used[name]}", text


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _paragraphs(text)
        return
    lines = [f"{line}\n" for line in text.split("\n")]  # as the parser counts them
    rest: list[str] = []
    position = 0
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        start = min([node.lineno, *(it.lineno for it in node.decorator_list)]) - 1
        rest += lines[position:start]
        position = node.end_lineno or node.lineno
        if not isinstance(node, ast.ClassDef):
            yield node.name, "".join(lines[start:position])
            continue
        inner = start
        own: list[str] = []
        for child in node.body:
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([child.lineno, *(it.lineno for it in child.decorator_list)]) - 1
                own += lines[inner:first]
                inner = child.end_lineno or child.lineno
                yield f"{node.name}.{child.name}", "".join(lines[first:inner])
        yield node.name, "".join([*own, *lines[inner:position]])
    yield "", "".join([*rest, *lines[position:]])


def _paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands between blank lines and begins at the left, each with its first name."""
    parts: list[str] = []
    for part in _BLANK.split(text):
        if parts and part[:1] in (*" \t)}]", ""):
            parts[-1] += f"\n\n{part}"
        else:
            parts.append(part)
    for part in parts:
        first = part.lstrip().partition("\n")[0]
        names = (name for name in _NAME.findall(first) if name not in _WORDS)
        yield next(names, ""), part


def _operations(text: str, suffix: str) -> Iterator[tuple[str, str]]:
    """Yield the operations and schemas of an OpenAPI document, and nothing for another file."""
    try:
        document = json.loads(text) if suffix == ".json" else read_yaml(text, plain=True).value
    except (ValueError, RecursionError, NotYAMLError):
        return
    if not isinstance(document, dict) or not {"openapi", "swagger"} & document.keys():
        return
    paths, components = document.get("paths"), document.get("components")
    for path, item in paths.items() if isinstance(paths, dict) else ():
        for method in _METHODS if isinstance(item, dict) else ():
            if method in item:
                yield f"{method.upper()} {path}", _dump(item[method])
    schemas = components.get("schemas") if isinstance(components, dict) else None
    for name, schema in schemas.items() if isinstance(schemas, dict) else ():
        yield f"schema {name}", _dump(schema)
    yield "", _dump({"info": document.get("info"), "servers": document.get("servers")})


def _dump(value: object) -> str:
    try:
        return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
    except RecursionError:
        return ""

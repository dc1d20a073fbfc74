"""OpenAPI and JSON Schema: what their symbols say, and that no document breaks the reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_file import GOLDEN, expect
from growth import LINEAR, growth

from mkdocs_contentgen.citation import NAME
from mkdocs_contentgen.writer.sources.api_schemas import MAX_PARSED, read_api_schema
from mkdocs_contentgen.writer.sources.sources import Location, find_files, read_sources

CASES = sorted(path for path in (GOLDEN / "api_schemas").iterdir() if path.suffix != ".txt")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_symbols(case: Path) -> None:
    """Each operation and schema is shown with its name and line, and its properties below."""
    shown = ""
    for symbol in read_api_schema(case.read_text()) or ():
        shown += f"=== {symbol.name or '-'}, line {symbol.line}\n{symbol.text}\n"
    expect(shown, case.with_name(f"{case.name}.txt"))


@pytest.mark.parametrize(
    "text",
    [
        "a: b",
        "- openapi",
        "",
        "openapi",
        "{" * MAX_PARSED,
        "[" * 1000 + "]" * 1000,
        "openapi: 3\npaths: &a [*a",
        "openapi: '\ud800'",
        "openapi: 3\n" + " " * MAX_PARSED,
        "openapi: !!python/object:os.system {}\n---\n",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_other_documents(text: str) -> None:
    """What is no such document, or cannot be parsed, has no symbols."""
    assert read_api_schema(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "openapi: &a\n  paths: *a\npaths: &p {/x: {get: {responses: *p}}}",
        "swagger: 2\npaths: [1]\ndefinitions: {a: [1], b: 1, c: {required: a, enum: 1, type: {}}}",
        "$schema: x\nproperties: &p {a: {properties: *p}}",
        "$schema: x\n$ref: '#/$defs/a'\n$defs: {a: {$ref: '#/$defs/b'}, b: {$ref: '#/$defs/a'}}",
        "$schema: x\n$ref: '#'\nproperties: {a: {$ref: '#/properties/a/b/c'}}",
    ],
)
def test_malformed_documents(text: str) -> None:
    """Values of other types, and cycles of aliases and references, are left out."""
    assert read_api_schema(text) is not None


def test_names_can_be_cited() -> None:
    """Whatever a path is, the name of its operation can stand in the record of a text."""
    import re

    path = '/<b>"\n' + "x" * 1000
    symbols = read_api_schema(json.dumps({"openapi": "3", "paths": {path: {"get": {}}}}))
    assert symbols
    assert all(re.match(NAME, f"file:openapi.yml#{symbol.name}") for symbol in symbols)


def test_growth() -> None:
    """A document whose schemas all name each other takes a time that its size explains."""

    def document(size: int) -> str:
        names = [f"s{number}" for number in range(size)]
        properties = {name: {"$ref": f"#/$defs/{name}"} for name in names[:20]}
        return json.dumps({"$defs": {name: {"properties": properties} for name in names}})

    assert growth(lambda text: read_api_schema(text), document, 60) < LINEAR


@pytest.mark.parametrize("key", ["parameters", "anyOf"])
def test_a_document_that_references_make_too_long(key: str) -> None:
    """It has no symbols, and so is read in blocks: neither long texts nor branches multiply."""
    long = {"name": "x", "description": "long " * 20_000}
    leaves = [{"$ref": "#/definitions/b"}] * 1000
    document = {
        "swagger": "2.0",
        "paths": {"/a": {"get": {"parameters": [{"$ref": "#/definitions/long"}] * 1000}}},
        "definitions": {
            "long": long,
            "a": {"anyOf": leaves},
            "b": {"anyOf": [{"$ref": "#/definitions/c"}] * 1000},
            "c": {"anyOf": [{"$ref": "#/definitions/long"}] * 1000},
        },
    }
    if key == "anyOf":
        del document["paths"]
    assert read_api_schema(json.dumps(document)) is None


def test_passages(tmp_path: Path) -> None:
    """Operations are passages of a file that is named; other YAML stays in blocks."""
    (tmp_path / "api.yml").write_text("openapi: 3.1.0\npaths: {/a: {get: {summary: Bees}}}")
    (tmp_path / "ci.yml").write_text("on: push")
    paths = [Location(tmp_path / name, tmp_path) for name in ("api.yml", "ci.yml")]
    found, left_out = read_sources(find_files(paths))
    assert [(it.title, it.text) for it in found] == [
        ("api.yml › GET /a", "GET /a\nsummary: Bees"),
        ("ci.yml", "on: push"),
    ]
    assert left_out == []

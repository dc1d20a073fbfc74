"""Programs and OpenAPI documents as sources: the function and the operation is the unit."""

from __future__ import annotations

import json

import pytest

from mkdocs_contentgen.writer.code import split_code

PYTHON = '''"""About."""
import os


@cached
def first(a):
    """It."""
    return a


class Server:
    """Serves."""

    port = 80

    async def start(self):
        return self.port


def first():
    return 2
'''
JAVASCRIPT = """// About
const port = 80;

export async function start(options) {

  return options;
}

class Server {
  stop() {}
}
"""
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "T"},
    "paths": {"/a/{id}": {"get": {"summary": "Reads"}, "delete": {"summary": "Deletes"}}},
    "components": {"schemas": {"A": {"type": "object"}}},
}


def parts(text: str, suffix: str) -> dict[str, str]:
    """Return the parts of a file by name."""
    return dict(split_code(text, suffix))


def test_python() -> None:
    """Functions, methods and classes have parts of their own, with their decorators."""
    found = parts(PYTHON, ".py")
    assert list(found) == ["first", "Server.start", "Server", "first 2", ""]
    assert found["first"].startswith("@cached\ndef first(a):")
    assert found["Server.start"] == "async def start(self):\n    return self.port"
    assert "port = 80" in found["Server"]
    assert "start" not in found["Server"]
    assert found[""] == '"""About."""\nimport os'


def test_what_changes_elsewhere_changes_nothing() -> None:
    """Other functions stay the same parts, wherever they stand in the file."""
    before, after = parts(PYTHON, ".py"), parts(f"import sys\n{PYTHON}", ".py")
    assert {name for name in before if before[name] != after[name]} == {""}


def test_other_languages() -> None:
    """What begins at the left after a blank line is a part, named by its first word."""
    found = parts(JAVASCRIPT, ".js")
    assert list(found) == ["About", "start", "Server"]
    assert found["start"].endswith("}")


def test_openapi() -> None:
    """Operations and schemas are parts, in JSON and in YAML."""
    names = ["GET /a/{id}", "DELETE /a/{id}", "schema A", ""]
    assert list(parts(json.dumps(OPENAPI), ".json")) == names
    text = "openapi: 3.1.0\npaths:\n  /a:\n    get: {summary: Reads}\n"
    assert parts(text, ".yaml")["GET /a"] == "summary: Reads"


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("password: secret\n", ".yaml"),
        ('{"password": "secret"}', ".json"),
        ("[1, 2]", ".json"),
        ("{", ".json"),
        ("a: [", ".yml"),
        ("[" * 100_000, ".json"),
        ("openapi: 3\npaths: [1]\ncomponents: 2\n", ".yaml"),
    ],
)
def test_what_is_no_openapi_document(text: str, suffix: str) -> None:
    """A configuration, which can hold secrets, is not read; nor is what cannot be parsed."""
    assert "secret" not in "".join(parts(text, suffix).values())


@pytest.mark.parametrize("text", ["def f(:\n  pass\n", "\0", "(" * 5000, "x = '\ud800'"])
def test_python_that_cannot_be_parsed(text: str) -> None:
    """It is divided at its blank lines."""
    assert "".join(parts(text, ".py").values()).strip() == text.strip()

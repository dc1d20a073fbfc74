"""The guide's list of messages: it has all that the code can print, and nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import mkdocs_contentgen

ROOT = Path(__file__).parent.parent
PACKAGE = Path(mkdocs_contentgen.__file__).parent
PAGE = ROOT / "example_site/docs/troubleshooting.md"

EXCLUDED = {
    r"[\w.]+: help=": "--help prints it where it is asked for",
    r"requests: description=": "the JSON Schema, for editors",
    r"[\w.]+: re\.compile ": "a regular expression",
    r"[\w.]+: \.split ": "a list of words",
    r"html.markdown_writer: .*(escape>|\(\?<=)": "a part of a regular expression",
    r"texts.store\.\w+: .*(SELECT|PRAGMA|BEGIN) ": "SQL",
    r"texts.store\.shared: .*redis\.call\(": "Lua",
    r"[\w.]+: .*<(!--|article class|script|strong|time)": "HTML",
    r"html.(article|presentation): .*contentgen-\w+ ": "class names",
    r"html.sanitizer: .*nofollow ": "an attribute of links",
    r"mkdocs.progress: bars\.TextColumn ": "the columns of a bar",
    r"service.client: the sandbox$": "who did not answer, within a message",
    r"texts.store\.shared: the shared cache …$": "who did not answer, within a message",
    r"texts.articles: (approved file|shared cache)$": "a column of `contentgen status`",
    r"mkdocs.review: content generation service$": "a value in an approved file",
    r"requests: (Front matter with|A request for)": "the JSON Schema, for editors",
    r"service.sandbox: Sample text made by": "the line that each sample text begins with",
    r"service.sandbox: _tag In commands, it looks": "a sentence of the sample texts",
    r"service.sandbox: TypeError ": "no caller does this",
    r"[\w.]+: it was not sent, since the (build|server) was": "nothing is shown after that",
    r"texts.store\.disk: OSError not a text$": "diskcache takes it for a miss",
    r"__init__: AttributeError ": "what Python itself says of a module",
}
"""Which texts are no messages (by module, role and text), and why."""


def literals(  # noqa: C901  one kind of node after the other
    node: ast.AST, role: str = ""
) -> Iterator[tuple[str, str]]:
    """Find the texts below `node`, with `…` for what varies; but no docstrings.

    The role is what a text is given to: a keyword, a function, or its own method.
    """
    match node:
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Constant(value=str(text)):
            yield role, text
        case ast.JoinedStr(values=parts):
            texts = (str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)
            yield role, "".join(texts)
            for part in parts:
                if isinstance(part, ast.FormattedValue):
                    yield from literals(part.value)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            yield from literals(function)
            for argument in arguments:
                yield from literals(argument, f"{ast.unparse(function)} ")
            for keyword in keywords:
                yield from literals(keyword.value, f"{keyword.arg}=")
        case ast.Attribute(value=value, attr=name):
            yield from literals(value, f".{name} ")
        case _:
            for child in ast.iter_child_nodes(node):
                yield from literals(child)


def tidy(text: str) -> str:
    """Return a text on one line, with one `…` for values that follow each other."""
    return re.sub("…+", "…", " ".join(text.split()))


def texts_of_the_code() -> Iterator[tuple[str, str]]:
    """Return each text of two words or more, as the exclusions know it and as the page has it."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for role, text in literals(ast.parse(path.read_text(encoding="utf-8"))):
            message = tidy(text)
            if " " in message and len(re.findall(r"[^\W\d_]+", message)) > 1:
                yield f"{module}: {role}{message}", message


def is_excluded(text: str) -> bool:
    """Tell whether a text is no message."""
    return any(re.match(pattern, text) for pattern in EXCLUDED)


def messages_of_the_page() -> set[str]:
    """Return the terms of the page's definition lists, each inline code on a line of its own."""
    page = PAGE.read_text(encoding="utf-8")
    return {text for _, text in re.findall(r"^(`+) ?(.+?) ?\1$", page, re.MULTILINE)}


def test_the_guide_has_every_message() -> None:
    """What the code can print is on the page, and what the page lists is what the code prints."""
    messages = {message for text, message in texts_of_the_code() if not is_excluded(text)}
    listed = messages_of_the_page()
    assert sorted(messages - listed) == [], "the page lacks these"
    assert sorted(listed - messages) == [], "the code has no such messages"


@pytest.mark.parametrize("pattern", EXCLUDED)
def test_exclusions_are_needed(pattern: str) -> None:
    """Each exclusion is there for a text that the code has."""
    assert any(re.match(pattern, text) for text, _ in texts_of_the_code())

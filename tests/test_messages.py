"""The guide's list of messages: it has all that the code can print, and nothing else.

A message is a text of two words or more to which one of these applies:

- it is given to a class, function or method that has, or whose object has, a name as in NAMES;
- it is the value of a variable, an attribute or a keyword argument with such a name;
- a function with such a name returns it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import mkdocs_contentgen

PACKAGE = Path(mkdocs_contentgen.__file__).parent
PAGE = Path(__file__).parent.parent / "example_site/docs/troubleshooting.md"

NAMES = re.compile(
    "(error|exception|failure|hint|message|problem|reason|warning|NoText|(^|_)(debug|line|log))s?$",
    re.IGNORECASE,
)
"""The ends of the names that messages have, such as `StoreError`, `_REASONS` or `print_line`."""


def is_named(node: ast.AST) -> bool:
    """Tell whether the name of a node is one that messages have."""
    match node:
        case ast.Name(id=name) | ast.keyword(arg=str(name)):
            return bool(NAMES.search(name))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return bool(NAMES.search(name))
        case ast.Attribute(value=value, attr=name):
            return bool(NAMES.search(name)) or is_named(value)
        case ast.Subscript(value=value):
            return is_named(value)
        case ast.Tuple(elts=elements):
            return any(map(is_named, elements))
    return False


def places(tree: ast.AST) -> Iterator[ast.AST]:
    """Find the calls, keyword arguments, assignments and returns whose texts are messages."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=named) | ast.Assign(targets=[named]) if is_named(named):
                yield node
            case ast.AnnAssign(target=named) | ast.AugAssign(target=named) if is_named(named):
                yield node
            case ast.keyword() if is_named(node):
                yield node
            case ast.FunctionDef() | ast.AsyncFunctionDef() if is_named(node):
                yield from (child for child in ast.walk(node) if isinstance(child, ast.Return))


def texts(node: ast.AST) -> Iterator[str]:
    """Find the texts in an expression, with `…` for what varies."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "…" for p in parts)
            for part in parts:
                yield from texts(part) if isinstance(part, ast.FormattedValue) else ()
        case _:
            for child in ast.iter_child_nodes(node):
                yield from texts(child)


def messages_of_the_code(code: str) -> set[str]:
    """Return the messages, each on one line, with one `…` for values that follow each other."""
    found = (text for place in places(ast.parse(code)) for text in texts(place))
    tidy = {re.sub("…+", "…", " ".join(text.split())) for text in found}
    return {text for text in tidy if " " in text and len(re.findall(r"[^\W\d_]+", text)) > 1}


def messages_of_the_page() -> set[str]:
    """Return the terms of the page's definition lists, each inline code on a line of its own."""
    page = PAGE.read_text(encoding="utf-8")
    return {text for _, text in re.findall(r"^(`+) ?(.+?) ?\1$", page, re.MULTILINE)}


def test_the_guide_has_every_message() -> None:
    """What the code can print is on the page, and what the page lists is what the code prints."""
    modules = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    messages = set().union(*map(messages_of_the_code, modules))
    listed = messages_of_the_page()
    assert sorted(messages - listed) == [], "the page lacks these"
    assert sorted(listed - messages) == [], "the code has no such messages"


@pytest.mark.parametrize(
    "code",
    [
        "raise StoreError('no room') from error",
        "NoText(Absence.MISSING, f'{disk} has none' if disk else 'no room')",
        "print_line(visible('no room'), err=True)",
        "log.info('no room')",
        "self._problems.append((place, 'no room'))",
        "show(message='no room')",
        "line, hint = 1, 'no room'",
        "self.problems['disk']: str = 'no room'",
        "_REASONS += {disk: 'no room' for disk in full}",
        "def _disk_reason():\n    if full:\n        return 'no room'",
    ],
)
def test_a_message_is_found(code: str) -> None:
    """A message that is new in the code is one that the page lacks."""
    assert "no room" in messages_of_the_code(code)


@pytest.mark.parametrize(
    "code",
    [
        "def _problem():\n    'Return why.'\n    run('SELECT key FROM Cache')\n    return ''",
        "_NUMBER = re.compile('[a-z]+ [0-9]+ or [a-z]+')",
        "click.option('--all', help='Approve every article.')",
        "raise StoreError('full')",
    ],
)
def test_other_texts_are_no_messages(code: str) -> None:
    """Neither docstrings, SQL, regular expressions and help texts are messages, nor one word."""
    assert messages_of_the_code(code) == set()

"""The guide's list of messages: it has all that the code can print, and nothing else.

Every text of two words or more in the code is a message on the page, or is known to be none:
`golden/no_messages.txt` lists such texts, and the patterns below find those for other programs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_file import GOLDEN

import mkdocs_contentgen

PACKAGE = Path(mkdocs_contentgen.__file__).parent
PAGE = Path(__file__).parent.parent / "example_site/docs/troubleshooting.md"

FOR_PROGRAMS = re.compile(
    r"(SELECT|INSERT|DELETE|CREATE|PRAGMA|BEGIN) .*"  # SQL
    r"|<.*>|([a-z-]+: [^;:]+; )*[a-z-]+: [^;:]+;",  # HTML and CSS
    re.DOTALL,
)


def no_messages() -> set[str]:
    """Return the texts that are known to be no messages."""
    lines = (GOLDEN / "no_messages.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if not line.startswith("# ")}


def is_for_developers(node: ast.AST) -> bool:
    """Tell whether the texts in a node are a docstring, a regular expression, help or a type."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.keyword(arg="help"):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))):
            return True
    return False


def texts(node: ast.AST) -> Iterator[str]:
    """Find the texts in some code, with `…` for what varies."""
    match node:
        case _ if is_for_developers(node):
            pass
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "…" for p in parts)
            for part in parts:
                yield from texts(part) if isinstance(part, ast.FormattedValue) else ()
        case _:
            for field, child in ast.iter_fields(node):
                if field not in ("annotation", "returns"):
                    for each in child if isinstance(child, list) else [child]:
                        yield from texts(each) if isinstance(each, ast.AST) else ()


def texts_of_the_code(code: str) -> set[str]:
    """Return the texts for people, each on one line, with one `…` for values in a row."""
    tidy = {re.sub("…+", "…", " ".join(text.split())) for text in texts(ast.parse(code))}
    sentences = {text for text in tidy if " " in text and len(re.findall(r"[^\W\d_]+", text)) > 1}
    return {text for text in sentences if not FOR_PROGRAMS.fullmatch(text)}


def messages_of_the_page() -> set[str]:
    """Return the terms of the page's definition lists, each inline code on a line of its own."""
    page = PAGE.read_text(encoding="utf-8")
    return {text for _, text in re.findall(r"^(`+) ?(.+?) ?\1$", page, re.MULTILINE)}


def test_the_guide_has_every_message() -> None:
    """What the code can print is on the page, and what the page lists is what the code prints."""
    modules = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    found = set().union(*map(texts_of_the_code, modules))
    others, listed = no_messages(), messages_of_the_page()
    assert sorted(found - listed - others) == [], "the page or no_messages.txt lacks these"
    assert sorted(listed - found) == [], "the code has no such messages"
    assert sorted(others - found) == [], "the code has no such texts"


@pytest.mark.parametrize(
    "code",
    [
        "raise StoreError('no room') from error",
        "NoText(MissingReason.MISSING, f'{disk} has none' if disk else 'no room')",
        "print_line(visible('no room'), err=True)",
        "show(message='no room')",
        "line, hint = 1, 'no room'",
        "self.problems['disk']: str = 'no room'",
        "REASONS += {disk: f'{disk}{disk or \"no room\"}' for disk in full}",
        "def anything():\n    if full:\n        return 'no room'",
    ],
)
def test_a_message_is_found(code: str) -> None:
    """Wherever a message stands in the code, it is one that the page lacks."""
    assert "no room" in texts_of_the_code(code)


@pytest.mark.parametrize(
    "code",
    [
        "def problem() -> 'a or b':\n    'Return why.'\n    run('SELECT key FROM Cache')\n",
        "NUMBER: 'a or b' = re.compile('[a-z]+ [0-9]+ or [a-z]+')",
        "click.option('--all', help='Approve every article.')",
        "raise StoreError('full')",
    ],
)
def test_other_texts_are_no_messages(code: str) -> None:
    """Neither docstrings, types, SQL, regular expressions and help are messages, nor one word."""
    assert texts_of_the_code(code) == set()

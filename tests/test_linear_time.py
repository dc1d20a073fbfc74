"""No function of the package takes more than linear time for a text, foreign libraries within.

Each pattern is tried by itself in `test_patterns.py`. Here, whole functions are, so that a library
that takes minutes for spaces is found, too.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
import typing
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import product

import pytest
from growth import once
from hypothesis import settings

from mkdocs_contentgen.errors import ContentgenError

ROOMS = ("html", "language", "writer", "service")
"""The packages that read what a service, a model or the repository gives."""

PIECES = [" ", "<!--", "<li> ", "[a]: b\n", "*", "1 2 3 "]
MORE_PIECES = [
    *("a ", "\n", "<", "[", "`", "&", "$", '"'),
    *("\t", "\r", " \n", "<a ", "<?", "</", "<ul><li>", "<b>", "<td>", "<mark>a</mark> ", "]("),
    *("_a", "**a** ", "1. ", "|", "&#", "\\(", "# ", "> ", "- ", ": ", "---\n", "{{", "年", "١٢ "),
    *("e\u0301", "http://", "www.", "a@", "~~~\n", "\x1b[", '{"a":', "data: a\n", "A. ", "“"),
]
"""What is tried with `--hypothesis-profile=search` alone."""

SIZE = 2_000
"""Characters of the longer text, which is four times the shorter one."""

LARGER_SIZES = (24_000, 96_000)
"""The same, with `--hypothesis-profile=search`."""

NOTHING = 0.02
"""Seconds in which no call is slow."""

QUADRATIC = 8
"""How often longer a call takes for four times the text, if it is slow."""


def functions() -> Iterator[tuple[str, Callable[[str], object]]]:
    """Yield the public functions that need one text or two, and nothing else."""
    for room in ROOMS:
        package = import_module(f"mkdocs_contentgen.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield from functions_in(module.name)
    yield from readers_of_programs()


def readers_of_programs() -> Iterator[tuple[str, Callable[[str], object]]]:
    """Yield the reader of each language that tree-sitter knows, which is chosen by a suffix."""
    from mkdocs_contentgen.writer.sources.tree_sitter_code import GRAMMARS, read_program

    for suffix in GRAMMARS:
        yield f"read_program for {suffix}", partial(read_program, suffix=suffix)


def functions_in(name: str) -> Iterator[tuple[str, Callable[[str], object]]]:
    """Yield those of a module, with their names."""
    for found, function in inspect.getmembers(import_module(name), inspect.isroutine):
        is_own = getattr(function, "__module__", "") == name and not found.startswith("_")
        if is_own and (call := caller(function)):
            yield f"{name}.{found}", call


def caller(function: Callable[..., object]) -> Callable[[str], object] | None:
    """Return a function that calls another one with a text, or None if it needs something else.

    One that needs two gets the same one twice.
    """
    if inspect.iscoroutinefunction(function):
        return None
    hints = typing.get_type_hints(inspect.unwrap(function))
    needed = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is parameter.empty:
            needed.append(parameter)
    is_text = [
        hints.get(parameter.name) is str and parameter.kind is not parameter.KEYWORD_ONLY
        for parameter in needed
    ]
    if not all(is_text) or len(needed) not in (1, 2):
        return None
    return partial(call_with, function, len(needed))


def call_with(function: Callable[..., object], number: int, text: str) -> None:
    """Call a function with so many times a text, and take all that it yields.

    It may refuse a text, but an IndexError is a mistake.
    """
    clear = getattr(function, "cache_clear", None)
    if clear:
        clear()
    try:
        result = function(*[text] * number)
        if inspect.isgenerator(result):
            list(result)
    except (ContentgenError, ValueError, KeyError, OSError):
        pass  # many texts are refused, and are not names


def is_slow(call: Callable[[str], object], piece: str, size: int = SIZE) -> bool:
    """Tell whether a call takes more than linear time for a text that repeats a piece."""
    small = piece * (size // 4 // len(piece))
    large = small * 4
    for _ in range(5):
        taken = once(partial(call, f"{large}x"))
        if taken < NOTHING or taken < QUADRATIC * once(partial(call, f"{small}x")):
            return False
    return True


def test_no_function_takes_more_than_linear_time() -> None:
    """Four times as long a text takes about four times as long, whatever it repeats."""
    is_search = settings().max_examples > 100
    pieces = [*PIECES, *MORE_PIECES] if is_search else PIECES
    sizes = LARGER_SIZES if is_search else (SIZE,)
    found = dict(functions())
    slow = []
    for (name, call), piece, size in product(found.items(), pieces, sizes):
        if is_slow(call, piece, size):
            slow.append((name, piece, size))
    assert slow == []
    assert len(found) > 80


def test_a_slow_function_is_found() -> None:
    """One that looks at all spaces again from each of them does not pass."""
    assert is_slow(lambda text: re.search(" +y", text * 16), " ")


def test_a_mistake_is_not_hidden() -> None:
    """A function that looks behind the end of a text fails the test."""
    with pytest.raises(IndexError):
        call_with(lambda text: text[len(text)], 1, "a")

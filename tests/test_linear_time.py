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

from growth import once
from hypothesis import settings

from mkdocs_contentgen.errors import ContentgenError

ROOMS = ("html", "writer", "service")
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

NOTHING = 0.02
"""Seconds in which no call is slow."""

QUADRATIC = 8
"""How often longer a call takes for four times the text, if it is slow."""


def functions() -> Iterator[tuple[str, Callable[[str], object]]]:
    """Yield the public functions that need one text, and nothing else."""
    for room in ROOMS:
        package = import_module(f"mkdocs_contentgen.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield from functions_in(module.name)


def functions_in(name: str) -> Iterator[tuple[str, Callable[[str], object]]]:
    """Yield those of a module, with their names."""
    for found, function in inspect.getmembers(import_module(name), inspect.isroutine):
        is_own = getattr(function, "__module__", "") == name and not found.startswith("_")
        if is_own and (call := caller(function)):
            yield f"{name}.{found}", call


def caller(function: Callable[..., object]) -> Callable[[str], object] | None:
    """Return a function that calls another one with a text, or None if it needs something else."""
    if inspect.iscoroutinefunction(function):
        return None
    hints = typing.get_type_hints(inspect.unwrap(function))
    needed = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is parameter.empty:
            needed.append(parameter.name)
    if len(needed) != 1 or hints.get(needed[0]) is not str:
        return None
    return partial(call_with, function)


def call_with(function: Callable[[str], object], text: str) -> None:
    """Call a function, and take all that it yields."""
    try:
        result = function(text)
        if inspect.isgenerator(result):
            list(result)
    except (ContentgenError, ValueError, LookupError, OSError):
        pass  # many texts are refused


def is_slow(call: Callable[[str], object], piece: str) -> bool:
    """Tell whether a call takes more than linear time for a text that repeats a piece."""
    small = piece * (SIZE // 4 // len(piece))
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
    found = dict(functions())
    slow = []
    for name, call in found.items():
        slow += [(name, piece) for piece in pieces if is_slow(call, piece)]
    assert slow == []
    assert len(found) > 50


def test_a_slow_function_is_found() -> None:
    """One that looks at all spaces again from each of them does not pass."""
    assert is_slow(lambda text: re.search(" +y", text * 16), " ")

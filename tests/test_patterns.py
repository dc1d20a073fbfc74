"""No pattern of the package takes more than linear time, whatever text it is tried on."""

from __future__ import annotations

import ast
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest
from growth import growth, seconds

import mkdocs_contentgen

METHODS = frozenset("match fullmatch search sub findall finditer split".split())

STARTS = ["", "a:\n"]
PIECES = [
    *"aA1 \t\n.,:-_'\"“‘’»[](){}<>*+#`~|=/&@%$\\!年\x03\x06",
    *("A-", "a ", "1,", "a.", "a\n", " \n", "- ", "a|", "<a", "a@", "a: ", "Ab "),
]
END = "\0"
"""A text is a start, a piece that is repeated, and an end, at which most patterns fail."""

LENGTH = 2_000
"""Characters that are enough to tell quadratic from linear time."""

NOTHING = 1e-4
"""Seconds in which no call is slow."""

QUADRATIC = 3
"""What `growth` is above for quadratic time, and below where a pattern says how far it goes."""


def uses() -> set[tuple[re.Pattern[str], str]]:
    """Return the patterns that modules define, each with the methods that they call."""
    found = set()
    for module in pkgutil.walk_packages(mkdocs_contentgen.__path__, "mkdocs_contentgen."):
        if not module.name.endswith("__main__"):
            found |= set(uses_in(import_module(module.name)))
    return found


def uses_in(module: ModuleType) -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield `NAME.method` for patterns of the module, and `re.method` with a literal pattern."""
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                args=[ast.Constant(value=str(pattern)), *_],
            ) if method in METHODS:
                yield re.compile(pattern), method
            case ast.Attribute(value=ast.Name(id=name), attr=method) if method in METHODS:
                if isinstance(found := getattr(module, name, None), re.Pattern):
                    text = found.pattern
                    if isinstance(text, bytes):
                        yield re.compile(text.decode(), re.ASCII), method
                    else:
                        yield found, method


def texts(pattern: str) -> Iterator[Callable[[int], str]]:
    """Yield functions that return a text with so many pieces, which may be parts of the pattern."""
    words = list(dict.fromkeys(re.findall(r"[\w<>!/:-]{2,}|<", pattern)))[:8]
    own = [word + more for word in words for more in ("", " ", "a" * 9)]
    for start, piece in product(STARTS, [*PIECES, *own]):
        yield partial(repeat, start, piece)


def repeat(start: str, piece: str, times: int) -> str:
    """Return a text that repeats a piece."""
    return f"{start}{piece * times}{END}"


def slow_text(call: Callable[[str], object], pattern: str) -> str:
    """Return the beginning of a text that takes more than linear time, or nothing."""
    return next((make(10)[:40] for make in texts(pattern) if is_slow(call, make)), "")


def is_slow(call: Callable[[str], object], make: Callable[[int], str]) -> bool:
    """Tell whether a call takes more than linear time for the texts of a function.

    Short texts are doubled, so that even for exponential time, the first slow one takes
    milliseconds.
    """
    most = LENGTH // (len(make(1)) - len(make(0)))
    before = float("inf")
    for times in sorted({times for times in (8, 16, 32, 64, most // 4, most) if 0 < times <= most}):
        text = make(times)
        started = time.perf_counter()  # which takes less time than that of the processor
        call(text)
        taken = time.perf_counter() - started
        # Patterns that say how far they go may take more than linear time for short texts.
        least = NOTHING if times == most else 10 * NOTHING
        if (
            taken > max(least, 1.5 * before * times)
            and seconds(partial(call, text)) > least
            and growth(call, make, times) > QUADRATIC
        ):
            return True
        before = taken / times
    return False


def caller(pattern: re.Pattern[str], method: str) -> Callable[[str], object]:
    """Return a function that calls a method of a pattern with a text."""
    match method:
        case "sub":
            return lambda text: pattern.sub("", text)
        case "finditer":
            return lambda text: list(pattern.finditer(text))
    return partial(getattr(pattern, method))


@pytest.mark.system
def test_every_pattern_takes_linear_time() -> None:
    """Twice as long a text takes about twice as long, whatever it repeats."""
    found = uses()
    slow = {
        f"{pattern.pattern[:60]} ({method})": text
        for pattern, method in found
        if (text := slow_text(caller(pattern, method), pattern.pattern))
    }
    assert slow == {}
    assert len(found) > 100


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(?<!\w)[A-Z][\w-]*\w(?: [A-Z]\w*)+", "finditer"),
        (r"(?:[\w.]+ ?)*", "fullmatch"),
        (r"<!--.*?-->", "sub"),
        (r"\s+$", "sub"),
        (r"<!--\s*(\w{8,})\b(.*?)-->", "search"),
        (r"\A(?:\w+:.*\n(?:[ \t]+.*\n)*)+", "match"),
    ],
)
def test_a_slow_pattern_is_found(pattern: str, method: str) -> None:
    """Patterns that take quadratic or exponential time do not pass, on a busy machine neither."""
    assert any(slow_text(caller(re.compile(pattern), method), pattern) for _ in range(5))

"""No pattern of the package takes more than linear time, whatever text it is tried on.

The patterns are found in the code, with the methods that it calls, so that new ones are tried too.
"""

from __future__ import annotations

import ast
import pkgutil
import re
from collections import defaultdict
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

OF_THE_SITE = ("mkdocs_contentgen.zensical.page_files", "regex")
"""A pattern from `mkdocs.yml`, which may take all the time that it wants."""

LOCALS = {
    **{
        "kinds": "allkeys|volatile",
        "forms": "user|us%65r",
    },
}
"""Examples of the local variables that patterns are made of."""

STARTS = ["", "a:\n"]
PIECES = [
    *"aA1 \t\n.,:-_'\"“‘’»[](){}<>*+#`~|=/&@%$\\!年\x03\x06",
    *("A-", "a ", "1,", "a.", "a\n", " \n", "- ", "a|", "<a", "a@", "a: ", "Ab "),
]
END = "\0"
"""A text is a start, a piece that is repeated, and an end, at which most patterns fail."""

LENGTH = 5_000
"""Characters that are enough to tell quadratic from linear time."""


def patterns() -> dict[re.Pattern[str], set[str]]:
    """Return the patterns of the package, each with the methods that the code calls."""
    found: dict[re.Pattern[str], set[str]] = defaultdict(set)
    for module in pkgutil.walk_packages(mkdocs_contentgen.__path__, "mkdocs_contentgen."):
        if not module.name.endswith("__main__"):
            for pattern, method in uses(import_module(module.name)):
                found[pattern] |= {method} & METHODS
    return found


def uses(module: ModuleType) -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield each pattern in the code of a module, with the method that is called."""
    names = {**LOCALS, **vars(module)}
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method)) if (
                method in METHODS | {"compile"}
                and (module.__name__, ast.unparse(node.args[0])) != OF_THE_SITE
            ):
                flags = [keyword.value for keyword in node.keywords if keyword.arg == "flags"]
                arguments = node.args if method == "compile" else [node.args[0], *flags]
                code = ", ".join(map(ast.unparse, arguments))
                yield of_text(eval(f"re.compile({code})", names)), method
            case ast.Attribute(value=ast.Name(id=name), attr=method):
                pattern = names.get(name)
                if method in METHODS and isinstance(pattern, re.Pattern):
                    yield of_text(pattern), method


def of_text(pattern: re.Pattern[str] | re.Pattern[bytes]) -> re.Pattern[str]:
    """Return a pattern for text; of one for bytes, the same for their characters."""
    if isinstance(pattern.pattern, bytes):
        return re.compile(pattern.pattern.decode(), re.ASCII)
    return re.compile(pattern.pattern, pattern.flags)


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

    Texts are doubled, so that even for exponential time, the first slow one takes milliseconds.
    """
    times, before = 1, float("inf")
    while len(text := make(times)) < LENGTH:
        taken = seconds(partial(call, text), times=1)
        if taken > max(3e-4, 3 * before) and growth(call, make, times // 2) > 3:
            return True
        times, before = 2 * times, taken
    return False


def caller(pattern: re.Pattern[str], method: str) -> Callable[[str], object]:
    """Return a function that calls a method of a pattern with a text."""
    match method:
        case "sub":
            return lambda text: pattern.sub("", text)
        case "finditer":
            return lambda text: list(pattern.finditer(text))
    return partial(getattr(pattern, method))


def calls() -> list[tuple[re.Pattern[str], str]]:
    """Return the patterns with their methods. Those without are searched for, and have to match."""
    return [
        (pattern, method)
        for pattern, methods in patterns().items()
        for method in methods or ("search", "fullmatch")
    ]


def test_every_pattern_takes_linear_time() -> None:
    """Twice as long a text takes about twice as long, whatever it repeats."""
    found = calls()
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
        (r"[ \t]*$", "search"),
        (r"\s+$", "sub"),
        (r"a+a+y", "match"),
        (r'".*=', "search"),
        (r"<!--\s*(\w{8,})\b(.*?)-->", "search"),
        (r"\A(?:\w+:.*\n(?:[ \t]+.*\n)*)+", "match"),
    ],
)
def test_a_slow_pattern_is_found(pattern: str, method: str) -> None:
    """Patterns that take quadratic or exponential time do not pass, on a busy machine neither."""
    assert any(slow_text(caller(re.compile(pattern), method), pattern) for _ in range(5))

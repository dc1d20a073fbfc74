"""Programs in Python: what their symbols say, and that no program breaks the reader."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from golden_file import GOLDEN, expect

from mkdocs_contentgen.writer.sources.python_code import MAX_PARSED, read_python

CASES = sorted((GOLDEN / "python_code").glob("*.code"))


def text_of(source: str) -> dict[str, str]:
    """Return the text of each symbol."""
    return {symbol.name: symbol.text for symbol in read_python(source) or ()}


@pytest.mark.parametrize("case", CASES, ids=[case.stem for case in CASES])
def test_symbols(case: Path) -> None:
    """Each symbol is shown with its name and its line, and what it says below."""
    shown = ""
    for symbol in read_python(case.read_text()) or ():
        shown += f"=== {symbol.name or '-'}, line {symbol.line}\n{symbol.text}\n"
    expect(shown, case.with_suffix(".txt"))


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        ("def f(a): return a", "def f(a): return a + 1", True),
        ("def f(a): ...", "def f(a: int) -> int: ...", True),
        ("def f(a, b): ...", "def f(\n    a,\n    b,\n): ...", True),
        ("def f(a=1): ...", "def f(a=2): ...", False),
        ("def f(a): ...", "def f(b): ...", False),
        ("def f(): raise E('too long')", "def f(): raise E('too short')", False),
        (
            "def f(): p.add_argument('--ab', default=1)",
            "def f(): p.add_argument('--ab', default=2)",
            False,
        ),
        ("def f(): getenv('AB', 1)", "def f(): getenv('AB', 2)", False),
        ("class A:\n x = 1", "class A:\n x = 2", False),
        ("@a\ndef f(): ...", "@b\ndef f(): ...", False),
    ],
)
def test_what_is_compared(before: str, after: str, *, is_same: bool) -> None:
    """The body and annotations can change; names, defaults, strings and decorators count."""
    first = [symbol.compared for symbol in read_python(before) or ()]
    second = [symbol.compared for symbol in read_python(after) or ()]
    assert len(first) == 1
    assert (first == second) is is_same


@pytest.mark.parametrize(
    "source",
    [
        "(" * MAX_PARSED,
        "-" * (MAX_PARSED - 1) + "1",
        "a" + "()" * (MAX_PARSED // 2 - 1),
        "x = 1" + "+1" * (MAX_PARSED // 2 - 4),
        "@a" + ".b" * (MAX_PARSED // 2 - 10) + "\ndef f(): ...",
        "lambda:" * (MAX_PARSED // 7),
        "if x:\n pass\n" + "elif x:\n pass\n" * 10_000,
        "".join(" " * depth + "if x:\n" for depth in range(200)),
        "x = '''",
        "\0",
        "x = " + "9" * 100_000,
        "# coding: rot13\nqrs s(): ...\n(",
        "x" * (MAX_PARSED + 1),
        "f'{" * 1000,
    ],
    ids=lambda source: repr(source[:12]),
)
def test_programs_that_cannot_be_parsed(source: str) -> None:
    """The reader says that there are no symbols, and nothing is raised."""
    assert read_python(source) is None


@pytest.mark.parametrize(
    ("start", "piece"), [("", "x=1;"), ("x=[\\n];", "y=1;"), ("class A:\\n ", "x=1;")]
)
def test_many_assignments_in_a_line(start: str, piece: str) -> None:
    """The line is shown once, not once for each."""
    source = start + piece * 2000
    assert sum(map(len, text_of(source).values())) <= len(source) + 20


def test_a_long_chain_of_branches() -> None:
    """Statements in branches count, however many there are."""
    source = "if x:\n pass\n" + "elif x:\n pass\n" * 500 + "else:\n def f(): ...\n"
    assert text_of(source) == {"f": "def f()"}


def test_the_coding_of_a_program_is_not_its_own_to_choose() -> None:
    """The file has been decoded already, so that a cookie changes nothing."""
    assert text_of("# coding: utf-7\nX = '+AGEA-'\n") == {
        "module-constants": "# coding: utf-7\nX = '+AGEA-'"
    }


def test_escapes(recwarn: pytest.WarningsRecorder) -> None:
    """Unpaired surrogates in docstrings can be stored, and no warning about the code is shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        found = text_of('def f():\n    """\\ud800 \\q"""\n    return "\\ud800 xy"\n')
    assert found == {"f": "def f()\n? \\q\n'\\ud800 xy'"}
    assert not recwarn.list


def test_nothing_is_executed(tmp_path: Path) -> None:
    """Neither a default nor a decorator runs."""
    target = tmp_path / "ran"
    source = f"open({str(target)!r}, 'w')\n@open({str(target)!r}, 'w')\ndef f(): ...\n"
    assert list(text_of(source)) == ["f"]
    assert not target.exists()

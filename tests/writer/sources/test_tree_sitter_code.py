"""Programs in languages that tree-sitter knows: their symbols, and that none takes long."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from golden_file import GOLDEN, expect

from mkdocs_contentgen.writer.sources.tree_sitter_code import MAX_PARSED, read_program

CASES = sorted((GOLDEN / "programs").glob("*.code"))


@pytest.mark.parametrize("case", CASES, ids=[case.stem for case in CASES])
def test_symbols(case: Path) -> None:
    """Each symbol is shown with its name and its line, and what it says below."""
    shown = ""
    for symbol in read_program(case.read_text(), Path(case.stem).suffix) or ():
        shown += f"=== {symbol.name or '-'}, line {symbol.line}\n{symbol.text}\n"
    expect(shown, case.with_suffix(".txt"))


def test_what_is_compared() -> None:
    """Another order of lines and spaces is not a change, and neither is one of a body."""
    one = read_program("function f(a,  b)\n{ return a }", ".js")
    other = read_program("function f(a,\n  b) {\n return b; }", ".js")
    assert one and other
    assert one[0].compared == other[0].compared == "function f(a, b)"


def test_without_a_grammar() -> None:
    """A program in a language without a grammar has no symbols, and neither has a long one."""
    program = "func F() {}\n"
    assert read_program(program, ".go")
    assert read_program(program, ".go", {".go": ("tree_sitter_of_nobody", "language")}) is None
    assert read_program(program, ".rb") is None
    assert read_program(program * MAX_PARSED, ".go") is None
    assert read_program("no program", ".go") is None


def test_long_statements() -> None:
    """The grammar of Java is slow for a statement that is longer than any that people write."""
    comment = "/* " + "a comment " * 500 + '*/ String a = "' + "long " * 500 + '";'
    assert read_program(f"class A {{ {comment} }}", ".java")
    assert read_program(f"class A {{ int a = {'a + ' * 500} 1; }}", ".java") is None
    assert read_program(f"/*/*/ class A {{ int a = {'a + ' * 500} 1; }}", ".java") is None


@pytest.mark.parametrize("suffix", [".cs", ".go", ".java", ".js", ".rs", ".ts"])
@pytest.mark.parametrize("piece", ["a<", "f({a:", '"', "a=>"])
def test_hostile_programs(suffix: str, piece: str) -> None:
    """Code that is nested without end is read in linear time, or not at all."""
    times = []
    for length in (500, 4_000):
        program = piece * (length // len(piece))
        started = process_time()
        read_program(program, suffix)
        times.append(process_time() - started)
    assert times[1] < 24 * times[0] + 0.2

"""Programs, documents and saved help that nobody thought of, for the readers of code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from test_fuzz import few, fuzz

from mkdocs_contentgen.writer.sources.api_schemas import read_api_schema
from mkdocs_contentgen.writer.sources.code_symbols import Symbol
from mkdocs_contentgen.writer.sources.help_texts import read_help
from mkdocs_contentgen.writer.sources.python_code import read_python
from mkdocs_contentgen.writer.sources.tree_sitter_code import GRAMMARS, read_program

PIECES = [
    *("class A", "def f(a, b=2)", "async ", "@x.y(1)", "pass", "import a", "lambda: 0", "match a"),
    *("function f(a, b = 2)", "export ", "const a = ", "() => ", "interface I", "enum E", "type T"),
    *("func (c *C) F(a int) ", "struct ", "impl A<T> for B", "pub fn f()", "#[x]", "mod m"),
    *("public int A { get; }", "namespace N", "record R(int a)", "@Override", "new A()"),
    *(
        "'a string'",
        '"a string"',
        "`a ${b}`",
        '"""',
        "# a comment\n",
        "// a comment\n",
        "/* ",
        "*/",
    ),
    *("openapi: 3.0.0\n", "paths:\n", "  /a:\n", "    get:\n", "$ref: '#/a'\n", "properties:\n"),
    *("usage: a b [-h]\n", "  -h, --help  help\n", "  --flag=X\n", "│ ", "- ", ": ", "&a ", "*a"),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        ";",
        ",",
        "=",
        "\n",
        "    ",
        "\t",
        "\\",
        "\0",
        "\ud800",
    ),
    *("é", "一", "\U0001f600", "0x1_0", "1e9", "a", "_", "$", "?", "!", "|", "..."),
]

programs = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=60).map(
    "".join
)


def check(symbols: list[Symbol] | None, source: str) -> None:
    """See that symbols can be cited: they have a line of the source, and can be written."""
    lines = source.count("\n") + source.count("\r") + 1
    for symbol in symbols or ():
        assert 1 <= symbol.line <= lines
        assert len(symbol.name) <= 1000
        symbol.text.encode()
        symbol.compared.encode()


def test_python() -> None:
    """No program in Python breaks its reader."""

    @few
    @given(programs)
    def test(source: str) -> None:
        check(read_python(source), source)

    fuzz(test)


def test_other_languages() -> None:
    """No program in another language breaks its reader."""

    @few
    @given(programs, st.sampled_from(sorted(GRAMMARS)))
    def test(source: str, suffix: str) -> None:
        check(read_program(source, suffix), source)

    fuzz(test)


def test_api_schemas() -> None:
    """No document breaks the reader of OpenAPI and JSON Schema."""

    @few
    @given(programs)
    def test(source: str) -> None:
        check(read_api_schema(f"openapi: 3.0.0\n{source}"), source + "\n")

    fuzz(test)


def test_help() -> None:
    """No saved help breaks its reader."""

    @few
    @given(programs)
    def test(source: str) -> None:
        read_help(f"usage: a\n  -h  help\n{source}")

    fuzz(test)

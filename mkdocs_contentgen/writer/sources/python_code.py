"""Read what a program in Python says to those who use it, without running or importing it.

That is what a text about the program can be wrong about: names, signatures, defaults, attributes,
docstrings, and of a body the strings, and the calls that declare an option of the command line or
read an environment variable. The rest of a body is left out, since most changes are there, and no
text has to follow them.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from .code_symbols import CONSTANTS, Symbol

MAX_PARSED = 128 * 1024
"""Characters of a program that is parsed, which takes up to half a second."""

_FILTERING = Lock()
"""Held while the filters of warnings are others, which all threads have in common."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef

_DECLARING_CALLS = frozenset(
    "Argument Option add_argument add_option add_parser environ.get getenv".split()
)
"""The ends of the names of functions that declare an option or read an environment variable.

Those of argparse, click and typer; decorators and defaults are shown in any case.
"""

_TYPING = frozenset({"t", "te", "tp", "typing", "typing_extensions"})
"""The names that programs give to the modules with types."""

_BUILTIN_TYPES = {
    "Dict": "dict",
    "FrozenSet": "frozenset",
    "List": "list",
    "Set": "set",
    "Tuple": "tuple",
    "Type": "type",
}
"""The names of types that had others before."""

_BRANCHES = ("body", "handlers", "orelse", "finalbody")
"""The fields of statements such as `if` and `try` with the statements inside of them."""


def read_python(source: str) -> list[Symbol] | None:
    """Return the symbols of a program in their order, or None if it cannot be parsed.

    Definitions of the same name, such as overloads, are one symbol.
    """
    if len(source) > MAX_PARSED:
        return None
    try:
        return _Program(source).symbols()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # The parser raises the last two for code that is nested too deeply.
        return None


@dataclass
class _Found:
    """A symbol that is being read. `compared` leaves annotations out."""

    line: int
    said: list[str]
    compared: list[str]


class _Program:
    """The statements of a program, and its lines."""

    def __init__(self, source: str) -> None:
        with _FILTERING, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those on the code, such as "invalid escape sequence"
            self._tree = ast.parse(source)
        self._lines = source.split("\n")
        self._found: dict[str, _Found] = {}
        self._shown_lines: set[int] = set()  # the first and last ones of assignments that were read

    def symbols(self) -> list[Symbol]:
        """Return the symbols of the program."""
        docstring = ast.get_docstring(self._tree)
        if docstring:
            self._add("", 1, [docstring])
        self._read(self._tree.body, "")
        symbols = []
        for name, found in self._found.items():
            symbols.append(Symbol(name, found.line, _joined(found.said), _joined(found.compared)))
        return symbols

    def _read(self, body: Sequence[ast.stmt], prefix: str) -> None:
        """Read the definitions in the body of the module, or of a class."""
        statements = list(_statements(body))
        for statement, following in zip(statements, [*statements[1:], None], strict=True):
            if isinstance(statement, _Function):
                self._read_function(statement, prefix)
            elif isinstance(statement, ast.ClassDef):
                self._read_class(statement, prefix)
            elif prefix:
                continue  # attributes are shown with their class
            elif _is_assignment(statement):
                said = self._assignment(statement, following)
                self._add(CONSTANTS, statement.lineno, said)
            elif isinstance(statement, ast.Expr) and _is_declaring(statement.value):
                self._add(CONSTANTS, statement.lineno, [ast.unparse(statement)])

    def _read_function(self, function: _Function, prefix: str) -> None:
        said = self._above(function)
        compared = [*said]
        arguments = [node for node in ast.walk(function.args) if isinstance(node, ast.arg)]
        for argument in arguments:
            if argument.annotation:
                argument.annotation = _normal_type(argument.annotation)
        if function.returns:
            function.returns = _normal_type(function.returns)
        said.append(_signature(function))
        for argument in arguments:
            argument.annotation = None
        function.returns = None
        compared.append(_signature(function))
        docstring = ast.get_docstring(function)
        below = [docstring] if docstring else []
        strings = _strings_and_options(function.body[1:] if docstring else function.body)
        if strings:
            below.append("\n".join(strings))
        name = f"{prefix}{function.name}"
        self._add(name, function.lineno, [*said, *below], [*compared, *below])

    def _read_class(self, defined: ast.ClassDef, prefix: str) -> None:
        said = self._above(defined)
        bases = [ast.unparse(base) for base in (*defined.bases, *defined.keywords)]
        said.append(f"class {defined.name}({', '.join(bases)})")
        docstring = ast.get_docstring(defined)
        if docstring:
            said.append(docstring)
        statements = list(_statements(defined.body))
        for statement, following in zip(statements, [*statements[1:], None], strict=True):
            if _is_assignment(statement):
                said += self._assignment(statement, following)
        name = f"{prefix}{defined.name}"
        self._add(name, defined.lineno, said)
        self._read(defined.body, f"{name}.")

    def _add(
        self, name: str, line: int, said: Sequence[str], compared: Sequence[str] | None = None
    ) -> None:
        found = self._found.setdefault(name, _Found(line, [], []))
        found.said += said
        found.compared += said if compared is None else compared

    def _above(self, defined: _Function | ast.ClassDef) -> list[str]:
        """Return decorators, and the comment above if there is no docstring."""
        decorators = [f"@{ast.unparse(decorator)}" for decorator in defined.decorator_list]
        if ast.get_docstring(defined):
            return decorators
        first_line = defined.lineno
        if defined.decorator_list:
            first_line = defined.decorator_list[0].lineno
        return [*self._comment_above(first_line), *decorators]

    def _comment_above(self, line: int) -> list[str]:
        """Return the comment above the line with this number."""
        start = line - 1
        while start and self._lines[start - 1].lstrip().startswith("#"):
            start -= 1
        return [comment.strip() for comment in self._lines[start : line - 1]]

    def _assignment(self, statement: ast.stmt, following: ast.stmt | None) -> list[str]:
        """Return the lines of an assignment, with the comment above or the docstring below."""
        # A line can have thousands of assignments.
        if statement.lineno in self._shown_lines:
            return []
        self._shown_lines |= {statement.lineno, statement.end_lineno or 0}
        said = self._comment_above(statement.lineno)
        lines = self._lines[statement.lineno - 1 : statement.end_lineno]
        if isinstance(statement, ast.AnnAssign):
            lines = _with_normal_type(statement, lines)
        said.append("\n".join(line.strip() for line in lines))
        if isinstance(following, ast.Expr) and _is_string(following.value):
            said.append(ast.unparse(following.value))
        return said


class _TypeNormalizer(ast.NodeTransformer):
    """Replaces the older ways to write a type by the newest: `Optional[str]` by `str | None`."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Leave out the module `typing`, whatever it is called."""
        if isinstance(node.value, ast.Name) and node.value.id in _TYPING:
            return ast.Name(node.attr)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace the name of a type such as `List`, which has no type in it."""
        return ast.Name(_BUILTIN_TYPES.get(node.id, node.id))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Replace a type in quotation marks."""
        if isinstance(node.value, str) and node.value.isidentifier():
            return ast.Name(node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Replace a type that has others in it. What `Literal` has are values."""
        outer: ast.expr = self.visit(node.value)
        name = outer.id if isinstance(outer, ast.Name) else ""
        if name in ("Literal", "Annotated"):
            return ast.Subscript(outer, node.slice)
        inner: ast.expr = self.visit(node.slice)
        if name == "Optional":
            return ast.BinOp(inner, ast.BitOr(), ast.Constant(None))
        if name == "Union" and isinstance(inner, ast.Tuple) and inner.elts:
            first, *others = inner.elts
            for other in others:
                first = ast.BinOp(first, ast.BitOr(), other)
            return first
        return ast.Subscript(outer, inner)


def _normal_type(annotation: ast.expr) -> ast.expr:
    """Return a type as it is written today, since another way to write it is not a change."""
    normal: ast.expr = _TypeNormalizer().visit(annotation)
    return normal


def _with_normal_type(statement: ast.AnnAssign, lines: Sequence[str]) -> list[str]:
    """Return the lines of an assignment with its type as it is written today."""
    annotation = statement.annotation
    end = (annotation.end_lineno or annotation.lineno) - statement.lineno
    # The columns of the syntax tree count the bytes of UTF-8.
    rest = lines[end].encode("utf-8", "replace")[annotation.end_col_offset or 0 :]
    target = ast.unparse(statement.target)
    first = f"{target}: {ast.unparse(_normal_type(annotation))}{rest.decode('utf-8', 'replace')}"
    return [first, *lines[end + 1 :]]


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements in order, with those in branches, but without those of definitions.

    No recursion: a chain of `elif` is nested as deeply as it is long.
    """
    waiting: list[ast.AST] = []
    waiting += reversed([*body])
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.stmt):
            yield statement
        if isinstance(statement, _Function | ast.ClassDef):
            continue
        inner: list[ast.AST] = []
        for name in _BRANCHES:
            branch = getattr(statement, name, None)
            if isinstance(branch, list):
                inner += branch
        waiting += reversed(inner)


def _is_assignment(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _signature(function: _Function) -> str:
    signature = f"def {function.name}({ast.unparse(function.args)})"
    if isinstance(function, ast.AsyncFunctionDef):
        signature = f"async {signature}"
    if function.returns:
        signature += f" -> {ast.unparse(function.returns)}"
    return signature


def _is_declaring(node: ast.AST) -> bool:
    """Tell whether this is a call that declares an option or reads an environment variable."""
    if not isinstance(node, ast.Call):
        return False
    names: list[str] = []
    called = node.func
    while isinstance(called, ast.Attribute) and len(names) < 2:
        names.append(called.attr)
        called = called.value
    if isinstance(called, ast.Name) and len(names) < 2:
        names.append(called.id)
    qualified = ".".join(reversed(names))
    return qualified in _DECLARING_CALLS or qualified.rpartition(".")[2] in _DECLARING_CALLS


def _strings_and_options(body: Iterable[ast.stmt]) -> list[str]:
    """Return what in a body is for users, each once, in its order.

    These are the string literals with a word, and the calls that declare an option of the command
    line or read an environment variable, whole.
    """
    found = []
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr) or _is_string(node) or _is_declaring(node):
            found.append(node)
        else:
            waiting += ast.iter_child_nodes(node)
    strings: dict[str, None] = {}
    for node in sorted(found, key=_position):
        string = ast.unparse(node)
        if re.search(r"\w\w", string):
            strings[string] = None
    return list(strings)


def _position(node: ast.AST) -> tuple[int, int]:
    """Return where an expression stands: its line and its column."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _joined(said: Iterable[str]) -> str:
    """Return lines as text. An unpaired surrogate, which an escape can make, becomes `?`."""
    return "\n".join(said).encode("utf-8", "replace").decode()

"""Read what a program says to those who use it, in the languages that tree-sitter knows here.

Symbols are as those of Python: signature, attributes, the comment above, and of a body the strings
and the calls that declare an option of the command line. Nothing is run. Only this module knows
tree-sitter, which the extra `code` installs. Its trees can be as deep as a program is long, so no
function here calls itself for each level of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING

from .code_symbols import CONSTANTS, Symbol

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

MAX_PARSED = 128 * 1024
"""Characters of a program that is parsed."""

_MAX_STEPS = 2000
"""Hundreds of operations that the parser may need, which are up to a second.

That is more than programs of MAX_PARSED characters need that have few mistakes in them.
"""

_SLOW_WITH_MISTAKES = (".cs", ".java")
"""The suffixes whose grammar takes longest for a long statement with mistakes in it.

That time grows with the square of its length, and nothing can end it.
"""

_MAX_STATEMENT = 1000
"""Characters of a statement in these languages, without strings and comments."""

_BETWEEN_STATEMENTS = re.compile(r"[;{}]|//[^\n]*|/\*|\"(?:[^\"\\\n]|\\.)*\"")
"""What ends a statement, or does not count for its length. A comment begins with `/*`."""

_CHUNK = 4096
"""Bytes that the parser gets at a time."""

_MAX_DEPTH = 12
"""How deep types within types are read."""

_MAX_NAME = 200
"""Characters of the name of a symbol."""

Grammars = Mapping[str, tuple[str, str]]
"""The module of the grammar of a suffix, and its function that returns the language."""

GRAMMARS: Grammars = {
    ".cjs": ("tree_sitter_javascript", "language"),
    ".cs": ("tree_sitter_c_sharp", "language"),
    ".go": ("tree_sitter_go", "language"),
    ".java": ("tree_sitter_java", "language"),
    ".js": ("tree_sitter_javascript", "language"),
    ".jsx": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
}

_FUNCTIONS = frozenset(
    "abstract_method_signature constructor_declaration delegate_declaration function_declaration "
    "function_item function_signature function_signature_item generator_function_declaration "
    "macro_definition method_declaration method_definition method_signature".split()
)
"""The kinds of nodes that define a function."""

_TYPES = frozenset(
    "abstract_class_declaration annotation_type_declaration class_declaration enum_declaration "
    "enum_item interface_declaration record_declaration struct_declaration struct_item "
    "trait_item type_alias_declaration type_item type_spec union_item".split()
)
"""The kinds of nodes that define a type, whose members are its attributes or symbols."""

_FUNCTION_VALUES = ("arrow_function", "function_expression")
"""The kinds of nodes of functions that get their name from what they are assigned to."""

_VALUES = frozenset(
    "const_declaration const_item lexical_declaration static_item var_declaration "
    "variable_declaration".split()
)
"""The kinds of nodes that define constants and variables of a module."""

_AROUND = frozenset(
    "ambient_declaration declaration_list enum_body_declarations export_statement "
    "expression_statement file_scoped_namespace_declaration internal_module module "
    "namespace_declaration statement_block type_declaration".split()
)
"""The kinds of nodes around definitions, which are not symbols."""

_NAMED_AROUND = frozenset({"impl_item", "mod_item"})
"""Those whose name is a part of the names of what they have."""

_NO_ATTRIBUTES = (
    _FUNCTIONS | _TYPES | _AROUND | {"block", "class_static_block", "static_initializer"}
)
"""The kinds of nodes in a type that are not shown with it."""

_COMMENTS = frozenset({"block_comment", "comment", "line_comment"})

_ABOVE = _COMMENTS | {"attribute_item", "decorator"}
"""The kinds of nodes above a definition that belong to it."""

_STRINGS = frozenset(
    "interpolated_string_expression interpreted_string_literal raw_string_literal string "
    "string_literal template_string verbatim_string_literal".split()
)

_CALLS = frozenset({"call_expression", "invocation_expression", "method_invocation"})

_DECLARING = re.compile(
    rb"(?<!\w)(?:addOption|requiredOption|option|positional|flag\.\w+|Flags\(\)\.\w+)\("
)
"""A call that declares an option of the command line: commander, yargs, and the flags of Go."""

_VARIABLE = re.compile(rb"process\.env\.\w+\Z")
"""An environment variable that a program reads without a string."""


def read_program(source: str, suffix: str, grammars: Grammars = GRAMMARS) -> list[Symbol] | None:
    """Return the symbols of a program in their order, or None if it cannot be read.

    That is so for a language that is not known here, and without the extra `code`. `suffix` is that
    of the file. Definitions of the same name, such as overloads, are one symbol.
    """
    if suffix not in grammars or len(source) > MAX_PARSED:
        return None
    language = _language(*grammars[suffix])
    if language is None:
        return None
    content = source.encode("utf-8", "replace")
    if suffix in _SLOW_WITH_MISTAKES and _longest_statement(source) > _MAX_STATEMENT:
        return None
    tree = _parse(content, language)
    if tree is None:
        return None
    reader = _Reader(content)
    reader.read(tree.root_node)
    return reader.symbols() or None


def _longest_statement(source: str) -> int:
    """Return the length of the longest statement, without strings and comments."""
    longest = 0
    length = 0
    position = 0
    while position < len(source):
        found = _BETWEEN_STATEMENTS.search(source, position)
        if found is None:
            return max(longest, length + len(source) - position)
        length += found.start() - position
        longest = max(longest, length)
        position = found.end()
        if found[0] in (";", "{", "}"):
            length = 0
        elif found[0] == "/*":
            end = source.find("*/", position)
            if end < 0:  # a comment without an end
                return longest
            position = end + len("*/")
    return longest


def _parse(content: bytes, language: Language) -> Tree | None:
    """Return the tree of a program, or None if that takes too long."""
    from tree_sitter import Parser

    steps = count(1)

    def read(start: int, _point: object) -> bytes:
        return content[start : start + _CHUNK]

    def is_too_long(*_: object) -> bool:
        return next(steps) > _MAX_STEPS

    try:
        return Parser(language).parse(read, progress_callback=is_too_long)
    except ValueError:  # it was too long
        return None


@lru_cache
def _language(module: str, function: str) -> Language | None:
    """Return what a function of a grammar returns, or None if it is not installed."""
    try:
        from tree_sitter import Language

        grammar = import_module(module)
        return Language(getattr(grammar, function)())
    except (ImportError, ValueError):  # the latter for a grammar of another version
        return None


@dataclass
class _Found:
    """A symbol that is being read."""

    line: int
    said: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Place:
    """A node whose definitions are still to be read, with what is put before their names."""

    node: Node
    prefix: str
    depth: int
    above: Sequence[Node] = ()
    """Comments and decorators above the node, which belong to its only definition."""


class _Reader:
    """Collects the symbols of a program."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._found: dict[str, _Found] = {}
        self._waiting: list[_Place] = []

    def symbols(self) -> list[Symbol]:
        """Return the symbols that were found, in the order of their lines."""
        symbols = []
        for name, found in sorted(self._found.items(), key=lambda item: item[1].line):
            text = "\n".join(found.said)
            symbols.append(Symbol(name, found.line, text, " ".join(text.split())))
        return symbols

    def read(self, root: Node) -> None:
        """Read the definitions of a program."""
        self._waiting = [_Place(root, "", 0)]
        while self._waiting:
            place = self._waiting.pop()
            for child, above in _with_above(place.node, place.above):
                self._read_definition(child, place, above)

    def _read_definition(self, node: Node, place: _Place, above: Sequence[Node]) -> None:
        """Read a definition, or leave what is around others for later."""
        if place.depth > _MAX_DEPTH:
            return
        if node.type in _FUNCTIONS:
            self._read_function(node, place.prefix, above)
        elif node.type in _TYPES:
            self._read_type(node, place, above)
        elif node.type in _AROUND:
            self._waiting.append(_Place(node, place.prefix, place.depth, above))
        elif node.type in _NAMED_AROUND:
            name = self._name(node.child_by_field_name("name") or node.child_by_field_name("type"))
            body = node.child_by_field_name("body")
            if body:
                self._waiting.append(_Place(body, f"{place.prefix}{name}.", place.depth + 1))
        elif node.type in _VALUES and not place.prefix:
            self._read_values(node, above)
        elif node.type == "assignment_expression":  # such as `exports.read = () => {}`
            value = node.child_by_field_name("right")
            if value is not None and value.type in _FUNCTION_VALUES:
                self._read_function(value, "", above, node)

    def _read_function(
        self, node: Node, prefix: str, above: Sequence[Node], named: Node | None = None
    ) -> None:
        """Read a function. `named` is what gives it its name if it has none itself."""
        start = named or node
        name = self._name(start.child_by_field_name("name")) or self._last_name(
            start.child_by_field_name("left")
        )
        receiver = node.child_by_field_name("receiver")  # of a method in Go
        if receiver:
            prefix = f"{self._last_name(receiver)}."
        body = node.child_by_field_name("body")
        said = [*self._texts(above), self._text(start, body)]
        if body:
            strings = dict.fromkeys(self._strings(body))
            said += ["\n".join(strings)] if strings else []
        self._add(f"{prefix}{name}", start, said)

    def _read_type(self, node: Node, place: _Place, above: Sequence[Node]) -> None:
        name = self._name(node.child_by_field_name("name"))
        body = node.child_by_field_name("body")
        said = [*self._texts(above), self._text(node, body)]
        if body:
            for member, comments in _with_above(body):
                if member.type not in _NO_ATTRIBUTES:
                    said += [*self._texts(comments), self._text(member)]
        self._add(f"{place.prefix}{name}", node, said)
        if body:
            self._waiting.append(_Place(body, f"{place.prefix}{name}.", place.depth + 1))

    def _read_values(self, node: Node, above: Sequence[Node]) -> None:
        """Read the constants of a module. One that is a function is read as such."""
        functions = 0
        declarators = [child for child in node.named_children if child.type not in _COMMENTS]
        for declarator in declarators:
            value = declarator.child_by_field_name("value")
            if value is not None and value.type in _FUNCTION_VALUES:
                self._read_function(value, "", above, declarator)
                functions += 1
        if functions == 0:
            self._add(CONSTANTS, node, [*self._texts(above), self._text(node)])

    def _add(self, name: str, node: Node, said: Iterable[str]) -> None:
        found = self._found.setdefault(name[:_MAX_NAME], _Found(node.start_point[0] + 1))
        found.said += filter(None, said)

    def _text(self, node: Node, until: Node | None = None) -> str:
        """Return the text of a node up to another one in it, without the space of its lines."""
        end = node.end_byte
        if until is not None:
            end = until.start_byte
        text = self._content[node.start_byte : end].decode("utf-8", "replace")
        lines = text.strip().splitlines()
        return "\n".join(map(str.strip, lines))

    def _texts(self, nodes: Iterable[Node]) -> list[str]:
        return [self._text(node) for node in nodes]

    def _name(self, node: Node | None) -> str:
        """Return the first name in a node, or an empty string."""
        names = self._names(node)
        return names[0] if names else ""

    def _last_name(self, node: Node | None) -> str:
        """Return the last name in a node that does not stand in brackets, or an empty string."""
        names = self._names(node)
        return names[-1] if names else ""

    def _names(self, node: Node | None) -> list[str]:
        if node is None:
            return []
        end = min(node.end_byte, node.start_byte + _MAX_NAME)
        text = self._content[node.start_byte : end].decode("utf-8", "replace")
        return re.findall(r"#?\w+", text.partition("[")[0])

    def _strings(self, body: Node) -> Iterator[str]:
        """Yield the strings with a word in a body, in their order, and what else is for users."""
        waiting = [body]
        while waiting:
            node = waiting.pop()
            if node.type in _STRINGS:
                string = self._text(node)
                if re.search(r"\w\w", string):
                    yield string
            elif _is_declaring(node, self._content) or _is_variable(node, self._content):
                yield self._text(node)
            else:
                waiting += reversed(node.named_children)


def _is_variable(node: Node, content: bytes) -> bool:
    """Tell whether an expression is an environment variable."""
    length = node.end_byte - node.start_byte
    if node.type != "member_expression" or length > _MAX_NAME:
        return False
    return _VARIABLE.match(content[node.start_byte : node.end_byte]) is not None


def _is_declaring(node: Node, content: bytes) -> bool:
    """Tell whether this is a call that declares an option. Of a chain, the last call counts."""
    arguments = node.child_by_field_name("arguments") if node.type in _CALLS else None
    if arguments is None:
        return False
    start = max(node.start_byte, arguments.start_byte - _MAX_NAME)
    called = content[start : arguments.start_byte + 1].rpartition(b"\n")[2].strip()
    return _DECLARING.search(called) is not None and called.endswith(b"(")


def _with_above(around: Node, first: Sequence[Node] = ()) -> Iterator[tuple[Node, Sequence[Node]]]:
    """Yield the nodes in another one, with the comments and attributes that belong to each.

    Those stand above it without an empty line, or after it. `first` are those above the first one.
    """
    above = [*first]
    last: Node | None = None
    before_last: list[Node] = []
    after: list[Node] = []
    for child in around.named_children:
        is_after = last is not None and child.start_point[0] == _last_line(last)
        if child.type in _ABOVE:
            if is_after and child.type in _COMMENTS:
                after.append(child)
                continue
            if above and child.start_point[0] - _last_line(above[-1]) > 1:
                above = []
            above.append(child)
            continue
        if last is not None:
            yield last, [*before_last, *after]
        if above and child.start_point[0] - _last_line(above[-1]) > 1:
            above = []
        last = child
        before_last = above
        above = []
        after = []
    if last is not None:
        yield last, [*before_last, *after]


def _last_line(node: Node) -> int:
    """Return the last line of a node, which can have the end of its line in it."""
    line, column = node.end_point
    return line if column else line - 1

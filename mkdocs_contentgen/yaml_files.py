"""Read YAML, check its values, and say in which line what is expected."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import yaml
from yaml_env_tag import construct_env_tag  # type: ignore[import-untyped]  # it has no types

from .display import did_you_mean, quoted

if TYPE_CHECKING:
    from msgspec.inspect import FloatType, IntType, Type

_SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the loader of MkDocs

_MAX_DEPTH = 10
"""How deep mappings and lists can be nested in a plain document."""

_MAX_NODES = 40_000
"""How many keys and values a plain document can have: a text has at most 10,000 blocks."""

_QUOTES_HINT = (
    "; put a value that contains ': ' or a tab, or begins with a special character, in quotes"
)
_INDENT_HINT = "; indent the keys of one mapping alike"
_HINTS = (
    (
        re.compile("unexpected end of stream"),
        "; the quotation that begins in this line needs a quotation mark at its end",
    ),
    (re.compile("expected ':'"), "; write a ':' and a space between a key and its value"),
    (re.compile("unknown escape"), "; a '\\' needs single quotes in place of double ones"),
    (
        re.compile("expected ',' or"),
        "; close each '{' and '[', or put the value that begins with it in quotes",
    ),
    (re.compile("expected '-'"), "; indent the items of one list alike"),
    (
        re.compile("alias|for the tag|not allowed|found character|expected"),
        _QUOTES_HINT,
    ),
)
"""What to do about a mistake, by what the reader of YAML says."""

_BOOLEANS = {
    "true": "true",
    "yes": "true",
    "on": "true",
    "false": "false",
    "no": "false",
    "off": "false",
}
"""What people write for true and false."""

_MAX_SHOWN = 60
"""The maximum length of a value in a hint."""

_MERGE_TAG = "tag:yaml.org,2002:merge"
"""The tag of the key `<<`, which adds the keys of other mappings."""

_KEY_OF_LINE = re.compile(r"( *)(?:- +)?[\w-]+:(.*)")
"""The indentation of a line that begins with a key, and what follows the key."""


class NotYAMLError(ValueError):
    """A text is not YAML. The message follows the place of the mistake, whose line is `line`."""

    def __init__(self, reason: str, line: int, hint: str = "") -> None:
        super().__init__(f"is not valid YAML: {reason[:200]}{hint}")
        self.line = line


@dataclass(frozen=True)
class RepeatedKey:
    """A key that stands twice in its mapping: in `first_line`, and again in `line`."""

    path: tuple[str | int, ...]
    line: int
    first_line: int

    @property
    def reason(self) -> str:
        """What is wrong, as the end of a message that names the key."""
        return f"is there twice, first in line {self.first_line}; keep one of them"


@dataclass(frozen=True)
class YAMLDocument:
    """A YAML document. `first_line` is the number of its first line in its file."""

    value: object
    repeated_keys: Sequence[RepeatedKey]
    """The keys that a mapping has a second time, of which YAML readers keep the last."""

    _node: yaml.Node | None
    _first_line: int
    _text: str

    def field_lines(self, *path: str) -> dict[str, range]:
        """Return the lines of each field of the mapping at `path`, from its key to its value's end.

        Lines end only at a line feed, as git counts them: YAML has other line ends, too. Without
        a mapping at `path`, the result is empty.
        """
        node = self._node
        for step in path:
            found = _items(node).get(step) if isinstance(node, yaml.MappingNode) else None
            node = found[1] if found else None
        if not isinstance(node, yaml.MappingNode):
            return {}
        line_ends = [match.start() for match in re.finditer("\n", self._text)]
        lines = {}
        for name, (key, value) in _items(node).items():
            start = key.start_mark.index
            # It ends where the next node begins, maybe after the indentation of its line.
            end = value.end_mark.index - 1
            while end > start and self._text[end] == " ":
                end -= 1
            end = max(start, end)
            first = bisect_left(line_ends, start) + self._first_line
            last = bisect_left(line_ends, end) + self._first_line
            lines[name] = range(first, last + 1)
        return lines

    def line_of(self, *path: str | int) -> int:
        """Return the line of the innermost part of `path` that exists. Without any, it is 1."""
        line = 1
        node = self._node
        for step in path:
            if isinstance(node, yaml.MappingNode):
                items = _items(node)
                if str(step) not in items:
                    break
                key, node = items[str(step)]
                line = key.start_mark.line + self._first_line
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                node = node.value[step]
                line = node.start_mark.line + self._first_line
        return line


def read_yaml(
    text: str,
    *,
    first_line: int = 1,
    plain: bool = False,
    environment: bool = False,
    unique_keys: bool = False,
) -> YAMLDocument:
    """Return the document in a text. Raises NotYAMLError.

    With `plain`, aliases, tags, deep nesting and too many values are errors, since they could
    exhaust memory and take long. With `environment`, `!ENV` names environment variables as in
    `mkdocs.yml`. With `unique_keys`, a key that a mapping has twice is an error.
    """
    try:
        if plain:
            _check_plain(text)
        # Also the constructor of the loader raises ReaderError.
        loader = (_EnvironmentLoader if environment else _SafeLoader)(text)
        node = loader.get_single_node()
        # Constructing the value adds the keys of `<<` to the nodes.
        repeated_keys = list(_repeated_keys(node, first_line))
        value = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        reason = str(error.problem or error.context)
        position = error.problem_mark
        # Something left open is noticed only at the end of the text. It begins at the context.
        is_open = "end of stream" in reason or "expected ':'" in reason
        if is_open and error.context_mark:
            position = error.context_mark
        line = 1
        if position:  # which may be after the end
            line = min(position.line, text.rstrip().count("\n")) + first_line
        raise NotYAMLError(reason, line, _hint(reason, position, text)) from None
    except yaml.reader.ReaderError as error:
        index = max(0, text.find(chr(error.character)))
        reason, _, _ = str(error).partition("\n")
        raise NotYAMLError(reason, text.count("\n", 0, index) + first_line) from None
    except Exception:  # noqa: BLE001  constructors raise anything, and quote values
        raise NotYAMLError("it has an impossible date, number or tag", 1) from None
    if unique_keys and repeated_keys:
        repeated = repeated_keys[0]
        reason = f"the key {quoted(repeated.path[-1])} {repeated.reason}"
        raise NotYAMLError(reason, repeated.line)
    return YAMLDocument(value, repeated_keys, node, first_line, text)


def _check_plain(text: str) -> None:
    """Raise yaml.MarkedYAMLError for a text that is not YAML, or not plain.

    Its events take a tenth of the time of its nodes, and no memory.
    """
    depth = 0
    nodes = 0
    for event in yaml.parse(text, Loader=_SafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if not isinstance(event, yaml.NodeEvent):
            continue
        nodes += 1
        problem = ""
        if event.anchor is not None:  # or an alias
            problem = "it has an anchor or an alias"
        elif getattr(event, "tag", None) is not None:
            problem = "it has a tag"
        elif depth >= _MAX_DEPTH:
            problem = f"it is nested more than {_MAX_DEPTH} deep"
        elif nodes > _MAX_NODES:
            problem = f"it has more than {_MAX_NODES:,} keys and values"
        if problem:
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=_start_of(event))
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1


def _start_of(event: yaml.Event) -> yaml.Mark:
    """Return where an event begins. Both parsers have positions with the same fields."""
    return cast(yaml.Mark, event.start_mark)


def _hint(reason: str, position: yaml.Mark | None, text: str) -> str:
    """Return what to do about a mistake at a place in a text, or an empty string."""
    lines = text.split("\n")
    if position is None or position.line >= len(lines):
        return ""
    line = lines[position.line]
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "; indent with spaces, not with tabs"
    if "mapping values" in reason:
        return _hint_of_key(_line_before(lines, position.line), line) or _QUOTES_HINT
    if "expected key" in reason and not line[: position.column].strip():
        return _INDENT_HINT
    for pattern, hint in _HINTS:
        if pattern.search(reason):
            return hint
    return ""


def _line_before(lines: Sequence[str], index: int) -> str:
    """Return the last line before the one at `index` that is not blank, or an empty string."""
    for line in reversed(lines[:index]):
        if line.strip():
            return line
    return ""


def _hint_of_key(previous: str, line: str) -> str:
    """Return what is wrong with a line that begins with a key, or with the one before it."""
    before = _KEY_OF_LINE.match(previous)
    here = _KEY_OF_LINE.match(line)
    if here is None:
        return ""
    if before is None:
        if previous.strip() and previous.startswith(here[1]):  # at the same indentation
            return "; write a ':' after the key in the line before"
        return ""
    if before[2] and not before[2][0].isspace():  # `type:blog` is a text
        return "; write a space after the ':' in the line before"
    if before[2].strip() and here[1] > before[1]:  # below a key that has a value
        return _INDENT_HINT
    return ""


class _EnvironmentLoader(_SafeLoader):  # type: ignore[misc, valid-type]  # one of two classes
    pass


_EnvironmentLoader.add_constructor("!ENV", construct_env_tag)


@dataclass(frozen=True)
class _NodePath:
    """Where a node stands: at `step`, a key or an index, of the node at `parent`.

    A chain, since aliases nest nodes as deep as a file is long, and a tuple for each would have
    as many entries.
    """

    parent: _NodePath | None
    step: str | int

    def path(self) -> tuple[str | int, ...]:
        """Return the steps from the root."""
        steps = []
        node: _NodePath | None = self
        while node:
            steps.append(node.step)
            node = node.parent
        return tuple(reversed(steps))


def _repeated_keys(root: yaml.Node | None, first_line: int) -> Iterator[RepeatedKey]:
    """Yield the keys that a mapping at or below `root` has a second time.

    A mapping with aliases is read once, where it stands last: the last node found is read first.
    """
    seen: set[int] = set()
    waiting: list[tuple[_NodePath | None, yaml.Node | None]] = [(None, root)]
    while waiting:
        path, node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for index, entry in enumerate(node.value):
                waiting.append((_NodePath(path, index), entry))
        if not isinstance(node, yaml.MappingNode):
            continue
        lines: dict[tuple[str, str], int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.tag == _MERGE_TAG:
                waiting.append((path, value))
                continue
            line = key.start_mark.line + first_line
            name = key.tag, key.value
            if name in lines:
                yield RepeatedKey(_NodePath(path, key.value).path(), line, lines[name])
            lines.setdefault(name, line)
            waiting.append((_NodePath(path, key.value), value))


@lru_cache(maxsize=8)  # a mapping can have thousands of wrong keys
def _items(node: yaml.MappingNode) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """Return the nodes of each key and its value. The last of equal keys counts."""
    found = {}
    for key, value in node.value:
        if isinstance(key.value, str):
            found[key.value] = (key, value)
    return found


def credential(variable: str) -> dict[str, str]:
    """Return the `extra` of a `msgspec.Meta` for an option that is a secret.

    Of a wrong value, only its `message` is shown, which names the environment variable to use.
    """
    return {"message": f"is not a text to YAML; put it in quotes, or set {variable} instead"}


def convert(value: object, kind: object) -> object:
    """Return a value as a type, which can be annotated with a `msgspec.Meta`.

    Raises ValueError with what is expected, which is the description of the type or else its
    limits, and with what was found.
    """
    import msgspec  # sites that set no option start without it

    try:
        converted: object = msgspec.convert(value, kind)
    except ValueError:
        info = msgspec.inspect.type_info(kind)
        extra = None
        if isinstance(info, msgspec.inspect.Metadata):
            extra = info.extra
        if extra:
            raise ValueError(extra["message"]) from None
        hint = did_you_mean(value, _known_values(info)) or _hint_of_type(value, info)
        raise ValueError(f"expected {_expected(info)}, found {quoted(value)}{hint}") from None
    return converted


def _hint_of_type(value: object, info: Type) -> str:
    """Return how to write a text that stands for a list, or for true or false, or nothing."""
    from msgspec import inspect as types

    if isinstance(info, types.Metadata):
        return _hint_of_type(value, info.type)
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        return ""
    kinds = {type(info)}
    if isinstance(info, types.UnionType):
        kinds = set(map(type, info.types))
    if types.ListType in kinds:
        return f"; write [{value[:_MAX_SHOWN]}]"
    word = value.split()[0].lower().strip(",.!")
    if types.BoolType in kinds and word in _BOOLEANS:
        return f"; write {_BOOLEANS[word]}, without quotes"
    return ""


def _known_values(info: Type) -> Iterator[str]:
    """Yield the texts that a type can be."""
    from msgspec import inspect as types

    match info:
        case types.Metadata(type=inner):
            yield from _known_values(inner)
        case types.UnionType(types=inner_types):
            for inner in inner_types:
                yield from _known_values(inner)
        case types.LiteralType(values=values):
            for value in values:
                if isinstance(value, str):
                    yield value


def _expected_number(info: IntType | FloatType) -> str:
    """Return the values of a type of numbers in words."""
    from msgspec import inspect as types

    match info:
        case types.IntType(ge=least, le=None):
            return f"a whole number from {least} up"
        case types.IntType(ge=least, le=most):
            return f"a whole number from {least} to {most}"
        case types.FloatType(ge=None, gt=below, le=most):
            return f"a number above {below:g}, up to {most:.0f}"
        case _:
            return f"a number from {info.ge:g} to {info.le:.0f}"


def _expected(info: Type) -> str:
    """Return the values of a type in words."""
    from msgspec import inspect as types

    match info:
        case types.Metadata(extra_json_schema={"description": text}):
            return str(text)
        case types.IntType() | types.FloatType():
            return _expected_number(info)
        case types.BoolType():
            return "true or false"
        case types.LiteralType(values=values):
            return " or ".join(map(str, values))
        case types.ListType(item_type=item) | types.VarTupleType(item_type=item):
            return f"a list of {_expected(item)}"
        case types.StructType(fields=fields):
            described = [f"{field.name}: {_expected(field.type)}" for field in fields]
            return f"a mapping `{{{', '.join(described)}}}`"
        case types.UnionType(types=inner_types):
            named = [inner for inner in inner_types if not isinstance(inner, types.NoneType)]
            return " or ".join(map(_expected, named))
        case types.DictType():
            return "a mapping"
    return "text, in quotes if it looks like something else to YAML"

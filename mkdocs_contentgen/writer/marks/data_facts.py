"""Read what data among the sources say: the keys of JSON and YAML with their values, and tables.

The sources of a text are one text, in which data stand between sentences. So they are not parsed as
documents: a scan from left to right finds each key with its value, and what it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ...language.languages import PHRASES

_KEY = (
    r"(?P<quote>[\"'`]?)(?P<key>(?<![\w.-])[A-Za-z_$][\w.$-]{0,80})(?P=quote)"
    r"\s?(?P<separator>[:=])(?![:=/])[ \t]*"
)
_VALUE = (
    r"(?P<value>\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`\n]{1,200}`"
    r"|[^\s{}\[\],\"'`#|&*>!][^\n{},#\"'`]{0,80})?"
)
_TOKEN = re.compile(rf"(?P<open>[{{\[])|(?P<close>[}}\]])|{_KEY}{_VALUE}")
"""What opens or closes a part of JSON, or a key with its value."""

_ROW = re.compile(r"^[ \t]{0,8}\|(?P<cells>.{1,2000}?)\|?[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]+")

_NAMES = frozenset("name id key option parameter field flag title hotel".split())
"""Keys whose value names what the keys beside them are about."""

PARTS_OF_PARAMETERS = ("schema", "items")
"""Keys of OpenAPI in which the type and the default of a parameter stand."""

_MOST_DEPTH = 12
_MOST_INDENT = 80

_TRUE = frozenset(PHRASES["true_value"].split())
_FALSE = frozenset(PHRASES["false_value"].split())
_MISSING = frozenset("null none nil undefined ~".split())

_WORD_OF_KEY = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@dataclass(frozen=True)
class Fact:
    """A key of data with its value."""

    path: tuple[str, ...]
    """The keys around it, and the key itself."""

    name: str
    """What a key beside it calls the whole, such as the name of a parameter, or an empty string."""

    value: str
    start: int
    """Where the key stands."""

    is_argument: bool = False
    """Whether it is one of a call in code, such as `strict=False`, which says nothing of it."""

    headers: tuple[str, ...] = ()
    """The headers of the columns of its table, which has one for its key."""

    @property
    def key(self) -> str:
        """The key itself."""
        return self.path[-1]

    @property
    def is_true(self) -> bool | None:
        """Whether the value is yes or no, or None for all others."""
        value = self.value.casefold()
        if value in _TRUE:
            return True
        if value in _FALSE or value in _MISSING:
            return False
        return None

    @property
    def is_missing(self) -> bool:
        """Whether the value is that of a key that has none."""
        return self.value.casefold() in _MISSING


def words_of_key(key: str) -> tuple[str, ...]:
    """Return the words of a key such as `pets_allowed` or `OutdoorSeating`, in lower case."""
    return tuple(word.lower() for word in _WORD_OF_KEY.findall(key.replace("WiFi", "Wifi")))


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def read_facts(given: str) -> tuple[Fact, ...]:
    """Return the keys of data in what is given, with their values, in order."""
    return (*_facts_of_keys(given), *_facts_of_tables(given))


@dataclass
class _Level:
    """A part of JSON or YAML that is open."""

    key: str
    indent: int
    """How far a line of YAML is indented, or -1 in brackets."""

    name: str = ""


class _Levels:
    """The parts of data that are open where the scan is."""

    def __init__(self) -> None:
        self._levels: list[_Level] = []

    def open(self, key: str, indent: int = -1) -> None:
        """Open a part of a key, or of none in a list."""
        if len(self._levels) >= _MOST_DEPTH:
            return
        # A schema is about what its parameter is about.
        name = self._levels[-1].name if self._levels and key in PARTS_OF_PARAMETERS else ""
        self._levels.append(_Level(key, indent, name))

    def close(self) -> None:
        """Close the innermost part in brackets."""
        while self._levels and self._levels[-1].indent >= 0:
            self._levels.pop()
        if self._levels:
            self._levels.pop()

    def begin_line(self, indent: int) -> None:
        """Close the parts of YAML that end before a line that is indented so far."""
        while self._levels and self._levels[-1].indent >= indent:
            self._levels.pop()

    def fact(self, key: str, value: str, start: int, *, is_argument: bool) -> Fact:
        """Return the fact of a key with its value."""
        if key.lower() in _NAMES and self._levels:
            self._levels[-1].name = value
        path = [level.key for level in self._levels if level.key]
        name = self._levels[-1].name if self._levels else ""
        return Fact((*path, key), name, value, start, is_argument)


def _facts_of_keys(given: str) -> Iterator[Fact]:
    levels = _Levels()
    waiting = ""
    """The key whose value begins with the next bracket."""

    for token in _TOKEN.finditer(given):
        if token["open"]:
            levels.open(waiting)
            waiting = ""
            continue
        if token["close"]:
            levels.close()
            continue
        indent = _indent(given, token.start())
        if indent is not None:
            levels.begin_line(indent)
        waiting = ""
        value = (token["value"] or "").strip()
        if value:
            value = value.strip("\"'`").strip()
            is_argument = token["separator"] == "=" and indent is None
            yield levels.fact(token["key"], value, token.start("key"), is_argument=is_argument)
        elif given[token.end() : token.end() + 1] in ("{", "["):
            waiting = token["key"]
        elif indent is not None:
            levels.open(token["key"], indent)


def _indent(given: str, start: int) -> int | None:
    """Return how far a key of YAML is indented, or None for one within a line."""
    line = given.rfind("\n", max(0, start - _MOST_INDENT), start) + 1
    before = given[line:start]
    if start - line > _MOST_INDENT or before.strip(" \t-"):
        return None
    return len(before)


def _facts_of_tables(given: str) -> Iterator[Fact]:
    headers: list[str] = []
    end = -1
    for row in _ROW.finditer(given):
        cells = [cell.strip(" `*\"'") for cell in row["cells"].split("|")]
        if row.start() != end + 1:
            headers = []
        end = row.end()
        if _RULE.fullmatch(row["cells"]):
            continue
        if not headers:
            headers = cells
            continue
        for header, cell in zip(headers[1:], cells[1:], strict=False):
            if header:
                yield Fact(
                    (cells[0], header), cells[0], cell, row.start(), headers=tuple(headers[1:])
                )

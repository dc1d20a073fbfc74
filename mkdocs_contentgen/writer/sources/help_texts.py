"""Read what a program prints for `--help`, as somebody has saved it, option by option.

A file can have the help of several commands. Each begins with a line such as `usage: tool sync`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .code_symbols import Symbol

_USAGE = re.compile(r"\s{0,8}usage:?\s{1,8}(?P<command>\S.*)", re.IGNORECASE)
"""The first line of the help of a command."""

_COMMAND_WORD = re.compile(r"[a-z0-9][\w.:-]*\Z")
"""A word of a command, and not of its arguments, such as `[OPTIONS]` and `FILE`."""

_OPTION = re.compile(r"(?P<space>\s{1,12})(?:\*\s{1,8})?(?P<flags>--?[A-Za-z0-9?][^\s,=\[]*.*)")
"""The first line of an option."""

_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z0-9?][\w-]*")

_BETWEEN_COLUMNS = re.compile(r"\s{2,}|\t")
"""What stands between the flags of an option and what it does."""

_FRAME = str.maketrans("│┃|╭╮╰╯─━", "         ")
"""The frames of some programs, which are not words."""

_MAX_SHIFT = 6
"""How much deeper an option can stand than the one before: `--long` is below `-s, --short`."""

_MAX_NAME = 200
"""Characters of the name of a symbol."""


def read_help(text: str) -> list[Symbol] | None:
    """Return the commands and options of a saved help, or None for another text."""
    commands = list(_commands(text.splitlines()))
    if not any(command.options for command in commands):
        return None
    symbols: dict[str, Symbol] = {}
    for command in commands:
        for symbol in command.symbols():
            symbols.setdefault(symbol.name, symbol)
    return list(symbols.values())


@dataclass
class _Option:
    line: int
    indent: int
    said: list[str]


@dataclass
class _Command:
    """A command, and what its help says."""

    name: str
    line: int
    said: list[str] = field(default_factory=list)
    """The lines that are about no option."""

    options: list[_Option] = field(default_factory=list)

    def symbols(self) -> Iterator[Symbol]:
        """Yield the command itself, and each of its options."""
        yield _symbol(self.name, self.line, self.said)
        for option in self.options:
            flags = _flags_of(option)
            longest = max(flags, key=len)
            name = f"{self.name} {longest}"
            yield _symbol(name, option.line, [name, *option.said])


def _commands(lines: Sequence[str]) -> Iterator[_Command]:
    """Yield the commands of a help, in their order, without what stands before the first one."""
    command: _Command | None = None
    option: _Option | None = None
    for number, framed in enumerate(lines, start=1):
        line = framed.translate(_FRAME).rstrip()
        usage = _USAGE.match(line)
        if usage:
            if command:
                yield command
            command = _Command(_name_of(usage["command"]), number, [line.strip()])
            option = None
        if usage or command is None:
            continue
        found = _OPTION.match(line)
        indent = len(line) - len(line.lstrip())
        if found and not (option and indent > option.indent + _MAX_SHIFT):
            option = _Option(number, indent, [line.strip()])
            command.options.append(option)
        elif option and line and indent > option.indent:
            option.said.append(line.strip())
        elif line:
            option = None
            command.said.append(line.strip())
    if command:
        yield command


def _name_of(usage: str) -> str:
    """Return the command in a line of usage, without its options and arguments."""
    words = []
    for word in usage.split():
        if not _COMMAND_WORD.match(word):
            break
        words.append(word)
    return " ".join(words)[:_MAX_NAME] or "usage"


def _flags_of(option: _Option) -> list[str]:
    """Return the flags of an option, such as `-p` and `--port`."""
    flags, *_ = _BETWEEN_COLUMNS.split(option.said[0].lstrip("* "), maxsplit=1)
    return _FLAG.findall(flags) or [flags[:_MAX_NAME]]


def _symbol(name: str, line: int, said: Sequence[str]) -> Symbol:
    text = "\n".join(said)
    return Symbol(name[:_MAX_NAME], line, text, " ".join(text.split()))

"""The symbols of a file of code, which are the passages that texts cite."""

from __future__ import annotations

from dataclasses import dataclass

CONSTANTS = "module-constants"
"""The name of the symbol with all constants of a module, which no definition can have."""


@dataclass(frozen=True)
class Symbol:
    """A function, a class, the constants of a module, an operation of an API, and so on."""

    name: str
    """Its name in its file, such as `Client.get`, or empty for what is about all of the file."""

    line: int
    """The line of its definition, from 1."""

    text: str
    """What it says to those who use it."""

    compared: str
    """The part of the text whose change can make a sentence wrong."""

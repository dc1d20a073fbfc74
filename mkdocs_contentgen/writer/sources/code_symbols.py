"""The symbols of a file of code, which are the passages that texts cite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

_LANGUAGES = {
    ".cjs": "javascript",
    ".cs": "csharp",
    ".go": "go",
    ".java": "java",
    ".js": "javascript",
    ".json": "json",
    ".jsx": "jsx",
    ".mjs": "javascript",
    ".pl": "perl",
    ".py": "python",
    ".pyi": "python",
    ".rb": "ruby",
    ".rs": "rust",
    ".sh": "bash",
    ".toml": "toml",
    ".ts": "typescript",
    ".tsx": "tsx",
    ".yaml": "yaml",
    ".yml": "yaml",
}
"""The name of the language of a file, as highlighters know it, by its suffix."""

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


def language_of_code(path: PurePath) -> str:
    """Return the name of the language of a file, as highlighters know it, or an empty string."""
    return _LANGUAGES.get(path.suffix.lower(), "")

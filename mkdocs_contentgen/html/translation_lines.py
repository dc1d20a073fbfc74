"""The disclosure lines of translations in many languages: those of `translation_lines.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from ..language.tags import base_language

_TABLES = tomllib.loads(files(__package__).joinpath("translation_lines.toml").read_text("utf-8"))

_LINES: dict[str, dict[str, str]] = _TABLES["lines"]
"""The lines by language and name. Those in English are `disclosure.DISCLOSURE_LINES`."""

_NAMES: dict[str, tuple[str, str]] = _TABLES["names"]
"""The name of each language in English, and in itself."""


@dataclass(frozen=True)
class TranslationLines:
    """The disclosure lines of translations in a language."""

    language: str
    """Its base language, such as `de`."""

    lines: dict[str, str]
    """The lines by name. Those in English are in `disclosure.DISCLOSURE_LINES`, and not here."""

    another_language: str
    """What own lines have in place of the name of a language that is not known."""


def find_lines(tag: str) -> TranslationLines:
    """Return the lines in the language of a BCP 47 tag, or else those in English."""
    language = base_language(tag)
    if language not in _LINES:
        language = "en"
    lines = _LINES[language]
    return TranslationLines(language, lines, lines["another_language"])


def displayed_language_name(tag: str, *, in_english: bool) -> str:
    """Return the name of a language in English or in itself, or an empty string."""
    names = _NAMES.get(base_language(tag))
    if names is None:
        return ""
    return names[0] if in_english else names[1]

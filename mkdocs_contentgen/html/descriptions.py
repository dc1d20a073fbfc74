"""The descriptions in a block: what pictures and links say where it is not seen at first.

They are the values of attributes, and yet words of a language, so each is translated as a block of
its own. The titles of numbered citations are not among them: those are the names of sources.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bs4 import Tag

from .html_writer import first_words
from .tags import tags_in

CITATION_LABEL = re.compile(r"\[[0-9]{1,4}\]")
"""Matches a numbered citation such as `[1]`, which is a link if its source has an address."""

ATTRIBUTES = ("alt", "title")
"""The names of the attributes that have words."""

_TAGS = ("img", "a", "abbr", "dfn")
_LETTER = re.compile(r"[^\W\d_]")

Description = tuple[str, str]
"""The name of the attribute, and its words."""


def descriptions_in(element: Tag) -> list[Description]:
    """Return the descriptions in an element, in their order, each once."""
    found: dict[Description, None] = {}
    for tag in tags_in(element, _TAGS):
        found |= dict.fromkeys(descriptions_of(tag))
    return list(found)


def descriptions_of(tag: Tag) -> list[Description]:
    """Return the descriptions that a tag itself has."""
    if CITATION_LABEL.fullmatch(tag.get_text()):
        return []
    said = [(name, str(tag.get(name, ""))) for name in ATTRIBUTES]
    described = []
    for name, words in said:
        if _LETTER.search(words):
            described.append((name, words))
    return described


def replace_descriptions(element: Tag, replaced: Mapping[Description, str]) -> None:
    """Put other words into the descriptions that have an entry."""
    for tag in tags_in(element, _TAGS):
        for name, words in descriptions_of(tag):
            if (name, words) in replaced:
                tag[name] = replaced[name, words]


def description_name(description: Description) -> str:
    """Return what names a description in a message, such as: `alt` 'A red house'."""
    name, words = description
    return f"`{name}` {first_words(words)}"


def description_names(element: Tag) -> list[str]:
    """Return what names each description in an element in a message."""
    return [description_name(description) for description in descriptions_in(element)]

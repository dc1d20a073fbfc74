"""The languages of texts, and what models say in them: the phrases of `phrases.toml`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from .tags import base_language

PHRASES = tomllib.loads(files(__package__).joinpath("phrases.toml").read_text("utf-8"))
"""The phrases by name, those of models by language, and the table `languages`."""


_NAME_OF_PHRASES = re.compile("<(?P<name>work|text|thought_tag)>")
"""Stands for all phrases with this name, within a phrase."""


@dataclass(frozen=True)
class Language:
    """The English name of a language, and words in it."""

    name: str
    byline: str
    """The byline of a news report. It names no person."""

    sources: str
    """The heading of the list of sources."""

    tip: str
    """The label of a tip."""


LANGUAGES = {tag: Language(*words) for tag, words in PHRASES["languages"].items()}
"""The languages by their BCP 47 tags."""

ENGLISH = LANGUAGES["en"]

SOURCES_HEADINGS = frozenset(language.sources for language in LANGUAGES.values())
"""The headings of lists of sources."""

BYLINES = frozenset(language.byline for language in LANGUAGES.values())
"""The bylines of news reports that name no person."""


def find_language(tag: str) -> Language | None:
    """Return the language of a BCP 47 tag, or None if it, or its script, is not in the table."""
    return LANGUAGES.get(base_language(tag))


def primary_tag(tag: str) -> str:
    """Return the language of a BCP 47 tag, such as `de` of `de-AT`."""
    return tag.lower().partition("-")[0]


def language_name(tag: str) -> str:
    """Return the name of a language for a prompt, such as `German (de-AT)`."""
    language = find_language(tag)
    if language:
        return f"{language.name} ({tag})"
    return f"the language with the tag `{tag}`"


def any_of(name: str) -> str:
    """Return a pattern for any of the phrases with this name, of all languages."""
    texts = [PHRASES[name]] if name in PHRASES else []
    for said in PHRASES["models"].values():
        texts += [said[name]] if name in said else []
    if not texts:
        raise KeyError(name)
    lines = "\n".join(texts).splitlines()
    pattern = _NAME_OF_PHRASES.sub(lambda found: any_of(found["name"]), "|".join(lines))
    return f"(?:{pattern})"

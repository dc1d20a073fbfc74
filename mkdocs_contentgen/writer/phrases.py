"""What models and texts say in many languages: the phrases of `phrases.toml`, as patterns."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

PHRASES = tomllib.loads(files(__package__).joinpath("phrases.toml").read_text("utf-8"))
"""The phrases by name, each on a line, and the table `languages`."""


def any_of(name: str) -> str:
    """Return a pattern for any of the phrases with this name."""
    pattern = "|".join(PHRASES[name].splitlines())
    return f"(?:{re.sub('<(work|text|thought_tag)>', lambda part: any_of(part[1]), pattern)})"

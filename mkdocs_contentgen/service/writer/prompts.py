"""Compose the prompts for a model from the prompt files.

A prompt file begins with rules for all requests of an operation. Sections for values of fields
follow, such as `## tone: neutral`; a prompt contains those for the values of its request.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from ...display import quoted
from ...errors import ConfigurationError
from ...requests import REQUEST_TYPES, Request, choices
from .options import WriterOptions
from .sources import Section

TOLERANCE = 0.15
"""The share by which the number of words may differ from the target."""


def system_prompt(request: Request, options: WriterOptions) -> str:
    """Return the system prompt for all calls of a request."""
    path, content = options.prompts.get(request.type, ("", ""))
    parts = parse_prompt_file(request.type, content or package_prompt(request.type), path)
    chosen = [parts.get((name, value), "") for name, value in request.body().items()]
    rules = [package_prompt("rules"), parts["", ""], *chosen]
    if options.instructions:
        rules.append(f"House rules of this website:\n\n{options.instructions}")
    return "\n\n".join(rule.strip() for rule in rules if rule.strip())


def check_prompts(options: WriterOptions) -> None:
    """Raise ConfigurationError for a prompt file of the site that is not valid."""
    for kind, (path, content) in options.prompts.items():
        if kind not in REQUEST_TYPES:
            names = ", ".join(f"{name}.md" for name in REQUEST_TYPES)
            raise ConfigurationError(f"{path}: is not a name of a prompt file; there are {names}")
        parse_prompt_file(kind, content, path)


def topic_prompt(request: Request, words: int) -> str:
    """Return the first message of a conversation, with the topic and the length."""
    least, most = word_range(words)
    return (
        f"Topic: {' '.join(request.topic.split())}\n\n"
        f"Length: about {words} words, at least {least} and at most {most}."
    )


def sources_prompt(sections: Sequence[Section]) -> str:
    """Return the part of the prompt with the sources, or an empty string without any."""
    if not sections:
        return ""
    listed = "\n\n".join(
        f"<source {number}: {_inert(section.title)}>\n{_inert(section.text)}\n</source {number}>"
        for number, section in enumerate(sections, start=1)
    )
    return f"\n\n{fill('sources', sources=listed)}"


def _inert(text: str) -> str:
    """Escape `<source` tags in a text, so that it cannot end the source that contains it."""
    return re.sub(r"<(?=/?source\b)", "‹", text, flags=re.IGNORECASE)


def word_range(words: int) -> tuple[int, int]:
    """Return the smallest and the largest allowed number of words for a target."""
    return round(words * (1 - TOLERANCE)), round(words * (1 + TOLERANCE))


@cache
def package_prompt(name: str) -> str:
    """Return a prompt file of this package."""
    return files(__package__).joinpath("prompts", f"{name}.md").read_text("utf-8")


def fill(name: str, **values: object) -> str:
    """Return a prompt of this package with `{…}` replaced by values."""
    text = package_prompt(name).strip()
    # All at once, since a value may itself contain a placeholder.
    return re.sub(r"\{(\w+)\}", lambda match: str(values[match[1]]), text)


def parse_prompt_file(kind: str, content: str, path: str = "") -> dict[tuple[str, str], str]:
    """Return the sections of a prompt file by field and value; the beginning has the name `"", ""`.

    Raises ConfigurationError, with `path` and line, for a section that no request can have.
    """
    allowed = {
        name: values for name, values in choices(REQUEST_TYPES[kind]).items() if name != "type"
    }
    sections: dict[tuple[str, str], list[str]] = {("", ""): []}
    current = sections["", ""]
    for number, line in enumerate(content.splitlines(), start=1):
        match = re.fullmatch(r"##\s+([\w-]+)\s*:\s*([\w-]+)\s*", line)
        if match is None:
            current.append(line)
            continue
        field, value = match.groups()
        if value not in allowed.get(field, ()):
            known = "; ".join(f"{name}: {', '.join(allowed[name])}" for name in allowed)
            raise ConfigurationError(
                f"{path}:{number}: no {kind} has {quoted(f'{field}: {value}')}; there are {known}"
            )
        current = sections.setdefault((field, value), [])
    return {name: "\n".join(lines).strip() for name, lines in sections.items()}


def is_small(model: str) -> bool:
    """Tell whether a model has fewer than 4 billion parameters, by its name."""
    return False

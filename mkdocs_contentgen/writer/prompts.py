"""Compose the prompts for a model from the prompt files.

A prompt file begins with rules for all requests of an operation. Sections for values of fields
follow, such as `## tone: neutral`; a prompt contains those for the values of its request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import zip_longest

from ..display import quoted
from ..errors import ConfigurationError
from ..language.languages import language_name
from ..requests import REQUEST_TYPES, Request, choices
from .answers.answers import TEMPLATE_TOKEN
from .models.settings import WriterOptions
from .sources.sources import Passage

_FIELD = re.compile(r"^##[ \t]+(?P<name>[\w-]+)[ \t]*:[ \t]*(?P<value>[\w-]+)[ \t]*$", re.MULTILINE)
"""The heading of a section for a value of a field, such as `## tone: neutral`."""

_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
"""The number of parameters in a model's name, such as `135m` and `1.5b`, in lower case."""

_TAG = re.compile(r"<(?=/?(?:source|brief|text|article)\b)", re.IGNORECASE)
"""The start of a tag with which a prompt marks sources, a brief, a text or the answer."""

_PER_BILLION = {"b": 1, "m": 1000}
_SMALL = 4
"""Models with fewer billions of parameters get the small prompt."""


def is_small(model: str) -> bool:
    """Tell whether a model's name says that it has less than 4 billion parameters.

    Such names are `SmolLM2-135M-Instruct` and `llama3.2:1b`. The largest of several figures counts.
    """
    billions = []
    for size, unit in _SIZE.findall(model.lower()):
        billions.append(float(size) / _PER_BILLION[unit])
    return bool(billions) and max(billions) < _SMALL


def system_prompt(request: Request, options: WriterOptions) -> str:
    """Return the system prompt for all calls of a request.

    Small models get a few lines instead of all rules, unless the site has a prompt file of its own.
    """
    language = "the language of the topic"
    if request.language:
        language = language_name(request.language)
    _, file_of_site = options.prompts.get(request.type, ("", ""))
    is_short = is_small(options.fields.model) and not file_of_site
    if is_short:
        content = fill("small", language=language)
    else:
        content = file_of_site or package_prompt(request.type)
    file = parse_prompt_file(content)
    chosen = []
    for name, value in {"type": request.type, **request.body()}.items():
        section = file.sections.get((name, value))
        if section:
            chosen.append(section)
    if is_short:
        rules = [" ".join(chosen), file.beginning]
    else:
        rules = [fill("rules", language=language), file.beginning, *chosen]
    if options.instructions:
        rules.append(f"House rules of this website:\n\n{options.instructions}")
    return "\n\n".join(rule.strip() for rule in rules if rule.strip())


def check_prompts(options: WriterOptions) -> None:
    """Raise ConfigurationError for a prompt file of the site that is not valid."""
    for kind, (path, content) in options.prompts.items():
        if kind not in REQUEST_TYPES:
            names = ", ".join(f"{name}.md" for name in REQUEST_TYPES)
            raise ConfigurationError(f"{path}: is not a name of a prompt file; there are {names}")
        allowed = dict(choices(REQUEST_TYPES[kind]))
        allowed.pop("type", None)
        for field in _FIELD.finditer(content):
            if field["value"] not in allowed.get(field["name"], ()):
                line = content.count("\n", 0, field.start()) + 1
                known = "; ".join(f"{name}: {', '.join(allowed[name])}" for name in allowed)
                found = quoted(f"{field['name']}: {field['value']}")
                raise ConfigurationError(f"{path}:{line}: no {kind} has {found}; there are {known}")


def topic_prompt(request: Request, words: int) -> str:
    """Return the first message of a conversation, with the topic, the length and the brief."""
    prompt = f"Topic: {inert(' '.join(request.topic.split()))}\n\nLength: about {words} words."
    if request.brief:
        prompt += f"\n\n{fill('brief', brief=inert(request.brief))}"
    return prompt


def sources_prompt(passages: Sequence[Passage]) -> str:
    """Return the part of the prompt with the sources, or an empty string without any."""
    if not passages:
        return ""
    return f"\n\n{fill('sources', sources=numbered_sources(passages))}"


def numbered_sources(passages: Sequence[Passage]) -> str:
    """Return passages of sources with their numbers, as a prompt has them."""
    sources = []
    for number, passage in enumerate(passages, start=1):
        start = f"<source {number}: {inert(passage.title)}>"
        sources.append(f"{start}\n{inert(passage.text)}\n</source {number}>")
    return "\n\n".join(sources)


def inert(text: str) -> str:
    """Escape the tags and chat template marks with which a text could end its place in a prompt."""
    return TEMPLATE_TOKEN.sub(lambda match: f"‹{match[0][1:]}", _TAG.sub("‹", text))


@cache
def package_prompt(name: str) -> str:
    """Return a prompt file of this package."""
    return files(__package__).joinpath("prompts", f"{name}.md").read_text("utf-8")


def fill(name: str, **values: object) -> str:
    """Return a prompt of this package with `{…}` replaced by values."""
    text = package_prompt(name).strip()
    # All at once, since a value may itself contain a placeholder.
    return re.sub(r"\{(\w+)\}", lambda match: str(values[match[1]]), text)


@dataclass(frozen=True)
class PromptFile:
    """The rules for all requests of an operation, and those for values of fields."""

    beginning: str
    sections: Mapping[tuple[str, str], str]
    """The rules by the name of a field and its value."""


def parse_prompt_file(content: str) -> PromptFile:
    """Return the parts of a prompt file."""
    headings = list(_FIELD.finditer(content))
    if headings:
        beginning_end = headings[0].start()
    else:
        beginning_end = len(content)
    sections: dict[tuple[str, str], str] = {}
    for heading, following in zip_longest(headings, headings[1:]):
        if following:
            end = following.start()
        else:
            end = len(content)
        sections[heading["name"], heading["value"]] = content[heading.end() : end].strip()
    return PromptFile(content[:beginning_end].strip(), sections)

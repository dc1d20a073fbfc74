"""Compose the prompts for a model from the prompt files.

A prompt file begins with rules for all requests of an operation. Sections for values of fields
follow, such as `## tone: neutral`; a prompt contains those for the values of its request.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from ..display import quoted
from ..errors import ConfigurationError
from ..requests import REQUEST_TYPES, Request, choices
from .answers import TEMPLATE_MARK
from .languages import language_name
from .settings import WriterOptions
from .sources import Passage

_FIELD = re.compile(r"^##[ \t]+([\w-]+)[ \t]*:[ \t]*([\w-]+)[ \t]*$", re.MULTILINE)
_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
_TAG = re.compile(r"<(?=/?(?:source|brief|text)\b)", re.IGNORECASE)
_PER_BILLION = {"b": 1, "m": 1000}
_SMALL = 4
"""Models with fewer billions of parameters get the small prompt."""


def is_small(model: str) -> bool:
    """Tell whether a model's name says that it has less than 4 billion parameters.

    Such names are `SmolLM2-135M-Instruct` and `llama3.2:1b`. The largest of several figures counts.
    """
    billions = [float(size) / _PER_BILLION[unit] for size, unit in _SIZE.findall(model.lower())]
    return bool(billions) and max(billions) < _SMALL


def system_prompt(request: Request, options: WriterOptions) -> str:
    """Return the system prompt for all calls of a request.

    Small models get a few lines instead of all rules, unless the site has a prompt file of its own.
    """
    language = "the language of the topic"
    if request.language:
        language = language_name(request.language)
    _, own = options.prompts.get(request.type, ("", ""))
    is_short = is_small(options.fields.model) and not own
    content = own or package_prompt(request.type)
    if is_short:
        content = fill("small", language=language)
    parts = parse_prompt_file(content)
    chosen = []
    for name, value in {"type": request.type, **request.body()}.items():
        part = parts.get((name, value))
        if part:
            chosen.append(part)
    if is_short:
        rules = [" ".join(chosen), parts["", ""]]
    else:
        rules = [fill("rules", language=language), parts["", ""], *chosen]
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
        for match in _FIELD.finditer(content):
            if match[2] not in allowed.get(match[1], ()):
                line = content.count("\n", 0, match.start()) + 1
                known = "; ".join(f"{name}: {', '.join(allowed[name])}" for name in allowed)
                found = quoted(f"{match[1]}: {match[2]}")
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
    return "\n\n".join(
        f"<source {number}: {inert(passage.title)}>\n{inert(passage.text)}\n</source {number}>"
        for number, passage in enumerate(passages, start=1)
    )


def inert(text: str) -> str:
    """Escape the tags and chat template marks with which a text could end its place in a prompt."""
    return TEMPLATE_MARK.sub(lambda match: f"‹{match[0][1:]}", _TAG.sub("‹", text))


@cache
def package_prompt(name: str) -> str:
    """Return a prompt file of this package."""
    return files(__package__).joinpath("prompts", f"{name}.md").read_text("utf-8")


def fill(name: str, **values: object) -> str:
    """Return a prompt of this package with `{…}` replaced by values."""
    text = package_prompt(name).strip()
    # All at once, since a value may itself contain a placeholder.
    return re.sub(r"\{(\w+)\}", lambda match: str(values[match[1]]), text)


def parse_prompt_file(content: str) -> dict[tuple[str, str], str]:
    """Return the sections of a prompt file by field and value; the beginning has no names."""
    # Behind the beginning, there are a name, a value and a text for each section.
    beginning, *parts = _FIELD.split(content)
    sections = {("", ""): beginning.strip()}
    for start in range(0, len(parts), 3):
        name, value, text = parts[start : start + 3]
        sections[name, value] = text.strip()
    return sections

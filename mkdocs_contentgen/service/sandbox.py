"""The sandbox: a local ASGI application that answers as the service does, with sample texts.

The texts are composed from the phrases in `sandbox_phrases.yml`, and labelled as samples.
"""

from __future__ import annotations

import html
import json
import random
import re
from datetime import UTC, date, datetime, timedelta
from functools import cache
from hashlib import sha256
from importlib.resources import files

import msgspec

from ..requests import ArticleRequest, BlogRequest, NewsRequest, Request
from ..text import Text
from ..yaml_files import read_yaml
from . import SANDBOX
from .answer import encode_answer
from .application import allow_everybody, application
from .markup import byline, root, tag
from .topics import items_of
from .updates import MAX_REASON, BlockChange, Update, Updated

LABEL = "Sample text made by the mkdocs-contentgen sandbox. No service was asked."
"""The line below the title of each sample text."""

_UPDATE_LABEL = "Sample update made by the mkdocs-contentgen sandbox."


def write_article(request: Request) -> str:
    """Return the sample text for a request, as HTML (interface section 2.2).

    The text depends on the operation and the body only. Raises TypeError for a request of an
    unknown class.
    """
    identity = json.dumps([request.operation, request.body()], sort_keys=True)
    # Unlike hash(), SHA-256 is the same in every process.
    rng = random.Random(sha256(identity.encode()).digest())  # noqa: S311
    match request:
        case ArticleRequest():
            content = _article(rng, request)
        case BlogRequest():
            content = _blog(rng, request)
        case NewsRequest():
            content = _news(rng, request)
        case _:
            raise TypeError(type(request).__name__)
    if request.brief:
        content.append(tag("p", "Brief: {brief}"))
    text = root(request.type, content, "en" if request.language else "")
    # Last and at once, since a topic may itself contain a placeholder.
    values = {"{topic}": html.escape(request.topic), "{brief}": html.escape(request.brief)}
    return re.sub(r"\{topic\}|\{brief\}", lambda match: values[match[0]], text)


async def _write(request: Request, update: Update | None, user: str, key: str) -> bytes:
    if update is None:
        return encode_answer(Text(write_article(request), datetime.now(UTC), request.record()))
    return write_update(update).encode()


def write_update(update: Update) -> Updated:
    """Return a sample change of the first paragraph that may change."""
    changed = [source.title for source in update.sources if source.has_changed]
    reason = update.note or f"changed: {', '.join(changed)}"
    numbers = (it.number for it in update.blocks if it.kind == "p" and not it.is_fixed)
    number = next(numbers, None)
    if number is None:
        return Updated([], reason="no paragraph may change", model=SANDBOX)
    sample = f"{_UPDATE_LABEL} {html.escape(reason)}"
    change = BlockChange(number, "change", sample, reason[:MAX_REASON])
    return Updated([change], model=SANDBOX)


app = application(_write, allow_everybody)
"""The sandbox as an ASGI application."""


class _Section(msgspec.Struct, forbid_unknown_fields=True):
    role: str
    heading: str
    text: list[str]


class _Phrasing(msgspec.Struct, forbid_unknown_fields=True):
    """The phrases for one value of a style field. `sandbox_phrases.yml` explains the keys."""

    opening: list[str]
    closing: list[str]
    sections: list[_Section] = []
    asides: dict[str, list[str]] = {}
    tips: list[str] = []
    quotes: list[str] = []
    table: list[list[str]] = []
    code: str = ""


class _Phrases(msgspec.Struct, forbid_unknown_fields=True):
    article: dict[str, _Phrasing]
    blog: dict[str, _Phrasing]
    news: dict[str, _Phrasing]


@cache
def _phrases() -> _Phrases:
    source = files(__package__).joinpath("sandbox_phrases.yml").read_text("utf-8")
    return msgspec.convert(read_yaml(source).value, _Phrases)


def _article(rng: random.Random, request: ArticleRequest) -> list[str]:
    structure, voice = (_phrases().article[name] for name in (request.focus, request.audience))
    opening, closing = _opening_and_closing(rng, structure, voice)
    rows = voice.table if request.length != "short" else []
    words_used = _count_words(opening, closing, *(cell for row in rows for cell in row))
    cells = [[tag("td" if i else "th", cell) for cell in row] for i, row in enumerate(rows)]
    table = "".join(tag("tr", "".join(row)) for row in cells)
    return [
        *_title(),
        tag("p", opening),
        *_with_headings(_sections(rng, request.length, structure, voice, words_used)),
        *([tag("table", table)] if table else []),
        tag("p", closing),
    ]


def _blog(rng: random.Random, request: BlogRequest) -> list[str]:
    structure, voice = (_phrases().blog[name] for name in (request.format, request.style))
    opening, closing = _opening_and_closing(rng, structure, voice)
    tip = rng.choice(voice.tips)
    code = tag("code", html.escape(voice.code)) if voice.code and request.length != "short" else ""
    words_used = _count_words(opening, closing, tip, code)
    items = None
    if request.format == "listicle":
        items = items_of(request.topic) or 2 * _LENGTHS[request.length][1]
    return [
        *_title(),
        tag("p", opening, "intro"),
        *_with_headings(_sections(rng, request.length, structure, voice, words_used, items=items)),
        *([tag("p", "In commands, it looks like this."), tag("pre", code)] if code else []),
        tag("div", f"💡 <strong>Pro tip:</strong> {tip}", "pro-tip"),
        tag("p", closing, "conclusion"),
    ]


def _news(rng: random.Random, request: NewsRequest) -> list[str]:
    structure, voice = (_phrases().news[name] for name in (request.tone, "wire"))
    lead, closing = _opening_and_closing(rng, structure, voice)
    quote = rng.choice(structure.quotes)
    # Not today, since equal requests must get equal texts.
    day = date(2020, 1, 1) + timedelta(days=rng.randrange(5 * 365))
    displayed = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    dateline = byline("By the sandbox desk", day, displayed)
    title, label = _title()
    words_used = _count_words(lead, closing, quote, dateline)
    # The first section of a news article has no heading.
    (_, event), *rest = _sections(rng, request.length, structure, voice, words_used)
    story = [event, tag("blockquote", quote), *_with_headings(rest), tag("p", closing)]
    return [
        tag("header", "\n".join([title, tag("p", dateline, "byline"), label])),
        tag("p", lead.replace("{date}", displayed), "lead"),
        tag("div", "\n".join(story), "article-body"),
    ]


# Not calendar.month_name, which depends on the locale.
_MONTHS = (
    "January February March April May June July August September October November December"
).split()

_LENGTHS = {"short": (162, 2), "medium": (370, 3), "long": (830, 6)}
"""The number of words and sections of a text.

A listicle has twice as many, shorter sections, unless its topic names a number of items.
"""


def _title() -> tuple[str, str]:
    return tag("h1", "{topic}"), tag("p", LABEL, style_name="label")


def _opening_and_closing(
    rng: random.Random, structure: _Phrasing, voice: _Phrasing
) -> tuple[str, str]:
    opening = [rng.choice(part.opening) for part in (structure, voice) if part.opening]
    closing = [rng.choice(part.closing) for part in (structure, voice) if part.closing]
    return " ".join(opening), " ".join(closing)


def _sections(
    rng: random.Random,
    length: str,
    structure: _Phrasing,
    voice: _Phrasing,
    words_used: int,
    *,
    items: int | None = None,
) -> list[tuple[str, str]]:
    """Return headings and HTML that reach the length together with the `words_used` elsewhere.

    With `items`, there are so many sections, as far as there are phrases, and they are numbered.
    """
    words, number = _LENGTHS[length]
    number = min(items or number, len(structure.sections))
    needed = [s for i, s in enumerate(structure.sections) if i == 0 or s.role == "steps"]
    others = [s for s in structure.sections if s not in needed]
    chosen = needed + rng.sample(others, number - len(needed))
    chosen.sort(key=structure.sections.index)

    # A list of steps gets two shares, since it must not be too short.
    shares = sum(2 if section.role == "steps" else 1 for section in chosen)
    words_per_share = (
        words - words_used - _count_words(LABEL, *(section.heading for section in chosen))
    ) // shares
    asides = {role: rng.sample(pool, len(pool)) for role, pool in voice.asides.items()}
    content = []
    for position, section in enumerate(chosen, start=1):
        heading = f"{position}. {section.heading}" if items else section.heading
        if section.role == "steps":
            steps = _choose_sentences(rng, section.text, 2 * words_per_share)
            content.append((heading, tag("ol", "".join(tag("li", step) for step in steps))))
            continue
        remarks = _pop_sentences(asides.get(section.role, []), words_per_share // 3)
        text = _choose_sentences(rng, section.text, words_per_share - _count_words(*remarks))
        separate = remarks and _count_words(*text) > 40
        paragraphs = [text, remarks] if separate else [text + remarks]
        content.append((heading, "\n".join(tag("p", " ".join(p)) for p in paragraphs)))
    return content


def _choose_sentences(rng: random.Random, pool: list[str], words: int) -> list[str]:
    """Return sentences with about `words` words, in the order of the pool, with its first one."""
    first, *others = pool
    taken = _pop_sentences(rng.sample(others, len(others)), words - _count_words(first))
    return [first, *sorted(taken, key=pool.index)]


def _pop_sentences(pool: list[str], words: int) -> list[str]:
    """Remove and return sentences from the end of the pool until they have about `words` words."""
    taken = []
    while pool and words >= _count_words(pool[-1]) / 2:
        taken.append(pool.pop())
        words -= _count_words(taken[-1])
    return taken


def _count_words(*texts: str) -> int:
    return sum(len(text.split()) for text in texts)


def _with_headings(sections: list[tuple[str, str]]) -> list[str]:
    return [f"{tag('h2', heading)}\n{text}" for heading, text in sections]

"""A stand-in for the service: sample texts, written by nobody, behind the same HTTP interface.

The texts are put together from `sandbox_phrases.yml`, and say that they are samples.
"""

from __future__ import annotations

import html
import json
import random
from datetime import date, timedelta
from functools import cache
from hashlib import sha256
from importlib.resources import files

import msgspec
import yaml

from ..requests import ArticleRequest, BlogRequest, NewsRequest, Request
from .application import application

LABEL = "Sample text made by the mkdocs-contentgen sandbox. No service was asked."
"""The line that every text carries under its title."""


def write_article(request: Request) -> str:
    """Return the sample text for a request, as HTML (interface section 2.2).

    Equal bodies get equal texts, in every process. Raises TypeError for a request that is none of
    the three operations.
    """
    identity = json.dumps([request.operation, request.body()], sort_keys=True)
    # Unlike hash(), this is the same in every process; nothing here has to be secret.
    rng = random.Random(sha256(identity.encode()).digest())  # noqa: S311
    match request:
        case ArticleRequest():
            root, content = "<article>", _article(rng, request)
        case BlogRequest():
            root, content = '<article class="blog-post">', _blog(rng, request)
        case NewsRequest():
            root, content = '<article class="news-article">', _news(rng, request)
        case _:
            raise TypeError(f"{type(request).__name__} is no operation of the interface")
    text = "\n".join([root, *content, "</article>"])
    # At the very end and once, since a topic may hold anything, this placeholder included.
    return text.replace("{topic}", html.escape(request.topic))


async def _write(request: Request) -> str:
    return write_article(request)


app = application(_write)
"""The sandbox as an ASGI application."""


class _Section(msgspec.Struct, forbid_unknown_fields=True):
    role: str
    heading: str
    text: list[str]


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    """What there is to say for one value of a style field; the file explains the keys."""

    opening: list[str]
    closing: list[str]
    sections: list[_Section] = []
    asides: dict[str, list[str]] = {}
    tips: list[str] = []
    quotes: list[str] = []
    table: list[list[str]] = []
    code: str = ""


class _Phrases(msgspec.Struct, forbid_unknown_fields=True):
    styles: dict[str, str]
    article: dict[str, _Part]
    blog: dict[str, _Part]
    news: dict[str, _Part]


@cache
def _phrases() -> _Phrases:
    source = files(__package__).joinpath("sandbox_phrases.yml").read_text("utf-8")
    return msgspec.convert(yaml.safe_load(source), _Phrases)


def _article(rng: random.Random, request: ArticleRequest) -> list[str]:
    frame, voice = (_phrases().article[name] for name in (request.focus, request.audience))
    opening, closing = _opening_and_closing(rng, frame, voice)
    rows = voice.table if request.length != "short" else []
    used = _count(opening, closing, *(cell for row in rows for cell in row))
    cells = [[_tag("td" if i else "th", cell) for cell in row] for i, row in enumerate(rows)]
    table = "".join(_tag("tr", "".join(row)) for row in cells)
    return [
        *_title(),
        _tag("p", opening),
        *_headed(_sections(rng, request.length, frame, voice, used)),
        *([_tag("table", table)] if table else []),
        _tag("p", closing),
    ]


def _blog(rng: random.Random, request: BlogRequest) -> list[str]:
    frame, voice = (_phrases().blog[name] for name in (request.format, request.style))
    opening, closing = _opening_and_closing(rng, frame, voice)
    tip = rng.choice(voice.tips)
    code = _tag("code", html.escape(voice.code)) if voice.code and request.length != "short" else ""
    used = _count(opening, closing, tip, code)
    numbered = request.format == "listicle"
    return [
        *_title(),
        _tag("p", opening, "intro"),
        *_headed(_sections(rng, request.length, frame, voice, used, numbered=numbered)),
        *([_tag("p", "In commands, it looks like this."), _tag("pre", code)] if code else []),
        _tag("div", f"💡 <strong>Pro tip:</strong> {tip}", "pro-tip"),
        _tag("p", closing, "conclusion"),
    ]


def _news(rng: random.Random, request: NewsRequest) -> list[str]:
    frame, voice = (_phrases().news[name] for name in (request.tone, "wire"))
    lead, closing = _opening_and_closing(rng, frame, voice)
    quote = rng.choice(frame.quotes)
    # Not today's date, or the same request would get another text tomorrow.
    day = date(2020, 1, 1) + timedelta(days=rng.randrange(5 * 365))
    shown = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    byline = f'By the sandbox desk · <time datetime="{day.isoformat()}">{shown}</time>'
    title, label = _title()
    used = _count(lead, closing, quote, byline)
    # News begin with the event itself, without a heading.
    (_, event), *rest = _sections(rng, request.length, frame, voice, used)
    story = [event, _tag("blockquote", quote), *_headed(rest), _tag("p", closing)]
    return [
        _tag("header", "\n".join([title, _tag("p", byline, "byline"), label])),
        _tag("p", lead.replace("{date}", shown), "lead"),
        _tag("div", "\n".join(story), "article-body"),
    ]


# Not calendar.month_name, which depends on the locale.
_MONTHS = (
    "January February March April May June July August September October November December"
).split()

_LENGTHS = {"short": (162, 2), "medium": (370, 3), "long": (830, 6)}
"""How many words and sections a text is to have; a listicle has twice as many, shorter sections."""


def _title() -> tuple[str, str]:
    return _tag("h1", "{topic}"), _tag("p", LABEL, look="label")


def _opening_and_closing(rng: random.Random, frame: _Part, voice: _Part) -> tuple[str, str]:
    opening = [rng.choice(part.opening) for part in (frame, voice) if part.opening]
    closing = [rng.choice(part.closing) for part in (frame, voice) if part.closing]
    return " ".join(opening), " ".join(closing)


def _sections(
    rng: random.Random,
    length: str,
    frame: _Part,
    voice: _Part,
    used: int,
    *,
    numbered: bool = False,
) -> list[tuple[str, str]]:
    """Return headings and HTML, as much as makes the length right with the words already used."""
    words, number = _LENGTHS[length]
    number = min(2 * number if numbered else number, len(frame.sections))
    needed = [s for i, s in enumerate(frame.sections) if i == 0 or s.role == "steps"]
    others = [s for s in frame.sections if s not in needed]
    chosen = needed + rng.sample(others, number - len(needed))
    chosen.sort(key=frame.sections.index)

    # A list of steps is worth nothing if it is too short, so it gets two shares.
    shares = sum(2 if section.role == "steps" else 1 for section in chosen)
    share = (words - used - _count(LABEL, *(section.heading for section in chosen))) // shares
    asides = {role: rng.sample(pool, len(pool)) for role, pool in voice.asides.items()}
    content = []
    for position, section in enumerate(chosen, start=1):
        heading = f"{position}. {section.heading}" if numbered else section.heading
        if section.role == "steps":
            steps = _pick(rng, section.text, 2 * share)
            content.append((heading, _tag("ol", "".join(_tag("li", step) for step in steps))))
            continue
        remarks = _take(asides.get(section.role, []), share // 3)
        text = _pick(rng, section.text, share - _count(*remarks))
        apart = remarks and _count(*text) > 40
        paragraphs = [text, remarks] if apart else [text + remarks]
        content.append((heading, "\n".join(_tag("p", " ".join(p)) for p in paragraphs)))
    return content


def _pick(rng: random.Random, pool: list[str], words: int) -> list[str]:
    """Return about so many words in the order of the pool, its first sentence among them."""
    first, *others = pool
    taken = _take(rng.sample(others, len(others)), words - _count(first))
    return [first, *sorted(taken, key=pool.index)]


def _take(pool: list[str], words: int) -> list[str]:
    """Remove sentences from the end of the pool while that brings us closer to the number."""
    taken = []
    while pool and words >= _count(pool[-1]) / 2:
        taken.append(pool.pop())
        words -= _count(taken[-1])
    return taken


def _count(*texts: str) -> int:
    return sum(len(text.split()) for text in texts)


def _headed(sections: list[tuple[str, str]]) -> list[str]:
    return [f"{_tag('h2', heading)}\n{text}" for heading, text in sections]


def _tag(name: str, content: str, css_class: str = "", *, look: str = "") -> str:
    style = _phrases().styles.get(look or css_class or name)
    attributes = {"class": css_class, "style": style}
    written = "".join(f' {key}="{value}"' for key, value in attributes.items() if value)
    return f"<{name}{written}>{content}</{name}>"

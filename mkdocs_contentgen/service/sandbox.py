"""The sandbox: a local ASGI application that answers as the service does, with sample texts.

The texts are composed of the phrases in `sandbox_phrases.yml`, and labelled as samples.
"""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from hashlib import sha256
from importlib.resources import files

import msgspec

from ..requests import ArticleRequest, BlogRequest, NewsRequest, Request
from ..text import Text
from ..yaml_files import read_yaml
from . import SANDBOX
from .application import allow_everybody, application
from .markup import byline, root, tag
from .protocol import MAX_REASON, BlockChange, Update, Updated, encode_answer
from .topics import is_listicle, items_of

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


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    """What a value of a style field adds to a text: its structure, or its voice."""

    opening: str = ""
    closing: str = ""
    headings: list[str] = []
    steps: list[str] = []
    quote: str = ""
    remarks: list[str] = []
    table: list[list[str]] = []
    tip: str = ""
    code: str = ""


class _Phrases(msgspec.Struct, forbid_unknown_fields=True):
    claims: list[str]
    reasons: list[str]
    parts: dict[str, _Part]


@cache
def _phrases() -> _Phrases:
    source = files(__package__).joinpath("sandbox_phrases.yml").read_text("utf-8")
    return msgspec.convert(read_yaml(source).value, _Phrases)


_LENGTHS = {"short": (155, 2, 3), "medium": (370, 3, 5), "long": (830, 6, 8)}
"""The number of words, sections and steps of a text.

A listicle has twice as many, shorter sections, unless its topic names a number of items.
"""

_NO_VOICE = _Part()


def _article(rng: random.Random, request: ArticleRequest) -> list[str]:
    structure, voice = (_phrases().parts[name] for name in (request.focus, request.audience))
    rows = voice.table if request.length != "short" else []
    cells = [[tag("td" if i else "th", cell) for cell in row] for i, row in enumerate(rows)]
    table = tag("table", "".join(tag("tr", "".join(row)) for row in cells))
    return [
        *_title(),
        tag("p", f"{structure.opening} {voice.opening}"),
        *_with_headings(_sections(rng, request, structure, voice)),
        *([table] if rows else []),
        tag("p", f"{structure.closing} {voice.closing}"),
    ]


def _blog(rng: random.Random, request: BlogRequest) -> list[str]:
    structure, voice = (_phrases().parts[name] for name in (request.format, request.style))
    code = tag("code", html.escape(voice.code)) if voice.code and request.length != "short" else ""
    return [
        *_title(),
        tag("p", f"{structure.opening} {voice.opening}", "intro"),
        *_with_headings(_sections(rng, request, structure, voice)),
        *([tag("p", "In commands, it looks like this."), tag("pre", code)] if code else []),
        tag("div", f"💡 <strong>Pro tip:</strong> {voice.tip}", "pro-tip"),
        tag("p", f"{structure.closing} {voice.closing}", "conclusion"),
    ]


def _news(rng: random.Random, request: NewsRequest) -> list[str]:
    structure = _phrases().parts[request.tone]
    # Not today, since equal requests must get equal texts.
    day = date(2020, 1, 1) + timedelta(days=rng.randrange(5 * 365))
    displayed = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    title, label = _title()
    # The first section of a news article has no heading.
    (_, event), *rest = _sections(rng, request, structure, _NO_VOICE)
    quote = tag("blockquote", structure.quote)
    story = [event, quote, *_with_headings(rest), tag("p", structure.closing)]
    dateline = tag("p", byline("By the sandbox desk", day, displayed), "byline")
    return [
        tag("header", "\n".join([title, dateline, label])),
        tag("p", structure.opening.replace("{date}", displayed), "lead"),
        tag("div", "\n".join(story), "article-body"),
    ]


# Not calendar.month_name, which depends on the locale.
_MONTHS = (
    "January February March April May June July August September October November December"
).split()


def _title() -> tuple[str, str]:
    return tag("h1", "{topic}"), tag("p", LABEL, style_name="label")


def _sections(
    rng: random.Random,
    request: ArticleRequest | BlogRequest | NewsRequest,
    structure: _Part,
    voice: _Part,
) -> list[tuple[str, str]]:
    """Return headings and HTML that reach the length together with the rest of the text."""
    words, number, steps = _LENGTHS[request.length]
    headings = structure.headings[:number]
    if is_listicle(request):
        items = structure.headings[: items_of(request.topic) or 2 * number]
        headings = [f"{position}. {heading}" for position, heading in enumerate(items, 1)]
    used = [it for part in (structure, voice) for it in (part.opening, part.closing, part.quote)]
    used += [LABEL, voice.tip, *headings, *structure.steps[:steps]]
    sentences, remarks = _sentences(rng), rng.sample(voice.remarks, len(voice.remarks))
    share = (words - _count_words(*used)) // (len(headings) - bool(structure.steps))
    content = []
    for heading in headings:
        if structure.steps and heading == headings[1]:
            items = [tag("li", step) for step in structure.steps[:steps]]
            content.append((heading, tag("ol", "".join(items))))
            continue
        remark = [remarks.pop()] if remarks and share > 40 else []
        text = [next(sentences)]
        while _count_words(*text, *remark) < share - 8:
            text.append(next(sentences))
        paragraphs = [" ".join(text), *remark]
        content.append((heading, "\n".join(tag("p", it) for it in paragraphs)))
    return content


def _sentences(rng: random.Random) -> Iterator[str]:
    """Yield sentences, each a claim with a reason. None is repeated before all pairs are used."""
    phrases = _phrases()
    claims, reasons = (rng.sample(it, len(it)) for it in (phrases.claims, phrases.reasons))
    for turn in range(len(reasons)):
        for number, claim in enumerate(claims):
            yield f"{claim}, {reasons[(number + turn) % len(reasons)]}."


def _count_words(*texts: str) -> int:
    return sum(len(text.split()) for text in texts)


def _with_headings(sections: list[tuple[str, str]]) -> list[str]:
    return [f"{tag('h2', heading)}\n{text}" for heading, text in sections]

"""The sandbox: a local ASGI application that answers as the service does, with sample texts.

The texts are composed of the phrases in `sandbox_phrases.yml`, and labelled as samples.
"""

from __future__ import annotations

import html
import json
import random
from datetime import UTC, date, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from typing import Any

import msgspec

from ..requests import Request
from ..text import Text
from ..yaml_files import read_yaml
from . import SANDBOX
from .application import allow_everybody, application
from .markup import byline, root, tag
from .protocol import MAX_REASON, BlockChange, Update, Updated, encode_answer
from .topics import is_listicle, items_of

LABEL = "Sample text made by the mkdocs-contentgen sandbox. No service was asked."
"""The line below the title of each sample text."""


def write_article(request: Request) -> str:
    """Return the sample text for a request, as HTML (interface section 2.2).

    The text depends on the operation and the body only.
    """
    identity = json.dumps([request.operation, request.body()], sort_keys=True)
    # Unlike hash(), SHA-256 is the same in every process.
    rng = random.Random(sha256(identity.encode()).digest())  # noqa: S311
    content = _blocks(rng, request, _part(request))
    text = root(request.type, content, "en" if request.language else "")
    # Last, since a topic may itself contain a placeholder.
    return text.replace("{topic}", html.escape(request.topic))


async def _write(request: Request, update: Update | None, user: str, key: str) -> bytes:
    if update is None:
        return encode_answer(Text(write_article(request), datetime.now(UTC), request.record()))
    return write_update(update).encode()


def write_update(update: Update) -> Updated:
    """Return a sample change of the first paragraph that may change."""
    changed = [source.title for source in update.sources if source.has_changed]
    reason = update.note or f"changed: {', '.join(changed)}"
    numbers = [it.number for it in update.blocks if it.kind == "p" and not it.is_fixed]
    if not numbers:
        return Updated([], reason="no paragraph may change", model=SANDBOX)
    sample = f"Sample update made by the mkdocs-contentgen sandbox. {html.escape(reason)}"
    change = BlockChange(numbers[0], "change", sample, reason[:MAX_REASON])
    return Updated([change], model=SANDBOX)


app = application(_write, allow_everybody)
"""The sandbox as an ASGI application."""


_LENGTHS = {"short": (4, 2, 3), "medium": (18, 3, 5), "long": (46, 6, 8)}
"""The number of sentences, sections and steps of a text.

A listicle has twice as many, shorter sections, unless its topic names a number of items.
"""

_DAY, _DISPLAYED_DAY = date(2024, 5, 13), "13 May 2024"
"""The day of all news. Not today, since equal requests must get equal texts."""

_STYLES = ("focus", "format", "tone", "audience", "style")
"""The fields whose values add to a text: its structure, or its voice."""


@cache
def _phrases() -> dict[str, Any]:
    source = files(__package__).joinpath("sandbox_phrases.yml").read_text("utf-8")
    return msgspec.convert(read_yaml(source).value, dict[str, Any])


def _part(request: Request) -> dict[str, Any]:
    """Return what the style fields of a request add to its text."""
    values = (getattr(request, name, None) for name in _STYLES)
    parts = [_phrases()["parts"][value] for value in values if value]
    part = {name: value for part in parts for name, value in part.items()}
    for name in ("opening", "closing"):
        part[name] = " ".join(it[name] for it in parts)
    return part


def _blocks(rng: random.Random, request: Request, part: dict[str, Any]) -> list[str]:
    """Return the blocks of HTML of a text."""
    sections = _sections(rng, request, part)
    title, label = tag("h1", "{topic}"), tag("p", LABEL, style_name="label")
    if request.type == "news":
        dateline = tag("p", byline("By the sandbox desk", _DAY, _DISPLAYED_DAY), "byline")
        # The first section of a news article has no heading.
        event = sections[0].partition("\n")[2]
        story = [event, tag("blockquote", part["quote"]), *sections[1:], tag("p", part["closing"])]
        return [
            tag("header", "\n".join([title, dateline, label])),
            tag("p", part["opening"].replace("{date}", _DISPLAYED_DAY), "lead"),
            tag("div", "\n".join(story), "article-body"),
        ]
    is_blog = request.type == "blog"
    tip = f"💡 <strong>Pro tip:</strong> {part.get('tip')}"
    return [
        title,
        label,
        tag("p", part["opening"], "intro" if is_blog else ""),
        *sections,
        *([tag("div", tip, "pro-tip")] if is_blog else []),
        tag("p", part["closing"], "conclusion" if is_blog else ""),
    ]


def _sections(rng: random.Random, request: Request, part: dict[str, Any]) -> list[str]:
    """Return sections that reach the length together with the rest of the text."""
    total, number, steps = _LENGTHS[request.length]
    headings = part["headings"][:number]
    if is_listicle(request):
        items = part["headings"][: items_of(request.topic) or 2 * number]
        headings = [f"{position}. {heading}" for position, heading in enumerate(items, 1)]
    items = part.get("steps", [])[:steps]
    share = max(1, total // len(headings))
    phrases = _phrases()
    claims, reasons = (rng.sample(phrases[it], len(phrases[it])) for it in ("claims", "reasons"))
    sentences = (
        f"{claim}, {reasons[(number + turn) % len(reasons)]}."
        for turn in range(len(reasons))
        for number, claim in enumerate(claims)
    )
    sections = []
    for position, heading in enumerate(headings):
        if items and position == 1:
            content = tag("ol", "".join(tag("li", item) for item in items))
        else:
            content = tag("p", " ".join(islice(sentences, share)))
        sections.append(f"{tag('h2', heading)}\n{content}")
    return sections

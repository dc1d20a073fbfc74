"""The sandbox: a local ASGI application that answers as the service does, with sample texts.

The texts are composed of the phrases in `sandbox_phrases.yml`, and labelled as samples.
"""

from __future__ import annotations

import html
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

import msgspec

from ..html.markup import byline, root, tag
from ..requests import Request
from ..text import Text
from ..topics import is_listicle, items_of
from ..yaml_files import read_yaml
from . import SANDBOX
from .application import allow_everybody, application
from .protocol import MAX_REASON, BlockChange, Update, Updated, encode_answer

LABEL = "Sample text made by the mkdocs-contentgen sandbox. No service was asked."
"""The line below the title of each sample text."""


def write_article(request: Request) -> str:
    """Return the sample text for a request, as HTML (interface section 2.2).

    The text depends on the operation and the body only.
    """
    phrases = _phrases()[request.type]
    opening, closing = phrases["opening"], phrases["closing"]
    title, label = tag("h1", "{topic}"), tag("p", LABEL, style_name="label")
    sections = _sections(request)
    if request.type == "news":
        dateline = byline("By the sandbox desk", date(2024, 5, 13), "13 May 2024")
        # The first section of a news article has no heading.
        event = sections[0].partition("\n")[2]
        story = [event, tag("blockquote", phrases["quote"]), *sections[1:], tag("p", closing)]
        content = [
            tag("header", "\n".join([title, tag("p", dateline, "byline"), label])),
            tag("p", opening, "lead"),
            tag("div", "\n".join(story), "article-body"),
        ]
    elif request.type == "blog":
        tip = tag("div", phrases["tip"], "pro-tip")
        intro, conclusion = tag("p", opening, "intro"), tag("p", closing, "conclusion")
        content = [title, label, intro, *sections, tip, conclusion]
    else:
        content = [title, label, tag("p", opening), *sections, tag("p", closing)]
    text = root(request.type, content, "en" if request.language else "")
    # Last, since a topic may itself contain a placeholder.
    return text.replace("{topic}", html.escape(request.topic))


async def _write(request: Request, update: Update | None, user: str, key: str) -> bytes:
    if update is None:
        return encode_answer(Text(write_article(request), datetime.now(UTC), request.record()))
    changed = [source.title for source in update.sources if source.has_changed]
    reason = update.note or f"changed: {', '.join(changed)}"
    numbers = [it.number for it in update.blocks if it.kind == "p" and not it.is_fixed]
    if not numbers:
        return Updated([], reason="no paragraph may change", model=SANDBOX).encode()
    sample = f"Sample update made by the mkdocs-contentgen sandbox. {html.escape(reason)}"
    change = BlockChange(numbers[0], "change", sample, reason[:MAX_REASON])
    return Updated([change], model=SANDBOX).encode()


app = application(_write, allow_everybody)
"""The sandbox as an ASGI application."""


_LENGTHS = {"short": (4, 2), "medium": (18, 3), "long": (46, 6)}
"""The number of sentences and sections of a text.

A listicle has twice as many, shorter sections, unless its topic names a number of items.
"""


@cache
def _phrases() -> dict[str, Any]:
    source = files(__package__).joinpath("sandbox_phrases.yml").read_text("utf-8")
    return msgspec.convert(read_yaml(source).value, dict[str, Any])


def _sections(request: Request) -> list[str]:
    """Return sections that reach the length together with the rest of the text."""
    phrases = _phrases()
    total, number = _LENGTHS[request.length]
    headings = phrases[request.type]["headings"]
    if is_listicle(request):
        items = headings[: items_of(request.topic) or 2 * number]
        headings = [f"{position}. {heading}" for position, heading in enumerate(items, 1)]
    else:
        headings = headings[:number]
    claims, reasons = phrases["claims"], phrases["reasons"]
    sentences = (
        f"{claim}, {reasons[(number + turn) % len(reasons)]}."
        for turn in range(len(reasons))
        for number, claim in enumerate(claims)
    )
    share = max(1, total // len(headings))
    return [f"{tag('h2', it)}\n{tag('p', ' '.join(islice(sentences, share)))}" for it in headings]

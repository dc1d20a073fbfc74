"""The sandbox: a local ASGI application that answers as the service does, with sample texts.

The texts are composed of the phrases in `sandbox_phrases.yml`, and labelled as samples.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
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
from .protocol import (
    MAX_REASON,
    BlockChange,
    ServiceRequest,
    Translated,
    TranslatedBlock,
    Translation,
    Update,
    Updated,
    encode_answer,
)

LABEL = "Sample text made by the mkdocs-contentgen sandbox. No service was asked."
"""The line below the title of each sample text."""


_LENGTHS = {"short": (4, 2), "medium": (18, 3), "long": (46, 6)}
"""The number of sentences and sections of a text.

A listicle has twice as many, shorter sections, unless its topic names a number of items.
"""


def write_article(request: Request) -> str:
    """Return the sample text for a request, as HTML (interface section 2.2).

    The text depends on the operation and the body only.
    """
    phrases = _phrases()[request.type]
    opening = phrases["opening"]
    closing = phrases["closing"]
    title = tag("h1", "{topic}")
    label = tag("p", LABEL, style_name="label")
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
        intro = tag("p", opening, "intro")
        conclusion = tag("p", closing, "conclusion")
        content = [title, label, intro, *sections, tip, conclusion]
    else:
        content = [title, label, tag("p", opening), *sections, tag("p", closing)]
    text = root(request.type, content, "en" if request.language else "")
    # Last, since a topic may itself contain a placeholder.
    return text.replace("{topic}", html.escape(request.topic))


def update_text(update: Update) -> Updated:
    """Return the sample update of a text: a change of the first paragraph that may change."""
    changed = [source.title for source in update.sources if source.has_changed]
    reason = update.note or f"changed: {', '.join(changed)}"
    numbers = []
    for block in update.blocks:
        if block.kind == "p" and not block.is_fixed:
            numbers.append(block.number)
    if not numbers:
        return Updated([], reason="no paragraph may change", model=SANDBOX)
    sample = f"Sample update made by the mkdocs-contentgen sandbox. {html.escape(reason)}"
    change = BlockChange(numbers[0], "change", sample, reason[:MAX_REASON])
    return Updated([change], model=SANDBOX)


def translate_text(translation: Translation) -> Translated:
    """Return the sample translation of a text: its words, with the language before each block."""
    blocks = []
    for block in translation.blocks:
        if not block.translation:
            words = f"[{translation.language}] {block.text}"
            blocks.append(TranslatedBlock(block.number, words))
    return Translated(blocks, model=SANDBOX)


async def _write(asked: ServiceRequest, user: str, key: str) -> bytes:
    match asked.of_text:
        case Update() as update:
            return update_text(update).encode()
        case Translation() as translation:
            return translate_text(translation).encode()
    request = asked.request
    return encode_answer(Text(write_article(request), datetime.now(UTC), request.record()))


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
    # The sections share these, so that no sentence comes twice.
    sentences = _sentences(phrases["claims"], phrases["reasons"])
    share = max(1, total // len(headings))
    sections = []
    for heading in headings:
        paragraph = " ".join(islice(sentences, share))
        sections.append(f"{tag('h2', heading)}\n{tag('p', paragraph)}")
    return sections


def _sentences(claims: Sequence[str], reasons: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each claim with each reason, so that none is like the one before."""
    for turn in range(len(reasons)):
        for number, claim in enumerate(claims):
            yield f"{claim}, {reasons[(number + turn) % len(reasons)]}."


app = application(_write, allow_everybody)
"""The sandbox as an ASGI application."""

"""Change a text that is there with a model: only the blocks that have to change, and why.

The text is passed in numbered blocks, and the answer names numbers. Whoever asked puts the new
blocks in, so that a model can change nothing else, whatever it answers.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Literal
from xml.etree.ElementTree import tostring

from ..display import escape_controls
from ..errors import FailedTextError, UnsafeHTMLError
from ..html.article import parse_article
from ..html.blocks import CELLS, HEADINGS
from ..requests import Request
from ..service.protocol import UNOBSERVED, Attempt
from ..service.updates import (
    CITATION,
    MAX_BLOCK,
    MAX_REASON,
    BlockChange,
    Cited,
    TextBlock,
    Update,
    Updated,
)
from .answers import without_thinking
from .citations import cite, source_of
from .completion import Ask, Message, ModelCall
from .markdown import read_markdown, to_html
from .options import WriterOptions
from .parts import KeptAnswers
from .prompts import fill, inert, listed_sources
from .retrieval import MAX_CHARACTERS
from .sources import Section
from .statements import find_quotations
from .usage import CHARACTERS_PER_TOKEN, Usage
from .writing import MAX_FAILED, TOKENS_FOR_THINKING, TOKENS_PER_WORD, Estimate

_MAX_WORDS = 1000
"""The number of words that are expected of an answer at most."""

_LINE = re.compile(
    r"^[\s>*#-]{0,6}(?P<action>BLOCK|AFTER)\s{0,3}\[?(?P<number>\d{1,5})\]?\**\s{0,3}[:：]\**"
    r"[ \t]*(?P<text>.*)$"
    r"|^[\s>*-]{0,6}WHY\**\s{0,3}[:：]\**[ \t]*(?P<reason>.*)$"
    r"|^[\s>*]{0,6}(?P<nothing>NOTHING)\b[\s.,:*–—-]{0,6}(?P<because>.*)$",
    re.MULTILINE,
)
_MAX_REMARKS = 10
_MARKERS = {
    "li": re.compile(r"\A[-*+]\s+"),
    "h": re.compile(r"\A#{1,6}\s+"),
    "blockquote": re.compile(r"\A>\s+"),
}
_LEADING = re.compile(r"\A(\d{0,9})([-*+#>.)](?=[\s#>]))")
_REMOVE = re.compile(r"[\W_]{0,4}REMOVED?[\W_]{0,4}")


async def find_changes(
    request: Request,
    update: Update,
    options: WriterOptions,
    ask: Ask,
    *,
    attempt: Attempt = UNOBSERVED,
) -> tuple[Updated, Usage]:
    """Return the changes of the text for a request, and what they took.

    Raises FailedTextError for an answer that nobody can use, and the errors of `ask`.
    """
    sections = [Section("", it.title, it.now, digest=it.digest) for it in update.sources]
    if options.sources.paths or request.sources:
        query = f"{request.topic}\n{request.brief}\n{update.note}"
        found = await asyncio.to_thread(options.sources.search, query, request.sources)
        known = {it.now for it in update.sources}
        sections += [it for it in found if it.text not in known]
    kept = KeptAnswers(ask, attempt, options.fields.model)
    messages = update_prompt(request, update, sections)
    limit = _MAX_WORDS * TOKENS_PER_WORD + TOKENS_FOR_THINKING
    answer = ""
    for number in range(1 + options.fields.repairs):
        completion = await kept(ModelCall(messages, limit, penalty=number > 0))
        if completion.error:
            raise completion.error
        answer = without_thinking(completion.text)
        updated = await asyncio.to_thread(read_update, answer, request, update, sections, options)
        if updated:
            return updated, kept.usage
    raise FailedTextError(
        "the model's answer to the update names no block, nor does it say that nothing changes",
        answer[:MAX_FAILED],
        model=options.fields.model,
        cost=kept.usage.cost,
    )


def estimate_update(update: Update, options: WriterOptions) -> Estimate:
    """Estimate the calls and the usage of an update."""
    text = sum(len(it.text) for it in update.blocks)
    sources = sum(len(it.before) + len(it.now) for it in update.sources)
    found = MAX_CHARACTERS if options.sources.paths else 0
    given = len(fill("update", task="", insert="")) + text + sources + found
    answer = text // CHARACTERS_PER_TOKEN // 4
    return Estimate(1, 1 + options.fields.repairs, given // CHARACTERS_PER_TOKEN, answer)


def update_prompt(request: Request, update: Update, sections: Sequence[Section]) -> list[Message]:
    """Return the conversation that asks for an update. The first `sections` are its sources."""
    task = fill("update_note", note=inert(update.note)) if update.note else fill("update_sources")
    insert = f"{fill('update_insert')}\n\n" if update.note else ""
    blocks = "\n".join(f"{it.number} ({_label(it)}): {inert(it.text)}" for it in update.blocks)
    parts = []
    for section, source in zip(sections, update.sources, strict=False):
        if source.has_changed:
            before, now = source.before or "(unknown)", source.now or "(gone)"
            text = fill("update_changed", before=before, now=now)
            parts.append(replace(section, title=f"{section.title} (changed)", text=text))
        else:
            parts.append(section)
    listed = listed_sources([*parts, *sections[len(parts) :]])
    text = fill("update_text", topic=inert(" ".join(request.topic.split())), blocks=blocks)
    return [
        {"role": "system", "content": fill("update", task=task, insert=insert)},
        {"role": "user", "content": f"{text}\n\n{listed}".strip()},
    ]


def _label(block: TextBlock) -> str:
    return f"{block.kind}, a person's" if block.is_persons else block.kind


def read_update(
    answer: str,
    request: Request,
    update: Update,
    sections: Sequence[Section],
    options: WriterOptions,
) -> Updated | None:
    """Return the changes in an answer, or None if nobody can use it."""
    blocks = {it.number: it for it in update.blocks}
    given = "\n".join([request.topic, request.brief, update.note, *(it.text for it in sections)])
    numbered = [replace(it, link=str(n), is_own=False) for n, it in enumerate(sections, start=1)]
    changes: list[BlockChange] = []
    doubts: list[BlockChange] = []
    remarks: list[str] = []
    because = ""
    cited: set[int] = set()
    named: set[tuple[str, int]] = set()
    for action, number, text, reason in _entries(answer):
        block = blocks.get(number)
        if action == "nothing":
            because = reason or "no reason given"
        elif block is None or _is_in_vain(block, action, update) or (action, number) in named:
            remarks.append(f"update: the model named block {number} in vain")
        elif block.is_fixed:
            doubts.append(BlockChange(number, action, reason=reason))
        elif action == "remove":
            changes.append(BlockChange(number, action, reason=reason))
        elif html := _inline_html(text, block, action, numbered, given, cited):
            changes.append(BlockChange(number, action, html, reason))
            remarks += _quotation_remarks(text, given, block)
        else:
            remarks.append(f"update: the model's text for block {number} cannot be used")
        if action != "insert":
            named |= {("change", number), ("remove", number)}
    if not (changes or doubts or because):
        return None
    site_url = options.fields.site_url
    names = [it.name for it in update.sources]
    names += [source_of(it, site_url) for it in sections[len(names) :]]
    return Updated(
        changes,
        doubts,
        "" if changes else because,
        list(dict.fromkeys(remarks))[:_MAX_REMARKS],
        [
            Cited(number, name, it.title, it.text, it.digest)
            for number, (name, it) in enumerate(zip(names, sections, strict=True), start=1)
            if number in cited
        ],
        options.fields.model,
    )


_Action = Literal["change", "insert", "remove"]


def _entries(answer: str) -> Iterator[tuple[_Action | Literal["nothing"], int, str, str]]:
    """Yield what an answer names: the action, the block, its new text, and the reason."""
    found = list(_LINE.finditer(answer))
    for match, following in zip(found, [*found[1:], None], strict=False):
        if match["nothing"]:
            yield "nothing", 0, "", _short(match["because"])
        if not match["action"]:
            continue
        until = following.start() if following else len(answer)
        text = " ".join(f"{match['text']} {answer[match.end() : until]}".split())
        action: _Action = "insert" if match["action"] == "AFTER" else "change"
        if action == "change" and _REMOVE.fullmatch(text):
            action = "remove"
        yield (
            action,
            int(match["number"]),
            text,
            _short(following["reason"] or "") if following else "",
        )


def _is_in_vain(block: TextBlock, action: _Action, update: Update) -> bool:
    """Tell whether nobody may do this with a block, and no person need know of it."""
    if action == "insert":
        return not update.note or block.kind in CELLS or (block.is_fixed and not block.is_persons)
    return block.is_fixed and not block.is_persons


def _short(text: str) -> str:
    text = escape_controls(" ".join(text.split()))
    return text if len(text) <= MAX_REASON else f"{text[: MAX_REASON - 1]}…"


def _inline_html(
    text: str,
    block: TextBlock,
    action: str,
    sections: Sequence[Section],
    given: str,
    cited: set[int],
) -> str | None:
    """Return the new content of a block, with links of CITATION, or None if it is no block.

    What neither `given` nor the checked part of the block says is a statement to check. The
    numbers of the sources in it are added to `cited`.
    """
    if own := _MARKERS.get(block.kind[:1] if block.kind in HEADINGS else block.kind):
        text = own.sub("", text, count=1).strip()
    # What begins like a list, a heading or a quotation is words here.
    text = _LEADING.sub(r"\1\\\2", text[:MAX_BLOCK], count=1)
    document = read_markdown(f"# _\n\n{text}", words=_MAX_WORDS)
    if document.problem or [it.kind for it in document.blocks] != ["p"]:
        return None
    for section in cite(document, sections, CITATION):
        cited.add(int(section.link))
    checked = "" if action == "insert" else block.checked
    html = to_html(
        document, "article", given=f"{given}\n{checked}", day=date.min, names=len(sections) > 0
    )
    try:
        article = parse_article(html)
    except UnsafeHTMLError:
        return None
    (paragraph,) = (it for it in article if it.tag == "p")
    words = "".join(paragraph.itertext())
    if not re.sub(r"\[\d+\]|\W", "", words):
        return None
    paragraph.attrib.clear()
    paragraph.tail = None
    inner = tostring(paragraph, "unicode", method="html")
    return inner.removeprefix("<p>").removesuffix("</p>").strip() or None


def _quotation_remarks(text: str, given: str, block: TextBlock) -> list[str]:
    found = find_quotations(text, f"{given}\n{block.checked}")
    return [f"quotation: the text quotes what nobody said: {found[0][:60]}"] if found else []

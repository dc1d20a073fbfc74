"""Change a text that is there with a model: only the blocks that have to change, and why.

The text is passed in numbered blocks, and the answer names numbers. Whoever asked puts the new
blocks in, so that a model can change nothing else, whatever it answers.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from ..display import escape_controls
from ..errors import FailedTextError
from ..html.elements import CELLS, HEADINGS
from ..requests import Request
from ..service.protocol import (
    CITATION,
    MAX_BLOCK,
    MAX_REASON,
    UNOBSERVED,
    Attempt,
    BlockChange,
    Source,
    TextBlock,
    Update,
    Updated,
)
from .answers import read_answer
from .citations import cite, source_of
from .completion import Ask, Completion, KeptAnswers, Message, ModelCall
from .entries import Action, read_entries
from .markdown import paragraph_html, read_markdown
from .prompts import fill, inert, listed_sources
from .retrieval import MAX_CHARACTERS
from .settings import WriterOptions, public_name
from .sources import Section
from .statements import find_quotations
from .usage import CHARACTERS_PER_TOKEN, Usage
from .words import split_words
from .writing import MAX_FAILED, TOKENS_FOR_THINKING, TOKENS_PER_WORD, Estimate, find_sections

_LEAST_WORDS = 200
"""The number of words that an answer may have at least."""

_MAX_REMARKS = 10
_CUT = "update: the answer was cut off, so further blocks may still be wrong"
_MARKERS = {
    "li": re.compile(r"\A[-*+]\s+"),
    "h": re.compile(r"\A#{1,6}\s+"),
    "blockquote": re.compile(r"\A>\s+"),
}
_LEADING = re.compile(r"\A(\d{0,9})([-*+#>.)](?=[\s#>]))")


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
    others = await asyncio.to_thread(find_sections, request, options, note=update.note)
    known = {it.now for it in update.sources}
    sections += [it for it in others if it.text not in known]
    kept = KeptAnswers(ask, attempt, options.fields.model)
    messages = update_prompt(request, update, sections)
    words = sum(len(it.text.split()) for it in update.blocks)
    limit = max(_LEAST_WORDS, words) * TOKENS_PER_WORD + TOKENS_FOR_THINKING
    for number in range(1 + options.fields.repairs):
        completion = await kept(ModelCall(messages, limit, penalty=number > 0))
        updated = await asyncio.to_thread(
            read_update, completion, request, update, sections, options
        )
        if updated:
            return updated, kept.usage
        if completion.error:
            raise completion.error
    raise FailedTextError(
        "the model's answer to the update names no block, nor does it say that nothing changes",
        completion.text[:MAX_FAILED],
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
    whose = {True: ", a person's", False: ""}
    lines = (
        f"{it.number} ({it.kind}{whose[it.is_persons]}): {inert(it.text)}" for it in update.blocks
    )
    blocks = "\n".join(lines)
    shown = list(sections)
    for index, source in enumerate(update.sources):
        if source.has_changed:
            before, now = source.before or "(unknown)", source.now or "(gone)"
            text = fill("update_changed", before=before, now=now)
            shown[index] = replace(shown[index], title=f"{source.title} (changed)", text=text)
    listed = listed_sources(shown)
    text = fill("update_text", topic=inert(" ".join(request.topic.split())), blocks=blocks)
    return [
        {"role": "system", "content": fill("update", task=task, insert=insert)},
        {"role": "user", "content": f"{text}\n\n{listed}".strip()},
    ]


def read_update(
    completion: Completion,
    request: Request,
    update: Update,
    sections: Sequence[Section],
    options: WriterOptions,
) -> Updated | None:
    """Return the changes in an answer, or None if nobody can use it."""
    blocks = {it.number: it for it in update.blocks}
    known = [request.topic, request.brief, update.note, options.site_names]
    given = "\n".join([*known, *(it.text for it in sections)])
    numbered = [
        replace(it, link=str(n), is_own=False, place="") for n, it in enumerate(sections, start=1)
    ]
    changes: list[BlockChange] = []
    doubts: list[BlockChange] = []
    answer, remarks = read_answer(completion.text)
    remarks += [f"{_CUT}{completion.quote}"] if completion.is_cut else []
    because = ""
    cited: set[int] = set()
    for entry in read_entries(answer, is_cut=completion.is_cut):
        action, number, text = entry.action, entry.number, entry.text
        reason = escape_controls(" ".join(entry.reason.split()))[:MAX_REASON]
        block = blocks.get(number)
        if action == "nothing":
            because = reason or "no reason given"
        elif block and action == "change" and split_words(text) == split_words(block.text) != []:
            because = because or "the model repeats the text as it is"
        elif block is None or not _is_allowed(block, action, update):
            remarks.append(f"update: the model may not '{action}' at block {number}; ignored")
        elif block.is_fixed:
            doubts.append(BlockChange(number, action, reason=reason))
        elif action == "remove":
            changes.append(BlockChange(number, action, reason=reason))
        elif html := _inline_html(text, block, action, numbered, given, cited):
            changes.append(BlockChange(number, action, html, reason))
            found = find_quotations(text, f"{given}\n{block.checked}")
            remarks += [f"quotation: this quotation is in no source: {it[:60]}" for it in found[:1]]
        else:
            remarks.append(f"update: the model's text for block {number} cannot be used")
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
        {
            number: Source(name, it.title, it.text, digest=it.digest)
            for number, (name, it) in enumerate(zip(names, sections, strict=True), start=1)
            if number in cited
        },
        public_name(options.fields.model),
    )


def _is_allowed(block: TextBlock, action: Action, update: Update) -> bool:
    """Tell whether a model may do this with a block, or say what is wrong with a person's."""
    if action == "insert" and (not update.note or block.kind in CELLS):
        return False
    return block.is_persons or not block.is_fixed


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
    is_heading = block.kind in HEADINGS and action == "change"
    # What begins like a list, a heading or a quotation is words here.
    text = _LEADING.sub(r"\1\\\2", text[:MAX_BLOCK], count=1)
    document = read_markdown(f"# _\n\n{text}")
    if document.problem or [it.kind for it in document.blocks] != ["p"]:
        return None
    for section in cite(document, sections, CITATION, is_heading=is_heading).sections:
        cited.add(int(section.link))
    if not document.blocks[0].words:
        return None
    checked = "" if action == "insert" else block.checked
    return paragraph_html(document, f"{given}\n{checked}", names=bool(sections) and not is_heading)

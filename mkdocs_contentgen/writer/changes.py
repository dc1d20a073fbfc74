"""Change a text that is there with a model: only the blocks that have to change, and why.

The text is passed in numbered blocks, and the answer names numbers. Whoever asked puts the new
blocks in, so that a model can change nothing else, whatever it answers. Asked for a whole new text,
models reword also what they were told to leave.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest

from ..citation import Citation
from ..display import escape_controls
from ..errors import FailedTextError
from ..html.elements import CELLS, HEADINGS
from ..language.words import split_words
from ..remark import Remark, quotation_remarks, without_repeated
from ..requests import Request
from ..service.protocol import (
    CITED_ADDRESS,
    MAX_REASON,
    UNOBSERVED,
    Attempt,
    BlockChange,
    TextBlock,
    Update,
    Updated,
)
from ..text import MAX_BLOCK
from .answers.answers import answer_so_far, problem_of_empty, read_answer
from .answers.degenerate import find_loop
from .answers.document import MarkdownDocument
from .answers.markdown import paragraph_html, read_markdown
from .answers.numbered_blocks import Action, Entry, last_block, read_changes
from .marks.statements import find_quotations
from .models.completion import Ask, Completion, Message, ModelCall
from .models.kept_answers import KeptAnswers
from .models.settings import WriterOptions, public_name
from .models.usage import CHARACTERS_PER_TOKEN, Usage
from .prompts import fill, inert, numbered_sources
from .sources.citations import cite, name_of
from .sources.retrieval import MAX_SOURCE_CHARACTERS
from .sources.sources import Passage
from .writing import (
    MAX_CHARACTERS_PER_TOKEN,
    MAX_FAILED,
    TOKENS_FOR_THINKING,
    TOKENS_PER_WORD,
    Estimate,
    find_passages,
)

_MIN_ANSWER_WORDS = 200
"""The number of words that an answer may have at least."""

_MOST_NAMED = 2
_SPARE_NAMED = 10
"""An answer that names blocks more often than twice each, and so many times more, is a loop."""

_MAX_REMARKS = 10
"""The number of remarks on an update, beside those on quotations."""

_MARKERS = {
    **dict.fromkeys(HEADINGS, re.compile(r"\A#{1,6}\s+")),
    "li": re.compile(r"\A[-*+]\s+"),
    "blockquote": re.compile(r"\A>\s+"),
}
"""What a model writes before the words of a block, by the kind of the block."""

_LEADING = re.compile(r"\A(\d{0,9})([-*+#>.)](?=[\s#>]))")
"""What would make a list, a heading or a quotation of a text."""

_ANY_TITLE = "# _"
"""A title above the text of a block, so that the text is not taken for the title."""


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
    passages = []
    for source in update.sources:
        passages.append(Passage("", source.title, source.now, digest=source.digest))
    known = {passage.text for passage in passages}
    for passage in await asyncio.to_thread(find_passages, request, options, note=update.note):
        if passage.text not in known:
            passages.append(passage)
    kept = KeptAnswers(ask, attempt, options.fields.model)
    messages = update_prompt(request, update, passages)
    words = sum(len(block.text.split()) for block in update.blocks)
    limit = max(_MIN_ANSWER_WORDS, words) * TOKENS_PER_WORD + TOKENS_FOR_THINKING
    watch = partial(_stop_reason, len(update.blocks), MAX_CHARACTERS_PER_TOKEN * limit)
    for number in range(1 + options.fields.repairs):
        completion = await kept(ModelCall(messages, limit, watch, penalty=number > 0))
        updated = await asyncio.to_thread(
            read_update, completion, request, update, passages, options
        )
        if updated:
            return updated, kept.usage
        if completion.error:
            raise completion.error
    raise FailedTextError(
        problem_of_empty(completion.text)
        or "the model's answer to the update names no block, nor does it say that nothing changes",
        completion.text[:MAX_FAILED],
        model=options.fields.model,
        cost=kept.usage.cost,
    )


def _stop_reason(blocks: int, characters: int, text: str) -> str:
    """Return why a model that writes an update has to stop, or an empty string.

    `blocks` is the number of blocks of the text, and `characters` the most that the answer can
    have, with thoughts.
    """
    if len(text) > characters:
        return "too long"
    answer = answer_so_far(text)
    begun, last = last_block(answer)
    # Only within a block: the cells of a table can repeat themselves. With its reason, a block can
    # be named twice, since models think aloud first.
    is_loop = begun > _MOST_NAMED * blocks + _SPARE_NAMED or find_loop(last) is not None
    return "loop" if is_loop else ""


def estimate_update(update: Update, options: WriterOptions) -> Estimate:
    """Estimate the calls and the usage of an update."""
    text = sum(len(block.text) for block in update.blocks)
    sources = sum(len(source.before) + len(source.now) for source in update.sources)
    found = MAX_SOURCE_CHARACTERS if options.sources.paths else 0
    given = len(fill("update", task="", insert="")) + text + sources + found
    answer = text // 4  # few blocks change
    return Estimate(
        calls=1,
        most_calls=1 + options.fields.repairs,
        input_tokens=given // CHARACTERS_PER_TOKEN,
        output_tokens=answer // CHARACTERS_PER_TOKEN,
    )


def update_prompt(request: Request, update: Update, passages: Sequence[Passage]) -> list[Message]:
    """Return the conversation that asks for an update.

    `passages` are those of the update's sources in their order, and then others.
    """
    if update.note:
        task = fill("update_note", note=inert(update.note))
        insert = f"{fill('update_insert')}\n\n"
    else:
        task = fill("update_sources")
        insert = ""
    lines = []
    for block in update.blocks:
        kind = block.kind
        if block.is_persons:
            kind = f"{block.kind}, a person's"
        # Not in the form of the answer: a model that only repeats the text has changed nothing.
        lines.append(f"{block.number} ({kind}): {inert(block.text)}")
    shown = []
    for passage, source in zip_longest(passages, update.sources):
        if source and source.has_changed:
            shown.append(_changed_passage(passage, source))
        else:
            shown.append(passage)
    topic = inert(" ".join(request.topic.split()))
    text = fill("update_text", topic=topic, blocks="\n".join(lines))
    if update.doubtful:
        named = "\n".join(f"- {inert(sentence)}" for sentence in update.doubtful)
        text += f"\n\n{fill('update_doubtful', sentences=named)}"
    return [
        {"role": "system", "content": fill("update", task=task, insert=insert)},
        {"role": "user", "content": f"{text}\n\n{numbered_sources(shown)}".strip()},
    ]


def _changed_passage(passage: Passage, source: Citation) -> Passage:
    """Return a passage that says what its source said, and what it says now."""
    before = source.before or "(unknown)"
    now = source.now or "(gone)"
    text = fill("update_changed", before=before, now=now)
    return replace(passage, title=f"{source.title} (changed)", text=text)


def read_update(
    completion: Completion,
    request: Request,
    update: Update,
    passages: Sequence[Passage],
    options: WriterOptions,
) -> Updated | None:
    """Return the changes in an answer, or None if nobody can use it."""
    answer, remarks, _ = read_answer(completion.text)
    # Where the writer stopped the model, `is_cut` of the completion is False.
    is_cut = completion.is_cut or completion.finish_reason in ("loop", "too long")
    if is_cut:
        remarks.append(Remark("update_cut", values={"said": completion.server_words}))
    reader = _EntryReader(request, update, passages, options)
    results = _read_entries(reader, _last_of_each(read_changes(answer, is_cut=is_cut)))
    changes = []
    doubts = []
    invented: list[str] = []
    cited: set[int] = set()
    for result in results:
        if result.change:
            changes.append(result.change)
            cited |= result.cited
        if result.doubt:
            doubts.append(result.doubt)
        if result.remark:
            remarks.append(result.remark)
        invented += result.invented
    because = _why_nothing(results)
    if not (changes or doubts or because):
        return None
    return Updated(
        changes,
        doubts,
        reason="" if changes else because,
        remarks=[*without_repeated(remarks)[:_MAX_REMARKS], *quotation_remarks(invented)],
        cited=_cited_sources(cited, update, passages, options.fields.site_url),
        model=public_name(options.fields.model),
    )


def _read_entries(reader: _EntryReader, entries: Sequence[Entry]) -> list[_EntryResult]:
    """Return what each entry says. If some give a reason, a change without one is ignored."""
    gives_reasons = False
    for entry in entries:
        if entry.action != "nothing" and entry.reason:
            gives_reasons = True
    results = []
    for entry in entries:
        result = reader.read(entry)
        if gives_reasons and result.change and not entry.reason:
            # What a model says of the source `[1]` looks like this.
            remark = Remark("update_no_reason", values={"number": entry.number})
            result = _EntryResult(remark=remark)
        results.append(result)
    return results


def _last_of_each(entries: Iterable[Entry]) -> list[Entry]:
    """Return the last entry for each block, since a model may think aloud first.

    A block can change or go once, but several new ones can follow it. There is one reason why
    nothing changes.
    """
    last: dict[tuple[str, int, str], Entry] = {}
    for entry in entries:
        match entry.action:
            case "nothing":
                last["nothing", 0, ""] = entry
            case "insert":
                last["insert", entry.number, entry.text] = entry
            case _:
                last["block", entry.number, ""] = entry
    return list(last.values())


def _why_nothing(results: Sequence[_EntryResult]) -> str:
    """Return why nothing has to change, as far as the model says, or an empty string."""
    for result in reversed(results):
        if result.nothing_because:
            return result.nothing_because
    if any(result.is_repeated for result in results):
        return "the model repeats the text as it is"
    return ""


def _cited_sources(
    numbers: Iterable[int], update: Update, passages: Sequence[Passage], site_url: str
) -> dict[int, Citation]:
    """Return the sources of the numbered passages, which update_prompt() describes."""
    cited = {}
    for number in sorted(numbers):
        passage = passages[number - 1]
        if number <= len(update.sources):
            name = update.sources[number - 1].name
        else:
            name = name_of(passage, site_url)
        cited[number] = Citation(name, passage.title, passage.text, digest=passage.digest)
    return cited


@dataclass(frozen=True)
class _EntryResult:
    """What an entry of an answer leads to."""

    change: BlockChange | None = None
    doubt: BlockChange | None = None
    """A change that is not made, since a person wrote the block."""

    nothing_because: str = ""
    """Why the model says that nothing has to change."""

    is_repeated: bool = False
    """Whether the new text of the block is the one that it has."""

    remark: Remark | None = None
    invented: Sequence[str] = ()
    """The quotations in the change that are in no source."""

    cited: frozenset[int] = field(default_factory=frozenset)
    """The numbers of the passages that the change cites."""


@dataclass(frozen=True)
class _NewContent:
    """The new content of a block."""

    html: str
    """With links below CITED_ADDRESS in place of those to sources."""

    cited: frozenset[int]
    """The numbers of the passages that it cites."""


class _EntryReader:
    """Reads the entries of an answer."""

    def __init__(
        self,
        request: Request,
        update: Update,
        passages: Sequence[Passage],
        options: WriterOptions,
    ) -> None:
        self._update = update
        self._blocks = {block.number: block for block in update.blocks}
        given = [request.topic, request.brief, update.note, options.site_names]
        given += [passage.text for passage in passages]
        self._given = "\n".join(given)
        # In place of an address, a link has the number of its passage below CITED_ADDRESS. Whoever
        # asked knows the addresses, and puts them in.
        self._passages = []
        for number, passage in enumerate(passages, start=1):
            self._passages.append(replace(passage, link=str(number), is_own=False, place=""))

    def read(self, entry: Entry) -> _EntryResult:
        """Return what an entry leads to."""
        action = entry.action
        number = entry.number
        reason = escape_controls(" ".join(entry.reason.split()))[:MAX_REASON]
        if action == "nothing":
            return _EntryResult(nothing_because=reason or "no reason given")
        block = self._blocks.get(number)
        if block and action == "change" and _has_same_words(entry.text, block.text):
            return _EntryResult(is_repeated=True)
        if block is None or not _is_allowed(block, action, self._update):
            remark = Remark("update_forbidden", values={"action": action, "number": number})
            return _EntryResult(remark=remark)
        if block.is_fixed:
            return _EntryResult(doubt=BlockChange(number, action, reason=reason))
        if action == "remove":
            return _EntryResult(change=BlockChange(number, action, reason=reason))
        content = self._read_content(entry.text, block, action)
        if content is None:
            remark = Remark("update_unusable", values={"number": number})
            return _EntryResult(remark=remark)
        invented = find_quotations(entry.text, f"{self._given}\n{block.checked}")
        change = BlockChange(number, action, content.html, reason)
        return _EntryResult(change, invented=invented, cited=content.cited)

    def _read_content(self, text: str, block: TextBlock, action: Action) -> _NewContent | None:
        """Return the new content of a block, or None if the text is not one for a single block.

        What neither the sources nor the checked part of the block says is a statement to check.
        """
        document = _read_paragraph(text, block)
        if document is None:
            return None
        is_heading = block.kind in HEADINGS and action == "change"
        citations = cite(document, self._passages, CITED_ADDRESS, is_heading=is_heading)
        if not document.blocks[0].words:
            return None
        checked = "" if action == "insert" else block.checked
        marks_names = bool(self._passages) and not is_heading
        html = paragraph_html(document, f"{self._given}\n{checked}", names=marks_names)
        if not html:
            return None
        return _NewContent(html, frozenset(int(passage.link) for passage in citations.passages))


def _read_paragraph(text: str, block: TextBlock) -> MarkdownDocument | None:
    """Return the Markdown of a block's new text, or None if it is more than a paragraph."""
    marker = _MARKERS.get(block.kind)
    if marker:
        text = marker.sub("", text, count=1).strip()
    # What begins like a list, a heading or a quotation is words here.
    text = _LEADING.sub(r"\1\\\2", text[:MAX_BLOCK], count=1)
    document = read_markdown(f"{_ANY_TITLE}\n\n{text}")
    kinds = [found.kind for found in document.blocks]
    if document.problem or kinds != ["p"]:
        return None
    return document


def _has_same_words(text: str, other: str) -> bool:
    words = split_words(text)
    return bool(words) and words == split_words(other)


def _is_allowed(block: TextBlock, action: Action, update: Update) -> bool:
    """Tell whether a model may do this with a block. With a person's, it may raise a doubt."""
    if action == "insert" and (not update.note or block.kind in CELLS):
        return False
    return block.is_persons or not block.is_fixed

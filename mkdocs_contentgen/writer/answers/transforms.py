"""Change the blocks of a parsed answer: one idea each, in a list.

Each transform is a function from blocks to blocks. What it takes out it notes, for a remark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from markdown_it.token import Token

from ...html.elements import HEADINGS
from ...language.languages import any_of
from ...language.sentences import rough_end
from ...remark import KINDS, Remark
from .block_lines import note, noted_in
from .document import MarkdownBlock
from .references import without_references

Environment = MutableMapping[str, Any]
"""The environment of the parser, with what was noted so far."""

Transform = Callable[[list[MarkdownBlock], Environment], list[MarkdownBlock]]

_MAX_PREFACE = 300
"""The number of characters before a title that can be talk."""

_MAX_PLAN_STARTS = 3
"""The number of blocks at the start in which a plan of a model shows."""

_MAX_LINE = 200
"""The number of characters of a block in which the name of a step is looked for."""

_MAX_NARRATION = 500
"""The maximum length of a paragraph that can be narration, in characters."""

_WITH_ATTRIBUTES = re.compile(
    r"(?:(?P<language>[\w.+#-]{1,40})(?=[\s{]))?"
    r"(?:\s{0,9}(?:\{[^{}\n]{0,200}\}|[\w:-]{1,40}=(?:\"[^\"\n]{0,200}\"|[^\s\"]{1,200}))){1,9}"
    r"(?:\s+(?P<code>.*))?"
)
"""What stands after a fence with attributes, such as `bash title="Install" pip install cache`."""

_THINKING_STEP = re.compile(
    rf"\A\W{{0,5}}(?:\d{{1,2}}\W{{1,3}})?(?:here['’]s (?:a|my) )?{any_of('thinking_step')}",
    re.IGNORECASE,
)
"""The start of a plan of a model."""

_NARRATION = re.compile(rf"[*_>\s]{{0,5}}{any_of('narration')}", re.IGNORECASE)
"""The start of a sentence about the work of a model."""

_SELF = re.compile(r"\b(?:I|me|my|user)\b|[我让讓]")
"""What else a model says where it speaks of its work."""

_SENTENCE_END = re.compile(rough_end())

_MIN_COPIED_WORDS = 8
"""The minimum number of words of a text that is given again."""


def blocks_of(tokens: Sequence[Token], environment: Environment) -> list[MarkdownBlock]:
    """Return the blocks at the top level that have words or code.

    Images and the rules between sections are dropped, and headings in lists and quotations become
    paragraphs.
    """
    blocks: list[MarkdownBlock] = []
    current: list[Token] = []
    for token in tokens:
        _simplify(token, environment)
        current.append(token)
        if token.level == 0 and token.nesting <= 0:
            block = MarkdownBlock(current)
            current = []
            has_text = block.kind == "pre" or block.text.strip()
            if token.type != "hr" and has_text:
                blocks.append(block)
    return blocks


def _simplify(token: Token, environment: Environment) -> None:
    if token.type.startswith("heading_") and token.level > 0:
        token.tag = "p"
    if token.type == "fence":
        _show_label(token)
    if token.children is None:
        return
    kept = [child for child in token.children if child.type != "image"]
    if len(kept) < len(token.children):
        note(environment, "repaired_pictures")
        token.children = kept


def _show_label(fence: Token) -> None:
    """Make code of what stands after the attributes of a fence, or of all words if it has none.

    One word is a language. Without attributes, several are code if there is no other.
    """
    info = fence.info.strip()
    labelled = _WITH_ATTRIBUTES.fullmatch(info)
    if labelled:
        fence.info = labelled["language"] or ""
        fence.content = f"{labelled['code'] or ''}\n{fence.content}".lstrip("\n")
    elif not fence.content.strip() and len(info.split()) > 1:
        fence.info = ""
        fence.content = f"{info}\n"


def _without_preface(blocks: list[MarkdownBlock], environment: Environment) -> list[MarkdownBlock]:
    """Drop what stands above the title: a plan of the model, its narration, or a few words."""
    starts = blocks[:_MAX_PLAN_STARTS]
    is_plan = any(_THINKING_STEP.match(block.text[:_MAX_LINE]) for block in starts)
    start = _start_after_preface(blocks, is_plan=is_plan)
    before = blocks[:start]
    is_narration = is_plan or any(_NARRATION.match(block.text) for block in before[:1])
    is_prose = all(block.kind in ("p", "ul", "ol", "blockquote") for block in before)
    is_short = is_prose and sum(len(block.text) for block in before) <= _MAX_PREFACE
    if not before or not (is_narration or is_short):
        return blocks
    note(environment, "repaired_narration" if is_narration else "repaired_opening")
    return blocks[start:]


def _start_after_preface(blocks: Sequence[MarkdownBlock], *, is_plan: bool) -> int:
    """Return the index of the title, or of the first section after a plan; 0 if neither tells."""
    titles = [index for index, block in enumerate(blocks) if _is_title(block)]
    if not is_plan:
        return titles[0] if len(titles) == 1 else 0  # several can be sections
    sections = [index for index, block in enumerate(blocks) if block.kind == "h2"]
    # Steps can have titles in them, so the last one is that of the text.
    return [0, *sections[:1], *titles][-1]


def _is_title(block: MarkdownBlock) -> bool:
    """Tell whether a block is a heading of level 1, and no line above a line of `=`."""
    return block.kind == "h1" and block.tokens[0].markup != "="


def _without_restart(blocks: list[MarkdownBlock], environment: Environment) -> list[MarkdownBlock]:
    """Keep a text once that the model begins again: after a false start, or as a whole."""
    again = 1
    while again < len(blocks) and not _begins_again(blocks[0], blocks[again]):
        again += 1
    begun = blocks[:again]
    rest = blocks[again:]
    if not rest:
        return blocks
    if _is_copy(begun, rest):
        note(environment, "repaired_copy")
        return begun
    is_narrated = any(_is_narration(block.text) for block in begun[1:])
    if not (begun[0].kind == "h1" and _is_false_start(begun, rest, is_narrated=is_narrated)):
        return blocks
    if len(begun) > 1:
        note(environment, "repaired_narration" if is_narrated else "repaired_copy")
    title = rest[0] if rest[0].kind == "h1" else begun[0]
    return [title, *rest[1:]]


def _begins_again(first: MarkdownBlock, block: MarkdownBlock) -> bool:
    """Tell whether a block can be the first one of a text once more, such as a longer title."""
    if first.kind == block.kind == "h1":
        return set(first.words) <= set(block.words)
    is_same_kind = first.kind == block.kind or (first.kind, block.kind) == ("h1", "h2")
    return is_same_kind and block.kind != "pre" and block.words == first.words


def _is_copy(begun: Sequence[MarkdownBlock], rest: Sequence[MarkdownBlock]) -> bool:
    """Tell whether the rest of a text is the begun one, once more or several times.

    Below a title, the last copy can be cut off. A poem can end with its first verse.
    """
    words = _words_of(begun)
    repeated = _words_of(rest)
    if min(len(words), len(repeated)) < _MIN_COPIED_WORDS:
        return False
    is_whole = len(repeated) % len(words) == 0 or begun[0].kind in HEADINGS
    return is_whole and repeated == [*words, *repeated][: len(repeated)]


def _is_false_start(
    begun: Sequence[MarkdownBlock], rest: Sequence[MarkdownBlock], *, is_narrated: bool
) -> bool:
    """Tell whether what was begun is only a title, narration, or the first sections of the rest.

    What stands between a title and the same title belongs to no section.
    """
    headings = _headings_of(begun[1:])
    if headings:
        return headings == _headings_of(rest[1:])[: len(headings)] and len(begun) <= len(rest)
    return begun[0].words == rest[0].words and (len(begun) == 1 or is_narrated)


def _words_of(blocks: Sequence[MarkdownBlock]) -> list[str]:
    return [word for block in blocks for word in block.words]


def _headings_of(blocks: Sequence[MarkdownBlock]) -> list[list[str]]:
    return [block.words for block in blocks if block.kind in HEADINGS]


def _without_narration(
    blocks: list[MarkdownBlock], environment: Environment
) -> list[MarkdownBlock]:
    """Drop paragraphs in which a model says how it searches and plans."""
    kept: list[MarkdownBlock] = []
    is_after_narration = False
    for block in blocks:
        is_narration = block.kind == "p" and _is_narration(block.text, is_after_narration)
        if not is_narration:
            kept.append(block)
        if block.kind not in HEADINGS:
            is_after_narration = is_narration
    if not kept or len(kept) == len(blocks):
        return blocks
    note(environment, "repaired_narration")
    return kept


def _is_narration(text: str, is_after_narration: bool = False) -> bool:
    """Tell whether all sentences of a short paragraph are about the work of a model."""
    sentences = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    if len(text) > _MAX_NARRATION or not sentences:
        return False
    own = [bool(_NARRATION.match(sentence)) for sentence in sentences]
    if not any(own) or not (own[0] or own[-1] or is_after_narration):
        return False
    others = [part for part in sentences if not (_NARRATION.match(part) or _SELF.search(part))]
    most = len(sentences) // (2 if is_after_narration else 3)
    return len(others) <= most


TRANSFORMS: Sequence[Transform] = (
    _without_preface,
    _without_restart,
    _without_narration,
    without_references,
)
"""What is changed in the blocks of an answer, in this order."""

OF_PERSONS: Sequence[Transform] = (without_references,)
"""What is changed in the blocks of a text of a person, whose words and repetitions are meant."""


def remarks_in(environment: Environment) -> list[Remark]:
    """Return a remark for each kind of change that was noted."""
    noted = noted_in(environment)
    return [Remark(kind) for kind in KINDS if kind in noted]

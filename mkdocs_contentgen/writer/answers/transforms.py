"""Change the blocks of a parsed answer: one idea each, in a list.

Each transform is a function from blocks to blocks. What it takes out it notes, for a remark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from itertools import pairwise
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

_MAX_THINKING_STARTS = 3
"""The number of blocks at the start in which a plan of a model shows."""

_MAX_LINE = 200
"""The number of characters of a block in which the name of a step is looked for."""

_MAX_NARRATION = 500
"""The maximum length of a paragraph that can be narration, in characters."""

_MIN_LOOPED = 6
"""The minimum number of blocks of a loop that repeat earlier ones."""

_LOOPED_SHARE = 0.6
"""The minimum share of such blocks, from the start of the loop until the end."""

_WITH_ATTRIBUTES = re.compile(
    r"(?:(?P<language>[\w.+#-]{1,40})(?=[\s{]))?"
    r"(?:\s{0,9}(?:\{[^{}\n]{0,200}\}|[\w:-]{1,40}=(?:\"[^\"\n]{0,200}\"|[^\s\"]{1,200}))){1,9}"
    r"(?:\s+(?P<code>.*))?"
)
"""What stands behind a fence with attributes, such as `bash title="Install" pip install cache`."""

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
    """Make code of what stands behind the attributes of a fence, or of all words if it has none.

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


def _without_thinking(blocks: list[MarkdownBlock], environment: Environment) -> list[MarkdownBlock]:
    """Drop a plan at the start, in which a model thinks about its task, above the title."""
    starts = blocks[:_MAX_THINKING_STARTS]
    has_steps = any(_THINKING_STEP.match(block.text[:_MAX_LINE]) for block in starts)
    if not (has_steps or (blocks and _NARRATION.match(blocks[0].text))):
        return blocks
    titles = [index for index, block in enumerate(blocks) if block.kind == "h1"]
    if not titles and has_steps:
        titles = [index for index, block in enumerate(blocks) if block.kind == "h2"][:1]
    # Steps can have titles in them.
    start = 0
    if has_steps and titles:
        start = titles[-1]
    elif len(titles) == 1:  # several can be sections
        start = titles[0]
    if start == 0:
        return blocks
    note(environment, "repaired_narration")
    return blocks[start:]


def _without_narration(
    blocks: list[MarkdownBlock], environment: Environment
) -> list[MarkdownBlock]:
    """Drop paragraphs in which a model says how it searches and plans."""
    kept: list[MarkdownBlock] = []
    is_behind_narration = False
    for block in blocks:
        is_narration = block.kind == "p" and _is_narration(block.text, is_behind_narration)
        if not is_narration:
            kept.append(block)
        if block.kind not in HEADINGS:
            is_behind_narration = is_narration
    if not kept or len(kept) == len(blocks):
        return blocks
    note(environment, "repaired_narration")
    return kept


def _is_narration(text: str, is_behind_narration: bool) -> bool:
    """Tell whether all sentences of a short paragraph are about the work of a model."""
    sentences = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    if len(text) > _MAX_NARRATION or not sentences:
        return False
    own = [bool(_NARRATION.match(sentence)) for sentence in sentences]
    if not any(own) or not (own[0] or own[-1] or is_behind_narration):
        return False
    others = [part for part in sentences if not (_NARRATION.match(part) or _SELF.search(part))]
    most = len(sentences) // (2 if is_behind_narration else 3)
    return len(others) <= most


def _without_false_start(
    blocks: list[MarkdownBlock], environment: Environment
) -> list[MarkdownBlock]:
    """Drop a text that was begun and then begun again, with a title of more words."""
    titles = [index for index, block in enumerate(blocks) if block.kind == "h1"]
    if len(titles) < 2 or titles[0] > 0:
        return blocks
    first, second = titles[:2]
    begun = _headings_of(blocks[first + 1 : second])
    again = _headings_of(blocks[second + 1 :])
    repeats_headings = bool(begun) and begun == again[: len(begun)]
    is_same_title = set(blocks[first].words) <= set(blocks[second].words)
    is_shorter = second - first <= (len(blocks) - second)
    if not (repeats_headings and is_same_title and is_shorter):
        return blocks
    note(environment, "repaired_copy")
    return blocks[second:]


def _headings_of(blocks: Sequence[MarkdownBlock]) -> list[list[str]]:
    return [block.words for block in blocks if block.kind in HEADINGS]


def _without_second_title(
    blocks: list[MarkdownBlock], environment: Environment
) -> list[MarkdownBlock]:
    """Drop the title where it is said again as the first section."""
    is_repeated = (
        len(blocks) > 2
        and blocks[0].kind == "h1"
        and blocks[1].kind == "h2"
        and blocks[0].words == blocks[1].words
    )
    return [blocks[0], *blocks[2:]] if is_repeated else blocks


def _without_loop(blocks: list[MarkdownBlock], environment: Environment) -> list[MarkdownBlock]:
    """Cut a text where it begins to say the same blocks again until its end.

    Figures are ignored, and a few blocks may be new in each repetition.
    """
    seen: set[tuple[str, ...]] = set()
    is_repeated: list[bool] = []
    for block in blocks:
        words = tuple(word for word in block.words if not word.isdigit())
        is_repeated.append(len(words) >= _MIN_COPIED_WORDS and words in seen)
        seen.add(words)
    repeated = sum(is_repeated)
    for index, is_again in enumerate(is_repeated):
        share = repeated / (len(blocks) - index)
        if is_again and repeated >= _MIN_LOOPED and share >= _LOOPED_SHARE:
            note(environment, "repaired_loop")
            return blocks[:index]
        repeated -= is_again
    return blocks


def _without_preface(blocks: list[MarkdownBlock], environment: Environment) -> list[MarkdownBlock]:
    """Drop a few words before the only title of a text."""
    titles = [index for index, block in enumerate(blocks) if block.tokens[0].markup == "#"]
    if len(titles) != 1 or titles[0] == 0:
        return blocks
    before = blocks[: titles[0]]
    is_prose = all(block.kind in ("p", "ul", "ol", "blockquote") for block in before)
    if not is_prose or sum(len(block.text) for block in before) > _MAX_PREFACE:
        return blocks
    note(environment, "repaired_opening")
    return blocks[titles[0] :]


def _without_copies(blocks: list[MarkdownBlock], environment: Environment) -> list[MarkdownBlock]:
    """Keep a text once that is given several times.

    Each copy begins with the first block once more. The last one can be cut off, but only in a
    text with a title.
    """
    starts = [index for index, block in enumerate(blocks) if _is_same(block, blocks[0])]
    if len(starts) < 2:
        return blocks
    copies: list[list[str]] = []
    for start, end in pairwise([*starts, len(blocks)]):
        words: list[str] = []
        for block in blocks[start:end]:
            words += block.words
        copies.append(words)
    first = copies[0]
    has_title = blocks[0].tokens[0].type == "heading_open"
    # Without a title, each copy is whole: a poem can end with its first verse.
    least = _MIN_COPIED_WORDS
    if not has_title:
        least = max(_MIN_COPIED_WORDS, len(first))
    for copy in copies:
        is_copy = len(copy) >= least and copy == first[: len(copy)]
        if not is_copy:
            return blocks
    note(environment, "repaired_copy")
    return blocks[: starts[1]]


def _is_same(block: MarkdownBlock, other: MarkdownBlock) -> bool:
    return block.kind == other.kind and block.kind != "pre" and block.words == other.words


OF_MODELS: Sequence[Transform] = (
    _without_thinking,
    _without_narration,
    _without_false_start,
    _without_copies,
    _without_loop,
)
"""The transforms that a text of a person does not need, whose words and repetitions are meant."""

TRANSFORMS: Sequence[Transform] = (
    _without_thinking,
    _without_preface,
    _without_narration,
    _without_second_title,
    _without_false_start,
    _without_copies,
    _without_loop,
    without_references,
)
"""What is changed in the blocks of an answer, in this order."""


def remarks_in(environment: Environment) -> list[Remark]:
    """Return a remark for each kind of change that was noted."""
    noted = noted_in(environment)
    return [Remark(kind) for kind in KINDS if kind in noted]

r"""Read formulas in TeX as text, in which nothing is Markdown.

They are those in `\( … \)`, `\[ … \]`, `$$ … $$` and `$…$`.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from .block_rules import line_at, push_block

FORMULA = "formula"
"""The type of the tokens of formulas."""

_ENDS = {r"\(": r"\)", r"\[": r"\]", "$$": "$$"}
"""The delimiters that end a formula, by those that begin it."""

_START = re.compile(r"\\[(\[]|\$")
_MAX_FORMULA = 2000
"""The maximum length of a formula within a line, in characters."""

_MAX_LINES = 50
"""What has more lines is not a formula, so that no text takes long to read."""

_MATHS = re.compile(r"[\\^_=+*/<>|{}\n]| - |\A\s*\S{1,3}\s*\Z")
r"""What a formula has, and text in escaped brackets has not, such as `\[Your Name\]`."""


_SHORT = re.compile(r"\$(?=[^\s$])(?P<formula>(?:[^$\\\n]|\\.){1,300})(?<=\S)\$(?![\w$])")
r"""A formula such as `$R_{0}$`. Prices such as `$5 and $10` are none."""

_SHORT_MATHS = re.compile(r"[\\^_=]|\A[A-Za-z]\'?\Z")
"""What such a formula has: a sign of TeX, an equation, or a single letter."""


def read_formulas(parser: MarkdownIt) -> None:
    """Make a parser of lines keep formulas as they came."""
    parser.inline.ruler.before("escape", FORMULA, _read_inline)


def read_formula_blocks(parser: MarkdownIt) -> None:
    """Make a parser of blocks take a formula on several lines as one paragraph."""
    interrupted = ["paragraph", "blockquote", "list"]  # which a formula ends without an empty line
    parser.block.ruler.before("code", FORMULA, _read_block, {"alt": interrupted})


def find_formulas(text: str) -> list[tuple[int, int]]:
    """Return where each formula in a text begins and ends."""
    found = []
    position = 0
    for start in _START.finditer(text):
        if start.start() < position:  # it is within another
            continue
        end = _formula_end(text, start.start(), len(text))
        if end is not None:
            found.append((start.start(), end))
            position = end
    return found


def _read_inline(state: StateInline, silent: bool) -> bool:
    end = _formula_end(state.src, state.pos, state.posMax)
    if end is None:
        return False
    if not silent:
        token = state.push(FORMULA, "", 0)
        token.content = state.src[state.pos : end]
    state.pos = end
    return True


def _formula_end(text: str, begin: int, last: int) -> int | None:
    """Return where the formula ends that begins at a position, or None if there is none."""
    delimiter = text[begin : begin + 2]
    if delimiter.startswith("$") and delimiter != "$$":
        short = _SHORT.match(text, begin, last)
        if short is None or not _SHORT_MATHS.search(short["formula"]):
            return None
        return short.end()
    if delimiter not in _ENDS:
        return None
    # Without a limit, starts without an end would take quadratic time.
    end = text.find(_ENDS[delimiter], begin + 2, min(last, begin + _MAX_FORMULA))
    if end < 0:
        return None
    if delimiter == r"\[" and not _MATHS.search(text[begin + 2 : end]):
        return None
    return end + 2


def _read_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read the lines of a formula. Else its `=` and `-` would begin headings and lists."""
    if state.is_code_block(first):
        return False
    first_line = line_at(state, first)
    end_delimiter = _ENDS.get(first_line[:2])
    if end_delimiter is None or end_delimiter in first_line[2:]:
        return False
    end = first + 1
    limit = min(last, first + _MAX_LINES)
    while end < limit and end_delimiter not in line_at(state, end):
        if state.isEmpty(end):
            return False
        end += 1
    if end == limit:
        return False
    if not silent:
        lines = [line_at(state, number) for number in range(first, end + 1)]
        push_block(state, "paragraph", "p", "\n".join(lines).strip(), [first, end + 1])
        state.line = end + 1
    return True

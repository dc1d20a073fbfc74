"""Read asterisks as people mean them, where the rules of CommonMark do not.

CommonMark decides by the characters around `**` whether it begins or ends bold text. In scripts
without spaces between words, this fails beside punctuation: in `**重要：**設定`, nothing is bold.
Here only white space decides, and what is left over after that is read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, emphasis
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

_PRODUCT = re.compile(r"(?:[\d)]|\b[a-z])\*(?:[\d(]|[a-z]\b)", re.IGNORECASE)
"""A multiplication, such as `3*4`, `2*(a+b)` and `x*y`."""

_POWER = re.compile(r"[A-Za-z\d)]\*\*\d")
"""A power, such as `x**2`."""

_BREAKS = ("softbreak", "hardbreak")

_MAX_LEFTOVERS = 20
"""A line with more of them is not a text with bold words, and stays as it is."""

_MAX_DELIMITERS = 5_000
"""After so many asterisks and `_` of a paragraph, they are text: joining them takes minutes."""

_MAX_RUN = 100
"""More asterisks beside each other are text, such as a line of them."""


def read_asterisks(parser: MarkdownIt) -> None:
    """Make a parser of lines read asterisks as people mean them."""
    parser.inline.ruler.before("emphasis", "asterisks", _read_asterisks)
    parser.inline.ruler.at("emphasis", _read_emphasis)
    parser.inline.ruler2.after("emphasis", "asterisks", _read_leftovers)


def _read_asterisks(state: StateInline, silent: bool) -> bool:
    """Read a run of asterisks, and say whether it can begin and end emphasis."""
    start = state.pos
    if state.src[start] != "*" or silent or len(state.delimiters) > _MAX_DELIMITERS:
        return False
    end = start
    while end < state.posMax and state.src[end] == "*":
        end += 1
    if end - start > _MAX_RUN:
        state.pending += state.src[start:end]
        state.pos = end
        return True
    can_open, can_close = _directions(state, start, end)
    for _ in range(start, end):
        token = state.push("text", "", 0)
        token.content = "*"
        last = len(state.tokens) - 1
        state.delimiters.append(
            Delimiter(
                marker=ord("*"),
                length=end - start,
                token=last,
                end=-1,  # its partner, which is not known yet
                open=can_open,
                close=can_close,
            )
        )
    state.pos = end
    return True


def _read_emphasis(state: StateInline, silent: bool) -> bool:
    """Read `_`, and the asterisks that are left."""
    return len(state.delimiters) <= _MAX_DELIMITERS and emphasis.tokenize(state, silent)


def _directions(state: StateInline, start: int, end: int) -> tuple[bool, bool]:
    """Return whether a run of asterisks can begin emphasis, and whether it can end it.

    White space decides for two and more. A single one goes by CommonMark's rules, since more texts
    have it as a character of its own.
    """
    around = state.src[max(0, start - 2) : end + 2]
    if end == start + 1:
        if _PRODUCT.search(around):
            return False, False
        scanned = state.scanDelims(start, True)
        return scanned.can_open, scanned.can_close
    # After an odd number of `**`, bold text is open, which this run may end: `**x**2`.
    if _POWER.search(around) and state.src.count("**", 0, start) % 2 == 0:
        return False, False
    can_open = end < state.posMax and not state.src[end].isspace()
    can_close = start > 0 and not state.src[start - 1].isspace()
    return can_open, can_close


def _read_leftovers(state: StateInline) -> None:
    """Read `**` that have no partner, such as those of `**A heading:` and `** a space** first`.

    Two on a line belong together. One at the start of a line makes it bold, and one at its end is
    left out. Between spaces, or within code, they are text.
    """
    tokens: list[Token] = []
    for line in _split_lines(state.tokens):
        _make_bold(line)
        tokens += line
    state.tokens[:] = tokens


def _split_lines(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each line. The line break is the last one."""
    line: list[Token] = []
    for token in tokens:
        line.append(token)
        if token.type in _BREAKS:
            yield line
            line = []
    yield line


def _find_pairs(line: Sequence[Token]) -> list[int]:
    """Return where two asterisks without a partner stand, unless they are a power or a product."""
    found = []
    index = 0
    while index + 1 < len(line):
        if not (_is_asterisk(line[index]) and _is_asterisk(line[index + 1])):
            index += 1
            continue
        # Each is one character, or empty at an end of the line.
        before = _text_of(line[max(0, index - 1) : index])[-1:]
        after = _text_of(line[index + 2 : index + 3])[:1]
        is_between_spaces = before.isspace() and after.isspace()
        if not (is_between_spaces or _POWER.fullmatch(f"{before}**{after}")):
            found.append(index)
        index += 2
    return found


def _is_asterisk(token: Token) -> bool:
    return token.type == "text" and token.content == "*"


def _text_of(tokens: Sequence[Token]) -> str:
    return "".join("" if token.type in _BREAKS else token.content for token in tokens)


def _first_end(line: list[Token], first: int, positions: Sequence[int]) -> int | None:
    """Return the first of some positions that can end what begins at another one, or None."""
    for position in positions:
        if _is_balanced(line[first + 2 : position]):
            return position
    return None


def _make_bold(line: list[Token]) -> None:
    """Put start and end tags of bold text in place of each `**` on a line without a partner."""
    positions = _find_pairs(line)
    while 0 < len(positions) <= _MAX_LEFTOVERS:
        first = positions.pop(0)
        last = _first_end(line, first, positions)
        if last is not None:  # two that belong together
            _set_bold(line, first, "strong_open")
            _set_bold(line, last, "strong_close")
            positions = [position for position in positions if position > last]
        elif not _text_of(line[:first]).strip() and _is_balanced(line[first + 2 :]):
            _set_bold(line, first, "strong_open")
            end = len(line)
            if line[-1].type in _BREAKS:
                end -= 1
            line.insert(end, Token("strong_close", "strong", -1))  # after all positions
        elif not _text_of(line[first + 2 :]).strip():
            line[first].content = ""
            line[first + 1].content = ""


def _is_balanced(tokens: Sequence[Token]) -> bool:
    """Tell whether each element that begins or ends in some tokens does both in them."""
    depth = 0
    for token in tokens:
        depth += token.nesting
        if depth < 0:
            return False
    return depth == 0


def _set_bold(line: list[Token], index: int, name: str) -> None:
    """Make two asterisks the start or the end of bold text."""
    line[index].content = ""
    line[index + 1] = Token(name, "strong", 1 if name == "strong_open" else -1)

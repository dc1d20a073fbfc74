"""The parser of answers: Markdown, and what models write for it.

An answer is parsed once. What is nearly Markdown is read by rules of the parser, each for one idea,
so that none looks into code. What a rule changes it notes, for a remark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ...html.block_rules import line_at, push_block
from ...html.formulas import read_formula_blocks
from ...html.markdown_parser import LinkParser, new_inline_parser, read_reference
from ...language.languages import LANGUAGES, any_of
from .block_lines import HEADING, INTERRUPTS, note
from .extensions import is_footnote, read_extensions, read_footnote_references
from .html_rules import read_html, read_inline_html, resolve_tags

CODE_BLOCKS = ("fence", "code_block")
"""The types of the tokens of code blocks."""

_TIP_LABELS = {*(language.tip for language in LANGUAGES.values()), "conseil", "小?贴士"}
TIPS = "|".join(sorted(_TIP_LABELS, key=len, reverse=True))
TIP = re.compile(rf"\s*(?:💡\s*)?((?:pro[ -]?)?(?:{TIPS}))\s?[:：]\s*", re.IGNORECASE)
"""The label of a tip in plain text, as group 1 without its colon."""

_NEARLY_BULLET = re.compile(r"(?:[•‣▪●◦–—]|[-*](?=[\u00a0\u2003\t]))[ \u00a0\u2003\t]+")
"""What is nearly the bullet of an item, with the spaces after it."""

_NEARLY_HEADING = re.compile(r"(?P<hashes>#{1,6})(?:\u00a0|(?=[^\s#]))(?P<words>.*)")
"""A heading without a space after its `#`."""

_NEARLY_SECTION = re.compile(r"^##+(?:\u00a0|[^\s#])", re.MULTILINE)
"""The start of such a heading of a section. A line that begins with one `#` can be hashtags."""

_KEYCAP = re.compile("(\\d)\ufe0f?\u20e3\\s?")
"""An emoji of a figure, with which the heading of an item begins."""

_TITLE_LINE = re.compile(
    rf"[\W_]{{0,6}}{any_of('title')}[*_\s]{{0,4}}[:：][*_\s]{{0,4}}(?P<title>\S[^\n]*)",
    re.IGNORECASE,
)
"""A line such as `**Title:** "Slow builds"`."""

_QUOTED = re.compile(r"[*_\s]*[\"“「《](?P<title>[^\"“”「」《》]+)[\"”」》][*_\s]*")
"""A title in quotation marks."""

_MAX_TITLE_PLACE = 4
"""The number of blocks at the start among which is a line with the title."""

_MAX_ANNOUNCEMENT = 400
"""The number of characters at the end of a paragraph that can announce a text."""

_ANNOUNCES = re.compile(rf"(?:\A|[.!?:,。！：，]\s{{0,2}}){any_of('announcement')}", re.IGNORECASE)
"""The start of a sentence that announces a text: `Here is …`."""

_BOLD_LINE = re.compile(r"(\*\*|__)(?P<text>[^*_\n]{0,99}[^*_\n.!,:]):?\1:?")
"""A line that is all in bold, and no sentence."""

_IMAGE_LINE = re.compile(
    rf"(?![ \t]*[-+*] )[\W_]{{0,4}}\[{any_of('image')}\b[^\[\]\n]{{0,100}}\]"
    r"(?:\([^()\n]{0,200}\))?[\W_]{0,4}",
    re.IGNORECASE,
)
"""A line that stands for an image: `[Insert image of a cache]`."""

_MIN_RULE = 3
"""The minimum number of characters of a rule."""

_TASK_BOX = re.compile(r"^\[(?P<done>[ xX])\](?=[ \t]|$)", re.MULTILINE)
"""The box of a task at the start of a line."""


_MAX_PARAGRAPH = 10_000
"""The maximum length of a paragraph in characters."""

_MIN_WIDTH = 50
_MAX_WIDTH = 120
"""The width of the lines of a paragraph that somebody has wrapped, in characters."""


@cache
def answer_parser() -> MarkdownIt:
    """Return the parser of answers."""
    parser = LinkParser("commonmark").enable(["strikethrough", "table"])
    read_formula_blocks(parser)
    read_html(parser)
    parser.block.ruler.before("table", "near_bullets", _read_near_bullet, {"alt": INTERRUPTS})
    parser.block.ruler.before("hr", "near_rule", _read_near_rule, {"alt": INTERRUPTS})
    parser.block.ruler.before("heading", "near_heading", _read_near_heading, {"alt": INTERRUPTS})
    parser.block.ruler.at("reference", _read_reference)
    read_extensions(parser)
    for rule in _BEFORE_LINES:
        parser.core.ruler.before("inline", rule.__name__, rule)
    parser.core.ruler.at("inline", _parse_lines)
    return parser


@cache
def _line_parser() -> MarkdownIt:
    """Return the parser of the lines in paragraphs, headings and cells."""
    parser = new_inline_parser()
    read_inline_html(parser)
    read_footnote_references(parser)
    return parser


def excess_problem(noun: str, found: int, most: int) -> str:
    """Return the problem that a text has more of something than can be read, or nothing."""
    if found <= most:
        return ""
    return f"the text has {found:,} {noun}, {most:,} at most; write less"


def _read_near_bullet(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Make `- ` of what is nearly the bullet of an item. What reads items comes after this."""
    begin = state.bMarks[first] + state.tShift[first]
    bullet = _NEARLY_BULLET.match(state.src, begin, state.eMarks[first])
    is_at_start = not state.src[state.src.rfind("\n", 0, begin) + 1 : begin].strip()
    if bullet and is_at_start and not state.is_code_block(first):
        # As long as before, so that the positions of all lines stay.
        spaces = " " * (len(bullet[0]) - 1)
        state.src = f"{state.src[:begin]}-{spaces}{state.src[bullet.end() :]}"
        note(state.env, "repaired_marks")
    return False


def _read_near_rule(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read a line of `─` as a rule."""
    line = line_at(state, first).rstrip()
    if len(line) < _MIN_RULE or line.strip("─━═") or state.is_code_block(first):
        return False
    if not silent:
        state.push("hr", "hr", 0).map = [first, first + 1]
        note(state.env, "repaired_marks")
        state.line = first + 1
    return True


def _read_near_heading(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read a heading without a space after its `#`, in a text that has no others."""
    line = line_at(state, first)
    heading = _NEARLY_HEADING.fullmatch(line) if line.startswith("#") else None
    if heading is None or state.is_code_block(first) or not _has_near_headings(state):
        return False
    if not silent:
        level = len(heading["hashes"])
        words = heading["words"].strip()
        push_block(state, "heading", f"h{level}", words, [first, first + 1])
        note(state.env, "repaired_marks")
        state.line = first + 1
    return True


def _has_near_headings(state: StateBlock) -> bool:
    key = "near_headings"
    if key not in state.env:
        has_near = _NEARLY_SECTION.search(state.src) is not None
        state.env[key] = has_near and not HEADING.search(state.src)
    return bool(state.env[key])


def _read_reference(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read the address of links elsewhere, but no footnote."""
    if is_footnote(line_at(state, first)):
        return False
    return read_reference(state, first, last, silent)


def _read_keycaps(state: StateCore) -> None:
    """Make a number of the emoji of a figure at the start of a heading."""
    for before, token in pairwise(state.tokens):
        if before.type == "heading_open" and "\u20e3" in token.content[:5]:
            token.content = _KEYCAP.sub(r"\1. ", token.content, count=1)
            note(state.env, "repaired_marks")


def _read_title_lines(state: StateCore) -> None:
    """Make the title of a line such as `Title: Slow builds`, which is a paragraph or a heading."""
    indexes = [
        index for index, token in enumerate(state.tokens) if token.level == 1 and token.content
    ]
    headings = [index for index in indexes if state.tokens[index - 1].type == "heading_open"]
    at_start = []
    for index in indexes[:_MAX_TITLE_PLACE]:
        at_start.append(index)
        if not _can_be_above_title(*state.tokens[index - 1 : index + 3]):
            break
    for index in [*at_start, *headings[:1]]:
        line, _, below = state.tokens[index].content.partition("\n")
        found = _TITLE_LINE.fullmatch(line)
        if found is None:
            continue
        opening, inline, closing = state.tokens[index - 1 : index + 2]
        if below:
            rest = [copy(opening), copy(inline), copy(closing)]
            rest[1].content = below
            state.tokens[index + 2 : index + 2] = rest
        title = found["title"].strip(" *_#")
        quoted = _QUOTED.fullmatch(title)
        inline.content = quoted["title"] if quoted else title
        _make_heading(opening, closing, "h1")
        note(state.env, "repaired_title")
        break


def _can_be_above_title(
    opening: Token, inline: Token, _closing: Token, following: Token | None = None
) -> bool:
    """Tell whether a block is a heading, an announcement or above a rule, and not of the text."""
    is_above_rule = following is not None and following.type == "hr"
    if opening.type == "heading_open" or is_above_rule:
        return True
    return bool(_ANNOUNCES.search(inline.content[-_MAX_ANNOUNCEMENT:]))


def _make_heading(opening: Token, closing: Token, tag: str) -> None:
    """Make a heading of a paragraph, in place."""
    opening.type = "heading_open"
    closing.type = "heading_close"
    opening.tag = tag
    closing.tag = tag


def _read_image_lines(state: StateCore) -> None:
    """Leave out lines that stand for an image, such as `[Insert image]`."""
    outers = [None, *state.tokens]
    for outer, before, token in zip(outers, state.tokens, state.tokens[1:], strict=False):
        is_item = outer is not None and outer.type == "list_item_open"
        if is_item or before.type != "paragraph_open" or "[" not in token.content:
            continue
        lines = token.content.split("\n")
        kept = [line for line in lines if not _IMAGE_LINE.fullmatch(line)]
        if len(kept) < len(lines):
            token.content = "\n".join(kept)
            note(state.env, "repaired_placeholders")


def _read_task_boxes(state: StateCore) -> None:
    """Make characters of the boxes of tasks, at the start of a line: `[x] done`."""
    for token in state.tokens:
        if token.type == "inline" and "[" in token.content:
            token.content = _TASK_BOX.sub(_character_of_box, token.content)


def _character_of_box(box: re.Match[str]) -> str:
    return "☐" if box["done"] == " " else "☑"


def _read_bold_lines(state: StateCore) -> None:
    """Make paragraphs in bold headings, in a text that has no sections otherwise."""
    tokens = state.tokens
    if any(token.type == "heading_open" and token.tag != "h1" for token in tokens):
        return
    found = [index for index in range(len(tokens) - 2) if _is_bold_line(state, index)]
    for index in found:
        is_title = index == 0 and len(found) > 1
        tag = "h1" if is_title else "h2"
        inline = tokens[index + 1]
        inline.content = _BOLD_LINE.sub(r"\g<text>", inline.content)
        _make_heading(tokens[index], tokens[index + 2], tag)
        note(state.env, "repaired_bold_lines")


def _is_bold_line(state: StateCore, index: int) -> bool:
    """Tell whether a block is a line in bold that stands alone, and not at the end."""
    paragraph = state.tokens[index]
    inline = state.tokens[index + 1]
    is_last = index + 3 == len(state.tokens)
    if paragraph.type != "paragraph_open" or paragraph.level > 0 or is_last:
        return False
    return bool(
        _BOLD_LINE.fullmatch(inline.content)
        and not TIP.match(inline.content)
        and _stands_alone(state, paragraph.map or [0, 0])
    )


def _stands_alone(state: StateCore, lines: Sequence[int]) -> bool:
    """Tell whether there is an empty line before and after a block."""
    first, end = lines
    key = "lines"
    if key not in state.env:
        state.env[key] = state.src.split("\n")
    all_lines: list[str] = state.env[key]
    before = all_lines[first - 1] if first else ""
    after = all_lines[end] if end < len(all_lines) else ""
    return not (before.strip() or after.strip())


_BEFORE_LINES = (
    _read_keycaps,
    _read_title_lines,
    _read_image_lines,
    _read_task_boxes,
    _read_bold_lines,
)
"""The rules for blocks whose lines are not parsed yet, in this order, after the extensions."""


def _parse_lines(state: StateCore) -> None:
    """Parse the lines of all blocks, or drop all with a problem if one takes quadratic time.

    This replaces the parser's rule `inline`.
    """
    lengths = (len(token.content) for token in state.tokens if token.type == "inline")
    longest = max(lengths, default=0)
    problem = excess_problem("characters in a paragraph", longest, _MAX_PARAGRAPH)
    if problem:
        state.env["problem"] = problem
        state.tokens = []
    parser = _line_parser()
    for before, token in pairwise(state.tokens):
        if token.type != "inline":
            continue
        token.children = []
        state.env["is_text"] = "is_text" in token.meta
        parser.inline.parse(token.content, parser, state.env, token.children)
        if before.type == "paragraph_open" and not _is_wrapped(token.content.split("\n")):
            _keep_line_breaks(token.children)
        resolve_tags(token, state.env, is_cell=before.tag in ("td", "th"))


def _is_wrapped(lines: list[str]) -> bool:
    """Tell whether a paragraph is hard-wrapped: each line is full, or ends a sentence.

    The line breaks of such a paragraph mean nothing, unlike those of a verse or an address. Models
    do not wrap their lines, but people do.
    """
    width = max(len(line) for line in lines)
    is_full = True
    for line, following in pairwise(lines):
        next_word = following.split(" ", 1)[0]
        if len(line) + 1 + len(next_word) <= width:
            is_full = False
    if is_full and _MIN_WIDTH <= width <= _MAX_WIDTH:
        return True
    return all(map(_is_long_sentence, lines[:-1]))


def _is_long_sentence(line: str) -> bool:
    return line.rstrip().endswith((".", "!", "?")) and len(line) >= _MIN_WIDTH


def _keep_line_breaks(tokens: list[Token]) -> None:
    """Make each line break one that a page shows, in place."""
    for token in tokens:
        if token.type == "softbreak":
            token.type = "hardbreak"
            token.tag = "br"

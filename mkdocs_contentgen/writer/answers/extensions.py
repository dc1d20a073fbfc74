"""Convert the syntax of Markdown extensions to Markdown that every site shows.

Footnotes, definition lists, ids of headings, tabs, and boxes such as `> [!NOTE]`, `!!! note` and
`/// note` lose their markers, and keep their words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from textwrap import dedent

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline

from ...html.block_rules import line_at, push_block
from .block_lines import INTERRUPTS, lines_between, note, push_markdown

_FOOTNOTE = re.compile(r"^\[\^[^\]\s]{1,40}\]:[ \t]*", re.MULTILINE)
"""The start of a footnote: `[^1]: A measurement.`."""

_FOOTNOTE_ADDRESS = re.compile(
    r"^\[\^[^\]\s]{1,40}\]:[ \t]*<?https?://\S{1,2000}[ \t]*(?:\n|\Z)", re.MULTILINE
)
"""A footnote that is an address and nothing else."""

_FOOTNOTE_REFERENCE = re.compile(r"\[\^[^\]\s]{1,40}\](?!\()")
"""A reference to a footnote in a text."""

_BOX = re.compile(r"\[!(?P<name>\w{1,20})\][-+]?[ \t]*(?P<title>[^\n]*)(?:\n|\Z)")
"""The first line of a box: `> [!NOTE]`."""

_INDENTED_BOX = re.compile(
    r"(?P<marker>!!!|\?\?\?\+?|===[!+]?)(?P<kind>(?:[ \t]+[\w-]+){0,9})"
    r"(?P<title>[ \t]+\"[^\"\n]{0,200}\")?[ \t]*"
)
"""The first line of a box or a tab whose content is indented: `!!! note "Title"`, `=== "Linux"`."""

_FENCED_BOX = re.compile(
    r"(?P<marker>/{3,9})[ \t]*(?P<kind>[\w-]{1,40})[ \t]*(?:\|[ \t]*(?P<title>[^\n]{0,200}))?"
)
"""The first line of a box up to a line with the same slashes: `/// note | Title`."""

_MAX_NESTED = 5
"""The maximum nesting of boxes. Deeper ones stay as they are."""

_INDENTATION = 4
"""The number of spaces before the content of a box."""

_HEADING_ID = re.compile(r"(\S)[ \t]*\{:?[ \t]*[#.][^{}\n]{0,200}\}[ \t]*\Z")
"""The ids and classes at the end of a heading, after group 1."""

_TERM = re.compile(r"(?:\*\*)?(?P<term>\w[^\n*]{0,60}[\w)])(?:\*\*)?")
"""A line that is a term, if its definition stands below it."""

_DEFINITION = re.compile(r":[ \t]+(?=\S)")
"""The marker of a definition: `:   what it means`."""

_DEPTH = "boxes"
"""The key of the environment for how many boxes are open."""


def read_extensions(parser: MarkdownIt) -> None:
    """Add the rules for the syntax of Markdown extensions to a parser."""
    parser.block.ruler.before("code", "site_boxes", _read_site_box, {"alt": INTERRUPTS})
    for rule in (_read_heading_ids, _read_footnotes, _read_boxes, _read_definitions):
        parser.core.ruler.before("inline", rule.__name__, rule)


def read_footnote_references(parser: MarkdownIt) -> None:
    """Make a parser of lines leave out the references to footnotes."""
    parser.inline.ruler.before("link", "footnote_reference", _read_footnote_reference)


def is_footnote(line: str) -> bool:
    """Tell whether a footnote begins in a line."""
    return _FOOTNOTE.match(line) is not None


def _read_site_box(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read a box of MkDocs as a quotation below its label, and a tab as paragraphs."""
    depth = state.env.get(_DEPTH, 0)
    if depth == _MAX_NESTED or state.is_code_block(first):
        return False
    line = line_at(state, first)
    start = _INDENTED_BOX.fullmatch(line) or _FENCED_BOX.fullmatch(line.rstrip())
    if start is None:
        return False
    is_fenced = start["marker"].startswith("/")
    end = _end_of_fenced(state, first, last, start["marker"]) if is_fenced else None
    if not is_fenced:
        end = _end_of_indented(state, first + 1, last)
    if end is None or end == first + 1:
        return False
    if not silent:
        note(state.env, "repaired_site_boxes")
        state.env[_DEPTH] = depth + 1
        _push_box(state, start, [first, end])
        state.env[_DEPTH] = depth
        state.line = end + is_fenced
    return True


def _push_box(state: StateBlock, start: re.Match[str], lines: list[int]) -> None:
    """Push a quotation, or the paragraphs of a tab."""
    is_quotation = not start["marker"].startswith("=")
    if is_quotation:
        state.push("blockquote_open", "blockquote", 1).map = lines
    content = lines_between(state, lines[0] + 1, lines[1])
    label = _label_of(start)
    if label:
        push_block(state, "paragraph", "p", f"**{label}**", lines)
    push_markdown(state, dedent(content), lines)
    if is_quotation:
        state.push("blockquote_close", "blockquote", -1)


def _end_of_fenced(state: StateBlock, first: int, last: int, marker: str) -> int | None:
    """Return the number of the line that ends a box, or None if it has no end."""
    ends: list[int] | None = state.env.get(marker)
    if ends is None:  # once for all boxes with these slashes
        lines = enumerate(state.src.split("\n"))
        ends = [number for number, line in lines if line.rstrip() == marker]
        state.env[marker] = ends
    index = bisect_right(ends, first)
    return ends[index] if index < len(ends) and ends[index] < last else None


def _end_of_indented(state: StateBlock, first: int, last: int) -> int | None:
    """Return the number of the line after those that are indented or empty, from `first` on.

    It is None if none of them has words.
    """
    end = first
    has_words = False
    for number in range(first, last):
        if state.isEmpty(number):
            continue
        if state.sCount[number] < state.blkIndent + _INDENTATION:
            break
        has_words = True
        end = number + 1
    return end if has_words else None


def _label_of(start: re.Match[str]) -> str:
    """Return the title of a box, or else its kind; empty for a box that has neither."""
    title = start["title"]
    if title is not None:
        return str(title).strip().strip('"').strip()
    kinds: list[str] = start["kind"].split()
    if not kinds:
        return ""
    return kinds[0].capitalize()


def _read_heading_ids(state: StateCore) -> None:
    """Take out the ids and classes after headings: `## Why { #why }`."""
    for before, token in zip(state.tokens, state.tokens[1:], strict=False):
        if before.type == "heading_open" and token.content.endswith("}"):
            words = _HEADING_ID.sub(r"\1", token.content)
            if words != token.content:
                token.content = words
                note(state.env, "repaired_heading_ids")


def _read_footnotes(state: StateCore) -> None:
    """Make a paragraph of each footnote that says something."""
    for token in state.tokens:
        if token.type == "inline" and "[^" in token.content:
            without_addresses = _FOOTNOTE_ADDRESS.sub("", token.content)
            if without_addresses != token.content:
                note(state.env, "repaired_references")
            words = _FOOTNOTE.sub("", without_addresses)
            if words != without_addresses:
                note(state.env, "repaired_footnotes")
            token.content = words.strip()


def _read_footnote_reference(state: StateInline, silent: bool) -> bool:
    reference = _FOOTNOTE_REFERENCE.match(state.src, state.pos, state.posMax)
    if reference is None:
        return False
    if not silent:
        state.pending = state.pending.removesuffix(" ")
        note(state.env, "repaired_footnotes")
    state.pos = reference.end()
    return True


def _read_boxes(state: StateCore) -> None:
    """Make `> [!NOTE]` the label of its quotation: `> **Note:** Keep the cache.`."""
    for index, token in enumerate(state.tokens[:-2]):
        inline = state.tokens[index + 2]
        if token.type != "blockquote_open" or inline.type != "inline":
            continue
        box = _BOX.match(inline.content)
        if box:
            label = box["title"].strip() or box["name"].capitalize()
            inline.content = f"**{label}:** {inline.content[box.end() :]}".strip()
            note(state.env, "repaired_boxes")


def _read_definitions(state: StateCore) -> None:
    """Make the term above a definition its label: `**Cache:** what is kept`."""
    for before, token in zip(state.tokens, state.tokens[1:], strict=False):
        if before.type == "paragraph_open" and ": " in token.content.replace("\t", " "):
            words = _with_labels(token.content)
            if words != token.content:
                token.content = words
                note(state.env, "repaired_definitions")


def _with_labels(text: str) -> str:
    """Return a paragraph with its terms as labels of their definitions."""
    lines: list[str] = []
    for line in text.split("\n"):
        definition = _DEFINITION.match(line)
        if definition is None:
            lines.append(line)
            continue
        words = line[definition.end() :]
        term = _TERM.fullmatch(lines[-1]) if lines else None
        if term:
            lines[-1] = f"**{term['term']}:** {words}"
        else:
            lines.append(words)
    return "\n".join(lines)

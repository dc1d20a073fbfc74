"""The parser of Markdown lines, both of people and of models."""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

_MAX_BRACKETS = 5
"""How deep square brackets are nested where they are read as links.

Each `[` is tried together with so many that follow it.
"""


class LinkParser(MarkdownIt):
    """Reads links with any address, so that the words of a forbidden one are kept."""

    def validateLink(self, url: str) -> bool:  # noqa: N802  its name in markdown-it
        """Accept any address: for models, all are dropped."""
        return True


@cache
def inline_parser(*, is_persons: bool = False, html: bool = False) -> MarkdownIt:
    """Return a parser of lines. That of a person's lines knows HTML and `==statements==`, too."""
    options = {"html": is_persons or html, "maxNesting": _MAX_BRACKETS}
    parser = (MarkdownIt if is_persons else LinkParser)("commonmark", options)
    parser.enable("strikethrough")
    if is_persons:
        parser.inline.ruler.before("emphasis", "mark", _read_mark)
    return parser


def _read_mark(state: StateInline, silent: bool) -> bool:
    end = state.src.find("==", state.pos + 2, state.posMax)
    if not state.src.startswith("==", state.pos) or end <= state.pos + 2:
        return False
    if not silent:
        most = state.posMax
        state.push("mark_open", "mark", 1)
        state.pos, state.posMax = state.pos + 2, end
        state.md.inline.tokenize(state)
        state.posMax = most
        state.push("mark_close", "mark", -1)
    state.pos = end + 2
    return True

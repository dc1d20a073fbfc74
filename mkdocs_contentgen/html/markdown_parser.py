"""The parser of Markdown lines, both of people and of models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

import nh3
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore, inline
from markdown_it.rules_inline import StateInline, html_inline, image, link
from markdown_it.token import Token

from .emphasis import read_asterisks
from .formulas import read_formulas

_MAX_BRACKETS = 5
"""How deep square brackets are nested where they are read as links.

Each `[` is tried together with so many that follow it.
"""

_MAX_DEPTH = 20
"""How deep lists and quotations are nested."""

_MAX_PAIR = 1_000
"""The maximum length of a statement, and of what is raised or lowered."""

_MAX_REFERENCE = 20
"""How many lines the address and the title of a link that stand apart can have."""

_HTML_ENDS = {"<!--": "-->", "<![CDATA[": "]]>", "<!": ">", "<?": "?>"}
"""What ends comments and the like, by what begins them."""


class LinkParser(MarkdownIt):
    """Reads links with any address, so that the words of a forbidden one are kept."""

    def validateLink(self, url: str) -> bool:  # noqa: N802  its name in markdown-it
        """Accept any address: for models, all are dropped."""
        return True


@cache
def inline_parser(*, is_persons: bool = False) -> MarkdownIt:
    """Return a parser of lines. That of a person's lines knows HTML and `==statements==`, too."""
    return new_inline_parser(is_persons=is_persons)


def new_inline_parser(*, is_persons: bool = False) -> MarkdownIt:
    """Return a new parser of lines, to which others can add rules."""
    kind = MarkdownIt if is_persons else LinkParser
    parser = kind("commonmark", {"html": is_persons, "maxNesting": _MAX_BRACKETS})
    parser.enable("strikethrough")
    read_asterisks(parser)
    _limit_time(parser)
    if is_persons:
        parser.inline.ruler.before("emphasis", "mark", _read_mark)
    else:
        parser.inline.ruler.before("html_inline", "script", _read_script)
        read_formulas(parser)
    return parser


@cache
def block_parser() -> MarkdownIt:
    """Return the parser of a person's blocks."""
    return new_block_parser()


def new_block_parser() -> MarkdownIt:
    """Return a new parser of blocks, whose lines are read as inline_parser() reads them."""
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": _MAX_DEPTH})
    parser.enable(["strikethrough", "table"])
    parser.disable("html_block")  # its words are those of a paragraph
    read_asterisks(parser)
    _limit_time(parser)
    parser.inline.ruler.before("emphasis", "mark", _read_mark)
    parser.core.ruler.at("inline", _read_lines)
    return parser


def _read_lines(state: StateCore) -> None:
    """Read the lines of all blocks, in which brackets are nested as in other lines."""
    depth = state.md.options["maxNesting"]
    state.md.options["maxNesting"] = _MAX_BRACKETS
    try:
        inline(state)
    finally:
        state.md.options["maxNesting"] = depth


def link_addresses(text: str) -> list[str]:
    """Return the addresses of the links in Markdown or HTML, each once."""
    parser = LinkParser("commonmark", {"html": True, "maxNesting": _MAX_BRACKETS})
    read_asterisks(parser)
    _limit_time(parser)
    addresses = []
    html = []
    for token in _flat(parser.parse(text)):
        if token.type == "link_open":
            addresses.append(str(token.attrs["href"]))
        if token.type in ("html_inline", "html_block"):
            html.append(token.content)
    # Of what may be comments without an end, html.parser would take minutes.
    only_links = nh3.clean("".join(html), tags={"a"}, attributes={"a": {"href"}}, link_rel=None)
    links = BeautifulSoup(only_links, "html.parser").find_all("a", href=True)
    return list(dict.fromkeys([*addresses, *(str(link["href"]) for link in links)]))


def _limit_time(parser: MarkdownIt) -> None:
    """Limit how far a parser looks for the end of what may have none: else it takes minutes."""
    parser.block.ruler.at("reference", read_reference)
    parser.inline.ruler.at("html_inline", _read_html)
    parser.inline.ruler.at("link", _read_link)
    parser.inline.ruler.at("image", _read_image)


def _read_link(state: StateInline, silent: bool) -> bool:
    return _last_bracket(state.src) > state.pos and link(state, silent)


def _read_image(state: StateInline, silent: bool) -> bool:
    return _last_bracket(state.src) > state.pos and image(state, silent)


@lru_cache(maxsize=1)
def _last_bracket(line: str) -> int:
    """Return where the last `]` of a line is, or -1: after it, no link is looked for."""
    return line.rfind("]")


def read_reference(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read the address of links elsewhere, as a rule of a parser, without looking far for its end.

    The original looks for the end of the paragraph.
    """
    end_of_text = state.lineMax
    state.lineMax = min(end_of_text, first + _MAX_REFERENCE)
    try:
        return reference(state, first, last, silent)
    finally:
        state.lineMax = end_of_text


def _read_html(state: StateInline, silent: bool) -> bool:
    for start, end in _HTML_ENDS.items():
        if state.src.startswith(start, state.pos):
            first = state.pos + len(start)
            if state.src.find(end, first, first + _MAX_PAIR) < 0:
                return False
            break
    return html_inline(state, silent)


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _read_mark(state: StateInline, silent: bool) -> bool:
    # `a == b or c == d` is a comparison, and would lose its operator.
    if state.src[state.pos + 2 : state.pos + 3].isspace():
        return False
    return _read_pair(state, "mark", "==", "==", silent)


def _read_script(state: StateInline, silent: bool) -> bool:
    """Read `10<sup>6</sup>` and `H<sub>2</sub>O`, whose digits mean something else without."""
    for name in ("sup", "sub"):
        if _read_pair(state, name, f"<{name}>", f"</{name}>", silent):
            return True
    return False


def _read_pair(state: StateInline, name: str, start: str, end: str, silent: bool) -> bool:
    """Read an element that has text in it, between a start and an end."""
    if not state.src.startswith(start, state.pos):
        return False
    first = state.pos + len(start)
    # Without a limit, starts without an end would take quadratic time.
    last = state.src.find(end, first, min(state.posMax, first + _MAX_PAIR))
    if last <= first:
        return False
    if not silent:
        end_of_line = state.posMax
        state.push(f"{name}_open", name, 1)
        state.pos = first
        state.posMax = last
        state.md.inline.tokenize(state)
        state.posMax = end_of_line
        state.push(f"{name}_close", name, -1)
    state.pos = last + len(end)
    return True

"""Rules for the parser of answers: HTML in Markdown.

Lines with elements that are blocks, such as tables, become the Markdown of these elements. Inline
elements become tokens. Code is left alone, and so is `<` that begins no tag of HTML:
`List<Text>`, `a < b`.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from ...errors import UnsafeHTMLError
from ...html.block_rules import line_at
from ...html.elements import DROPPED
from ...html.inline_tags import TAG, name_of_tag, paired_tags
from ...html.markdown_blocks import fenced_code
from ...html.plain_markdown import to_plain_markdown
from .block_lines import (
    INTERRUPTS,
    lines_between,
    note,
    push_markdown,
    split_code,
)

_ELEMENTS = {
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("i", "em"), "em"),
    **dict.fromkeys(("s", "del"), "s"),
}
"""The elements of a text for those of HTML."""

_CODE = ("code", "kbd", "samp")
"""Elements that are code within a line."""

_INLINE = "b i u em strong small br code img font span meta input button video audio".split()
"""Inline elements that are HTML also without an end tag."""

_WRAPPING = "content answer response".split()
"""What models put around a whole text."""

_INLINE_WITH_END = "abbr bdi bdo cite del dfn ins kbd mark q ruby s samp time var a".split()
"""Inline elements with an end tag. Without one, `<time>` is the author's word for a value."""

_BLOCKS = frozenset({*block_names, *DROPPED, "pre", "!doctype"})
"""Elements that make a line one of HTML."""

_TOGETHER = frozenset({*DROPPED, *"html head body article table ul ol dl pre blockquote".split()})
"""Elements whose lines are read together, also those after an empty line."""

_HTML_IF_ENDED = frozenset({*DROPPED, *_INLINE_WITH_END, "!--"})
"""What is HTML only if it ends somewhere."""

_PLAIN = frozenset(
    "div section center main header footer nav aside figure details summary p".split()
)
"""Elements that only group text, in which Markdown is Markdown."""

_KNOWN = frozenset({*_BLOCKS, *_INLINE_WITH_END, *_INLINE, *_WRAPPING, *_CODE})
"""The names of all elements that are HTML in an answer."""

_HTML_WITHOUT_END = _KNOWN - _HTML_IF_ENDED
"""Those that need no end tag."""

_TAG = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`{1,9})(?!`)[^\n]{0,500}?(?<!`)(?P=ticks)(?!`))"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][\w-]{0,40})(?=[\s/>])[^<>]{0,1000}>"
    r"|<(?P<declaration>!DOCTYPE)[^<>]{0,300}>|(?P<comment><!--|-->)",
    re.IGNORECASE,
)
"""A tag, the start or the end of a comment, or code in backticks, in which no tag is read."""

_ELEMENTS_FOUND = "elements"
"""The key of the environment for what elements an answer has."""

_MIN_PROSE_WORDS = 8
"""The number of words of a line that is prose."""

_MAX_PROSE = 5_000
"""The number of characters of an element that are looked at."""

_LISTING = re.compile(r"(?P<before>[^`<]*)<(?P<name>code|svg)(?:\s[^<>]{0,1000})?>", re.IGNORECASE)
"""The start of code on several lines, with what stands before it in its line."""

_LANGUAGE = re.compile(r"\blanguage-([\w+#-]{1,30})")
"""The language of code in the class of its element."""

_MAX_CODE_ELEMENT = 1_000
"""The maximum length of code in an element within a line, in characters."""

_BREAKS = ("softbreak", "hardbreak")
"""The types of the tokens of line breaks."""

_TAGS_ARE_TEXT = "tags_are_text"
"""The key of the environment that is set while converted HTML is parsed: `<` is text there."""


class _Found(NamedTuple):
    """What elements an answer has."""

    last_ends: dict[str, int]
    """The number of the last line with an end tag, by the name of the element."""

    of_prompts: set[str]
    """The names of elements with prose that HTML does not have, such as `report`."""


def read_html(parser: MarkdownIt) -> None:
    """Add the rules for HTML blocks to a parser."""
    parser.block.ruler.at("html_block", _read_html, {"alt": INTERRUPTS})
    parser.block.ruler.before("html_block", "listing", _read_listing, {"alt": INTERRUPTS})


def read_inline_html(parser: MarkdownIt) -> None:
    """Make a parser of lines read tags."""
    parser.inline.ruler.before("html_inline", "code_element", _read_code_element)
    parser.inline.ruler.at("html_inline", _read_tag)


def _has_prose(text: str) -> bool:
    """Tell whether a text has a line of so many words that it is no data."""
    words = (len(line.split()) for line in text.split("\n"))
    return max(words, default=0) >= _MIN_PROSE_WORDS


def _read_listing(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read `<code>` on several lines, and a picture in SVG, as a block of code."""
    line = line_at(state, first)
    start = _LISTING.match(line)
    if start is None or state.is_code_block(first):
        return False
    name = start["name"].lower()
    end_tag = f"</{name}>"
    is_within_line = name == "code" and end_tag in line[start.end() :].lower()
    if is_within_line or _found_in(state).last_ends.get(name, -1) < first:
        return False
    end = first
    while end < last and end_tag not in line_at(state, end).lower():
        end += 1
    if end == last:
        return False
    if not silent:
        text = lines_between(state, first, end + 1)
        _push_listing(state, start, text, [first, end + 1])
    return True


def _push_listing(state: StateBlock, start: re.Match[str], text: str, lines: list[int]) -> None:
    """Push a block of code, and what stands before and after it."""
    name = start["name"].lower()
    text = text.lstrip(" \t")
    end = text.lower().index(f"</{name}>")
    code = text[start.end() : end]
    after = text[end:].removeprefix(text[end : end + len(name) + 3])
    if name == "svg":
        code = text[len(start["before"]) : end] + text[end : end + len("</svg>")]
    elif "<" not in code:
        code = html.unescape(code)
    language = _LANGUAGE.search(start[0])
    block = fenced_code(code.strip("\n"), language[1] if language else "")
    push_markdown(state, f"{start['before']}\n\n{block}\n\n{after}", lines)
    note(state.env, "repaired_html")
    state.line = lines[1]


def _read_html(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read lines with elements that are blocks."""
    if state.is_code_block(first) or state.env.get(_TAGS_ARE_TEXT):
        return False
    line = line_at(state, first)
    is_row = "|" in line
    if is_row or not any(_begins_block(state, tag) for tag in _html_tags(state, first, line)):
        return False
    if not silent:
        end = _end_of_block(state, first, last)
        _push_html(state, first, end)
        state.line = end
    return True


def _begins_block(state: StateBlock, tag: re.Match[str]) -> bool:
    """Tell whether a tag, or a comment, makes a line one of HTML."""
    name = _name(tag)
    return name in _BLOCKS or name == "!--" or name in _found_in(state).of_prompts


def _push_html(state: StateBlock, first: int, end: int) -> None:
    """Push the blocks in some lines of HTML."""
    names: set[str] = set()
    texts: list[str] = []
    escaped: list[str] = []
    lines = lines_between(state, first, end).split("\n")
    for number, (is_code, line) in enumerate(split_code(lines), start=first):
        tags = [] if is_code else list(_html_tags(state, number, line))
        blocks = [tag for tag in tags if _begins_block(state, tag)]
        names.update(map(_name, blocks))
        texts.append(_with_changes(line, blocks, lambda words: words, "\n\n"))
        escaped.append(_with_changes(line, tags, lambda words: words.replace("<", "&lt;")))
    if names <= _PLAIN | _found_in(state).of_prompts:
        note(state.env, "repaired_html")
        push_markdown(state, "\n".join(texts), [first, end])
        return
    text = "\n".join(escaped)
    with suppress(UnsafeHTMLError):  # then the HTML stays as it is
        text = to_plain_markdown(text)
        note(state.env, "repaired_html")
    state.env[_TAGS_ARE_TEXT] = True
    for token in push_markdown(state, text, [first, end]):
        token.meta[_TAGS_ARE_TEXT] = True
    state.env[_TAGS_ARE_TEXT] = False


def _with_changes(
    line: str,
    tags: Sequence[re.Match[str]],
    change: Callable[[str], str],
    instead: str | None = None,
) -> str:
    """Return a line with the words between its tags changed, and with the tags or others."""
    parts: list[str] = []
    done = 0
    for tag in tags:
        parts += [change(line[done : tag.start()]), tag[0] if instead is None else instead]
        done = tag.end()
    return "".join([*parts, change(line[done:])])


def _end_of_block(state: StateBlock, first: int, last: int) -> int:
    """Return the number of the line after a block of HTML: an empty one, if all has ended."""
    open_elements: Counter[str] = Counter()
    lines = (line_at(state, number) for number in range(first, last))
    for number, (is_code, line) in enumerate(split_code(lines), start=first):
        is_outside = state.sCount[number] < state.blkIndent and not state.isEmpty(number)
        is_end = not (is_code or line.strip() or any(open_elements.values()))
        if is_outside or is_end:
            return number
        for tag in [] if is_code else _html_tags(state, number, line):
            name = _name(tag)
            if name not in _TOGETHER and name != "!--":
                continue
            if _is_end(tag):
                open_elements[name] = max(0, open_elements[name] - 1)
            else:
                open_elements[name] += 1
    return last


def _html_tags(state: StateBlock, number: int, line: str) -> Iterator[re.Match[str]]:
    """Yield the tags of a line that are HTML, or what a prompt asked for, such as `<report>`.

    A tag that needs an end tag counts only if one follows.
    """
    if "<" not in line and "-->" not in line:
        return
    found = _found_in(state)
    for tag in _TAG.finditer(line):
        name = _name(tag)
        is_ended = name in _HTML_IF_ENDED and number <= found.last_ends.get(name, -1)
        if is_ended or name in _HTML_WITHOUT_END or name in found.of_prompts:
            yield tag


def _found_in(state: StateBlock) -> _Found:
    """Return what elements an answer has, which is looked for once."""
    found: _Found | None = state.env.get(_ELEMENTS_FOUND)
    if found is not None:
        return found
    found = _Found({}, set())
    starts: dict[str, int] = {}
    number = 0
    counted = 0
    for tag in _TAG.finditer(state.src):
        number += state.src.count("\n", counted, tag.start())
        counted = tag.start()
        name = _name(tag)
        if not _is_end(tag):
            starts.setdefault(name, tag.end())
            continue
        found.last_ends[name] = number
        start = starts.pop(name, tag.start())
        end = min(tag.start(), start + _MAX_PROSE)
        if name not in _KNOWN and _has_prose(state.src[start:end]):
            found.of_prompts.add(name)
    state.env[_ELEMENTS_FOUND] = found
    return found


def _name(tag: re.Match[str]) -> str:
    """Return the name of a tag in lower case, `!--` for a comment, or nothing for code."""
    if tag["comment"]:
        return "!--"
    return (tag["name"] or tag["declaration"] or "").lower()


def _is_end(tag: re.Match[str]) -> bool:
    """Tell whether a tag is an end tag, or the end of a comment."""
    return bool(tag["end"]) or tag["comment"] == "-->"


def _read_code_element(state: StateInline, silent: bool) -> bool:
    """Read `<code>` and the like as code."""
    start = TAG.match(state.src, state.pos, state.posMax) if state.src[state.pos] == "<" else None
    if start is None or start["end"] or start["name"].lower() not in _CODE:
        return False
    name = start["name"]
    first = start.end()
    end = state.src.find(f"</{name}>", first, min(state.posMax, first + _MAX_CODE_ELEMENT))
    if end < 0 or not state.src[first:end].strip():
        return False
    if not silent:
        token = state.push("code_inline", "code", 0)
        token.content = html.unescape(state.src[first:end]).strip()
        note(state.env, "repaired_html")
    state.pos = end + len(f"</{name}>")
    return True


def _read_tag(state: StateInline, silent: bool) -> bool:
    """Read a tag, whose element is resolved later."""
    if state.src[state.pos] != "<" or state.env.get(_TAGS_ARE_TEXT):
        return False
    tag = _TAG.match(state.src, state.pos, state.posMax)
    if tag is None or _name(tag) not in _KNOWN or tag["comment"]:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = tag[0]
    state.pos = tag.end()
    return True


def resolve_tags(inline: Token, environment: MutableMapping[str, Any], *, is_cell: bool) -> None:
    """Make elements of a text of the tags in a line, and drop those of other elements."""
    tokens = inline.children or []
    if all(token.type != "html_inline" for token in tokens):
        return
    is_changed = _make_elements(tokens)
    found: _Found = environment.get(_ELEMENTS_FOUND, _Found({}, set()))
    line = inline.map[0] if inline.map else 0
    resolved: list[Token] = []
    for token in tokens:
        name = name_of_tag(token) if token.type == "html_inline" else ""
        if not name:
            resolved.append(token)
        elif name in _HTML_IF_ENDED and line > found.last_ends.get(name, -1):
            resolved.append(Token("text", "", 0, content=token.content))  # it is a word
        else:
            resolved += _instead_of_tag(name, is_cell=is_cell)
            is_changed = True
    inline.children = resolved
    if is_changed:
        inline.children = _with_single_breaks(resolved)
        note(environment, "repaired_html")


def _make_elements(tokens: list[Token]) -> bool:
    """Put the tokens of elements in the place of pairs of tags, and tell whether there were any."""
    has_elements = False
    for start, end in list(paired_tags(tokens)):
        element = _ELEMENTS.get(name_of_tag(tokens[start]))
        if element:
            tokens[start] = Token(f"{element}_open", element, 1)
            tokens[end] = Token(f"{element}_close", element, -1)
            has_elements = True
    return has_elements


def _instead_of_tag(name: str, *, is_cell: bool) -> list[Token]:
    """Return what stands in the place of a tag: a break, a space or nothing."""
    if name == "br" and not is_cell:
        return [Token("hardbreak", "br", 0)]
    if name == "br" or name in _BLOCKS:
        return [Token("text", "", 0, content=" ")]
    return []


def _with_single_breaks(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens of a line without breaks at its ends and beside others."""
    kept: list[Token] = []
    follows_break = True
    for token in tokens:
        is_break = token.type in _BREAKS
        is_filled = not is_break and (token.type != "text" or token.content.strip())
        if is_filled or not follows_break:
            kept.append(token)
        follows_break = is_break or (follows_break and not is_filled)
    while kept and kept[-1].type in _BREAKS:
        kept.pop()
    return kept

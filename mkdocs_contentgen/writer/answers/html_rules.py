"""Rules for the parser of answers: HTML in Markdown.

Lines with elements that are blocks, such as tables, become the Markdown of these elements. Inline
elements become tokens. Code is left alone, and so is `<` that begins no tag of HTML:
`List<Text>`, `a < b`.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from ...errors import UnsafeHTMLError
from ...html.block_rules import line_at, push_block
from ...html.elements import DROPPED
from ...html.inline_tags import TAG, name_of_tag, paired_tags
from ...html.plain_markdown import to_plain_markdown
from ...language.ranges import Range
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
"""Elements whose lines are read together, also those behind an empty line."""

_HTML_IF_ENDED = frozenset({*DROPPED, *_INLINE_WITH_END, "!--"})
"""What is HTML only if it ends somewhere."""

_PLAIN = frozenset(
    "div section center main header footer nav aside figure details summary p".split()
)
"""Elements that only group text, in which Markdown is Markdown."""

_NAMES = "|".join([*block_names, *DROPPED, *_INLINE_WITH_END, *_INLINE, *_WRAPPING, "pre"])
_TAG = re.compile(
    rf"<(?P<end>/?)(?P<name>{_NAMES})(?=[\s/>])[^<>]{{0,1000}}>|<!DOCTYPE[^<>]{{0,300}}>"
    r"|<!--|-->",
    re.IGNORECASE,
)
"""A tag, or the start or the end of a comment."""

_END_TAG = re.compile(
    rf"</({'|'.join(sorted(_HTML_IF_ENDED - {'!--'}))}|code)(?=[\s/>])", re.IGNORECASE
)

_PROMPT_TAG = re.compile(r"</?(?P<name>[A-Za-z][\w-]{2,40})(?:\s[^<>]{0,200})?>(?P<rest>.*)")
_PROMPT_END = re.compile(r"</(?P<name>[A-Za-z][\w-]{2,40})>(?=[ \t]*$)", re.MULTILINE)
"""A tag at the start of a line, and an end tag at its end."""

_ANY_TAG = re.compile(
    rf"<(?P<end>/?)(?!(?:{_NAMES})>)(?P<name>[A-Za-z][\w-]{{2,40}})(?:\s[^<>]{{0,200}})?>",
    re.IGNORECASE,
)

_PROMPT_TAGS = "prompt_tags"
"""The key of the environment for the names of such elements."""

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

_BREAKS_ONLY = re.compile(r"(?:<br ?/?>\s*)+", re.IGNORECASE)
"""A line with nothing but line breaks."""

_BREAKS = ("softbreak", "hardbreak")
"""The types of the tokens of line breaks."""

_TICKS = re.compile("`+")

_TAGS_ARE_TEXT = "tags_are_text"
"""The key of the environment that is set while converted HTML is parsed: `<` is text there."""

_LAST_ENDS = "last_ends"
"""The key of the environment for the line with the last end tag of each element."""


def read_html(parser: MarkdownIt) -> None:
    """Add the rules for HTML blocks to a parser."""
    parser.block.ruler.at("html_block", _read_html, {"alt": INTERRUPTS})
    parser.block.ruler.before("html_block", "listing", _read_listing, {"alt": INTERRUPTS})
    parser.block.ruler.before("listing", "line_breaks", _read_line_breaks, {"alt": INTERRUPTS})
    parser.block.ruler.before("code", "prompt_tags", _read_prompt_tags, {"alt": INTERRUPTS})


def read_inline_html(parser: MarkdownIt) -> None:
    """Make a parser of lines read tags."""
    parser.inline.ruler.before("html_inline", "code_element", _read_code_element)
    parser.inline.ruler.at("html_inline", _read_tag)


def _read_line_breaks(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read a line with nothing but `<br>` as an empty one."""
    if not _BREAKS_ONLY.fullmatch(line_at(state, first)):
        return False
    if not silent:
        note(state.env, "repaired_html")
        state.line = first + 1
    return True


def _read_prompt_tags(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Remove tags that a prompt asked for, such as `<report>`, and keep what is in them."""
    line = line_at(state, first)
    tag = _PROMPT_TAG.match(line)
    if "<" not in line or state.is_code_block(first):
        return False
    if tag is None or tag["name"].lower() not in _prompt_tags(state):
        _blank_end_tag(state, first)
        return False
    if not tag["rest"].strip():
        if not silent:
            note(state.env, "repaired_html")
            state.line = first + 1
        return True
    # As long as before, so that the positions of all lines stay.
    begin = state.bMarks[first] + state.tShift[first]
    end = begin + len(tag[0]) - len(tag["rest"])
    state.src = f"{state.src[:begin]}{' ' * (end - begin)}{state.src[end:]}"
    note(state.env, "repaired_html")
    _blank_end_tag(state, first)
    return False


def _blank_end_tag(state: StateBlock, number: int) -> None:
    """Make spaces of such an end tag at the end of a line."""
    begin = state.bMarks[number] + state.tShift[number]
    end_tag = _PROMPT_END.search(state.src, begin, state.eMarks[number])
    if end_tag and end_tag["name"].lower() in _prompt_tags(state):
        begin, end = end_tag.span()
        state.src = f"{state.src[:begin]}{' ' * (end - begin)}{state.src[end:]}"
        note(state.env, "repaired_html")


def _prompt_tags(state: StateBlock) -> set[str]:
    """Return the names of elements with prose that HTML does not have, such as `report`."""
    found: set[str] | None = state.env.get(_PROMPT_TAGS)
    if found is None:
        starts: dict[str, int] = {}
        found = set()
        for tag in _ANY_TAG.finditer(state.src):
            name = tag["name"].lower()
            if not tag["end"]:
                starts.setdefault(name, tag.end())
            elif name in starts:
                first = starts.pop(name)
                if _has_prose(state.src[first : min(tag.start(), first + _MAX_PROSE)]):
                    found.add(name)
        state.env[_PROMPT_TAGS] = found
    return found


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
    if is_within_line or _last_ends(state).get(name, -1) < first:
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
    """Push a block of code, and what stands before and behind it."""
    name = start["name"].lower()
    text = text.lstrip(" \t")
    end = text.lower().index(f"</{name}>")
    before = start["before"].strip()
    if before:
        push_block(state, "paragraph", "p", before, lines)
    code = text[start.end() : end]
    if name == "svg":
        end += len("</svg>")
        code = text[len(start["before"]) : end]
    elif "<" not in code:
        code = html.unescape(code)
    token = state.push("fence", "code", 0)
    token.content = f"{code.strip(chr(10))}\n"
    language = _LANGUAGE.search(start[0])
    token.info = language[1] if language else ""
    token.map = lines
    after = text[end:].removeprefix(f"</{name}>").strip()
    if after:
        push_block(state, "paragraph", "p", after, lines)
    note(state.env, "repaired_html")
    state.line = lines[1]


def _read_html(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read lines with elements that are blocks."""
    if state.is_code_block(first) or state.env.get(_TAGS_ARE_TEXT):
        return False
    line = line_at(state, first)
    names = {_name(tag) for tag in _html_tags(state, first, line)}
    is_row = "|" in line
    if is_row or names.isdisjoint(_BLOCKS | {"!--"}):
        return False
    if not silent:
        end = _end_of_block(state, first, last)
        _push_html(state, first, end)
        state.line = end
    return True


def _push_html(state: StateBlock, first: int, end: int) -> None:
    """Push the blocks in some lines of HTML."""
    names: set[str] = set()
    texts: list[str] = []
    escaped: list[str] = []
    lines = lines_between(state, first, end).split("\n")
    for number, (is_code, line) in enumerate(split_code(lines), start=first):
        tags = [] if is_code else list(_html_tags(state, number, line))
        names.update(map(_name, tags))
        texts.append(_without_blocks(line, tags))
        escaped.append(_with_escaped_signs(line, tags))
    only_group_text = names & _BLOCKS <= _PLAIN and "!--" not in names
    if only_group_text:
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


def _without_blocks(line: str, tags: Sequence[re.Match[str]]) -> str:
    """Return a line of HTML without the tags of blocks."""
    parts: list[str] = []
    done = 0
    for tag in tags:
        if _name(tag) in _BLOCKS:
            parts += [line[done : tag.start()], "\n\n"]
            done = tag.end()
    return "".join([*parts, line[done:]])


def _with_escaped_signs(line: str, tags: Sequence[re.Match[str]]) -> str:
    """Return a line of HTML, in which `<` that begins no tag is text."""
    parts: list[str] = []
    done = 0
    for tag in tags:
        parts += [line[done : tag.start()].replace("<", "&lt;"), tag[0]]
        done = tag.end()
    return "".join([*parts, line[done:].replace("<", "&lt;")])


def _end_of_block(state: StateBlock, first: int, last: int) -> int:
    """Return the number of the line behind a block of HTML: an empty one, if all has ended."""
    open_elements: Counter[str] = Counter()
    lines = (line_at(state, number) for number in range(first, last))
    for number, (is_code, line) in enumerate(split_code(lines), start=first):
        is_outside = state.sCount[number] < state.blkIndent and not state.isEmpty(number)
        if is_outside or not (line.strip() or any(open_elements.values())):
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
    """Yield the HTML tags of a line. A tag that needs an end tag counts only if one follows."""
    if "<" not in line and "-->" not in line:
        return
    last_ends = _last_ends(state)
    for tag in _tags_outside_code(line):
        name = _name(tag)
        if name not in _HTML_IF_ENDED or number <= last_ends.get(name, -1):
            yield tag


def _last_ends(state: StateBlock) -> dict[str, int]:
    """Return the number of the last line with an end tag, by the name of the element."""
    found: dict[str, int] | None = state.env.get(_LAST_ENDS)
    if found is None:
        found = {}
        has_comments = "<!--" in state.src
        for number, line in enumerate(state.src.split("\n")):
            if has_comments and "-->" in line:
                found["!--"] = number
            for tag in _END_TAG.finditer(line) if "</" in line else ():
                found[tag[1].lower()] = number
        state.env[_LAST_ENDS] = found
    return found


def _tags_outside_code(line: str) -> Iterator[re.Match[str]]:
    """Yield the tags of a line that do not stand in backticks."""
    spans = _code_spans(line)
    next_span = 0
    for tag in _TAG.finditer(line):
        while next_span < len(spans) and spans[next_span].end <= tag.start():
            next_span += 1
        is_in_code = next_span < len(spans) and spans[next_span].start <= tag.start()
        if not is_in_code:
            yield tag


def _code_spans(line: str) -> list[Range]:
    """Return the ranges of code in backticks in a line."""
    runs = list(_TICKS.finditer(line))
    # Code ends with the next run of as many backticks. They are looked for from the end of the
    # line on, since looking on from each run would take quadratic time.
    end_of: dict[int, int] = {}
    next_of_length: dict[int, int] = {}
    for index in reversed(range(len(runs))):
        length = len(runs[index][0])
        if length in next_of_length:
            end_of[index] = next_of_length[length]
        next_of_length[length] = index
    spans = []
    index = 0
    while index < len(runs):
        end = end_of.get(index)
        if end is None:  # as it stands
            index += 1
        else:
            spans.append(Range(runs[index].start(), runs[end].end()))
            index = end + 1
    return spans


def _name(tag: re.Match[str]) -> str:
    """Return the name of a tag in lower case, or `!--` for a comment."""
    if tag[0] in ("<!--", "-->"):
        return "!--"
    return (tag["name"] or "!doctype").lower()


def _is_end(tag: re.Match[str]) -> bool:
    """Tell whether a tag is an end tag, or the end of a comment."""
    return bool(tag["end"]) or tag[0] == "-->"


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
    if tag is None or not tag["name"]:
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
    last_ends: dict[str, int] = environment.get(_LAST_ENDS, {})
    line = inline.map[0] if inline.map else 0
    resolved: list[Token] = []
    for token in tokens:
        name = name_of_tag(token) if token.type == "html_inline" else ""
        if not name:
            resolved.append(token)
        elif name in _HTML_IF_ENDED and line > last_ends.get(name, -1):
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
    for token in tokens:
        is_break = token.type in _BREAKS
        follows_break = not kept or kept[-1].type in _BREAKS
        if is_break and follows_break:
            continue
        if follows_break and token.type == "text":
            token.content = token.content.lstrip()
            if not token.content:
                continue
        kept.append(token)
    while kept and kept[-1].type in _BREAKS:
        kept.pop()
    if kept and kept[-1].type == "text":
        kept[-1].content = kept[-1].content.rstrip()
    return kept

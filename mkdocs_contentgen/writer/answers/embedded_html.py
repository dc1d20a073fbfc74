"""Replace the HTML in a Markdown text by Markdown.

Lines with elements that are blocks, such as tables, are read as HTML. In other lines, each tag of
an inline element becomes its mark. Code is left alone, and so is `<` that begins no tag of HTML:
`List<Text>`, `a < b`. `<sup>` and `<sub>` stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from textwrap import indent

from markdown_it.common.html_blocks import block_names

from ...errors import UnsafeHTMLError
from ...html.elements import DROPPED
from ...language.ranges import Range
from .answers import split_lines

_MARKS = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em"), "*"),
    **dict.fromkeys(("code", "kbd", "samp"), "`"),
    **dict.fromkeys(("s", "del"), "~~"),
}
"""The Markdown for the start and the end of elements."""

_INLINE = "b i u em strong small br code img font span meta input button video audio".split()
"""Inline elements that are HTML also without an end tag."""

_WRAPPING = "content answer response".split()
"""What models put around a whole text."""

_INLINE_WITH_END = "abbr bdi bdo cite del dfn ins kbd mark q ruby s samp time var a".split()
"""Inline elements with an end tag. Without one, `<time>` is the author's word for a value."""

_BLOCKS = frozenset({*block_names, *DROPPED, "pre"})
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

_TABLE_ROW = re.compile(r"(?<!\\)\|")
"""The sign between the cells of a row of a table."""

_ITEM = re.compile(r"[-*+] |\d{1,3}[.)] ")
"""The mark of an item of a list."""

_TICKS = re.compile("`+")


@dataclass
class _Line:
    """A line of a text, and the tags in it."""

    text: str
    is_code: bool
    tags: list[re.Match[str]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names of the tags."""
        return [_name(tag) for tag in self.tags]

    @property
    def has_block(self) -> bool:
        """Whether a tag is that of a block, of a comment, or of an element such as `<script>`."""
        return not (_BLOCKS | {"!--"}).isdisjoint(self.names)


def without_html(text: str) -> str:
    """Replace HTML by its Markdown where there is one, and else by its text."""
    if "<" not in text:
        return text
    lines = _read_lines(text)
    if not any(line.tags for line in lines):
        return text
    indented_code = _find_indented_code(lines)
    result: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        if index in indented_code:
            result.append(line.text)
        elif not line.has_block or _is_row(line):
            result.append(_inline_line(line))
        else:
            end = _end_of_block(lines, index)
            result += ["", *_block_lines(lines[index:end]), ""]
            index = end
            continue
        index += 1
    return "\n".join(result)


def _find_indented_code(lines: Sequence[_Line]) -> set[int]:
    """Return the numbers of the lines that are code by their indentation, and in no list."""
    found: set[int] = set()
    is_behind_empty_line = True
    is_list = False
    for number, line in enumerate(lines):
        if not line.text.strip():
            is_behind_empty_line = True
            continue
        is_indented = line.text.startswith(("    ", "\t"))
        if is_indented and is_behind_empty_line and not is_list:
            found.add(number)
            continue
        is_behind_empty_line = False
        if not is_indented:
            is_list = _ITEM.match(line.text) is not None
    return found


def _read_lines(text: str) -> list[_Line]:
    """Return the lines, with those tags that are HTML."""
    lines: list[_Line] = []
    last_end: dict[str, int] = {}
    """The number of the last line with an end tag, by the name of the element."""

    for number, (is_code, line_text) in enumerate(split_lines(text)):
        line = _Line(line_text, is_code)
        if not is_code:
            line.tags = list(_tags_outside_code(line_text))
        for tag in line.tags:
            if _is_end(tag):
                last_end[_name(tag)] = number
        lines.append(line)
    for number, line in enumerate(lines):
        line.tags = [tag for tag in line.tags if _is_html(tag, number, last_end)]
    return lines


def _is_html(tag: re.Match[str], number: int, last_end: Mapping[str, int]) -> bool:
    """Tell whether a tag in a line is HTML: one of an element that needs an end has one."""
    name = _name(tag)
    return name not in _HTML_IF_ENDED or number <= last_end.get(name, -1)


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


def _is_row(line: _Line) -> bool:
    return _TABLE_ROW.search(line.text) is not None


def _end_of_block(lines: Sequence[_Line], first: int) -> int:
    """Return the number of the line behind a block of HTML: an empty one, if all has ended."""
    open_elements: Counter[str] = Counter()
    for number in range(first, len(lines)):
        line = lines[number]
        if not line.text.strip() and not any(open_elements.values()):
            return number
        for tag in line.tags:
            name = _name(tag)
            if name not in _TOGETHER and name != "!--":
                continue
            if _is_end(tag):
                open_elements[name] = max(0, open_elements[name] - 1)
            else:
                open_elements[name] += 1
    return len(lines)


def _block_lines(lines: Sequence[_Line]) -> list[str]:
    """Return a block of HTML as lines of Markdown."""
    names: set[str] = set()
    for line in lines:
        names.update(line.names)
    blocks = names & _BLOCKS
    only_group_text = blocks <= _PLAIN and "!--" not in names
    if only_group_text:
        return "\n".join(_inline_line(line) for line in lines).split("\n")
    from ...html.plain_markdown import to_plain_markdown  # few models write HTML

    text = "\n".join(_escape_stray_signs(line) for line in lines)
    with suppress(UnsafeHTMLError):  # then the HTML stays as it is
        text = to_plain_markdown(text).strip("\n")
    first_line = lines[0].text
    indentation = first_line.removesuffix(first_line.lstrip())
    return indent(text, indentation).split("\n")


def _escape_stray_signs(line: _Line) -> str:
    """Return a line of HTML, in which `<` that begins no tag is text."""
    parts: list[str] = []
    done = 0
    for tag in line.tags:
        parts += [line.text[done : tag.start()].replace("<", "&lt;"), tag[0]]
        done = tag.end()
    return "".join([*parts, line.text[done:].replace("<", "&lt;")])


def _inline_line(line: _Line) -> str:
    """Return a line with Markdown for its tags."""
    is_row = _is_row(line)  # once for the line, which may have thousands of tags
    end_of_text = len(line.text.rstrip())
    parts: list[str] = []
    done = 0
    for tag in line.tags:
        mark = _mark(tag, is_row=is_row, is_last=tag.end() >= end_of_text)
        parts += [line.text[done : tag.start()], mark]
        done = tag.end()
    return "".join([*parts, line.text[done:]])


def _mark(tag: re.Match[str], *, is_row: bool, is_last: bool) -> str:
    """Return what stands for a tag in Markdown.

    `is_row` says whether its line is a row of a table, `is_last` whether nothing follows in it.
    """
    name = _name(tag)
    if is_row and (name == "br" or name in _BLOCKS):
        return " "
    if name == "br":
        return "  " if is_last else "  \n"
    if name in _BLOCKS:
        return "\n\n"
    return _MARKS.get(name, "")

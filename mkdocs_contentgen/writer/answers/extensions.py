"""Write what only some sites can show in Markdown that every site shows.

Footnotes, definition lists, ids of headings, tabs, and boxes such as `> [!NOTE]`, `!!! note` and
`/// note` lose their marks, and keep their words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent

from .answers import each_line, split_lines

_FOOTNOTE = re.compile(r"[ \t]*\[\^[^\]\s]{1,40}\]:[ \t]*")
"""The start of a footnote: `[^1]: A measurement.`."""

_FOOTNOTE_MARK = re.compile(r"[ \t]?\[\^[^\]\s]{1,40}\](?!\()")
"""The mark of a footnote in a text."""

_BOX = re.compile(r"[ \t]*>[ \t]?\[!(?P<name>\w{1,20})\][-+]?[ \t]*(?P<title>[^\n]*)")
"""The first line of a box: `> [!NOTE]`."""

_INDENTED_BOX = re.compile(
    r"(?P<mark>!!!|\?\?\?\+?|===[!+]?)(?P<kind>(?:[ \t]+[\w-]+){0,9})"
    r"(?P<title>[ \t]+\"[^\"\n]{0,200}\")?[ \t]*"
)
"""The first line of a box or a tab whose content is indented: `!!! note "Title"`, `=== "Linux"`."""

_FENCED_BOX = re.compile(
    r"(?P<mark>/{3,9})[ \t]*(?P<kind>[\w-]{1,40})[ \t]*(?:\|[ \t]*(?P<title>[^\n]{0,200}))?"
)
"""The first line of a box up to a line with the same slashes: `/// note | Title`."""

_MAX_NESTED = 5
"""How deep boxes stand in others; deeper ones keep their marks."""

_HEADING_ID = re.compile(r"(#{1,6}[ \t][^\n]*?\S)[ \t]*\{:?[ \t]*[#.][^{}\n]{0,200}\}[ \t]*")
"""A heading, as group 1, with its ids and classes behind it."""

_QUOTED = re.compile(r"[ \t]*>[ \t]?")
"""The mark of a line of a quotation."""

_TERM = re.compile(r"(?:\*\*)?(?P<term>\w[^\n*]{0,60}[\w)])(?:\*\*)?")
"""A line that is a term, if its definition stands below it."""

_DEFINITION = re.compile(r":[ \t]+(?=\S)")
"""The mark of a definition: `:   what it means`."""

_CODE = re.compile(r"(`+[^`]*`+)")
"""Code in backticks."""


@dataclass(frozen=True)
class _Box:
    """A box or a tab in the lines of a text."""

    start: re.Match[str]
    """Its first line."""

    end: int
    """The number of the line behind its content."""

    following: int
    """The number of the line behind the box, which can have a closing line behind its content."""


def without_footnotes(text: str) -> str:
    """Take out the marks of footnotes. Each footnote becomes a paragraph."""
    if "[^" in text:
        return each_line(text, _without_footnote)
    return text


def _without_footnote(line: str) -> str:
    footnote = _FOOTNOTE.match(line)
    if footnote:
        return line[footnote.end() :]
    parts = _CODE.split(line)
    # Between the spans of code, which are every second part.
    for index in range(0, len(parts), 2):
        parts[index] = _FOOTNOTE_MARK.sub("", parts[index])
    return "".join(parts)


def without_github_boxes(text: str) -> str:
    """Make `> [!NOTE]` the label of its quotation: `> **Note:** Keep the cache.`."""
    if "[!" not in text:
        return text
    lines: list[str] = []
    label = ""
    for is_code, line in split_lines(text):
        box = None if is_code else _BOX.fullmatch(line)
        if box:
            label = f"**{box['title'].strip() or box['name'].capitalize()}:** "
        elif label:
            quoted = _QUOTED.match(line)
            if quoted:
                lines.append(f"> {label}{line[quoted.end() :]}")
            else:
                lines += [f"> {label}", line]
            label = ""
        else:
            lines.append(line)
    if label:
        lines.append(f"> {label}")
    return "\n".join(lines)


def without_site_boxes(text: str, depth: int = _MAX_NESTED) -> str:
    """Make quotations of the boxes of MkDocs, each below its label, and paragraphs of tabs."""
    if depth == 0 or not any(mark in text for mark in ("!!!", "???", "===", "///")):
        return text
    lines = text.split("\n")
    is_code = [code for code, _ in split_lines(text)]
    last_end: dict[str, int] = {}
    for number, line in enumerate(lines):
        if line.startswith("///"):
            last_end[line.rstrip()] = number
    result: list[str] = []
    number = 0
    while number < len(lines):
        box = None if is_code[number] else _box_at(lines, number, last_end)
        if box is None:
            result.append(lines[number])
            number += 1
            continue
        content = dedent("\n".join(lines[number + 1 : box.end])).strip("\n")
        inner = without_site_boxes(content, depth - 1).strip("\n")
        result += ["", *_in_quotation(box.start, inner), ""]
        number = box.following
    return "\n".join(result)


def _box_at(lines: Sequence[str], number: int, last_end: Mapping[str, int]) -> _Box | None:
    """Return the box that begins in a line, or None if none does.

    `last_end` has the number of the last line that consists of slashes, by these.
    """
    line = lines[number]
    start = _INDENTED_BOX.fullmatch(line) or _FENCED_BOX.fullmatch(line)
    if start is None:
        return None
    mark = start["mark"]
    first = number + 1
    if not mark.startswith("/"):
        end = _end_of_indented(lines, first)
        has_content = any(line.strip() for line in lines[first:end])
        return _Box(start, end, following=end) if has_content else None
    if last_end.get(mark, -1) < first:
        return None  # it has no end, and so is none
    end = first
    while lines[end].rstrip() != mark:
        end += 1
    return _Box(start, end, following=end + 1)


def _end_of_indented(lines: Sequence[str], first: int) -> int:
    """Return the number of the line behind those that are indented or empty, from `first` on."""
    for number in range(first, len(lines)):
        line = lines[number]
        if line.strip() and not line.startswith(("    ", "\t")):
            return number
    return len(lines)


def _in_quotation(start: re.Match[str], content: str) -> list[str]:
    """Return the lines of a box or a tab without its mark."""
    lines = content.split("\n")
    label = _label_of(start)
    if label:
        lines = [f"**{label}**", "", *lines]
    if start["mark"].startswith("="):
        return lines
    return [f"> {line}".rstrip() for line in lines]


def _label_of(start: re.Match[str]) -> str:
    """Return the title of a box, or else its kind; empty for a box that has neither."""
    title = start["title"]
    if title is not None:
        return str(title).strip().strip('"').strip()
    kinds: list[str] = start["kind"].split()
    if not kinds:
        return ""
    return kinds[0].capitalize()


def without_heading_ids(text: str) -> str:
    """Take out the ids and classes behind headings: `## Why { #why }`."""
    if "{" in text:
        return each_line(text, lambda line: _HEADING_ID.sub(r"\1", line))
    return text


def without_definitions(text: str) -> str:
    """Make the term above a definition its label: `**Cache:** what is kept`."""
    if ": " not in text and ":\t" not in text:
        return text
    lines: list[str] = []
    for is_code, line in split_lines(text):
        definition = None if is_code else _DEFINITION.match(line)
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

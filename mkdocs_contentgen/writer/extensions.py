"""Write what only some sites can show in Markdown that every site shows.

Footnotes, definition lists and boxes such as `> [!NOTE]` lose their marks, and keep their words.
"""

from __future__ import annotations

import re

from .answers import each_line, split_lines

_FOOTNOTE = re.compile(r"[ \t]*\[\^[^\]\s]{1,40}\]:[ \t]*")
"""The start of a footnote: `[^1]: A measurement.`."""

_FOOTNOTE_MARK = re.compile(r"[ \t]?\[\^[^\]\s]{1,40}\](?!\()")
"""The mark of a footnote in a text."""

_BOX = re.compile(r"[ \t]*>[ \t]?\[!(?P<name>\w{1,20})\][-+]?[ \t]*(?P<title>[^\n]*)")
"""The first line of a box: `> [!NOTE]`."""

_QUOTED = re.compile(r"[ \t]*>[ \t]?")
_TERM = re.compile(r"(?:\*\*)?(?P<term>\w[^\n*]{0,60}[\w)])(?:\*\*)?")
"""A line that is a term, if its definition stands below it."""

_DEFINITION = re.compile(r":[ \t]+(?=\S)")
"""The mark of a definition: `:   what it means`."""

_CODE = re.compile(r"(`+[^`]*`+)")


def without_footnotes(text: str) -> str:
    """Take out the marks of footnotes. Each footnote becomes a paragraph."""
    return each_line(text, _without_footnote) if "[^" in text else text


def _without_footnote(line: str) -> str:
    footnote = _FOOTNOTE.match(line)
    if footnote:
        return line[footnote.end() :]
    parts = _CODE.split(line)
    # Between the spans of code, which are every second part.
    for index in range(0, len(parts), 2):
        parts[index] = _FOOTNOTE_MARK.sub("", parts[index])
    return "".join(parts)


def without_boxes(text: str) -> str:
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

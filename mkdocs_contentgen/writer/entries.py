"""Read the answer to an update: the blocks that it names, each with its new text and the reason.

Models keep to the form that they are asked for in many ways; what they think aloud before, and what
they say after, is no part of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from .answers import without_fence_lines
from .embedded_html import without_html
from .talk import without_closing

Action = Literal["change", "insert", "remove", "nothing"]

_Place = tuple[str, int, str]
"""What an entry is about: the kind, the number of the block, and the text that is new behind it."""

_KIND = r"(?:\s?\([a-z0-9]{1,10}(?:, a person['’]s)?\))?"
"""What a model repeats of how a block is shown to it, such as `(code)`."""

_START = r"^[^\w\n]{0,9}"
"""The start of a line, with the marks of a list, a heading or bold text."""

_BLOCK_LINE = (
    _START
    + r"(?:\d\. )?(?:(?:CHANGE|NEW) )?"
    + r"(?P<action>BLOCK|AFTER(?: BLOCK)?|REMOVE BLOCK|PARAGRAPH)"
    + r"[\s_#\[]{0,3}(?P<number>\d{1,5})[\]*]{0,3}"
    + _KIND
    + r"[\]*]{0,3}\s?(?:[:：=]|->|[–—-] |(?=\n|\Z))[ \t*]{0,9}(?P<text>.*)$"
)
"""A line that names a block, such as `BLOCK 2: The new text.`"""

_REASON_LINE = (
    _START
    + r"(?:WHY|REASON|GRUND|RAISON|MOTIVO|理由)[\]*]{0,3}\s?[:：=–—-][\s*]{0,9}(?P<reason>.*)$"
)
"""A line that says why a block changes, such as `WHY: The limit is 20 now.`"""

_NOTHING_LINE = (
    _START
    + r"(?:(?:final )?answer\W{1,4})?"
    + r"(?P<nothing>NOTHING|NONE|NICHTS"
    + r"|no (?:blocks?|changes?)(?= (?:has|have|is|are|needs?|needed|required)\b))\b"
    + r"(?P<because>.*)$"
)
"""A line that says that no block changes, such as `NOTHING: The text is right.`"""

_LINE = re.compile(f"{_BLOCK_LINE}|{_REASON_LINE}|{_NOTHING_LINE}", re.MULTILINE | re.IGNORECASE)
"""A line that begins a part of an answer."""

_INLINE_REASON = re.compile(r"\s(?:WHY|REASON)\s?:\s")
"""The start of a reason that stands on the line of the new text."""

_PREFIX = re.compile(
    rf"(?:.*\bnew(?: text)?\s?[:：]|BLOCK \d{{1,5}}:|{_KIND}(?=\s))\s*", re.IGNORECASE
)
"""What a model repeats before the new text of a block."""

_REMOVE = re.compile(r"[\W_]{0,4}REMOVED?\b(?: this block)?[\W_]{0,4}", re.IGNORECASE)
"""In place of a new text: the block goes."""

_COMMENT = re.compile(
    r"\W{0,3}(?:\(?unchanged|no change|not affected|nothing|(?:still|is) (?:right|true|correct)"
    r"|fine\W|ok\b|the whole new text of)",
    re.IGNORECASE,
)
"""What a model says of a block that stays as it is."""


@dataclass(frozen=True)
class Entry:
    """What an answer says of a block."""

    action: Action
    number: int = 0
    text: str = ""
    reason: str = ""


def read_entries(answer: str, *, is_cut: bool = False) -> list[Entry]:
    """Return what an answer says of blocks.

    Of several entries for a block, the last one counts, since a model may think aloud first. If the
    answer was cut off, a last entry without a reason may not be whole, and is left out.
    """
    answer = without_fence_lines(answer)
    lines = list(_LINE.finditer(answer))
    entry_lines = _entry_lines(lines)
    entries: dict[_Place, Entry] = {}
    for line, next_line in zip_longest(lines, lines[1:]):
        if line not in entry_lines:
            continue
        is_whole = next_line is not None or not is_cut
        entry: Entry | None = None
        if line["nothing"]:
            entry = _read_nothing(line)
        elif is_whole:
            entry = _read_block(answer, line, next_line)
        if entry:
            entries[_place_of(entry)] = entry
    return list(entries.values())


def _place_of(entry: Entry) -> _Place:
    """Return what an entry is about. A later one about the same takes its place.

    A block can change or go once, but several new ones can follow it. There is one reason why
    nothing changes.
    """
    match entry.action:
        case "nothing":
            return "nothing", 0, ""
        case "insert":
            return "insert", entry.number, entry.text
    return "block", entry.number, ""


def _entry_lines(lines: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Return those of the lines that begin an entry. Those with a reason alone do not."""
    found = []
    in_capitals = []
    for line in lines:
        keyword = line["action"] or line["nothing"]
        if keyword:
            found.append(line)
            if keyword.isupper():
                in_capitals.append(line)
    # Thoughts say `Block 2: …` where the answer says `BLOCK 2: …`.
    return in_capitals or found


def _read_nothing(line: re.Match[str]) -> Entry:
    """Return the entry of a line that says that nothing changes, with its reason."""
    is_sentence = re.match(r" \w", line["because"])  # such as `No block needs a change`
    if is_sentence:
        reason = line[0]
    else:
        reason = line["because"]
    return Entry("nothing", reason=reason.strip(" .,:*–—-\n"))


def _read_block(answer: str, line: re.Match[str], next_line: re.Match[str] | None) -> Entry | None:
    """Return the entry of a line that names a block, or None if the block stays as it is."""
    text, reason = _text_and_reason(answer, line, next_line)
    name = line["action"].upper()
    number = int(line["number"])
    is_new = name.startswith("AFTER")
    says_remove = not is_new and _REMOVE.fullmatch(text)
    if name.startswith("REMOVE") or says_remove:
        return Entry("remove", number, reason=reason)
    if _COMMENT.match(text):
        return None
    repeated = _PREFIX.match(text)
    if repeated:
        text = text[repeated.end() :]
    action: Action = "change"
    if is_new:
        action = "insert"
    return Entry(action, number, without_html(text).strip(), reason)


def _text_and_reason(
    answer: str, line: re.Match[str], next_line: re.Match[str] | None
) -> tuple[str, str]:
    """Return the new text that begins in a line, up to the next one, and the reason.

    The reason is in the next line, or behind the text. Both are on one line.
    """
    end = len(answer)
    reason = ""
    if next_line is not None:
        end = next_line.start()
        reason = next_line["reason"] or ""
    text = without_closing(answer[line.start("text") : end])
    text = " ".join(text.split())
    inline_reason = _INLINE_REASON.search(text)
    if inline_reason:
        reason = text[inline_reason.end() :]
        text = text[: inline_reason.start()]
    return text, reason

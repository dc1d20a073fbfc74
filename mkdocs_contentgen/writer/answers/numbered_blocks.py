"""Read the numbered blocks in an answer: translations, or the blocks that have to change.

A model is asked for a line such as `[7] The new words.` for each block. Models keep to that in many
ways: they say `**Block 7:**`, or give JSON. What they think aloud before, and what they say after,
is not part of the answer. Forms are tried from the most to the least certain, and the first that
matches is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from ...html.elements import TEXT_BLOCKS
from ...language.languages import any_of
from .answers import without_fence_lines
from .talk import without_closing

Action = Literal["change", "insert", "remove", "nothing"]

_ASKED = (
    r"^[ \t]{0,9}(?:[-*+>•] |#{1,6} |\d{1,3}\. )?(?:\*\*)?"
    r"\\?\[(?P<is_new>\+?)(?P<asked>\d{1,5})\\?\](?!\()(?:\*\*)?[:：.]?(?:\*\*)?[ \t]*"
)
"""The start of a block as it is asked for: `[7] `, or `[+7] ` for a new one after block 7."""

_KIND = r"(?:\s?\([a-z0-9]{1,10}(?:, a person['’]s)?\))?"
"""What a model repeats of how a block is shown to it, such as `(code)`."""

_NAMED = (
    r"^[^\w\n]{0,9}(?:\d\. )?(?:(?:CHANGE|NEW) )?"
    r"(?P<name>BLOCK|AFTER(?: BLOCK)?|REMOVE BLOCK|PARAGRAPH|BLOK|BLOC|BLOQUE|BLOCO|BLOCCO)"
    r"[\s_#\[]{0,3}(?P<named>\d{1,5})[\]*]{0,3}"
    + _KIND
    + r"[\]*]{0,3}\s?(?:[:：=]|[.)|](?=\s)|->|[–—-] |(?=\n|\Z))(?:\*\*)?[ \t]*"
)
"""The start of a block with a word, such as `BLOCK 7: ` or `**After block 7** - `."""

_START = re.compile(rf"{_ASKED}|{_NAMED}", re.MULTILINE)
"""The start of a block. Thoughts say `Block 7: …` where the answer says `BLOCK 7: …`."""

_START_IN_ANY_CASE = re.compile(_START.pattern, re.MULTILINE | re.IGNORECASE)

_NUMBER_ALONE = re.compile(
    r"^[ \t]{0,9}(?:[-*+>•] |#{1,6} )?(?:\*\*)?(?P<alone>\d{1,5})(?:\*\*)?"
    r"\s?[:.)|=](?:\*\*)?[ \t]+",
    re.MULTILINE,
)
"""The start of a block with only its number: `7: `, `7. `. Other lists have such numbers, too."""

_REASON = re.compile(
    r"^[^\w\n]{0,9}(?:WHY|REASON|GRUND|RAISON|MOTIVO|理由)[\]*]{0,3}\s?[:：=–—-][\s*]{0,9}"
    r"(?P<reason>.*)$",
    re.MULTILINE | re.IGNORECASE,
)
"""A line that says why a block changes, such as `WHY: The limit is 20 now.`"""

_NOTHING = re.compile(
    r"^[^\w\n]{0,9}(?:(?:final )?answer\W{1,4})?"
    r"(?P<nothing>NOTHING|NONE|NICHTS"
    r"|no (?:blocks?|changes?)(?= (?:has|have|is|are|needs?|needed|required)\b))\b"
    r"(?P<because>.*)$",
    re.MULTILINE | re.IGNORECASE,
)
"""A line that says that no block changes, such as `NOTHING: The text is right.`"""

_INLINE_REASON = re.compile(r"\s(?:WHY|REASON)\s?:\s")
"""The start of a reason that stands on the line of the new text."""

_PREFIX = re.compile(
    r"(?:.*\bnew(?: text)?\s?[:：]|BLOCK \d{1,5}:"
    rf"|\((?:{'|'.join(sorted(TEXT_BLOCKS))})(?:, a person['’]s)?\):?(?=\s))\s*",
    re.IGNORECASE,
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

_ELEMENT = re.compile(
    r"^[ \t]*<(?P<name>p|li|div|h[1-6]|td|th)>(?P<words>.*)</(?P=name)>[ \t]*$", re.MULTILINE
)
"""A line that is in an element of HTML."""

_SOURCES = re.compile(
    rf"\n(?=[ \t]*[#*_]|[^\n]*[:：]\n)[^\w\n]{{0,9}}{any_of('references')}[^\w\n]{{0,9}}\n"
    r"(?:[ \t]*(?:[-*+]|\[?\^?\d{1,3}[\].):]{0,2})\s[^\n]*\n|[ \t]*(?:https?://\S+)?\n){0,200}\Z",
    re.IGNORECASE,
)
"""A list of sources at the end of an answer, whose lines begin like blocks."""

_EMPTY_LINE = re.compile(r"\n[ \t]*\n")

_NUMBER_IN_JSON = re.compile(r"\[?(\d{1,5})\]?")
_NUMBER_FIELDS = ("number", "block", "id", "index", "n")
_TEXT_FIELDS = ("text", "new_text", "translation", "translated", "content")
_REASON_FIELDS = ("why", "reason")
"""The names of the fields that a block has in JSON."""


@dataclass(frozen=True)
class Entry:
    """What an answer says of a block."""

    action: Action
    number: int = 0
    text: str = ""
    reason: str = ""


def read_texts(answer: str, *, is_cut: bool = False) -> list[Entry]:
    """Return the blocks in an answer that has a text for each block, such as a translation.

    All of them are a `change`. If the answer was cut off, the last block may not be whole, and is
    left out.
    """
    answer = _without_wrappers(answer)
    entries = list(_entries_of_json(answer))
    if not entries:
        starts = _find_starts(answer) or list(_NUMBER_ALONE.finditer(answer))
        entries = _read_entries(answer, starts, [], is_cut=is_cut)
    return [entry for entry in entries if entry.action == "change"]


def read_changes(answer: str, *, is_cut: bool = False) -> list[Entry]:
    """Return the blocks that an answer changes, adds or removes, and why it changes nothing.

    If the answer was cut off, a last block without a reason may not be whole, and is left out.
    """
    answer = _SOURCES.sub("", f"{_without_wrappers(answer)}\n").rstrip("\n")
    nothing = list(_NOTHING.finditer(answer))
    in_capitals = [line for line in nothing if line["nothing"].isupper()]
    entries = list(_entries_of_json(answer))
    if not entries:
        starts = _find_starts(answer, in_any_case=not in_capitals)
        other_lines = [*_REASON.finditer(answer), *nothing]
        entries = _read_entries(answer, starts, other_lines, is_cut=is_cut)
    changes = []
    for entry in entries:
        change = _change_of(entry)
        if change:
            changes.append(change)
    return [*changes, *map(_entry_of_nothing, in_capitals or nothing)]


def has_block_start(text: str) -> bool:
    """Tell whether another block begins within the text of a block."""
    return re.search(r"(?<!\\)\[\d{1,5}\](?!\()", text) is not None


def last_block(answer: str) -> tuple[int, str]:
    """Return how many blocks an unfinished answer has begun, and the text of the last one."""
    starts = list(_START.finditer(answer))
    begin = starts[-1].end() if starts else 0
    return len(starts), answer[begin:]


def _without_wrappers(answer: str) -> str:
    """Drop the fences around an answer, and the elements that whole lines are in."""
    return _without_elements(without_fence_lines(answer)).strip("\n")


def _without_elements(text: str) -> str:
    return _ELEMENT.sub(r"\g<words>", text)


def _find_starts(answer: str, *, in_any_case: bool = True) -> list[re.Match[str]]:
    """Return where blocks begin. Small letters count only if none begins in capitals."""
    starts = list(_START.finditer(answer))
    if in_any_case and not starts:
        starts = list(_START_IN_ANY_CASE.finditer(answer))
    return starts


def _read_entries(
    answer: str,
    starts: Sequence[re.Match[str]],
    other_lines: Sequence[re.Match[str]],
    *,
    is_cut: bool,
) -> list[Entry]:
    """Return the blocks that begin at `starts`. Each ends before the next of these or other lines.

    The text of a block ends with its line: what stands apart from it is chat. But if a reason
    follows, all before that is the text.
    """
    in_order = sorted([*starts, *other_lines], key=lambda line: line.start())
    entries = []
    for line, following in zip_longest(in_order, in_order[1:]):
        named = line.groupdict()
        number = named.get("asked") or named.get("named") or named.get("alone")
        is_whole = following is not None or not is_cut
        if number is None or not is_whole:
            continue
        end = following.start() if following else len(answer)
        text = answer[line.end() : end].strip()
        reason = following.groupdict().get("reason") if following else None
        if reason is None:
            text = _EMPTY_LINE.split(text, maxsplit=1)[0]
        if following is None:
            text = without_closing(text)
        # Bold that begins before the number, and does not end after it, ends after the text.
        if line[0].count("**") == 1:
            text = text.removesuffix("**")
        text = _without_elements(_in_one_line(text)).strip()
        entries.append(Entry(_action_of(named), int(number), text, reason or ""))
    return entries


def _action_of(named: Mapping[str, str | None]) -> Action:
    """Return what the start of a block says of it."""
    name = (named.get("name") or "").upper()
    if named.get("is_new") or name.startswith("AFTER"):
        return "insert"
    if name.startswith("REMOVE"):
        return "remove"
    return "change"


def _change_of(entry: Entry) -> Entry | None:
    """Return a block as an update has it, or None if it stays as it is."""
    text, inline_reason = _split_reason(entry.text)
    reason = inline_reason or entry.reason
    is_removed = entry.action == "change" and _REMOVE.fullmatch(_without_prefix(text))
    if entry.action == "remove" or is_removed:
        return Entry("remove", entry.number, reason=reason)
    if _COMMENT.match(text):
        return None
    new_text = _without_prefix(text).strip()
    return Entry(entry.action, entry.number, new_text, reason)


def _split_reason(text: str) -> tuple[str, str]:
    """Return a text and the reason on the same line, or an empty string."""
    reason = _INLINE_REASON.search(text)
    if reason is None:
        return text, ""
    return text[: reason.start()], text[reason.end() :]


def _without_prefix(text: str) -> str:
    repeated = _PREFIX.match(text)
    return text[repeated.end() :] if repeated else text


def _entry_of_nothing(line: re.Match[str]) -> Entry:
    """Return the entry of a line that says that nothing changes, with its reason."""
    is_sentence = re.match(r" \w", line["because"])  # such as `No block needs a change`
    reason = line[0] if is_sentence else line["because"]
    return Entry("nothing", reason=reason.strip(" .,:*–—-\n"))


def _entries_of_json(answer: str) -> Iterator[Entry]:
    """Yield the blocks of an answer in JSON: an object by numbers, or a list of objects."""
    if not answer.lstrip().startswith(("{", "[{")):
        return
    value: object = None
    with suppress(ValueError, RecursionError):
        value = json.loads(answer)
    value = _without_envelope(value)
    if isinstance(value, dict):
        for number, text in value.items():
            named = _NUMBER_IN_JSON.fullmatch(number)
            if named and isinstance(text, str):
                yield Entry("change", int(named[1]), _in_one_line(text))
    elif isinstance(value, list):
        for item in value:
            entry = _entry_of_object(item)
            if entry:
                yield entry


def _without_envelope(value: object) -> object:
    """Return what is within an object with a single field, such as `{"translations": [...]}`."""
    if isinstance(value, dict) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, list | dict):
            return only
    return value


def _entry_of_object(item: object) -> Entry | None:
    """Return the block in an object, or None if it lacks a number or a text."""
    if not isinstance(item, dict):
        return None
    numbers = [item[name] for name in _NUMBER_FIELDS if isinstance(item.get(name), int)]
    texts = [item[name] for name in _TEXT_FIELDS if isinstance(item.get(name), str)]
    reasons = [item[name] for name in _REASON_FIELDS if isinstance(item.get(name), str)]
    if not numbers or not texts:
        return None
    return Entry("change", numbers[0], _in_one_line(texts[0]), "".join(reasons[:1]))


def _in_one_line(text: str) -> str:
    return " ".join(filter(None, map(str.strip, text.split("\n"))))

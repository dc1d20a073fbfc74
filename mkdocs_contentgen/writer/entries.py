"""Read the answer to an update: the blocks that it names, each with its new text and the reason.

Models keep to the form that they are asked for in many ways; what they think aloud before, and what
they say after, is no part of the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from .embedded_html import without_html
from .talk import without_closing

Action = Literal["change", "insert", "remove", "nothing"]

_KIND = r"(?:\s?\([a-z0-9]{1,10}(?:, a person['’]s)?\))?"
_LINE = re.compile(
    r"^[^\w\n]{0,9}(?:\d\. )?(?:(?:CHANGE|NEW) )?(?P<action>BLOCK|AFTER(?: BLOCK)?|REMOVE BLOCK"
    rf"|PARAGRAPH)[\s_#\[]{{0,3}}(?P<number>\d{{1,5}})[\]*]{{0,3}}{_KIND}"
    r"[\]*]{0,3}\s?(?:[:：=]|->|[–—-] |(?=\n|\Z))[ \t*]{0,9}(?P<text>.*)$"
    r"|^[^\w\n]{0,9}(?:WHY|REASON|GRUND|RAISON|MOTIVO|理由)[\]*]{0,3}\s?[:：=–—-][\s*]{0,9}"
    r"(?P<reason>.*)$"
    r"|^[^\w\n]{0,9}(?:(?:final )?answer\W{1,4})?(?P<nothing>NOTHING|NONE|NICHTS"
    r"|no (?:blocks?|changes?)(?= (?:has|have|is|are|needs?|needed|required)\b))\b"
    r"(?P<because>.*)$",
    re.MULTILINE | re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)\w{0,20}[ \t]*$", re.MULTILINE)
_INLINE_REASON = re.compile(r"\s(?:WHY|REASON)\s?:\s")
_PREFIX = re.compile(
    rf"(?:.*\bnew(?: text)?\s?[:：]|BLOCK \d{{1,5}}:|{_KIND}(?=\s))\s*", re.IGNORECASE
)
_REMOVE = re.compile(r"[\W_]{0,4}REMOVED?\b(?: this block)?[\W_]{0,4}", re.IGNORECASE)
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
    """Return what an answer says of blocks: of each the last, since thoughts come first.

    Of an answer that was cut off, what has no reason behind it may not be whole.
    """
    answer = _FENCE.sub("", answer)
    found = list(_LINE.finditer(answer))
    # Thoughts say `Block 2: …` where the answer says `BLOCK 2: …`.
    strict = [it for it in found if (it["action"] or it["nothing"] or "").isupper()]
    counted = strict or [it for it in found if it["action"] or it["nothing"]]
    entries: dict[object, Entry] = {}
    for match, following in zip(found, [*found[1:], None], strict=False):
        if match not in counted or (is_cut and following is None and not match["nothing"]):
            continue
        if match["nothing"]:
            is_sentence = re.match(r" \w", match["because"])
            reason = match[0] if is_sentence else match["because"]
            entries["nothing"] = Entry("nothing", reason=reason.strip(" .,:*–—-\n"))
            continue
        until = following.start() if following else len(answer)
        reason = following["reason"] or "" if following else ""
        entry = _entry(match, answer[match.start("text") : until], reason)
        if entry:
            key = (entry.number, entry.text) if entry.action == "insert" else entry.number
            entries[key] = entry
    return list(entries.values())


def _entry(match: re.Match[str], text: str, reason: str) -> Entry | None:
    """Return the entry that begins with a line, or None if its block stays as it is."""
    name, number = (match["action"] or "").upper(), int(match["number"])
    text = without_closing(text)
    text, *inline = _INLINE_REASON.split(" ".join(text.split()), maxsplit=1)
    reason = inline[0] if inline else reason
    is_new = name.startswith("AFTER")
    if name.startswith("REMOVE") or (_REMOVE.fullmatch(text) and not is_new):
        return Entry("remove", number, reason=reason)
    if _COMMENT.match(text):
        return None
    if prefix := _PREFIX.match(text):
        text = text[prefix.end() :]
    return Entry("insert" if is_new else "change", number, without_html(text).strip(), reason)

"""Take the text out of the answer of a model: what holds it, and the talk before and after it.

This is done before the text is parsed. What is changed in the text itself is in `transforms`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from textwrap import dedent

from ...language.sentences import rough_end
from ...language.words import split_words
from ...remark import Remark
from .answers import Step, apply_steps
from .containers import text_in_json, without_fence, without_front_matter
from .talk import without_closing, without_opening

MAX_TEXT = 120_000
"""The maximum length of a text in characters: 12 for each word of the largest target."""

_FENCE_LINE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
"""The first or last line of a code block."""

_WHOLE = re.compile(rf"{rough_end()}|\n(?=\n)")
"""The end of a sentence, or of a paragraph."""


_HEADING = re.compile(r"#|(\*\*|__)[^\n*_]{1,100}\1:?\Z")
"""The start of a heading, or a line in bold that is one."""


def trim(text: str) -> str:
    """Return a text that was cut somewhere, up to the end of its last whole sentence.

    A heading without a text is left out.
    """
    last = max((match.end() for match in _WHOLE.finditer(f"{text}\n")), default=0)
    paragraphs = text[:last].rstrip().split("\n\n")
    while paragraphs and _HEADING.match(paragraphs[-1]):
        paragraphs.pop()
    return "\n\n".join(paragraphs)


def whole_paragraphs(text: str) -> str:
    """Return a text that was cut somewhere, up to the last paragraph that is certainly whole.

    It is empty without a paragraph below the headings.
    """
    paragraphs = text.split("\n\n")[:-1]
    while _ends_in_code("\n\n".join(paragraphs)):
        paragraphs.pop()
    has_words = any(not paragraph.startswith("#") for paragraph in paragraphs)
    return "\n\n".join(paragraphs) if has_words else ""


def _ends_in_code(text: str) -> bool:
    """Tell whether a text ends within a code block: it has the first fence, and not the last."""
    return len(_FENCE_LINE.findall(text)) % 2 == 1


def join_texts(start: str, rest: str) -> str:
    """Append the continuation of a text, without paragraphs that the text already has."""
    known = set()
    for paragraph in start.split("\n\n"):
        known.add(tuple(split_words(paragraph)))
    paragraphs = [start]
    for paragraph in rest.split("\n\n"):
        if tuple(split_words(paragraph)) not in known:
            paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


_CONTAINERS: Sequence[Step] = (
    ("repaired_fence", without_fence),
    ("repaired_fence", without_fence),  # one in the other
    (None, partial(re.compile("^[ \t]+$", re.MULTILINE).sub, "")),  # first, without a remark
    ("repaired_spaces", dedent),
    ("repaired_json", text_in_json),
    ("repaired_front_matter", without_front_matter),
)
"""What takes the text out of what holds it."""

_TALK: Sequence[Step] = (
    ("repaired_opening", without_opening),
    ("repaired_closing", without_closing),
)
"""What takes out the words of a model to the person who asked."""


def mend_answer(answer: str, *, has_talk: bool = True) -> tuple[str, list[Remark]]:
    """Return the text in an answer, and a remark for each kind of change.

    `has_talk` says whether words around the text can be talk. A text that is too long for any
    target is cut just above the limit.
    """
    talk = _TALK if has_talk else ()
    text, remarks = apply_steps([*_CONTAINERS, *talk], answer[: MAX_TEXT + 1])
    return text.strip(), remarks

"""Mend the answer of a model, so that it is a text in Markdown and nothing else.

Each step is a function from a text to a text. What a step changes is a remark for the reviewer.
Code is never changed, except for a fence around the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from textwrap import dedent

from ...language.languages import any_of
from ...language.sentences import rough_end
from ...language.words import split_words
from ...remark import Remark
from .answers import Step, apply_steps, each_line, split_lines
from .containers import HEADING, text_in_json, without_fence, without_front_matter
from .embedded_html import without_html
from .extensions import (
    without_definitions,
    without_footnotes,
    without_github_boxes,
    without_heading_ids,
    without_site_boxes,
)
from .markdown import MAX_TEXT, TIP
from .talk import with_title, without_closing, without_opening, without_preface

_FENCE_LINE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
"""The first or last line of a code block."""

_MARKS = (
    (re.compile("^([ \t]*)(?:[•‣▪●◦–—]|[-*](?=[\u00a0\u2003\t]))[ \u00a0\u2003\t]+"), r"\1- "),
    (re.compile("^(#+ )(\\d)\ufe0f?\u20e3\\s?"), r"\1\2. "),
)
"""What is nearly the mark of an item or its number, with the Markdown for it."""

_NEARLY_HEADING = re.compile(r"^(#{1,6})(?:\u00a0|(?=[^\s#]))")
"""The mark of a heading without its space."""

_NEARLY_SECTION = re.compile(r"^##+(?:\u00a0|[^\s#])", re.MULTILINE)
"""The start of such a heading of a section. A line that begins with one `#` can be hashtags."""

_SECTION = re.compile("##+ ")
"""The start of a heading of a section."""

_BOLD_LINE = re.compile(r"(\*\*|__)(?P<text>[^*_\n]{0,99}[^*_\n.!,:]):?\1:?")
"""A line that is all in bold, and no sentence."""

_REFERENCES = re.compile(
    rf"\n(?=[ \t]*[#*_]|[^\n]*[:：]\n)[^\w\n]{{0,9}}{any_of('references')}[^\w\n]{{0,9}}\n"
    r"(?:[ \t]*(?:[-*+]|\[?\^?\d{1,3}[\].):]{0,2})\s[^\n]*\n|[ \t]*(?:https?://\S+)?\n){0,200}\Z",
    re.IGNORECASE,
)
"""A list of references at the end of a text, with its heading."""

_IMAGE_LINE = re.compile(
    rf"(?![ \t]*[-+*] )[\W_]{{0,4}}\[{any_of('image')}\b[^\[\]\n]{{0,100}}\]"
    r"(?:\([^()\n]{0,200}\))?[\W_]{0,4}",
    re.IGNORECASE,
)
"""A line that stands for an image: `[Insert image of a cache]`."""

_WHOLE = re.compile(rf"{rough_end()}|\n(?=\n)")
"""The end of a sentence, or of a paragraph."""

_MIN_COPIED_WORDS = 8
"""The minimum number of words of a text that is given again."""


def trim(text: str) -> str:
    """Return a text that was cut somewhere, up to the end of its last whole sentence.

    A heading without a text is left out.
    """
    last = max((match.end() for match in _WHOLE.finditer(f"{text}\n")), default=0)
    paragraphs = text[:last].rstrip().split("\n\n")
    while paragraphs and paragraphs[-1].startswith("#"):
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
    """Return a text and the rest of it, without the paragraphs that it has already."""
    known = set()
    for paragraph in start.split("\n\n"):
        known.add(tuple(split_words(paragraph)))
    paragraphs = [start]
    for paragraph in rest.split("\n\n"):
        if tuple(split_words(paragraph)) not in known:
            paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


def without_copies(text: str) -> str:
    """Keep a text once that is given several times.

    Each copy begins with the first paragraph once more. The last one can be cut off, but only in a
    text with a title.
    """
    paragraphs = text.split("\n\n")
    starts = []
    for number, paragraph in enumerate(paragraphs):
        if paragraph == paragraphs[0]:
            starts.append(number)
    if len(starts) < 2:
        return text
    copies = []
    for start, end in pairwise([*starts, len(paragraphs)]):
        copies.append(split_words(" ".join(paragraphs[start:end])))
    first = copies[0]
    has_title = text.startswith("#")
    # Without a title, each copy is whole: a poem can end with its first verse.
    least = _MIN_COPIED_WORDS
    if not has_title:
        least = max(_MIN_COPIED_WORDS, len(first))
    for copy in copies:
        is_copy = len(copy) >= least and copy == first[: len(copy)]
        if not is_copy:
            return text
    return "\n\n".join(paragraphs[: starts[1]])


def without_images(text: str) -> str:
    """Drop lines that stand for an image, such as `[Insert image]`."""
    return each_line(text, lambda line: "" if _IMAGE_LINE.fullmatch(line) else line)


def without_references(text: str) -> str:
    """Drop a list of references at the end. The writer adds the sources that it gave."""
    return _REFERENCES.sub("", f"{text}\n")


def with_marks(text: str) -> str:
    """Make Markdown of what is nearly the mark of a heading or of an item."""
    for pattern, mark in _MARKS:
        text = each_line(text, partial(pattern.sub, mark))
    if _NEARLY_SECTION.search(text) and not HEADING.search(text):
        text = each_line(text, partial(_NEARLY_HEADING.sub, r"\1 "))
    return text


def with_headings(text: str) -> str:
    """Make paragraphs in bold headings, in a text that has no sections otherwise."""
    lines = list(split_lines(text))
    for is_code, line in lines:
        if not is_code and _SECTION.match(line):
            return text
    headings: dict[int, str] = {}
    for number in _lines_alone(lines):
        bold = _BOLD_LINE.fullmatch(lines[number][1])
        if bold and not TIP.match(bold[0]):
            headings[number] = bold["text"]
    changed = [line for _, line in lines]
    for number, heading in headings.items():
        is_title = number == 0 and len(headings) > 1
        changed[number] = f"# {heading}" if is_title else f"## {heading}"
    return "\n".join(changed)


def _lines_alone(lines: Sequence[tuple[bool, str]]) -> list[int]:
    """Return the numbers of the lines that are a paragraph each, and not the last one."""
    filled = []
    for number, (is_code, line) in enumerate(lines):
        if is_code or line.strip():
            filled.append(number)
    alone = []
    before = -2  # as if an empty line stood before the text
    for number, following in pairwise(filled):
        is_behind_gap = number - before > 1
        is_before_gap = following - number > 1
        if is_behind_gap and is_before_gap:
            alone.append(number)
        before = number
    return alone


_BOXES_OF_SITES: Sequence[Step] = (
    ("repaired_site_boxes", without_site_boxes),
    ("repaired_heading_ids", without_heading_ids),
)
_OTHER_MARKS: Sequence[Step] = (
    ("repaired_footnotes", without_footnotes),
    ("repaired_boxes", without_github_boxes),
    ("repaired_definitions", without_definitions),
)
EXTENSION_STEPS = (*_BOXES_OF_SITES, *_OTHER_MARKS)
"""What leaves out the marks of Markdown that only some sites can show."""

_TALK: Sequence[Step] = (
    ("repaired_opening", without_opening),
    ("repaired_closing", without_closing),
)
"""What takes out the words of a model to the person who asked."""

_COPY: Step = ("repaired_copy", without_copies)
_OF_MODELS = (*_TALK, _COPY)
"""The steps that a text of a person does not need, whose words and repetitions are meant."""

_STEPS: Sequence[Step] = (
    ("repaired_fence", without_fence),
    ("repaired_fence", without_fence),  # one in the other
    (None, partial(re.compile("^[ \t]+$", re.MULTILINE).sub, "")),  # first, without a remark
    ("repaired_spaces", dedent),
    ("repaired_json", text_in_json),
    ("repaired_front_matter", without_front_matter),
    *_BOXES_OF_SITES,
    ("repaired_html", without_html),
    *_OTHER_MARKS,
    ("repaired_opening", without_preface),
    *_TALK,
    ("repaired_title", with_title),
    _COPY,
    ("repaired_placeholders", without_images),
    ("repaired_references", without_references),
    ("repaired_marks", with_marks),
    ("repaired_bold_lines", with_headings),
)
"""What mend_answer() does, in this order."""


def mend_answer(answer: str, *, by_person: bool = False) -> tuple[str, list[Remark]]:
    """Return the text in an answer, or one `by_person`, and a remark for each kind of change.

    A text that is too long for any target is cut just above the limit.
    """
    steps = [step for step in _STEPS if not (by_person and step in _OF_MODELS)]
    text, remarks = apply_steps(steps, answer[: MAX_TEXT + 1])
    return text.strip(), remarks

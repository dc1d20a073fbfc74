"""Take the answer of a model out of what models and servers put around it.

That is thinking text, tokens of chat templates, tags around the whole, and characters that nobody
sees. Texts and updates are read from what is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from ...language.languages import any_of
from ...remark import Kind, Remark
from .block_lines import split_code

_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)\w{0,20}[ \t]*$", re.MULTILINE)
"""The first or last line of a code block."""

_LINE_BREAK = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
"""A line break in another form than `\\n`."""

_INVISIBLE = re.compile(
    r"\x1b\[[\d;]{0,20}m|[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069"
    "\ufeff\U000e0000-\U000e007f]"
    # Other scripts need these characters, which go only beside Latin letters.
    "|(?<=[A-Za-z])[\u200c-\u200f]+(?=[A-Za-z])"
    "|(?<=[A-Za-z,.!? ])[\u034f\u115f\u1160\u180e\u3164\uffa0\U000e0100-\U000e01ef]+"
    # The references to sources in ChatGPT's answers.
    r"|\ue200[^\ue200\ue201\n]{0,200}\ue201|[\ue000-\uf8ff]|【\d{1,4}[†:][^】\n]{0,100}】"
    r"|:contentReference\[oaicite:\d{1,4}\](?:\{index=\d{1,4}\})?"
)
"""Characters that nobody sees, and references to sources that only the page of a chat shows."""

NO_ANSWER = (
    "the answer is empty or has thinking text only; turn off thinking with `parameters`, "
    "or choose a larger model"
)
"""The problem of an answer that says nothing."""

_THINKING = re.compile(
    rf"(?<!`)(?:{any_of('thought_start')}|(?P<end>{any_of('thought_end')}))(?!`)", re.IGNORECASE
)
"""Where a model begins and ends to think."""

_TITLE = re.compile(r"^# ", re.MULTILINE)
"""The start of a title."""

_CHANNEL = re.compile(
    r"\s{0,9}(?:(?:<\|start\|>)?(?:assistant)?<\|channel\|>"
    r"|(?:assistant)?(?:analysis|commentary|final)(?=[^\sa-z]))"
)
"""The start of an answer of gpt-oss, with the name of its first channel."""

_FINAL = re.compile(r"<\|channel\|>\s{0,9}final[^\n]{0,60}?<\|message\|>|assistantfinal")
"""Channels of gpt-oss, also where the server drops their tokens."""

_TOKEN = any_of("template_token")
"""A token of a chat template."""

TEMPLATE_TOKEN = re.compile(rf"{_TOKEN}|</?s>")
"""The same, and the tokens `<s>` and `</s>`, which are also tags of HTML."""

_TOKENS_AROUND = re.compile(
    rf"\A(?=\s{{0,9}}(?:{_TOKEN}|<s>|assistant|model))(?:\s{{0,9}}(?:{_TOKEN}|<s>))*\s{{0,9}}"
    rf"(?:(?:assistant|model)(?={_TOKEN}|\n)|assistant:)?(?:\s{{0,9}}{_TOKEN})*"
    rf"|(?:\s{{0,9}}(?:{_TOKEN}|</s>)){{1,20}}\Z",
    re.IGNORECASE,
)
"""Tokens and the name of a role before an answer, and tokens after it."""

_END = re.compile(
    r"(?<!`)(?:<\|(?:endoftext|end_of_text)\|>|^\s{0,9}\[INST\]"
    rf"|{any_of('turn_end')}(?=\s{{0,9}}(?:<|\[|$|user\b)))(?!`)"
)
"""What ends the turn of a model. What follows is no part of its answer."""

_TOKEN_WITHIN = re.compile(rf"(?<!`){_TOKEN}(?!`)")
"""A token within an answer, but not in a code span."""

_WRAPPER = any_of("wrapper")
"""The name of a tag that models put around a text, such as `answer`."""

_WRAPPERS = re.compile(
    rf"\A(?:\s{{0,9}}(?:<{_WRAPPER}(?:\s[^<>]{{0,300}})?>|:::\w{{1,20}}\n))+"
    rf"|(?:(?:</{_WRAPPER}>|\n:::)\s{{0,9}}){{1,9}}\Z",
    re.IGNORECASE,
)
"""Tags such as `<answer>` around the whole text."""

_FRAME_START = re.compile(r"^ {0,3}[*`]{0,3}<article>[*`]{0,3}[ \t]*", re.MULTILINE | re.IGNORECASE)
_FRAME_END = re.compile(r"[*`]{0,3}</article>[*`]{0,3}[ \t]*$", re.IGNORECASE)
"""The lines between which prompts ask for the text."""

_IN_PAGE = re.compile(r"<(?:html|body)\b|\A\s{0,9}(?:---|\+\+\+)\n\w", re.IGNORECASE)
"""What begins a page in HTML, in which `<article>` is an element, or front matter."""

Step = tuple[Kind | None, Callable[[str], str]]
"""The kind of a remark and the step that it is about, or None if nobody needs to know of it."""


def apply_steps(steps: Iterable[Step], text: str) -> tuple[str, list[Remark]]:
    """Return a text after all steps, and the remarks of those that changed it."""
    remarks = []
    for kind, step in steps:
        changed = step(text)
        if kind and changed.strip() != text.strip():
            remarks.append(Remark(kind))
        text = changed.strip("\n").rstrip()
    return text, remarks


def problem_of_empty(answer: str) -> str:
    """Return what to do about an answer without a text, or an empty string if it has one."""
    return "" if without_thinking(answer).strip() else NO_ANSWER


def without_thinking(text: str) -> str:
    """Remove the thinking text before an answer, which leaves nothing if there is only that."""
    depth = 0  # of thoughts within each other
    answer_start = 0
    # An answer can be about such tags, so those in its text are words.
    for tag in _THINKING.finditer(text):
        if tag["end"]:
            is_last_in_line = text[tag.end() : tag.end() + 1] in ("\n", "")
            is_second_end = depth == 0 and answer_start > 0
            if is_second_end and not is_last_in_line:
                break  # a word of the answer
            depth = max(0, depth - 1)
            if depth == 0:
                answer_start = tag.end()
        else:
            if depth == 0 and text[answer_start : tag.start()].strip():
                break  # a word of the answer, which has begun
            depth += 1
    if depth:
        return ""
    return _final_channel(text[answer_start:])


def without_endless_thoughts(text: str) -> str:
    """Drop thinking text that has no end, but not the text below a title in it."""
    if without_thinking(text):
        return text
    title = _TITLE.search(text)
    if title:
        return text[title.start() :]
    return text


def _final_channel(text: str) -> str:
    """Return what gpt-oss says in its final channel, or nothing without one."""
    if not _CHANNEL.match(text):
        return text
    final = list(_FINAL.finditer(text))
    if not final:
        return ""
    return text[final[-1].end() :]


def without_next_turn(text: str) -> str:
    """Drop the words that a model writes after the end of its turn."""
    kept: list[str] = []
    for is_code, line in split_code(text.split("\n")):
        end = None if is_code else _END.search(line)
        if end and (kept or line[: end.start()].strip()):
            return "\n".join([*kept, line[: end.start()]])
        kept.append(line)
    return text


def each_line(text: str, change: Callable[[str], str]) -> str:
    """Return a text with each line changed that is no code."""
    lines = []
    for is_code, line in split_code(text.split("\n")):
        lines.append(line if is_code else change(line))
    return "\n".join(lines)


def without_fence_lines(text: str) -> str:
    """Drop the fences of code blocks, which models put around answers that are no text."""
    return _FENCE_LINE.sub("", text)


_STEPS: Sequence[Step] = (
    ("repaired_invisible", partial(_INVISIBLE.sub, "")),
    ("repaired_thoughts", without_endless_thoughts),
    (None, without_thinking),
    (None, partial(_TOKENS_AROUND.sub, "")),
    ("repaired_next_turn", without_next_turn),
    (None, partial(each_line, change=partial(_TOKEN_WITHIN.sub, ""))),
)
"""What read_answer() does first, in this order."""


class Answer(NamedTuple):
    """What a model has answered."""

    text: str
    """It is empty if there is nothing beside thoughts."""

    remarks: list[Remark]
    """A remark for each kind of words that is left out."""

    is_framed: bool
    """Whether the text stood in the frame that prompts ask for, so that no word of it is talk."""


def read_answer(text: str) -> Answer:
    """Return what a model has answered: what is within the frame, or all where it is missing."""
    # A byte order mark and the like at the start are no reason for a remark.
    text = _LINE_BREAK.sub("\n", text).lstrip("\ufeff\u200b\u2060")
    text, remarks = apply_steps(_STEPS, text)
    frame = _find_frame(text)
    if frame is None:
        return Answer(_WRAPPERS.sub("", text), remarks, is_framed=False)
    if frame.before.strip():
        remarks.append(Remark("repaired_opening"))
    if frame.after.strip():
        remarks.append(Remark("repaired_closing"))
    return Answer(frame.text.strip("\n").rstrip(), remarks, is_framed=True)


def answer_so_far(text: str) -> str:
    """Return what a model has answered so far, without thoughts and what is before the frame."""
    answer = without_thinking(text)
    frame = _find_frame(answer)
    return frame.text if frame else answer


class _Frame(NamedTuple):
    before: str
    text: str
    after: str


def _find_frame(text: str) -> _Frame | None:
    """Return the parts of an answer with a frame, or None without one. Tags in code do not count.

    Of several frames, the longest counts. The end may be missing if the answer was cut.
    """
    if _FRAME_START.search(text) is None:
        return None
    lines = text.split("\n")
    frames: list[tuple[int, int]] = []
    start: int | None = None
    for number, (is_code, line) in enumerate(split_code(lines)):
        if start is None and not is_code and _FRAME_START.match(line):
            start = number
        elif start is not None and not is_code and _FRAME_END.search(line):
            frames.append((start, number))
            start = None
    if start is not None and not frames and 2 * len("\n".join(lines[:start])) < len(text):
        frames.append((start, len(lines)))
    if not frames:
        return None
    first, last = max(frames, key=lambda frame: len("\n".join(lines[slice(*frame)])))
    before = "\n".join(lines[:first])
    if _IN_PAGE.search(before):
        return None
    lines[first] = _FRAME_START.sub("", lines[first])
    lines[last : last + 1] = [_FRAME_END.sub("", line) for line in lines[last : last + 1]]
    return _Frame(before, "\n".join(lines[first : last + 1]), "\n".join(lines[last + 1 :]))

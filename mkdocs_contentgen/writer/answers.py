"""Take the answer of a model out of what models and servers put around it.

That is thinking text, tokens of chat templates, tags around the whole, and characters that nobody
sees. Texts and updates are read from what is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from .phrases import any_of
from .words import UNSPACED

_LINE_BREAK = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    r"\x1b\[[\d;]{0,20}m|[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069"
    "\ufeff\U000e0000-\U000e007f]"
    # Other scripts need them.
    "|(?<=[A-Za-z])[\u200c-\u200f]+(?=[A-Za-z])"
    "|(?<=[A-Za-z,.!? ])[\u034f\u115f\u1160\u180e\u3164\uffa0\U000e0100-\U000e01ef]+"
    # The marks of sources in ChatGPT's answers.
    r"|\ue200[^\ue200\ue201\n]{0,200}\ue201|[\ue000-\uf8ff]|【\d{1,4}[†:][^】\n]{0,100}】"
    r"|:contentReference\[oaicite:\d{1,4}\](?:\{index=\d{1,4}\})?"
)
_LETTERS = rf"[^\W_{UNSPACED}]{{0,50}}"
_UNDECODED = re.compile(rf"{_LETTERS}\ufffd+(?:{_LETTERS}\ufffd+)*{_LETTERS}")

_THINKING = re.compile(
    rf"(?<!`)(?:{any_of('thought_start')}|(?P<end>{any_of('thought_end')}))(?!`)", re.IGNORECASE
)
"""Where a model begins and ends to think."""

_THINKING_BLOCK = re.compile(
    r"\s{0,9}(?:<details type=\"reasoning\"[^<>]{0,100}>.*?</details>"
    r"|```(?:think|thinking|thoughts?|reasoning)\n.*?\n```\n)",
    re.DOTALL | re.IGNORECASE,
)

_THINKING_LABEL = re.compile(
    r"\s{0,9}(?:>\s?)?(?:\*\*|#{2,6} )?(?:thinking(?: process)?|thought process|thoughts?|reasoning"
    r"|here is my thought process)[ *:….]{0,9}\n",
    re.IGNORECASE,
)
_ANSWER_LABEL = re.compile(
    r"^[#* ]{0,9}(?:\.\.\.done thinking|here is my response|(?:final )?(?:answer|response))"
    r"[*:. ]{0,9}$",
    re.IGNORECASE | re.MULTILINE,
)
_TITLE = re.compile(r"^# ", re.MULTILINE)
_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}(?P<name>\w{0,20})[^\n]{0,60}?<\|message\|>")
_BARE_CHANNEL = re.compile(r"\s{0,9}(?:assistant)?(?:analysis|commentary|final)(?=[^\sa-z])")
"""Channels of gpt-oss, where the server drops their tokens."""

_FINAL = "assistantfinal"

_MARK = any_of("template_mark")
"""A token of a chat template."""

TEMPLATE_MARK = re.compile(rf"{_MARK}|</?s>")

_START = re.compile(
    rf"\A(?=\s{{0,9}}(?:{_MARK}|<s>|assistant|model))(?:\s{{0,9}}(?:{_MARK}|<s>))*\s{{0,9}}"
    rf"(?:(?:assistant|model)(?={_MARK}|\n)|assistant:)?(?:\s{{0,9}}{_MARK})*",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?<!`)(?:<\|(?:endoftext|end_of_text)\|>|^\s{0,9}\[INST\]"
    rf"|{any_of('turn_end')}(?=\s{{0,9}}(?:<|\[|$|user\b)))(?!`)"
)
"""What ends the turn of a model. What follows is no part of its answer."""

_OTHER_MARK = re.compile(rf"(?<!`){_MARK}(?!`)")
_NEXT_TURN = re.compile(
    r"\n(?:USER|### (?:Instruction|Input|User)):.{0,2000}?"
    r"\n(?:ASSISTANT|### (?:Response|Assistant)):",
    re.DOTALL,
)
_WRAPPER = any_of("wrapper")
_WRAPPER_START = re.compile(
    rf"\A(?:\s{{0,9}}(?:<{_WRAPPER}(?:\s[^<>]{{0,300}})?>|:::\w{{1,20}}\n))+", re.IGNORECASE
)
_WRAPPER_END = re.compile(rf"(?:</{_WRAPPER}>|\n:::)\s{{0,9}}\Z", re.IGNORECASE)


Step = tuple[str, Callable[[str], str]]
"""The remark about what a step changes, or nothing for one that needs none, and the step."""


def read_answer(text: str) -> tuple[str, list[str]]:
    """Return what a model has answered, and a remark for each kind of words that is left out.

    Without an answer beside its thoughts, the text is empty.
    """
    return apply_steps(_STEPS, _LINE_BREAK.sub("\n", text).lstrip("\ufeff\u200b\u2060"))


def apply_steps(steps: Iterable[Step], text: str) -> tuple[str, list[str]]:
    """Return a text after all steps, and the remarks of those that changed it."""
    remarks = []
    for remark, step in steps:
        changed = step(text)
        if remark and changed.strip() != text.strip():
            remarks.append(f"mended: {remark}")
        text = changed.strip("\n").rstrip()
    return text, remarks


def without_thinking(text: str) -> str:
    """Drop what a model thinks before it answers; if there is nothing else, all of it."""
    if block := _THINKING_BLOCK.match(text):
        text = text[block.end() :]
    depth = end = 0
    # Tags further down are part of the text, which can be about them.
    for tag in _THINKING.finditer(text):
        is_alone = text[tag.end() : tag.end() + 1] in ("\n", "")
        if tag["end"]:
            if not depth and end and not is_alone:
                break
            depth = max(0, depth - 1)
            end = end if depth else tag.end()
        elif not depth and text[end : tag.start()].strip():
            break
        else:
            depth += 1
    return "" if depth else _final_channel(_without_labelled_thoughts(text[end:]))


def without_endless_thoughts(text: str) -> str:
    """Drop thinking text that has no end, but not the text below a title in it."""
    return text if without_thinking(text) else _from_title(text) or text


def _from_title(text: str) -> str:
    title = _TITLE.search(text)
    return text[title.start() :] if title else ""


def _without_labelled_thoughts(text: str) -> str:
    """Drop thoughts whose start is a line such as `**Thinking:**`."""
    label = _THINKING_LABEL.match(text)
    if label is None:
        return text
    answer = _ANSWER_LABEL.search(text, label.end())
    return text[answer.end() :] if answer else _from_title(text) or text


def _final_channel(text: str) -> str:
    """Return what gpt-oss says in its last channel, or nothing if that is not the final one."""
    if _BARE_CHANNEL.match(text):
        return text.rpartition(_FINAL)[2] if _FINAL in text else ""
    if not text.lstrip().startswith("<|"):
        return text
    channels = list(_CHANNEL.finditer(text))
    if not channels:
        return text
    return text[channels[-1].end() :] if channels[-1]["name"] == "final" else ""


def without_next_turn(text: str) -> str:
    """Drop the words that a model writes after the end of its turn."""
    lines = list(split_lines(text))
    for number, (is_code, line) in enumerate(lines):
        end = None if is_code else _END.search(line)
        if end and (number or line[: end.start()].strip()):
            rest = "\n".join([line[end.start() :], *(it for _, it in lines[number + 1 :])])
            if _OTHER_MARK.sub("", rest).replace("</s>", "").strip():
                text = "\n".join([*(it for _, it in lines[:number]), line[: end.start()]])
            break
    turn = _NEXT_TURN.search(text)
    return text[: turn.start()] if turn and text[: turn.start()].strip() else text


def without_tokens(text: str) -> str:
    """Drop tokens of chat templates."""
    return each_line(text, lambda line: _OTHER_MARK.sub("", _END.sub("", line)))


def without_wrapper(text: str) -> str:
    """Drop tags such as `<answer>` around the whole text."""
    text = _WRAPPER_START.sub("", text)
    while end := _WRAPPER_END.search(text):
        text = text[: end.start()]
    return text


_STEPS: Sequence[Step] = (
    ("characters that nobody sees were taken out", partial(_INVISIBLE.sub, "")),
    ("words that could not be decoded were taken out", partial(_UNDECODED.sub, "")),
    ("thinking text without an end was taken out", without_endless_thoughts),
    ("", without_thinking),
    ("", partial(_START.sub, "")),
    ("what follows the end of the model's turn was taken out", without_next_turn),
    ("", without_tokens),
    ("", without_wrapper),
)


def each_line(text: str, change: Callable[[str], str | None]) -> str:
    """Return a text with each line changed that is no code. A line that becomes None is dropped."""
    lines = (line if is_code else change(line) for is_code, line in split_lines(text))
    return "\n".join(line for line in lines if line is not None)


def split_lines(text: str) -> Iterator[tuple[bool, str]]:
    """Yield each line, and whether it is in a fenced code block."""
    fence = ""
    for line in text.split("\n"):
        bare = line.strip()
        if not fence and (match := re.match("```+|~~~+", bare)):
            fence = match[0]
            yield True, line
        elif fence:
            yield True, line
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
        else:
            yield False, line

"""Find texts that a model wrote without sense: loops, and talk about its task.

The limits lie between 3,300 real pages of documentation and the answers of a small model. Pages of
changelogs, tables and APIs repeat words, but seldom the same six words three times close together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from .languages import any_of
from .words import MARKS, UNSPACED

_GROUP, _NEAR = 6, 200
"""Words are repeated if the same group of so many stood within so many words before."""

_NEW_WORD = 4
"""The number of repeated words that one new word outweighs."""

_LOOP = 150
"""The number of words in a row that stood twice before. In real pages, it is up to 134."""

_MAX_SHARE = 0.4
"""The largest share of repeated words. In real pages, it is up to 0.36."""

_MIN_WORDS = 40
"""In a shorter text, shares say nothing."""

_TAIL = 4000
"""The number of characters at the end of a text that are looked at first."""

_PERIODIC, _MAX_PERIOD = 400, 100
"""Any characters that repeat so long, with a period up to this, are a loop. No real page has it."""

_MAX_SENTENCE, _SHOWN = 1000, 60

# Without figures, so that the same sentence with other figures is the same. Long words are cut,
# since a loop can be one word without end.
_LETTER = rf"[^\W\d_{UNSPACED}]"
_WORD = re.compile(rf"[{UNSPACED}]|{_LETTER}{{1,20}}(?:[{MARKS}]{_LETTER}{{0,9}}){{0,9}}")
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_END = re.compile(r"[.!?…]\s|[。！？\n]")

_TASK = re.compile(any_of("task"))
"""What a text says that talks about its task. Of the real pages, three say it once."""

_ABOUT_TEXT = re.compile(rf"this {any_of('text')}\b")
"""What a text about its task says as well."""

_TASK_WORDS = 100
"""A text about its task says so once in so many words, or more often."""


def find_loop(text: str) -> int | None:
    """Return where a text begins to repeat itself until its end, or None.

    This is the start of a sentence or line, so what stands before it is a text. A text that is
    still being written can be given again and again: all of it is only read where parts of its
    end stood there before.
    """
    found = (_find_period(text), _find_repeated_end(text))
    start = min((offset for offset in found if offset is not None), default=None)
    if start is None:
        return None
    first = max(0, start - _MAX_SENTENCE)
    return max((match.end() for match in _END.finditer(text, first, start)), default=start)


def degenerate_problem(prose: str) -> str | None:
    """Return a problem if a text repeats itself like no real text, or talks about its task.

    `prose` is the text without code, with a line for each block.
    """
    weight, repeats = _count_repeats(prose)
    if (loop := _find_run(repeats, weight)) is not None:
        start = _group_start(prose, loop, weight)
        return f"the text repeats itself without end: '{_excerpt(prose, start)}'"
    often = sum(map(bool, repeats))
    if len(repeats) >= _MIN_WORDS * weight and often > _MAX_SHARE * len(repeats):
        start = _group_start(prose, max(range(len(repeats)), key=repeats.__getitem__), weight)
        return f"the text says the same again and again: '{_excerpt(prose, start)}'"
    return _task_problem(prose, len(repeats) // weight)


def _count_repeats(text: str) -> tuple[int, list[int]]:
    """Return the weight of words, and how often the group up to each one was nearby before.

    The weight is the number of matches for a word: two in scripts without spaces.
    """
    words = _WORD.findall(text)
    weight = 2 if len(_IS_UNSPACED.findall(text)) * 2 > len(words) else 1
    size, near = _GROUP * weight, _NEAR * weight
    repeats = [0] * len(words)
    seen: dict[tuple[str, ...], int] = {}
    groups = zip(*(words[start:] for start in range(size)), strict=False)
    for index, group in enumerate(groups, start=size - 1):
        last = seen.get(group)
        if last is not None and index - last <= near:
            repeats[index] = repeats[last] + 1
        seen[group] = index
    return weight, repeats


def _group_start(text: str, index: int, weight: int) -> int:
    """Return where the group of words up to an index begins."""
    first = index - _GROUP * weight + 1
    return next(islice(_WORD.finditer(text), first, None)).start()


def _find_run(repeats: Sequence[int], weight: int) -> int | None:
    """Return the index of the word with which the first loop begins, or None."""
    if max(repeats, default=0) < 2:  # most texts
        return None
    length = start = 0
    for index, times in enumerate(repeats):
        if times > 1:
            start = start if length else index
            length += 1
        else:
            length = max(0, length - _NEW_WORD)
        if length >= _LOOP * weight:
            return start
    return None


def _find_repeated_end(text: str) -> int | None:
    """Return where a text says for the second time what it goes on to repeat, or None."""
    weight, repeats = _count_repeats(text[-_TAIL:])
    if max(repeats[-_MIN_WORDS * weight :], default=0) < 2:
        return None
    weight, repeats = _count_repeats(text)
    start = _find_run(repeats, weight)
    if start is None:
        return None
    while repeats[start - 1]:
        start -= 1
    return _group_start(text, start, weight)


def _find_period(text: str) -> int | None:
    """Return where the period at the end of a text begins for the second time, or None."""
    end = len(text) - _PERIODIC
    start = text.rfind(text[end:], max(0, end - _MAX_PERIOD), len(text) - 1) if end > 0 else -1
    if start < 0:
        return None
    period = end - start
    while start > 0 and text[start - 1] == text[start - 1 + period]:
        start -= 1
    return start + period


def _task_problem(prose: str, words: int) -> str | None:
    text = f"\n{prose.casefold()}"
    found = [match[0].strip() for match in _TASK.finditer(text)]
    if found and (len(found) + len(_ABOUT_TEXT.findall(text))) * _TASK_WORDS >= words:
        return f"the text talks about its task ('{found[0][:_SHOWN]}') and not about the topic"
    return None


def _excerpt(text: str, start: int) -> str:
    return f"{' '.join(text[start : start + _SHOWN].split())}…"

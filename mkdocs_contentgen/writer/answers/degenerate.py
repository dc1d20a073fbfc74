"""Find texts that a model wrote without sense: loops, and talk about its task.

Groups of six words are counted, and no sentences. A model seldom repeats a whole sentence letter
by letter: it changes a figure or a word, or writes one sentence without end. And shorter groups
repeat in real texts: pages of changelogs, tables and APIs repeat words, but seldom the same six
words three times close together. So a word counts as repeated if it ends a group of six words that
stood a little before. Groups count only within a distance, since a long page may come back to the
same words.

A text is watched while it is written, so find_loop() is called again and again with a longer text.
It first looks at the end, and counts the groups of all the text only if its end repeats. All steps
take linear time.

The limits lie between 3,300 real pages of documentation and the answers of a small model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from ...language.languages import any_of
from ...language.sentences import rough_end
from ...language.words import COMBINING_MARKS, UNSPACED

_GROUP = 6
"""The words of a group. A word is repeated if the group that ends with it stood before."""

_NEAR = 200
"""The number of words before a group within which the same one counts."""

_NEW_WORD = 4
"""The number of repeated words that one new word outweighs."""

_LOOP = 150
"""The number of words in a row that stood twice before. In real pages, it is up to 134."""

_COUNTING_LOOP = 450
"""The same for words that differ only in figures. A list can have many such lines."""

_MAX_SHARE = 0.5
"""The largest share of repeated words. In real pages, it is up to 0.36, and in songs to 0.48."""

_MIN_WORDS = 40
"""In a shorter text, shares say nothing."""

_TAIL = 4000
"""The number of characters at the end of a text that are looked at first."""

_PERIODIC = 400
"""The number of characters at the end that are a loop if they repeat. No real page has it."""

_MAX_PERIOD = 100
"""The largest period with which they repeat, in characters."""

_MAX_SENTENCE = 1000
"""The number of characters before a loop in which the end of a sentence is looked for."""

_SHOWN = 60
"""The number of characters of a text that a message shows."""

_MIN_PARAGRAPH = 8
"""The number of words of a paragraph that counts if it is repeated."""

_MIN_PARAGRAPHS = 6
"""The number of such paragraphs in a loop."""

_REPEATED_SHARE = 0.6
"""The minimum share of such paragraphs, from somewhere in a loop until the end."""

_BEGUN_SHARE = 0.4
"""The minimum share of them from the start of the loop on."""

_NO_FIGURES = str.maketrans("", "", "0123456789")

# Long words are cut, since a loop can be one word without end.
_LETTER = rf"[^\W\d_{UNSPACED}]"
_LETTERS = rf"[{UNSPACED}]|{_LETTER}{{1,20}}(?:[{COMBINING_MARKS}]{_LETTER}{{0,9}}){{0,9}}"
_WORD = re.compile(rf"\d{{1,20}}|{_LETTERS}")
_WORD_WITHOUT_FIGURES = re.compile(_LETTERS)
"""For these, a sentence with other figures is the same."""

_KINDS = ((_WORD, _LOOP), (_WORD_WITHOUT_FIGURES, _COUNTING_LOOP))
"""The kinds of words, and how many of them in a row are a loop."""

_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_END = re.compile(rf"{rough_end()}|\n")
"""The end of a sentence or a line."""

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
    found = [
        _find_period(text),
        _find_repeated_paragraphs(text),
        *(_find_repeated_end(text, word, least) for word, least in _KINDS),
    ]
    loops = [loop for loop in found if loop is not None]
    if not loops:
        return None
    loop = min(loops)
    sentence_start = loop
    for end in _END.finditer(text, max(0, loop - _MAX_SENTENCE), loop):
        sentence_start = end.end()  # the last one counts
    return sentence_start


def degenerate_problem(prose: str) -> str:
    """Return a problem if a text repeats itself like no real text, or talks about its task.

    `prose` is the text without code, with a line for each block. Without a problem, it is an empty
    string.
    """
    for word, least in _KINDS:
        weight, repeats = _count_repeats(prose, word)
        loop = _find_run(repeats, least * weight)
        if loop is not None:
            start = _group_start(prose, word, loop, weight)
            return f"the text repeats itself without end: '{_excerpt(prose, start)}'"
    weight, repeats = _count_repeats(prose, _WORD)
    repeated = sum(1 for times in repeats if times)
    if len(repeats) >= _MIN_WORDS * weight and repeated > _MAX_SHARE * len(repeats):
        most_repeated = repeats.index(max(repeats))
        start = _group_start(prose, _WORD, most_repeated, weight)
        return f"the text says the same again and again: '{_excerpt(prose, start)}'"
    return _task_problem(prose, len(repeats) // weight)


def _count_repeats(text: str, word: re.Pattern[str]) -> tuple[int, list[int]]:
    """Return the weight of words, and how often the group up to each one was nearby before.

    The weight is the number of matches for a word: two in scripts without spaces.
    """
    words = word.findall(text)
    is_mostly_unspaced = len(_IS_UNSPACED.findall(text)) * 2 > len(words)
    weight = 2 if is_mostly_unspaced else 1
    size = _GROUP * weight
    repeats = [0] * len(words)
    last_seen: dict[tuple[str, ...], int] = {}
    for end, group in enumerate(_ngrams(words, size), start=size - 1):
        last = last_seen.get(group)
        if last is not None and end - last <= _NEAR * weight:
            repeats[end] = repeats[last] + 1
        last_seen[group] = end
    return weight, repeats


def _ngrams(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """Yield each group of so many words that follow each other, from the first word on."""
    for start in range(len(words) - size + 1):
        yield tuple(words[start : start + size])


def _group_start(text: str, word: re.Pattern[str], index: int, weight: int) -> int:
    """Return where the group of words up to an index begins."""
    first = index - _GROUP * weight + 1
    return next(islice(word.finditer(text), first, None)).start()


def _find_run(repeats: Sequence[int], least: int) -> int | None:
    """Return the index of the word with which the first loop of so many words begins, or None."""
    if max(repeats, default=0) < 2:  # most texts
        return None
    start = 0
    length = 0
    for index, times in enumerate(repeats):
        if times > 1:
            if length == 0:
                start = index
            length += 1
        else:
            length = max(0, length - _NEW_WORD)
        if length >= least:
            return start
    return None


def _find_repeated_end(text: str, word: re.Pattern[str], least: int) -> int | None:
    """Return where the second copy begins of what a text repeats at its end, or None."""
    # Most texts do not repeat their end, so all of the text need not be counted.
    weight, repeats = _count_repeats(text[-_TAIL:], word)
    last_words = repeats[-_MIN_WORDS * weight :]
    if max(last_words, default=0) < 2:
        return None
    weight, repeats = _count_repeats(text, word)
    run = _find_run(repeats, least * weight)
    if run is None:
        return None
    # The words of the run are there for the third time. Those just before it, without a gap, are
    # there for the second time.
    second_time = run
    while repeats[second_time - 1]:
        second_time -= 1
    return _group_start(text, word, second_time, weight)


def _find_repeated_paragraphs(text: str) -> int | None:
    """Return where a text begins to say the same paragraphs again until its end, or None.

    Figures are ignored, and a few paragraphs may be new in each round.
    """
    seen: set[str] = set()
    starts: list[int] = []
    is_repeated: list[bool] = []
    position = 0
    for paragraph in text.split("\n\n"):
        words = paragraph.translate(_NO_FIGURES).strip()
        is_again = words in seen and len(_WORD.findall(words)) >= _MIN_PARAGRAPH
        seen.add(words)
        starts.append(position)
        is_repeated.append(is_again)
        position += len(paragraph) + 2
    repeated = sum(is_repeated)
    first: int | None = None
    for index, is_again in enumerate(is_repeated):
        share = repeated / (len(starts) - index)
        if is_again and repeated >= _MIN_PARAGRAPHS and share >= _BEGUN_SHARE:
            first = starts[index] if first is None else first
            if share >= _REPEATED_SHARE:
                return first
        repeated -= is_again
    return None


def _find_period(text: str) -> int | None:
    """Return where the second copy of the passage begins that ends a text again and again, or None.

    Characters have a period if each is the same as the one so many characters before it.
    """
    tail_start = len(text) - _PERIODIC
    if tail_start <= 0:
        return None
    tail = text[tail_start:]
    # The last character is left out, so that the tail does not find itself.
    copy_start = text.rfind(tail, max(0, tail_start - _MAX_PERIOD), len(text) - 1)
    if copy_start < 0:
        return None
    period = tail_start - copy_start
    # What is periodic can have begun long before the tail.
    start = copy_start
    while start > 0 and text[start - 1] == text[start - 1 + period]:
        start -= 1
    return start + period


def _task_problem(prose: str, words: int) -> str:
    text = f"\n{prose.casefold()}"
    found = [match[0].strip() for match in _TASK.finditer(text)]
    if not found:
        return ""
    mentions = len(found) + len(_ABOUT_TEXT.findall(text))
    if mentions * _TASK_WORDS < words:
        return ""
    return f"the text talks about its task ('{found[0][:_SHOWN]}') and not about the topic"


def _excerpt(text: str, start: int) -> str:
    return f"{' '.join(text[start : start + _SHOWN].split())}…"

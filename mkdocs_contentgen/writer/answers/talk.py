"""Remove chat around a text, such as `Certainly!`.

Only whole sentences go, and only from the start and from the end of a text. From `Absolutely, I'd
be happy to help! Okroshka is a cold soup`, the soup stays.
"""

from __future__ import annotations

import re

from ...language.languages import PHRASES, any_of
from ...language.sentences import rough_end

_MAX_LINES = 4
"""The number of lines at the start or at the end of a text that can be talk."""

_MAX_SENTENCE = 400
"""The length of a sentence that can be talk, in characters."""

_MARKUP = r"[\s*_#>(\[✅📝¡¿-]{0,9}"
"""The markup that may stand before the first word of a line."""

_SENTENCE_END = re.compile(rf"(?<!\bDr)(?<!\bMr)(?<!\bvs){rough_end(colons=True)}")
"""Where a sentence ends, with the space after it."""

_WORD = re.compile(r"\w")
_OPENING_BRACKET = re.compile("[(\uff08]")
_CLOSING_BRACKET = re.compile("[)\uff09]")

_ITEM = re.compile(r"[ \t]*[-*+•] ")
"""The bullet of an item of a list."""

_OPENING_WORD = re.compile(
    rf"{_MARKUP}{any_of('opening_word')}[\s*]*(?:(?P<end>[!.。！]|$)|[,，、:：]|[–—-](?=\s))[\s*]*",
    re.IGNORECASE,
)
"""A word such as `Certainly!` and `好的，`."""

_ENGLISH_WORDS = "|".join(PHRASES["models"]["en"]["opening_word"].splitlines())
_ENGLISH_WORD = re.compile(rf"{_MARKUP}(?:{_ENGLISH_WORDS})\b", re.IGNORECASE)
"""Such a word in English, which can be the start of a sentence of the text."""

_OFFER = re.compile(f"{_MARKUP}{any_of('offer')}", re.IGNORECASE)
"""An offer to help: `I'd be happy to …`."""

_ANNOUNCEMENT = re.compile(f"{_MARKUP}{any_of('announcement')}", re.IGNORECASE)
"""The start of an announcement of a text: `Here is …`."""

_ANNOUNCED = re.compile(any_of("announced"), re.IGNORECASE)
"""What only an announcement has, such as `article you asked for`."""

_PRAISE = re.compile(rf"{_MARKUP}{any_of('praise')}\W*", re.IGNORECASE)
"""A sentence such as `Great question!`."""

_CLOSING = re.compile(f"{_MARKUP}{any_of('closing')}", re.IGNORECASE)
"""The start of a sentence after a text: `Let me know if …`."""

_ADDRESSED = re.compile(any_of("addressed"), re.IGNORECASE)
_OWN_WORK = re.compile(any_of("own_work"), re.IGNORECASE)
"""How a paragraph speaks to the person who asked, and of what."""

_EXPLAINS = re.compile(r"\([^()]{2,60}\)|\b(?:means?|meaning|scale)\b|\bfrom \d")
"""What an announcement has that explains what it announces."""


def is_talk(paragraph: str) -> bool:
    """Tell whether a paragraph beside a text is said to the person who asked."""
    is_opening = not _drop_opening(paragraph)
    return is_opening or bool(_CLOSING.match(paragraph) or _OWN_WORK.search(paragraph))


def without_opening(text: str) -> str:
    """Drop the sentences at the start of a text that are said to the person who asked."""
    rest = text
    for _ in range(_MAX_LINES):
        line, _, below = rest.partition("\n")
        kept = _drop_opening(line)
        if kept:
            rest = f"{kept}\n{below}" if below else kept
            break
        rest = below.lstrip("\n")
        if not rest.strip():
            return text  # nothing else was said
    return rest


def _drop_opening(line: str) -> str:
    """Return a line without the talk at its start."""
    is_talk = False
    while line.strip(" *_-"):
        word = _OPENING_WORD.match(line)
        if word:
            rest = line[word.end() :]
            goes_on = word["end"] is None
            if goes_on and _ENGLISH_WORD.match(line) and not _is_said(rest):
                break  # `Of course, nobody knew it.` can be the start of a story
            line = rest[:1].upper() + rest[1:]
            is_talk = True
            continue
        sentence = _first_sentence(line)
        if not _is_opening(sentence, is_talk=is_talk, is_last=sentence.rstrip() == line.rstrip()):
            break
        line = line[len(sentence) :].lstrip()
        is_talk = True
    return line if line.strip(" *_-") else ""


def _first_sentence(line: str) -> str:
    """Return the first sentence of a line. What stands in brackets does not end it."""
    for end in _SENTENCE_END.finditer(line):
        before = line[: end.start()]
        if len(_OPENING_BRACKET.findall(before)) <= len(_CLOSING_BRACKET.findall(before)):
            return line[: end.end()]
    return line


def _is_said(rest: str) -> bool:
    """Tell whether what follows an opening word is said to the person who asked, too."""
    return bool(_OFFER.match(rest) or _ANNOUNCEMENT.match(rest) or _OPENING_WORD.match(rest))


def _is_opening(sentence: str, *, is_talk: bool, is_last: bool) -> bool:
    """Tell whether a sentence is said to the person who asked.

    `is_talk` says whether the one before it is, and `is_last` whether it is the last of its line.
    """
    if len(sentence) > _MAX_SENTENCE:
        return False
    if _PRAISE.fullmatch(sentence):
        return True
    # A colon in the middle of a line announces what follows there: `Here is why: …`.
    has_colon = sentence.rstrip(" *_").endswith((":", "："))
    if has_colon and not is_last:
        return False
    if _ANNOUNCEMENT.match(sentence):
        is_announced = _ANNOUNCED.search(sentence) is not None
        explains = not is_announced and _EXPLAINS.search(sentence)
        if is_announced or (has_colon and not explains):
            return True
        # `Here is a recipe for okroshka, a cold soup. It is …` says what the text is about.
        return is_talk and is_last
    return bool(_OFFER.match(sentence)) and (is_talk or "help" in sentence)


def without_closing(text: str) -> str:
    """Drop the sentences at the end of a text that are said to the person who asked."""
    kept = text
    for _ in range(_MAX_LINES):
        without_rule = _without_last_rule(kept)
        shorter = _without_last_talk(without_rule)
        if shorter == without_rule:
            shorter = _without_talk_below_rule(without_rule)
        kept = without_rule
        if shorter == kept:
            break
        kept = shorter
    return kept if kept.strip() else text


def _without_last_rule(text: str) -> str:
    """Return a text without a line of dashes at its end: below a line, they make it a heading."""
    lines = text.split("\n")
    while len(lines) > 1 and not lines[-1].strip("-*_ \t"):
        lines.pop()
    return "\n".join(lines)


def _without_last_talk(text: str) -> str:
    """Return a text without the talk in its last line, or without a list that is talk."""
    before, _, line = text.rpartition("\n")
    if line.strip().startswith(("```", "~~~")):
        return text
    if _ITEM.match(line):
        return _without_list(text)
    rest = _drop_closing(line)
    return f"{before}\n{rest}" if rest else before


def _without_talk_below_rule(text: str) -> str:
    """Return a text without a last paragraph below a rule that speaks of the text to its reader."""
    before, _, paragraph = text.rpartition("\n\n")
    first_line, _, below = paragraph.partition("\n")
    is_below_rule = _is_rule(before.rstrip().rpartition("\n")[2])
    if _is_rule(first_line):
        is_below_rule = True
        paragraph = below
    is_short = len(paragraph) <= _MAX_SENTENCE and not paragraph.startswith(
        ("#", "|", "```", "~~~")
    )
    speaks = _ADDRESSED.search(paragraph) and _OWN_WORK.search(paragraph)
    return before if is_below_rule and is_short and speaks else text


def _is_rule(line: str) -> bool:
    """Tell whether a line is a rule: only dashes, stars or underscores."""
    return len(line.strip()) > 2 and not line.strip("-*_ \t")


def _without_list(text: str) -> str:
    """Return a text without a list at its end, if what stands above it makes it talk."""
    lines = text.split("\n")
    while lines and (_ITEM.match(lines[-1]) or not lines[-1].strip()):
        lines.pop()
    label = lines[-1] if lines else ""
    is_label = label.rstrip(" *_").endswith((":", "：")) and len(label) <= _MAX_SENTENCE
    is_talk = is_label and _CLOSING.match(label)
    return "\n".join(lines[:-1]) if is_talk else text


def _drop_closing(line: str) -> str:
    """Return a line without the talk at its end."""
    if len(line) <= _MAX_SENTENCE and _CLOSING.match(line):
        return ""
    starts = []
    for match in _SENTENCE_END.finditer(line):
        starts.append(match.end())
    kept = len(line)
    end = kept
    for start in reversed(starts):
        sentence = line[start:end]
        if len(sentence) <= _MAX_SENTENCE and _CLOSING.match(sentence):
            kept = start
        elif _WORD.search(sentence):  # and no emoji
            break
        end = start
    return line[:kept].rstrip()

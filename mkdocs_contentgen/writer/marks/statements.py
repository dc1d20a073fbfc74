"""Find the statements in a text that a person has to check: figures, dates and quotations.

What stands in the topic counts as given.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from ...language.languages import any_of
from ...language.ranges import Range, without_overlaps
from ...language.sentences import SENTENCE_SIGNS
from ...language.values import Readings, Value, find_values, is_converted, known_values
from ...language.words import UNSPACED, count_words, split_words

_PAIRS = (
    ("“", "”"),
    ("„", "“"),
    ("„", "”"),
    ("„", '"'),
    ("«", "»"),
    ("「", "」"),
    ("『", "』"),
    ("‹", "›"),
)
"""The signs around a quotation."""

_PAIRS_BESIDE_WORDS = (("»", "«"), ("›", "‹"))
"""Signs that other languages put the other way round: these count with a word beside each."""

_QUOTATION = re.compile(
    "|".join(
        [
            *(rf"{first}[^{first}{last}\n]{{1,600}}{last}" for first, last in _PAIRS),
            *(
                rf"{first}(?=\S)[^{first}{last}\n]{{1,600}}(?<=\S){last}"
                for first, last in _PAIRS_BESIDE_WORDS
            ),
            r"(?<![^\s(])”(?=\w)[^”\n]{1,600}”",  # Swedish and Finnish
            r'(?<![A-Za-z0-9])"(?=\S)[^"\n]{1,600}(?<=\S)"(?![A-Za-z0-9])',
            r"(?<!\w)‘(?:[^‘’\n]|’(?=\w)){1,600}’(?!\w)",
        ]
    )
)
"""Up to 600 characters of a line in quotation marks."""

_PATH = r"[^\s<>()，。；：！？、「」“”„«»\"]*[^\s<>()，。；：！？、「」“”„«».,;:!?\"'’]"
_ADDRESS = (
    rf"(?:https?://|www\.){_PATH}"
    r"|(?<![\w.@+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    rf"|(?<![\w.@/-])(?:[\w-]{{1,63}}\.){{1,4}}(?:com|org|net)\b(?:/{_PATH})?"
)
"""An address of a page or of e-mail, also without its scheme."""

_GAP = r"\[[^\[\]\n]{3,200}\]"
"""A gap that the model was told to mark, such as `[not known: when it takes effect]`."""

_LITERAL = re.compile(f"{_ADDRESS}|{_GAP}")
"""An address or a gap."""

_HINTS_AT_LITERALS = ("@", "://", "www.", ".com", ".org", ".net", "[")
"""What a text with one has, so that most texts are not searched."""

_WITHOUT_VALUE = re.compile(f"{_ADDRESS}|{_GAP}|{any_of('no_statement')}")
"""An address, a gap, or what has figures and is no statement, such as `Step 3`."""

_ITEM_NUMBER = re.compile(
    r"\W{0,3}(?:第|[^\W\d]{1,20} )?(\d{1,3})(?:\s?[步条个点章])?"
    r"(?:[.):：、]\s?(?!\d)|\ufe0f?\u20e3\s?|\s[·•|–—-]\s)"
)
"""The number at the start of a heading, such as `3. ` or `Step 3: `, as group 1."""

_SECTION_NUMBER = re.compile(
    r"\W{0,6}(?:\d{1,2}(?:\.\d{1,2}){0,3}(?:[.)、]\s{1,4}(?=\S)|[.)、:：]\s{0,4}(?![\d\s]))"
    rf"|(?:[^\W\d]{{1,20}} |[{UNSPACED}]{{1,6}})\d{{1,2}}\s?(?:[:：]|[–—-]\s))"
)
"""The number of a section or an item at the start of a text: `3. Costs`, `Day 1: The start`."""

_HEADING_NUMBER = re.compile(r"\W{0,6}\d{1,2}(?:\.\d{1,2}){1,3}\.?\s(?=\S)")
"""The number of a heading, without a unit: `2.1 Impact`. In a paragraph, it is a figure."""

MIN_QUOTED_WORDS = 4
"""Quotation marks around fewer words mark a term, unless somebody says it beside them."""

_BESIDE = 60
"""How many characters before and after a quotation may say that somebody says it."""

_SAYING = any_of("saying")
"""A verb of speech."""

_SAID_BEFORE = re.compile(
    rf"(?:\b{_SAYING}(?: [\w.'’-]+){{0,4}}|说|說|表示|写道)\s?(?:[,:，：]|(?P<sentence>\.))\s?$"
)
"""The end of what stands before a quotation that somebody says: `She said: `."""

_SAID_AFTER = re.compile(
    r"[,，]?\s?(?:(?:he|she|they|we|I|it|the|an?|one|her|his|our|their|[A-Z][\w.'’-]*)"
    rf"(?: [\w.'’-]+){{0,5}} )?(?:{_SAYING}|say)\b"
    r"|[,，]?\w{0,6}(?:说|說|表示)|と(?:述べ|言|話|語)"
)
"""What follows such a quotation: `, says Jo`."""


_IN_OTHER_UNIT = re.compile(r"\s?[(/,]\s?(?:or|oder|ou|o)?\s?|\s(?:or|oder|ou|o)\s")
"""What stands between an amount and the same amount in another unit."""

_CUT = re.compile(r"\[[^\[\]\n]{0,60}\]|…|\.{3,4}")
"""Where a quotation leaves words out, or has others in square brackets."""

_JOINED = re.compile(r"\s(?:and|und|et|y|e|и|och|en)\s")
"""What can join two quotations to one."""

_MOST_JOINTS = 4

_LEAST_JOINED_WORDS = 3
"""Words of each of two quotations that a text joins."""


def find_statements(
    text: str, given: str, language: str = "", *, number_words: bool = True
) -> list[Range]:
    """Return the ranges of the statements in `text` that do not stand in `given`.

    They are in order and do not overlap. `language` is a BCP 47 tag, or empty to guess it.
    """
    known = _normalize(given)
    found = []
    for part in without_overlaps(_literal_parts(text)):
        if not _is_quoted(part.of(text), known):
            found.append(part)
    stated = known_values(given, language)
    values = find_values(text, language)
    unstated = [number for number, value in enumerate(values) if not value.is_stated(stated)]
    places_without_values = _places_without_values(text) if unstated else []
    for number in unstated:
        value = values[number]
        if value.is_in_words and not number_words:
            continue
        if _is_within(value.start, places_without_values):
            continue
        if _is_converted(text, values, number, stated):
            continue
        start, end = value.unstated(stated)
        found.append(Range(start, end, is_weak=value.has_known_digits(stated)))
    return without_overlaps(found)


def _is_converted(text: str, values: Sequence[Value], number: int, stated: Readings) -> bool:
    """Tell whether a value is a stated one beside it in another unit, as in `350 °F (177 °C)`."""
    value = values[number]
    for other in values[max(0, number - 1) : number + 2]:
        between = text[min(value.end, other.end) : max(value.start, other.start)]
        if value.figure is None or other.figure is None or not _IN_OTHER_UNIT.fullmatch(between):
            continue
        if is_converted(value.figure, other.figure) and other.is_stated(stated):
            return True
    return False


def _literal_parts(text: str) -> list[Range]:
    """Return what sources have to say word by word: addresses, gaps and quotations."""
    literal: list[Range] = []
    if any(hint in text for hint in _HINTS_AT_LITERALS):
        literal += [Range(*match.span()) for match in _LITERAL.finditer(text)]
    for match in _QUOTATION.finditer(text):
        if _is_long(match[0]) or _is_said(text, *match.span()):
            literal.append(Range(*match.span()))
    return literal


def _places_without_values(text: str) -> list[Range]:
    """Return where a figure is no statement of its own, such as in an address."""
    return [Range(*match.span()) for match in _WITHOUT_VALUE.finditer(text)]


def _is_within(position: int, ranges: Sequence[Range]) -> bool:
    """Tell whether a position is in one of the ranges, which are in order and do not overlap."""
    after = bisect_right(ranges, position, key=lambda part: part.start)
    return after > 0 and position < ranges[after - 1].end


def find_quotations(text: str, given: str) -> list[str]:
    """Return the quotations in `text` that do not stand in `given`."""
    found = []
    for match in _QUOTATION.finditer(text):
        if is_invented(match[0], given):
            found.append(match[0])
    return found


def is_invented(quoted: str, given: str) -> bool:
    """Tell whether a quoted text is a quotation, not a term, and does not stand in `given`."""
    return _is_long(quoted) and not _is_quoted(quoted, _normalize(given))


def item_number(heading: str) -> re.Match[str] | None:
    """Return the number at the start of a heading, such as `3. ` or `Step 3: `, as group 1."""
    return _ITEM_NUMBER.match(heading)


def number_end(text: str, *, is_heading: bool = False) -> int:
    """Return where the number of a section or an item ends with which a text begins, or 0."""
    patterns = [_SECTION_NUMBER]
    if is_heading:
        patterns += [_HEADING_NUMBER, _ITEM_NUMBER]
    end = 0
    for pattern in patterns:
        match = pattern.match(text)
        if match:
            end = max(end, match.end())
    return end


def _is_long(text: str) -> bool:
    return count_words(split_words(text)) >= MIN_QUOTED_WORDS


def _is_said(text: str, start: int, end: int) -> bool:
    """Tell whether somebody says what is quoted, as in `"It works," says Jo`."""
    is_sentence = text[start + 1 : end - 1].rstrip().endswith(tuple(f",，{SENTENCE_SIGNS}"))
    before = _SAID_BEFORE.search(text[max(0, start - _BESIDE) : start])
    if before and (is_sentence or not before["sentence"]):
        return True
    after = _SAID_AFTER.match(text[end : end + _BESIDE])
    return after is not None and (is_sentence or after[0][0] in ",，と")


def _stands_in(statement: str, known: str) -> bool:
    wanted = _normalize(statement)
    return bool(wanted) and wanted in known


def _is_quoted(quotation: str, known: str) -> bool:
    """Tell whether a quotation stands in what is given, also where it is cut or joined."""
    if _stands_in(quotation, known):
        return True
    pieces = [piece for piece in map(_normalize, _CUT.split(quotation)) if piece]
    if len(pieces) > 1 and all(piece in known for piece in pieces):
        return True
    # The few places that can join two quotations are tried one after the other.
    for joint in list(_JOINED.finditer(quotation))[:_MOST_JOINTS]:
        halves = [_normalize(quotation[: joint.start()]), _normalize(quotation[joint.end() :])]
        if all(len(half.split()) >= _LEAST_JOINED_WORDS and half in known for half in halves):
            return True
    return False


@lru_cache(maxsize=256)  # what is given is the same for all paragraphs, and long with sources
def _normalize(text: str) -> str:
    """Return the words and figures of a text in lower case, each between spaces."""
    found = re.findall(r"\d+(?:[.,:/-]\d+)*|[A-Za-zÀ-ɏ\u0370-\u052f]+|\w|[%€$£¥]", text.casefold())
    if not found:
        return ""
    return f" {' '.join(found)} "

"""Compare the translation of a block with its original: what one says and the other does not.

The original vouches for what a translation says. So what only the translation has is marked, as a
statement to check: figures, dates, times, names, addresses, flags and files. What only the original
has cannot be marked in the translation, so there is a message for it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from bs4 import Tag
from bs4.element import NavigableString

from ..display import escape_controls
from ..errors import EditError
from ..html.descriptions import CITATION_LABEL
from ..html.elements import HEADINGS
from ..language.languages import primary_tag
from ..language.ranges import Range, overlaps, without_overlaps
from ..language.sentences import CLOSING_MARKS, SAME_SIGNS, SENTENCE_SIGNS
from ..language.values import (
    Figure,
    Readings,
    Value,
    find_values,
    has_unit_words,
    has_vocabulary,
    known_values,
)
from ..language.words import HANGUL, OBJECT, UNSPACED, split_words
from ..service.protocol import MAX_REASON, OriginalBlock
from ..writer.marks.marking import mark_element
from ..writer.models.glossary import NO_GLOSSARY, Glossary, is_kept
from .compared_words import (
    NO_COMMON_WORDS,
    BlockText,
    CommonWords,
    as_compared,
    compare_names,
    compare_negations,
    missing_rates,
    stems_of,
)
from .exchanged_words import exchanged_words
from .literals import compare_literals, literals_of, numbers_in_literals
from .translatable import NUMBER, read_translated
from .translated_block import is_sentence

_MOST_MARKS = 100
"""A block gets no more marks than this: one that has them is not a translation."""

_MOST_MESSAGES = 5
"""A block gets no more messages than this."""

_LEAST_LENGTH = 60
"""A shorter block, in letters, can be of any length in another language."""

_MOST_FACTOR = 3
"""How many times longer or shorter than its original a translation can be."""

_LETTERS_OF_A_SIGN = 2
"""A sign of Chinese, Japanese or Korean says as much as so many letters of an alphabet."""

_UNITS_OF_TIME = ("second", "minute", "hour", "day", "year")
_COUNTERS = ("piece", "person", "times")
"""Units that some languages put after each number."""

_HALF = re.compile(r"\b(?:half|halbe?[nrs]?|demie?|medi[oa]|mei[oa]|mezz[oa])\b", re.IGNORECASE)
"""The word for a half, in the languages that have many translations."""

_YEAR = re.compile(r"[12]\d{3}")
"""A year in figures."""

_DAY_OF_MONTH = re.compile(r"(?P<month>(?:\d{4}/)?\d{1,2})/(?P<day>\d{1,2})")
"""The reading of a day."""

_SMALL = ("1", "2")
"""Numbers that one language writes as a word, or leaves out, where another has a figure."""

_KEPT = re.compile(f"{NUMBER.pattern}|{CITATION_LABEL.pattern}")
"""Matches what stands for a part that stays, and a citation, whose number says nothing."""

_LEAST_TO_SWAP = 5
"""Blocks with fewer words are not compared with their neighbours."""

_LEAST_CROSSED = 2
"""Swapped blocks share at least so many words with each other's originals."""

_CROSSED_FOR_EACH = 3
"""And so many more for each word that they share with their own originals."""

_TIMES_ALIKE = 1.3
_TIMES_UNLIKE = 1.8
"""Two blocks grow in a translation by factors that are alike or unlike if one is so many times the
other."""

_LEAST_SHAPE = 30
_TIMES_SHAPE = 2
"""Two texts differ in shape if one has at least so many letters, and so many times the other's."""

_SIGN = re.compile(f"[{SENTENCE_SIGNS}:;：；]")
_AFTER_SIGN = re.compile(rf"[.!?…\s{CLOSING_MARKS}{OBJECT}]*")
"""Matches what can stand after the sign that a text ends with."""

_OPENING_BRACKETS = re.compile("[(\uff08]")

_THIRD_PARTY = re.compile("(?:3rd|third)[ -]part", re.IGNORECASE)
"""Says that something comes from elsewhere, for which other languages have no number."""

_BREAK = "\n"
"""What stands for a line break, so that the words around it are two."""

_NOT_TRANSLATED = "it is not translated"

_MINUS = re.compile(
    r"\b(?:minus|moins|menos|meno|negativ|below|unter|sous|bajo|sotto|abaixo|минус|ниже)"
    "|マイナス|零下|氷点下|[负負]|마이너스|영하|سالب|ناقص|تحت",
    re.IGNORECASE,
)
"""Words for the sign of a negative number."""

_NEGATIVE = re.compile("(?<![^\\s(\\[:])[-\u2212–](?=\\d)")
"""The sign of a negative number. Between two numbers, it is something else."""

_LATIN_WORD = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z][A-Za-z.-]*[A-Za-z](?![A-Za-z0-9_])")
"""A word in Latin letters in a text of any script."""


def is_of_another_block(
    element: Tag,
    block: OriginalBlock,
    others: Iterable[OriginalBlock],
    language: str,
    from_language: str,
) -> bool:
    """Tell whether the words for a block are rather a translation of one of the other blocks.

    They are if they do not fit their own block, from which something is missing and to which
    something is added, but fit the other one, and have at least as many words in common with that.
    """
    own = compare_block(_pair(element, element_of(block), language, from_language))
    if not (own.added and own.messages):
        return False
    stems = stems_of(words_of_block(element))
    count_shared = len(stems & stems_of(_original_text(block.text)))
    for other in others:
        try:
            original = element_of(other)
        except EditError:  # a block that nobody can translate
            continue
        comparison = compare_block(_pair(element, original, language, from_language))
        agrees = not comparison.added and not comparison.messages
        if agrees and len(stems & stems_of(_original_text(other.text))) >= count_shared:
            return True
    return False


def are_swapped(
    block: OriginalBlock, element: Tag, other: OriginalBlock, other_element: Tag
) -> bool:
    """Tell whether the words for two blocks are rather translations of each other's.

    Measured with translations of a documentation into twelve languages, and blocks without figures,
    code and links: of 24,000 pairs of neighbours, one is taken for swapped. If they are swapped on
    purpose, 58 to 81 of 100 are found.
    """
    return _have_swapped_shapes(block, element, other, other_element) or _have_swapped_words(
        block, element, other, other_element
    )


def _fit_crossed(length: int, translated: int, other: int, other_translated: int) -> bool:
    """Tell whether the lengths of two blocks are as those of each other's translation only.

    Both translations are longer or shorter than their originals by about the same factor.
    """
    if min(length, translated, other, other_translated) < _LEAST_SHAPE:
        return False
    straight = (translated * other) / (length * other_translated)
    crossed = (translated * length) / (other * other_translated)
    return not _is_about_1(straight, _TIMES_UNLIKE) and _is_about_1(crossed, _TIMES_ALIKE)


def length_factor(element: Tag, block: OriginalBlock) -> float | None:
    """Return how many times longer than its original a translation is, or None for a short one."""
    length = _length(_original_text(block.text))
    if length < _LEAST_SHAPE:
        return None
    return _length(words_of_block(element)) / length


def holds_both(element: Tag, block: OriginalBlock, following: OriginalBlock, factor: float) -> bool:
    """Tell whether the words for a block are as long as those for it and the following one.

    `factor` is the length_factor() of the other blocks of a text.
    """
    try:
        length_of_following = _length(_original_text(following.text))
    except EditError:  # a block that nobody can translate
        return False
    own = length_factor(element, block)
    if own is None or own < factor * _TIMES_UNLIKE or length_of_following < _LEAST_SHAPE:
        return False
    both = _length(_original_text(block.text)) + length_of_following
    return _is_about_1(_length(words_of_block(element)) / (both * factor), _TIMES_ALIKE)


def _is_about_1(factor: float, most: float) -> bool:
    return 1 / most <= factor <= most


def has_shape_of(element: Tag, block: OriginalBlock) -> bool:
    """Tell whether words can be a translation of a block by their form.

    They end with the same sign, have as many brackets, and are not far longer or shorter.
    """
    try:
        original = _original_text(block.text)
    except EditError:  # a block that nobody can translate
        return False
    translation = words_of_block(element)
    shorter, longer = sorted((_length(original), _length(translation)))
    is_as_long = longer < _LEAST_SHAPE or longer <= shorter * _TIMES_SHAPE
    return is_as_long and _signs(original) == _signs(translation)


def _signs(text: str) -> tuple[str, int]:
    """Return the sign that a text ends with, and its number of brackets."""
    # From the end of the text on, since looking from each sign on would take quadratic time.
    after = _AFTER_SIGN.match(text[::-1])
    length_after = after.end() if after else 0
    # From the character before these on, which can be a sign such as `:`.
    sign = _SIGN.search(text, max(0, len(text) - length_after - 1))
    shown = sign[0].translate(SAME_SIGNS) if sign else ""
    return shown, len(_OPENING_BRACKETS.findall(text))


def _have_swapped_shapes(
    block: OriginalBlock, element: Tag, other: OriginalBlock, other_element: Tag
) -> bool:
    """Tell whether the words for each of two blocks have only the shape of the other block."""
    if has_shape_of(element, block) or has_shape_of(other_element, other):
        return False
    return has_shape_of(element, other) and has_shape_of(other_element, block)


def _have_swapped_words(
    block: OriginalBlock, element: Tag, other: OriginalBlock, other_element: Tag
) -> bool:
    """Tell whether the words for each of two blocks begin like those of the other block.

    Many words begin alike in two languages, such as `format` and `Format`.
    """
    if min(len(split_words(block.text)), len(split_words(other.text))) < _LEAST_TO_SWAP:
        return False
    texts = (
        _original_text(block.text),
        words_of_block(element),
        _original_text(other.text),
        words_of_block(other_element),
    )
    stems, translated, other_stems, other_translated = map(stems_of, texts)
    straight = len(stems & translated)
    other_straight = len(other_stems & other_translated)
    crossed = len(stems & other_translated)
    other_crossed = len(other_stems & translated)
    if straight + other_straight == 0 < crossed + other_crossed:
        lengths = [_length(text) for text in texts]
        if _fit_crossed(*lengths):
            return True
    if crossed <= straight or other_crossed <= other_straight:
        return False
    least = _LEAST_CROSSED + _CROSSED_FOR_EACH * (straight + other_straight)
    return crossed + other_crossed >= least


@lru_cache(maxsize=256)  # each block is compared with several answers, and reading it takes 1 ms
def _original_text(markdown: str) -> str:
    """Return the plain text of a block of the original. Raises EditError."""
    return words_of_block(read_translated(markdown, markdown))


def element_of(block: OriginalBlock) -> Tag:
    """Return the element of a block of the original, as it is compared with its translation."""
    original = read_translated(block.text, block.text)
    original.name = block.kind
    return original


def _pair(
    element: Tag,
    original: Tag,
    language: str,
    from_language: str,
    common_words: CommonWords = NO_COMMON_WORDS,
) -> BlockText:
    return BlockText(
        original=words_of_block(original),
        translation=words_of_block(element),
        original_with_code=_with_code_and_addresses(original),
        translation_with_code=_with_code_and_addresses(element),
        from_language=primary_tag(from_language),
        language=primary_tag(language),
        is_heading=original.name in HEADINGS,
        common_words=common_words,
        links=_links_in(original),
        translated_links=_links_in(element),
    )


def _with_code_and_addresses(element: Tag) -> str:
    """Return all that a block says, with its code, and the addresses of its links."""
    words = ""
    for node in _pieces_of(element):
        words += _BREAK if isinstance(node, Tag) else str(node)
    addresses = [str(link["href"]) for link in element.find_all("a", href=True)]
    return " ".join([words, *addresses])


def _links_in(element: Tag) -> list[Range]:
    """Return where the plain text of a block is in links."""
    found = []
    position = 0
    for node in _pieces_of(element):
        end = position + (len(_BREAK) if isinstance(node, Tag) else len(node))
        if node.find_parent(["a", "span"]):  # `span` is what is left of a link within the site
            found.append(Range(position, end))
        position = end
    return found


def check(
    element: Tag,
    original: Tag,
    language: str,
    from_language: str,
    glossary: Glossary = NO_GLOSSARY,
    common_words: CommonWords = NO_COMMON_WORDS,
) -> str:
    """Mark what a translated block states and its original does not, and return a remark.

    The remark says what a person should know of the block, or is empty. The languages are BCP 47
    tags. `common_words` are those of the whole original and of the whole translation.
    """
    pair = _pair(element, original, language, from_language, common_words)
    if _is_as_original(element, original):
        return _NOT_TRANSLATED if _needs_translation(pair) else ""
    comparison = compare_block(pair)
    breaks = _breaks_in(element)
    mark_element(element, [_without_breaks(part, breaks) for part in comparison.added])
    with_code = replace(
        pair, original=pair.original_with_code, translation=pair.translation_with_code
    )
    messages = [*comparison.messages, *_length_messages(pair), *exchanged_words(with_code)]
    for term in glossary.terms_in([pair.original], language):
        if not is_kept(term, pair.translation):
            messages.append(f"the glossary has '{term.target}' for '{term.source}'")
    return escape_controls("; ".join(messages))[:MAX_REASON]


def fits(element: Tag, original: Tag, language: str, from_language: str) -> bool:
    """Tell whether a block can be the translation of another one.

    It is not if it says what that does not say and lacks what that says, or has an absurd length.
    """
    pair = _pair(element, original, language, from_language)
    comparison = compare_block(pair)
    return not (_length_messages(pair) or (comparison.added and comparison.messages))


def _is_as_original(element: Tag, original: Tag) -> bool:
    """Tell whether a block has the words of its original, letter for letter."""
    return element.get_text().split() == original.get_text().split()


def _needs_translation(pair: BlockText) -> bool:
    """Tell whether the words of an original say something that is not the same in all languages."""
    if pair.language == pair.from_language:
        return False
    return is_sentence(split_words(pair.original), pair.from_language)


def _length_messages(pair: BlockText) -> list[str]:
    """Return a message for a translation that cannot say what its original says."""
    original = _length(pair.original)
    translation = _length(pair.translation)
    if max(original, translation) < _LEAST_LENGTH:
        return []
    if translation * _MOST_FACTOR < original:
        return ["it is less than a third as long as the original"]
    if translation > original * _MOST_FACTOR:
        return ["it is more than three times as long as the original"]
    return []


def _length(text: str) -> int:
    """Return the number of letters and figures, as if all were of an alphabet."""
    unspaced = len(re.findall(f"[{UNSPACED}{HANGUL}]", text))
    return len(re.findall(r"\w", text)) + (_LETTERS_OF_A_SIGN - 1) * unspaced


@dataclass(frozen=True)
class Comparison:
    """What a translation and its original do not have in common."""

    added: Sequence[Range]
    """The ranges of the translation's text that the original does not vouch for."""

    messages: Sequence[str]
    """What of the original is not in the translation."""


def compare_block(pair: BlockText) -> Comparison:
    """Compare the text of a block and that of its translation."""
    added_values, missing_values = _compare_values(pair)
    added_literals, missing_literals = compare_literals(pair)
    added_names, missing_names = compare_names(pair)
    values = [
        Range(value.start, value.end) for value in find_values(pair.translation, pair.language)
    ]
    added_signs, missing_signs = _compare_signs(pair)
    added = [*added_literals, *added_values, *added_signs]
    for part in [*added_names, *_added_latin_words(pair)]:
        if not overlaps(part.start, part.end, values):  # such as a unit, or a month
            added.append(part)
    messages = [
        *missing_literals,
        *missing_values,
        *missing_signs,
        *missing_names,
        *missing_rates(pair),
        *compare_negations(pair),
    ]
    ranges = without_overlaps(added)[:_MOST_MARKS]
    return Comparison(ranges, list(dict.fromkeys(messages))[:_MOST_MESSAGES])


def words_of_block(element: Tag) -> str:
    """Return the text of a block, with signs of the same length for code and parts that stay."""
    words = ""
    for node in _pieces_of(element):
        words += _BREAK if isinstance(node, Tag) else _plain(node)
    return words


def _pieces_of(element: Tag) -> Iterator[Tag | NavigableString]:
    """Yield the texts and the line breaks of a block."""
    for node in element.descendants:
        if isinstance(node, NavigableString) or (isinstance(node, Tag) and node.name == "br"):
            yield node


def _breaks_in(element: Tag) -> list[int]:
    """Return where words_of_block() has a sign for a line break, which is not a text of its own."""
    found = []
    position = 0
    for node in _pieces_of(element):
        if isinstance(node, Tag):
            found.append(position)
            position += len(_BREAK)
        else:
            position += len(node)
    return found


def _without_breaks(part: Range, breaks: Sequence[int]) -> Range:
    """Return a part of words_of_block() as a part of the text without its signs for breaks."""
    start = part.start - bisect_left(breaks, part.start)
    return replace(part, start=start, end=part.end - bisect_left(breaks, part.end))


def _plain(string: NavigableString) -> str:
    text = str(string)
    if string.find_parent("code"):
        return OBJECT * len(text)
    return _KEPT.sub(lambda match: OBJECT * len(match[0]), text)


def _compare_values(pair: BlockText) -> tuple[list[Range], list[str]]:
    """Return the values that only the translation has, and messages for those that it lacks."""
    originals = find_values(pair.original, pair.from_language)
    return _added_values(pair, originals), _missing_values(pair, originals)


def _added_values(pair: BlockText, originals: Sequence[Value]) -> list[Range]:
    """Return the values of a translation that its original does not have."""
    stated = _readings_of_original(pair, originals)
    literals = literals_of(pair.translation)
    has_vague = any(map(_is_vague, originals))
    in_literals = numbers_in_literals(pair.original)
    added = []
    for value in find_values(pair.translation, pair.language):
        if _need_not_be_stated(value) or _states(stated, value):
            continue
        if _is_particle(value, pair):
            continue
        if has_vague and _is_vague(value):
            continue
        if _is_number_alone(value, in_literals):  # `Python 3` for `Python3`
            continue
        if not overlaps(value.start, value.end, literals):
            added.append(Range(value.start, value.end))
    return added


def _is_particle(value: Value, pair: BlockText) -> bool:
    """Tell whether a number is a Korean particle after another word: `only` is ten thousand."""
    written = pair.translation[value.start : value.end]
    before = pair.translation[value.start - 1 : value.start]
    return written == "만" and bool(before.strip())


def _is_number_alone(value: Value, numbers: Container[str]) -> bool:
    """Tell whether a value is one of these numbers, without a unit."""
    if value.figure is None:
        return False
    figure = _without_optional_unit(value.figure)
    return not figure.unit and figure.written in numbers


def _readings_of_original(pair: BlockText, originals: Sequence[Value]) -> Readings:
    """Return all that the values of an original can be in another language."""
    readings = set(known_values(pair.original, pair.from_language)) | _days_of_range(originals)
    for value in originals:
        readings |= _in_other_words(value)
    if _HALF.search(pair.original):
        readings.add("0.5")
        readings.update(f"0.5 {unit}" for unit in _UNITS_OF_TIME)
    return frozenset(readings)


def _missing_values(pair: BlockText, originals: Sequence[Value]) -> list[str]:
    """Return a message for each value of an original that its translation does not have."""
    translated = find_values(pair.translation, pair.language)
    stated = known_values(pair.translation, pair.language) | _days_of_range(translated)
    literals = literals_of(pair.original)
    messages = []
    for value in originals:
        if _is_vague(value) or _need_not_be_stated(value) or not _is_comparable(value, pair):
            continue
        if overlaps(value.start, value.end, literals) or _THIRD_PARTY.match(
            pair.original, value.start
        ):
            continue
        is_stated = _states(stated, value) or not stated.isdisjoint(_in_other_words(value))
        if not (is_stated or _can_have_unknown_unit(stated, value, pair)):
            written = pair.original[value.start : value.end]
            messages.append(f"'{written}' of the original is missing")
    return messages


def _days_of_range(values: Sequence[Value]) -> Readings:
    """Return what days are in other languages: the 19th to 21st of May is May 19 to 21.

    So each day can have the month or not, if there are days with a month and numbers without one.
    """
    numbers = set()
    dates = []
    for value in values:
        if value.figure is not None and not value.figure.unit and value.figure.written.isdecimal():
            numbers.add(value.figure.written)
        for reading in chain.from_iterable(value.parts):
            match = _DAY_OF_MONTH.fullmatch(reading)
            if match:
                dates.append(match)
    if not numbers:
        return frozenset()
    found = set()
    for date in dates:
        found.add(date["day"])
        found.update(f"{date['month']}/{number}" for number in numbers)
    return frozenset(found)


def _can_have_unknown_unit(stated: Readings, value: Value, pair: BlockText) -> bool:
    """Tell whether a translation has a number, and its language has no words of units here."""
    if value.figure is None or has_unit_words(pair.language):
        return False
    return not stated.isdisjoint(value.figure.bare_readings())


def _compare_signs(pair: BlockText) -> tuple[list[Range], list[str]]:
    """Return the negative numbers that only the translation has, and messages for what it lacks.

    A number that is not there at all, with any sign, is what _compare_values() finds.
    """
    texts = (pair.original, pair.translation)
    if not any(map(_NEGATIVE.search, texts)) or any(map(_MINUS.search, texts)):
        return [], []
    original = find_values(pair.original, pair.from_language)
    translation = find_values(pair.translation, pair.language)
    added = []
    for value in _negative_only_here(translation, pair.translation, original, pair.original):
        added.append(Range(value.start - 1, value.end))
    messages = []
    for value in _negative_only_here(original, pair.original, translation, pair.translation):
        written = pair.original[value.start : value.end]
        messages.append(f"'-{written}' of the original is missing")
    return added, messages


def _negative_only_here(
    values: Iterable[Value], text: str, others: Iterable[Value], other_text: str
) -> Iterator[Value]:
    """Yield the negative numbers of a text that another text has without their sign only."""
    negative: set[str] = set()
    positive: set[str] = set()
    for value in others:
        readings = negative if _is_negative(value, other_text) else positive
        readings |= value.looser
    for value in values:
        if _is_negative(value, text) and value.looser & positive and not value.looser & negative:
            yield value


def _is_negative(value: Value, text: str) -> bool:
    return value.figure is not None and _NEGATIVE.match(text, max(0, value.start - 1)) is not None


def _is_vague(value: Value) -> bool:
    """Tell whether a value is a round number in words, such as `hundreds` or `millions`."""
    if value.figure is None:
        readings = chain.from_iterable(value.parts)
        return any(reading.startswith("magnitude") for reading in readings)
    amount = value.figure.amounts[0][0]
    is_round = re.fullmatch("1|100+", str(amount)) is not None
    return is_round and not value.figure.written


def _is_comparable(value: Value, pair: BlockText) -> bool:
    """Tell whether the words of a value are known in the language of the translation."""
    return bool(value.figure and value.figure.written) or has_vocabulary(pair.language)


def _need_not_be_stated(value: Value) -> bool:
    """Tell whether a value is a small number, which the other language may say in another way."""
    if value.figure is None:
        return False
    figure = _without_optional_unit(value.figure)
    numbers = figure.bare_readings()
    if numbers == {"1"}:
        return True  # `1 hour` is an hour
    return numbers <= set(_SMALL) and not figure.unit


def _states(stated: Readings, value: Value) -> bool:
    """Tell whether a text with the readings `stated` has a value, with or without its unit."""
    if value.is_stated(stated):
        return True
    if value.figure is None:
        return False
    figure = _without_optional_unit(value.figure)
    return all(readings & stated for readings in figure.readings())


def _without_optional_unit(figure: Figure) -> Figure:
    """Return a figure without a unit that other languages leave out, as in `2024年` and `3 个`."""
    if figure.unit == "hectare":  # `ha` is a verb in Spanish and Italian
        return replace(figure, unit="")
    is_year = figure.unit == "year" and _YEAR.fullmatch(figure.written) is not None
    return replace(figure, unit="") if is_year or figure.unit in _COUNTERS else figure


def _in_other_words(value: Value) -> Readings:
    """Return how other languages say a value: `17` for 5 pm, the nineties of the 20th century."""
    found: set[str] = set()
    figure = value.figure
    if figure is None:
        for reading in chain.from_iterable(value.parts):
            found.add(reading.removesuffix(":00"))
    elif figure.unit == "decade of":
        year = int(figure.written)
        found |= {str(year), str(year % 100), f"{year // 100 + 1} century", str(year // 100 + 1)}
    return frozenset(found)


def _added_latin_words(pair: BlockText) -> list[Range]:
    """Return the words in Latin letters that a text in another script has from nowhere."""
    if pair.is_translation_latin:
        return []
    original = as_compared(pair.original_with_code or pair.original)
    found = []
    for match in _LATIN_WORD.finditer(pair.translation):
        singular = as_compared(match[0]).removesuffix("s")
        if singular in pair.common_words.all_of_original:
            continue
        if not match[0].isupper() and singular not in original:
            found.append(Range(*match.span()))
    return found

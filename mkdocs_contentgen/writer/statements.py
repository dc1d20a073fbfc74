"""Find the statements in a text that a person has to check: figures, dates and quotations.

What stands in the topic counts as given.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .languages import PHRASES, any_of
from .words import count_words, split_words

Range = tuple[int, int]
"""The start and the end of a part of a text."""

_MONTH = any_of("month")
_DATE = (
    rf"\d{{1,2}}(?:st|nd|rd|th|er)?\.?(?: of| de)? {_MONTH}\b(?:,?(?: de)? \d{{4}}\b)?"
    rf"|\b{_MONTH} (?:\d{{1,2}}(?:st|nd|rd|th)?(?:, \d{{4}})?|(?:of )?\d{{4}})\b"
    r"|\b(?i:pre|mid|post|early|late|since)-\d{4}s?\b"
    r"|\d{2,4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?|\d{1,2}月\d{1,2}[日号]"
)
_CURRENCY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF)"
_LETTER = r"A-Za-z\u00c0-\u024f\u0370-\u052f"
# What follows a figure and belongs to it. The first group needs no space before it.
_SUFFIX = any_of("suffix")
_UNIT = rf"(?:%|‰|°[CF]?|{_SUFFIX}|{_CURRENCY}|{any_of('unit')})"
# Neither `H2O` nor `utf-8` nor `C++20` has a figure.
_FIGURE = (
    rf"(?<![{_LETTER}\d_.])(?<![{_LETTER}\d][-+/])(?<!\+\+)"
    rf"(?:{_CURRENCY}\s?)?\d(?:[\d.,:/'’–\u00a0\u202f-]{{0,40}}\d)?"
    rf"{_SUFFIX}?(?:\s?{_UNIT}(?![{_LETTER}]))*(?:[%‰万亿元倍])*(?![{_LETTER}\d_])"
)
_PAIRS = zip("“„„„«»「『‹›", '”“”"»«」』›‹', strict=True)
_QUOTATION = re.compile(
    "|".join(rf"{first}[^{first}{last}\n]{{1,600}}{last}" for first, last in _PAIRS)
    + r"|(?<![^\s(])”(?=\w)[^”\n]{1,600}”"  # Swedish and Finnish
    + r'|(?<![A-Za-z0-9])"[^"\n]{1,600}"(?![A-Za-z0-9])'
    r"|(?<!\w)‘(?:[^‘’\n]|’(?=\w)){1,600}’(?!\w)"
)
_PATH = r"[^\s<>()，。；：！？、「」“”„«»\"]*[^\s<>()，。；：！？、「」“”„«».,;:!?\"'’]"
_ADDRESS = (
    rf"(?:https?://|www\.){_PATH}"
    r"|(?<![\w.@+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    rf"|(?<![\w.@/-])(?:[\w-]{{1,63}}\.){{1,4}}(?:com|org|net)\b(?:/{_PATH})?"
)
_GAP = r"\[[^\[\]\n]{3,200}\]"
"""A gap that the model was told to mark, such as `[not known: when it takes effect]`."""

_STATEMENT = re.compile(
    rf"(?P<address>{_ADDRESS})|(?P<gap>{_GAP})|(?P<none>{any_of('no_statement')})"
    rf"|(?P<date>{_DATE})|(?P<figure>{_FIGURE})"
)
_ITEM_NUMBER = re.compile(
    r"\W{0,3}(?:第|[^\W\d]{1,20} )?(\d{1,3})(?:\s?[步条个点章])?"
    r"(?:[.):：、]\s?(?!\d)|\ufe0f?\u20e3\s?|\s[–—-]\s)"
)
_CAPITAL = "[A-ZÀ-ÖØ-Þ]"
_CAPITALIZED = rf"{_CAPITAL}(?:['’-]?\w)++"
_NAME = re.compile(
    rf"(?<!\w)(?<!\w['’-])(?:(?!{_CAPITAL})\w++['’-])*+"
    rf"({_CAPITALIZED}(?: (?:(?:of|de|del|la|van|von|der|den|du|bin|al) ){{0,2}}{_CAPITALIZED})+)"
)
"""Two words or more that begin with capital letters, such as `Jane Smith`, as group 1.

What precedes them in the first word, such as `d’`, is matched too: so a word is tried only once.
"""

_OPENERS = frozenset(PHRASES["opener"].split())
"""Words that often begin a sentence, and so have a capital letter."""

_PRONOUNS = frozenset({"Sie", "Ihnen", "Ihr", "Ihre", "Ihren", "Ihrem", "Ihrer"})

MIN_QUOTED_WORDS = 4
"""Quotation marks around fewer words mark a term, unless somebody says it beside them."""

_BESIDE = 60
"""How many characters before and after a quotation may say that somebody says it."""

_SAYING = any_of("saying")
_SAID_BEFORE = re.compile(
    rf"(?:\b{_SAYING}(?: [\w.'’-]+){{0,4}}|说|說|表示|写道)\s?(?:[,:，：]|(?P<sentence>\.))\s?$"
)
_SAID_AFTER = re.compile(
    r"[,，]?\s?(?:(?:he|she|they|we|I|it|the|an?|one|her|his|our|their|[A-Z][\w.'’-]*)"
    rf"(?: [\w.'’-]+){{0,5}} )?(?:{_SAYING}|say)\b"
    r"|[,，]?\w{0,6}(?:说|說|表示)|と(?:述べ|言|話|語)"
)


def find_statements(text: str, given: str) -> list[Range]:
    """Return the ranges of the statements in `text` that do not stand in `given`.

    They are in order and do not overlap.
    """
    known = _normalize(given)
    ranges = [
        match.span()
        for match in _QUOTATION.finditer(text)
        if _is_long(match[0]) or _is_said(text, *match.span())
    ]
    ranges += [match.span() for match in _STATEMENT.finditer(text) if match.lastgroup != "none"]
    return [
        (start, end)
        for start, end in without_overlaps(ranges)
        if not _stands_in(text[start:end], known)
    ]


def find_names(text: str, given: str) -> list[Range]:
    """Return the ranges of the names in `text` that do not stand in `given`.

    Names are words in Latin script with capital letters, at least two beside each other: a single
    one can be any German noun. Words that often begin a sentence do not count at its start.
    """
    known = _normalize(given)
    ranges = []
    for match in _NAME.finditer(text):
        start, end = match.span(1)
        before = text[max(0, start - 12) : start].rstrip(" \"'“”„‘’»«(")
        if not before or before[-1] in ".!?:…":
            # `The Acme Server` names the Acme Server, and `In May` names nothing.
            first, _, rest = match[1].partition(" ")
            if rest in _PRONOUNS:  # `Messen Sie`
                continue
            if first.lower() in _OPENERS:
                start += len(first) + 1
                if " " not in rest:
                    continue
        if not _stands_in(text[start:end], known):
            ranges.append((start, end))
    return ranges


def find_quotations(text: str, given: str) -> list[str]:
    """Return the quotations in `text` that do not stand in `given`."""
    return [match[0] for match in _QUOTATION.finditer(text) if is_invented(match[0], given)]


def is_invented(quoted: str, given: str) -> bool:
    """Tell whether a quoted text is a quotation, not a term, and does not stand in `given`."""
    return _is_long(quoted) and not _stands_in(quoted, _normalize(given))


def item_number(heading: str) -> re.Match[str] | None:
    """Return the number at the start of a heading, such as `3. ` or `Step 3: `, as group 1."""
    return _ITEM_NUMBER.match(heading)


def without_overlaps(ranges: list[Range]) -> list[Range]:
    """Return the ranges in order, without those that begin within another."""
    kept: list[Range] = []
    for start, end in sorted(ranges):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _is_long(text: str) -> bool:
    return count_words(split_words(text)) >= MIN_QUOTED_WORDS


def _is_said(text: str, start: int, end: int) -> bool:
    """Tell whether somebody says what is quoted, as in `"It works," says Jo`."""
    is_sentence = text[start + 1 : end - 1].rstrip().endswith(tuple(",.!?…，。！？"))
    before = _SAID_BEFORE.search(text[max(0, start - _BESIDE) : start])
    if before and (is_sentence or not before["sentence"]):
        return True
    after = _SAID_AFTER.match(text[end : end + _BESIDE])
    return after is not None and (is_sentence or after[0][0] in ",，と")


def _stands_in(statement: str, known: str) -> bool:
    wanted = _normalize(statement)
    return bool(wanted) and wanted in known


@lru_cache(maxsize=256)  # what is given is the same for all paragraphs, and long with sources
def _normalize(text: str) -> str:
    """Return the words and figures of a text in lower case, each between spaces."""
    found = re.findall(r"\d+(?:[.,:/-]\d+)*|[A-Za-zÀ-ɏ\u0370-\u052f]+|\w|[%€$£¥]", text.casefold())
    return f" {' '.join(found)} " if found else ""

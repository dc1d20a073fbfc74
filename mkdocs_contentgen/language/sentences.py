"""Find where sentences end.

A person who removes a sentence must lose neither more nor less than that sentence, so rules that
only make sentences longer or shorter do not help. A period is judged by the word before it and the
word after it: figures end a sentence, German ordinals and most abbreviations do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .ranges import Range

_LATIN = ".!?…"
# Of Arabic, Urdu, Hindi, Armenian, Amharic, Burmese and Khmer.
_OTHER = "\u061f\u06d4\u0964\u0965\u0589\u1362\u104b\u17d4"
_WIDE = "。！？｡\uff0e"

SENTENCE_SIGNS = f"{_LATIN}{_OTHER}{_WIDE}"
"""The characters that sentences end with, in all scripts."""

_CLOSING = "\"'”’»)\\]“‘«‹›*_"
_WIDE_CLOSING = "”’」』\uff09"

CLOSING_MARKS = f"{_CLOSING}{_WIDE_CLOSING}"
"""What stands after them: quotation marks, brackets, and emphasis; for a class of a pattern."""

_FULL_STOPS = "\u06d4\u0964\u0965\u0589\u1362\u104b\u17d4。｡\uff0e…"
SAME_SIGNS = str.maketrans(f"{_FULL_STOPS}！？\u061f：；", f"{'.' * len(_FULL_STOPS)}!??:;")
"""For str.translate(): the sign of Latin script for each sign of another script."""

_REFERENCES = r"(?:\s?\[\d{1,3}\])*+[¹²³⁰⁴-⁹]*+"
_END = re.compile(
    # A run of signs is tried once: trying it from each sign on would take quadratic time.
    rf"(?<![{_LATIN}])(?:(?P<period>\.)(?![{_LATIN}])|[{_LATIN}]++)"
    rf"(?:\s»)?[{_CLOSING}]*+{_REFERENCES}\s++"
    rf"|(?<![{_OTHER}])[{_OTHER}]++[{_CLOSING}]*+{_REFERENCES}\s++"
    # Japanese and Chinese have no space after a sentence. `「本当？」と言った` goes on.
    rf"|(?<![{_WIDE}])[{_WIDE}]++(?![{_WIDE_CLOSING}]++(?:と|って))[{_WIDE_CLOSING}]*+"
)
"""What may be the end of a sentence, with the white space after it."""

_CONTEXT = 60
"""How many characters before and after a period are read."""

_OPENING = "\"'“”„«»‘’‹›([*_.–—"
_FIRST_WORD = re.compile(r"\w+")
_FIGURE = re.compile(r"\d[\d.,:/-]*")
_ORDINAL = re.compile(r"\d{1,3}")
_UNIT = re.compile(r"\d\s?[^\W\d_]{1,4}\Z")
_INITIAL = re.compile(r"(?:\w+\.)*[^\W\d_]")
"""An initial, or an abbreviation such as `U.S` and `e.g`."""

_INSIDE = frozenset(
    "dr mr mrs ms mx prof st mme mlle sra dra gen sen rep capt lt vs approx ca cf e.g i.e viz resp "
    "incl excl bzw inkl exkl ggf evtl vgl sog zzgl abzgl bspw z.b d.h u.a o.ä".split()
)
"""Abbreviations that a sentence never ends with, in lower case."""

_SOMETIMES_LAST = frozenset("inc ltd corp co bros jr sr ph.d mt ave blvd hrsg eds dept".split())
"""Abbreviations that a sentence ends with if the next word is one that begins sentences."""

_BEFORE_FIGURES = frozenset(
    "no nos nr nrn fig figs vol vols p pp pg s sec secs ch chap par art abs kap abb tab bd eq ver "
    "rev pos max min mio mrd tsd std tel ed jan feb mar mär apr jun jul aug sep sept oct okt nov "
    "dec dez".split()
)
"""Abbreviations that stand before a figure, in lower case."""

_OPENERS = frozenset(
    "The A An It Its This That These Those They We You He She If When While Then There Here In On "
    "At For But And So Or To With Without After Before However Also Each All Some Most Many No Not "
    "Now As By From Use Der Die Das Ein Eine Einen Es Er Sie Wir Ihr Dies Diese Dieser Dieses Im "
    "Am An Auf Aus Bei Mit Nach Von Zu Zum Zur Für Wenn Wer Was Wie Wo Und Oder Aber Auch Nur Jede "
    "Jeder Jedes Alle Kein Keine Man Da Dann Dort Hier Seit Als Ob Une Cette Ces Elle Ils Elles "
    "Este Esta Questo Questa Het Een Dit Deze".split()
)
"""Words that have a capital letter only at the start of a sentence."""

_BEFORE_ORDINALS = frozenset(
    "am im vom zum zur beim ins der die das dem den des ab bis seit jeder jede jedes jedem jeden "
    "ein eine einer einem einen eines und oder".split()
)
_MONTHS = frozenset(
    "Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember "
    "Jan Feb Mär Apr Jun Jul Aug Sep Sept Okt Nov Dez".split()
)


def rough_end(*, colons: bool = False) -> str:
    """Return a pattern for what may be the end of a sentence, with the white space after it.

    It takes each period for an end. That is enough to cut a text, and also where a sentence is only
    looked at as a whole. With `colons`, a colon is an end, too.
    """
    spaced = f"{_LATIN}{_OTHER}"
    wide = _WIDE
    if colons:
        spaced += ":"
        wide += "："
    return (
        rf"(?:[{spaced}][{_CLOSING}]{{0,3}}\s+"
        rf"|[{wide}][{_WIDE_CLOSING}]{{0,3}}(?:[*_]{{1,3}}(?=\s|\Z))?)"
    )


def sentence_ends(text: str, language: str = "") -> Iterator[int]:
    """Yield where sentences end, after the white space. The end of the text is not among them.

    `language` is a BCP 47 tag, or empty if it is not known. Only German has ordinals such as
    `12.` before words with a capital letter.
    """
    has_ordinals = not language or language.partition("-")[0].lower() in ("de", "gsw", "lb")
    begin = 0
    for match in _END.finditer(text):
        after = text[match.end() : match.end() + _CONTEXT]
        if not after or after[0].islower():
            continue
        if match["period"]:
            before = text[max(begin, match.start() - _CONTEXT) : match.start()]
            if not _is_full_stop(before, after, has_ordinals=has_ordinals):
                continue
        begin = match.end()
        yield begin


def sentence_ranges(text: str, language: str = "") -> Iterator[Range]:
    """Yield the range of each sentence of a text, with the white space after it."""
    start = 0
    for end in (*_sentence_ends(text, language), len(text)):
        yield Range(start, end)
        start = end


@lru_cache(maxsize=16)  # several marks look at the sentences of a paragraph, one after the other
def _sentence_ends(text: str, language: str) -> tuple[int, ...]:
    return tuple(sentence_ends(text, language))


def _is_full_stop(before: str, after: str, *, has_ordinals: bool) -> bool:
    """Tell whether the period between two texts ends a sentence."""
    words = before.split()
    last = words[-1].lstrip(_OPENING) if words else ""
    first = _FIRST_WORD.match(after)
    following = first[0] if first else ""
    if last.lower() in _INSIDE:
        return False
    if _FIGURE.fullmatch(last):
        return not _is_ordinal(before, last, following, has_ordinals=has_ordinals)
    if last.lower() in ("a.m", "p.m"):
        return not following.isupper()  # `5 p.m. UTC`
    if _UNIT.search(before) and following != "Chr":  # `It takes 3 s.`, but `300 v. Chr.`
        return True
    if following[:1].isdigit():
        return last.lower() not in _BEFORE_FIGURES
    if _INITIAL.fullmatch(last) or last.lower() in _SOMETIMES_LAST:
        return following in _OPENERS
    return True


def _is_ordinal(before: str, figure: str, following: str, *, has_ordinals: bool) -> bool:
    """Tell whether a figure with a period is an ordinal, an item's number, or part of a date."""
    if not _ORDINAL.fullmatch(figure):
        return False
    words = before[: -len(figure)].split()
    if not words:  # `1. Install`
        return True
    if len(figure) < 3 and following[:1].isdigit():  # `12. 3. 2024`
        return True
    if not has_ordinals or following in _OPENERS:
        return False
    return following in _MONTHS or words[-1].lower() in _BEFORE_ORDINALS

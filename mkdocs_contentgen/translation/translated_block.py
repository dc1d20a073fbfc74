"""Read the text that a model gives for a block, give it the form of its block, or refuse it.

Refused is what is not a translation of the block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bs4 import Tag

from ..errors import EditError
from ..html.elements import HEADINGS
from ..language.languages import find_language, primary_tag
from ..language.sentences import sentence_ranges
from ..language.values import common_words, languages_with_common_words
from ..language.words import count_scripts, split_words
from ..service.protocol import OriginalBlock
from ..text import MAX_BLOCK
from ..writer.answers.numbered_blocks import has_block_start
from .translatable import read_translated

_LEAST_REPEATED_SENTENCE = 5
"""A translation may not repeat a sentence of the original with so many words, or more."""

_LEAST_REPEATED_BLOCK = 3
"""It may not repeat a whole block with so many words, or more."""

_LEAST_OF_UNKNOWN_LANGUAGE = 8
"""In place of both numbers, for a language whose common words are not known."""

_LEAST_TELLING = 2
"""A text in another language has so many different common words of that language, or more."""

_TELLING_SHARE = 6
"""One word of it in so many, or more, is one of these."""

_TELLING_SHARE_OF_ORIGINAL = 4
"""That share for the original's language, in which titles and terms stay."""

_TIMES_EXPECTED = 4
"""And it has more than so many of them for each common word of the language that is expected."""

_LEAST_LATIN = 3
"""Fewer words in Latin letters, such as `OK`, are right in a language with another script."""

_SCRIPT_SHARE = 2
"""One new word in so many, or more, is in a script of the language of the translation."""

_MARKERS = {
    **dict.fromkeys(HEADINGS, re.compile(r"\A#{1,6}\s+")),
    "li": re.compile(r"\A(?:[-*+•]|\d{1,3}[.)])\s+"),
    "blockquote": re.compile(r"\A>\s+"),
}
"""What a model writes before the words of a block, by the kind of the block."""

_HEADING = _MARKERS["h2"]

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--")


def read_block(text: str, original: OriginalBlock, language: str, from_language: str) -> Tag:
    """Return a paragraph, without marks, with the translation that a model gives for a block.

    `language` is that of the translation, as a BCP 47 tag. Raises EditError for what is no
    translation of the block; the message says why.
    """
    if len(text) > MAX_BLOCK:
        raise EditError(f"it has {len(text):,} characters")
    text = _without_marker(text, original)
    if "‹" not in original.text:
        text = text.replace("‹", "<")  # prompts.inert() has replaced it in the prompt
    if has_block_start(text) and not has_block_start(original.text):
        raise EditError("it contains another block")
    if _HEADING.match(text) and not _HEADING.match(original.text):
        raise EditError("it is a heading, and the block is not")
    for tag in _TAG.findall(text):
        if tag not in original.text:
            raise EditError(f"`{tag[:40]}` is not in the original")
    element = read_translated(text, original.text)
    for mark in element.find_all("mark"):
        mark.unwrap()
    element.smooth()
    prose = _prose_of(element)
    if not prose.strip():
        raise EditError("it has no words")
    # Read as its own translation, so that both have the same form.
    original_prose = _prose_of(read_translated(original.text, original.text))
    _check_script(prose, original_prose, language)
    _check_repeats(prose, original_prose, language, from_language)
    _check_language(prose, original_prose, language, from_language)
    return element


def _without_marker(text: str, original: OriginalBlock) -> str:
    """Return a text without the marker of its kind, unless the original has it, too."""
    marker = _MARKERS.get(original.kind)
    if marker is None or marker.match(original.text):
        return text
    return marker.sub("", text, count=1).strip()


def _prose_of(element: Tag) -> str:
    """Return the text of an element without its code."""
    return "".join(
        str(string) for string in element.find_all(string=True) if not string.find_parent("code")
    )


def _check_script(prose: str, original_prose: str, language: str) -> None:
    """Raise EditError if most new words are in another script than those of the language."""
    known = find_language(language)
    if known is None:
        return
    expected = set(count_scripts(known.sources))  # a heading in that language
    kept = set(split_words(original_prose))
    new_words = [word for word in split_words(prose) if word not in kept]
    counts = count_scripts(" ".join(new_words))
    main_script = max(counts, key=counts.__getitem__, default="")
    is_loan = main_script == "Latin" and len(new_words) < _LEAST_LATIN
    count_expected = sum(counts[script] for script in expected)
    if counts.total() > _SCRIPT_SHARE * count_expected and not is_loan:
        scripts = " or ".join(expected)
        raise EditError(f"it is in {main_script} script, and {known.name} is in {scripts}")


def _check_repeats(prose: str, original_prose: str, language: str, from_language: str) -> None:
    """Raise EditError if a sentence of the original stands in the translation as it was."""
    if primary_tag(language) == primary_tag(from_language):
        return
    words = split_words(prose)
    is_same = words == split_words(original_prose)
    if is_same and is_sentence(words, from_language):
        raise EditError("it repeats the original")
    spaced_words = f" {' '.join(words)} "
    for sentence in _sentences(original_prose, from_language):
        is_long = is_sentence(sentence, from_language, _LEAST_REPEATED_SENTENCE)
        if is_long and f" {' '.join(sentence)} " in spaced_words:
            raise EditError("it repeats the original")


def _check_language(prose: str, original_prose: str, language: str, from_language: str) -> None:
    """Raise EditError for words in another language, such as that of the original.

    Of 33,000 paragraphs of a documentation in twelve languages, one is refused, which was left in
    English.
    """
    expected = common_words(language)
    words = split_words(prose)
    if not expected or len(words) < _LEAST_REPEATED_SENTENCE:
        return
    kept = set(split_words(original_prose))
    new = [word for word in words if word not in kept]  # a quotation is in its own language
    others = set(languages_with_common_words()) - {primary_tag(language)}
    for tag in sorted(others):
        if tag == primary_tag(from_language):
            is_other = _are_rather_in(tag, words, expected, _TELLING_SHARE_OF_ORIGINAL)
        else:
            is_other = _are_rather_in(tag, new, expected, _TELLING_SHARE)
        if is_other:
            known = find_language(tag)
            raise EditError(f"it is in {known.name}" if known else "it is in another language")


def _are_rather_in(
    language: str, words: Sequence[str], expected: frozenset[str], share: int
) -> bool:
    """Tell whether words are in a language, and not in that with the common words `expected`.

    One word in `share`, or more, has to be a common one of the language.
    """
    common = common_words(language)
    telling = [word for word in words if word in common and word not in expected]
    of_expected = [word for word in words if word in expected and word not in common]
    is_sentence = len(set(telling)) >= _LEAST_TELLING
    is_large_share = len(telling) * share >= len(words)
    return is_sentence and is_large_share and len(telling) > _TIMES_EXPECTED * len(of_expected)


def _sentences(text: str, language: str) -> Iterator[list[str]]:
    """Yield the words of each sentence."""
    for sentence in sentence_ranges(text, language):
        yield split_words(sentence.of(text))


def is_sentence(words: Sequence[str], language: str, least: int = _LEAST_REPEATED_BLOCK) -> bool:
    """Tell whether these are so many words or more, with a common word of the language.

    What has none is not a sentence: a title, or a list of names, is the same in many languages.
    """
    common = common_words(language)
    if not common:
        return len(words) >= _LEAST_OF_UNKNOWN_LANGUAGE
    return len(words) >= least and not common.isdisjoint(words)

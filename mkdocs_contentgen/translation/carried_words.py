"""Carry the words of a translation over to a block of its original that has the same words.

Citations of the original have other numbers, some are new or gone, and a link leads elsewhere: none
of that needs other words. So the words of the translation go into the new block, if it is certain
which part of the new block each part among them is, and where each new citation goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise

from bs4 import Tag

from ..errors import EditError
from ..html.block import Block
from ..html.descriptions import (
    ATTRIBUTES,
    CITATION_LABEL,
    Description,
    descriptions_of,
    replace_descriptions,
)
from ..html.html_writer import start_tag
from ..language.sentences import CLOSING_MARKS, SENTENCE_SIGNS, sentence_ends
from .translatable import (
    NUMBER,
    fixed_parts,
    has_own_words,
    set_translated,
    to_renumbered,
    to_translatable,
)

_GONE = 0
"""In place of the number of a part that the original does not have any more.

Parts are numbered from 1, in the order of their block, as `fixed_parts()` returns them.
"""

_MOST_NEW = 20
"""So many citations can be new in a block, since each takes the time to read the block."""

_GONE_CITATION = re.compile(rf"(?<!\s)\s*⟦{_GONE}⟧")
_NUMBER_AT_END = re.compile(rf"{NUMBER.pattern}\s*\Z")
_NUMBER_AT_START = re.compile(rf"\s*{NUMBER.pattern}")
_BRACKETS = str.maketrans("⟦⟧", "[]")
_SIGNS = f"[{SENTENCE_SIGNS}:;]"
_LAST_SIGNS = re.compile(rf"(?<!{_SIGNS}){_SIGNS}+[{CLOSING_MARKS}\s~=]*\Z")
"""The signs that a sentence ends with."""


@dataclass(frozen=True)
class _Languages:
    """The languages of a translation and of its original, as BCP 47 tags, or empty."""

    translation: str
    original: str


def carry_words(
    translation: Block, block: Block, language: str = "", from_language: str = ""
) -> None:
    """Replace the words of a block of an original by those of its former translation.

    The block has the same `words_of()` as the one that was translated. Both languages are BCP 47
    tags, or empty. Raises EditError, and leaves the block as it is, if that is not certain.
    """
    parts = fixed_parts(block)
    own = fixed_parts(translation)
    numbers = _new_numbers(own, parts)
    descriptions = _new_descriptions(own, parts, numbers)
    markdown = _GONE_CITATION.sub("", to_renumbered(translation, numbers))
    original = to_translatable(block)
    added = sorted(set(range(1, len(parts) + 1)).difference(numbers))
    if len(added) > _MOST_NEW:
        raise EditError(f"it has more than {_MOST_NEW} new citations")
    languages = _Languages(language, from_language)
    for number in added:
        markdown = _with_citation(markdown, original, number, languages)
    set_translated(block, markdown)
    replace_descriptions(block.element, descriptions)


def carry_descriptions(translation: Block, block: Block) -> None:
    """Replace the descriptions in a block without words by those of its former translation.

    The block has those that were translated. Raises EditError as above.
    """
    before = _descriptions(translation.element.find_all(True))
    after = _descriptions(block.element.find_all(True))
    replace_descriptions(block.element, _match_descriptions(before, after))


def have_same_parts(block: Block, other: Block) -> bool:
    """Tell whether two blocks have the same links, citations and other parts, in any order."""
    parts = map(_comparable, fixed_parts(block))
    other_parts = map(_comparable, fixed_parts(other))
    return sorted(parts) == sorted(other_parts)


def numbered_citations(element: Tag) -> list[Tag]:
    """Return the citations in an element: links around a number such as `[1]`."""
    links = []
    for link in element.find_all("a"):
        if CITATION_LABEL.fullmatch(link.get_text()):
            links.append(link)
    return links


def _is_wordless_link(tag: Tag) -> bool:
    """Tell whether an element is a link without words: a citation, or a link around a picture."""
    return tag.name == "a" and not has_own_words(tag)


def _new_numbers(own: Sequence[Tag], parts: Sequence[Tag]) -> list[int]:
    """Return for each part of a translation its number in the new block, _GONE for none.

    Raises EditError if that is not certain.
    """
    numbers = _match_same(own, parts)
    gone, added = _without_partner(own, parts, numbers)
    if not gone and not added:
        return numbers
    if len(gone) != 1 or len(added) != 1:
        raise EditError("other parts are in it now")
    # A single part has become another one: a link that leads elsewhere, for example.
    index = gone[0]
    number = added[0]
    former = own[index]
    new = parts[number - 1]
    if former.name != new.name or not has_own_words(former):
        raise EditError("another part is in it now")
    numbers[index] = number
    return numbers


def _without_partner(
    own: Sequence[Tag], parts: Sequence[Tag], numbers: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the indexes of the parts of a translation, and the new numbers, that are left over.

    Citations are left out: they come and go.
    """
    gone = []
    for index, number in enumerate(numbers):
        if number == _GONE and not _is_wordless_link(own[index]):
            gone.append(index)
    matched = set(numbers)
    added = []
    for number, part in enumerate(parts, start=1):
        if number not in matched and not _is_wordless_link(part):
            added.append(number)
    return gone, added


def _match_same(own: Sequence[Tag], parts: Sequence[Tag]) -> list[int]:
    """Return for each part of a translation the number of the same part in the new block.

    It is _GONE if there is none. Of several that are the same, each is matched once.
    """
    left: dict[str, list[int]] = {}
    for number, part in enumerate(parts, start=1):
        left.setdefault(_comparable(part), []).append(number)
    numbers = []
    for part in own:
        same = left.get(_comparable(part))
        numbers.append(same.pop(0) if same else _GONE)
    return numbers


def _new_descriptions(
    own: Sequence[Tag], parts: Sequence[Tag], numbers: Sequence[int]
) -> dict[Description, str]:
    """Return the words of a translation for the descriptions in parts of the new block.

    `numbers` has for each part of the translation its number in the new block. Raises EditError.
    """
    found: dict[Description, str] = {}
    for part, number in zip(own, numbers, strict=True):
        if number == _GONE:
            continue
        before = _descriptions(_tags_of(part))
        after = _descriptions(_tags_of(parts[number - 1]))
        found |= _match_descriptions(before, after)
    return found


def _tags_of(part: Tag) -> list[Tag]:
    """Return the tags whose descriptions belong to a part.

    What stands within the words of a part is a part of its own.
    """
    if has_own_words(part):
        return [part]
    return [part, *part.find_all(True)]


def _descriptions(tags: Iterable[Tag]) -> list[Description]:
    found = []
    for tag in tags:
        found += descriptions_of(tag)
    return found


def _match_descriptions(
    before: Sequence[Description], after: Sequence[Description]
) -> dict[Description, str]:
    """Return the words of a translation for the descriptions of the new block.

    Raises EditError if it is not certain which are which.
    """
    if [name for name, _ in before] != [name for name, _ in after]:
        raise EditError("other descriptions are in it now")
    words = [words for _, words in before]
    return dict(zip(after, words, strict=True))


def _comparable(part: Tag) -> str:
    """Return a text that is equal for two parts if they are the same in two languages.

    The number of a citation may be another one, and so may the description of a picture.
    """
    if _is_wordless_link(part):
        return f"[{part.get('href')}]"
    plain = copy(part)
    for tag in [plain, *plain.find_all(True)]:
        for name in ATTRIBUTES:
            tag.attrs.pop(name, None)
    if has_own_words(part):  # which differ in two languages
        return start_tag(plain)
    return str(plain)


def _with_citation(markdown: str, original: str, number: int, languages: _Languages) -> str:
    """Return a translation with a citation where its original has it. Raises EditError.

    It goes beside the same citation as in the original, or else to the end of its sentence.
    """
    label = f"⟦{number}⟧"
    before, _, after = original.partition(label)
    match_before = _NUMBER_AT_END.search(before)
    if match_before:
        label_before = match_before[0].rstrip()
        if markdown.count(label_before) == 1:
            with_label = f"{label_before}{_space_at_end(before)}{label}"
            return markdown.replace(label_before, with_label)
    match_after = _NUMBER_AT_START.match(after)
    if match_after:
        label_after = match_after[0].lstrip()
        space = " " if after.startswith(" ") else ""
        if markdown.count(label_after) == 1:
            return markdown.replace(label_after, f"{label}{space}{label_after}")
    return _at_end_of_sentence(markdown, original, label, languages)


def _at_end_of_sentence(markdown: str, original: str, label: str, languages: _Languages) -> str:
    """Return a translation with a citation at the end of its sentence. Raises EditError."""
    sentences = _sentences(markdown, languages.translation)
    originals = _sentences(original, languages.original)
    if len(sentences) != len(originals):
        raise EditError("it has other sentences")
    index = [label in sentence for sentence in originals].index(True)
    before, _, after = originals[index].partition(label)
    if re.search(r"\w", NUMBER.sub("", after)):
        raise EditError("a new citation is within a sentence")
    sentence = sentences[index]
    end = len(sentence.rstrip())
    stands_before_signs = _LAST_SIGNS.search(after) is not None
    last_signs = _LAST_SIGNS.search(sentence[:end])
    if stands_before_signs and last_signs:
        end = last_signs.start()
    sentences[index] = f"{sentence[:end]}{_space_at_end(before)}{label}{sentence[end:]}"
    return "".join(sentences)


def _space_at_end(text: str) -> str:
    """Return the space that a text ends with, or an empty string."""
    return " " if text.endswith(" ") else ""


def _sentences(markdown: str, language: str) -> list[str]:
    # sentence_ends() knows citations in usual brackets. Each replaces one character, so that its
    # positions are those of the Markdown, too.
    ends = sentence_ends(markdown.translate(_BRACKETS), language)
    borders = [0, *ends, len(markdown)]
    return [markdown[start:end] for start, end in pairwise(borders)]

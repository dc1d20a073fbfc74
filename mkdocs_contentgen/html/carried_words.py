"""Carry the words of a translation over to a block of its original that has the same words.

Citations of the original are numbered anew, some are new or gone, and a link leads elsewhere: none
of that needs other words. So the words of the translation go into the new block, if it is certain
which part of the new block each part among them is, and where each new citation goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import pairwise

from bs4 import Tag

from ..errors import EditError
from .descriptions import (
    ATTRIBUTES,
    CITATION,
    Description,
    descriptions_of,
    replace_descriptions,
)
from .document import Block, start_tag
from .sentences import sentence_ends
from .translatable import (
    NUMBER,
    fixed_parts,
    has_own_words,
    set_translated,
    to_renumbered,
    to_translatable,
)

_GONE = 0
"""The number of a citation that the original does not have any more."""

_MOST_NEW = 20
"""So many citations can be new in a block, since each takes the time to read the block."""

_GONE_CITATION = re.compile(rf"(?<!\s)\s*⟦{_GONE}⟧")
_CITATIONS_BEFORE = re.compile(rf"{NUMBER.pattern}\s*\Z")
_CITATIONS_BEHIND = re.compile(rf"\s*{NUMBER.pattern}")
_BRACKETS = str.maketrans("⟦⟧", "[]")
_SIGNS = "[.!?…:;。！？｡\\uff0e\\u061f\\u06d4\\u0964\\u0965]"
_LAST_SIGNS = re.compile(rf"(?<!{_SIGNS}){_SIGNS}+[\s\"'”’»)」』*_~=]*\Z")
"""The signs that a sentence ends with."""


def carry_words(
    translation: Block, block: Block, language: str = "", from_language: str = ""
) -> None:
    """Replace the words of a block of an original by those of its former translation.

    The block has the words that were translated, in the sense of `words_of()`. Both languages are
    BCP 47 tags, or empty. Raises EditError, and leaves the block as it is, if that is not certain.
    """
    parts = fixed_parts(block)
    own = fixed_parts(translation)
    numbers = _numbers_of(own, parts)
    descriptions = _new_descriptions(own, parts, numbers)
    markdown = _GONE_CITATION.sub("", to_renumbered(translation, numbers))
    original = to_translatable(block)
    new = sorted(set(range(1, len(parts) + 1)).difference(numbers))
    if len(new) > _MOST_NEW:
        raise EditError(f"it has more than {_MOST_NEW} new citations")
    for number in new:
        markdown = _with_citation(markdown, original, number, (language, from_language))
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
    return sorted(map(_name, fixed_parts(block))) == sorted(map(_name, fixed_parts(other)))


def numbered_citations(element: Tag) -> list[Tag]:
    """Return the citations in an element: links around a number such as `[1]`."""
    return [link for link in element.find_all("a") if CITATION.fullmatch(link.get_text())]


def _is_citation(tag: Tag) -> bool:
    """Tell whether an element is a link around a number, or a picture, and no words."""
    return tag.name == "a" and not has_own_words(tag)


def _numbers_of(own: Sequence[Tag], parts: Sequence[Tag]) -> list[int]:
    """Return for each part of a translation its number in the new block, _GONE for none.

    Raises EditError if that is not certain.
    """
    numbers, left = _match_same(own, parts)
    # Citations come and go. Of other parts, only one may be another, such as a link.
    new = [number for number in left if not _is_citation(parts[number - 1])]
    gone = [
        place
        for place, number in enumerate(numbers)
        if number == _GONE and not _is_citation(own[place])
    ]
    if new or gone:
        place, number = _only_pair(gone, new)
        if own[place].name != parts[number - 1].name or not has_own_words(own[place]):
            raise EditError("another part is in it now")
        numbers[place] = number
    return numbers


def _match_same(own: Sequence[Tag], parts: Sequence[Tag]) -> tuple[list[int], list[int]]:
    """Return for each part of a translation the number of the same part in the new block.

    It is _GONE if there is none. Also return the numbers of the new block that are left.
    """
    left: dict[str, list[int]] = {}
    for number, part in enumerate(parts, start=1):
        left.setdefault(_name(part), []).append(number)
    numbers = []
    for part in own:
        same = left.get(_name(part))
        numbers.append(same.pop(0) if same else _GONE)
    return numbers, [number for some in left.values() for number in some]


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
    """Return the tags of a part. Those within the words of a part are parts of their own."""
    return [part] if has_own_words(part) else [part, *part.find_all(True)]


def _descriptions(tags: Iterable[Tag]) -> list[Description]:
    return [description for tag in tags for description in descriptions_of(tag)]


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


def _only_pair(gone: Sequence[int], new: Sequence[int]) -> tuple[int, int]:
    """Return the only part that is gone, and the only new one. Raises EditError."""
    if len(gone) != 1 or len(new) != 1:
        raise EditError("other parts are in it now")
    return gone[0], new[0]


def _name(part: Tag) -> str:
    """Return what is the same for a part wherever it stands, and in each language.

    The number of a citation is not, nor is the description of a picture.
    """
    if _is_citation(part):
        return f"[{part.get('href')}]"
    plain = copy(part)
    for tag in [plain, *plain.find_all(True)]:
        for name in ATTRIBUTES:
            tag.attrs.pop(name, None)
    return start_tag(plain) if has_own_words(part) else str(plain)


def _with_citation(markdown: str, original: str, number: int, languages: tuple[str, str]) -> str:
    """Return a translation with a citation where its original has it. Raises EditError.

    It goes beside the same citation as in the original, or else to the end of its sentence.
    """
    label = f"⟦{number}⟧"
    before, _, behind = original.partition(label)
    space = " " if before.endswith(" ") else ""
    neighbour = _CITATIONS_BEFORE.search(before)
    if neighbour and markdown.count(f"⟦{neighbour[1]}⟧") == 1:
        return markdown.replace(f"⟦{neighbour[1]}⟧", f"⟦{neighbour[1]}⟧{space}{label}")
    neighbour = _CITATIONS_BEHIND.match(behind)
    if neighbour and markdown.count(f"⟦{neighbour[1]}⟧") == 1:
        between = " " if neighbour[0].startswith(" ") else ""
        return markdown.replace(f"⟦{neighbour[1]}⟧", f"{label}{between}⟦{neighbour[1]}⟧")
    return _at_end_of_sentence(markdown, original, label, languages)


def _at_end_of_sentence(
    markdown: str, original: str, label: str, languages: tuple[str, str]
) -> str:
    """Return a translation with a citation at the end of its sentence. Raises EditError."""
    language, from_language = languages
    sentences = _sentences(markdown, language)
    of_original = _sentences(original, from_language)
    if len(sentences) != len(of_original):
        raise EditError("it has other sentences")
    index = next(place for place, sentence in enumerate(of_original) if label in sentence)
    before, _, behind = of_original[index].partition(label)
    if re.search(r"\w", NUMBER.sub("", behind)):
        raise EditError("a new citation is within a sentence")
    sentence = sentences[index]
    end = len(sentence.rstrip())
    if _LAST_SIGNS.search(behind):  # it stands before the full stop
        last_signs = _LAST_SIGNS.search(sentence[:end])
        end = last_signs.start() if last_signs else end
    space = " " if before.endswith(" ") else ""
    sentences[index] = f"{sentence[:end]}{space}{label}{sentence[end:]}"
    return "".join(sentences)


def _sentences(markdown: str, language: str) -> list[str]:
    # A citation behind a sentence belongs to it only in brackets that are usual.
    ends = sentence_ends(markdown.translate(_BRACKETS), language)
    borders = [0, *ends, len(markdown)]
    return [markdown[start:end] for start, end in pairwise(borders)]

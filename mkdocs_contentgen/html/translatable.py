"""The words of a block, apart from what no translation changes.

A block is given to a translator as light Markdown in which all that has to stay is a number: links
and other elements around words are `[words](2)`, and pictures, line breaks and labels of citations
are `⟦2⟧`. Code stands as it is, since its words help to understand the sentence. Only what has each
of these parts exactly once, and no other, is a translation of the block. The parts themselves are
then taken from the original, so that a translator, whoever that is, gives words and nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from copy import copy

from bs4 import Tag
from bs4.element import NavigableString

from ..errors import EditError
from .document import Block, read_content
from .markdown_reader import check_kept, read_line

_ADDRESS = "https://part.invalid/"
"""Before the number of a part while Markdown is read, since the sanitizer wants an address."""

_NUMBERED_LINK = re.compile(r"(?<!\\)\]\(([0-9]{1,4})\)")
_WRITTEN_LINK = re.compile(rf"\]\(<{re.escape(_ADDRESS)}([0-9]+)>\)")
_NUMBER = re.compile("⟦([0-9]{1,4})⟧")
_SIGNS = re.compile("[⟦⟧]")
_LETTER = re.compile(r"[^\W\d_]")
_FORMATTING = frozenset({"strong", "em", "b", "i", "s"})
"""Elements that a translation may have elsewhere than its original, or not at all."""

_OPAQUE = frozenset({"img", "br", "wbr", "sub", "sup", "kbd", "samp", "var"})
"""Elements that have no words to translate, whatever is in them."""


def has_words(block: Block) -> bool:
    """Tell whether a block has words to translate: code has none, nor has a figure alone."""
    if block.kind == "pre" or _SIGNS.search(block.text):
        return False
    plain = copy(block.element)
    for tag in plain.find_all(["code", *_OPAQUE]):
        tag.decompose()
    return _LETTER.search(plain.get_text()) is not None


def to_translatable(block: Block) -> str:
    """Return the words of a block as light Markdown, with numbers in place of what has to stay."""
    numbered = copy(block.element)
    _unwrap_marks(numbered)
    for number, tag in enumerate(_fixed_elements(numbered), start=1):
        if _has_own_words(tag):
            tag.name = "a"
            tag.attrs = {"href": f"{_ADDRESS}{number}"}
        else:
            tag.replace_with(NavigableString(f"⟦{number}⟧"))
    return write_translated(numbered)


def write_translated(element: Tag) -> str:
    """Return the light Markdown of an element that read_translated() has returned."""
    return _WRITTEN_LINK.sub(r"](\1)", Block(0, element).to_markdown())


def read_translated(markdown: str, original: str) -> Tag:
    """Return the paragraph that a translation says, with numbers still in place of what stays.

    Both are as to_translatable() writes them; the translation may have `==statements to check==`.
    Raises EditError, which says what it lacks of the original, or has in addition.
    """
    asked = _read(original)
    found = _read(markdown)
    missing = _fixed_parts(asked) - _fixed_parts(found)
    added = _fixed_parts(found) - _fixed_parts(asked)
    if missing:
        raise EditError(f"{_listed(missing)} of the original is missing")
    if added:
        raise EditError(f"{_listed(added)} is not in the original")
    return found


def set_translated(block: Block, markdown: str) -> None:
    """Replace the words of a block by a translation of them. Raises EditError, as above."""
    translated = read_translated(markdown, to_translatable(block))
    original = copy(block.element)
    _unwrap_marks(original)
    fixed = dict(enumerate(_fixed_elements(original), start=1))
    for link in translated.find_all("a"):
        part = fixed[int(str(link["href"]).removeprefix(_ADDRESS))]
        link.name = part.name
        link.attrs = dict(part.attrs)
    for text in translated.find_all(string=_NUMBER):
        pieces: list[Tag | NavigableString] = []
        for index, piece in enumerate(_NUMBER.split(str(text))):
            if index % 2:
                pieces.append(copy(fixed[int(piece)]))
            elif piece:
                pieces.append(NavigableString(piece))
        text.replace_with(*pieces)
    block.set_content(translated)


def _read(markdown: str) -> Tag:
    """Return the paragraph that a line of light Markdown is. Raises EditError."""
    html = read_line(_NUMBERED_LINK.sub(rf"](<{_ADDRESS}\1>)", markdown))
    element = read_content(html)
    check_kept(html, element)
    return element


def _unwrap_marks(element: Tag) -> None:
    """Take the marks and signs off that ask a person to check something."""
    for tag in element.find_all(["mark", "span"]):
        if tag.name == "mark" or tag.get("class") == "to-read":
            tag.unwrap()


def _fixed_elements(element: Tag) -> list[Tag]:
    """Return the elements that a translation has to have, in their order, but for code."""
    found = []
    for tag in element.find_all(True):
        is_inside = any(parent in found and not _has_own_words(parent) for parent in tag.parents)
        if tag.name not in _FORMATTING | {"code"} and not is_inside:
            found.append(tag)
    return found


def _has_own_words(tag: Tag) -> bool:
    """Tell whether an element is around words that are translated."""
    if tag.name in _OPAQUE or tag.find(_OPAQUE):
        return False
    return _LETTER.search(tag.get_text()) is not None


def _fixed_parts(element: Tag) -> Counter[str]:
    """Return what has to stay of a translatable text, each with how often it is there."""
    parts = Counter(f"⟦{number}⟧" for number in _NUMBER.findall(element.get_text()))
    for tag in element.find_all(True):
        if tag.name == "code":
            parts[f"`{tag.get_text()}`"] += 1
        elif tag.name == "a":
            parts[f"[…]({str(tag['href']).removeprefix(_ADDRESS)})"] += 1
        elif tag.name not in _FORMATTING | {"mark"}:
            parts[f"<{tag.name}>"] += 1
    return parts


def _listed(parts: Counter[str]) -> str:
    return ", ".join(sorted(parts))

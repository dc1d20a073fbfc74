"""The words of a block, apart from what no translation changes.

A block is given to a translator as light Markdown in which all that has to stay is a number: links
and other elements around words are `[words](2)`, or `<abbr title="3">words</abbr>` within another,
and pictures, line breaks, formulas and labels of citations are `⟦2⟧`. Code stands as it is, since
its words help to understand the sentence. Only what has each of these parts exactly once, and no
other, is a translation of the block. The parts themselves are then taken from the original, so that
a translator, whoever that is, gives words and nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from bs4 import Tag
from bs4.element import NavigableString, PageElement

from ..errors import EditError
from ..html.block import Block
from ..html.descriptions import CITATION_LABEL, descriptions_in
from ..html.formulas import find_formulas
from ..html.html_reader import read_content
from ..html.html_writer import unwrap_hints
from ..html.markdown_reader import check_kept, read_line
from ..html.tags import closest, replace_all, strings_in, tags_in
from ..text import MAX_BLOCK

_ADDRESS = "https://part.invalid/"
"""Before the number of a part while Markdown is read, since the sanitizer wants an address."""

_RESERVED = re.compile(rf"[⟦⟧]|{re.escape(_ADDRESS)}")
"""Matches what stands for parts, so that a text which has it itself cannot be translated."""

NUMBER = re.compile("⟦([0-9]{1,4})⟧")
"""Matches what stands for a part that stays as it is."""

_WRITTEN_LINK = re.compile(rf"\]\(<{re.escape(_ADDRESS)}([0-9]+)>\)")
"""A link to a part, as Block.to_markdown() writes it. A translator gets `](2)` instead."""

_WRITTEN_TAG = f'<a href="{_ADDRESS}'
"""The same where to_markdown() writes HTML."""

_READ_LINK = re.compile('<a href="([0-9]{1,4})"')
"""The same in the HTML of what a translator has written."""

_UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the direction of what follows, also where they are written as `&#8238;`."""

_LETTER = re.compile(r"[^\W\d_]")
_WORD_OR_CHARACTER = re.compile(r"\w+|[^\w\s]")

_FREE = frozenset({"strong", "em", "b", "i", "s", "mark"})
"""Elements that a translation may have elsewhere than its original, or not at all."""

_FORMULA = "formula"
_LABEL = "label"
"""The tags that formulas, and citations without an address, are put into, to be elements."""

_OPAQUE = frozenset({"img", "br", "wbr", "sub", "sup", "kbd", "samp", "var", _FORMULA, _LABEL})
"""Elements that have no words to translate, whatever is in them."""

_CODE_AND_OPAQUE = _OPAQUE | {"code"}

_MAX_DELIMITERS = 500
"""How many tags and statements to check a translation may have: some take quadratic time."""

_LONGER = 6
_MORE_CHARACTERS = 400
"""A translation of a block of 100 characters has at most 6 * 100 + 400 characters."""


@dataclass(frozen=True)
class _Parts:
    """What has to stay of a block: how often each part is there, and what numbered parts are in."""

    counts: Counter[str]
    within: Mapping[str, str]
    """For each numbered part the one around it, or an empty string."""


def has_words(block: Block) -> bool:
    """Tell whether a block has words to translate: code has none, nor has a mere figure."""
    return block.kind != "pre" and _has_words(_prepared(block))


def _has_words(element: Tag) -> bool:
    return _has_letters(element, _CODE_AND_OPAQUE)


def words_of(block: Block) -> str:
    """Return the words of a block that are translated, without what stays: for a comparison.

    They are the same if only a citation is new, or a link has another address. Code, formatting and
    the descriptions of pictures and links count as words. It is empty for a block without words and
    descriptions.
    """
    if block.kind == "pre":
        return ""
    element = _prepared(block)
    described = [f"<{name}>{words}" for name, words in descriptions_in(element)]
    if not (described or _has_words(element)):
        return ""
    return " ".join([*_words_in(element), *described])


def _words_in(element: Tag) -> Iterator[str]:
    """Yield the words in an element, and the start and end of those that may stand elsewhere."""
    for child in element.children:
        if not isinstance(child, Tag):
            yield from _WORD_OR_CHARACTER.findall(str(child))
        elif child.name == "code":
            yield f"`{_code_in(child)}`"
        elif child.name == _LABEL:  # without an address, nothing else says what it cites
            yield child.get_text()
        elif _is_free(child):
            yield from (f"<{child.name}>", *_words_in(child), f"</{child.name}>")
        elif has_own_words(child):
            yield from _words_in(child)


def to_translatable(block: Block) -> str:
    """Return the words of a block as light Markdown, with numbers in place of what has to stay.

    Raises EditError for a block that nobody can be asked for.
    """
    reserved = _RESERVED.search(block.text)
    if reserved:
        raise EditError(f"it has `{reserved[0]}`, which stands for something else here")
    markdown = write_translated(_numbered(_prepared(block)))
    if len(markdown) > MAX_BLOCK:
        raise EditError(f"it has more than {MAX_BLOCK:,} characters")
    _check_syntax(markdown)
    return markdown


def fixed_parts(block: Block) -> list[Tag]:
    """Return copies of the elements of a block that stay, in the order of their numbers."""
    return list(_fixed_elements(_prepared(block)))


def to_renumbered(block: Block, numbers: Sequence[int]) -> str:
    """Return a translated block as light Markdown with other numbers for its parts.

    There is one number for each of `fixed_parts()`. Statements to check are marked.
    """
    return write_translated(_numbered(_prepared(block, marks=True), numbers))


def write_translated(element: Tag) -> str:
    """Return the light Markdown of an element that read_translated() has returned."""
    markdown = Block(0, element).to_markdown()
    return _WRITTEN_LINK.sub(r"](\1)", markdown).replace(_WRITTEN_TAG, '<a href="')


def read_translated(markdown: str, original: str) -> Tag:
    """Return the paragraph that a translation says, with numbers still in place of what stays.

    Both are as to_translatable() writes them; the translation may have `==statements to check==`.
    Raises EditError, which says what it lacks of the original, or has in addition.
    """
    return _read_checked(markdown, len(original), _parts_of(_read(original)))


def set_translated(block: Block, markdown: str) -> None:
    """Replace the words of a block by a translation of them. Raises EditError, as above."""
    asked = _parts_of(_numbered(_prepared(block)))
    translated = _read_checked(markdown, len(block.html), asked)
    original = _prepared(block)  # again, since numbers are put in place of its parts
    fixed = dict(enumerate(_fixed_elements(original), start=1))
    for tag in filter(_is_numbered, tags_in(translated)):
        part = fixed[int(_number_of(tag))]
        tag.name = part.name
        tag.attrs = dict(part.attrs)
    for text in strings_in(translated):
        text.replace_with(*_with_parts(text, fixed))
    _restore_code(translated, original)
    block.set_content(translated)


def _prepared(block: Block, *, marks: bool = False) -> Tag:
    """Return a copy of a block without ruby, in which each formula and label is an element.

    Marks of statements are taken out, unless `marks` is set.
    """
    element = copy(block.element)
    if tags_in(element):
        if not marks:
            unwrap_hints(element)
        # How a word is pronounced says nothing in another language.
        for annotation in tags_in(element, ("rt", "rp")):
            annotation.extract()
        for ruby in tags_in(element, ("ruby",)):
            ruby.unwrap()
    element.smooth()  # a mark that was within a formula or a label has left pieces
    for text in strings_in(element):
        kept = _find_kept(text)
        if not kept or closest(text, ("code",)):
            continue
        pieces: list[Tag | NavigableString] = []
        position = 0
        for begin, end, name in kept:
            tag = Tag(name=name)
            tag.string = text[begin:end]
            pieces += [NavigableString(text[position:begin]), tag]
            position = end
        text.replace_with(*pieces, NavigableString(text[position:]))
    return element


def _find_kept(text: str) -> list[tuple[int, int, str]]:
    """Return where each formula and label in a text begins and ends, and the tag for it."""
    formulas = find_formulas(text)
    kept = [(begin, end, _FORMULA) for begin, end in formulas]
    for label in CITATION_LABEL.finditer(text):
        if not _overlaps(label.span(), formulas):
            kept.append((*label.span(), _LABEL))
    return sorted(kept)


def _overlaps(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    """Tell whether a part of a text has a character in common with another part."""
    begin, end = span
    return any(begin < other_end and other_begin < end for other_begin, other_end in others)


def _numbered(element: Tag, numbers: Sequence[int] = ()) -> Tag:
    """Put a number in the place of all that has to stay of a prepared block, and return it.

    The numbers count up from 1 unless there are others.
    """
    for code in _codes(element):
        code.string = code.get_text()
        code.attrs = {}
    fixed = list(_fixed_elements(element))
    without_words: dict[int, NavigableString] = {}
    for tag, number in zip(fixed, numbers or range(1, len(fixed) + 1), strict=True):
        if not has_own_words(tag):
            without_words[id(tag)] = NavigableString(f"⟦{number}⟧")
        elif closest(tag, ("a",)):  # a link in Markdown contains no other
            tag.name = "abbr"
            tag.attrs = {"title": str(number)}
        else:
            tag.name = "a"
            tag.attrs = {"href": f"{_ADDRESS}{number}"}

    def number_of(tag: Tag) -> list[NavigableString] | None:
        return [without_words[id(tag)]] if id(tag) in without_words else None

    replace_all(element, number_of)
    return element


def _fixed_elements(element: Tag) -> Iterator[Tag]:
    """Yield the elements that a translation has to have, in their order, except code."""
    for child in element.children:
        if not isinstance(child, Tag) or child.name == "code":
            continue
        is_free = _is_free(child)
        if not is_free:
            yield child
        if is_free or has_own_words(child):
            yield from _fixed_elements(child)


def _is_free(tag: Tag) -> bool:
    """Tell whether a translation may have an element elsewhere, or not at all."""
    return tag.name in _FREE and not tag.attrs


def has_own_words(tag: Tag) -> bool:
    """Tell whether an element is around words that are translated, or around code."""
    return _has_letters(tag, _OPAQUE)


def _has_letters(tag: Tag, left_out: frozenset[str]) -> bool:
    """Tell whether an element has letters that are in no element with one of these tags."""
    if tag.name in left_out:
        return False
    for child in tag.children:
        if isinstance(child, Tag):
            if _has_letters(child, left_out):
                return True
        elif _LETTER.search(str(child)):
            return True
    return False


def _read_checked(markdown: str, length: int, asked: _Parts) -> Tag:
    """Return the paragraph that a translation says. `length` is that of the original.

    Raises EditError.
    """
    if len(markdown) > _LONGER * length + _MORE_CHARACTERS:
        raise EditError("it is far longer than the original")
    _check_syntax(markdown)
    translated = _read(markdown)
    for text in strings_in(translated):
        if not closest(text, ("code",)):
            text.replace_with(_UNSEEN.sub("", text))
    _check_parts(asked, _parts_of(translated))
    if _RESERVED.search(NUMBER.sub("", translated.get_text())):
        raise EditError("`⟦` or `⟧` is around no number")
    if not _LETTER.search(NUMBER.sub("", translated.get_text())):
        raise EditError("it has no words")
    for tag in tags_in(translated):
        if tag.name in _FREE:
            tag.attrs = {}
        elif _is_numbered(tag) and not tag.get_text().strip():
            raise EditError(f"{_label(tag)} is around no words")
    return translated


def _check_syntax(markdown: str) -> None:
    """Raise EditError for a text that would take too long to read."""
    if any(markdown.count(delimiter) > _MAX_DELIMITERS for delimiter in ("==", "<", "[")):
        raise EditError(f"it has more than {_MAX_DELIMITERS:,} delimiters of one kind")


def _read(markdown: str) -> Tag:
    """Return the paragraph that a line of light Markdown is. Raises EditError."""
    html = _READ_LINK.sub(rf'<a href="{_ADDRESS}\1"', read_line(markdown.strip()))
    element = read_content(html)
    check_kept(html, element)
    return element


def _check_parts(asked: _Parts, found: _Parts) -> None:
    """Raise EditError unless two texts have the same parts."""
    missing = asked.counts - found.counts
    added = found.counts - asked.counts
    if missing:
        raise EditError(f"{_listed(missing)} of the original is missing")
    if added:
        raise EditError(f"{_listed(added)} is not in the original")
    for part, outer in asked.within.items():
        if found.within[part] != outer:
            raise EditError(f"{part} is in another part than in the original")


def _parts_of(element: Tag) -> _Parts:
    """Return what has to stay of a text with numbers."""
    counts: Counter[str] = Counter()
    within: dict[str, str] = {}
    for tag in tags_in(element):
        if tag.name == "code":
            counts[f"`{_code_in(tag)}`"] += 1
        elif _is_numbered(tag):
            counts[_label(tag)] += 1
            within[_label(tag)] = _label_around(tag)
        elif tag.name not in _FREE:
            counts[f"<{tag.name}>"] += 1
    for text in strings_in(element):
        if closest(text, ("code",)):
            continue
        for match in NUMBER.finditer(text):
            counts[match[0]] += 1
            within[match[0]] = _label_around(text)
    return _Parts(counts, within)


def _is_numbered(tag: Tag) -> bool:
    """Tell whether an element stands for one of the original."""
    return bool(_number_of(tag))


def _number_of(tag: Tag) -> str:
    """Return the number of an element that stands for one of the original, or an empty string."""
    if tag.name == "a":
        number = str(tag["href"]).removeprefix(_ADDRESS)
    elif tag.name == "abbr":
        number = str(tag.get("title", ""))
    else:
        return ""
    return number if re.fullmatch("[0-9]{1,4}", number) else ""


def _label(tag: Tag) -> str:
    return f"[…]({_number_of(tag)})"


def _label_around(node: Tag | NavigableString) -> str:
    """Return the label of the numbered element around a node, or an empty string."""
    for parent in node.parents:
        if _is_numbered(parent):
            return _label(parent)
    return ""


def _with_parts(text: NavigableString, fixed: Mapping[int, Tag]) -> list[PageElement]:
    """Return a text with the elements of the original in place of their numbers."""
    pieces: list[PageElement] = []
    position = 0
    for number in NUMBER.finditer(text):
        pieces.append(NavigableString(text[position : number.start()]))
        holder = Tag(name="p")  # unwrap() needs a parent
        holder.append(copy(fixed[int(number[1])]))
        for inner in tags_in(holder, (_FORMULA, _LABEL)):
            inner.unwrap()
        pieces += holder.contents[:]
        position = number.end()
    pieces.append(NavigableString(text[position:]))
    return pieces


def _restore_code(translated: Tag, original: Tag) -> None:
    """Take code from the original, with all that is in it, since it may be more than its text."""
    originals: dict[str, list[Tag]] = {}
    for code in _codes(original):
        originals.setdefault(_code_in(code), []).append(code)
    for code in _codes(translated):
        same = originals.get(_code_in(code))
        if same:
            code.replace_with(copy(same.pop(0)))


def _code_in(code: Tag) -> str:
    """Return the text of code as it is compared: a translator gets it on one line."""
    return " ".join(code.get_text().split())


def _codes(element: Tag) -> list[Tag]:
    """Return the elements of code that are in no fixed part."""
    found = []
    for code in tags_in(element, ("code",)):
        if not closest(code, _CODE_AND_OPAQUE):
            found.append(code)
    return found


def _listed(parts: Counter[str]) -> str:
    return ", ".join(sorted(parts))

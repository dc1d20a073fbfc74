"""Put the statements of a text that a person has to check into `<mark>`.

A new text is marked in the tokens of its Markdown, and a translation in its HTML, which becomes
such tokens for that.

What is looked for in a new text depends on what there is to compare with. Figures, dates,
quotations and links are always looked for; names and code only where a text has sources, since
otherwise all would be marked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bs4 import Tag
from bs4.element import NavigableString
from markdown_it.token import Token

from ...html.elements import TO_READ, WEAK
from ...html.formulas import FORMULA
from ...language.ranges import Range, overlaps, without_overlaps
from ...language.words import OBJECT
from .code_parts import find_code, find_unknown_parts, is_given
from .contradictions import find_contradicted
from .contrary import find_contrary
from .defaults import find_other_values
from .misplaced import find_misplaced
from .names import find_names
from .opposites import find_opposites
from .statements import find_statements, is_invented, number_end
from .unsupported import find_sentences_to_read

_BREAKS = ("softbreak", "hardbreak")
"""The types of the inline tokens of line breaks."""

NO_PROSE = ("code_inline", FORMULA)
"""The types of the inline tokens whose words are not those of a language."""

_TAG = "contentgen_tag"
"""The key in `meta` of a token for the element that it stands for."""


@dataclass(frozen=True)
class Given:
    """What a text can state without a mark."""

    text: str
    """The topic, the brief and the sources."""

    has_sources: bool = False
    """Whether names and code are compared, too."""

    language: str = ""
    """The BCP 47 tag of the text."""


@dataclass(frozen=True)
class _Piece:
    """An inline token, and where its text stands in that of its paragraph."""

    token: Token
    start: int
    end: int


def inline_text(tokens: Iterable[Token]) -> str:
    """Return the text of inline tokens."""
    return "".join(map(_text_of, tokens))


def _text_of(token: Token) -> str:
    if token.type in _BREAKS:
        return " "
    return token.content if token.type in ("text", *NO_PROSE) else ""


def _prose_of(piece: _Piece) -> str:
    """Return the text of a piece, with signs in place of code, which has checks of its own."""
    if piece.token.type in NO_PROSE:
        return OBJECT * (piece.end - piece.start)
    return _text_of(piece.token)


def mark_paragraph(
    tokens: list[Token], given: Given, *, is_heading: bool = False, is_quotation: bool = False
) -> None:
    """Drop the addresses of links, and mark the statements of a paragraph, in place.

    With sources, the sentences to read are marked, too.

    The number of a section or an item at its start, such as `3. `, is no statement. A quotation is
    marked as a whole.
    """
    pieces, links = _pieces(tokens)
    text = "".join(map(_prose_of, pieces))
    if is_quotation and is_invented(text, given.text):
        ranges = [Range(0, len(text))]
    else:
        found = _find_unknown(text, pieces, given, is_heading=is_heading)
        ranges = without_overlaps([*links, *found])
        if given.has_sources and not is_heading:
            elsewhere = _find_elsewhere(pieces, given)
            others = [part for part in elsewhere if not overlaps(part.start, part.end, ranges)]
            ranges = without_overlaps([*ranges, *others])
    tokens[:] = _wrap(pieces, ranges)
    if given.has_sources and not is_heading:
        pieces, _ = _pieces(tokens)  # of the marked text
        with_code = "".join(_text_of(piece.token) for piece in pieces)
        sentences = find_sentences_to_read(with_code, given.text, given.language)
        tokens[:] = _wrap(pieces, sentences, "span")


def find_unsupported(
    tokens: list[Token], given: Given, *, is_heading: bool = False, is_quotation: bool = False
) -> list[Range]:
    """Return the ranges of what would be marked in a paragraph, other than its links."""
    pieces, _ = _pieces(tokens)
    text = "".join(map(_prose_of, pieces))
    if is_quotation and is_invented(text, given.text):
        return [Range(0, len(text))]
    return without_overlaps(_find_unknown(text, pieces, given, is_heading=is_heading))


def mark_element(element: Tag, ranges: Sequence[Range]) -> None:
    """Put ranges of the plain text of an element into `<mark>`, in place.

    The ranges are in order and apart. Code is only marked where a range has all of it.
    """
    pieces, _ = _pieces(list(_tokens_of(element)))
    element.clear()
    parents = [element]
    for token in _wrap(pieces, ranges):
        if token.nesting < 0:
            parents.pop()
        elif token.nesting > 0:
            tag = token.meta.get(_TAG) or Tag(name=token.tag)
            parents[-1].append(tag)
            parents.append(tag)
        else:
            parents[-1].append(token.meta.get(_TAG) or NavigableString(token.content))


def _tokens_of(element: Tag) -> Iterator[Token]:
    """Yield the content of an element as inline tokens, and take it out of the element."""
    for child in list(element.children):
        node = child.extract()
        if isinstance(node, Tag) and node.name != "code":
            yield Token("tag_open", node.name, 1, meta={_TAG: node})
            yield from _tokens_of(node)
            yield Token("tag_close", node.name, -1)
        elif isinstance(node, Tag):
            yield Token("code_inline", "code", 0, content=node.get_text(), meta={_TAG: node})
        else:
            yield Token("text", "", 0, content=str(node))


def _find_unknown(
    text: str, pieces: list[_Piece], given: Given, *, is_heading: bool
) -> Iterator[Range]:
    """Yield the ranges of what a paragraph says, and what is not given."""
    first = number_end(text, is_heading=is_heading)
    # A number word can count what follows, as `Five reasons` does. Headings do so, and without
    # sources to compare with, any number word may.
    number_words = given.has_sources and not is_heading
    for found in find_statements(text, given.text, given.language, number_words=number_words):
        if found.start >= first:
            yield found
    if given.has_sources:
        yield from _unknown_code(text, pieces, given)
    if given.has_sources and not is_heading:
        yield from find_names(text, given.text, given.language)
        yield from _contradictions(pieces, given)


def _contradictions(pieces: list[_Piece], given: Given) -> Iterator[Range]:
    """Yield the ranges of what the sources say otherwise. Code counts as words there."""
    text, code = _with_code(pieces)
    yield from find_contradicted(text, given.text, given.language)
    yield from find_opposites(text, given.text, given.language)
    yield from find_other_values(text, code, given.text, given.language)


def _find_elsewhere(pieces: list[_Piece], given: Given) -> Iterator[Range]:
    """Yield the ranges of what the sources say of something else.

    In a text that was approved, that is no statement that a source can lose.
    """
    text, code = _with_code(pieces)
    yield from find_misplaced(text, code, given.text, given.language)
    yield from find_contrary(text, given.text, given.language)


def _with_code(pieces: list[_Piece]) -> tuple[str, list[Range]]:
    """Return the text of a paragraph, and the ranges of code in it."""
    text = "".join(_text_of(piece.token) for piece in pieces)
    code = [Range(piece.start, piece.end) for piece in pieces if piece.token.type == "code_inline"]
    return text, code


def mark_code_block(token: Token, given: Given) -> None:
    """Note in `meta["marks"]` which parts of a code block are in no source."""
    if given.has_sources:
        token.meta["marks"] = without_overlaps(find_unknown_parts(token.content, given.text))


def _pieces(tokens: list[Token]) -> tuple[list[_Piece], list[Range]]:
    """Return the tokens without links, and the ranges of the links."""
    pieces: list[_Piece] = []
    links: list[Range] = []
    end = 0
    link_start = 0
    for token in tokens:
        if token.type == "link_open":
            link_start = end
        elif token.type == "link_close":
            links.append(Range(link_start, end))
        else:
            start = end
            end += len(_text_of(token))
            pieces.append(_Piece(token, start, end))
    return pieces, links


def _unknown_code(text: str, pieces: list[_Piece], given: Given) -> Iterator[Range]:
    """Yield the ranges of code that is not given. A code span is marked as a whole."""
    yield from find_code(text, given.text)
    for piece in pieces:
        if piece.token.type == "code_inline" and not is_given(piece.token.content, given.text):
            yield Range(piece.start, piece.end)


def _wrap(pieces: list[_Piece], ranges: Sequence[Range], tag: str = "mark") -> list[Token]:
    """Return inline tokens with each range of their text in an element, by default `<mark>`.

    A range that begins within emphasis and ends outside of it is marked in pieces; any other is one
    mark, with the emphasis in it.
    """
    tokens: list[Token] = []
    indexes_of: dict[int, list[int]] = {}
    """The indexes of the tokens with the text of a range, by its number."""

    for piece in pieces:
        for token, number in _split_at_ranges(piece, ranges):
            if number is not None:
                indexes_of.setdefault(number, []).append(len(tokens))
            tokens.append(token)
    opened: dict[int, Token] = {}
    closed: set[int] = set()
    for number, indexes in indexes_of.items():
        for first, last in _find_marks(tokens, indexes):
            opened[first] = _opening(tag, is_weak=ranges[number].is_weak)
            closed.add(last)
    marked: list[Token] = []
    for index, token in enumerate(tokens):
        if index in opened:
            marked.append(opened[index])
        marked.append(token)
        if index in closed:
            marked.append(Token(f"{tag}_close", tag, -1))
    return marked


def _opening(tag: str, *, is_weak: bool) -> Token:
    token = Token(f"{tag}_open", tag, 1)
    if tag == "span":
        token.attrSet("class", TO_READ)
    elif is_weak:
        token.attrSet("class", WEAK)
    return token


def _split_at_ranges(piece: _Piece, ranges: Sequence[Range]) -> Iterator[tuple[Token, int | None]]:
    """Yield the parts of a token, each with the number of its range, or None outside of all."""
    first_number = bisect_right(ranges, piece.start, key=lambda marked: marked.end)
    if piece.token.type == "text":
        yield from _split_text(piece, ranges, first_number)
    elif piece.token.type == "code_inline" and first_number < len(ranges):
        # Code is not split: a range has all of it, or does not count.
        marked = ranges[first_number]
        is_covered = marked.start <= piece.start and piece.end <= marked.end
        yield piece.token, first_number if is_covered else None
    else:
        yield piece.token, None


def _split_text(
    piece: _Piece, ranges: Sequence[Range], first_number: int
) -> Iterator[tuple[Token, int | None]]:
    """Yield the parts of a text. The ranges before `first_number` end before it."""
    content = piece.token.content
    done = 0
    for number in range(first_number, len(ranges)):
        marked = ranges[number]
        if marked.start >= piece.end:
            break
        start = max(done, marked.start - piece.start)
        end = min(marked.end - piece.start, len(content))
        if start > done:
            yield _text_token(content[done:start]), None
        if end > start:
            yield _text_token(content[start:end]), number
        done = end
    if done < len(content):
        yield _text_token(content[done:]), None


def _text_token(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _find_marks(tokens: list[Token], indexes: list[int]) -> list[tuple[int, int]]:
    """Return the first and the last token of each mark for a range with its text at `indexes`.

    That is one mark, with all emphasis that stands in it as a whole. If emphasis reaches beyond the
    range, tags would overlap, so each part of the text has a mark of its own. With the range in
    brackets:

        [a **b**] c      one mark, around `a **b**`
        **[a] b**        one mark, around `a`
        [a **b] c**      two marks, around `a` and `b`
    """
    first = indexes[0]
    last = indexes[-1]
    begun, ended = _count_unbalanced(tokens[first : last + 1])
    # The tags of emphasis stand beside the text. Take in the end tags after the last token,
    while begun and last + 1 < len(tokens) and tokens[last + 1].nesting < 0:
        last += 1
        begun -= 1
    # and the start tags before the first one.
    while ended and first > 0 and tokens[first - 1].nesting > 0:
        first -= 1
        ended -= 1
    if begun or ended:
        return [(index, index) for index in indexes]
    return [(first, last)]


def _count_unbalanced(tokens: Iterable[Token]) -> tuple[int, int]:
    """Return how much emphasis begins in tokens and ends after them, and the other way round."""
    begun = 0
    ended = 0
    for token in tokens:
        if token.nesting > 0:
            begun += 1
        elif token.nesting < 0 and begun:
            begun -= 1
        elif token.nesting < 0:
            ended += 1
    return begun, ended

"""Find the sentences of an element that have statements to check, and cut sentences out of it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from bs4 import Tag
from bs4.element import PageElement

from ..language.sentences import sentence_ends
from .elements import WEAK
from .html_writer import collapse, one_line

_MAX_CITED = 50
"""How many addresses are kept of a sentence with statements to check."""

_SCRIPTS = {
    "sup": str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ"),
    "sub": str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"),
}
"""The characters for powers and indices in plain text, in which `10<sup>6</sup>` is 10⁶."""


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence with statements to check."""

    parts: list[tuple[str, int | None]]
    """Its parts, and the number of the statement that each is."""

    cited: list[str]
    """The addresses that it links to."""

    is_weak: bool = False
    """Whether a source has the same figures or words, in another form, for each statement."""

    def with_quotes(self) -> str:
        """Return the sentence on one line, with its statements in `‹…›`."""
        text = ""
        for part, number in self.parts:
            text += part if number is None else f"‹{part}›"
        return one_line(text)


def strong_first(sentences: Iterable[MarkedSentence]) -> list[MarkedSentence]:
    """Return marked sentences in their order, but those that have only weak marks at the end."""
    return sorted(sentences, key=lambda sentence: sentence.is_weak)


def is_weak(mark: Tag) -> bool:
    """Tell whether a source has what a mark is around, in another form."""
    return WEAK in str(mark.get("class", "")).split()


class _Span(NamedTuple):
    """A node of a block, and where its text begins and ends in the text of the block."""

    node: PageElement
    begin: int
    end: int


@dataclass(frozen=True)
class TagSpan:
    """A tag of a block, and where its text begins and ends in the text of the block."""

    tag: Tag
    begin: int
    end: int


class Sentences:
    """The text of an element with the positions of its sentences and its tags."""

    def __init__(self, element: Tag) -> None:
        self._spans = _spans_in(element, 0)
        # The text of a tag here is only the space after it: what is in it has spans of its own.
        self.text = "".join(_text_of(span.node) for span in self._spans)
        self._element = element

    @cached_property
    def _borders(self) -> list[int]:
        """Where the sentences begin, and the last one ends."""
        return [0, *self._find_ends(language_of(self._element)), len(self.text)]

    def tags(self, name: str) -> list[TagSpan]:
        """Return the tags with this name, and where their texts begin and end, in their order.

        Of two that begin at the same position, the outer one comes first.
        """
        found = []
        for node, begin, end in self._spans:
            if isinstance(node, Tag) and node.name == name:
                found.append(TagSpan(node, begin, end))
        return sorted(found, key=lambda span: (span.begin, -span.end))

    def at(self, position: int) -> tuple[int, int]:
        """Return where the sentence at a position begins and ends.

        The end of the text belongs to the last sentence.
        """
        # Without the last border, so that a position at the end of the text is not after it.
        end = bisect_right(self._borders, position, hi=len(self._borders) - 1)
        return self._borders[end - 1], self._borders[end]

    def marked(self) -> list[MarkedSentence]:
        """Return the sentences with statements to check."""
        links = self.tags("a")
        marks_of_sentences: dict[tuple[int, int], dict[int, TagSpan]] = {}
        for number, mark in enumerate(self.tags("mark")):
            sentence = self.at(mark.begin)
            marks_of_sentences.setdefault(sentence, {})[number] = mark
        sentences = []
        for (first, last), marks in marks_of_sentences.items():
            parts = self._parts(first, last, marks)
            addresses = _addresses_between(first, last, links)
            has_only_weak_marks = all(is_weak(mark.tag) for mark in marks.values())
            sentences.append(MarkedSentence(parts, addresses, has_only_weak_marks))
        return sentences

    def _parts(
        self, first: int, last: int, marks: Mapping[int, TagSpan]
    ) -> list[tuple[str, int | None]]:
        """Return the text from `first` to `last`, in parts.

        `marks` are those of its statements, by their numbers in the element.
        """
        parts: list[tuple[str, int | None]] = []
        position = first
        for number, mark in marks.items():
            parts.append((self.text[position : mark.begin], None))
            parts.append((self.text[mark.begin : mark.end], number))
            position = mark.end
        parts.append((self.text[position:last], None))
        return [(collapse(text), number) for text, number in parts if text]

    def cut(self, first: int, last: int) -> None:
        """Remove a part of the text from the element, and the tags in it."""
        for node, begin, end in self._spans:
            # A tag without text, such as `<img>`, is inside if it stands before the end.
            is_inside = first <= begin < last and end <= last
            overlaps = begin < last and end > first
            if is_inside:
                node.extract()
            # A tag that reaches out of the part stays, around what is left of its text.
            elif overlaps and not isinstance(node, Tag):
                text = str(node)
                before = text[: max(0, first - begin)]
                after = text[max(0, last - begin) :]
                node.replace_with(before + after)

    def _find_ends(self, language: str) -> list[int]:
        """Return where sentences end: not in code, nor within a statement to check."""
        prose = list(self.text)
        for code in self.tags("code"):
            length = code.end - code.begin
            prose[code.begin : code.end] = "X" * length  # a sentence can begin with code
        inside_marks: set[int] = set()
        for mark in self.tags("mark"):
            inside_marks.update(range(mark.begin + 1, mark.end))
        ends = sentence_ends("".join(prose), language)
        return [end for end in ends if end not in inside_marks]


def _addresses_between(first: int, last: int, links: Sequence[TagSpan]) -> list[str]:
    """Return the addresses of the links that begin from `first` on, and before `last`.

    `links` are in the order of their beginnings.
    """
    start = bisect_left(links, first, key=_begin_of)
    end = bisect_left(links, last, key=_begin_of)
    return [str(link.tag["href"]) for link in links[start:end][:_MAX_CITED]]


def _begin_of(span: TagSpan) -> int:
    return span.begin


def _spans_in(element: Tag, offset: int) -> list[_Span]:
    """Return the spans of what is in an element whose text begins at `offset`.

    Each tag comes after what is in it. Tags that set words apart, such as `<br>`, have a space at
    the end of their text.
    """
    spans: list[_Span] = []
    for child in element.children:
        begin = offset
        if isinstance(child, Tag):
            inner = _spans_in(child, begin)
            spans += inner
            offset = inner[-1].end if inner else begin
        offset += len(_text_of(child))
        spans.append(_Span(child, begin, offset))
    return spans


def _text_of(node: PageElement) -> str:
    """Return the text of a string, or the space after a tag that sets words apart."""
    if isinstance(node, Tag):
        return " " if node.name in ("br", "td", "th") else ""
    text = str(node)
    if node.parent is not None and node.parent.name in _SCRIPTS:
        return text.translate(_SCRIPTS[node.parent.name])
    return text


def language_of(element: Tag) -> str:
    """Return the language tag of an element, or an empty string if it has none."""
    for tag in (element, *element.parents):
        if tag.get("lang"):
            return str(tag["lang"])
    return ""

"""The sentences of a block, and the statements to check in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import NamedTuple

from bs4 import Tag
from bs4.element import PageElement

from .plaintext import SENTENCE_END


class Span(NamedTuple):
    """A node of a block, and where its text begins and ends in the block's."""

    node: PageElement
    begin: int
    end: int


class Sentences:
    """The text of an element with the positions of its sentences and its tags."""

    def __init__(self, element: Tag) -> None:
        self._spans: list[Span] = []
        _measure(element, 0, self._spans)
        self.text = "".join(_text_of(it.node) for it in self._spans)
        self._ends = self._find_ends()

    def tags(self, name: str) -> list[tuple[Tag, int, int]]:
        """Return the tags with this name, and where their texts begin and end, in their order."""
        found = [
            (node, begin, end)
            for node, begin, end in self._spans
            if isinstance(node, Tag) and node.name == name
        ]
        return sorted(found, key=lambda it: (it[1], -it[2]))

    def at(self, position: int) -> tuple[int, int]:
        """Return where the sentence at a position begins and ends."""
        number = bisect_right(self._ends, position)
        begin = self._ends[number - 1] if number else 0
        return begin, self._ends[number] if number < len(self._ends) else len(self.text)

    def marked(self) -> list[str]:
        """Return the sentences with statements to check, in which these stand in `‹…›`."""
        found: dict[tuple[int, int], tuple[str, int]] = {}
        for _, begin, end in self.tags("mark"):
            sentence = self.at(begin)
            shown, position = found.get(sentence, ("", sentence[0]))
            if begin >= position:
                shown += f"{self.text[position:begin]}‹{self.text[begin:end]}›"
                found[sentence] = (shown, end)
        return [
            " ".join((shown + self.text[position:last]).split())
            for (_, last), (shown, position) in found.items()
        ]

    def cut(self, first: int, last: int) -> None:
        """Remove a part of the text from the element, and the tags in it."""
        for node, begin, end in self._spans:
            if first <= begin < last and end <= last:
                node.extract()
            elif not isinstance(node, Tag) and begin < last and end > first:
                text = str(node)
                node.replace_with(text[: max(0, first - begin)] + text[max(0, last - begin) :])

    def _find_ends(self) -> list[int]:
        """Return where sentences end: not in code, nor within a statement to check."""
        prose = list(self.text)
        for _, begin, end in self.tags("code"):
            prose[begin:end] = "x" * (end - begin)
        marks = self.tags("mark")
        for _, begin, end in marks:
            if begin < end and self.text[end : end + 1] == ".":
                prose[end - 1] = "="  # the number in `<mark>3</mark>.` is no ordinal
        begins = [begin for _, begin, _ in marks]
        marked_until = [0, *accumulate((end for *_, end in marks), max)]
        ends = (match.end() for match in SENTENCE_END.finditer("".join(prose)))
        return [end for end in ends if marked_until[bisect_left(begins, end)] <= end]


def _measure(element: Tag, offset: int, spans: list[Span]) -> int:
    for child in element.children:
        begin = offset
        if isinstance(child, Tag):
            offset = _measure(child, offset, spans)
        offset += len(_text_of(child))
        spans.append(Span(child, begin, offset))
    return offset


def _text_of(node: PageElement) -> str:
    """Return the text of a string, or the space behind a tag that sets words apart."""
    if isinstance(node, Tag):
        return " " if node.name in ("br", "td", "th") else ""
    return str(node)

"""Find the statements of a text that what it cites does not support.

The statements are those that a new text is marked for: figures, dates, quotations, names and code.
The text is handed in as its document, which its caller has read anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from bs4 import Tag
from markdown_it.token import Token

from ...html.document import Document
from ...html.elements import BLOCK_LEVEL, HEADINGS
from ...html.html_writer import LOOSE
from ...language.languages import SOURCES_HEADINGS
from ...language.ranges import Range
from ...language.sentences import sentence_ranges
from ..marks.code_parts import LITERALS, find_unknown_in_line, find_unknown_parts, stands_as_whole
from ..marks.marking import Given, find_unsupported

_LABEL = re.compile(r"\s?\[(\d{1,3})\]")
"""The label of a citation, such as `[3]`, with its number as group 1."""


_STATE = re.compile(
    r"\b(?:alpha|beta|deprecated|experimental|mandatory|obsolete|optional|preview|required|unstable"
    r"|unsupported)\b",
    re.IGNORECASE,
)
"""A word for the state of a feature, which is a statement where a source had it.

In a new text, it is none: what is said in these words can be said in others.
"""


def normal_statement(text: str) -> str:
    """Return a statement without case, and with one space between its words."""
    return " ".join(text.split()).casefold()


@dataclass(frozen=True)
class Sentence:
    """A sentence of a block, or a line of code."""

    tokens: Sequence[Token]
    text: str
    kind: str
    """The tag of its block."""

    @property
    def line(self) -> str:
        """The sentence on one line, with its code in backticks."""
        if self.kind == "pre":
            return self.text.strip()
        parts = []
        for token in self.tokens:
            is_code = token.type == "code_inline"
            parts.append(f"`{token.content}`" if is_code else token.content)
        return " ".join("".join(parts).split())

    def unsupported(self, given: Given) -> list[Range]:
        """Return the ranges of its statements that are not given."""
        if self.kind == "pre":
            return find_unknown_parts(self.text, given.text)
        found = find_unsupported(
            list(self.tokens),
            given,
            is_heading=self.kind in HEADINGS,
            is_quotation=self.kind == "blockquote",
        )
        parts: list[Range] = []
        for whole in found:
            parts += self._parts_of_code(whole, given) or [whole]
        for part in (*self._unsaid_code(given), *self._unsaid_states(given)):
            if not any(part.start <= known.start < part.end for known in parts):
                parts.append(part)
        return parts

    def all_unsupported(self, given: Given) -> list[Range]:
        """Return these ranges, and that of all code of which only a part is not given."""
        return [*self.unsupported(given), *self._unsaid_code(given)]

    def _unsaid_code(self, given: Given) -> Iterator[Range]:
        """Yield the code of several words, or such as `null`, that is not given as a whole.

        Both words of `encrypted = true` can stand in a source that does not say so.
        """
        start = 0
        for token in self.tokens:
            end = start + len(token.content)
            if token.type == "code_inline":
                is_whole = len(token.content.split()) > 1 or token.content in LITERALS
                if is_whole and not stands_as_whole(token.content, given.text):
                    yield Range(start, end)
            start = end

    def _unsaid_states(self, given: Given) -> Iterator[Range]:
        """Yield words such as `experimental` that are not given."""
        start = 0
        for token in self.tokens:
            if token.type == "text":
                for state in _STATE.finditer(token.content):
                    if state[0].casefold() not in _states_of(given.text):
                        yield Range(start + state.start(), start + state.end())
            start += len(token.content)

    def _parts_of_code(self, whole: Range, given: Given) -> list[Range]:
        """Return the parts of a code span that are not given, none for a range of something else.

        Of `tool sync --frozen`, only the flag can be wrong.
        """
        start = 0
        for token in self.tokens:
            end = start + len(token.content)
            if token.type == "code_inline" and (start, end) == (whole.start, whole.end):
                found = find_unknown_in_line(token.content, given.text)
                return [Range(start + part.start, start + part.end) for part in found]
            start = end
        return []


@dataclass
class CitingBlock:
    """A block of a text, with the numbers and addresses of what it cites."""

    kind: str
    tokens: list[Token] = field(default_factory=list)
    addresses: set[str] = field(default_factory=set)
    labels: set[int] = field(default_factory=set)

    @cached_property
    def text(self) -> str:
        """The plain text without citations."""
        return "".join(token.content for token in self.tokens)

    def end_words(self) -> None:
        """Drop the space before a citation."""
        if self.tokens and self.tokens[-1].type == "text":
            self.tokens[-1].content = self.tokens[-1].content.rstrip()

    def sentences(self, language: str) -> Iterator[Sentence]:
        """Yield its sentences, or the lines of code."""
        if self.kind == "pre":
            for line in self.text.splitlines():
                if line.strip():
                    yield Sentence((), line, self.kind)
            return
        prose = ""
        for token in self.tokens:
            # A sentence can begin with code, and does not end in it.
            is_code = token.type == "code_inline"
            prose += "X" * len(token.content) if is_code else token.content
        for sentence in sentence_ranges(prose, language):
            tokens = list(_cut(self.tokens, sentence.start, sentence.end))
            text = "".join(token.content for token in tokens)
            if text.strip():
                yield Sentence(tokens, text, self.kind)


@lru_cache(maxsize=64)  # what is given is the same for all sentences of a paragraph
def _states_of(given: str) -> frozenset[str]:
    return frozenset(state[0].casefold() for state in _STATE.finditer(given))


def _cut(tokens: Sequence[Token], start: int, end: int) -> Iterator[Token]:
    """Yield the parts of tokens that are within a range of their text."""
    position = 0
    for token in tokens:
        first = max(start - position, 0)
        last = min(end - position, len(token.content))
        if first < last:
            yield Token(token.type, token.tag, 0, content=token.content[first:last])
        position += len(token.content)


@dataclass(frozen=True)
class CitingText:
    """The blocks of a text, without its list of sources."""

    blocks: Sequence[CitingBlock]
    listed: Sequence[str]
    """The address, or else the title, of each source in the list at the end."""

    language: str


def read_citing_text(document: Document) -> CitingText:
    """Return the blocks of a text."""
    article = document.article
    listed = _listed_sources(article)
    reader = _BlockReader(listed)
    reader.read(article, None)
    blocks = [block for block in reader.blocks if block.text.strip()]
    names = []
    for item in listed:
        link = item.find("a")
        names.append(str(link["href"]) if link else item.get_text().strip())
    return CitingText(blocks, names, str(article.get("lang", "")))


def _listed_sources(article: Tag) -> list[Tag]:
    """Return the items of the list of sources at the end of a text."""
    found: list[Tag] = []
    for heading in article.find_all("h2"):
        if heading.get_text() in SOURCES_HEADINGS:
            following = heading.find_next_sibling(_is_element)
            if following is not None and following.name == "ol":
                found = following.find_all(_is_element, recursive=False)
    return found


def _is_element(tag: Tag) -> bool:
    """Tell whether a tag is one of the HTML, and not around loose text."""
    return tag.name != LOOSE


class _BlockReader:
    """Collects the blocks of an element."""

    def __init__(self, left_out: Sequence[Tag]) -> None:
        self.blocks: list[CitingBlock] = []
        self._left_out = set(map(id, left_out))
        self._most_labels = len(left_out)

    def read(self, element: Tag, around: CitingBlock | None, *, is_code: bool = False) -> None:
        """Read an element within a block, or None outside of all."""
        if id(element) in self._left_out:
            return
        block = around
        if block is None or element.name in BLOCK_LEVEL:
            block = CitingBlock(element.name)
            if around is not None and around.kind in ("li", "blockquote") and block.kind == "p":
                block.kind = around.kind
            self.blocks.append(block)
        is_code = is_code or element.name in ("code", "pre")
        if element.name == "a":
            block.addresses.add(str(element["href"]))
        elif element.name in ("br", LOOSE):  # which stand apart from the words before them
            self._add(block, " ", is_code=is_code)
        elif element.name == "img":  # a page that does not show it has its words
            self._add(block, str(element.get("alt") or element["src"]), is_code=is_code)
        for child in element.children:
            if isinstance(child, Tag):
                self.read(child, block, is_code=is_code)
            elif element.name == "a" and _LABEL.fullmatch(str(child)):
                block.end_words()
            else:
                self._add(block, str(child), is_code=is_code)

    def _add(self, block: CitingBlock, text: str, *, is_code: bool) -> None:
        """Add a text to a block, without the labels of citations."""
        if not is_code:
            for label in _LABEL.finditer(text):
                if int(label[1]) <= self._most_labels:
                    block.labels.add(int(label[1]))
            text = _LABEL.sub("", text)
        if not text:
            return
        kind = "code_inline" if is_code else "text"
        if block.tokens and block.tokens[-1].type == kind:
            block.tokens[-1].content += text
        else:
            block.tokens.append(Token(kind, "", 0, content=text))


def cited_in(block: CitingBlock, text: CitingText, titles: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the passages that a block cites.

    `titles` has the title of each passage that the text cites, by its name.
    """
    found = [name for name in titles if name in block.addresses]
    for label in sorted(block.labels):
        if not 0 < label <= len(text.listed):
            continue
        listed = text.listed[label - 1]
        for name, title in titles.items():
            if listed in (name, title) and name not in found:
                found.append(name)
    return tuple(found)

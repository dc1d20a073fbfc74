"""Read the article of a text as a document, to check its form after a person has changed it.

Its blocks have the words of the HTML, without a way through Markdown: on the desk, this is done
after each change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from markdown_it.token import Token

from ...html.elements import BLOCK_LEVEL, HEADINGS
from ...html.formulas import FORMULA, find_formulas
from .document import MarkdownBlock, MarkdownDocument

_CODE = frozenset({"code", "kbd", "samp"})

_WHOLE = HEADINGS | {"p", "ul", "ol", "dl", "table", "blockquote", "pre", "hr"}
"""The elements that are one block of a text, with all that is in them."""

_SPACE = re.compile(r"\s+")


def read_article(article: Element) -> MarkdownDocument:
    """Return the title and the blocks of a sanitized article, those without words left out."""
    document = MarkdownDocument()
    for tokens in _blocks_in(article):
        block = MarkdownBlock(tokens)
        if block.kind == "h1" and not document.title:
            document.title = block.inlines[0]
        elif block.kind == "pre" or block.text.strip():
            document.blocks.append(block)
    return document


def _blocks_in(element: Element) -> Iterator[list[Token]]:
    """Yield the tokens of each block in an element, and of text that stands beside blocks."""
    for part in _parts_of(element):
        if isinstance(part, list):
            yield _block_of("p", [_inline(part)])
        elif part.tag in _WHOLE:
            yield _tokens_of(part)
        else:
            yield from _blocks_in(part)


def _tokens_of(element: Element) -> list[Token]:
    """Return the tokens of an element that is one block."""
    if element.tag == "pre":
        return [Token("fence", "code", 0, content="".join(element.itertext()))]
    return _block_of(element.tag, list(_content_of(element)))


def _block_of(tag: str, content: Sequence[Token]) -> list[Token]:
    kind = "heading" if tag in HEADINGS else tag
    return [Token(f"{kind}_open", tag, 1), *content, Token(f"{kind}_close", tag, -1)]


def _content_of(element: Element) -> Iterator[Token]:
    """Yield an inline token for each run of words in a block, and its blocks of code."""
    for part in _parts_of(element):
        if isinstance(part, list):
            yield _inline(part)
        elif part.tag in ("pre", "blockquote"):
            yield from _tokens_of(part)
        else:
            yield from _content_of(part)


def _parts_of(element: Element) -> Iterator[Element | list[Token]]:
    """Yield what is in an element: others with blocks in them, and the words between those."""
    words = list(_text(element.text))
    for child in element:
        if child.tag in BLOCK_LEVEL or any(inner.tag in BLOCK_LEVEL for inner in child.iter()):
            if words:
                yield words
            yield child
            words = []
        else:
            words += _words_of(child)
        words += _text(child.tail)
    if words:
        yield words


def _words_of(element: Element) -> Iterator[Token]:
    """Yield the inline tokens of an element without blocks in it."""
    if element.tag in _CODE:
        yield Token("code_inline", "code", 0, content="".join(element.itertext()))
    elif element.tag == "br":
        yield Token("hardbreak", "br", 0)
    else:
        yield from _text(element.text)
        for child in element:
            yield from _words_of(child)
            yield from _text(child.tail)


def _text(text: str | None) -> Iterator[Token]:
    """Yield the tokens of a text, in which formulas are no words."""
    if not text:
        return
    done = 0
    for begin, end in find_formulas(text):
        yield Token("text", "", 0, content=_SPACE.sub(" ", text[done:begin]))
        yield Token(FORMULA, "", 0, content=text[begin:end])
        done = end
    yield Token("text", "", 0, content=_SPACE.sub(" ", text[done:]))


def _inline(children: list[Token]) -> Token:
    return Token("inline", "", 0, children=children)

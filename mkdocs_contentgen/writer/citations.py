"""Turn the numbers that a model cites into links to its sources."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from markdown_it.token import Token

from ..citation import Citation, name_of_file
from ..html.markup import tag
from .languages import ENGLISH, find_language
from .markdown import MarkdownBlock, MarkdownDocument
from .sources import Passage

_CITATION = re.compile(r"\s?\[(\d{1,2}(?:\s?[,;]\s?\d{1,2})*)\]")


class Citations(NamedTuple):
    """The passages that a text cites, in their order, and the numbers that were taken out."""

    passages: list[Passage]
    dropped: list[str]


def cite(
    document: MarkdownDocument,
    passages: Sequence[Passage],
    site_url: str,
    *,
    is_heading: bool = False,
) -> Citations:
    """Replace numbers of passages, such as `[3]`, by links, in place.

    Passages are renumbered in the order of their citations. Without passages, nothing is a
    citation, and neither are brackets in which no number is one of a passage: they stay. Numbers in
    headings, and those beside a citation that no passage has, are taken out. `is_heading` says that
    all of the text is one.
    """
    found = Citations([], [])
    if not passages:
        return found
    places = [(document.title, True)]
    for block in document.blocks:
        is_title = is_heading or block.tokens[0].type == "heading_open"
        places += [(children, is_title) for children in block.inlines]
    for children, is_title in places:
        parts = [_with_links(token, passages, found, site_url, is_title) for token in children]
        children[:] = chain.from_iterable(parts)
    document.blocks = [MarkdownBlock(block.tokens) for block in document.blocks]
    return found


def sources_list(cited: Sequence[Passage], site_url: str, language: str = "") -> list[str]:
    """Return the HTML of the list of sources, or nothing without sources."""
    if not cited:
        return []
    items = "".join(f"<li>{_link(passage, passage.title, site_url)}</li>" for passage in cited)
    return [tag("h2", (find_language(language) or ENGLISH).sources), tag("ol", items)]


def _with_links(
    token: Token, passages: Sequence[Passage], found: Citations, site_url: str, is_title: bool
) -> list[Token]:
    """Return the tokens of a text, with its citations as links, or another token as it is.

    What is linked and what is dropped is added to `found`.
    """
    if token.type != "text":
        return [token]
    tokens: list[Token] = []
    done = 0
    for match in _CITATION.finditer(token.content):
        numbers = [int(number) for number in re.findall(r"\d+", match[0])]
        known = [number for number in numbers if 0 < number <= len(passages)]
        if not known:
            continue
        tokens.append(Token("text", "", 0, content=token.content[done : match.start()]))
        done = match.end()
        linked = [] if is_title else known
        found.dropped.extend(f"[{number}]" for number in numbers if number not in linked)
        for number in linked:
            passage = passages[number - 1]
            if passage.is_own:
                continue  # it is on the same page
            if passage not in found.passages:
                found.passages.append(passage)
            label = f"[{found.passages.index(passage) + 1}]"
            link = _link(passage, label, site_url)
            tokens.append(Token("html_inline", "", 0, content=f" {link}"))
    return [*tokens, Token("text", "", 0, content=token.content[done:])]


def address_of(passage: Passage, site_url: str) -> str:
    """Return the address of a passage, or an empty string if it has none."""
    is_page = not (passage.is_own or passage.place)  # the home page has an empty link
    return f"{site_url.rstrip('/')}/{passage.link}" if site_url and is_page else ""


def name_of(passage: Passage, site_url: str) -> str:
    """Return what names a passage as a source: its address, or else its file and place there.

    It is empty for the text around an article, and for a page of a site without an address.
    """
    return name_of_file(passage.place) if passage.place else address_of(passage, site_url)


def citation_of(passage: Passage, site_url: str) -> Citation:
    """Return the record of a passage that a text cites, as it is now."""
    name = name_of(passage, site_url)
    return Citation(name, passage.title, passage.text, digest=passage.digest)


def _link(passage: Passage, label: str, site_url: str) -> str:
    address = address_of(passage, site_url)
    if not address:
        return html.escape(label)
    return f'<a href="{html.escape(address)}">{html.escape(label)}</a>'

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
from .sources import Section

_CITATION = re.compile(r"\s?\[(\d{1,2}(?:\s?[,;]\s?\d{1,2})*)\]")


class Citations(NamedTuple):
    """The sections that a text cites, in their order, and the numbers that were taken out."""

    sections: list[Section]
    dropped: list[str]


def cite(
    document: MarkdownDocument,
    sections: Sequence[Section],
    site_url: str,
    *,
    is_heading: bool = False,
) -> Citations:
    """Replace numbers of sections, such as `[3]`, by links, in place.

    Sections are renumbered in the order of their citations. Without sections, nothing is a
    citation, and neither are brackets in which no number is one of a section: they stay. Numbers in
    headings, and those beside a citation that no section has, are taken out. `is_heading` says that
    all of the text is one.
    """
    found = Citations([], [])
    if not sections:
        return found
    places = [(document.title, True)]
    for block in document.blocks:
        is_title = is_heading or block.tokens[0].type == "heading_open"
        places += [(children, is_title) for children in block.inlines]
    for children, is_title in places:
        parts = [_with_links(token, sections, found, site_url, is_title) for token in children]
        children[:] = chain.from_iterable(parts)
    document.blocks = [MarkdownBlock(block.tokens) for block in document.blocks]
    return found


def sources_list(cited: Sequence[Section], site_url: str, language: str = "") -> list[str]:
    """Return the HTML of the list of sources, or nothing without sources."""
    if not cited:
        return []
    items = "".join(f"<li>{_link(section, section.title, site_url)}</li>" for section in cited)
    return [tag("h2", (find_language(language) or ENGLISH).sources), tag("ol", items)]


def _with_links(
    token: Token, sections: Sequence[Section], found: Citations, site_url: str, is_title: bool
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
        known = [number for number in numbers if 0 < number <= len(sections)]
        if not known:
            continue
        tokens.append(Token("text", "", 0, content=token.content[done : match.start()]))
        done = match.end()
        linked = [] if is_title else known
        found.dropped.extend(f"[{number}]" for number in numbers if number not in linked)
        for number in linked:
            section = sections[number - 1]
            if section.is_own:
                continue  # it is on the same page
            if section not in found.sections:
                found.sections.append(section)
            label = f"[{found.sections.index(section) + 1}]"
            link = _link(section, label, site_url)
            tokens.append(Token("html_inline", "", 0, content=f" {link}"))
    return [*tokens, Token("text", "", 0, content=token.content[done:])]


def address_of(section: Section, site_url: str) -> str:
    """Return the address of a section, or an empty string if it has none."""
    is_page = not (section.is_own or section.place)  # the home page has an empty link
    return f"{site_url.rstrip('/')}/{section.link}" if site_url and is_page else ""


def name_of(section: Section, site_url: str) -> str:
    """Return what names a section as a source: its address, or else its file and place there.

    It is empty for the text around an article, and for a page of a site without an address.
    """
    return name_of_file(section.place) if section.place else address_of(section, site_url)


def citation_of(section: Section, site_url: str) -> Citation:
    """Return the record of a section that a text cites, as it is now."""
    name = name_of(section, site_url)
    return Citation(name, section.title, section.text, digest=section.digest)


def _link(section: Section, label: str, site_url: str) -> str:
    address = address_of(section, site_url)
    if not address:
        return html.escape(label)
    return f'<a href="{html.escape(address)}">{html.escape(label)}</a>'

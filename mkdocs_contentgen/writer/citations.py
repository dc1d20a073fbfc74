"""Turn the numbers that a model cites into links to its sources."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from markdown_it.token import Token

from ..html.markup import tag
from .languages import ENGLISH, find_language
from .markdown import MarkdownBlock, MarkdownDocument
from .sources import Section

_CITATION = re.compile(r"\s?\[(\d{1,2}(?:\s?[,;]\s?\d{1,2})*)\]")


def cite(document: MarkdownDocument, sections: Sequence[Section], site_url: str) -> list[Section]:
    """Replace numbers such as `[3]` by links, in place, and return the cited sections in order.

    Sections are renumbered in the order of their citations. Numbers without a section and numbers
    in headings are removed.
    """
    cited: list[Section] = []
    places: list[tuple[list[Token], Sequence[Section]]] = [(document.title, ())]
    for block in document.blocks:
        is_heading = block.tokens[0].type == "heading_open"
        places += [(children, () if is_heading else sections) for children in block.inlines]
    for children, known in places:
        children[:] = [part for it in children for part in _split(it, known, cited, site_url)]
    document.blocks = [MarkdownBlock(block.tokens) for block in document.blocks]
    return cited


def sources_list(cited: Sequence[Section], site_url: str, language: str = "") -> list[str]:
    """Return the HTML of the list of sources, or nothing without sources."""
    if not cited:
        return []
    items = "".join(f"<li>{_link(section, section.title, site_url)}</li>" for section in cited)
    return [tag("h2", (find_language(language) or ENGLISH).sources), tag("ol", items)]


def _split(
    token: Token, sections: Sequence[Section], cited: list[Section], site_url: str
) -> list[Token]:
    """Return the tokens of a text, with its citations as links, or another token as it is."""
    if token.type != "text":
        return [token]
    tokens: list[Token] = []
    for index, part in enumerate(_CITATION.split(token.content)):
        if index % 2 == 0:
            tokens.append(Token("text", "", 0, content=part))
            continue
        for number in map(int, re.findall(r"\d+", part)):
            if not 0 < number <= len(sections) or sections[number - 1].is_own:
                continue
            section = sections[number - 1]
            if section not in cited:
                cited.append(section)
            link = _link(section, f"[{cited.index(section) + 1}]", site_url)
            tokens.append(Token("html_inline", "", 0, content=f" {link}"))
    return tokens


def address_of(section: Section, site_url: str) -> str:
    """Return the address of a section, or an empty string if it has none."""
    is_page = not (section.is_own or section.place)  # the home page has an empty link
    return f"{site_url.rstrip('/')}/{section.link}" if site_url and is_page else ""


def source_of(section: Section, site_url: str) -> str:
    """Return what names a section as a source: its address, or else its file and place there.

    It is empty for the text around an article, and for a page of a site without an address.
    """
    return f"file:{section.place}" if section.place else address_of(section, site_url)


def describe_sources(
    cited: Sequence[Section], site_url: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the SHA-256 and the text of each cited section, by what names it."""
    digests: dict[str, str] = {}
    passages: dict[str, str] = {}
    for section in cited:
        if name := source_of(section, site_url):
            digests[name] = section.digest
            before = f"{passages[name]}\n\n" if name in passages else ""
            passages[name] = before + section.text
    return digests, passages


def _link(section: Section, label: str, site_url: str) -> str:
    address = address_of(section, site_url)
    if not address:
        return html.escape(label)
    return f'<a href="{html.escape(address)}">{html.escape(label)}</a>'

"""Turn the numbers that a model cites into links to its sources."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from ...citation import Citation, name_of_file
from ...html.markup import tag
from ...language.languages import ENGLISH, find_language
from ..answers.document import MarkdownBlock, MarkdownDocument
from .sources import Passage, RepositoryFolder

_CITATION = re.compile(r"\s?\[(\d{1,2}(?:\s?[,;]\s?\d{1,2})*)\]")
"""One number or several in brackets, such as `[3]` and `[1, 4]`."""


@dataclass(frozen=True)
class Citations:
    """The passages that a text cites, in their order, and the numbers that were taken out."""

    passages: Sequence[Passage] = ()
    dropped: Sequence[str] = ()
    """The numbers in brackets, such as `[7]`."""


def cite(
    document: MarkdownDocument,
    passages: Sequence[Passage],
    site_url: str,
    *,
    is_heading: bool = False,
) -> Citations:
    """Replace numbers of passages, such as `[3]`, by links, in place.

    Passages are renumbered in the order of their citations. Brackets without the number of any
    passage are no citation, and stay. In a citation, numbers that no passage has are taken out, and
    in headings all numbers are. `is_heading` says that all of the text is one.
    """
    if not passages:
        return Citations()
    citing = _Citing(passages, site_url)
    citing.link_numbers(document.title, in_heading=True)
    for block in document.blocks:
        in_heading = is_heading or block.tokens[0].type == "heading_open"
        for tokens in block.inlines:
            citing.link_numbers(tokens, in_heading=in_heading)
    # Anew, since each block remembers its text and its words, which have changed.
    document.blocks = [MarkdownBlock(block.tokens) for block in document.blocks]
    return Citations(citing.cited, citing.dropped)


def sources_list(
    cited: Sequence[Passage],
    site_url: str,
    language: str = "",
    repository: RepositoryFolder | None = None,
) -> list[str]:
    """Return the HTML of the list of sources, or nothing without sources.

    With `repository`, code is linked to file and line there.
    """
    items = []
    for passage in cited:
        address = passage.address_in(repository) or address_of(passage, site_url)
        items.append(tag("li", _linked(passage.title, address)))
    if not items:
        return []
    heading = (find_language(language) or ENGLISH).sources
    return [tag("h2", heading), tag("ol", "".join(items))]


class _Citing:
    """Replaces the numbers in a text, and keeps which passages these are."""

    def __init__(self, passages: Sequence[Passage], site_url: str) -> None:
        self.cited: list[Passage] = []
        self.dropped: list[str] = []
        self._passages = passages
        self._site_url = site_url

    def link_numbers(self, tokens: list[Token], *, in_heading: bool) -> None:
        """Replace the numbers in a paragraph or a heading, in place."""
        replaced: list[Token] = []
        for token in tokens:
            if token.type == "text":
                replaced += self._with_links(token.content, in_heading=in_heading)
            else:
                replaced.append(token)
        tokens[:] = replaced

    def _with_links(self, text: str, *, in_heading: bool) -> Iterator[Token]:
        """Yield the tokens of a text, with its citations as links."""
        done = 0
        for match in _CITATION.finditer(text):
            numbers = [int(number) for number in re.findall(r"\d+", match[0])]
            known = []
            for number in numbers:
                if 0 < number <= len(self._passages):
                    known.append(number)
            if not known:
                continue
            yield Token("text", "", 0, content=text[done : match.start()])
            done = match.end()
            linked = [] if in_heading else known
            for number in numbers:
                if number not in linked:
                    self.dropped.append(f"[{number}]")
            for number in linked:
                passage = self._passages[number - 1]
                if not passage.is_own:  # that one is on the same page
                    yield Token("html_inline", "", 0, content=f" {self._link_to(passage)}")
        yield Token("text", "", 0, content=text[done:])

    def _link_to(self, passage: Passage) -> str:
        """Return the link to a cited passage, with its number in the list of sources."""
        if passage not in self.cited:
            self.cited.append(passage)
        number = self.cited.index(passage) + 1
        return _link(passage, f"[{number}]", self._site_url)


def address_of(passage: Passage, site_url: str) -> str:
    """Return the address of a passage, or an empty string if it has none."""
    # Its link does not tell, since that of the home page is empty, too.
    is_page = not (passage.is_own or passage.place)
    if site_url and is_page:
        return f"{site_url.rstrip('/')}/{passage.link}"
    return ""


def name_of(passage: Passage, site_url: str) -> str:
    """Return what names a passage as a source: its address, or else its file and place there.

    It is empty for the text around an article, and for a page of a site without an address.
    """
    if passage.place:
        return name_of_file(passage.place)
    return address_of(passage, site_url)


def citation_of(passage: Passage, site_url: str) -> Citation:
    """Return the record of a passage that a text cites, as it is now."""
    name = name_of(passage, site_url)
    return Citation(name, passage.title, passage.text, digest=passage.digest)


def _link(passage: Passage, label: str, site_url: str) -> str:
    return _linked(label, address_of(passage, site_url))


def _linked(label: str, address: str) -> str:
    if not address:
        return html.escape(label)
    return f'<a href="{html.escape(address)}">{html.escape(label)}</a>'

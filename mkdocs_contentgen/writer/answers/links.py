"""The links of an answer whose addresses are taken out, since nobody vouches for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from markdown_it.token import Token

from ...display import escape_controls, shortened
from ...html.markdown_parser import link_addresses
from ...remark import MAX_LINE, Remark, first_remarks
from ..marks.marking import inline_text
from .document import MarkdownDocument

_NO_SCRIPT = re.compile(r"(https?|mailto):|[^:]*(\Z|[/?#])", re.IGNORECASE)
"""Matches the start of an address that leads to a page or a person, and runs no script."""

_MAX_LINKS = 10
"""How many links have a remark each."""

_MAX_WORDS = 200
"""The characters of the words of a link in a remark."""

_MAX_NAMED = 3
_MAX_SHOWN = 60
"""The characters of each of the _MAX_NAMED addresses in one remark, which has 300 at most."""


def link_remarks(document: MarkdownDocument) -> list[Remark]:
    """Return a remark on each link in a document that is to lose its address."""
    remarks: dict[tuple[str, str], Remark] = {}
    for words, address in _all_links_in(document):
        # Words that are the address itself say all of it.
        is_shown = address in words
        if words and address and _NO_SCRIPT.match(address) and not is_shown:
            values = {"words": words, "address": address}
            remarks[words, address] = Remark("link", values=values)
    return first_remarks(list(remarks.values()), _MAX_LINKS, "links_more")


def _all_links_in(document: MarkdownDocument) -> Iterator[tuple[str, str]]:
    """Yield the words and the address of each link in a document."""
    yield from _links_in(document.title)
    for block in document.blocks:
        yield from chain.from_iterable(map(_links_in, block.inlines))


def _links_in(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yield the words and the address of each link in a paragraph, as a remark has them."""
    within: list[Token] = []
    address = ""
    for token in tokens:
        if token.type == "link_open":
            address = str(token.attrs.get("href", ""))
            within = []
        elif token.type == "link_close":
            words = " ".join(inline_text(within).split())
            yield _line(words, _MAX_WORDS), _line(address, MAX_LINE)
        else:
            within.append(token)


def remarks_on_html_links(text: str, document: MarkdownDocument) -> list[Remark]:
    """Return the remark on the addresses in the HTML of a text that are no links of its document.

    Their words are not known.
    """
    if "<a" not in text.lower():  # of which most have none
        return []
    known = {address for _, address in _all_links_in(document)}
    gone = []
    for address in link_addresses(text):
        is_shown = _line(address, MAX_LINE) in known or address in document.text
        if _NO_SCRIPT.match(address) and not is_shown:
            gone.append(address)
    return [remark_on_addresses(gone)] if gone else []


def remark_on_addresses(gone: Sequence[str]) -> Remark:
    """Return the remark on the addresses of links that were taken out."""
    addresses = ", ".join(_line(address, _MAX_SHOWN) for address in gone[:_MAX_NAMED])
    more = len(gone) - _MAX_NAMED
    if more > 0:
        return Remark("repaired_addresses_more", values={"addresses": addresses, "more": more})
    return Remark("repaired_addresses", values={"addresses": addresses})


def _line(words: str, most: int) -> str:
    return shortened(escape_controls(words), most)

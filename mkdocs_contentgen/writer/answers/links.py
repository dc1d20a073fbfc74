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
    inlines = [document.title]
    for block in document.blocks:
        inlines += block.inlines
    for words, address in chain.from_iterable(map(_links_in, inlines)):
        # Words that are the address itself say all of it.
        is_shown = address in words
        if words and address and _NO_SCRIPT.match(address) and not is_shown:
            values = {"words": words, "address": address}
            remarks[words, address] = Remark("link", values=values)
    return first_remarks(list(remarks.values()), _MAX_LINKS, "links_more")


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


def remarks_on_html_links(answer: str, text: str) -> list[Remark]:
    """Return the remark on the addresses in the HTML of an answer; `text` is what became of it."""
    if "<a" not in answer.lower():  # of which most have none
        return []
    gone = []
    for address in link_addresses(answer):
        if address not in text and _NO_SCRIPT.match(address):
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

"""The links of a text that lead nowhere: those whose addresses were taken out, and those of people.

A remark names the words and the address of each. A person can put back what was taken out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from bs4 import Tag

from ..errors import EditError
from ..html.article import headings_by_letters, letters_of
from ..html.block import Block
from ..html.document import Document
from ..html.elements import HEADINGS
from ..html.html_writer import one_line
from ..remark import Remark, clean_line, without_repeated

_MAX_PLACES = 3
"""How many places of the words in a block are tried for a link."""


@dataclass(frozen=True)
class LostLink:
    """A link that a draft has lost."""

    block: int
    """The number of the block with its words."""

    words: str
    address: str
    markdown: str
    """The Markdown of the block with the link, or empty if it cannot be put back as it was."""


def open_links(remarks: Iterable[Remark], blocks: Sequence[Block]) -> list[Remark]:
    """Return remarks on a text without those on links that are there again, or gone with words."""
    left = []
    addresses: set[str] = set()
    for block in blocks:
        addresses.update(block.links)
    said = [one_line(block.text) for block in blocks]
    for remark in remarks:
        if remark.kind == "link":
            is_back = remark.values["address"] in addresses
            words = str(remark.values["words"]).removesuffix("…")
            is_gone = not any(words in line for line in said)
            if is_back or is_gone:
                continue
        left.append(remark)
    return left


def dead_links(document: Document) -> list[Remark]:
    """Return a remark on each link of a text to a heading that it does not have.

    The links of a translation are those of its original, so this is for other texts.
    """
    links = []
    for link in document.article.find_all("a", href=True):
        if str(link["href"]).startswith("#"):
            links.append(link)
    if not links:  # as in most texts
        return []
    headings = [block.text for block in document.blocks() if block.kind in HEADINGS]
    known = headings_by_letters(headings)
    remarks = []
    for link in links:
        address = str(link["href"])
        if letters_of(unquote(address)) not in known:
            values = {"words": clean_line(link.get_text()), "address": clean_line(address)}
            remarks.append(Remark("dead_link", values=values))
    return without_repeated(remarks)


def lost_links(remarks: Iterable[Remark], blocks: Sequence[Block]) -> list[LostLink]:
    """Return the links that remarks name, each with the first block that has its words."""
    found = []
    for remark in remarks:
        if remark.kind != "link":
            continue
        words = str(remark.values["words"])
        address = str(remark.values["address"])
        for block in blocks:
            if words.strip() and words in one_line(block.text):
                markdown = _with_link(block, words, address)
                found.append(LostLink(block.number, words, address, markdown))
                break
    return found


def _with_link(block: Block, words: str, address: str) -> str:
    """Return the Markdown of a block with a link, or nothing if no page may have that.

    Its words and its other links stay as they are: the words can also be in an address, in code, or
    in another link.
    """
    new = Block(0, Tag(name="p"), block.image_hosts)
    if block.kind == "pre" or not _is_allowed(address, new):
        return ""
    markdown = block.to_markdown()
    links = sorted([*block.links, address])
    begin = -1
    for _ in range(_MAX_PLACES):
        begin = markdown.find(words, begin + 1)
        if begin < 0:
            break
        end = begin + len(words)
        linked = f"{markdown[:begin]}[{words}](<{address}>){markdown[end:]}"
        try:
            new.set_markdown(linked)
        except EditError:
            continue
        if new.text == block.text and sorted(new.links) == links:
            return linked
    return ""


def _is_allowed(address: str, block: Block) -> bool:
    """Tell whether a link of a block can have an address, which costs less than to try places."""
    try:
        block.set_markdown(f"[a](<{address}>)")
    except EditError:
        return False
    return block.links == [address]

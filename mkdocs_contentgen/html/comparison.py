"""Describe what a page shows, to compare it before and after its articles were ejected."""

from __future__ import annotations

import re
from html import escape

from bs4 import BeautifulSoup, Tag
from bs4.element import PageElement, PreformattedString

from .markdown_writer import INLINE, PRESENTATIONAL, SPACE, WRAPPERS

_VISIBLE_WITHOUT_TEXT = "br hr img input svg wbr".split()
_VERBATIM = str.maketrans(" \t\n\r", "\x03\x04\x05\x06")
_TAGS_AND_SPACES = re.compile("(?:<[^<>]*>| )+")


def shown(html: str) -> str:
    """Return a line for each tag of a block and for each text between them, all with line breaks.

    Left out are attributes for the appearance, ids, permalinks, and what only groups elements:
    paragraphs without attributes, wrappers without attributes, and `<div>` around code and tables.
    """
    soup = BeautifulSoup(html, "html.parser", multi_valued_attributes=None)
    for tag in soup.select("link, .contentgen-end, :is(h1, h2, h3, h4, h5, h6) a[href^='#']"):
        tag.decompose()
    for tag in soup.select("div:has(> :is(pre, table):only-child)"):
        tag.unwrap()
    text = _serialize(soup, verbatim=False).replace("\n", " \n ")
    # Spaces look the same on both sides of a tag, so all are moved before it.
    text = _TAGS_AND_SPACES.sub(lambda m: " " * (" " in m[0]) + m[0].replace(" ", ""), text)
    return "\n".join(["", *filter(None, (line.strip(" ") for line in text.split("\n"))), ""])


def _serialize(node: PageElement, *, verbatim: bool) -> str:
    """Return blocks on lines of their own. Tags and verbatim text are without white space."""
    if not isinstance(node, Tag):
        text = "" if isinstance(node, PreformattedString) else escape(str(node), quote=False)
        return text.translate(_VERBATIM) if verbatim else SPACE.sub(" ", text)
    name = node.name
    attributes = "".join(
        f" {key}={'#' if str(value).startswith('#') else escape(str(value))}".translate(_VERBATIM)
        for key, value in sorted(node.attrs.items())
        if key != "id" and not (PRESENTATIONAL.fullmatch(key) and name not in WRAPPERS)
    )
    verbatim = verbatim or name == "pre"
    inner = "".join(_serialize(child, verbatim=verbatim) for child in node.children)
    if name == "pre":
        inner = re.sub("(?<!\x05)\x05++(</code>)?$", r"\1", inner)
    if name in ("[document]", "p", *WRAPPERS) and not attributes:
        return f"\n{inner}\n"
    if name not in INLINE or name == "br" or "\n" in inner:
        return f"\n<{name}{attributes}>\n{inner}\n</{name}>\n"
    is_visible = name in _VISIBLE_WITHOUT_TEXT or node.find(_VISIBLE_WITHOUT_TEXT)
    has_text = node.get_text(strip=True)
    if not (is_visible or has_text) or (name == "span" and not attributes):
        return inner
    return f"<{name}{attributes}>{inner}</{name}>"

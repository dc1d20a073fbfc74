"""Describe what a page shows, to compare it before and after its articles were ejected."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString

from .markdown_writer import INLINE, PRESENTATIONAL, SPACE, SYNONYMS, WRAPPERS

_VISIBLE_WITHOUT_TEXT = "br hr img input svg wbr".split()
_INLINE_TAG = "\x03[^\x03\x04]*\x04"
_CODE_WHITESPACE = {ord(" "): "\x05", ord("\n"): "\x06", ord("\t"): "\x07", ord("\r"): "\x08"}


def shown(html: str, articles: Collection[str] = ()) -> str:
    """Return a line for each tag of a block and for each text between them.

    Left out are attributes for the appearance, ids, permalinks, paragraphs without anything else
    around them, and what only groups elements: `<div>` around code and tables, and all of them
    in articles. The attribute `ai-disclosure` of an article is one of `articles`.
    """
    soup = BeautifulSoup(html, "html.parser", multi_valued_attributes=None)
    for tag in soup.select("link, .contentgen-end, :is(h1, h2, h3, h4, h5, h6) a[href^='#']"):
        tag.decompose()
    for name in articles:
        for article in soup.select(f"[ai-disclosure='{name}']"):
            for tag in (article, *article.select(", ".join(WRAPPERS))):
                tag.attrs = {k: v for k, v in tag.attrs.items() if not PRESENTATIONAL.fullmatch(k)}
    lines = []
    for line in "".join(_serialize(soup)).split("\n"):
        line = re.sub(" +", " ", line)
        markup = re.sub(f" ?({_INLINE_TAG}) ?", r"\1", line).strip(" ")
        text = re.sub(" +", " ", re.sub(_INLINE_TAG, "", line)).strip(" ")
        lines.append(f"{text}\x02{markup}" if markup != text else text)
    return "\n".join(filter(None, ["", *lines]))


def _serialize(parent: Tag, *, verbatim: bool = False) -> Iterator[str]:
    for child in parent.children:
        if isinstance(child, Tag):
            yield from _serialize_tag(child, verbatim=verbatim)
        elif verbatim:
            yield str(child).translate(_CODE_WHITESPACE)
        elif not isinstance(child, PreformattedString):
            yield SPACE.sub(" ", str(child))


def _serialize_tag(tag: Tag, *, verbatim: bool) -> Iterator[str]:
    name = SYNONYMS.get(tag.name, tag.name)
    attributes = "".join(
        f" {key}={'#' if str(value).startswith('#') else value}"
        for key, value in sorted(tag.attrs.items())
        if key != "id" and not (PRESENTATIONAL.fullmatch(key) and name not in WRAPPERS)
    )
    inner = "".join(_serialize(tag, verbatim=verbatim or name == "pre"))
    if name == "pre":
        inner = re.sub("(?<!\x06)\x06++(\x03/code\x04)?$", r"\1", inner)
    children = [child.name for child in tag.find_all(recursive=False)]
    if name == "div" and children in (["pre"], ["table"]):
        attributes = ""
    if name in ("p", *WRAPPERS) and not attributes:
        yield f"\n{inner}\n"
    elif name in INLINE and name != "br" and "\n" not in inner:
        is_visible = name in _VISIBLE_WITHOUT_TEXT or tag.find(_VISIBLE_WITHOUT_TEXT)
        if not is_visible and not tag.get_text(strip=True):
            yield " " if inner else ""
        elif name == "span" and not attributes:
            yield inner
        else:
            yield f"\x03{name}{attributes}\x04{inner}\x03/{name}\x04"
    else:
        yield f"\n<{name}{attributes}>\n{inner}\n</{name}>\n"

"""Tell what a reader sees of a page: in its source, and in its element tree.

An article begins its page if nothing is visible before it, and gets an end if something is visible
after it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from xml.etree.ElementTree import Element

from markdown.util import HTML_PLACEHOLDER_RE

from .markers import MARKER

_INVISIBLE = r"<!--.*?-->|<(?P<tag>style|script)\b.*?</(?P=tag)>|<(?:link|meta)\b[^>]*>"
"""Matches a comment or an element that a browser does not show, on one line or on several."""

_INVISIBLE_HTML = re.compile(
    rf"{_INVISIBLE}|<(?:!--|(?:style|script|link|meta)\b).*", re.DOTALL | re.IGNORECASE
)
"""What is not shown of a block of HTML. What has no end goes to the end of the block."""

_INVISIBLE_SOURCE = re.compile(
    rf"""
    \A(?:
        \s+
        | (?!{MARKER.pattern})(?:{_INVISIBLE})     # but no marker
        | \*?\[[^\]\n]+\]:[^\n]*(?:\n|\Z)        # a definition
    )+
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
"""What is not shown at the start of a page's source, up to a marker or the first text.

That is white space, comments and elements as above, and the definitions of links, footnotes
(`[^1]: …`) and abbreviations (`*[HTML]: …`).
"""

_EMPTY_TAG = re.compile(
    r"</?(?!(?:img|hr|iframe|video|audio|object|embed|svg|canvas|input|picture|math)\b)[a-z][^<>]*>",
    re.IGNORECASE,
)
"""A tag that shows nothing by itself."""


def without_invisible_start(source: str) -> str:
    """Return a page's source from its first marker or visible text on."""
    return _INVISIBLE_SOURCE.sub("", source)


def without_invisible(html: str) -> str:
    """Return a block of raw HTML without comments, styles and scripts."""
    return _INVISIBLE_HTML.sub("", html)


def visible_parts(
    parent: Element, blocks: Mapping[str, str], articles: Container[Element]
) -> Iterator[Element]:
    """Yield what a reader sees below `parent`, in the order of the page.

    These are the `articles` as a whole, images and rules, and for each visible text the element
    that the text is in.
    """
    if _is_visible(parent.text, blocks):
        yield parent
    for child in parent:
        if child in articles:
            yield child
        else:
            if child.tag in ("img", "hr"):
                yield child
            yield from visible_parts(child, blocks, articles)
        # The tail of a child is text of its parent.
        if _is_visible(child.tail, blocks):
            yield parent


def _is_visible(text: str | None, blocks: Mapping[str, str]) -> bool:
    """Tell whether a browser shows anything of a text and of the raw HTML that it stands for."""
    # What an extension has put there as an element is not among the blocks, and may be anything.
    html = HTML_PLACEHOLDER_RE.sub(lambda match: blocks.get(match[1], "?"), text or "")
    html = _EMPTY_TAG.sub("", without_invisible(html))
    return bool(html.strip())

"""Write elements of a document as HTML. The same element always gives the same characters."""

from __future__ import annotations

import re
from html import escape

from bs4 import Tag
from bs4.element import PageElement

from .elements import TEXT_BLOCKS, VOID

LOOSE = "text"
"""The tag of the elements that a document puts loose text into. They are not written."""

_SPACE = re.compile(r"[ \t\n\r\f]+")


def to_html(node: PageElement, *, marks: bool = True, verbatim: bool = False) -> str:
    """Return a node as HTML, optionally without `<mark>` or with all white space as it is."""
    if not isinstance(node, Tag):
        text = escape(str(node), quote=False)
        return text if verbatim else collapse(text)
    if node.name in VOID:
        return start_tag(node)
    inner = inner_html(node, marks=marks, verbatim=verbatim)
    if node.name == LOOSE or (node.name == "mark" and not marks):
        return inner
    return f"{start_tag(node)}{inner}</{node.name}>"


def inner_html(element: Tag, *, marks: bool = True, verbatim: bool = False) -> str:
    """Return the content of an element as HTML."""
    verbatim = verbatim or element.name == "pre"
    html = "".join(to_html(it, marks=marks, verbatim=verbatim) for it in element.children)
    return html.strip(" ") if element.name in TEXT_BLOCKS and not verbatim else html


def collapse(text: str) -> str:
    """Return text with white space as a browser shows it."""
    return _SPACE.sub(" ", text)


def start_tag(element: Tag) -> str:
    """Return the start tag of an element, with its attributes in alphabetical order."""
    attributes = "".join(f' {k}="{escape(str(v))}"' for k, v in sorted(element.attrs.items()))
    return f"<{element.name}{attributes}>"

"""Write elements of a document, as HTML or as light Markdown.

The same element always gives the same characters. Light Markdown is one line, with `**bold**`,
`*italic*`, `~~struck~~`, `` `code` ``, `[links](<address>)`, and `==statements to check==`. Other
inline elements stay HTML.
"""

from __future__ import annotations

import re
from html import escape

from bs4 import Tag
from bs4.element import PageElement

from .elements import TEXT_BLOCKS, VOID

LOOSE = "text"
"""The tag of the elements that a document puts loose text into. They are not written."""

_SPACE = re.compile(r"[ \t\n\r\f]+")
_SYNTAX = {"strong": "**", "em": "*", "s": "~~", "mark": "=="}
_SPECIAL = re.compile(r"[\\`*_\[\]<]|==|~~|&(?=#?\w+;)")
_CODE = re.compile(r"[^`\s](?:[^`]*[^`\s])?")


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


def write_line(element: Tag, *, marks: bool = True, only_html: bool = False) -> str:
    """Return the content of an element as light Markdown.

    With `only_html`, there is no Markdown for inline elements.
    Where elements touch or contain each other, Markdown for them may be read differently.
    """
    return collapse(_write_content(element, marks, only_html)).strip(" ")


def _write_content(element: Tag, marks: bool, only_html: bool) -> str:
    return "".join(_write(child, marks, only_html) for child in element.children)


def _write(node: PageElement, marks: bool, only_html: bool) -> str:
    if not isinstance(node, Tag):
        return _SPECIAL.sub(lambda match: "".join(f"\\{it}" for it in match[0]), str(node))
    inner = _write_content(node, marks, only_html)
    if node.name == "mark" and not marks:
        return inner
    syntax = _SYNTAX.get(node.name)
    html = start_tag(node) + ("" if node.name in VOID else f"{inner}</{node.name}>")
    if only_html:
        return html
    if node.name == "code" and not node.attrs and _CODE.fullmatch(code := node.get_text()):
        return f"`{code}`"
    if node.name == "a" and node.attrs.keys() - {"rel"} == {"href"}:
        return f"[{inner}](<{node['href']}>)"
    if syntax and inner.strip() == inner != "" and not node.attrs:
        return f"{syntax}{inner}{syntax}"
    return html

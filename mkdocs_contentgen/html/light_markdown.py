"""The content of a block as light Markdown, which is one line.

It has `**bold**`, `*italic*`, `~~struck~~`, `` `code` ``, `[links](<address>)`, and `==statements
to check==`. Other inline elements stay HTML.
"""

from __future__ import annotations

import re

from bs4 import Tag
from bs4.element import PageElement

from .elements import VOID
from .serializer import collapse, start_tag

_SYNTAX = {"strong": "**", "em": "*", "s": "~~", "mark": "=="}
_SPECIAL = re.compile(r"[\\`*_\[\]<]|==|~~|&(?=#?\w+;)")
_CODE = re.compile(r"[^`\s](?:[^`]*[^`\s])?")


def write_line(element: Tag, *, marks: bool = True, only_html: bool = False) -> str:
    """Return the content of an element, with `only_html` without Markdown for inline elements.

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

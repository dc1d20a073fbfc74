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

_SYNTAX = {"strong": "**", "b": "**", "em": "*", "i": "*", "s": "~~", "mark": "=="}
_SPECIAL = re.compile(r"[\\`*_\[\]<]|==|~~|&(?=#?\w+;)")
_CODE = re.compile(r"[^`\s](?:[^`]*[^`\s])?")


def write_line(element: Tag, *, marks: bool = True) -> str:
    """Return the content of an element. What is not simple may be read back as something else."""
    return collapse(_write_content(element, marks=marks)).strip(" ")


def _write_content(element: Tag, *, marks: bool) -> str:
    return "".join(_write(child, marks=marks) for child in element.children)


def _write(node: PageElement, *, marks: bool) -> str:
    if not isinstance(node, Tag):
        return _SPECIAL.sub(lambda match: "".join(f"\\{it}" for it in match[0]), str(node))
    inner = _write_content(node, marks=marks)
    if node.name == "mark" and not marks:
        return inner
    syntax = _SYNTAX.get(node.name)
    if node.name == "code" and not node.attrs and _CODE.fullmatch(code := node.get_text()):
        return f"`{code}`"
    if node.name == "a" and node.attrs.keys() - {"rel"} == {"href"}:
        return f"[{inner}](<{node['href']}>)"
    if syntax and inner.strip() == inner != "" and not node.attrs:
        return f"{syntax}{inner}{syntax}"
    return start_tag(node) + ("" if node.name in VOID else f"{inner}</{node.name}>")

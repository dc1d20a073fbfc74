"""Write the elements of a text as HTML: the same element always gives the same HTML.

Attributes are in alphabetical order, and white space is collapsed as a browser does. In code, the
spaces that a formatter would collapse are references.
"""

from __future__ import annotations

import re
from copy import copy
from html import escape
from typing import Literal

from bs4 import Tag
from bs4.element import PageElement

from .elements import TEXT_BLOCKS, TO_READ, VOID
from .tags import tags_in, unwrap_all

LOOSE = "text"
"""The tag of the elements that loose text is put into. They are not written."""

WHITE_SPACE = " \t\n\r\f"
"""What HTML takes for white space. A no-break space is not white space."""

_SPACE = re.compile(rf"[{WHITE_SPACE}]+")

CODE_SPACES = re.compile(" {2,}|\t")
"""The white space in code that a formatter would collapse."""

_MAX_NAMED = 60
"""How many characters of a text name it in a message."""

_White = Literal["collapse", "code", "keep"]
"""What becomes of white space.

It is collapsed as a browser does. Of inline code, each space is kept, and line breaks become
spaces. In `<pre>`, all of it is kept.
"""


def to_html(node: PageElement, *, marks: bool = True, white: _White = "collapse") -> str:
    """Return a node as HTML, optionally without `<mark>` or with the white space of code."""
    if not isinstance(node, Tag):
        text = escape(str(node), quote=False)
        if white == "collapse":
            return collapse(text)
        if white == "code":
            return collapse_code(text)
        return text.replace("\r\n", "\n").replace("\r", "\n")  # as it is read from a file
    if node.name in VOID:
        return start_tag(node)
    inner = inner_html(node, marks=marks, white=white)
    if node.name == LOOSE or (_asks_a_person(node) and not marks):
        return inner
    return f"{start_tag(node)}{inner}</{node.name}>"


def inner_html(element: Tag, *, marks: bool = True, white: _White = "collapse") -> str:
    """Return the content of an element as HTML."""
    if element.name == "pre":
        white = "keep"
    elif element.name == "code" and white == "collapse":
        white = "code"
    html = "".join(to_html(child, marks=marks, white=white) for child in element.children)
    if element.name in TEXT_BLOCKS and white == "collapse":
        return html.strip(" ")
    return html


def start_tag(element: Tag) -> str:
    """Return the start tag of an element, with its attributes in alphabetical order."""
    attributes = ""
    for name, value in sorted(element.attrs.items()):
        attributes += f' {name}="{escape(str(value))}"'
    return f"<{element.name}{attributes}>"


def collapse(text: str) -> str:
    """Return text with white space as a browser shows it."""
    return _SPACE.sub(" ", text)


def collapse_code(text: str) -> str:
    """Return code on one line, in which formatters leave the spaces, which are content.

    A line break is one space, as a browser shows it, with the white space around it.
    """
    line = _SPACE.sub(_collapse_break, text)
    return CODE_SPACES.sub(to_references, line)


def _collapse_break(match: re.Match[str]) -> str:
    """Return white space as one space if it has a line break, or else as it is."""
    has_break = "\n" in match[0] or "\r" in match[0]
    return " " if has_break else match[0]


def to_references(match: re.Match[str]) -> str:
    """Return each character as a reference, which no formatter changes."""
    return "".join(f"&#{ord(character)};" for character in match[0])


def one_line(text: str) -> str:
    """Return text with each run of white space as one space."""
    return " ".join(text.split())


def first_words(text: str) -> str:
    """Return the beginning of a text in quotes, to name it in a message."""
    text = one_line(text)
    if len(text) > _MAX_NAMED:
        return f"'{text[:_MAX_NAMED]}…'"
    return f"'{text}'"


def is_hint(element: Tag) -> bool:
    """Tell whether an element is around a sentence to read."""
    return element.name == "span" and element.get("class") == TO_READ


def _asks_a_person(element: Tag) -> bool:
    return element.name == "mark" or is_hint(element)


def unwrap_hints(element: Tag) -> None:
    """Take off the marks and hints that ask a person to check or to read something."""
    unwrap_all(element, _asks_a_person)


def without_hints(element: Tag) -> Tag:
    """Return an element without the hints around sentences to read, which nobody edits."""
    if not any(map(is_hint, tags_in(element))):
        return element
    plain = copy(element)
    unwrap_all(plain, is_hint)
    return plain


def as_approved(element: Tag) -> Tag:
    """Return an element without inline styles, marks and hints."""
    if not any(
        tag.has_attr("style") or _asks_a_person(tag) for tag in (element, *tags_in(element))
    ):
        return element
    plain = copy(element)
    for tag in (plain, *tags_in(plain)):
        tag.attrs.pop("style", None)
    unwrap_hints(plain)
    return plain

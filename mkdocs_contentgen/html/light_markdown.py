"""Write the content of a block as light Markdown, which is one line for a person to edit.

It has `**bold**`, `*italic*`, `~~struck~~`, `` `code` ``, `[links](<address>)`, and
`==statements to check==`. Other inline elements stay HTML in it.
"""

from __future__ import annotations

import re

from bs4 import Tag
from bs4.element import PageElement

from .elements import VOID, WEAK
from .html_writer import CODE_SPACES, collapse, collapse_code, inner_html, start_tag, without_hints
from .marked_sentences import is_weak
from .tags import tags_in

_SYNTAX = {"strong": "**", "em": "*", "s": "~~", "mark": "=="}
"""What stands around inline elements in Markdown."""

_BRACKETS = r"\[(?:[^\W_]|[ ,.;:?!%'’/-]){1,60}\](?![\[(:])"
"""Words in brackets, such as the label of a citation, that Markdown reads as text."""

_SPECIAL = re.compile(rf"(?P<brackets>{_BRACKETS})|[\\`*_\[\]<]|==|~~|&(?=#?\w+;)")
"""What light Markdown would not read as text, and words in brackets."""

_MAY_BE_MARKDOWN = re.compile(r"[\\\[]")
"""What is in all Markdown that may be read as something else than its text."""

_CODE = re.compile(r"[^`\s](?:[^`]*[^`\s])?")
"""Code that can stand between two backticks."""

_REL = re.compile(' rel="[^"]*"')

_WEAK_CLASS = f' class="{WEAK}"'


def to_light_markdown(element: Tag, *, marks: bool = True) -> str:
    """Return the content of an element, with HTML where Markdown would be read differently."""
    element = without_hints(element)
    markdown = _write_line(element, marks=marks)
    is_plain = not _MAY_BE_MARKDOWN.search(markdown) and not tags_in(element)
    if is_plain:
        return markdown
    from .markdown_reader import read_line

    # Where elements touch or contain each other, Markdown can be read as other elements.
    html = inner_html(element, marks=marks).strip(" ")
    read = read_line(markdown)
    if _comparable(read) == _comparable(html):
        return markdown
    return _write_line(element, marks=marks, only_html=True)


def _comparable(html: str) -> str:
    # Parsers escape quotation marks in texts, and links get their `rel` from the sanitizer.
    # Markdown does not say that a mark is weak.
    html = _REL.sub("", html).replace(_WEAK_CLASS, "").replace("&quot;", '"')
    return html.replace("&#32;", " ").replace("&#9;", "\t")  # those of code


def _write_line(element: Tag, *, marks: bool = True, only_html: bool = False) -> str:
    """Return the content of an element as light Markdown.

    With `only_html`, there is no Markdown for inline elements.
    """
    return collapse(_write_content(element, marks, only_html)).strip(" ")


def _write_content(element: Tag, marks: bool, only_html: bool) -> str:
    return "".join(_write(child, marks, only_html) for child in element.children)


def _write(node: PageElement, marks: bool, only_html: bool) -> str:
    if not isinstance(node, Tag):
        return _SPECIAL.sub(_escape_for_markdown, str(node))
    inner = _write_content(node, marks, only_html)
    if node.name == "mark" and not marks:
        return inner
    markdown = "" if only_html else _in_markdown(node, inner)
    return markdown or _in_html(node, inner)


def _escape_for_markdown(match: re.Match[str]) -> str:
    if match["brackets"]:
        return match[0]
    return "".join(f"\\{character}" for character in match[0])


def _in_markdown(tag: Tag, inner: str) -> str:
    """Return an inline element in Markdown, or an empty string if there is none for it."""
    if tag.name == "code":
        return _code_in_markdown(tag)
    if tag.name == "a":
        has_only_address = tag.attrs.keys() - {"rel"} == {"href"}
        if has_only_address:
            return f"[{inner}](<{tag['href']}>)"
        return ""
    syntax = _SYNTAX.get(tag.name)
    is_weak_mark = tag.name == "mark" and is_weak(tag)  # set_markdown() makes it weak again
    if syntax is None or (tag.attrs and not is_weak_mark):
        return ""
    if not inner or inner != inner.strip():  # beside a space, the syntax would be text
        return ""
    return f"{syntax}{inner}{syntax}"


def _code_in_markdown(code: Tag) -> str:
    """Return code between backticks, or an empty string if it would be read as other code."""
    text = code.get_text()
    if code.attrs or not _CODE.fullmatch(text) or CODE_SPACES.search(text):
        return ""
    return f"`{text}`"


def _in_html(tag: Tag, inner: str) -> str:
    """Return an inline element as HTML in Markdown."""
    if tag.name in VOID:
        return start_tag(tag)
    if tag.name == "code":
        inner = collapse_code(inner)
    return f"{start_tag(tag)}{inner}</{tag.name}>"

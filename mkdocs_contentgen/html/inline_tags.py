"""Find the elements of HTML within a line, in the tokens of its tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)[^<>]*>")
"""A start tag or an end tag."""


def name_of_tag(token: Token) -> str:
    """Return the name of the element of a tag in lower case, or an empty string for no tag."""
    tag = TAG.fullmatch(token.content)
    return tag["name"].lower() if tag else ""


def paired_tags(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where the start tag and the end tag of each element stand.

    Elements that overlap each other, or something in Markdown, are none.
    """
    opened: list[tuple[str, int]] = []
    for index, token in enumerate(tokens):
        if token.nesting > 0:
            opened.append(("", index))
        elif token.nesting < 0:
            while opened and opened.pop()[0]:
                pass  # these elements have no end in what ends here
        elif token.type == "html_inline":
            yield from _paired_with(token, index, opened)


def _paired_with(
    token: Token, index: int, opened: list[tuple[str, int]]
) -> Iterator[tuple[int, int]]:
    """Note a start tag in `opened`, or take that of an end tag out."""
    tag = TAG.fullmatch(token.content)
    if tag is None or token.content.endswith("/>"):
        return
    name = tag["name"].lower()
    if not tag["end"]:
        opened.append((name, index))
        return
    for place in reversed(range(len(opened))):
        found, start = opened[place]
        if found == name:
            del opened[place:]
            yield start, index
            return
        if not found:
            return  # the element would overlap what has begun in Markdown

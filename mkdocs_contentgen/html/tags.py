"""Find elements of a document: the searches of Beautiful Soup itself take several times as long."""

from __future__ import annotations

from collections.abc import Callable, Collection

from bs4 import Tag
from bs4.element import NavigableString, PageElement


def tags_in(element: Tag, names: Collection[str] = ()) -> list[Tag]:
    """Return the elements in another one, in their order: all, or those with one of these names."""
    tags = [node for node in element.descendants if isinstance(node, Tag)]
    return [tag for tag in tags if tag.name in names] if names else tags


def strings_in(element: Tag) -> list[NavigableString]:
    """Return the texts in an element, in their order."""
    return [node for node in element.descendants if isinstance(node, NavigableString)]


def closest(node: PageElement, names: Collection[str]) -> Tag | None:
    """Return the closest element around a node that has one of these names, if any has."""
    for parent in node.parents:
        if parent.name in names:
            return parent
    return None


def unwrap_all(element: Tag, is_wanted: Callable[[Tag], bool]) -> None:
    """Put the content of the wanted tags in an element in their place, and join texts that touch.

    This takes linear time: Beautiful Soup looks for each tag among all that are beside it.
    """
    for parent in (*reversed(tags_in(element)), element):  # inner ones first
        if any(isinstance(child, Tag) and is_wanted(child) for child in parent.children):
            _unwrap_children(parent, is_wanted)


def _unwrap_children(parent: Tag, is_wanted: Callable[[Tag], bool]) -> None:
    content: list[PageElement] = []
    for child in parent.contents:
        if isinstance(child, Tag) and is_wanted(child):
            content += child.contents
        else:
            content.append(child)
    parent.clear()
    words: list[str] = []
    for node in content:
        if isinstance(node, Tag):
            _append_text(parent, words)
            words = []
            parent.append(node)
        else:
            words.append(str(node))
    _append_text(parent, words)


def _append_text(parent: Tag, words: Collection[str]) -> None:
    if words:
        parent.append(NavigableString("".join(words)))

"""Find elements of a document: the searches of Beautiful Soup itself take several times as long."""

from __future__ import annotations

from collections.abc import Collection

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

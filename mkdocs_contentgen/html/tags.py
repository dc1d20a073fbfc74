"""Make and find elements of a document: Beautiful Soup itself takes several times as long."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element

from bs4 import Tag
from bs4.element import NavigableString, PageElement

from .elements import VOID

_WHITE_SPACE = " \t\n\r\f"


def tag_of(root: Element) -> Tag:
    """Return an element of an ElementTree with all that is in it, as Beautiful Soup reads its HTML.

    Outside of `<pre>`, a text of only white space is a line break or a space.
    """
    return _TagMaker().tag_of(root, None, keeps_space=False)


class _TagMaker:
    """Makes tags, each linked with those before it."""

    def __init__(self) -> None:
        self._last: PageElement | None = None

    def tag_of(self, element: Element, parent: Tag | None, *, keeps_space: bool) -> Tag:
        """Return the tag of an element, as the last one in `parent`."""
        name = element.tag
        tag = Tag(
            name=name,
            attrs=dict(element.attrib),
            is_xml=False,  # else each copy looks for that in the whole document
            can_be_empty_element=name in VOID,
        )
        self._link(tag, parent)
        keeps_space = keeps_space or name == "pre"
        if element.text:
            self._add_text(element.text, tag, keeps_space=keeps_space)
        for child in element:
            self.tag_of(child, tag, keeps_space=keeps_space)
            if child.tail:
                self._add_text(child.tail, tag, keeps_space=keeps_space)
        return tag

    def _add_text(self, text: str, parent: Tag, *, keeps_space: bool) -> None:
        if not keeps_space and not text.strip(_WHITE_SPACE):
            text = "\n" if "\n" in text else " "
        self._link(NavigableString(text), parent)

    def _link(self, node: PageElement, parent: Tag | None) -> None:
        node.setup(parent, self._last)
        if parent is not None:
            parent.contents.append(node)
        self._last = node


def tidied(article: Tag) -> Tag:
    """Return the same tag, without white space beside line breaks, and without idle marks.

    Those are empty, or within others.
    """
    _strip_line_breaks(article)
    _unwrap_idle_marks(article)
    return article


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
    replace_all(element, lambda tag: tag.contents if is_wanted(tag) else None)


def replace_all(element: Tag, replacement: Callable[[Tag], Sequence[PageElement] | None]) -> None:
    """Replace tags in an element, unless their replacement is None, and join texts that touch."""
    for parent in (*reversed(tags_in(element)), element):  # inner ones first
        content: list[PageElement] = []
        is_changed = False
        for child in parent.contents:
            new = replacement(child) if isinstance(child, Tag) else None
            if new is None:
                content.append(child)
            else:
                content += new
                is_changed = True
        if is_changed:
            parent.clear()
            _append_joined(parent, content)


def _append_joined(parent: Tag, content: Sequence[PageElement]) -> None:
    """Append nodes to a tag, of which texts that touch become one."""
    for is_tag, nodes in groupby(content, lambda node: isinstance(node, Tag)):
        if is_tag:
            parent.extend(list(nodes))
        else:
            parent.append(NavigableString("".join(map(str, nodes))))


def _strip_line_breaks(article: Tag) -> None:
    """Remove the white space beside `<br>` outside of code, which a browser does not show."""
    for line_break in tags_in(article, ("br",)):
        if closest(line_break, ("pre", "code")):
            continue
        before = line_break.previous_sibling
        after = line_break.next_sibling
        if isinstance(before, NavigableString):
            before.replace_with(before.rstrip(_WHITE_SPACE))
        if isinstance(after, NavigableString):
            after.replace_with(after.lstrip(_WHITE_SPACE))


def _unwrap_idle_marks(article: Tag) -> None:
    """Remove the marks that are not statements themselves: empty ones, and those within others."""
    idle = set()
    for mark in tags_in(article, ("mark",)):
        is_empty = not mark.get_text().strip()
        if is_empty or closest(mark, ("mark",)):
            idle.add(id(mark))
    if idle:  # texts are joined, so that white space is collapsed as if there had been no mark
        unwrap_all(article, lambda tag: id(tag) in idle)

"""Give the headings of a page their ids: first the author's, then those of articles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions.toc import TocTreeprocessor, unique
from markdown.treeprocessors import Treeprocessor

from ..html.elements import HEADINGS
from ..html.plaintext import plain_text

_RAW_ID = re.compile(r"""\b(?:id|name)\s*=\s*["']?([^\s"'>]+)""", re.IGNORECASE)

_ID_GIVERS = ("toc", "tab_slugs")
"""The tree processors that make ids from the text of headings and tabs, in their order."""


class HeadingIds:
    """Gives the headings of a page their ids: first the author's, as without the articles.

    So links to the author's headings stay valid, whatever an article says.
    """

    def __init__(self, md: Markdown, root: Element, blocks: Mapping[str, str]) -> None:
        processors: dict[str, Treeprocessor] = {}
        for name in _ID_GIVERS:
            if name in md.treeprocessors:
                processors[name] = md.treeprocessors[name]
        self.md = md
        toc = processors.get("toc")
        self._toc = toc if isinstance(toc, TocTreeprocessor) else None
        self.toc_marker = str(getattr(toc, "marker", ""))
        self._used = _give_ids(root, list(processors.values()))
        for block in blocks.values():
            self._used.update(_RAW_ID.findall(block))

    def label(self, article: Element) -> None:
        """Set the ids of an article's headings, and their labels in the table of contents.

        Themes print labels in attributes, so they are plain text.
        """
        if self._toc is None:
            return
        for element in article.iter():
            if element.tag in HEADINGS:
                text = " ".join("".join(element.itertext()).split())
                element.set("id", unique(self._toc.slugify(text, self._toc.sep), self._used))
                label = plain_text(text)
                if label != text:
                    element.set("data-toc-label", label)


def _give_ids(root: Element, processors: Sequence[Treeprocessor]) -> set[str]:
    """Give the headings of a page the ids that tree processors make, and return all ids of it.

    The processors run on a copy, since they would also change the page before it is complete.
    """
    # Without a heading or a tab of the author's, no id would be made.
    if not any(element.tag in HEADINGS or element.tag == "input" for element in root.iter()):
        return _ids_in(root)
    with_ids = deepcopy(root)
    # Paired before the processors run, since these add elements to the copy.
    elements = list(zip(root.iter(), with_ids.iter(), strict=True))
    for processor in processors:
        processor.run(with_ids)
    for element, copied in elements:
        name = copied.get("id")
        if name and element.tag in HEADINGS:
            element.set("id", name)
    return _ids_in(with_ids)


def _ids_in(root: Element) -> set[str]:
    ids = set()
    for element in root.iter():
        name = element.get("id")
        if name:
            ids.add(name)
    return ids

"""Adjust the `<article>` of a text to the page that it stands in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal
from urllib.parse import unquote
from xml.etree.ElementTree import Element, SubElement

from ..display import escape_controls
from .elements import HEADINGS

_SMALLER_TEXT = frozenset("small sub sup code kbd samp rt".split())
_MAX_SHRINKING = 2
"""How many elements that shrink text can be within each other."""


def limit_nesting(article: Element) -> None:
    """Replace nested elements whose relative font sizes would multiply.

    Themes set the font size of headings, `<code>` and the like relative to the parent. A heading
    within a heading becomes a `<div>`. The third nested element that shrinks text becomes a
    `<span>`.
    """
    for element in article.iter():
        if len(element) and element.tag in HEADINGS:
            for inner in element.iterfind(".//*"):
                if inner.tag in HEADINGS:
                    inner.tag = "div"
        elif len(element) and element.tag in _SMALLER_TEXT:
            _limit_smaller_text(element, 1)


def _limit_smaller_text(element: Element, shrinking: int) -> None:
    """Limit what an element contains. `shrinking` counts it and those around it that shrink."""
    for child in element:
        if child.tag not in _SMALLER_TEXT:
            _limit_smaller_text(child, shrinking)
        elif shrinking < _MAX_SHRINKING:
            _limit_smaller_text(child, shrinking + 1)
        else:
            child.tag = "span"
            _limit_smaller_text(child, shrinking)


def set_title_level(article: Element, level: int) -> None:
    """Demote all headings so that an `<h1>` gets `level`. None goes below `<h6>`."""
    for element in article.iter():
        if element.tag in HEADINGS:
            element.tag = f"h{min(int(element.tag[1]) + level - 1, 6)}"


def put_first(root: Element, inner: Element) -> None:
    """Move a descendant of `root` to its start. The text after it stays where it is."""
    take_out(root, inner)
    if (root.text or "").strip():
        inner.tail = root.text
        root.text = None
    root.insert(0, inner)


def take_out(root: Element, inner: Element) -> None:
    """Remove a descendant of `root`. The text after it stays where it is."""
    for parent in root.iter():
        if inner in list(parent):
            _remove_child(parent, inner)
            return


def _remove_child(parent: Element, child: Element) -> None:
    """Remove a child. The text after it is then part of what stands before it."""
    index = list(parent).index(child)
    tail = child.tail or ""
    parent.remove(child)
    child.tail = None
    if not tail.strip():
        return
    if index:
        before = parent[index - 1]
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail


def link_to_headings(article: Element, ids: Mapping[Element, str]) -> list[tuple[str, str]]:
    """Let links such as `#the-sources` lead to headings of the article, which have these ids.

    A link to something else becomes a `<span>`: a text has no other ids. Returns the words and the
    address of each of these.
    """
    links = []
    for link in article.iter("a"):
        if link.get("href", "").startswith("#"):
            links.append(link)
    if not links:  # as in most articles
        return []
    names = list(ids.values())
    known = headings_by_letters("".join(heading.itertext()) for heading in ids)
    lost = []
    for link in links:
        address = link.attrib["href"]
        found = known.get(letters_of(unquote(address)))
        if found is not None:
            link.set("href", f"#{names[found]}")
            continue
        lost.append((" ".join("".join(link.itertext()).split()), address))
        link.tag = "span"
        for attribute in ("href", "rel", "title"):
            link.attrib.pop(attribute, None)
    return lost


def headings_by_letters(headings: Iterable[str]) -> dict[str, int]:
    """Return the number of each heading, from 0, by the letters of its name in links.

    Of equal headings, the second one also has the name with `_1`, as Python-Markdown gives it.
    """
    letters = [letters_of(heading) for heading in headings]
    found: dict[str, int] = {}
    for number, name in enumerate(letters):
        if name:
            found.setdefault(name, number)
    before: Counter[str] = Counter()
    for number, name in enumerate(letters):
        if name and before[name]:
            found.setdefault(f"{name}{before[name]}", number)
        before[name] += 1
    return found


def letters_of(text: str) -> str:
    """Return the letters and digits of a text or of an id, so that both can be compared.

    Sites make ids of headings in different ways, with other characters between the words.
    """
    return re.sub(r"[\W_]+", "", text).casefold()


def close_heading_gaps(article: Element) -> None:
    """Promote headings so that none is more than one level below the one before it."""
    level = 1
    for element in article.iter():
        if element.tag in HEADINGS:
            level = min(int(element.tag[1]), level + 1)
            element.tag = f"h{level}"


def placeholder(
    message: str, title: str = "Text missing", *, kind: Literal["warning", "note"] = "warning"
) -> Element:
    """Return an `<article>` that stands in for a text and shows `message`."""
    # Most themes have styles for the classes of admonitions.
    article = Element("article", {"class": f"contentgen-missing admonition {kind}"})
    SubElement(article, "p", {"class": "admonition-title"}).text = title
    # The message may quote a page; Python-Markdown uses control characters as placeholders.
    SubElement(article, "p").text = escape_controls(message)
    return article

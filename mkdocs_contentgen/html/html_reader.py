"""Read the HTML of a text into elements, in which each word belongs to one block.

Text that stands loose gets an element of its own, which is not written. A statement to check that
contains blocks becomes one in each of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from xml.etree.ElementTree import Element

from bs4 import Tag

from ..errors import EditError, UnsafeHTMLError
from .elements import BLOCK_LEVEL, GROUPS
from .html_writer import LOOSE
from .sanitizer import parse_article
from .tags import tag_of, tidied

_TITLE = "<h1>.</h1>"
"""The title before HTML that is read as an article, which needs one. It is taken out again."""


def read_article(html: str, image_hosts: Collection[str] = ()) -> Tag:
    """Return the `<article>` of a text, in which each word belongs to one block.

    `image_hosts` is the option. Raises UnsafeHTMLError.
    """
    # The sanitizer works on an ElementTree. Beautiful Soup has what edits need: each element
    # knows its parent, and each text is a node.
    article = parse_article(html, image_hosts)
    _wrap_loose_text(article)
    return tidied(tag_of(article))


def read_content(html: str, image_hosts: Collection[str] = ()) -> Tag:
    """Return a paragraph with the content of a block. Raises EditError."""
    try:
        article = read_article(f"<article>{_TITLE}<p>{html}</p></article>", image_hosts)
    except UnsafeHTMLError as error:
        raise EditError(f"this text cannot be shown: {error}") from error
    found = article.find_all(True, recursive=False)
    if [tag.name for tag in found] != ["h1", "p"]:
        raise EditError("a block is text, without other blocks in it")
    return found[1]


def read_pasted(html: str, image_hosts: Collection[str] = ()) -> Tag:
    """Return an element with the blocks in HTML. Raises EditError."""
    try:
        article = read_article(f"<article>{_TITLE}{html}</article>", image_hosts)
    except UnsafeHTMLError as error:
        raise EditError(f"this text cannot be shown: {error}") from error
    article.find_all("h1")[0].extract()
    return article


def read_code(code: str) -> str:
    """Return code as an article can have it. Raises EditError."""
    html = f"<article>{_TITLE}<pre><code>{escape(code)}</code></pre></article>"
    try:
        return read_article(html).find_all("pre")[0].get_text()
    except UnsafeHTMLError as error:
        raise EditError(f"this text cannot be shown: {error}") from error


def _wrap_loose_text(element: Element, *, is_marked: bool = False) -> bool:
    """Put the text beside blocks in an element into elements of its own, at any depth.

    A statement to check that contains blocks becomes one in each of them; `is_marked` says that the
    element is in such a statement. Returns whether the element stands apart from text beside it: it
    is a block, or has blocks in it.
    """
    is_marked = is_marked or element.tag == "mark"
    children_apart = [_wrap_loose_text(child, is_marked=is_marked) for child in element]
    has_blocks = element.tag in GROUPS or any(children_apart)
    if has_blocks and element.tag != "pre":
        _wrap_runs(element, children_apart, is_marked=is_marked)
        if element.tag == "mark":
            element.tag = "span"
        return True
    is_block_itself = element.tag in BLOCK_LEVEL
    if is_block_itself and is_marked:
        _mark_content(element)
    return is_block_itself


def _wrap_runs(element: Element, children_apart: Sequence[bool], *, is_marked: bool) -> None:
    """Put each run of text and inline elements between the blocks of an element into one.

    `children_apart` says of each child whether it stands apart, and so is not in a run.
    """
    run = _new_run(element.text)
    element.text = None
    content = [run]
    for child, stands_apart in zip(element[:], children_apart, strict=True):
        if not stands_apart:
            run.append(child)  # with its tail
            continue
        run = _new_run(child.tail)
        child.tail = None
        content += [child, run]
    kept = []
    for part in content:
        is_empty_run = part.tag == LOOSE and not len(part) and not (part.text or "").strip()
        if is_empty_run:
            continue
        if part.tag == LOOSE and is_marked:
            _mark_content(part)
        kept.append(part)
    element[:] = kept


def _new_run(text: str | None) -> Element:
    run = Element(LOOSE)
    run.text = text
    return run


def _mark_content(element: Element) -> None:
    """Put the content of an element into a `<mark>`, if it has text."""
    if "".join(element.itertext()).strip():
        mark = Element("mark")
        mark.text = element.text
        mark[:] = element[:]
        element.text = None
        element[:] = [mark]

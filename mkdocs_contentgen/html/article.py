"""The article in an answer (interface section 2.2): one root `<article>`, its title an `<h1>`."""

from __future__ import annotations

from collections.abc import Collection
from xml.etree.ElementTree import Element, SubElement

from ..display import visible
from ..errors import UnsafeHTMLError
from .sanitizer import sanitize

_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
# Search indexes and tables of contents take time that grows with the square of their number.
_MAX_HEADINGS = 500
_SMALLER = frozenset("small sub sup code kbd samp rt".split())


def parse_article(html: str, image_hosts: Collection[str] = ()) -> Element:
    """Return the `<article>` of `html`, with nothing in it that could do harm.

    What stands around the article is dropped. Raises UnsafeHTMLError where there is not exactly
    one article, where it has no text or too many headings, or where the HTML is too large or too
    deep to be judged.
    """
    articles = list(_outermost_articles(sanitize(html, image_hosts)))
    if len(articles) != 1:
        raise UnsafeHTMLError(f"expected one <article>, found {len(articles) or 'none'}")
    article = articles[0]
    article.tail = None
    if not "".join(article.itertext()).strip():
        raise UnsafeHTMLError("the <article> has no text")
    headings = sum(element.tag in _HEADINGS for element in article.iter())
    if headings > _MAX_HEADINGS:
        raise UnsafeHTMLError(
            f"the <article> has too many headings: {headings:,}, {_MAX_HEADINGS} at most"
        )
    return article


def limit_nesting(article: Element) -> None:
    """Keep letters from growing or shrinking with each element around them.

    Themes give headings and `<code>` sizes relative to the text around them: a heading in a heading
    becomes a `<div>`, and what makes letters smaller in two of its kind a `<span>`.
    """
    for element in article.iter():
        if len(element) and element.tag in _HEADINGS:
            for inner in element.iterfind(".//*"):
                inner.tag = "div" if inner.tag in _HEADINGS else inner.tag
        elif len(element) and element.tag in _SMALLER:
            _limit_smaller(element, 1)


def _limit_smaller(element: Element, around: int) -> None:
    for child in element:
        is_smaller = child.tag in _SMALLER
        if is_smaller and around == 2:
            child.tag, is_smaller = "span", False
        _limit_smaller(child, around + is_smaller)


def set_title_level(article: Element, level: int) -> None:
    """Move all headings down, so that an `<h1>` is one of `level`; below an `<h6>` is nothing."""
    for element in article.iter():
        if element.tag in _HEADINGS:
            element.tag = f"h{min(int(element.tag[1]) + level - 1, 6)}"


def put_first(root: Element, inner: Element) -> None:
    """Move an element to the start of `root`; the text behind it stays where it is."""
    for parent in root.iter():
        for index, child in enumerate(parent):
            if child is inner:
                del parent[index]
                behind, inner.tail = inner.tail or "", None
                if behind.strip() and index:
                    parent[index - 1].tail = (parent[index - 1].tail or "") + behind
                elif behind.strip():
                    parent.text = (parent.text or "") + behind
                if (root.text or "").strip():
                    inner.tail, root.text = root.text, None
                root.insert(0, inner)
                return


def close_heading_gaps(article: Element) -> None:
    """Let no heading be more than one level below the one before it, or below the title."""
    level = 1
    for element in article.iter():
        if element.tag in _HEADINGS:
            level = min(int(element.tag[1]), level + 1)
            element.tag = f"h{level}"


def placeholder(message: str) -> Element:
    """Return an `<article>` that says that a text is missing, and why."""
    return _box("warning", "Text missing", message)


def being_generated(topic: str) -> Element:
    """Return an `<article>` that says that the text about `topic` is on its way."""
    return _box("note", "Generating …", f"“{topic}”. The page reloads when the text is there.")


def _box(kind: str, title: str, message: str) -> Element:
    # The class names are those of an admonition, which most themes have a look for.
    article = Element("article", {"class": f"contentgen-missing admonition {kind}"})
    SubElement(article, "p", {"class": "admonition-title"}).text = title
    # It may quote a page, and Markdown marks its own places in a text with control characters.
    SubElement(article, "p").text = visible(message)
    return article


def _outermost_articles(element: Element) -> Collection[Element]:
    if element.tag == "article":
        return [element]
    return [article for child in element for article in _outermost_articles(child)]

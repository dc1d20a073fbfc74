"""The article in an answer (interface section 2.2): one root `<article>`, its title an `<h1>`."""

from __future__ import annotations

import re
from collections.abc import Collection
from xml.etree.ElementTree import Element, SubElement

from .display import visible
from .errors import UnsafeHTMLError
from .sanitizer import sanitize

_HEADING = re.compile(r"h[1-6]")


def parse_article(html: str, image_hosts: Collection[str] = ()) -> Element:
    """Return the `<article>` of `html`, with nothing in it that could do harm.

    What stands around the article is dropped. Raises UnsafeHTMLError where there is not exactly
    one article, where it has no text, or where the HTML is too large or too deep to be judged.
    """
    articles = list(_outermost_articles(sanitize(html, image_hosts)))
    if len(articles) != 1:
        raise UnsafeHTMLError(f"expected one <article>, found {len(articles) or 'none'}")
    article = articles[0]
    article.tail = None
    if not "".join(article.itertext()).strip():
        raise UnsafeHTMLError("the <article> has no text")
    return article


def set_title_level(article: Element, level: int) -> None:
    """Move all headings down, so that an `<h1>` is one of `level`; below an `<h6>` is nothing."""
    for element in article.iter():
        if _HEADING.fullmatch(element.tag):
            element.tag = f"h{min(int(element.tag[1]) + level - 1, 6)}"


def close_heading_gaps(article: Element) -> None:
    """Let no heading be more than one level below the one before it, or below the title."""
    level = 1
    for element in article.iter():
        if _HEADING.fullmatch(element.tag):
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

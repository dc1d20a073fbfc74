"""End the excerpts of posts of Material's blog after the leads of articles."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from markdown import Markdown

_SEPARATOR = "<!-- more -->"
"""The default separator between excerpt and rest in Material's blog."""


def fit_excerpt(md: Markdown, root: Element, blocks: Mapping[str, str]) -> None:
    """End the excerpt of a post after the lead of its article, unless the author has said where.

    `blocks` are the blocks of raw HTML on the page.
    """
    has_separator = _SEPARATOR in "\n".join(blocks.values())
    if not has_separator:
        _end_after_lead(root, md.htmlStash.store(_SEPARATOR))


def _end_after_lead(root: Element, separator: str) -> None:
    """Insert the separator of the excerpt after the lead of the first article."""
    article = root.find("article")
    if article is None:
        return
    lead = _find_lead(article)
    if lead is None:
        return
    end = Element("p")
    end.text = separator
    after_lead = list(article).index(lead) + 1
    rest = Element("article", article.attrib)
    rest.extend(article[after_lead:])
    del article[after_lead:]
    after_article = list(root).index(article) + 1
    root[after_article:after_article] = [end, rest]


def _find_lead(article: Element) -> Element | None:
    """Return the lead of an article, or else its first paragraph; None if nothing follows it."""
    parts = article[:-1]
    for part in parts:
        classes = part.get("class", "").split()
        if "intro" in classes or "lead" in classes:
            return part
    for part in parts:
        if part.tag == "p" and part.get("class") != "contentgen-disclosure":
            return part
    return None

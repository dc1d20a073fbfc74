"""The article of a text as its page will have it, before the site is built again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from xml.etree.ElementTree import Element

from ..files import sha256
from ..html.block import Block
from ..html.elements import BLOCK_LEVEL, TEXT_BLOCKS
from ..html.presentation import ArticleMetadata
from ..site.article_spans import article_spans
from ..site.build import page_content
from ..site.content import PageContent
from ..site.site import Site
from ..texts.articles import Article

_LOOK_BACK = 3
_LOOK_AHEAD = 50
"""Elements around the expected one that are searched for that of a block."""

_TITLE = re.compile(r'<(h[1-6])\b[^>]*\sclass="contentgen-title\b.*?</\1>', re.DOTALL)
_OWN = re.compile(r'\sclass="(?:[^"]*\s)?contentgen')
"""Found in the start tag of an article of ours, also of the placeholder for a missing text."""

_MARK = "data-contentgen-text"
"""The attribute of the article of the text, and of its title."""

_NUMBER = "data-contentgen-block"
"""The attribute of an element of a block, with the number of that."""


def render(
    site: Site, article: Article, articles: Sequence[Article], blocks: Sequence[Block]
) -> dict[str, str | int] | None:
    """Return the article of a text in its page, or None if the page does not contain it.

    `articles` are those of the page in their order, and `blocks` those of the text. Raises
    what a build would. The returned fields are:

    - `article`: its HTML, in which elements of blocks have `data-contentgen-block`
    - `title`: the HTML of the page's title if that is the title of the article, or an empty string
    - `index`: which of the `count` articles in the page it is, from 0
    - `digest`: the SHA-256 of all other fields
    """
    if site.render is None:
        return None
    contents: dict[str, PageContent] = {}
    for shown_article in articles:
        presentation = site.options.presentation()
        content = page_content(
            replace(shown_article, may_show_draft=True), presentation, show_errors=True
        )
        if shown_article.request.id == article.request.id:
            content = _with_numbers(content, blocks)
            if content.level == "none":  # what is approved is seen, also the title
                content.level = None
        contents[shown_article.request.id] = content
    title, found = find_parts(site.render(article.page, contents))
    index = _index_of_text(found)
    if index is None:
        return None
    shown: dict[str, str | int] = {
        "article": found[index],
        "title": title if _MARK in title else "",
        "index": index,
        "count": len(found),
    }
    return shown | {"digest": sha256(repr(shown))}


def _index_of_text(articles: Sequence[str]) -> int | None:
    """Return which of the articles of a page is the one of the text, or None."""
    for index, html in enumerate(articles):
        start_tag, _, _ = html.partition(">")
        if _MARK in start_tag:
            return index
    return None


def find_parts(html: str) -> tuple[str, list[str]]:
    """Return the title of a page if that is an article's, or an empty string, and the articles."""
    articles = [html[start:end] for start, end in article_spans(html, _OWN)]
    title = _TITLE.search(html)
    return title[0] if title else "", articles


@dataclass
class _Numbered(PageContent):
    """An article whose elements have the numbers of their blocks."""

    blocks: Sequence[Block] = ()

    def make(self) -> tuple[Element, ArticleMetadata | None]:
        """Return a new element, and its metadata. Raises UnsafeHTMLError."""
        article, metadata = super().make()
        titles = article.iterfind(".//h1")
        for element in (article, *titles):
            element.set(_MARK, "")
        # The build moves a title to the start, and not every block has an element. So each block is
        # searched for near the place where the last one was found.
        elements = list(_text_elements(article))
        position = 0
        for block in self.blocks:
            text = block.text
            for number in range(
                max(0, position - _LOOK_BACK), min(position + _LOOK_AHEAD, len(elements))
            ):
                element, text_of_element = elements[number]
                if text_of_element == text and _NUMBER not in element.attrib:
                    element.set(_NUMBER, str(block.number))
                    position = max(position, number + 1)
                    break
        return article, metadata


def _with_numbers(content: PageContent, blocks: Sequence[Block]) -> _Numbered:
    values = {field.name: getattr(content, field.name) for field in fields(content)}
    return _Numbered(**values, blocks=blocks)


def _text_elements(article: Element) -> Iterator[tuple[Element, str]]:
    """Yield the elements that can be blocks, with their texts."""
    for element in article.iter():
        inner = islice(element.iter(), 1, None)
        if element.tag in TEXT_BLOCKS and not any(part.tag in BLOCK_LEVEL for part in inner):
            yield element, " ".join("".join(element.itertext()).split())

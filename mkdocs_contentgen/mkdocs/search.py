"""Keep the author's text out of the sections of articles in the index of MkDocs' search.

It gives all text to the heading before it, also the author's text that follows an article. Search
of Material for MkDocs and Zensical know where an article ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from functools import partial

from mkdocs.plugins import PluginCollection
from mkdocs.structure.pages import Page

_TAG = re.compile(r"<(/?article|h[1-6])\b[^<>]*>")


def index_articles_last(plugins: PluginCollection) -> None:
    """Let the search plugin of this build index each article after the text of its section."""
    for plugin in plugins.values():
        if index := getattr(plugin, "search_index", None):
            from mkdocs.contrib.search.search_index import SearchIndex  # which takes 1 MB

            if not isinstance(index, SearchIndex):
                continue
            add = partial(_add_page, index.add_entry_from_context)
            index.add_entry_from_context = add  # type: ignore[method-assign]  # of this build


def _add_page(add: Callable[[Page], None], page: Page) -> None:
    page = copy(page)
    page.content = move_articles_last(page.content or "")
    add(page)


def move_articles_last(html: str) -> str:
    """Move each generated article of a page to the end of the author's section that it is in."""
    parts: list[str] = []
    articles: list[str] = []
    start = depth = 0
    for tag in _TAG.finditer(html):
        if tag[1] == "article" and (depth or "ai-disclosure=" in tag[0]):
            if not depth:
                parts.append(html[start : tag.start()])
                start = tag.start()
            depth += 1
        elif tag[1] == "/article" and depth:
            depth -= 1
            if not depth:
                articles.append(html[start : tag.end()])
                start = tag.end()
        elif tag[1].startswith("h") and not depth:
            parts += [html[start : tag.start()], *articles]
            articles.clear()
            start = tag.start()
    return "".join([*parts, html[start:], *articles])

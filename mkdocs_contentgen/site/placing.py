"""Put the articles of a page where their markers stand, or at the end of the page.

An article is prepared before Python-Markdown goes on with the page: its title gets its level, its
headings get ids, its links lead to pages, and its code is highlighted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement

from markdown.util import HTML_PLACEHOLDER_RE

from ..errors import UnsafeHTMLError
from ..html.article import link_to_headings, set_title_level, take_out
from ..html.disclosure import DisclosureLine
from ..html.elements import HEADINGS
from ..html.presentation import ArticleMetadata, disclosure_paragraph
from .content import Made, PageContent
from .ids import HeadingIds
from .links import PageLinks, dead_link_message
from .rendered_page import RenderedPage
from .titles import leaves_out_title, level_of
from .visibility import visible_parts, without_invisible

_RAW_HEADING = re.compile(r"<h([1-6])[\s>]", re.IGNORECASE)

_CONTAINERS = frozenset("p li dd td th div blockquote details section aside main figure".split())
"""Elements that can be or contain an article; headings and links cannot."""


@dataclass
class ArticlePlacer:
    """Inserts the articles of one page."""

    root: Element
    blocks: Mapping[str, str]
    """The blocks of raw HTML on the page, by their numbers."""

    articles: Mapping[str, PageContent]
    make: Callable[[str], Made]
    """Makes the article with an id. Raises UnsafeHTMLError."""

    ids: HeadingIds
    links: PageLinks
    rendered: RenderedPage

    title: Element | None = None
    """The heading that is the page's title, if any."""

    shows_title: bool = True
    """Whether the page has that heading, and not only the title."""

    disclosures: dict[Element, DisclosureLine | None] = field(default_factory=dict)
    """The articles that were inserted, with the lines at their ends, if any.

    Those that only say that a text is missing are left out."""

    _placed: set[str] = field(default_factory=set)
    _has_title: bool = False
    """Whether the page has a first-level heading of its own."""

    def place_all(self, markers: Mapping[str, re.Match[str]]) -> None:
        """Replace the markers by articles, and append the articles without one.

        `markers` are by the numbers of their blocks.
        """
        raw_levels: list[str] = []
        for block in self.blocks.values():
            raw_levels += _RAW_HEADING.findall(without_invisible(block))
        self._has_title = self.root.find(".//h1") is not None or "1" in raw_levels
        for marker in self._replace_markers(markers):
            problem = "the marker is within other text or HTML; put it between empty lines"
            self.rendered.problems.append((marker[0], problem))
        self._append_others()
        self._show_ends()

    def _replace_markers(self, markers: Mapping[str, re.Match[str]]) -> list[re.Match[str]]:
        """Replace markers by articles, and return the markers that cannot be replaced.

        A marker can be replaced if it is all that a block of raw HTML has, and the block is all
        that an element contains. With `M` for such a block:

            <p>M</p>           the article replaces the paragraph
            <li>M</li>         the article stands within the item
            <p>text M</p>      the marker cannot be replaced
        """
        parents: dict[Element, Element] = {}
        for parent in self.root.iter():
            for child in parent:
                parents[child] = parent
        not_replaced = dict(markers)
        candidates = list(_find_single_blocks(self.root, self.blocks))  # before the tree is changed
        for element, number, level_before in candidates:
            marker = markers.get(number)
            if marker is None or self.blocks[number].strip() != marker[0]:  # there is other HTML
                continue
            not_replaced.pop(number, None)
            name = marker[1] or next(iter(self.articles), "main")
            if name in self._placed or name not in self.articles:
                self._add_unknown_name(marker[0], name)
                continue
            parent = element
            if element.tag == "p":
                parent = parents[element]
            # An article in a list or a quotation does not begin the page.
            is_start = parent.tag == "div" and self._is_start(element)
            article = self._create(name, level_before, marker, is_start=is_start)
            _put_in_place(element, parent, article)
        return list(not_replaced.values())

    def _add_unknown_name(self, marker: str, name: str) -> None:
        if name in self._placed:
            problem = f"the article '{name}' has several markers; keep one of them"
        elif self.articles:
            names = ", ".join(self.articles)
            problem = f"the marker names an article '{name}', and the page asks for {names}"
        else:
            problem = (
                "this marker has no article, since the page asks for none; add `contentgen:` to "
                "its front matter, or remove the marker"
            )
        self.rendered.problems.append((marker, problem))

    def _append_others(self) -> None:
        """Put the articles without a marker at the end of the page, before its footnotes."""
        end = len(self.root)
        while end and self.root[end - 1].get("class") == "footnote":
            end -= 1
        for name in self.articles:
            if name in self._placed:
                continue
            # At the end of a page, an article is a section of the page.
            article = self._create(name, 1, is_start=self._is_start(None))
            self.root.insert(end, article)
            end += 1

    def _is_start(self, element: Element | None) -> bool:
        """Tell whether an article begins the page: nothing visible is before it.

        `element` contains its marker, and is None for an article at the end of the page.
        """
        if self._placed or self._has_title:
            return False
        # The element itself counts as visible, as the article will be.
        articles = [] if element is None else [element]
        return next(visible_parts(self.root, self.blocks, articles), None) is element

    def _create(
        self,
        name: str,
        level_before: int,
        marker: re.Match[str] | None = None,
        *,
        is_start: bool,
    ) -> Element:
        """Return the element of an article; of one that cannot be shown, an empty `<div>`.

        `level_before` is that of the heading before it, or 0. `is_start` says that the article
        begins the page, so that its title becomes the page's unless it has another level.
        """
        self._placed.add(name)
        content = self.articles[name]
        try:
            article, metadata = self.make(name)
        except UnsafeHTMLError as error:
            problem = f"the article '{name}' cannot be shown: {error}"
            self.rendered.problems.append(("contentgen", problem))
            return Element("div")
        level_of_section = max(level_before, 1) + 1
        level = level_of(marker, content.level, 1 if is_start else level_of_section)
        shows_title = not leaves_out_title(marker, content.level)
        title = article.find(".//h1")
        if is_start and level == 1:
            self._use_as_page_title(article, title, metadata, is_shown=shows_title)
        else:
            if title is not None and not shows_title:
                take_out(article, title)
            set_title_level(article, level)
        if metadata:
            self.rendered.metadata[name] = metadata
            self.disclosures[article] = content.end_line()
        lost = self._prepare(article, content.cited, None if shows_title else title)
        if content.provenance and content.provenance.review:  # a person is responsible for them
            for words, address in dict.fromkeys(lost):
                problem = dead_link_message(words, address, self.links.page)
                self.rendered.problems.append(("contentgen", problem))
        return article

    def _use_as_page_title(
        self,
        article: Element,
        title: Element | None,
        metadata: ArticleMetadata | None,
        *,
        is_shown: bool,
    ) -> None:
        """Remember the title of an article as the page's, which is moved later."""
        self.title = title
        self.shows_title = is_shown
        self.rendered.leading = metadata
        if title is not None:
            _copy_attributes(article, title)

    def _prepare(
        self, article: Element, cited: Collection[str], hidden_title: Element | None
    ) -> list[tuple[str, str]]:
        """Set links and ids, highlight code, and escape what Markdown would read.

        No link leads to the `hidden_title`, which has an id as long as it is in the article.
        Returns the words and the address of each link to a heading that the article does not have.
        """
        for citation in self.links.set(article, cited):
            self.rendered.citations.append(citation)
            problem = self.links.problem(citation)
            if problem:
                self.rendered.problems.append(("contentgen", problem))
        self.ids.label(article)
        lost = link_to_headings(article, _shown_headings(article, hidden_title))
        if article.find(".//pre") is not None:
            from .highlighting import highlight_code

            highlight_code(article, self.ids.md)
        _escape_for_markdown(article, self.ids.toc_marker)
        return lost

    def _show_ends(self) -> None:
        """Show the end of each article that the author's text follows: its line, or else a rule.

        Otherwise, the author's text would seem to be a part of the article's last section.
        """
        last: Element | None = None  # the last article, until something else is visible after it
        for part in visible_parts(self.root, self.blocks, self.disclosures):
            if last is not None and part not in self.disclosures:
                _append_end(last, self.disclosures[last])
            last = part if part in self.disclosures else None


def _find_single_blocks(
    root: Element, blocks: Mapping[str, str]
) -> Iterator[tuple[Element, str, int]]:
    """Find the elements that contain nothing but a block of raw HTML, in document order.

    Yields an element, the number of its block, and the level of the last heading before it.
    """
    level = 0
    for element in root.iter():
        match = HTML_PLACEHOLDER_RE.fullmatch((element.text or "").strip())
        if element.tag in HEADINGS:
            level = int(element.tag[1])
        elif match and not len(element) and element.tag in _CONTAINERS:
            yield element, match[1], level
            visible = without_invisible(blocks.get(match[1], ""))
            headings = _RAW_HEADING.findall(visible)
            if headings:
                level = int(headings[-1])


def _put_in_place(element: Element, parent: Element, article: Element) -> None:
    """Put an article where an element stands whose only content is its marker.

    No article can be in a paragraph, so the article replaces that. Any other element is itself the
    `parent`, and the article replaces only the marker in it.
    """
    if element is parent:
        parent.text = None
        parent.append(article)
    else:
        article.tail = element.tail
        parent[list(parent).index(element)] = article


def _shown_headings(article: Element, hidden: Element | None) -> dict[Element, str]:
    """Return the ids of the headings of an article, without that of a `hidden` one."""
    headings = {}
    for element in article.iter():
        if element.tag in HEADINGS and element is not hidden and "id" in element.attrib:
            headings[element] = element.attrib["id"]
    return headings


def _copy_attributes(article: Element, title: Element) -> None:
    """Give the title, which leaves the article, the attributes that are about all of its text."""
    for name, value in article.items():
        if name in ("ai-disclosure", "lang", "dir"):
            title.attrib.setdefault(name, value)


def _append_end(article: Element, line: DisclosureLine | None) -> None:
    """Append the line that ends an article, or a rule where there is no such line."""
    if not line:
        SubElement(article, "hr", {"class": "contentgen-end"})
        return
    end = disclosure_paragraph(line, article)
    end.set("class", f"{end.get('class')} contentgen-end")
    _escape_for_markdown(end, "")
    article.append(end)


def _escape_for_markdown(article: Element, toc_marker: str) -> None:
    """Escape what Python-Markdown would change in the text and attributes of an article.

    Its serializer does not escape the `&` of entities, and the table of contents replaces
    paragraphs that consist of its marker, such as `[TOC]`.
    """
    for element in article.iter():
        if element.text:
            element.text = element.text.replace("&", "&amp;")
            if toc_marker and element.text.strip() == toc_marker:
                first = toc_marker[0]
                element.text = element.text.replace(first, f"&#{ord(first)};", 1)
        if element.tail:
            element.tail = element.tail.replace("&", "&amp;")
        for name, value in element.items():
            if "&" in value:
                element.set(name, value.replace("&", "&amp;"))

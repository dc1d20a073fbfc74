"""A Python-Markdown extension that inserts articles into the element tree of a page.

Extensions that process headings (table of contents, permalinks, anchor validation) run later, and
so see the headings of articles. Extensions that process text (attribute lists, abbreviations,
smarty) run earlier, and so do not change the text of articles.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.extensions import Extension
from markdown.extensions.toc import TocTreeprocessor, unique
from markdown.treeprocessors import Treeprocessor
from markdown.util import HTML_PLACEHOLDER_RE
from mkdocs.utils.rendering import get_heading_text

from ..errors import UnsafeHTMLError
from ..html.elements import HEADINGS
from .front_matter import marker_typo_problem

if TYPE_CHECKING:
    from mkdocs.structure.files import File

    from ..html.disclosure import DisclosureLine
    from ..html.presentation import ArticleMetadata
    from ..requests import Request
    from .anchors import CitedHeading, FindId
    from .content import Made, PageContent

MARKER = re.compile(r"<!--\s*contentgen(?:\s+([a-z0-9-]+))?(?:\s+level=([1-4]))?\s*-->")
"""The place of an article: its id and its level, which both can be missing."""

FENCED = re.compile(r"^[ \t>]*(```+|~~~+).*?(?:^[ \t>]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
"""A fenced block of code."""

_SEPARATOR = "<!-- more -->"
"""The default separator between excerpt and rest in Material's blog."""

_INVISIBLE = r"<!--.*?-->|<(?P<tag>style|script)\b.*?</(?P=tag)>|<(?:link|meta)\b[^>]*>"
"""Matches a comment or an element that a browser does not show, on one line or on several."""

_INVISIBLE_HTML = re.compile(
    rf"{_INVISIBLE}|<(?:!--|(?:style|script|link|meta)\b).*", re.DOTALL | re.IGNORECASE
)
"""What is not shown of a block of HTML. What has no end goes to the end of the block."""

_INVISIBLE_SOURCE = re.compile(
    rf"""
    \A(?:
        \s+
        | (?!{MARKER.pattern})(?:{_INVISIBLE})     # but no marker
        | \*?\[[^\]\n]+\]:[^\n]*(?:\n|\Z)        # a definition
    )+
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
"""What is not shown at the start of a page's source, up to a marker or the first text.

That is white space, comments and elements as above, and the definitions of links, footnotes
(`[^1]: …`) and abbreviations (`*[HTML]: …`).
"""

_TITLE_IN_SOURCE = re.compile(r"^#[^#]|^[^\n]+\n=+[ \t]*$|<h1[\s>]", re.MULTILINE | re.IGNORECASE)
_RAW_HEADING = re.compile(r"<h([1-6])[\s>]", re.IGNORECASE)
_RAW_ID = re.compile(r"""\b(?:id|name)\s*=\s*["']?([^\s"'>]+)""", re.IGNORECASE)
_EMPTY_TAG = re.compile(
    r"</?(?!(?:img|hr|iframe|video|audio|object|embed|svg|canvas|input|picture|math)\b)[a-z][^<>]*>",
    re.IGNORECASE,
)
"""A tag that shows nothing by itself."""

_ID_GIVERS = ("toc", "tab_slugs")
"""The tree processors that make ids from the text of headings and tabs, in their order."""

_CONTAINERS = frozenset("p li dd td th div blockquote details section aside main figure".split())
"""Elements that can be or contain an article; headings and links cannot."""


def leading_article(markdown: str, articles: Mapping[str, PageContent | Request]) -> str | None:
    """Return the id of the article whose title is the title of the page, or None.

    That is an article at the start of a page without a first-level heading of its own, unless it
    has another level. Templates and included files can still change that.
    """
    text = _INVISIBLE_SOURCE.sub("", markdown)
    marker = MARKER.match(text)
    begins_with_text = bool(text) and marker is None
    if begins_with_text or _TITLE_IN_SOURCE.search(FENCED.sub("", text)):
        return None
    name = next(iter(articles))
    if marker and marker[1]:
        name = marker[1]
    if name not in articles or level_of(marker, articles[name].level, 1) != 1:
        return None
    return name


def add_metadata(
    meta: MutableMapping[str, Any], article: ArticleMetadata | None, *, has_feed: bool
) -> None:
    """Fill in the metadata of a page from that of its leading article, if there is one.

    What the author has set stays. If the description is generated, the feed discloses that.
    """
    if article is None:
        return
    if "description" not in meta and has_feed and article.disclosed_lead:
        feed = meta.setdefault("rss", {})
        if isinstance(feed, dict):
            feed.setdefault("feed_description", article.disclosed_lead)
    for key, value in {"description": article.lead, "date": article.published}.items():
        if value:
            meta.setdefault(key, value)


def level_of(
    marker: re.Match[str] | None, requested: int | Literal["none"] | None, default: int
) -> int:
    """Return the level of an article's title.

    The level in its marker comes first, then the `requested` one of the front matter. Without both,
    it is `default`, but at most 3.
    """
    if marker and marker[2]:
        return int(marker[2])
    level = min(default, 3)
    if requested is None:
        return level
    if requested == "none":
        # The title is left out, and the first sections take its level: where it would have been an
        # h2, they are h2. Sections are one below the title, so that counts as one level higher.
        return max(level - 1, 1)
    return requested


def leaves_out_title(marker: re.Match[str] | None, requested: int | Literal["none"] | None) -> bool:
    """Tell whether an article has no title on its page; a marker with a level gives it one."""
    return requested == "none" and not (marker and marker[2])


@dataclass
class RenderedPage:
    """What is known about a page once it is rendered."""

    problems: list[tuple[str, str]] = field(default_factory=list)
    """The marker or text in question with each message, which is searched for its line."""

    metadata: dict[str, ArticleMetadata] = field(default_factory=dict)
    """That of the articles by their ids, without those that could not be shown."""

    citations: list[CitedHeading] = field(default_factory=list)
    """The links of articles to headings of pages for which no id was found."""

    leading: ArticleMetadata | None = None
    """The metadata of the article whose title is the page's, if there is one."""


@dataclass(eq=False)
class ArticleExtension(Extension):
    """Replaces the markers of each page by articles, and appends articles without a marker.

    `find_page` returns the page that is being rendered, or None. `finish` is called with the root
    of a page at the end, and with its title as HTML if an article has set it, or an empty string.
    `articles` and `rendered` are by the `src_uri` of the page.
    """

    find_page: Callable[[Markdown], File | None]
    finish: Callable[[Markdown, Element, str], None]
    articles: Mapping[str, Mapping[str, PageContent]] = field(default_factory=dict)

    pages: Mapping[str, str] = field(default_factory=dict)
    """The `src_uri` of each page by its address, where the site has an address."""

    find_id: FindId | None = None
    """Returns the id of a cited heading, once the pages that are cited can be rendered."""

    styles: Callable[[Markdown, File], Element] | None = None
    """Makes the element that brings the style sheet to a page."""

    made: dict[tuple[str, str], Made] = field(default_factory=dict)
    """Articles that were made before their pages are rendered, by page and id; each is used once.

    Making one takes as long as rendering a short page."""

    rendered: dict[str, RenderedPage] = field(default_factory=dict)
    """Each page as it was rendered last."""

    def use(self, articles: Mapping[str, Mapping[str, PageContent]]) -> None:
        """Insert these articles from now on."""
        self.articles = articles
        self.made.clear()

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  the name is Python-Markdown's
        """Register the two tree processors."""
        end = _EndTreeprocessor(md, self.finish)
        articles = _ArticleTreeprocessor(md, self, end)
        # After processors of text (attr_list 8, abbr 7, smarty 6), before processors of headings
        # (toc 5, MkDocs' anchors 5).
        md.treeprocessors.register(articles, "contentgen", 5.5)
        # After MkDocs extracts the title (1).
        md.treeprocessors.register(end, "contentgen_end", 0.5)


class _EndTreeprocessor(Treeprocessor):
    """Calls `finish` at the end, with the title that an article has set, if one has."""

    def __init__(self, md: Markdown, finish: Callable[[Markdown, Element, str], None]) -> None:
        super().__init__(md)
        self._finish = finish
        self.title = ""

    def run(self, root: Element) -> None:
        self._finish(self.md, root, self.title)


class _ArticleTreeprocessor(Treeprocessor):
    """Inserts the articles of a page."""

    def __init__(self, md: Markdown, extension: ArticleExtension, end: _EndTreeprocessor) -> None:
        super().__init__(md)
        self.extension = extension
        self.end = end

    def run(self, root: Element) -> None:
        self.end.title = ""
        file = self.extension.find_page(self.md)
        if file is None:
            return
        blocks = _raw_blocks(root, self.md)
        rendered = RenderedPage()
        self.extension.rendered[file.src_uri] = rendered
        markers = _find_markers(blocks, rendered)
        articles = self.extension.articles.get(file.src_uri, {})
        if not (markers or articles):
            return
        ids = _HeadingIds(self.md, root, blocks)
        placer = _ArticlePlacer(self.extension, file.src_uri, articles, ids, rendered)
        placer.place_all(root, blocks, markers)
        _mark_ends(root, blocks, placer.texts)
        if placer.title is not None:
            self._set_title(root, placer.title, is_shown=placer.shows_title)
            self._fit_excerpt(root, blocks)
        if articles and self.extension.styles:
            _insert_styles(root, self.extension.styles(self.md, file))

    def _fit_excerpt(self, root: Element, blocks: Mapping[str, str]) -> None:
        """End the excerpt of a post of Material's blog, unless the author has said where."""
        has_separator = _SEPARATOR in "\n".join(blocks.values())
        if "excerpt" in self.md.treeprocessors and not has_separator:
            _end_excerpt_after_lead(root, self.md.htmlStash.store(_SEPARATOR))

    def _set_title(self, root: Element, title: Element, *, is_shown: bool) -> None:
        """Make a heading the title of the page, and move it to the top, or remove it.

        Material's search indexes everything before the first heading as a section of its own, even
        the start tag of an `<article>`. And an excerpt may end before its article.
        """
        from ..html.article import put_first, take_out
        from ..html.plaintext import plain_text

        # Permalinks are not part of the heading yet.
        text = plain_text(html.unescape(get_heading_text(title, self.md)))
        self.end.title = html.escape(text, quote=False)
        if not is_shown:
            take_out(root, title)
            return
        put_first(root, title)
        title.set("class", " ".join(["contentgen-title", *title.get("class", "").split()]))


class _HeadingIds:
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
        from ..html.plaintext import plain_text

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


@dataclass
class _ArticlePlacer:
    """Inserts the articles of one page."""

    extension: ArticleExtension
    page: str
    articles: Mapping[str, PageContent]
    ids: _HeadingIds
    rendered: RenderedPage

    title: Element | None = None
    """The heading that is the page's title, if any."""

    shows_title: bool = True
    """Whether the page has that heading, and not only the title."""

    texts: dict[Element, DisclosureLine | None] = field(default_factory=dict)
    """The articles that were inserted, with the lines at their ends, if any.

    Those that only say that a text is missing are left out."""

    _placed: set[str] = field(default_factory=set)
    _has_title: bool = False
    """Whether the page has a first-level heading of its own."""

    def place_all(
        self, root: Element, blocks: Mapping[str, str], markers: Mapping[str, re.Match[str]]
    ) -> None:
        """Replace the markers by articles, and append the articles without one.

        `blocks` are the blocks of raw HTML by their numbers, and `markers` are those of them that
        have a marker.
        """
        raw_levels: list[str] = []
        for block in blocks.values():
            raw_levels += _RAW_HEADING.findall(_INVISIBLE_HTML.sub("", block))
        self._has_title = root.find(".//h1") is not None or "1" in raw_levels
        for marker in self._replace_markers(root, blocks, markers):
            problem = "the marker is within other text or HTML; put it between empty lines"
            self.rendered.problems.append((marker[0], problem))
        self._append_others(root, blocks)

    def _replace_markers(
        self, root: Element, blocks: Mapping[str, str], markers: Mapping[str, re.Match[str]]
    ) -> list[re.Match[str]]:
        """Put articles in the places of markers, and return the markers that have no place.

        A marker has a place if it is all that a block of raw HTML has, and the block is all that an
        element contains. With `M` for such a block:

            <p>M</p>           the article replaces the paragraph
            <li>M</li>         the article stands within the item
            <p>text M</p>      there is no place
        """
        parents: dict[Element, Element] = {}
        for parent in root.iter():
            for child in parent:
                parents[child] = parent
        without_place = dict(markers)
        places = list(_find_places(root, blocks))  # before the tree is changed
        for element, number, level_before in places:
            marker = markers.get(number)
            if marker is None or blocks[number].strip() != marker[0]:  # there is other HTML, too
                continue
            without_place.pop(number, None)
            name = marker[1] or next(iter(self.articles), "main")
            if name in self._placed or name not in self.articles:
                self._add_unknown_name(marker[0], name)
                continue
            parent = element
            if element.tag == "p":
                parent = parents[element]
            # An article in a list or a quotation does not begin the page.
            is_start = parent.tag == "div" and self._is_start(root, blocks, element)
            article = self._create(name, level_before, marker, is_start=is_start)
            _put_in_place(element, parent, article)
        return list(without_place.values())

    def _add_unknown_name(self, marker: str, name: str) -> None:
        names = ", ".join(self.articles) or "none"
        problem = (
            f"the marker names an article '{name}' that is not there, or has a marker already; the "
            f"page asks for {names}"
        )
        self.rendered.problems.append((marker, problem))

    def _append_others(self, root: Element, blocks: Mapping[str, str]) -> None:
        """Put the articles without a marker at the end of the page, before its footnotes."""
        end = len(root)
        while end and root[end - 1].get("class") == "footnote":
            end -= 1
        for name in self.articles:
            if name in self._placed:
                continue
            # At the end of a page, an article is a section of the page.
            article = self._create(name, 1, is_start=self._is_start(root, blocks, None))
            root.insert(end, article)
            end += 1

    def _is_start(self, root: Element, blocks: Mapping[str, str], place: Element | None) -> bool:
        """Tell whether an article begins the page: nothing visible is before it.

        `place` is the element that it replaces, or None for an article at the end of the page.
        """
        if self._placed or self._has_title:
            return False
        if place is None:
            first = next(_visible_parts(root, blocks, articles=()), None)
            return first is None  # nothing on the page is visible
        # As an article, the place itself counts as visible.
        first = next(_visible_parts(root, blocks, articles=[place]), None)
        return first is place

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
        from ..html.article import set_title_level, take_out

        self._placed.add(name)
        content = self.articles[name]
        try:
            made = self.extension.made.pop((self.page, name), None)
            article, metadata = made or content.make()
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
            self.texts[article] = content.end_line()
        self._prepare(article, content.cited, None if shows_title else title)
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
    ) -> None:
        """Set links and ids, highlight code, and escape what Markdown would read.

        No link leads to the `hidden_title`, which has an id as long as it is in the article.
        """
        from ..html.article import link_to_headings

        self._link(article, cited)
        self.ids.label(article)
        link_to_headings(article, _shown_headings(article, hidden_title))
        if article.find(".//pre") is not None:
            from .highlighting import highlight_code

            highlight_code(article, self.ids.md)
        _escape_for_markdown(article, self.ids.toc_marker)

    def _link(self, article: Element, cited: Collection[str]) -> None:
        """Let links lead to the files of pages, and add citations that lead nowhere to problems."""
        find_id = self.extension.find_id
        without_id = link_to_pages(article, self.extension.pages, self.page, cited, find_id)
        self.rendered.citations += without_id
        if find_id and without_id:  # else, nobody has looked for the ids yet
            from .anchors import missing_message

            for citation in without_id:
                problem = missing_message(citation, self.page)
                self.rendered.problems.append(("contentgen", problem))


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


def link_to_pages(
    article: Element,
    pages: Mapping[str, str],
    page: str,
    cited: Collection[str] = (),
    find_id: FindId | None = None,
) -> list[CitedHeading]:
    """Replace the addresses of pages in links by the paths of their files, relative to `page`.

    So MkDocs validates them as an author's own, and they work in `mkdocs serve`. A link to one of
    the `cited` addresses leads to the id that `find_id` returns.

    Returns the citations for which there is no id, or no `find_id`.
    """
    without_id = []
    for link in article.iter("a"):
        target = link.get("href", "")
        address, _, anchor = target.partition("#")
        cited_page = pages.get(address)
        if cited_page is None:
            continue
        if anchor and target in cited:
            from .anchors import CitedHeading

            citation = CitedHeading(cited_page, anchor)
            found = find_id(citation) if find_id else None
            if found is None:
                without_id.append(citation)
            else:
                target = f"{address}#{found}"
        link.set("href", page_link(target, pages, page))
    return without_id


def page_link(address: str, pages: Mapping[str, str], page: str) -> str:
    """Return the path to the file of a page from `page`, or an address of another site as it is."""
    known, separator, anchor = address.partition("#")
    target = pages.get(known)
    if target is None:
        return address
    path = posixpath.relpath(target, posixpath.dirname(page))
    return f"{quote(path)}{separator}{anchor}"


def _raw_blocks(root: Element, md: Markdown) -> dict[str, str]:
    """Return the blocks of raw HTML in `root` by their numbers in the stash.

    The stash itself may have blocks of an earlier rendering: Material's blog renders an excerpt
    once for each view.
    """
    found = {}
    for number in HTML_PLACEHOLDER_RE.findall("".join(root.itertext())):
        block = md.htmlStash.rawHtmlBlocks[int(number)]
        if isinstance(block, str):  # an extension can put elements there
            found[number] = block
    return found


def _find_markers(blocks: Mapping[str, str], rendered: RenderedPage) -> dict[str, re.Match[str]]:
    """Return the markers in blocks of raw HTML, and add what only looks like one to the problems.

    Blocks and markers are by the numbers of the blocks.
    """
    markers = {}
    for number, block in blocks.items():
        marker = MARKER.search(block)
        if marker:
            markers[number] = marker
            continue
        problem = marker_typo_problem(block)
        if problem:
            rendered.problems.append((block, problem))
    return markers


def _find_places(root: Element, blocks: Mapping[str, str]) -> Iterator[tuple[Element, str, int]]:
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
            visible = _INVISIBLE_HTML.sub("", blocks.get(match[1], ""))
            headings = _RAW_HEADING.findall(visible)
            if headings:
                level = int(headings[-1])


def _mark_ends(
    root: Element, blocks: Mapping[str, str], articles: Mapping[Element, DisclosureLine | None]
) -> None:
    """Show the end of each article that the author's text follows: its line, or else a rule.

    Otherwise, the author's text would seem to be a part of the article's last section.
    """
    from ..html.presentation import disclosure_paragraph

    last: Element | None = None  # the last article, until something else is visible behind it
    for part in _visible_parts(root, blocks, articles):
        if last is not None and part not in articles:
            line = articles[last]
            if line:
                end = disclosure_paragraph(line, last)
                end.set("class", f"{end.get('class')} contentgen-end")
                _escape_for_markdown(end, "")
                last.append(end)
            else:
                SubElement(last, "hr", {"class": "contentgen-end"})
        last = part if part in articles else None


def _visible_parts(
    parent: Element, blocks: Mapping[str, str], articles: Container[Element]
) -> Iterator[Element]:
    """Yield what a reader sees below `parent`, in the order of the page.

    These are the `articles` as a whole, images and rules, and for each visible text the element
    that the text is in.
    """
    if _is_visible(parent.text, blocks):
        yield parent
    for child in parent:
        if child in articles:
            yield child
        else:
            if child.tag in ("img", "hr"):
                yield child
            yield from _visible_parts(child, blocks, articles)
        # The tail of a child is text of its parent.
        if _is_visible(child.tail, blocks):
            yield parent


def _is_visible(text: str | None, blocks: Mapping[str, str]) -> bool:
    """Tell whether a browser shows anything of a text and of the raw HTML that it stands for."""
    # What an extension has put there as an element is not among the blocks, and may be anything.
    html = HTML_PLACEHOLDER_RE.sub(lambda match: blocks.get(match[1], "?"), text or "")
    html = _EMPTY_TAG.sub("", _INVISIBLE_HTML.sub("", html))
    return bool(html.strip())


def read_stylesheet(*, adapted: bool) -> str:
    """Return the style sheet of articles, for adapted or other styles."""
    folder = Path(__file__).parents[1] / "html"
    content = (folder / "containment.css").read_text("utf-8")
    if adapted:
        content += "\n" + (folder / "contentgen.css").read_text("utf-8")
    return content


def _insert_styles(root: Element, styles: Element) -> None:
    """Insert the style sheet before the first element that is or contains an article."""
    for index, child in enumerate(root):
        if child.tag == "article" or child.find(".//article") is not None:
            root.insert(index, styles)
            return


def _end_excerpt_after_lead(root: Element, separator: str) -> None:
    """Insert the separator of the excerpt after the lead of the first article."""
    article = root.find("article")
    if article is None:
        return
    lead = _find_lead(article)
    if lead is None:
        return
    end = Element("p")
    end.text = separator
    behind_lead = list(article).index(lead) + 1
    rest = Element("article", article.attrib)
    rest.extend(article[behind_lead:])
    del article[behind_lead:]
    behind_article = list(root).index(article) + 1
    root[behind_article:behind_article] = [end, rest]


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

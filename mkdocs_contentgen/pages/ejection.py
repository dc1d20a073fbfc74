"""Eject articles: write them into their pages as Markdown.

The page is rendered before and after. Blocks that then differ are written in their other form; if
the page still differs, the ejection is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from html import unescape
from itertools import zip_longest
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, tostring

import yaml
from mkdocs.utils.meta import get_data

from ..errors import ApprovalError
from ..files import replace_text
from ..html.article import placeholder, put_first
from ..html.comparison import shown
from ..html.disclosure import Provenance
from ..html.markdown_writer import DELIMITERS, LIST_ITEM, Writer, flow, join
from ..html.plaintext import plain_text
from ..html.presentation import ArticleMetadata, Presentation, present
from ..texts.approval import delete
from ..texts.articles import Article
from .build import PageContent
from .extension import MARKER
from .options import project_directory
from .site import PageRendering, Site

_FRONT_MATTER = re.compile(r"(---[ \t]*\n)(.*?\n)((?:---|\.\.\.)[ \t]*\n)", re.DOTALL)
_REQUEST = re.compile(
    r"""^["']?contentgen["']?[ \t]*:.*\n(?:(?:[ \t]*\n|\#.*\n)*[ \t-].*\n)*""", re.MULTILINE
)
_HEADING = re.compile(r"h[1-6]")
_INDENTATION = re.compile(r"(?:[ \t>]|(?:[-+*:]|\d+[.)])[ \t]++)*")
_BULLET = re.compile(r"(?:[-+*:]|(?<!\d)\d+[.)])[ \t]+")


def eject_articles(site: Site, articles: Sequence[Article]) -> str:
    """Write all articles of one page into its file, and return a message that says so.

    Raises ApprovalError, with nothing written, if a text is missing, if the page cannot be
    rewritten, or if it would be rendered differently.
    """
    page = articles[0].page
    path = site.source_file(page)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            raw = file.read()
    except (OSError, UnicodeError) as error:
        raise ApprovalError(f"{page}: cannot be read ({error})") from error
    newline = "\r\n" if "\r\n" in raw else "\n"
    source = raw.replace("\r\n", "\n").replace("\r", "\n")
    match = _FRONT_MATTER.match(source)
    if not match:
        raise ApprovalError(f"{page}: the request is not in its front matter")
    front = _remove_request(match[2], page)
    elements, before = _render_articles(site, source, articles)
    markers = _find_markers(site, source, articles, before)
    blocks = {name: flow(element) for name, element in elements.items()}
    writer = Writer(DELIMITERS | site.delimiters())
    places = {a.request.id: _place(a, source, markers.get(a.request.id)) for a in articles}
    text = match.end(), (match[1], front, match[3])
    draft = _Draft(source, *text, markers, places, blocks, writer)
    written = _find_equivalent_page(site, page, before, draft)
    docs, project = Path(site.config.docs_dir), project_directory(site.config)
    below = project if docs.is_relative_to(project) else docs
    try:
        replace_text(path, below, written.replace("\n", newline))
    except OSError as error:
        raise ApprovalError(f"{page}: cannot be written ({error.strerror})") from error
    return f"{page}: contains its text now, and no request"


def delete_approved_file(article: Article) -> None:
    """Delete the approved file of an article that was ejected.

    Raises ApprovalError if a text could be lost: if the file was edited after its approval, or if
    its text is for an older request, so that the draft was ejected.
    """
    if article.approved is None or article.state != "approved":
        raise ApprovalError(
            f"{article.path}: was edited, or approved for another request, so it is not deleted; "
            "if its text is not needed, delete it by hand"
        )
    delete(article.path, article.directory, article.approved)


def _current_text(article: Article) -> tuple[str, datetime]:
    if article.approved and article.state in ("approved", "changed"):
        return article.approved.html, article.approved.header.generated_at
    if article.draft:
        return article.draft.html, article.draft.generated_at
    raise ApprovalError(
        f"{article.place}: there is no text to write; "
        f"`contentgen generate {article.page}` makes one"
    )


def _remove_request(front: str, page: str) -> str:
    """Return a front matter without the lines of `contentgen`. All other lines stay the same."""
    metadata = _metadata(front)
    metadata.pop("contentgen", None)
    rest = _REQUEST.sub("", front, count=1)
    if rest != front and _metadata(rest) == metadata:
        return rest
    if "contentgen" not in _metadata(front):
        raise ApprovalError(f"{page}:1: the front matter has no `contentgen`")
    raise ApprovalError(
        f"{page}:1: the front matter does not have one key per line; remove `contentgen` by hand"
    )


def _metadata(front: str) -> dict[str, Any]:
    return get_data(f"---\n{front}---\n")[1]


def _render_articles(
    site: Site, source: str, articles: Sequence[Article]
) -> tuple[dict[str, Element], PageRendering]:
    """Return the elements of the articles by their ids, and the page with the articles.

    In the page, the attribute `ai-disclosure` of an article holds its id.
    """
    how = Presentation("strip", site.options.image_hosts, disclosure=None)
    elements: dict[str, Element] = {}  # as they are outside of the page
    placed: dict[str, Element] = {}
    contents: dict[str, PageContent] = {}
    for article in articles:
        name = article.request.id
        text, generated_at = _current_text(article)
        provenance = Provenance(article.request.type, generated_at)

        def make(name: str, text: str, provenance: Provenance) -> tuple[Element, ArticleMetadata]:
            placed[name], facts = present(text, provenance, how)
            placed[name].set("ai-disclosure", name)
            elements[name] = deepcopy(placed[name])
            return placed[name], facts

        contents[name] = PageContent(partial(make, name, text, provenance), provenance)
    page = site.render(articles[0].page, source, contents)
    for name, element in elements.items():
        # The page decides about the heading levels, and whether the title moves to the top.
        headings = _headings(element)
        if len(headings) > len(_headings(placed[name])):
            title = next(heading for heading in headings if heading.tag == "h1")
            put_first(element, title)
            headings.remove(title)
        for heading, other in zip(headings, _headings(placed[name]), strict=True):
            heading.tag = other.tag
            if anchor := other.get("id"):
                heading.set("id", anchor)
    return elements, page


def _headings(article: Element) -> list[Element]:
    return [element for element in article.iter() if _HEADING.fullmatch(element.tag)]


def _find_markers(
    site: Site, source: str, articles: Sequence[Article], before: PageRendering
) -> dict[str, re.Match[str]]:
    """Return the markers by the ids of their articles, without those in code and the like."""
    page = articles[0].page
    found = {f"at-{match.start()}": match for match in MARKER.finditer(source)}
    probe = MARKER.sub(lambda match: f"<!-- contentgen at-{match.start()} -->", source)
    stub = PageContent(lambda: (placeholder("-"), None), None)
    marked = site.render(page, probe, dict.fromkeys(found, stub)).marked if found else set()
    markers: dict[str, re.Match[str]] = {}
    for article in articles:
        name = article.request.id
        names = (name, None) if article is articles[0] else (name,)
        candidates = [match for at, match in found.items() if at in marked and match[1] in names]
        if not candidates:
            # The plugin adds a marker to an empty page.
            if name in before.marked and get_data(source)[0].strip():
                raise ApprovalError(
                    f"{article.place}: the marker of '{name}' is not in this file; "
                    "put it there, instead of into one that the page includes"
                )
            continue
        markers[name] = marker = candidates[0]
        line_start, line_end = _line_at(source, marker)
        indentation = source[line_start : marker.start()]
        if not _INDENTATION.fullmatch(indentation) or source[marker.end() : line_end].strip():
            raise ApprovalError(
                f"{_place(article, source, marker)}: the marker shares its line with other text, "
                "where Markdown cannot hold an article; move it to a line of its own"
            )
        neighbours = source[: max(line_start - 1, 0)].rpartition("\n")[2], source[line_end + 1 :]
        if indentation and any(LIST_ITEM.match(line.lstrip(" \t>")) for line in neighbours):
            raise ApprovalError(
                f"{_place(article, source, marker)}: the marker is in a list without empty lines "
                "between its items; add them, since items with an article need them"
            )
    return markers


def _line_at(source: str, marker: re.Match[str]) -> tuple[int, int]:
    end = source.find("\n", marker.end())
    return source.rfind("\n", 0, marker.start()) + 1, end if end >= 0 else len(source)


def _place(article: Article, source: str, marker: re.Match[str] | None) -> str:
    """Return the file and line of an article's marker or request, such as `docs/post.md:12`."""
    if marker is None:
        return article.place
    line = source.count("\n", 0, marker.start()) + 1
    return f"{article.place.rpartition(':')[0]}:{line}"


@dataclass
class _Draft:
    """A page with its articles as Markdown. They replace their markers, or follow the text."""

    source: str
    start: int
    """The offset of the text after the front matter."""

    front: tuple[str, str, str]
    """The front matter without the requests, between its delimiters."""

    markers: Mapping[str, re.Match[str]]
    places: Mapping[str, str]
    """File and line of the marker or request of each article, such as `docs/post.md:12`."""

    blocks: Mapping[str, Sequence[Element]]
    writer: Writer
    escaped: set[Element] = field(default_factory=set)
    title: str = ""
    """A title for the front matter, for pages whose heading looks like markup."""

    def page(self) -> str:
        """Return the source of the page, whose front matter is left out if it is empty."""
        start, fields, end = self.front
        text = self._text()
        if self.title:
            title = {"title": self.writer.title(self.title)}
            fields += yaml.safe_dump(title, allow_unicode=True, width=10_000)
        if not fields.strip():
            text = text.lstrip("\n")
            if not text.startswith("---") and get_data(text) == (text, {}):
                return text
        if not _metadata(fields):
            fields += "{}\n"  # MkDocs would take an empty one for text
        return f"{start}{fields}{end}{text}"

    def escape(self, expected: str, before: PageRendering, after: PageRendering) -> str:
        """Have what differs in `after` escaped, and return the place of the first such block."""
        content = f"{shown(after.content)}\n"
        blocks = [(name, block) for name, article in self.blocks.items() for block in article]
        differing = [
            (name, block)
            for name, block in blocks
            if f"{shown(tostring(block, 'unicode', 'html'))}\n" not in content
        ] or blocks
        if content != f"{expected}\n":
            self.escaped.update(block for _, block in differing)
        abbreviations = re.findall(r"<abbr\b[^<>]*>([^<]*)</abbr>", after.content)
        self.writer.words |= set(map(unescape, abbreviations))
        headings = zip(_heading_ids(before), _heading_ids(after), strict=False)
        self.writer.ids |= {name for name, other in headings if name != other}
        self.title = before.title if _is_markup(after.title) else ""
        return self.places[differing[0][0]]

    def _text(self) -> str:
        parts: list[str] = []
        position = self.start
        for name, marker in sorted(self.markers.items(), key=lambda item: item[1].start()):
            line_start, line_end = _line_at(self.source, marker)
            parts.append(self.source[position:line_start])
            indentation = self.source[line_start : marker.start()]
            parts.append(self._article(name, indentation, "".join(parts), self.source[line_end:]))
            position = line_end
        parts.append(self.source[position:])
        for name in self.blocks:
            if name not in self.markers:
                text = "".join(parts).rstrip()
                text = f"{text}\n\n" if text else ""
                parts = [text, self._article(name, "", text, ""), "\n"]
        return "".join(parts)

    def _article(self, name: str, indentation: str, before: str, after: str) -> str:
        if not indentation.strip() and len(indentation.expandtabs(4)) < 4:
            indentation = ""
        continuation_indent = _BULLET.sub("    ", indentation)
        try:
            lines = join(
                self.writer.write(block, plain=block not in self.escaped, nested=bool(indentation))
                for block in self.blocks[name]
            )
        except ValueError as error:
            raise ApprovalError(f"{self.places[name]}: {error}") from error
        last = before.rstrip("\n").rpartition("\n")[2]
        lines = [
            f"{continuation_indent if number else indentation}{line}".rstrip()
            for number, line in enumerate(lines)
        ]
        blank = continuation_indent.rstrip()
        if last.strip(" >") and not before.endswith("\n\n") and continuation_indent == indentation:
            lines = [blank, *lines]
        if after.strip() and after[1:].partition("\n")[0].strip(" >"):
            lines.append(blank)
        return "\n".join(lines)


def _find_equivalent_page(site: Site, name: str, before: PageRendering, draft: _Draft) -> str:
    """Return the source of the page, with the blocks escaped that would differ as plain Markdown.

    Raises ApprovalError if the page still differs.
    """
    expected = shown(before.content, draft.blocks)
    for _ in range(2):
        page = draft.page()
        try:
            after = site.render(name, page)
        except Exception as error:  # noqa: BLE001  an extension may fail on any text
            after = PageRendering("", before.title, [], set())
            problem = f"the page, over which {error!r} is raised,"
        else:
            problem = _problem(expected, before, after)
        if not problem:
            return page
        place = draft.escape(expected, before, after)
    ids = draft.writer.ids
    if any(f"{{ #{name} }}" in after.content for name in ids):  # attr_list would have read it
        raise ApprovalError(
            f"{place}: the heading '#{min(ids)}' would get another id, and links to it would "
            "break; add attr_list to markdown_extensions, which keeps the ids, or give that "
            "heading another text"
        )
    raise ApprovalError(
        f"{place}: {problem} would not be the same in Markdown; give the article a marker between "
        "empty lines, outside of lists, quotes and tabs, or write it there by hand"
    )


def _problem(expected: str, before: PageRendering, after: PageRendering) -> str:
    """Return what differs in a page that was rendered anew, or an empty string."""
    for old, new in zip_longest(expected.split("\n"), shown(after.content).split("\n")):
        if old != new:
            text = re.sub("[\x03-\x08]", " ", (old or new).partition("\x02")[0])
            return f"'{text[:40]}'"
    if _heading_ids(before) != _heading_ids(after):
        return "the ids of headings"
    if before.toc != after.toc:
        return "the table of contents"
    is_same = plain_text(before.title) == plain_text(after.title)
    if not is_same or (_is_markup(after.title) and after.title != before.title):
        return "the page's title"
    return ""


def _heading_ids(page: PageRendering) -> list[str]:
    return re.findall(r'<h[1-6]\b[^<>]*?\bid="([^"]*)"', page.content)


def _is_markup(title: str) -> bool:
    """Tell whether themes or plugins may mistake a title for HTML or a template."""
    return bool(re.search(r'[<>]|"[^"=\n]*=|\{[{%#]', title))

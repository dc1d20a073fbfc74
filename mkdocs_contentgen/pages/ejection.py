"""Eject articles: write them into their pages as Markdown.

The page is rendered before and after, and the ejection is refused if the two differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import yaml
from mkdocs.utils.meta import get_data

from ..errors import ApprovalError
from ..files import replace_text
from ..html.article import placeholder, put_first
from ..html.comparison import Differences, Place, compare
from ..html.disclosure import Provenance
from ..html.markdown_writer import DELIMITERS, HIGHEST_LEVEL, LIST_ITEM, Writer, flow, join
from ..html.plaintext import plain_text
from ..html.presentation import Facts, Presentation, present
from ..texts.approval import delete
from ..texts.articles import Article
from .build import PageContent
from .extension import MARKER
from .options import project_directory
from .site import PageRendering, Site

_FRONT_MATTER = re.compile(r"(---[ \t]*\n)(.*?\n)((?:---|\.\.\.)[ \t]*\n)", re.DOTALL)
_HEADING = re.compile(r"h[1-6]")
_INDENTATION = re.compile(r"(?:[ \t>]|(?:[-+*:]|\d+[.)])[ \t]++)*")
_BULLET = re.compile(r"(?:[-+*:]|(?<!\d)\d+[.)])[ \t]+")
_LINE_IN_LIST = re.compile(rf"[ \t>]*{LIST_ITEM.pattern}|[ >]*(?:    |\t)")
_MAX_ROUNDS = 12


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
    draft = _PageBody(
        source, match.end(), markers, blocks, Writer({*DELIMITERS} | site.delimiters())
    )
    written = _find_equivalent_page(site, articles, before, (match[1], front, match[3]), draft)
    docs, project = Path(site.config.docs_dir), project_directory(site.config)
    below = project if docs.is_relative_to(project) else docs
    try:
        replace_text(path, below, written.replace("\n", newline))
    except OSError as error:
        raise ApprovalError(f"{page}: cannot be written ({error.strerror})") from error
    return _success_message(page)


def _success_message(page: str) -> str:
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
    node = yaml.compose(front, yaml.SafeLoader)
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        lines = front.splitlines(keepends=True)
        starts = [key.start_mark.line for key, _ in node.value] + [len(lines)]
        for number, (key, value) in enumerate(node.value):
            if key.value == "contentgen":
                first, last = starts[number], starts[number + 1]
                end = value.end_mark.line + (1 if value.end_mark.column else 0)
                rest = "".join(lines[:first] + lines[min(max(end, first + 1), last) :])
                if _metadata(rest) == {
                    k: v for k, v in _metadata(front).items() if k != "contentgen"
                }:
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
    elements: dict[str, Element] = {}
    placed: dict[str, Element] = {}
    shown: dict[str, PageContent] = {}
    for article in articles:
        name = article.request.id
        text, generated_at = _current_text(article)
        provenance = Provenance(article.request.type, generated_at)
        elements[name], _ = present(text, provenance, how)

        def make(name: str, text: str, provenance: Provenance) -> tuple[Element, Facts]:
            placed[name], facts = present(text, provenance, how)
            placed[name].set("ai-disclosure", name)
            return placed[name], facts

        shown[name] = PageContent(partial(make, name, text, provenance), provenance)
    page = site.render(articles[0].page, source, shown)
    for name, element in elements.items():
        # The page decides about the heading levels, and whether the title moves to the top.
        headings = _headings(element)
        if len(headings) > len(_headings(placed[name])):
            title = next(heading for heading in headings if heading.tag == "h1")
            put_first(element, title)
            headings.remove(title)
        for heading, other in zip(headings, _headings(placed[name]), strict=True):
            heading.tag = other.tag
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
class _PageBody:
    """The Markdown of a page. Articles replace their markers, or follow the text."""

    source: str
    start: int
    """The offset of the text after the front matter."""

    markers: Mapping[str, re.Match[str]]
    blocks: Mapping[str, Sequence[Element]]
    writer: Writer
    levels: dict[Place, int] = field(default_factory=dict)

    def text(self) -> str:
        """Return the Markdown, with each block escaped as its level says."""
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
        lines = join(
            self.writer.write(block, self.levels.get((name, number), 0), nested=bool(indentation))
            for number, block in enumerate(self.blocks[name])
        )
        last = before.rstrip("\n").rpartition("\n")[2]
        first = after.lstrip("\n").partition("\n")[0]
        if (
            LIST_ITEM.match(lines[0])
            and _LINE_IN_LIST.match(last)
            and continuation_indent == indentation
        ):
            lines = ["<!-- -->", "", *lines]
        if self.blocks[name][-1].tag in ("ul", "ol") and _LINE_IN_LIST.match(first):
            lines += ["", "<!-- -->"]
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


def _find_equivalent_page(
    site: Site,
    articles: Sequence[Article],
    before: PageRendering,
    front: tuple[str, str, str],
    draft: _PageBody,
) -> str:
    """Return the source of the page with as little escaping as keeps its HTML the same.

    Raises ApprovalError if no level of escaping does.
    """
    differences = Differences()
    title = ""
    for _ in range(_MAX_ROUNDS):
        try:
            page = _join_page(front, draft.writer.title(title), draft.text())
        except ValueError as error:
            raise ApprovalError(f"{articles[0].place}: {error}") from error
        differences, new_title = _render_and_compare(site, articles[0].page, page, before, draft)
        if not differences.problem:
            if not title and new_title != before.title and _is_markup(new_title):
                title = before.title
                continue
            if plain_text(before.title) == plain_text(new_title):
                return page
            differences.problem = "the page's title"
            break
        if new := differences.abbreviations - draft.writer.words:
            draft.writer.words |= new
            continue
        levels = {block: draft.levels.get(block, 0) + 1 for block in differences.blocks}
        if not levels or max(levels.values()) > HIGHEST_LEVEL:
            break
        draft.levels |= levels
    name = min(differences.blocks, default=(articles[0].request.id, 0))[0]
    article = next(a for a in articles if a.request.id == name)
    raise ApprovalError(
        f"{_place(article, draft.source, draft.markers.get(name))}: {differences.problem} would "
        "not be the same in Markdown; give the article a marker between empty lines, outside of "
        "lists, quotes and tabs, or write it there by hand"
    )


def _render_and_compare(
    site: Site, name: str, source: str, before: PageRendering, draft: _PageBody
) -> tuple[Differences, str]:
    """Return how the page `name` differs when rendered from `source`, and its new title."""
    try:
        after = site.render(name, source)
    except Exception as error:  # noqa: BLE001  an extension may fail on any text
        places = {(name, number) for name, b in draft.blocks.items() for number in range(len(b))}
        return Differences(places, set(), problem=f"the page, over which {error!r} is raised,"), ""
    differences = compare(before.content, after.content)
    if not differences.problem and before.toc != after.toc:
        differences.problem = "the table of contents"
    return differences, after.title


def _is_markup(title: str) -> bool:
    """Tell whether themes or plugins may mistake a title for HTML or a template."""
    return bool(re.search(r'[<>]|"[^"=\n]*=|\{[{%#]', title))


def _join_page(front: tuple[str, str, str], title: str, text: str) -> str:
    """Return the source of a page. An empty front matter is left out if the text allows that.

    `title` is added to the front matter, for pages whose heading looks like markup.
    """
    start, fields, end = front
    if title:
        fields += yaml.safe_dump({"title": title}, allow_unicode=True, width=10_000)
    if not fields.strip():
        text = text.lstrip("\n")
        if not text.startswith("---") and get_data(text) == (text, {}):
            return text
    if not _metadata(fields):
        fields += "{}\n"  # MkDocs would take an empty one for text
    return f"{start}{fields}{end}{text}"

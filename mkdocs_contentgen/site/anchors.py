"""Find the headings that texts cite in the HTML of their pages.

A text cites a section by the id that Python-Markdown gives its heading by default. That is all that
is known when the text is written, perhaps by a server that has not got the site's configuration.
The site can make its ids in another way, so they are read from the pages as they are rendered, and
the texts, which were paid for once, stay as they are. The headings of the Markdown and those of the
HTML are two sequences, of which most elements are the same: they are compared as such.
"""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

from mkdocs.structure.files import File

from ..sequences import gaps, match_in_order
from ..writer.sources.sources import find_headings
from .article_spans import article_spans

_HEADING_TAG = re.compile(r"<(?P<end>/?)h(?P<level>[1-6])(?:\s[^<>]*)?>")
_ID = re.compile(r'\sid="([^"<>]*)"')
_PERMALINK = re.compile(r'<a\b[^<>]*\bclass="headerlink"[^<>]*>[^<>]*</a>')
_TAG = re.compile(r"<[^<>]*>")
_LINK = re.compile(r'(?P<before><a\b[^<>]*?\shref=")(?P<address>[^"<>#]*)#(?P<anchor>[^"<>]*)"')


@dataclass(frozen=True)
class CitedHeading:
    """A link of a text to a heading."""

    page: str
    """The page of the heading (`src_uri`)."""

    anchor: str
    """What names the heading in the text."""


FindId = Callable[[CitedHeading], str | None]
"""Returns the id of a cited heading in the HTML of its page, or None if there is none."""


def missing_message(citation: CitedHeading, page: str) -> str:
    """Return the warning about a citation in `page` that leads nowhere."""
    return (
        f"the text cites {citation.page}#{citation.anchor}, but that page has no such heading any "
        f"more; run `contentgen update {shlex.quote(page)}`, or change the link"
    )


@dataclass(frozen=True)
class PageIds:
    """The ids in the HTML of a page."""

    headings: Mapping[str, str]
    """The ids of the headings in its Markdown, by the anchors that texts cite."""

    all: Collection[str]
    """The ids of all elements."""

    def find(self, anchor: str) -> str | None:
        """Return the id of a cited heading, or None if there is none."""
        found = self.headings.get(anchor)
        if found:
            return found
        # A person can have put an id there.
        return anchor if anchor in self.all else None


def read_ids(markdown: str, content: str) -> PageIds:
    """Return the ids of a page: its Markdown and the HTML that was made of it."""
    source = []
    for heading in find_headings(markdown):
        source.append(_Heading(heading.level, _comparable(heading.text), heading.anchor))
    rendered = list(_rendered_headings(content))
    ids = {}
    for ours, theirs in _same_headings(source, rendered):
        if theirs.id:
            ids[ours.id] = theirs.id
    return PageIds(ids, {html.unescape(name) for name in _ID.findall(content)})


class SiteIds:
    """Finds the ids of cited headings. Each page is read once, and again if it has changed.

    `find_file` returns the file of a page by its `src_uri`. `render` returns the HTML of a file, or
    None if this build does not make it. `known` has the Markdown and the ids of pages that were
    read before, and gets those that are read now.
    """

    def __init__(
        self,
        find_file: Callable[[str], File | None],
        render: Callable[[File], str | None],
        known: dict[str, tuple[str, PageIds]] | None = None,
    ) -> None:
        self._find_file = find_file
        self._render = render
        self._known = {} if known is None else known

    def find(self, citation: CitedHeading) -> str | None:
        """Return the id of a cited heading, or None if its page has no such heading.

        Of a page that this build does not make, nothing is known, and the id is the cited one.
        """
        file = self._find_file(citation.page)
        ids = self._ids_of(file) if file else None
        return ids.find(citation.anchor) if ids else citation.anchor

    def find_all(self, citations: Iterable[CitedHeading]) -> dict[CitedHeading, str | None]:
        """Return the id of each cited heading."""
        return {citation: self.find(citation) for citation in citations}

    def _ids_of(self, file: File) -> PageIds | None:
        try:
            markdown = file.content_string
        except (OSError, UnicodeError):  # it was deleted while a server runs
            return None
        known = self._known.get(file.src_uri)
        if known and known[0] == markdown:
            return known[1]
        content = self._render(file)
        if content is None:
            return None
        ids = read_ids(markdown, content)
        self._known[file.src_uri] = markdown, ids
        return ids


def replace_anchors(content: str, url: str, ids: Mapping[tuple[str, str], str]) -> str:
    """Return the HTML of the page at `url`, in whose articles links lead to other ids.

    `ids` has the new id by the address of a page in the site and the anchor there.
    """

    def replace(link: re.Match[str]) -> str:
        address = urljoin(f"/{url}", html.unescape(link["address"]))
        new = ids.get((address, html.unescape(link["anchor"])))
        if new is None:
            return link[0]
        return f'{link["before"]}{link["address"]}#{html.escape(new)}"'

    parts = []
    end = 0
    for start, stop in article_spans(content):
        parts.append(content[end:start])
        parts.append(_LINK.sub(replace, content[start:stop]))
        end = stop
    parts.append(content[end:])
    return "".join(parts)


@dataclass(frozen=True)
class _Heading:
    level: int
    text: str
    id: str
    """Its id in the HTML, or the anchor that names it in the Markdown."""


def _same_headings(
    source: Sequence[_Heading], rendered: Sequence[_Heading]
) -> Iterator[tuple[_Heading, _Heading]]:
    """Yield which heading of the Markdown is which one of the HTML."""
    texts = [heading.text for heading in source]
    rendered_texts = [heading.text for heading in rendered]
    matched = match_in_order(texts, rendered_texts)
    for number, other in matched.items():
        yield source[number], rendered[other]
    for ours, theirs in gaps(matched, (len(source), len(rendered))):
        yield from _pairs(source[ours.start : ours.stop], rendered[theirs.start : theirs.stop])


def _pairs(
    source: Sequence[_Heading], rendered: Sequence[_Heading]
) -> Iterator[tuple[_Heading, _Heading]]:
    """Yield which headings are the same in two runs, which stand between equal ones.

    Their texts may differ, for example where one has an emoji.
    """
    if len(source) == len(rendered):
        yield from zip(source, rendered, strict=True)
        return
    # An extension or plugin adds headings, or takes some away.
    our_levels = _by_level(source)
    their_levels = _by_level(rendered)
    for level, ours in our_levels.items():
        theirs = their_levels.get(level, [])
        if len(ours) == len(theirs):
            yield from zip(ours, theirs, strict=True)


def _by_level(headings: Sequence[_Heading]) -> dict[int, list[_Heading]]:
    """Return the headings of each level."""
    levels: dict[int, list[_Heading]] = {}
    for heading in headings:
        levels.setdefault(heading.level, []).append(heading)
    return levels


def _rendered_headings(content: str) -> Iterator[_Heading]:
    opened: re.Match[str] | None = None
    for tag in _HEADING_TAG.finditer(content):
        if not tag["end"]:
            opened = tag
            continue
        if opened is None:
            continue
        inner = content[opened.end() : tag.start()]
        text = html.unescape(_TAG.sub("", _PERMALINK.sub("", inner)))
        found = _ID.search(opened[0])
        name = html.unescape(found[1]) if found else ""
        yield _Heading(int(opened["level"]), _comparable(text), name)
        opened = None


def _comparable(text: str) -> str:
    """Return the letters and digits of a heading: extensions replace quotes and dashes."""
    return "".join(filter(str.isalnum, text)).casefold()

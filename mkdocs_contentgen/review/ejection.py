"""Eject articles: write them into their pages as Markdown.

The page is rendered before and after. Blocks that then differ are written in their other form; if
the page still differs, the ejection is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from html import unescape
from itertools import zip_longest
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

import yaml
from mkdocs.utils.meta import YAML_RE, get_data

from ..errors import ApprovalError
from ..files import replace_text
from ..html.article import placeholder, put_first
from ..html.comparison import shown
from ..html.disclosure import Provenance
from ..html.markdown_writer import DELIMITERS, PRESENTATIONAL, SYNONYMS, Writer, flow, join
from ..html.plaintext import plain_text
from ..html.presentation import ArticleMetadata, Presentation, present
from ..site.build import PageContent
from ..site.directories import project_directory
from ..site.extension import MARKER
from ..site.site import PageRendering, Site
from ..texts.approval import delete
from ..texts.articles import Article

_REQUEST = re.compile(
    r"""^["']?contentgen["']?[ \t]*:.*\n(?:(?:[ \t]*\n|\#.*\n)*(?!---)[ \t-].*\n)*""", re.MULTILINE
)
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
        raw = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise ApprovalError(f"{page}: cannot be read ({error})") from error
    newline = "\r\n" if "\r\n" in raw else "\n"
    source = raw.replace("\r\n", "\n").replace("\r", "\n")
    match = YAML_RE.match(source)
    head = _without_request(match[0]) if match else ""
    if not match or not head:
        raise ApprovalError(
            f"{page}:1: the front matter does not have one key per line; remove `contentgen` by "
            "hand"
        )
    elements, before = _render_articles(site, source, articles)
    lines = _find_places(site, match[0], source[match.end() :], articles, elements, before)
    draft = _Draft(head, lines, Writer(DELIMITERS | site.delimiters()))
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


def _without_request(head: str) -> str:
    """Return a front matter without the lines of `contentgen`, or "" if more would change."""
    metadata = get_data(head)[1]
    metadata.pop("contentgen", None)
    rest = _REQUEST.sub("", head, count=1)
    return rest if get_data(rest)[1] == metadata else ""


def _render_articles(
    site: Site, source: str, articles: Sequence[Article]
) -> tuple[dict[str, Element], PageRendering]:
    """Return the elements of the articles by their ids, and the page with the articles."""
    how = Presentation("strip", site.options.image_hosts, disclosure=None)
    contents: dict[str, PageContent] = {}
    copies: dict[str, list[tuple[Element, Element]]] = {}
    for article in articles:
        text, generated_at = _current_text(article)
        provenance = Provenance(article.request.type, generated_at)

        def make(name: str, text: str, provenance: Provenance) -> tuple[Element, ArticleMetadata]:
            element, facts = present(text, provenance, how)
            for part in element.iter():
                part.tag = SYNONYMS.get(part.tag, part.tag)
                part.attrib = {k: v for k, v in part.items() if not PRESENTATIONAL.fullmatch(k)}
            copies[name] = list(zip(deepcopy(element).iter(), element.iter(), strict=True))
            return element, facts

        factory = partial(make, article.request.id, text, provenance)
        contents[article.request.id] = PageContent(factory, provenance)
    page = site.render(articles[0].page, source, contents)
    for parts in copies.values():
        # The page decides about the heading levels, and whether the title moves to the top.
        for part, placed in parts:
            part.tag = placed.tag
            if anchor := placed.get("id"):
                part.set("id", anchor)
            if "contentgen-title" in placed.get("class", ""):
                put_first(parts[0][0], part)
    return {name: parts[0][0] for name, parts in copies.items()}, page


@dataclass
class _Place:
    """Where an article is written."""

    name: str
    """File and line of its marker or request, such as `docs/post.md:12`."""

    indentation: str
    """What precedes its marker, such as `- `."""

    blocks: Sequence[Element]


def _find_places(
    site: Site,
    head: str,
    body: str,
    articles: Sequence[Article],
    elements: dict[str, Element],
    before: PageRendering,
) -> list[str | _Place]:
    """Return the lines of a page after its front matter, with places instead of markers.

    Markers in code and the like stay. An article without a marker follows the text.
    """
    markers = {f"at-{match.start()}": match for match in MARKER.finditer(body)}
    text = MARKER.sub(lambda match: f"<!-- contentgen at-{match.start()} -->", body)
    stub = PageContent(lambda: (placeholder("-"), None), None)
    probe = site.render(articles[0].page, f"{head}{text}", dict.fromkeys(markers, stub))
    places: dict[str | None, tuple[str, Article]] = {}
    for article in articles:
        name, place = article.request.id, article.place
        names = (name, None) if article is articles[0] else (name,)
        at = next((at for at in markers if at in probe.marked and markers[at][1] in names), None)
        if at:
            lines_before = f"{head}{body[: markers[at].start()]}".count("\n")
            place = f"{place.rpartition(':')[0]}:{lines_before + 1}"
        elif name in before.marked and body.strip():  # the plugin adds a marker to an empty page
            raise ApprovalError(
                f"{place}: the marker of '{name}' is not in this file; "
                "put it there, instead of into one that the page includes"
            )
        else:
            at = f"end-{name}"
            text = "\n\n".join(filter(None, [text.rstrip(), f"<!-- contentgen {at} -->\n"]))
        places[at] = place, article
    lines: list[str | _Place] = []
    texts = text.split("\n")
    for previous, line, following in zip(["", *texts], texts, [*texts[1:], ""], strict=False):
        marker = next((m for m in MARKER.finditer(line) if m[1] in places), None)
        if marker is None:
            lines.append(MARKER.sub(lambda match: markers[match[1]][0], line))
            continue
        place, article = places[marker[1]]
        indentation = re.sub("^ {1,3}$", "", line[: marker.start()])
        if not _INDENTATION.fullmatch(indentation) or line[marker.end() :].strip():
            raise ApprovalError(
                f"{place}: the marker shares its line with other text, "
                "where Markdown cannot hold an article; move it to a line of its own"
            )
        if indentation and any(_BULLET.match(s.lstrip(" \t>")) for s in (previous, following)):
            raise ApprovalError(
                f"{place}: the marker is in a list without empty lines "
                "between its items; add them, since items with an article need them"
            )
        continuation = _BULLET.sub("    ", indentation)
        if previous.strip(" >") and continuation == indentation:
            lines.append(continuation.rstrip())
        lines.append(_Place(place, indentation, flow(elements[article.request.id])))
        if following.strip(" >"):
            lines.append(continuation.rstrip())
    return lines


@dataclass
class _Draft:
    """A page with its articles as Markdown."""

    head: str
    """The front matter without the requests, between its delimiters."""

    lines: Sequence[str | _Place]
    writer: Writer

    title: str = ""
    """A title for the front matter, for pages whose heading would give them another one."""

    def page(self) -> str:
        """Return the source of the page, whose front matter is left out if it is empty."""
        text = self._text()
        start, _, fields = self.head.partition("\n")
        if self.title:
            title = {"title": self.writer.escape(self.title)}
            fields = yaml.safe_dump(title, allow_unicode=True, width=10_000) + fields
        elif not fields.strip("-. \t\n"):
            text = text.lstrip("\n")
            if not text.startswith("---") and get_data(text) == (text, {}):
                return text
        if not get_data(f"{start}\n{fields}")[1]:
            fields = "{}\n" + fields  # MkDocs would take an empty one for text
        return f"{start}\n{fields}{text}"

    def _text(self) -> str:
        written: list[str] = []
        for line in self.lines:
            if isinstance(line, str):
                written.append(line)
                continue
            indentation = line.indentation
            write = partial(self.writer.write, place=line.name, nested=bool(indentation))
            for text in join(map(write, line.blocks)):
                written.append(f"{indentation}{text}".rstrip())
                indentation = _BULLET.sub("    ", indentation)
        return "\n".join(written)

    def escape(self, expected: str, before: PageRendering, after: PageRendering) -> str:
        """Have what differs in `after` escaped, and return the place of the first such block."""
        content = shown(after.content)
        blocks = {b: p.name for p in self.lines if isinstance(p, _Place) for b in p.blocks}
        differing = [b for b in blocks if shown(tostring(b, "unicode", "html")) not in content]
        if content != expected:
            self.writer.escaped |= set(differing or blocks)
        abbreviations = re.findall(r"<abbr\b[^<>]*>([^<]*)</abbr>", after.content)
        self.writer.words |= set(map(unescape, abbreviations))
        self.writer.ids |= set(_changed_ids(before, after))
        if _changes_title(before, after):
            self.title = before.title
        return blocks[next(iter(differing or blocks))]


def _find_equivalent_page(site: Site, name: str, before: PageRendering, draft: _Draft) -> str:
    """Return the source of the page, with the blocks escaped that would differ as plain Markdown.

    Raises ApprovalError if the page still differs.
    """
    expected = shown(before.content)
    for _ in range(2):
        page = draft.page()
        try:
            after = site.render(name, page)
        except Exception as error:  # noqa: BLE001  an extension may fail on any text
            after = PageRendering("", before.title, [], set())
            problem = f"the page, over which {error!r} is raised,"
        else:
            problem = _difference(expected, before, after)
        if not problem:
            return page
        place = draft.escape(expected, before, after)
    if ids := _changed_ids(before, after):
        raise ApprovalError(
            f"{place}: the heading '#{ids[0]}' would get another id, and links to it would break; "
            "add attr_list to markdown_extensions, which keeps the ids, or give that heading "
            "another text"
        )
    raise ApprovalError(
        f"{place}: {problem} would not be the same in Markdown; give the article a marker between "
        "empty lines, outside of lists, quotes and tabs, or write it there by hand"
    )


def _difference(expected: str, before: PageRendering, after: PageRendering) -> str:
    """Return what differs in a page that was rendered anew, or an empty string."""
    for old, new in zip_longest(expected.split("\n"), shown(after.content).split("\n")):
        if old != new:
            line = re.sub("[\x03-\x06]", " ", old or new)
            return f"'{unescape(re.sub('<[^<>]*>', '', line) or line)[:40]}'"
    if before.toc != after.toc or _changed_ids(before, after):
        return "the table of contents"
    return "the page's title" if _changes_title(before, after) else ""


def _changed_ids(before: PageRendering, after: PageRendering) -> list[str]:
    old, new = (
        re.findall(r'<h[1-6]\b[^<>]*?\bid="([^"]*)"', page.content) for page in (before, after)
    )
    return [name for name, other in zip(old, new, strict=False) if name != other]


def _changes_title(before: PageRendering, after: PageRendering) -> bool:
    """Tell whether a page has another title, or one that themes or plugins may take for markup."""
    is_markup = re.search(r'[<>]|"[^"=\n]*=|\{[{%#]', after.title)
    is_same = plain_text(before.title) == plain_text(after.title)
    return not is_same or (bool(is_markup) and before.title != after.title)

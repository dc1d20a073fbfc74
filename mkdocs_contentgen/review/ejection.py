"""Eject articles: write them into their pages as Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

from mkdocs.structure.files import File
from mkdocs.utils.meta import YAML_RE, get_data

from ..errors import ApprovalError, UnsafeHTMLError
from ..files import replace_text
from ..html.article import (
    close_heading_gaps,
    limit_nesting,
    parse_article,
    put_first,
    set_title_level,
)
from ..html.markdown_writer import to_markdown
from ..html.plaintext import plain_text
from ..requests import Request
from ..site.anchors import SiteIds
from ..site.extension import FENCED, MARKER, leading_article, level_of, link_to_pages
from ..site.site import Site
from ..texts.articles import Article

_REQUEST = re.compile(
    r"""^["']?contentgen["']?[ \t]*:.*\n(?:(?:[ \t]*\n|\#.*\n)*(?!---)[ \t-].*\n)*""", re.MULTILINE
)
_HEADING = re.compile(
    r"^(?:> ?)*(#{1,6})|^\S.*\n(=|-)\2*[ \t]*$|<h([1-6])[\s>]", re.MULTILINE | re.IGNORECASE
)
_MARKUP = re.compile(r"[<>]|\{[{%#]")
_METADATA = re.compile(r"\A([\w -]+):")
_NOT_IN_MARKDOWN = {
    "style": "inline styles",
    "colspan": "merged cells",
    "rowspan": "merged cells",
    "lang": "languages",
}
"""What is lost with an attribute."""


def eject_articles(site: Site, articles: Sequence[Article]) -> str:
    """Write all articles of one page into its file, and return a message that says so.

    Raises ApprovalError, with nothing written, if a text is missing, or if the page cannot be
    rewritten.
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
    elements = {it.request.id: _read_article(it, site.options.image_hosts) for it in articles}
    addresses = site.addresses()
    ids = SiteIds(site.files.get, partial(_render_page, site))
    for article in articles:
        text = article.outcome.text or article.draft
        cited = text.sources if text else ()
        link_to_pages(elements[article.request.id], addresses, page, cited, ids.find)
    names = {name for it in elements.values() for part in it.iter() for name in part.attrib}
    requests = {it.request.id: it.request for it in articles}
    body = _insert(elements, requests, source[match.end() :], site.config.markdown_extensions)
    docs = Path(site.config.docs_dir)
    below = site.directory if docs.is_relative_to(site.directory) else docs
    try:
        replace_text(path, below, _join(head, body).replace("\n", newline))
    except OSError as error:
        raise ApprovalError(f"{page}: cannot be written ({error.strerror})") from error
    lost = {kind: None for name, kind in _NOT_IN_MARKDOWN.items() if name in names}
    missing = f", but without its {', '.join(lost)}" if lost else ""
    left = [f"`{it[0]}`" for it in MARKER.finditer(FENCED.sub("", body))]
    moved = f"; at its end: the text of {', '.join(left)}" if left else ""
    return f"{page}: contains its text now, and no request{missing}{moved}; read `git diff`"


def _render_page(site: Site, file: File) -> str | None:
    """Return the HTML of a page without articles."""
    return site.render(file.src_uri, {}) if site.render else None


def _read_article(article: Article, image_hosts: Sequence[str]) -> Element:
    """Return the sanitized text of an article."""
    text = article.outcome.text or article.draft
    if text is None:
        raise ApprovalError(
            f"{article.place}: there is no text to write; "
            f"`contentgen generate {article.page}` makes one"
        )
    try:
        element = parse_article(text.html, image_hosts)
    except UnsafeHTMLError as error:
        raise ApprovalError(f"{article.place}: the text cannot be shown: {error}") from error
    limit_nesting(element)
    close_heading_gaps(element)
    return element


def _without_request(head: str) -> str:
    """Return a front matter without the lines of `contentgen`, or "" if more would change."""
    metadata = get_data(head)[1]
    metadata.pop("contentgen", None)
    rest = _REQUEST.sub("", head, count=1)
    return rest if get_data(rest)[1] == metadata else ""


def _join(head: str, body: str) -> str:
    """Return the source of a page, whose front matter is left out if it is empty."""
    start, _, fields = head.partition("\n")
    if not fields.strip("-. \t\n"):
        body = body.lstrip("\n")
        if not body.startswith("---") and get_data(body) == (body, {}):
            return body
    if not get_data(head)[1]:
        fields = "{}\n" + fields  # MkDocs would take an empty one for text
    return f"{start}\n{fields}{body}"


def _insert(
    elements: Mapping[str, Element],
    requests: Mapping[str, Request],
    body: str,
    extensions: Sequence[str],
) -> str:
    """Return the text of a page with its articles at their markers, or else behind it."""
    leading = leading_article(body, requests)
    outside = FENCED.sub(lambda match: " " * len(match[0]), body)
    places = _find_places(outside, list(elements))
    text = body
    # From the end, so that the other places stay where they are.
    for name, (start, end, marker) in sorted(places.items(), key=lambda it: it[1][0], reverse=True):
        before = outside[:start]
        is_page = name == leading and not MARKER.search(before)
        level = level_of(marker, requests[name].level, max(_level_at(before), 1) + 1)
        parts = [text[:start].rstrip("\n"), _write(elements[name], is_page or level, extensions)]
        text = "\n\n".join([*filter(None, parts), text[end:].lstrip("\n")])
    for name in elements:
        if name not in places:
            level = level_of(None, requests[name].level, 2)
            markdown = _write(elements[name], name == leading or level, extensions)
            text = "\n\n".join(filter(None, (text.rstrip(), f"{markdown}\n")))
    # In the first lines, readers of metadata take words before a colon for a key.
    return _METADATA.sub(r"\1&#58;", text) if leading else text


def _write(element: Element, level: int, extensions: Sequence[str]) -> str:
    """Return an article as Markdown; with `True` for its level, it is the page."""
    if level is True:
        _make_title(element)
    else:
        set_title_level(element, level)
    return to_markdown(tostring(element, "unicode", "html"), extensions)


def _make_title(element: Element) -> None:
    """Move the title of a page to its start. Themes take it for metadata, so it has no markup."""
    title = element.find(".//h1")
    if title is None:
        return
    text = "".join(title.itertext())
    if _MARKUP.search(text):
        title[:], title.text = [], plain_text(text)
    put_first(element, title)


_Place = tuple[int, int, re.Match[str]]
"""Start and end of the line of a marker, and the marker."""


def _find_places(text: str, names: Sequence[str]) -> dict[str, _Place]:
    """Return the place of each marker that stands alone at the left margin."""
    places: dict[str, _Place] = {}
    for match in MARKER.finditer(text):
        start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        end = len(text) if end < 0 else end
        around = text[start : match.start()], text[match.end() : end]
        name = match[1] or names[0]
        if name in names and re.fullmatch(" {0,3}", around[0]) and not around[1].strip():
            places.setdefault(name, (start, end, match))
    return places


def _level_at(text: str) -> int:
    """Return the level of the last heading in Markdown, or 0."""
    found = _HEADING.findall(text)
    signs, underline, number = found[-1] if found else ("", "", "0")
    return len(signs) or int(number or (1 if underline == "=" else 2))

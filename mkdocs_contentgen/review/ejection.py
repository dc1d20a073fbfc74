"""Eject articles: write them into their pages as Markdown.

Nobody can foresee what the extensions of a site make of Markdown in a page. So a page is read with
them as soon as a text is in it. It has to be what it was with a word in place of the text, except
the text, and the text has to be what it was. Otherwise its blocks become HTML, or nothing is
written.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

import yaml
from markdown.extensions.toc import slugify
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File
from mkdocs.utils.meta import YAML_RE, get_data

from ..display import first_names, quoted
from ..errors import ApprovalError, UnsafeHTMLError
from ..files import replace_text
from ..html.article import (
    close_heading_gaps,
    limit_nesting,
    link_to_headings,
    put_first,
    set_title_level,
    take_out,
)
from ..html.document import Document
from ..html.elements import HEADINGS
from ..html.markdown_writer import WrittenBlock, has_code_without_fence, write_blocks
from ..html.plaintext import plain_text
from ..html.sanitizer import parse_article
from ..html.simplify import KEPT
from ..requests import Request
from ..site.anchors import CitedHeading, SiteIds
from ..site.links import page_link
from ..site.markers import FENCED, MARKER
from ..site.options import ContentgenConfig
from ..site.page_groups import OF_THEMES, find_groups
from ..site.site import Site
from ..site.titles import leading_article, leaves_out_title, level_of
from ..texts.articles import Article, has_marks
from .approving import check_lines, check_quotations, unusable_draft_error
from .reading_back import MarkdownReader

_REQUEST = re.compile(
    r"""
    ^["']?contentgen["']?[ \t]*:.*\n      # the key
    (?:
        (?:[ \t]*\n | \#.*\n)*           # blank lines and comments
        (?!---)[ \t-].*\n                 # an indented line, or an item of a list
    )*
    """,
    re.MULTILINE | re.VERBOSE,
)
"""Matches the key `contentgen` in a front matter, with the indented lines of its value."""

_HEADING = re.compile(
    r"""
    ^(?:>\ ?)*(?P<signs>\#{1,6})           # ## Heading, also in a quotation
    | ^\S.*\n(?P<underline>=|-)(?P=underline)*[ \t]*$
    | <h(?P<number>[1-6])[\s>]
    """,
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)
"""Matches a heading in Markdown, in one of its three forms."""

_MARKUP = re.compile(r"[<>]|\{[{%#]")
"""Matches what a title may not have: the start or end of a tag, or the start of a template."""

_METADATA = re.compile(r"\A([\w -]+):")
"""Matches what readers of metadata take for a key at the start of a page."""

_LANGUAGE_LINE = re.compile(r"""^(["']?)lang\1[ \t]*:.*\n""", re.MULTILINE)
"""The line of a front matter with the language of its page."""

_LANGUAGES = "languages"

_NOT_IN_MARKDOWN = {
    "style": "inline styles",
    "colspan": "merged cells",
    "rowspan": "merged cells",
    "lang": _LANGUAGES,
    "dir": "directions",
}
"""What is lost with an attribute."""


def eject_articles(site: Site, articles: Sequence[Article]) -> str:
    """Write all articles of one page into its file, and return a message that says so.

    Raises ApprovalError, with nothing written, if a text is missing, or if the page cannot be
    rewritten.
    """
    page = articles[0].page
    _check_translations(site, articles)
    path = site.source_file(page)
    source, newline = _read_page(page, path)
    front_matter = YAML_RE.match(source)
    head = ""
    if front_matter:
        head = _without_request(front_matter[0])
    if not front_matter or not head:
        raise ApprovalError(
            f"{page}:1: the front matter does not have one key per line; remove `contentgen` by "
            "hand"
        )
    elements: dict[str, Element] = {}
    for article in articles:
        elements[article.request.id] = _read_article(article, site.options.image_hosts)
    body = source[front_matter.end() :]
    language = _language_to_write(site, articles, body)
    lost = _lost_in_markdown(elements.values())
    if not language and _have_other_languages(articles) and _LANGUAGES not in lost:
        lost.append(_LANGUAGES)
    head = _with_title(head, body, articles, elements)
    if language:
        head = _with_field(_LANGUAGE_LINE.sub("", head), "lang", language)
    body = _insert(site, articles, elements, body)
    docs = Path(site.config.docs_dir)
    below = site.directory if docs.is_relative_to(site.directory) else docs
    try:
        replace_text(path, below, _join(head, body).replace("\n", newline))
    except OSError as error:
        raise ApprovalError(f"{page}: cannot be written ({error.strerror})") from error
    return _ejected_message(page, body, lost)


def _check_translations(site: Site, articles: Sequence[Article]) -> None:
    """Raise ApprovalError if other pages have translations of these texts, and would lose them."""
    names = {article.asked.name for article in articles}
    page = articles[0].page
    pages = []
    for asked in site.requests:
        if asked.original and asked.original.name in names and asked.page != page:
            pages.append(asked.page)
    if not pages:
        return
    verb = "is a translation" if len(pages) == 1 else "are translations"
    commands = ", ".join(f"`contentgen eject {shlex.quote(other)}`" for other in pages)
    raise ApprovalError(
        f"{articles[0].place}: {first_names(pages)} {verb} of this text, and would have no "
        f"original any more; first: {commands}"
    )


def _ejected_message(page: str, body: str, lost: Sequence[str]) -> str:
    """Return what a person should know of a page that contains its texts now.

    `lost` names what Markdown cannot say. The texts of markers that are left in the page are at its
    end, since these do not stand alone at the left margin.
    """
    missing = ""
    if lost:
        missing = f", but without its {', '.join(lost)}"
    markers = []
    for marker in MARKER.finditer(FENCED.sub("", body)):
        markers.append(f"`{marker[0]}`")
    moved = ""
    if markers:
        moved = f"; at its end: the text of {', '.join(markers)}"
    return f"{page}: contains its text now, and no request{missing}{moved}; read `git diff`"


def _read_page(page: str, path: Path) -> tuple[str, str]:
    """Return the source of a page with line feeds at the end of lines, and what its file has there.

    Raises ApprovalError.
    """
    try:
        raw = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise ApprovalError(f"{page}: cannot be read ({error})") from error
    newline = "\r\n" if "\r\n" in raw else "\n"
    return raw.replace("\r\n", "\n").replace("\r", "\n"), newline


def _lost_in_markdown(articles: Iterable[Element]) -> list[str]:
    """Return what the articles have that Markdown cannot say, each kind once.

    The language of a whole article is none of that: see _language_to_write().
    """
    attributes: set[str] = set()
    has_plain_code = False
    for article in articles:
        attributes.update(article.attrib.keys() - {"lang", "dir"})
        for element in article.iterfind(".//*"):
            kept = {"lang", "dir"} if element.tag in KEPT else set()
            attributes.update(element.attrib.keys() - kept)
        has_plain_code = has_plain_code or has_code_without_fence(article)
    lost = []
    for name, kind in _NOT_IN_MARKDOWN.items():
        if name in attributes:
            lost.append(kind)
    if has_plain_code:
        lost.append("highlighting of code with templates or in lists")
    return list(dict.fromkeys(lost))


def _render_page(site: Site, file: File) -> str | None:
    """Return the HTML of a page without articles."""
    return site.render(file.src_uri, {}) if site.render else None


def _resolve_citations(
    element: Element, article: Article, pages: Mapping[str, str], ids: SiteIds
) -> None:
    """Let links to cited headings lead to the ids that these have now."""
    text = article.outcome.text or article.draft
    cited = text.sources if text else ()
    for link in element.iter("a"):
        name = link.get("href", "")
        address, _, anchor = name.partition("#")
        if anchor and name in cited and address in pages:
            id_now = ids.find(CitedHeading(pages[address], anchor))
            link.set("href", f"{address}#{id_now or anchor}")


def _read_article(article: Article, image_hosts: Sequence[str]) -> Element:
    """Return the sanitized text of an article."""
    text = article.outcome.text or article.draft
    if text is None:
        raise ApprovalError(
            f"{article.place}: there is no text to write; {article.how_to_get_text}"
        )
    try:
        html = article.html_to_show(text)
        if has_marks(text):
            # A statement to check that contains blocks becomes one in each of them.
            html = Document(html, image_hosts).to_lines()
        element = parse_article(html, image_hosts)
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
    if get_data(rest)[1] != metadata:
        return ""
    return rest


def _with_title(
    head: str, body: str, articles: Sequence[Article], elements: Mapping[str, Element]
) -> str:
    """Return a front matter with the title that an article gives its page, but does not show."""
    requests = _requests_by_id(articles)
    leading = leading_article(body, requests)
    if leading is None or requests[leading].level != "none" or "title" in get_data(head)[1]:
        return head
    heading = elements[leading].find(".//h1")
    if heading is None:
        return head
    title = " ".join(plain_text("".join(heading.itertext())).split())
    return _with_field(head, "title", title)


def _with_field(head: str, name: str, value: str) -> str:
    """Return a front matter with a further field."""
    start, _, fields = head.partition("\n")
    line = yaml.safe_dump({name: value}, allow_unicode=True, width=math.inf)
    return f"{start}\n{line}{fields}"


def _language_to_write(site: Site, articles: Sequence[Article], body: str) -> str:
    """Return the language that the front matter of a page needs, or an empty string.

    It is that of the texts, if the site gives the page another one. The author's own words in the
    `body` can be in the language of the site, unless the page is a translation as a whole.
    """
    page = articles[0].page
    languages = {article.text_language for article in articles}
    if len(languages) > 1 or not _have_other_languages(articles):
        return ""
    has_own_words = bool(MARKER.sub("", body).strip())
    if has_own_words and page not in find_groups(site.requests):
        return ""
    return languages.pop()


def _have_other_languages(articles: Iterable[Article]) -> bool:
    """Tell whether a text is in another language than the one that the site gives its page."""
    for article in articles:
        of_page = article.asked.language or OF_THEMES
        language = article.text_language or of_page
        if language.lower() != of_page.lower():
            return True
    return False


def _requests_by_id(articles: Sequence[Article]) -> dict[str, Request]:
    return {article.request.id: article.request for article in articles}


def _join(head: str, body: str) -> str:
    """Return the source of a page, whose front matter is left out if it is empty."""
    start, _, fields = head.partition("\n")
    has_fields = bool(fields.strip("-. \t\n"))
    if not has_fields:
        body = body.lstrip("\n")
        # The start of the text could be read as a front matter then.
        if not body.startswith("---") and get_data(body) == (body, {}):
            return body
    if not get_data(head)[1]:
        fields = "{}\n" + fields  # MkDocs would take an empty one for text
    return f"{start}\n{fields}{body}"


@dataclass(frozen=True)
class _Place:
    """Where the text of an article goes."""

    name: str
    level: int
    is_page_title: bool
    """Whether the title of the article is the title of the page."""

    has_title: bool
    """Whether the page shows the title of the article."""

    line: tuple[int, int] | None = None
    """The start and the end of the line of its marker, or None for the end of the page."""


def _template_starts(config: MkDocsConfig) -> list[str]:
    """Return what begins a template or an include where plugins have their own delimiters.

    The options are those of mkdocs-macros, such as `j2_variable_start_string`, and of
    include-markdown.
    """
    starts: set[str] = set()
    for plugin in config.plugins.values():
        options = getattr(plugin, "config", {})  # hooks are plugins without options
        for name, value in options.items():
            is_start = name == "opening_tag" or name.endswith("_start_string")
            if is_start and isinstance(value, str) and value:
                starts.add(value)
    return sorted(starts)


def _without_templates(block: WrittenBlock, starts: Sequence[str]) -> WrittenBlock:
    """Return a block in which plugins find no template.

    In its HTML, the first character of such a delimiter is an entity. Its Markdown is replaced by
    the HTML if it has a delimiter.
    """
    html = block.html
    for start in starts:
        html = html.replace(start, f"&#{ord(start[0])};{start[1:]}")
    has_template = any(start in block.markdown for start in starts)
    return replace(block, markdown=html if has_template else block.markdown, html=html)


def _check_templates(text: str, starts: Sequence[str]) -> None:
    """Raise ApprovalError if a text has one of the `starts` of templates."""
    for start in starts:
        if start in text:
            raise ApprovalError(
                f"a plugin of this site would run what begins with {quoted(start)} in the text; "
                "change the text with `contentgen review`"
            )


def _insert(
    site: Site, articles: Sequence[Article], elements: Mapping[str, Element], body: str
) -> str:
    """Return the text of a page with its articles at their markers, or else after it.

    Raises ApprovalError if the site would read a text there as another one.
    """
    page = articles[0].page
    addresses = site.addresses()
    ids = SiteIds(site.files.get, partial(_render_page, site))
    for article in articles:
        _resolve_citations(elements[article.request.id], article, addresses, ids)

    link = partial(page_link, pages=addresses, page=page)
    places = _find_places(body, _requests_by_id(articles))
    for place in places:
        _fit_headings(elements[place.name], place)

    extensions = site.markdown_extensions()
    reader = MarkdownReader(extensions, link)
    starts = _template_starts(site.config)
    words = {place.name: f"contentgentext{number}x" for number, place in enumerate(places)}
    texts = dict(words)
    try:
        for place in places:
            blocks = []
            for block in write_blocks(elements[place.name], extensions.names, link):
                blocks.append(_without_templates(block, starts))
            compose = partial(_compose_with, body, places, texts, place.name)
            text = reader.write(blocks, compose, words[place.name])
            _check_templates(text, starts)
            texts[place.name] = text
    except ApprovalError as error:
        raise ApprovalError(f"{page}: cannot be ejected: {error}") from error
    return _compose(body, places, texts)


def _compose_with(
    body: str, places: Sequence[_Place], texts: Mapping[str, str], name: str, text: str
) -> str:
    """Return the text of a page with these texts, but another one for the article `name`."""
    return _compose(body, places, {**texts, name: text})


def _fit_headings(element: Element, place: _Place) -> None:
    """Give an article the title and the levels of headings that it has at its place."""
    title = element.find(".//h1")
    if title is not None and not place.has_title:
        take_out(element, title)
    elif place.is_page_title:
        _make_title(element)
    if not place.is_page_title:
        set_title_level(element, place.level)
    slugs = {}
    for heading in element.iter():
        if heading.tag in HEADINGS:
            slugs[heading] = slugify("".join(heading.itertext()), "-")
    link_to_headings(element, slugs)


def _find_places(body: str, requests: Mapping[str, Request]) -> list[_Place]:
    """Return the place of each article: its marker if that stands alone at the left margin."""
    leading = leading_article(body, requests)
    outside = FENCED.sub(lambda match: " " * len(match[0]), body)
    places: dict[str, _Place] = {}
    for marker in MARKER.finditer(outside):
        name = marker[1] or next(iter(requests))
        line = _line_of(marker)
        if name not in requests or name in places or line is None:
            continue
        before = outside[: line[0]]
        level_of_section = max(_level_at(before), 1) + 1
        is_page_title = name == leading and not MARKER.search(before)
        place = _make_place(requests[name], level_of_section, marker, is_page_title=is_page_title)
        places[name] = replace(place, line=line)
    for name, request in requests.items():
        if name not in places:
            places[name] = _make_place(request, 2, is_page_title=name == leading)
    return list(places.values())


def _make_place(
    request: Request,
    level_of_section: int,
    marker: re.Match[str] | None = None,
    *,
    is_page_title: bool,
) -> _Place:
    """Return the place of an article, with the level that its marker or its request gives it."""
    level = level_of(marker, request.level, level_of_section)
    has_title = not leaves_out_title(marker, request.level)
    return _Place(request.id, level, is_page_title, has_title)


def _line_of(marker: re.Match[str]) -> tuple[int, int] | None:
    """Return the start and the end of the line of a marker, or None if it is not alone there."""
    text = marker.string
    start = text.rfind("\n", 0, marker.start()) + 1
    end = text.find("\n", marker.end())
    if end < 0:
        end = len(text)
    is_at_margin = re.fullmatch(" {0,3}", text[start : marker.start()])
    is_alone = is_at_margin and not text[marker.end() : end].strip()
    return (start, end) if is_alone else None


def _compose(body: str, places: Sequence[_Place], texts: Mapping[str, str]) -> str:
    """Return the text of a page with these texts at their places."""
    page = body
    marked = [(place.line, place.name) for place in places if place.line]
    # From the end, so that the other places stay where they are.
    for (start, end), name in sorted(marked, reverse=True):
        below = page[end:].lstrip("\n")
        page = _below(page[:start].rstrip("\n"), f"{texts[name]}\n\n{below}")
    for place in places:
        if place.line is None:
            page = _below(page.rstrip(), f"{texts[place.name]}\n")
    # In the first lines, readers of metadata take words before a colon for a key.
    is_leading = any(place.is_page_title for place in places)
    return _METADATA.sub(r"\1&#58;", page) if is_leading else page


def _below(above: str, text: str) -> str:
    """Return a text with what stands above it, if anything does, and a blank line between."""
    return f"{above}\n\n{text}" if above else text


def _make_title(element: Element) -> None:
    """Move the title of a page to its start. Themes take it for metadata, so it has no markup."""
    title = element.find(".//h1")
    if title is None:
        return
    text = "".join(title.itertext())
    if _MARKUP.search(text):
        title[:] = []
        title.text = plain_text(text)
    put_first(element, title)


def _level_at(text: str) -> int:
    """Return the level of the last heading in Markdown, or 0."""
    level = 0
    for heading in _HEADING.finditer(text):
        if heading["signs"]:
            level = len(heading["signs"])
        elif heading["underline"]:
            level = 1 if heading["underline"] == "=" else 2
        else:
            level = int(heading["number"])
    return level


def check_before_ejection(article: Article, options: ContentgenConfig) -> list[str]:
    """Return what a person should know of the text that is written, and of one that is left out.

    Raises ApprovalError for a text that has to be approved first.
    """
    notes = []
    if article.shows_approved_file and article.has_newer_draft:
        notes.append(f"{article.page}: the newer draft was left out; `contentgen prune` drops it")
    text = article.outcome.text
    if text is None or article.state == "approved":
        return notes
    if options.require_approval:
        raise ApprovalError(
            f"{article.place}: nobody approved this text, and require_approval is set; read and "
            f"approve it first with `contentgen review {article.page_argument}`"
        )
    consequence = "and from now on, the page does not say how it came about"
    approved = article.approved
    if article.approval and article.state == "changed":
        approver = article.approval.approved_by
        notes.append(
            f"{article.page}: {article.path} was edited since {approver} approved it; nobody "
            f"approved the text as it is now, {consequence}"
        )
        return notes
    is_edited = article.shows_file and approved is not None and approved.is_changed
    try:
        document = Document(text.html, options.image_hosts)
    except UnsafeHTMLError as error:
        raise unusable_draft_error(article, error) from error
    check_quotations(article, text, document, is_edited_in_file=is_edited)
    notes.append(f"{article.page}: nobody approved this text, {consequence}")
    return notes + check_lines(text.remarks, document)

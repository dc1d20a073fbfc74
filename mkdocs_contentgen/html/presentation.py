"""Turn the HTML of an article into the element that a page shows, with its AI disclosure."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal
from xml.etree.ElementTree import Element, SubElement

from ..language.tags import base_language, is_right_to_left
from ..remark_words import sentences_of
from .article import close_heading_gaps, limit_nesting, put_first
from .disclosure import DisclosureLine, LinePart, Provenance
from .inline_styles import adapted_classes, visible_style, without_relative_size
from .lists import mark_numbered_lists
from .plaintext import plain_text
from .sanitizer import parse_article

PAGE_OF_LINK = "data-contentgen-page"
"""The attribute of a link with the `src_uri` of its page. No sanitized text has it."""

_CODE = frozenset(("pre", "code", "kbd", "samp"))


@dataclass(frozen=True)
class Presentation:
    """The plugin options for the appearance of articles.

    `disclosure` has lines in place of those in `disclosure.DISCLOSURE_LINES`, or is None to show
    none.
    """

    styles: Literal["adapt", "keep", "strip"] = "adapt"
    image_hosts: Collection[str] = ()
    disclosure: Mapping[str, str] | None = None
    publisher: str = ""
    """Who has the editorial responsibility for approved articles, or an empty string."""

    has_notice: bool = True
    """Whether a translation says that its original has changed since."""


@dataclass(frozen=True, slots=True)
class ArticleMetadata:
    """The metadata of an article as plain text. Unknown values are empty.

    `published` is an ISO date such as `2026-11-02`.
    """

    title: str
    lead: str
    published: str

    disclosed_lead: str = ""
    """The lead with the disclosure line, to show without the article; empty if one is missing."""


def present(
    html: str, provenance: Provenance, how: Presentation
) -> tuple[Element, ArticleMetadata]:
    """Return the element to insert into a page for a text of the service, and its metadata.

    Raises UnsafeHTMLError, as parse_article() does.
    """
    provenance = provenance.published_by(how.publisher)
    article = parse_article(html, how.image_hosts)
    limit_nesting(article)
    close_heading_gaps(article)
    line = None
    if how.disclosure is not None:
        line = provenance.line(how.disclosure)
    lead = plain_text(_text_of(_lead_paragraph(article)))
    metadata = ArticleMetadata(
        title=plain_text(_text_of(article.find(".//h1"))),
        lead=lead,
        published=_publication_date(article),
        disclosed_lead=f"{lead} ({plain_text(str(line))})" if lead and line else "",
    )
    _apply_styles(article, how.styles)
    _move_title_out_of_header(article)
    _wrap_tables(article)
    mark_numbered_lists(article)
    kept = "contentgen-kept " if how.styles == "keep" else ""
    article.set("class", f"{kept}contentgen {article.get('class', '')}".strip())
    if provenance.language:
        _set_language(article, provenance.language)
    article.set("ai-disclosure", provenance.attribute())
    paragraphs = []
    if line:
        paragraphs.append(disclosure_paragraph(line, article))
    if line and provenance.remarks:
        remarks = f"Not as requested: {'; '.join(sentences_of(provenance.remarks))}"
        of_remarks = DisclosureLine([LinePart(remarks)], "en")
        paragraphs.append(disclosure_paragraph(of_remarks, article))
    notice = provenance.notice(how.disclosure or {}) if how.has_notice else None
    if notice:
        paragraphs.append(_notice_paragraph(notice, provenance.original_page, article))
    _insert_lines(article, paragraphs)
    return article, metadata


def _set_language(article: Element, language: str) -> None:
    """Say in which language and direction a text is. Code is written from left to right."""
    article.set("lang", language)
    if not is_right_to_left(language):
        article.set("dir", "ltr")
        return
    article.set("dir", "rtl")
    for element in article.iter():
        if element.tag in _CODE:
            element.attrib.setdefault("dir", "ltr")


def _apply_styles(article: Element, styles: str) -> None:
    if styles == "keep":
        _keep_visible(article, ())
        return
    for element in article.iter():
        style = element.attrib.pop("style", "")
        if style and styles == "adapt":
            words = [*element.get("class", "").split(), *adapted_classes(element.tag, style)]
            if words:
                element.set("class", " ".join(words))


def _keep_visible(element: Element, behind: Sequence[float], *, has_size: bool = False) -> None:
    """Remove invisible colours, and relative font sizes within another size: they multiply.

    `behind` is the lightness of the background that the element stands on: one number for a colour,
    several for a gradient, none for the background of the page.
    """
    if element.tag == "h1":  # _move_title_out_of_header() puts it on the background of the page
        behind = ()
    style = element.attrib.pop("style", "")
    if "font-size" in style:
        style = without_relative_size(style) if has_size else style
        has_size = True
    style, behind = visible_style(style, behind)
    if style:
        element.set("style", style)
    for child in element:
        _keep_visible(child, behind, has_size=has_size)


def _move_title_out_of_header(article: Element) -> None:
    """Move a title in a `<header>` to the start of the article.

    Material's search ends a section at the parent of its heading, and would add the lead to the
    section before the article.
    """
    header = article.find("header[h1]")
    title = article.find("header/h1")
    if header is not None and title is not None:
        put_first(article, title)
        texts = [header.text or "", header.tail or ""]
        has_text = any(text.strip() for text in texts)
        if not len(header) and not has_text:
            article.remove(header)


def _wrap_tables(article: Element) -> None:
    """Wrap each table in a `<div>` that can be scrolled with the keyboard on narrow screens.

    Its role is `group`, since regions need unique names. It takes the table's classes, since many
    themes only style tables without a class.
    """
    for parent in list(article.iter()):
        for index, child in enumerate(parent):
            if child.tag == "table":
                attributes = {
                    "class": f"contentgen-scroll {child.attrib.pop('class', '')}".strip(),
                    "role": "group",
                    "aria-label": plain_text(_text_of(child.find("caption"))) or "Table",
                    "tabindex": "0",
                }
                group = Element("div", attributes)
                group.tail = child.tail
                child.tail = None
                group.append(child)
                parent[index] = group


def _insert_lines(article: Element, paragraphs: Sequence[Element]) -> None:
    """Insert the paragraphs about an article after its title, or else after the header."""
    start = article.find("h1")
    if start is None:
        start = article.find("header")
    first = 0
    if start is not None:
        first = list(article).index(start) + 1
    for index, paragraph in enumerate(paragraphs, first):
        article.insert(index, paragraph)


def _notice_paragraph(line: DisclosureLine, original_page: str, article: Element) -> Element:
    """Return the paragraph about an original that has changed, which is a link to its page.

    The link has the `src_uri` of that page as `PAGE_OF_LINK`. A page puts the address in its place.
    """
    paragraph = disclosure_paragraph(line, article)
    paragraph.set("class", "contentgen-disclosure contentgen-notice")
    if not original_page:
        return paragraph
    link = Element("a", {PAGE_OF_LINK: original_page})
    link.text = paragraph.text
    paragraph.text = ""
    for child in list(paragraph):
        paragraph.remove(child)
        link.append(child)
    paragraph.append(link)
    return paragraph


def disclosure_paragraph(line: DisclosureLine, article: Element) -> Element:
    """Return the paragraph of a line in an article, which is in a language of its own if need be.

    If the line has letters that are written from right to left, each value is isolated: otherwise,
    the words around it would be in another order.
    """
    paragraph = Element("p", {"class": "contentgen-disclosure"})
    of_article = article.get("lang", "")
    has_both = line.language != "" and of_article != ""
    if has_both and base_language(line.language) != base_language(of_article):
        paragraph.set("lang", line.language)
    text = str(line)
    if "dir" in article.attrib:
        direction = _direction(line)
        if direction != article.get("dir"):
            paragraph.set("dir", direction)
    if text.isascii() or not any(map(_is_right_to_left, text)):
        paragraph.text = text
    else:
        _isolate_values(paragraph, line)
    return paragraph


def _isolate_values(paragraph: Element, line: DisclosureLine) -> None:
    """Write a line into a paragraph, with an element around each value."""
    paragraph.text = ""
    last_value: Element | None = None
    for part in line.parts:
        if part.is_value:
            last_value = SubElement(paragraph, "bdi")
            last_value.text = part.text
            last_value.tail = ""
        elif last_value is None:
            paragraph.text += part.text
        else:
            last_value.tail = f"{last_value.tail}{part.text}"


def _direction(line: DisclosureLine) -> Literal["ltr", "rtl"]:
    """Return the direction of the words of a line, which is that of their first letter."""
    words = "".join(part.text for part in line.parts if not part.is_value)
    for character in words:
        if _is_right_to_left(character):
            return "rtl"
        if unicodedata.bidirectional(character) == "L":
            return "ltr"
    return "ltr"


def _is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")


def _lead_paragraph(article: Element) -> Element | None:
    """Return the lead paragraph: one of class `intro` or `lead`, otherwise the first."""
    first = None
    for paragraph in article.iter("p"):
        if paragraph.get("class") in ("intro", "lead"):
            return paragraph
        if first is None and paragraph.get("class") != "byline":
            first = paragraph
    return first


def _publication_date(article: Element) -> str:
    """Return the date in the first `<time>`, such as `2026-11-02`, or an empty string."""
    time = article.find(".//time[@datetime]")
    value = ""
    if time is not None:
        value = time.get("datetime", "")[:10]
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        return ""


def _text_of(element: Element | None) -> str:
    if element is None:
        return ""
    return " ".join("".join(element.itertext()).split())

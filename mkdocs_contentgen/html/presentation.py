"""An article as a page shows it: in the theme's look, for all readers, with its provenance."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal
from xml.etree.ElementTree import Element

from .article import close_heading_gaps, limit_nesting, parse_article, put_first
from .disclosure import Provenance
from .plaintext import plain_text
from .stylesheet import adapted_classes, without_relative_size


@dataclass(frozen=True)
class Presentation:
    """The plugin options that say how articles look.

    `disclosure` holds the visible lines (see `disclosure.LINES`), or is None to show none.
    """

    styles: Literal["adapt", "keep", "strip"] = "adapt"
    image_hosts: Collection[str] = ()
    disclosure: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Facts:
    """What a page can say of its article elsewhere, without markup; empty where it is not known.

    `published` is a date such as `2026-11-02`.
    """

    title: str
    lead: str
    published: str


def present(html: str, provenance: Provenance, how: Presentation) -> tuple[Element, Facts]:
    """Return the element for a text of the service, and what it says of itself.

    Raises UnsafeHTMLError, as parse_article() does.
    """
    article = parse_article(html, how.image_hosts)
    limit_nesting(article)
    close_heading_gaps(article)
    title, lead = (
        plain_text(_text(element)) for element in (article.find(".//h1"), _lead(article))
    )
    facts = Facts(title, lead, _published(article))
    _restyle(article, how.styles)
    _free_title(article)
    _let_tables_scroll(article)
    _hide_emoji(article)
    article.set("class", f"contentgen {article.get('class', '')}".strip())
    if how.styles == "keep":
        article.set("class", f"contentgen-kept {article.get('class')}")
    article.set("ai-disclosure", provenance.attribute())
    if how.disclosure:
        _insert_line(article, provenance.line(how.disclosure))
    return article, facts


def _restyle(article: Element, styles: str) -> None:
    if styles == "keep":
        _keep_sizes(article)
        return
    for element in article.iter():
        style = element.attrib.pop("style", "")
        if style and styles == "adapt":
            words = [*element.get("class", "").split(), *adapted_classes(element.tag, style)]
            if words:
                element.set("class", " ".join(words))


def _keep_sizes(element: Element, *, sized: bool = False) -> None:
    """Drop font sizes that multiply: letters of a size relative to another relative one."""
    style = element.get("style", "")
    if "font-size" in style:
        if sized:
            style = without_relative_size(style)
            if style:
                element.set("style", style)
            else:
                del element.attrib["style"]
        sized = True
    for child in element:
        _keep_sizes(child, sized=sized)


def _free_title(article: Element) -> None:
    """Put the title in front of the header that holds it.

    Material's search ends a section with the element that its heading stands in: the lead would
    belong to the section before the article.
    """
    for index, header in enumerate(article):
        title = header.find("h1")
        if header.tag == "header" and title is not None:
            put_first(header, title)
            header.remove(title)
            header.text, title.tail = title.tail, None
            article.insert(index, title)
            if not len(header) and not (header.text or "").strip():
                article.remove(header)
            return


def _let_tables_scroll(article: Element) -> None:
    """Put each table into a group that the keyboard can scroll on a narrow screen.

    It is no region, of which a page must not have two of the same name. It takes over the table's
    classes, since many themes have a look for tables without one only.
    """
    for parent in list(article.iter()):
        for index, child in enumerate(parent):
            if child.tag == "table":
                attributes = {
                    "class": f"contentgen-scroll {child.attrib.pop('class', '')}".strip(),
                    "role": "group",
                    "aria-label": plain_text(_text(child.find("caption"))) or "Table",
                    "tabindex": "0",
                }
                group = Element("div", attributes)
                group.tail, child.tail = child.tail, None
                group.append(child)
                parent[index] = group


# Pictographs with what may follow: a variant, a skin tone, a joined one; and flags.
_PICTOGRAPH = (
    "[\U0001f300-\U0001faff\u2600-\u27bf\u2b50\u2b55\u231a\u231b\u23e9-\u23fa]"
    "[\ufe0f\U0001f3fb-\U0001f3ff]*"
)
_ONE_EMOJI = f"(?:{_PICTOGRAPH}(?:\u200d{_PICTOGRAPH})*|[\U0001f1e6-\U0001f1ff]{{2}})"
_EMOJI = re.compile(f"({_ONE_EMOJI}(?: ?{_ONE_EMOJI})*)")
_MAX_EMOJI = 1000
"""What has more of them would not be readable without, and costs too much."""


def _hide_emoji(article: Element) -> None:
    """Spare screen readers emoji, which decorate a text and would be spelled out within it."""
    text = "".join(article.itertext())
    if text.isascii() or not 0 < sum(1 for _ in _EMOJI.finditer(text)) <= _MAX_EMOJI:
        return
    for element in list(article.iter()):
        if element.tag in ("pre", "code"):
            continue
        element.text, children = _split_at_emoji(element.text or "")
        for child in element:
            child.tail, spans = _split_at_emoji(child.tail or "")
            children += [child, *spans]
        element[:] = children


def _split_at_emoji(text: str) -> tuple[str, list[Element]]:
    first, *rest = _EMOJI.split(text)
    spans = []
    for emoji, tail in zip(rest[::2], rest[1::2], strict=True):
        span = Element("span", {"aria-hidden": "true"})
        span.text, span.tail = emoji, tail
        spans.append(span)
    return first, spans


def _insert_line(article: Element, line: str) -> None:
    """Put the visible line behind the title, where a byline would stand."""
    paragraph = Element("p", {"class": "contentgen-disclosure"})
    paragraph.text = line
    header = [i for i, child in enumerate(article) if child.tag in ("header", "h1")]
    article.insert(header[0] + 1 if header else 0, paragraph)


def _lead(article: Element) -> Element | None:
    """Return the paragraph that says what the article is about."""
    paragraphs = [p for p in article.iter("p") if p.get("class") != "byline"]
    named = [p for p in paragraphs if p.get("class") in ("intro", "lead")]
    return next(iter([*named, *paragraphs]), None)


def _published(article: Element) -> str:
    """Return the date of a news article, such as `2026-11-02`."""
    time = article.find(".//time[@datetime]")
    value = "" if time is None else time.get("datetime", "")[:10]
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        return ""


def _text(element: Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())

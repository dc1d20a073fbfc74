"""Sanitize untrusted HTML with an allowlist.

Nothing is trusted, whatever its source (service, cache, approved file). nh3 parses HTML as a
browser does, and drops all elements and attributes that are not listed here. Then the value of each
attribute is checked. HTML that exceeds a limit is rejected as a whole, and so is a text that is not
one `<article>`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError, fromstring

import nh3

from ..errors import UnsafeHTMLError
from ..text import MAX_HTML
from .elements import CHANGED, HEADINGS, TO_READ, WEAK
from .inline_styles import sanitize_style
from .plaintext import plain_text

# nh3 takes quadratic time for some inputs. At these limits and MAX_HTML, the worst known input
# takes about a second. An article of ten thousand words is far below them.
MAX_TAGS = 10_000
MAX_ENTITIES = 20_000

MAX_DEPTH = 100
"""How many elements may be within each other."""

_MAX_HEADINGS = 500
"""The maximum number of headings: search indexes and tables of contents take quadratic time."""

_MAX_PASSES = 5
"""How often HTML is cleaned until that changes nothing more."""

MAX_REPEATED = 1_500_000
"""How many elements a parser may repeat at most.

HTML reopens an unclosed formatting element in each following paragraph, so that 100 KB of HTML can
fill any memory.
"""

_CHARACTERS_PER_ELEMENT = 40
"""So many characters of attributes count as one element that is repeated."""

_MAX_KEPT = 100
"""The number of texts whose clean HTML is kept; as many are requested in one build by default."""

CLASSES = frozenset(
    "blog-post intro pro-tip conclusion news-article byline lead article-body".split()
) | {CHANGED, TO_READ, WEAK}
"""The allowed classes: those of interface section 2.2, of the writer's signs, and of changes."""

_LANGUAGE_CLASS = re.compile(r"language-[a-z0-9+#-]+")

TAGS = HEADINGS | set(
    "article section header footer aside div p br hr wbr "
    "ul ol li dl dt dd table caption thead tbody tfoot tr th td figure figcaption img "
    "details summary blockquote q cite pre code kbd samp var a abbr dfn time em strong b i u s "
    "del ins mark small span sub sup ruby rt rp bdi bdo".split()
)
_TAGS_WITH_CONTENT = set(
    "script style iframe noscript noembed noframes template textarea select button svg math "
    "object embed applet audio video canvas title head datalist dialog map".split()
)
_ATTRIBUTES = {
    "*": {"class", "style", "lang", "dir"},
    "a": {"href", "title"},
    "abbr": {"title"},
    "details": {"open"},
    "dfn": {"title"},
    "img": {"src", "alt", "title", "width", "height"},
    "ol": {"start", "reversed", "type"},
    "li": {"value"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "time": {"datetime"},
}
_VALUES = {
    "lang": re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}"),
    "dir": re.compile(r"ltr|rtl|auto"),
    "href": re.compile(
        r"https?://[^\s/\\@?#]+([/?#][^\s\\]*)?|mailto:[^\s/\\]+|#[\w.~%-]{1,200}", re.I
    ),
    "src": re.compile(r"https://[^\s/\\@?#]+([/?#][^\s\\]*)?", re.I),
    "width": re.compile(r"[0-9]{1,4}"),
    "height": re.compile(r"[0-9]{1,4}"),
    "start": re.compile(r"-?[0-9]{1,6}"),
    "value": re.compile(r"-?[0-9]{1,6}"),
    "open": re.compile(r"(open)?"),
    "reversed": re.compile(r"(reversed)?"),
    "type": re.compile(r"[1AaIi]"),
    "colspan": re.compile(r"[1-9][0-9]?"),
    "rowspan": re.compile(r"[1-9][0-9]?"),
    "scope": re.compile(r"(row|col)(group)?"),
    "datetime": re.compile(r"[0-9PT][-+0-9A-Z:., ]{0,63}"),
}
_RUBY_PARENTHESIS = re.compile(r"\s*[()\[\]\uff08\uff09\uff3b\uff3d【】《》「」〈〉]\s*")
# A formatting tag; group 2 holds its attributes, if they cannot contain another `<`.
_FORMATTING = re.compile(
    r"<(a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/])"
    r"((?:\s+[^\s\"'<>/=]+(?:=(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=]+))?)*+\s*/?>)?",
    re.I | re.ASCII,
)
# HTML repeats at most three equal tags, and links apart, there are 13 formatting elements.
_FORMATTING_WITHOUT_ATTRIBUTES = 3 * 13
# A parser drops the first line break in a <pre>, and nh3 does not restore it.
_PRE_AND_BREAK = re.compile(r"(<pre[^<>]*>)\n")
# Python-Markdown uses some of these for its placeholders.
_ASCII_CONTROLS = bytes((*range(9), 11, 12, *range(14, 32), 127))
_CHECKBOX = re.compile(r"<input(?=[\s/])([^<>]*)>[ \t]?", re.I)
_IS_CHECKBOX = re.compile(r"\stype\s*=\s*[\"']?checkbox\b", re.I)
_IS_CHECKED = re.compile(r"\schecked(?=[\s=/]|$)", re.I)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_VOID = re.compile(r"<(br|hr|img|wbr)\b([^<>]*)>")


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    """Return a value for nh3, or None to drop the attribute."""
    # nh3 keeps the original value if its callback raises.
    try:
        return _safe_value(tag, name, value)
    except Exception:  # noqa: BLE001  what cannot be judged is refused
        return None


# Making one takes a tenth of the time of a text.
_CLEANER = nh3.Cleaner(
    tags=set(TAGS),
    clean_content_tags=_TAGS_WITH_CONTENT,
    attributes=_ATTRIBUTES,
    attribute_filter=_filter_attribute,
    url_schemes={"http", "https", "mailto"},
    link_rel=None,
)


_kept: dict[str, str] = {}
"""The results of _clean_xml() for texts that are sanitized again soon, by their HTML."""


def parse_article(
    html: str, image_hosts: Collection[str] = (), *, is_used_again: bool = False
) -> Element:
    """Return the sanitized `<article>` in `html`, without anything around it.

    Images of `image_hosts` are kept. With `is_used_again`, the result is kept for the next call
    with the same HTML. Raises UnsafeHTMLError if there is not exactly one article, if it has no
    text or too many headings, or if the HTML exceeds the sanitizer's limits.
    """
    root = sanitize(html, image_hosts, is_used_again=is_used_again)
    article = root.find(".//article")
    if article is None:
        raise UnsafeHTMLError("expected one <article>, found none")
    # Articles within the first one are parts of it.
    number = len(root.findall(".//article")) - len(article.findall(".//article"))
    if number > 1:
        raise UnsafeHTMLError(f"expected one <article>, found {number}")
    article.tail = None
    if not "".join(article.itertext()).strip():
        raise UnsafeHTMLError("the <article> has no text")
    headings = 0
    for element in article.iter():
        if element.tag in HEADINGS:
            headings += 1
    if headings > _MAX_HEADINGS:
        raise UnsafeHTMLError(
            f"the <article> has too many headings: {headings:,}, {_MAX_HEADINGS} at most"
        )
    return article


def sanitize(
    html: str, image_hosts: Collection[str] = (), *, is_used_again: bool = False
) -> Element:
    """Return a `<div>` with the sanitized content of `html`.

    Images are kept if they are from `image_hosts` over https; others become links. Sanitizing the
    result again does not change it. With `is_used_again`, what takes the time is kept for the next
    call with the same HTML. Raises UnsafeHTMLError for HTML that is too large or nested too deeply.
    """
    xml = _kept.pop(html, None)  # each is used once more
    if xml is None:
        xml = _clean_xml(html)
    if is_used_again and len(_kept) < _MAX_KEPT:
        _kept[html] = xml
    root = _parse(xml)
    _show_ruby_parentheses(root)
    _restrict_links(root, set(map(str.lower, image_hosts)))
    return root


def parse_clean(html: str) -> Element:
    """Return a `<div>` with what is left of HTML, with all its images. It is not for pages.

    HTML is cleaned once: nobody parses the result again. Raises UnsafeHTMLError for HTML that is
    too large or nested too deeply.
    """
    return _parse(_to_xml(_without_controls(_CLEANER.clean(_prepare(html)))))


def _parse(xml: str) -> Element:
    try:
        root = fromstring(f"<div>{xml}</div>")  # noqa: S314  without a document type
    except ParseError as error:
        raise UnsafeHTMLError("the HTML is not well-formed") from error
    _check_depth(root)
    return root


def _clean_xml(html: str) -> str:
    """Return what is left of HTML, as XML without its root. Raises UnsafeHTMLError."""
    return _to_xml(_clean_until_stable(_prepare(html)))


def _prepare(html: str) -> str:
    """Return HTML that can be cleaned. Raises UnsafeHTMLError if it is too large."""
    _check_size(html)
    valid = html.encode("utf-8", "replace").decode()
    return _CHECKBOX.sub(_checkbox_in_markdown, valid)


def _to_xml(clean: str) -> str:
    """Return HTML that nh3 has cleaned as XML, whose parser is much faster."""
    xml = _VOID.sub(r"<\1\2/>", clean).replace("&nbsp;", "\xa0")
    for character in "\t\n\r":  # XML normalizes these to spaces in attributes
        xml = xml.replace(character, f"&#{ord(character)};")  # translate() takes a hundred times
    return xml


def _clean_until_stable(html: str) -> str:
    """Return HTML that nh3 does not change any more. Raises UnsafeHTMLError.

    This takes several passes: without a removed element, those around it may be parsed differently.
    """
    for _ in range(_MAX_PASSES):
        clean = _without_controls(_CLEANER.clean(html))
        clean = _PRE_AND_BREAK.sub(r"\1\n\n", clean)
        if clean == html:
            return clean
        # Omitted end tags and entities make the output longer, but not by these factors.
        if clean.count("<") > 4 * MAX_TAGS or len(clean) > 8 * MAX_HTML:
            raise UnsafeHTMLError("the HTML is too complex: it makes a parser repeat elements")
        html = clean
    raise UnsafeHTMLError("the HTML changes each time that it is parsed")


def _checkbox_in_markdown(tag: re.Match[str]) -> str:
    """Return what Markdown has for a checkbox of a list of tasks, since forms are removed."""
    attributes = tag[1]
    if not _IS_CHECKBOX.search(attributes):
        return tag[0]
    unquoted = _QUOTED.sub("", attributes)  # a quoted value can be `is checked`
    return "[x] " if _IS_CHECKED.search(unquoted) else "[ ] "


def _without_controls(text: str) -> str:
    """Remove control characters, in a quarter of the time of a regular expression."""
    text = text.encode().translate(None, _ASCII_CONTROLS).decode()
    return text.replace("\ufffe", "").replace("\uffff", "")


def _check_size(html: str) -> None:
    """Raise UnsafeHTMLError for HTML that would take too much time or memory."""
    sizes = {
        "characters": (len(html), MAX_HTML),
        "tags": (html.count("<"), MAX_TAGS),
        # nh3 writes no-break spaces as entities.
        "entities": (html.count("&") + html.count("\xa0"), MAX_ENTITIES),
    }
    for name, (size, most) in sizes.items():
        if size > most:
            raise UnsafeHTMLError(f"the HTML is too large: {size:,} {name}, {most:,} at most")
    if _estimate_repeated(html) * html.count("<") > MAX_REPEATED:
        raise UnsafeHTMLError("the HTML is too complex: its formatting is repeated by each tag")


def _estimate_repeated(html: str) -> float:
    """Return how many elements a parser may repeat in each paragraph (see MAX_REPEATED).

    It repeats each formatting element that is open. Their attributes are repeated as well, and
    count as further elements.
    """
    number = _FORMATTING_WITHOUT_ATTRIBUTES
    length = 0
    link = 0
    for tag in _FORMATTING.finditer(html):
        # A tag whose end is not certain can be as long as all of the HTML.
        if tag[2]:
            size = len(tag[0])
        else:
            size = len(html)
        if tag[1] in "aA":
            link = max(link, size)  # a link ends the one before it
        else:
            number += 1
            length += size
    return number + (length + link) / _CHARACTERS_PER_ELEMENT


def _safe_value(tag: str, name: str, value: str) -> str | None:
    """Return what is harmless of the value of an attribute, or None to drop the attribute."""
    value = _without_controls(value)
    if name == "class":
        return _safe_classes(tag, value)
    if name == "style":
        return sanitize_style(value) or None
    if name in ("alt", "title"):
        return plain_text(value)  # themes make tooltips and captions of them
    if name in ("href", "src"):
        value = value.strip()
    pattern = _VALUES.get(name)
    if pattern is None or pattern.fullmatch(value):
        return value
    return None


def _safe_classes(tag: str, value: str) -> str | None:
    """Return the allowed classes, for code only that of its language; None if there is none."""
    classes = value.split()
    if tag == "code":
        for name in classes:
            if _LANGUAGE_CLASS.fullmatch(name):
                return name
        return None
    return " ".join(name for name in classes if name in CLASSES) or None


def _check_depth(root: Element) -> None:
    """Raise UnsafeHTMLError if elements are nested too deeply.

    This goes from level to level, since a recursion would itself go too deep.
    """
    level = [root]
    for _ in range(MAX_DEPTH + 1):
        level = list(chain.from_iterable(level))  # the children of all elements
        if not level:
            return
    raise UnsafeHTMLError(f"the HTML is nested more than {MAX_DEPTH} deep")


def _show_ruby_parentheses(root: Element) -> None:
    """Turn each `<rp>` with more than a parenthesis into `<span>`: browsers show no `<rp>`."""
    for element in root.iter("rp"):
        if len(element) or not _RUBY_PARENTHESIS.fullmatch(element.text or ""):
            element.tag = "span"


def _restrict_links(root: Element, image_hosts: Collection[str]) -> None:
    """Turn images of other hosts into links, and links without an address into `<span>`."""
    linked: set[Element] = set()
    for link in root.iter("a"):
        if "href" in link.attrib:
            linked.update(link.iter("img"))
    for image in list(root.iter("img")):
        source = image.get("src")
        text = image.get("alt", "")
        if source and urlsplit(source).hostname in image_hosts:
            image.attrib.update(alt=text, loading="lazy")
            continue
        image.attrib.clear()
        image.tag = "span"
        image.text = text or source
        if source and image not in linked:
            image.tag = "a"
            image.set("href", source)
    for link in list(root.iter("a")):
        if link.get("href") is None:
            link.tag = "span"
            link.attrib.pop("title", None)
        else:
            link.set("rel", "nofollow noopener noreferrer")

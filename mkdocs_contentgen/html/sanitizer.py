"""From untrusted HTML to elements that can do no harm.

Whatever the source (service, cache, approved file), nothing is trusted. nh3 parses as a browser
does and drops all but the elements and attributes named here; what it lets through is then judged
value by value. What cannot be judged is refused as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

import nh3

from ..errors import UnsafeHTMLError
from .plaintext import plain_text
from .stylesheet import harmless_style

# nh3 takes time that grows with the square of some of these. At these limits the worst known input
# takes about a second, and an article of ten thousand words is far below them.
MAX_CHARACTERS = 256 * 1024
MAX_TAGS = 10_000
MAX_ENTITIES = 20_000
MAX_DEPTH = 100
_MAX_PASSES = 5
MAX_COPIES = 1_500_000
"""How many elements, or forty characters of their attributes, a parser may have to repeat.

An element of formatting that nobody closes goes on in each paragraph that follows, says HTML: each
gets a copy of it, and 100 KB can fill any memory.
"""

CLASSES = frozenset(
    "blog-post intro pro-tip conclusion news-article byline lead article-body".split()
)
"""The classes that interface section 2.2 names."""

_TAGS = set(
    "article section header footer aside div h1 h2 h3 h4 h5 h6 p br hr wbr "
    "ul ol li dl dt dd table caption thead tbody tfoot tr th td figure figcaption img "
    "blockquote q cite pre code kbd samp var a abbr dfn time em strong b i u s del ins mark "
    "small span sub sup ruby rt rp bdi bdo".split()
)
_TAGS_WITH_CONTENT = set(
    "script style iframe noscript noembed noframes template textarea select button svg math "
    "object embed applet audio video canvas title head datalist dialog map".split()
)
VOID_TAGS = frozenset("br hr img wbr".split())
_ATTRIBUTES = {
    "*": {"class", "style", "lang", "dir"},
    "a": {"href", "title"},
    "abbr": {"title"},
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
    "href": re.compile(r"https?://[^\s/\\@?#]+([/?#][^\s\\]*)?|mailto:[^\s/\\]+", re.I),
    "src": re.compile(r"https://[^\s/\\@?#]+([/?#][^\s\\]*)?", re.I),
    "width": re.compile(r"[0-9]{1,4}"),
    "height": re.compile(r"[0-9]{1,4}"),
    "start": re.compile(r"-?[0-9]{1,6}"),
    "value": re.compile(r"-?[0-9]{1,6}"),
    "reversed": re.compile(r"(reversed)?"),
    "type": re.compile(r"[1AaIi]"),
    "colspan": re.compile(r"[1-9][0-9]?"),
    "rowspan": re.compile(r"[1-9][0-9]?"),
    "scope": re.compile(r"(row|col)(group)?"),
    "datetime": re.compile(r"[0-9PT][-+0-9A-Z:., ]{0,63}"),
}
# With its attributes, if these are written so that no other `<` can be within them.
_FORMATTING = re.compile(
    r"<(a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/])"
    r"((?:\s+[^\s\"'<>/=]+(?:=(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=]+))?)*+\s*/?>)?",
    re.I | re.ASCII,
)
_FORMATTING_WITHOUT_ATTRIBUTES = 3 * 13  # more of a kind than three at a time are not repeated
# A parser drops one line break at the start of a <pre>, and nh3 does not put it back.
_PRE_AND_BREAK = re.compile(r"(<pre[^>]*>)\n")
# Python-Markdown marks its own places in a text with these.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
# XML takes these for spaces in an attribute.
_WHITESPACE = {ord(character): f"&#{ord(character)};" for character in "\t\n\r"}
_VOID = re.compile(r"<(br|hr|img|wbr)\b([^>]*)>")


def sanitize(html: str, image_hosts: Collection[str] = ()) -> Element:
    """Return a `<div>` that holds what is harmless of `html`.

    `image_hosts` are the hosts whose https images may be shown; any other image becomes a link.
    The result again as HTML, sanitized again, is the same. Raises UnsafeHTMLError for HTML that is
    too large or too deep to be judged.
    """
    _check_size(html)
    failures: list[Exception] = []

    def keep(tag: str, name: str, value: str) -> str | None:
        # nh3 would pass the original value on where this raises.
        try:
            return _harmless_value(name, value)
        except Exception as failure:  # noqa: BLE001  it is raised again below
            failures.append(failure)
            return None

    # Where an element that is not kept stood between others, these may read otherwise without it.
    clean, before = html.encode("utf-8", "replace").decode(), ""
    for _ in range(_MAX_PASSES):
        clean, before = _parsed(clean, keep), clean
        if clean == before:
            break
        # Ends that HTML lets one omit, and entities, make it longer, but not as much as this.
        if clean.count("<") > 4 * MAX_TAGS or len(clean) > 8 * MAX_CHARACTERS:
            raise UnsafeHTMLError("the HTML is too intricate: it makes a parser repeat elements")
    else:
        raise UnsafeHTMLError("the HTML reads otherwise each time that it is parsed")
    if failures:
        raise UnsafeHTMLError("the HTML holds an attribute that cannot be judged") from failures[0]
    # What nh3 writes is XML but for these, and the parser for that is faster by far.
    xml = _VOID.sub(r"<\1\2/>", clean).translate(_WHITESPACE).replace("&nbsp;", "\xa0")
    parser = XMLParser(target=_ElementBuilder(image_hosts))  # noqa: S314  it has no document type
    try:
        parser.feed(f"<div>{xml}</div>")
        return parser.close()
    except ParseError as error:
        raise UnsafeHTMLError("the HTML cannot be judged: it is not well-formed") from error


def _check_size(html: str) -> None:
    if len(html) > MAX_CHARACTERS:
        raise UnsafeHTMLError(
            f"the HTML is too large: {len(html):,} characters, {MAX_CHARACTERS:,} at most"
        )
    if (tags := html.count("<")) > MAX_TAGS:
        raise UnsafeHTMLError(f"the HTML is too intricate: {tags:,} tags, {MAX_TAGS:,} at most")
    # Spaces that do not break are entities as well in what nh3 writes.
    if (entities := html.count("&") + html.count("\xa0")) > MAX_ENTITIES:
        raise UnsafeHTMLError(
            f"the HTML is too intricate: {entities:,} entities, {MAX_ENTITIES:,} at most"
        )
    if _repeated(html) * tags > MAX_COPIES:
        raise UnsafeHTMLError(
            f"the HTML is too intricate: {tags:,} tags, and formatting that each may repeat"
        )


def _repeated(html: str) -> float:
    """Return how much a parser can have to repeat in each paragraph at most."""
    number, length, link = _FORMATTING_WITHOUT_ATTRIBUTES, 0, 0
    for tag in _FORMATTING.finditer(html):
        size = len(tag[0] if tag[2] else html)
        if tag[1] in "aA":
            link = max(link, size)  # a link ends the one before it
        else:
            number += 1
            length += size
    return number + (length + link) / 40


def _parsed(html: str, keep: Callable[[str, str, str], str | None]) -> str:
    clean = nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_TAGS_WITH_CONTENT,
        attributes=_ATTRIBUTES,
        attribute_filter=keep,
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
    )
    return _PRE_AND_BREAK.sub(r"\1\n\n", _CONTROLS.sub("", clean))


def _harmless_value(name: str, value: str) -> str | None:
    value = _CONTROLS.sub("", value)
    if name == "class":
        return " ".join(word for word in value.split() if word in CLASSES) or None
    if name == "style":
        return harmless_style(value) or None
    if name in ("alt", "title"):
        return plain_text(value)  # scripts of themes make tooltips and captions of them
    if name in ("href", "src"):
        value = value.strip()
    pattern = _VALUES.get(name)
    return value if pattern is None or pattern.fullmatch(value) else None


class _ElementBuilder:
    """Builds elements from nh3's output, in which every element is closed.

    Elements that only their attributes make useful are settled here: a picture without a
    permitted host, a link without an address.
    """

    def __init__(self, image_hosts: Collection[str]) -> None:
        self._image_hosts = {host.lower() for host in image_hosts}
        self._builder = TreeBuilder()
        self._open: list[str] = []
        self.data = self._builder.data
        self.close = self._builder.close

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._open.append(tag)
        if len(self._open) > MAX_DEPTH + 1:
            raise UnsafeHTMLError(f"the HTML is nested more than {MAX_DEPTH} deep")
        if tag == "img":
            self._image(attributes)
            return
        if tag == "a":
            if "href" in attributes:
                attributes["rel"] = "nofollow noopener noreferrer"
            else:
                self._open[-1] = tag = "span"
                attributes.pop("title", None)
        self._builder.start(tag, attributes)

    def end(self, tag: str) -> None:
        if tag != "img":
            self._builder.end(self._open[-1])
        self._open.pop()

    def _image(self, attributes: dict[str, str]) -> None:
        source = attributes.get("src")
        text = attributes.get("alt", "")
        if source is None:
            self._builder.start("span", {})
            self._builder.data(text)
            self._builder.end("span")
        elif urlsplit(source).hostname in self._image_hosts:
            self._builder.start("img", attributes | {"alt": text, "loading": "lazy"})
            self._builder.end("img")
        elif "a" in self._open:
            self._builder.data(text or source)
        else:
            self._builder.start("a", {"href": source, "rel": "nofollow noopener noreferrer"})
            self._builder.data(text or source)
            self._builder.end("a")

"""What may be left of untrusted HTML: a check written from the design, not from the sanitizer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from urllib.parse import urlsplit

from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString

CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")

TAGS = {
    *("article", "section", "header", "footer", "aside", "div", "p", "br", "hr", "wbr"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "q", "cite", "pre", "code"),
    *("ul", "ol", "li", "dl", "dt", "dd", "figure", "figcaption", "img", "a", "time"),
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"),
    *("kbd", "samp", "var", "abbr", "dfn", "em", "strong", "b", "i", "u", "s", "del", "ins"),
    *("mark", "small", "span", "sub", "sup", "ruby", "rt", "rp", "bdi", "bdo"),
    *("details", "summary"),
}
EVERYWHERE = {"class", "style", "lang", "dir"}
SOMEWHERE = {
    "a": {"href", "title", "rel"},
    "img": {"src", "alt", "title", "width", "height", "loading"},
    "abbr": {"title"},
    "details": {"open"},
    "dfn": {"title"},
    "ol": {"start", "reversed", "type"},
    "li": {"value"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "time": {"datetime"},
}
CLASSES = {
    *("blog-post", "intro", "pro-tip", "conclusion"),
    *("news-article", "byline", "lead", "article-body"),
}
PROPERTIES = {
    *("color", "background", "background-color", "background-image"),
    *("font-size", "font-style", "font-variant", "font-weight", "letter-spacing", "line-height"),
    *("list-style-type", "text-align", "text-decoration", "text-decoration-color"),
    *("text-decoration-line", "text-decoration-style", "text-indent", "text-transform"),
    *("vertical-align", "border", "border-color", "border-style", "border-width"),
    *("border-radius", "border-collapse", "margin", "padding"),
    *(
        f"{box}-{side}"
        for box in ("margin", "padding", "border")
        for side in ("top", "right", "bottom", "left")
    ),
    *(
        f"border-{side}-{what}"
        for side in ("top", "right", "bottom", "left")
        for what in ("color", "style", "width")
    ),
}
FUNCTION = re.compile(
    r"(?:rgba?|hsla?|(?:repeating-)?(?:linear|radial|conic)-gradient)\(([^()]*)\)", re.IGNORECASE
)
STYLE_LENGTH = 1000
LENGTHS = {"px": 100, "pt": 75, "em": 6, "rem": 6, "ex": 12, "ch": 12, "%": 600, "": 1000}
SMALLEST = {"px": 8, "pt": 6, "em": 0.5, "rem": 0.5, "%": 50}
NUMBER = re.compile(r"([+-]?[0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)([a-z%]*)", re.IGNORECASE)


def violations(html: str, image_hosts: Collection[str] = ()) -> Iterator[str]:
    """Find everything in a result that must not be there, with two parsers."""
    if CONTROLS.search(html):
        yield "a control character"
    for parser in ("html.parser", "html5lib"):
        # With the space, "http:" is not taken for the address of a page.
        for node in BeautifulSoup(f"{html} ", parser).descendants:
            if isinstance(node, Tag):
                if parser == "html5lib" and node.name in ("html", "head", "body"):
                    continue  # html5lib adds them; the other parser would find them
                yield from (
                    f"{parser}: <{node.name}>: {what}" for what in wrong_with(node, image_hosts)
                )
            elif isinstance(node, PreformattedString):  # a comment, a declaration …
                yield f"{parser}: {type(node).__name__}"


def wrong_with(  # noqa: C901  one rule after the other
    tag: Tag, image_hosts: Collection[str]
) -> Iterator[str]:
    """Find everything about an element that must not be."""
    if tag.name not in TAGS:
        yield "is not an element of text"
    for name in tag.attrs:
        value = tag.get_attribute_list(name)
        text = " ".join(str(word) for word in value)
        if name not in EVERYWHERE | SOMEWHERE.get(tag.name, set()):
            yield f"has {name}={text!r}"
        elif name == "class" and tag.name == "code":
            if not re.fullmatch("language-[a-z0-9+#-]+", text):
                yield f"is of class {text!r}"
        elif name == "class" and not set(text.split()) <= CLASSES:
            yield f"is of class {text!r}"
        elif name == "style":
            yield from (f"has the style {text!r}: {what}" for what in wrong_with_style(text))
        elif name == "href" and not is_safe_link(text):
            yield f"links to {text!r}"
        elif name == "src" and (
            not text.lower().startswith("https://")
            or urlsplit(text).hostname not in {host.lower() for host in image_hosts}
            or not is_safe_link(text)
        ):
            yield f"loads {text!r}"
        elif name in ("colspan", "rowspan") and not re.fullmatch("[1-9][0-9]?", text):
            yield f"spans {text!r}"
        elif name in ("width", "height") and not re.fullmatch("[0-9]{1,4}", text):
            yield f"is as large as {text!r}"
    if tag.name == "a":
        if tag.get("href") is None:
            yield "has no address, which MkDocs does not survive"
        if tag.get_attribute_list("rel") != ["nofollow", "noopener", "noreferrer"]:
            yield f"has rel={tag.get('rel')!r}"
    if tag.name == "img" and (tag.get("src") is None or tag.get("alt") is None):
        yield "has no address or no alternative text"


def is_safe_link(address: str) -> bool:
    """Tell whether an address surely leads to another host, and to the one that it shows.

    Or to a place on its own page.
    """
    if re.fullmatch(r"#[\w.~%-]+", address):
        return True
    scheme, _, rest = address.partition(":")
    if re.search(r"[\s\\]", address):
        return False
    if scheme.lower() == "mailto":
        return bool(rest) and "/" not in rest
    host = re.split("[/?#]", rest.removeprefix("//"), maxsplit=1)[0]
    # MkDocs splits each link so, and does not survive where that fails.
    named = urlsplit(address).hostname
    return (
        scheme.lower() in ("http", "https")
        and rest.startswith("//")
        and "@" not in host
        and bool(named)
        and host.lower().startswith((str(named), "["))
    )


def wrong_with_style(style: str) -> Iterator[str]:
    """Find everything in an inline style that must not be there."""
    if len(style) > STYLE_LENGTH:
        yield "is too long"
    for declaration in style.split("; "):
        name, _, value = declaration.partition(": ")
        if name not in PROPERTIES:
            yield f"sets {name!r}"
        value = value.replace("/**/", " ")
        if re.search(r"\([^()]*\([^()]*\(", value):
            yield f"has functions too deep in {name!r}"
        while match := FUNCTION.search(value):
            yield from wrong_with_value(match[1], "a function")
            value = f"{value[: match.start()]} function {value[match.end() :]}"
        yield from wrong_with_value(value, name)


def wrong_with_value(value: str, name: str) -> Iterator[str]:
    """Find all words of a value without functions that are not known to be harmless."""
    value = re.sub(r"%(?=[\d.+-])", "% ", value)  # a percentage ends with its sign
    for word in re.split(r"[\s,/]+", value.strip()):
        if match := NUMBER.fullmatch(word):
            number, unit = float(match[1]), match[2].lower()
            if unit in ("deg", "grad", "rad", "turn"):
                continue
            if not 0 <= number <= LENGTHS.get(unit, -1):
                yield f"{word!r} in {name!r}"
            if (
                unit == "%"
                and number > 25
                and name.startswith(("margin", "padding", "text-indent"))
            ):
                yield f"{word!r} in {name!r}"
            if name == "line-height" and (unit or number < 1):
                yield f"{word!r} in {name!r}"
            if name == "font-size" and number < SMALLEST.get(unit, 1):
                yield f"{word!r} in {name!r}"
            if name.startswith("text-decoration") and number > LENGTHS[unit] / 10:
                yield f"{word!r} in {name!r}"
        elif not re.fullmatch(r"[A-Za-z-]+|#[0-9A-Fa-f]{3,8}", word) and word:
            yield f"{word!r} in {name!r}"

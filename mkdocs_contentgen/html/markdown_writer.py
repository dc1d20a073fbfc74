"""Write sanitized HTML as Markdown, none of whose text is syntax.

Python-Markdown, its usual extensions, and plugins with templates or includes take the text as it
is. What Markdown cannot say is left out; inline elements without a syntax stay HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from textwrap import indent
from urllib.parse import quote

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter, chomp

from .elements import DROPPED, HEADINGS

_LISTS = ("ul", "ol")
_QUOTES = ("blockquote", "aside")
_WRAPPERS = tuple("article section header footer main div figure details dl dd".split())
_CONTAINERS = (*_WRAPPERS, *_LISTS, *_QUOTES, "li")
_BLOCKS = (*_CONTAINERS, *HEADINGS, *"p pre table hr dt figcaption summary".split())
_NO_INLINE = (*_BLOCKS, *"a caption thead tbody tfoot tr td th".split())
_EMPHASIS = ("strong", "b", "em", "i")
_KEPT = frozenset("abbr bdi bdo del dfn ins kbd mark q rp rt ruby s small sub sup u var".split())
"""Inline elements that stay HTML."""

_SCRIPTS = {"sup_symbol": "<sup>", "sub_symbol": "<sub>"}
"""The options with which `10<sup>6</sup>` stays what it is: without the element, it is 106."""

_KEPT_ATTRIBUTES = ("title", "lang", "dir")
_TIGHT: tuple[list[str], ...] = ([], ["p"], ["p", "ul"], ["p", "ol"])
"""The blocks of items that need no empty lines."""

_INVISIBLE = (
    "\x80-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00\ufeff"
)
_SPECIAL = re.compile(
    rf"[\\`*\[\]{{<|~^#{_INVISIBLE}]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # those within words are text
    r"|&(?=#?\w{1,32};)"
    r"|(?P<twice>[(=%@!?:])(?=(?P=twice))|(?<!:)/(?=/)"  # `!!! note`, `==mark==`, `((`
    r"|\+(?=\+[\w\"'])|\$(?!\d)|(?<=\S)\$|(?<!\w)@(?=\w)|:(?=[a-z][\w+-]*:)"
)
_LINE_START = re.compile(r"[-+>:/]|(?:\d+|[A-Za-z]|[ivxlcdmIVXLCDM]+)[.)](?!\S)")
_IN_LINE = re.compile(rf"[^\w ,;()./?%\xa1-\U0010ffff-]|_|[.-](?=[.-])|[{_INVISIBLE}]")
_IN_BLOCK = re.compile(rf"[&<{{`~{_INVISIBLE}]")
_AMBIGUOUS = re.compile(
    r"(?:[0-9A-Za-z]|</(?:strong|b|em|i)>)\0|\0(?:[0-9A-Za-z]|<(?:strong|b|em|i)\b)"
)
"""Matches what is around emphasis whose asterisks would not be unique."""

_NOT_IN_ADDRESS = re.compile(r"[^\w./:?#&=%@!+,~-]")
_NOT_CODE = re.compile(rf"\{{[{{%#!+~=>-]|-8<|\A\s*(?:#!|:::)|[{_INVISIBLE}]")
"""What templates, snippets and highlighters read in code, too."""

_BLOCK_START = re.compile(
    r"(?=<(?:h[1-6]|[uod]l|p|pre|div|table|blockquote|section|article)[\s>])", re.IGNORECASE
)

_LINK = "\0"
"""Precedes links, which a `!` before them would make an image."""

_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\xa0": "&nbsp;"}


def to_markdown(html: str, extensions: Collection[str] = ()) -> str:
    """Return sanitized HTML as Markdown for a site with these extensions of Python-Markdown."""
    soup = BeautifulSoup(html, "html.parser")
    _normalize(soup)
    markdown = str(_Converter(extensions).convert_soup(soup)).strip()
    return markdown.replace(f"!{_LINK}", "&#33;").replace(_LINK, "")


def to_plain_markdown(html: str) -> str:
    """Return HTML of a model as Markdown, in which `<sup>` and `<sub>` are the only HTML.

    Markdown within it stays as it is.

    Raises RecursionError for elements that are nested too deeply.
    """
    html = _BLOCK_START.sub("</p>", html)
    if "</li>" not in html.lower():
        html = re.sub("(?i)<li>", "</li><li>", html)
    soup = BeautifulSoup(html, "html.parser")
    for tag in soup([*DROPPED, "title"] if soup.h1 else DROPPED):
        tag.decompose()
    for tag in soup("title"):
        tag.name = "h1"
    options = {"bullets": "-", "heading_style": "atx", "strip": ["a", "img"]}
    converter = _PlainConverter(**options, **_SCRIPTS)
    return str(converter.convert_soup(soup)).lstrip()


def to_readable_markdown(html: str) -> str:
    """Return the HTML of a text as Markdown for people, with `==statements to check==`."""
    marked = html.replace("<mark>", "==").replace("</mark>", "==")
    options = dict.fromkeys(("escape_asterisks", "escape_underscores", "escape_misc"), False)
    converter = MarkdownConverter(bullets="•", heading_style="atx", **options, **_SCRIPTS)
    return str(converter.convert(marked)).strip()


class _PlainConverter(MarkdownConverter):  # type: ignore[misc]  # see pyproject.toml
    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a cell, which ends at its first unescaped `|`."""
        return str(super().convert_td(el, text.replace("|", r"\|"), parent_tags))

    convert_th = convert_td


class _Converter(MarkdownConverter):  # type: ignore[misc]  # see pyproject.toml
    def __init__(self, extensions: Collection[str]) -> None:
        super().__init__(autolinks=False, heading_style="atx", wrap=True, wrap_width=None)
        self._extensions = extensions

    def escape(self, text: str, parent_tags: set[str]) -> str:
        """Return text of which nothing is syntax within a line."""
        return _SPECIAL.sub(lambda match: _escape_character(match[0]), text)

    def get_conv_fn(self, tag_name: str) -> Callable[..., str] | None:
        """Return the method that converts elements with this tag, or None."""
        return self._keep if tag_name in _KEPT else super().get_conv_fn(tag_name)

    def _keep(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        if "_noformat" in parent_tags:
            return text
        if el.name == "kbd":  # markdownify takes it for code, and escapes nothing in it
            text = self.escape(" ".join(el.get_text().split()), parent_tags)
        names = [name for name in _KEPT_ATTRIBUTES if name in el.attrs]
        attributes = "".join(f' {name}="{_to_entities(str(el[name]))}"' for name in names)
        return f"<{el.name}{attributes}>{text}</{el.name}>"

    def _emphasize(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        start, end, inner = chomp(text)
        if "_noformat" in parent_tags or not inner:
            return text
        mark, tag = ("**", "strong") if el.name in ("strong", "b") else ("*", "em")
        around = f"{el.previous_sibling or ''}\0{el.next_sibling or ''}"
        if el.find(_EMPHASIS) or el.find_parent(_EMPHASIS) or _AMBIGUOUS.search(around):
            return f"{start}<{tag}>{inner}</{tag}>{end}"
        return f"{start}{mark}{inner}{mark}{end}"

    convert_strong = convert_b = convert_em = convert_i = _emphasize

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a link."""
        start, end, inner = chomp(text)
        if "_noformat" in parent_tags or not inner:
            return text
        return f"{start}{_LINK}[{' '.join(inner.split())}]({_target(el, 'href')}){end}"

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return an image, in headings and cells, too."""
        return f"![{_to_entities(str(el.get('alt', '')))}]({_target(el, 'src')})"

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a line break that needs no second line."""
        return " " if parent_tags & {*HEADINGS, "_noformat"} else "<br>"

    def convert_code(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return code within a line."""
        if "pre" in parent_tags:
            return text
        code = " ".join(el.get_text().split())
        if _NOT_CODE.search(code) or "|" in code:
            return f"<code>{_to_entities(code)}</code>"
        return str(super().convert_code(el, code, parent_tags))

    convert_samp = convert_code

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a block of code: with a fence, or nested with an indentation."""
        if "_inline" in parent_tags:
            return self.convert_code(el, text, parent_tags - {"pre"})
        code = el.get_text().strip("\n")
        fence = max(["```", *(f"{ticks}`" for ticks in re.findall("`+", code))], key=len)
        is_nested = not parent_tags.isdisjoint((*_QUOTES, "li"))
        is_first = el.find_previous_sibling() is None  # where an indentation would be lost
        if _NOT_CODE.search(code) or (is_nested and (is_first or "~~~" in code or "```" in code)):
            html = _to_entities(code) if is_nested else f"{_to_entities(code, _IN_BLOCK)}\n"
            return f"\n\n<pre><code>{html}</code></pre>\n\n"
        if is_nested:
            return _separated(el, _LISTS, indent(code, "    "))
        names = [it for code in el.find_all("code") for it in code.get_attribute_list("class")]
        language = str(names[0] or "").removeprefix("language-") if names else ""
        return f"\n\n{fence}{language}\n{code}\n{fence}\n\n"

    def convert_p(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a paragraph whose beginning is no syntax."""
        text = " ".join(text.split())
        if "_inline" in parent_tags:
            return f" {text} "
        if start := _LINE_START.match(text):
            last = start.end() - 1
            text = f"{text[:last]}{_escape_character(text[last])}{text[last + 1 :]}"
        return f"\n\n{text}\n\n"

    def convert_list(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a list, apart from one before it."""
        return _separated(el, _LISTS, text.strip("\n"))

    convert_ul = convert_ol = convert_list

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return an item, with the indentation that Python-Markdown wants."""
        is_loose = el.parent is not None and "data-loose" in el.parent.attrs
        text = text.strip() if is_loose else text.strip().replace("\n\n", "\n")
        bullet = f"{el['value']}." if "value" in el.attrs else "-"
        end = "\n\n" if is_loose else "\n"
        return f"{bullet} {indent(text, '    ').strip()}{end}" if text else ""

    def convert_blockquote(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a quotation, apart from one before it."""
        if "_inline" in parent_tags:
            return f" {text.strip()} "
        lines = (f"> {line}".rstrip() for line in text.strip().split("\n"))
        return _separated(el, _QUOTES, "\n".join(lines))

    def convert_aside(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return an admonition, or a quotation on sites that have none."""
        if "_inline" in parent_tags or "admonition" not in self._extensions:
            return self.convert_blockquote(el, text, parent_tags)
        return f"\n\n!!! tip\n{indent(text.strip(), '    ')}\n\n"


def _normalize(soup: BeautifulSoup) -> None:
    """Put loose text into paragraphs, and unwrap what only groups blocks."""
    for tag in soup.find_all(True):
        if tag.name not in _NO_INLINE and tag.find(_BLOCKS):
            tag.unwrap()
    for tag in soup.select(".pro-tip"):
        tag.name = "aside"
    for tag in soup.find_all(["caption", "figcaption", "dt", "summary"]):
        if tag.name == "caption" and tag.parent is not None:
            tag.parent.insert_before(tag)
        elif tag.name in ("dt", "summary"):
            tag.wrap(Tag(name="p"))
        tag.name = "strong" if tag.name in ("dt", "summary") else "p"
    for tag in [soup, *soup.find_all(_CONTAINERS)]:
        _wrap_loose_text(tag)
    for tag in soup.find_all(_WRAPPERS):
        tag.unwrap()
    _describe_lists(soup)


def _describe_lists(soup: BeautifulSoup) -> None:
    """Set the numbers of items, and mark lists whose items need empty lines between them."""
    for tag in soup.find_all(_LISTS):
        items = tag.find_all("li", recursive=False)
        if any([it.name for it in item.find_all(recursive=False)] not in _TIGHT for item in items):
            for parent in (tag, *tag.find_parents(_LISTS)):
                parent["data-loose"] = ""
        start = str(tag.get("start", "1"))
        for number, item in enumerate(items, int(start) if start.isdecimal() else 1):
            item.attrs = {"value": str(number)} if tag.name == "ol" else {}


def _wrap_loose_text(parent: Tag) -> None:
    """Put each run of inline content into a paragraph."""
    paragraph: Tag | None = None
    for child in list(parent.children):
        if isinstance(child, Tag) and child.name in _BLOCKS:
            paragraph = None
        elif paragraph is not None:
            paragraph.append(child)
        elif isinstance(child, Tag) or child.get_text(strip=True):
            paragraph = Tag(name="p")
            child.insert_before(paragraph)
            paragraph.append(child)
        else:
            child.extract()


def _separated(el: Tag, kinds: Collection[str], text: str) -> str:
    """Return a block; behind one of these kinds, with a comment between them."""
    previous = el.find_previous_sibling()
    is_merged = previous is not None and previous.name in kinds
    return f"\n\n<!-- -->\n\n{text}\n\n" if is_merged else f"\n\n{text}\n\n"


def _target(el: Tag, name: str) -> str:
    """Return the address and the title of a link or an image, for its brackets."""
    address = _NOT_IN_ADDRESS.sub(lambda match: quote(match[0], safe=""), str(el.get(name, "")))
    title = _to_entities(str(el.get("title", "")))
    return f'{address} "{title}"' if title else address


def _escape_character(character: str) -> str:
    return f"\\{character}" if character in "*_#+->." else _entity(character)


def _to_entities(text: str, pattern: re.Pattern[str] = _IN_LINE) -> str:
    """Return text of which nothing is syntax in an attribute, or in HTML within a line."""
    return pattern.sub(lambda match: _entity(match[0]), text)


def _entity(character: str) -> str:
    return _NAMED.get(character) or f"&#{ord(character)};"

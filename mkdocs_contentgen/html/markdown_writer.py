"""Write sanitized HTML as Markdown, none of whose text is syntax.

Python-Markdown, its usual extensions, and plugins with templates or includes take the text as it
is. What Markdown cannot say is left out; inline elements without a syntax stay HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from copy import copy
from textwrap import indent
from urllib.parse import quote

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LISTS = ("ul", "ol")
_WRAPPERS = ("article", "section", "header", "footer", "main", "div", "figure")
_CONTAINERS = ("li", "blockquote", "aside", "dd")
_BLOCKS = (
    *_HEADINGS,
    *_LISTS,
    *_WRAPPERS,
    *_CONTAINERS,
    *("p", "pre", "table", "hr", "dl", "dt", "figcaption"),
)
_EMPHASIS = ("strong", "b", "em", "i")
_KEPT = frozenset("abbr bdi bdo del dfn ins kbd mark q rp rt ruby s small sub sup u var".split())
"""Inline elements that stay HTML."""

_KEPT_ATTRIBUTES = ("title", "lang", "dir")

_INVISIBLE = (
    "\x80-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00\ufeff"
)
_SPECIAL = re.compile(
    rf"[\\`*\[\]{{<|~^#{_INVISIBLE}]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # those within words are text
    r"|&(?=#?\w{1,32};)"
    r"|(?P<twice>[(=%@!?:])(?=(?P=twice))"  # `!!! note`, `==mark==`, `((`
    r"|!\Z|\+(?=\+[\w\"'])|\$(?!\d)|(?<=\S)\$|(?<!\w)@(?=\w)|:(?=[a-z][\w+-]*:)"
)
_LINE_START = re.compile(r"[-+>:/]|(?:\d+|[A-Za-z]|[ivxlcdmIVXLCDM]+)[.)](?!\S)")
_IN_HTML = re.compile(rf"[^\w ,;()./?%-]|_|[.-](?=[.-])|[{_INVISIBLE}]")
_IN_BLOCK = re.compile(rf"[&<{{{_INVISIBLE}]")
_NOT_IN_ADDRESS = re.compile(r"[^\w./:?#&=%@!+,~-]")
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\xa0": "&nbsp;"}
_NOT_CODE = re.compile(rf"\{{[{{%#!+~=>-]|-8<|\A\s*(?:#!|:::)|[{_INVISIBLE}]")
"""What templates, snippets and highlighters read in code, too."""


def to_markdown(
    article: Tag | str, extensions: Collection[str] = (), *, is_nested: bool = False
) -> str:
    """Return sanitized HTML as Markdown for a site with these extensions of Python-Markdown.

    Markdown that `is_nested` is to be indented or quoted by the caller.
    """
    return MarkdownWriter(extensions, is_nested=is_nested).write(article)


class MarkdownWriter(MarkdownConverter):  # type: ignore[misc]  # see pyproject.toml
    """Converts sanitized HTML. Subclasses may escape less, or have a syntax for more elements."""

    def __init__(self, extensions: Collection[str] = (), *, is_nested: bool = False) -> None:
        super().__init__(autolinks=False, heading_style="atx", wrap=True, wrap_width=None)
        self._extensions = extensions
        self._is_nested = is_nested

    def write(self, html: Tag | str) -> str:
        """Return the Markdown of the blocks in an element."""
        soup = BeautifulSoup("", "html.parser")
        soup.append(BeautifulSoup(html, "html.parser") if isinstance(html, str) else copy(html))
        _normalize(soup)
        return str(self.convert_soup(soup)).strip()

    def write_inline(self, block: Tag) -> str:
        """Return the content of one block, such as a paragraph, on one line."""
        parts = [self.process_element(node, {"_inline"}) for node in block.children]
        return " ".join("".join(parts).split())

    def escape(self, text: str, parent_tags: set[str]) -> str:
        """Return text of which nothing is syntax within a line."""
        return _SPECIAL.sub(lambda match: _escape_character(match[0]), text)

    def get_conv_fn(self, tag_name: str) -> Callable[..., str] | None:
        """Return the method that converts elements with this tag, or None."""
        return self._keep if tag_name in _KEPT else super().get_conv_fn(tag_name)

    def _keep(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        if "_noformat" in parent_tags or "\n" in text:
            return text
        if el.name == "kbd":  # markdownify takes it for code, and escapes nothing in it
            text = self.escape(" ".join(el.get_text().split()), parent_tags)
        names = [name for name in _KEPT_ATTRIBUTES if name in el.attrs]
        attributes = "".join(f' {name}="{_to_entities(str(el[name]))}"' for name in names)
        return f"<{el.name}{attributes}>{text}</{el.name}>"

    def _emphasize(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        mark, tag = ("**", "strong") if el.name in ("strong", "b") else ("*", "em")
        if "_noformat" in parent_tags or "\n" in text or not text.strip():
            return text
        start, end = text[: text[0] == " "], text[len(text) - (text[-1] == " ") :]
        siblings = (el.previous_sibling, el.next_sibling)
        is_clear = not (
            el.find(_EMPHASIS)
            or el.find_parent(_EMPHASIS)
            or any(isinstance(it, Tag) and it.name in _EMPHASIS for it in siblings)
        )
        inner = text.strip()
        marked = f"{mark}{inner}{mark}" if is_clear else f"<{tag}>{inner}</{tag}>"
        return f"{start}{marked}{end}"

    convert_strong = convert_b = convert_em = convert_i = _emphasize

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a link."""
        if "_noformat" in parent_tags or not (text.strip() and el.get("href")):
            return text
        start, end = text[: text[0].isspace()], text[len(text) - text[-1].isspace() :]
        return f"{start}[{' '.join(text.split())}]({_target(el, 'href')}){end}"

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return an image, in headings and cells, too."""
        return f"![{_to_entities(str(el.get('alt', '')))}]({_target(el, 'src')})"

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a line break that needs no second line."""
        return " " if parent_tags & {*_HEADINGS, "_noformat"} else "<br>"

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
        is_nested = self._is_nested or not parent_tags.isdisjoint(_CONTAINERS)
        if _NOT_CODE.search(code) or (is_nested and el.find_previous_sibling() is None):
            html = _to_entities(code, _IN_HTML if is_nested else _IN_BLOCK)
            return f"\n\n<pre><code>{html}</code></pre>\n\n"
        if is_nested:
            return _separated(el, _LISTS, indent(code, "    "))
        fence = max(["```", *(f"{ticks}`" for ticks in re.findall("`+", code))], key=len)
        return f"\n\n{fence}\n{code}\n{fence}\n\n"

    def convert_p(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a paragraph whose beginning is no syntax."""
        text = " ".join(text.split())
        if "_inline" in parent_tags:
            return f" {text} "
        if start := _LINE_START.match(text):
            position = start.end() - 1
            text = f"{text[:position]}{_escape_character(text[position])}{text[position + 1 :]}"
        return f"\n\n{text}\n\n"

    def convert_list(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a list, apart from one before it."""
        if "li" in parent_tags and "data-loose" not in el.attrs:
            return _separated(el, _LISTS, text.strip("\n"), breaks=1)
        return _separated(el, _LISTS, text.strip("\n"))

    convert_ul = convert_ol = convert_list

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return an item, with the indentation that Python-Markdown wants."""
        is_loose = el.parent is not None and "data-loose" in el.parent.attrs
        text = text.strip()
        if not is_loose:
            text = text.replace("\n\n", "\n")
        bullet = f"{el['value']}." if "value" in el.attrs else "-"
        return f"{bullet} {indent(text, '    ').strip()}\n" + "\n" * is_loose

    def convert_blockquote(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a quotation, apart from one before it."""
        if "_inline" in parent_tags:
            return f" {text.strip()} "
        quoted = indent(text.strip(), "> ", lambda line: True)
        return _separated(el, ("blockquote", "aside"), re.sub("(?m)^> $", ">", quoted))

    def convert_aside(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return an admonition, or a quotation on sites that have none."""
        if "_inline" in parent_tags or "admonition" not in self._extensions:
            return self.convert_blockquote(el, text, parent_tags)
        return f"\n\n!!! tip\n{indent(text.strip(), '    ')}\n\n"

    def convert_dt(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a term, or a paragraph on sites without definition lists."""
        if "def_list" in self._extensions:
            return str(super().convert_dt(el, text, parent_tags))
        return self.convert_p(
            el, text if el.find(_EMPHASIS) else f"**{text.strip()}**", parent_tags
        )

    def convert_dd(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a definition, or its paragraphs on sites without definition lists."""
        if "def_list" in self._extensions:
            return str(super().convert_dd(el, text, parent_tags))
        return f"\n\n{text.strip()}\n\n"

    def convert_hr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a rule that is no front matter."""
        return "\n\n***\n\n"


def _normalize(soup: BeautifulSoup) -> None:
    """Put loose text into paragraphs, unwrap what only groups blocks, and describe lists."""
    for tag in soup.find_all(_WRAPPERS + _CONTAINERS):
        if "pro-tip" in tag.get_attribute_list("class"):
            tag.name = "aside"
        _wrap_loose_text(tag)
    for tag in soup.find_all(_WRAPPERS):
        tag.unwrap()
    for tag in soup.find_all(["caption", "figcaption"]):
        if tag.name == "caption" and tag.parent is not None:
            tag.parent.insert_before(tag)
        tag.name = "p"
    for tag in soup.find_all(_LISTS):
        items = tag.find_all("li", recursive=False)
        blocks = tag.find({*_BLOCKS} - {*_LISTS, "li", "p"})
        if blocks or any(len(item.find_all("p", recursive=False)) > 1 for item in items):
            for parent in (tag, *tag.find_parents(_LISTS)):
                parent["data-loose"] = ""
        start = str(tag.get("start", "1"))
        for number, item in enumerate(items, int(start) if start.isdecimal() else 1):
            item.attrs = {"value": str(number)} if tag.name == "ol" else {}


def _wrap_loose_text(parent: Tag) -> None:
    """Put each run of inline content into a paragraph."""
    paragraph: Tag | None = None
    for child in list(parent.children):
        if isinstance(child, Tag) and child.name != "a" and child.find(_BLOCKS):
            if child.name not in (*_BLOCKS, "li"):
                child.unwrap()  # an inline element around blocks
            paragraph = None
        elif isinstance(child, Tag) and child.name in _BLOCKS:
            paragraph = None
        elif paragraph is not None:
            paragraph.append(child)
        elif isinstance(child, Tag) or child.get_text(strip=True):
            paragraph = Tag(name="p")
            child.insert_before(paragraph)
            paragraph.append(child)
        else:
            child.extract()


def _separated(el: Tag, kinds: Collection[str], text: str, *, breaks: int = 2) -> str:
    """Return a block; behind one of these kinds, with a comment between them."""
    previous = el.find_previous_sibling()
    if previous is not None and previous.name in kinds:
        return f"\n\n<!-- -->\n\n{text}\n\n"
    return "\n" * breaks + text + "\n" * breaks


def _target(el: Tag, name: str) -> str:
    """Return the address and the title of a link or an image, for its brackets."""
    address = _NOT_IN_ADDRESS.sub(lambda match: quote(match[0], safe=""), str(el.get(name, "")))
    title = _to_entities(str(el.get("title", "")))
    return f'{address} "{title}"' if title else address


def _escape_character(character: str) -> str:
    return f"\\{character}" if character in "*_#+->." else _entity(character)


def _to_entities(text: str, pattern: re.Pattern[str] = _IN_HTML) -> str:
    """Return text of which nothing is syntax in an attribute, or in HTML within a line."""
    return pattern.sub(lambda match: _entity(match[0]), text)


def _entity(character: str) -> str:
    return _NAMED.get(character) or f"&#{ord(character)};"

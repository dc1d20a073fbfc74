"""Highlight the code of an article with the highlighter of the site."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from inspect import signature
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown

_MAX_LENGTH = 20_000
"""The maximum length of code in characters: lexers can be slow."""

_SETTINGS = "get_pymdownx_highlight_settings"
"""The method of pymdownx.highlight, which pymdownx.superfences and others load, too."""

_OPTIONS_LEFT_OUT = ("line_spans", "line_anchors", "anchor_linenums")
"""Options of pymdownx that give each line an id: an article has no ids but those of headings."""

_PART_OF_HTML = re.compile(r"(?P<tag><(?P<closes>/?)(?P<name>\w*)[^<>]*>)|[^<]+")
"""A tag, or the text between two tags."""

_CHARACTER = re.compile(r"&[#\w]+;|.", re.DOTALL)

_Highlighter = Callable[[str, str], str]
"""Takes code and its language, or an empty string, and returns HTML."""


def highlight_code(article: Element, md: Markdown) -> None:
    """Replace blocks of code by HTML with colours, if the site highlights code.

    A language that the highlighter does not know is plain text, as in a fence of the author's.
    """
    blocks = []
    for pre in article.iter("pre"):
        if _can_be_highlighted(pre):
            blocks.append(pre)
    highlight = _find_highlighter(md) if blocks else None
    if highlight is None:
        return
    for pre in blocks:
        code = pre[0]
        language = code.get("class", "").removeprefix("language-")
        text = "".join(code.itertext()).rstrip("\n")
        try:
            html = highlight(text, language)
        except Exception:  # noqa: BLE001, S112
            # Lexers, styles and formatters are plugins, which raise anything. Code without colours
            # can be read, and a warning would end a strict build.
            continue
        marked = _with_marks(html, text, _marks(code))
        if marked is None:
            continue
        pre.remove(code)
        pre.text = ""
        pre.tag = "div"
        pre.set("class", "contentgen-code")
        SubElement(pre, "p").text = md.htmlStash.store(marked)


def _can_be_highlighted(pre: Element) -> bool:
    if len(pre) != 1 or pre[0].tag != "code":
        return False
    code = pre[0]
    # Elements in the code, text beside it and kept styles would be lost.
    if any(child.tag != "mark" or len(child) for child in code):
        return False
    if f"{pre.text or ''}{code.tail or ''}".strip():
        return False
    if "style" in pre.attrib or "style" in code.attrib:
        return False
    return 0 < len("".join(code.itertext())) <= _MAX_LENGTH


def _marks(code: Element) -> list[tuple[int, int]]:
    """Return where the statements to check begin and end in the text of the code."""
    ranges: list[tuple[int, int]] = []
    end = len(code.text or "")
    for mark in code:
        start = end
        end += len(mark.text or "")
        ranges.append((start, end))
        end += len(mark.tail or "")
    return ranges


def _with_marks(html: str, text: str, ranges: list[tuple[int, int]]) -> str | None:
    """Return highlighted code with its statements to check in `<mark>`.

    A statement of several colours has a mark in each. Returns None if the highlighter has changed
    the text, so that nobody knows where the statements are.
    """
    if not ranges:
        return html
    text += "\n"  # highlighters end the last line
    marked: list[str] = []
    position = 0
    for part, is_code in _parts_of(html):
        if not is_code:
            marked.append(part)
            continue
        for character in _CHARACTER.findall(part):
            if not text.startswith(unescape(character), position):
                return None
            is_marked = any(start <= position < end for start, end in ranges)
            marked.append(f"<mark>{character}</mark>" if is_marked else character)
            position += 1
    has_all = position >= len(text) - 1  # but perhaps not the last line break
    if not has_all:
        return None
    return "".join(marked).replace("</mark><mark>", "")


def _parts_of(html: str) -> Iterator[tuple[str, bool]]:
    """Yield the tags and texts of highlighted code, and whether each is code.

    A text is code within `<code>`, except for the numbers of lines.
    """
    in_code = False
    in_number = False
    for part in _PART_OF_HTML.finditer(html):
        if not part["tag"]:
            yield part[0], in_code and not in_number
            continue
        yield part[0], False
        if part["name"] == "code":
            in_code = not part["closes"]
        in_number = "linenos" in part[0] and part["name"] == "span"


def _find_highlighter(md: Markdown) -> _Highlighter | None:
    """Return the highlighter of the author's fences, or None if the site has none.

    Neither guesses a language: with 20,000 empty lines, Pygments guesses for 12 seconds.
    """
    for extension in md.registeredExtensions:
        if hasattr(extension, _SETTINGS):
            return _pymdownx_highlighter(extension, md)
    # Without one of pymdownx, fences have the colours of codehilite, whose module is loaded then.
    from markdown.extensions.codehilite import CodeHiliteExtension

    for extension in md.registeredExtensions:
        if isinstance(extension, CodeHiliteExtension):
            return _codehilite_highlighter(extension)
    return None


def _pymdownx_highlighter(extension: Any, md: Markdown) -> _Highlighter:
    options = getattr(extension, _SETTINGS)()
    make = extension.get_pymdownx_highlighter()
    # Which options there are, and whether `md` is one, differs between versions.
    known = signature(make).parameters.keys() - _OPTIONS_LEFT_OUT
    available = {**options, "md": md, "guess_lang": False}
    given = {}
    for name, value in available.items():
        if name in known:
            given[name] = value

    def highlight(code: str, language: str) -> str:
        extension.pygments_code_block += 1  # as for a block of the author's
        number = extension.pygments_code_block
        highlighter = make(**given)
        html: str = highlighter.highlight(
            code, language, options["css_class"], code_block_count=number
        )
        return html

    return highlight


def _codehilite_highlighter(extension: Any) -> _Highlighter | None:
    from markdown.extensions.codehilite import CodeHilite

    options = extension.getConfigs()
    if not options["use_pygments"]:
        return None
    options["style"] = options.pop("pygments_style")
    options["guess_lang"] = False

    def highlight(code: str, language: str) -> str:
        # The first line is code, even if it looks like the name of a language.
        return CodeHilite(code, lang=language or None, **options).hilite(shebang=False)

    return highlight

"""Read Markdown back as a site does, and compare it with the HTML that it was written from.

No word of an article may become markup in the Markdown of its page. The writer escapes the syntax
that it knows, but only reading the result shows what the extensions of a site make of it. When a
word is read as markup, it is missing in the text. So if all words are there, each in the same
element as before, none was read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from html import escape, unescape
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring

from markdown import Markdown

from ..display import quoted
from ..errors import ApprovalError
from ..html.elements import BLOCK_LEVEL, CELLS, HEADINGS, VOID
from ..html.markdown_writer import WrittenBlock, join_blocks
from ..sequences import common_length
from ..site.site import MarkdownExtensions

_OPTIONS: dict[str, dict[str, Any]] = {
    "toc": {"permalink": False, "anchorlink": False, "baselevel": 1},
    "codehilite": {"use_pygments": False, "linenums": False, "css_class": "highlight"},
    "pymdownx.highlight": {
        "use_pygments": False,
        "linenums": None,
        "auto_title": False,
        "css_class": "highlight",
    },
    "pymdownx.superfences": {"css_class": ""},
}
"""Options with which extensions add no text of their own."""

COMMENT = "<!-- -->"
"""Keeps what stands before it and after it apart. The comparison leaves it out."""

_VOID_TAG = re.compile(rf"<({'|'.join(sorted(VOID))})\b([^<>]*?)/?>")
"""Matches the tag of an element without an end, in HTML or XML."""

_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)\w+;")
"""Matches an entity that XML does not have."""

_SPACE = re.compile(r"[ \t\r\n]+")
_PART = re.compile("<[^<>]*>| |[^<> ]+")
"""Matches a tag, a space or a word."""

_BLANK_LINE = re.compile("^ +$", re.MULTILINE)
"""Matches the spaces of a line that has nothing else."""

_PLAIN_PUNCTUATION = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "…": "..."})
"""Plain punctuation for what extensions for typography make of it."""

_TRANSPARENT = frozenset({"thead", "tbody", "tfoot", "span", "abbr"})
"""Elements that extensions add, and that show nothing by themselves."""

_ADDED = frozenset({"id", "class", "rel", "target", "loading"})
"""Attributes that extensions add."""

_LINKED = ("http://", "https://", "mailto:")
"""The starts of the addresses that extensions make links of."""

_DEFAULTS = {("start", "1"), ("type", "1")}
"""Attributes that say of a list what is the case without them."""

_TOC = '<div class="toc">'
"""The start of a table of contents."""

_VARIES = re.compile(r'</?abbr\b[^<>]*>| id="[^"]*"|\s+')
"""Matches what depends on the other words of a page, and white space."""

_HIGHLIGHTED = re.compile(r"\bhighlight\b|\blanguage-\S+|\s")
"""Matches the classes that highlighters give to code, and white space."""

_MAX_READINGS = 5
"""How often a page is read until it has to be as expected: each time, more of it is HTML."""

_NO_PLACE = (
    "Markdown is not read at the place of the text, or the text would change what stands around "
    "it; move its marker between two paragraphs, outside of HTML"
)
_EMPTY_CELLS = re.compile("(?:<t[dh]></t[dh]>)+$")
"""Matches the empty cells at the end of a row."""


class MarkdownReader:
    """Reads Markdown with the extensions of a site, but without its plugins.

    `link` returns what Markdown has for an address.
    """

    def __init__(self, extensions: MarkdownExtensions, link: Callable[[str], str] = str) -> None:
        self._link = link
        self._known: dict[str, str] = {}
        options: dict[str, dict[str, Any]] = {}
        for name in map(str, extensions.names):
            harmless = _OPTIONS.get(name.removeprefix("markdown.extensions."), {})
            options[name] = {**extensions.options.get(name, {}), **harmless}
        self._markdown = Markdown(extensions=extensions.names, extension_configs=options)

    def html(self, markdown: str) -> str:
        """Return the HTML of Markdown. Raises ApprovalError if an extension fails."""
        if markdown not in self._known:
            self._known[markdown] = self._convert(markdown)
        return self._known[markdown]

    def _convert(self, markdown: str) -> str:
        try:
            return self._markdown.reset().convert(markdown)
        except Exception as error:  # extensions raise anything
            raise ApprovalError(
                f"an extension of Python-Markdown fails ({type(error).__name__}: {error})"
            ) from error

    def write(
        self, blocks: Sequence[WrittenBlock], compose: Callable[[str], str], word: str
    ) -> str:
        """Return a text with which a page is read as these blocks, and as before around them.

        `compose` returns the page with a text at its place. The page with `word` there shows what
        is around the text. Blocks that are read as something else stand there as HTML, and comments
        keep the text apart where it would change what is around it. Raises ApprovalError if that
        does not help.
        """
        around = _shown(self.html(compose(word))).split(f"<p>{word}</p>")
        if len(around) != 2:
            raise ApprovalError(_NO_PLACE)
        expected = [self._expected(block) for block in blocks]
        as_html: set[int] = set()
        is_apart = False
        different: set[int] = set()
        for _ in range(_MAX_READINGS):
            text = _join(blocks, as_html, is_apart=is_apart)
            content = _content_between(self.html(compose(text)), *around)
            if content is None:
                different = set()
                if is_apart:
                    as_html = set(range(len(blocks)))
                is_apart = True
                continue
            found = _describe_blocks(content, self._link)
            if found == expected:
                return text
            different = _differences(found, expected)
            if different <= as_html:
                break
            as_html |= different
        raise ApprovalError(_why_not(blocks, sorted(different & as_html)))

    def _expected(self, block: WrittenBlock) -> str:
        """Return the description of a block, or one that nothing has for HTML that is not valid."""
        descriptions = _describe_blocks(block.html, self._link)
        return "".join(descriptions) if descriptions else "?"


def _join(blocks: Sequence[WrittenBlock], as_html: Collection[int], *, is_apart: bool) -> str:
    """Return blocks as Markdown or, if their number is in `as_html`, as HTML."""
    tags = []
    texts = []
    for number, block in enumerate(blocks):
        tags.append(block.tag)
        texts.append(block.html if number in as_html else block.markdown)
    text = join_blocks(tags, texts)
    if is_apart:
        return f"{COMMENT}\n\n{text}\n\n{COMMENT}"
    return text


def _without_tables_of_contents(html: str) -> str:
    """Return HTML without its tables of contents, which have the headings of the whole page."""
    first, *others = html.split(_TOC)
    parts = [first]
    for other in others:
        _, _, after = other.partition("</div>")
        parts.append(after)
    return "".join(parts)


def _shown(html: str) -> str:
    """Return HTML without what depends on the other words of a page."""
    return _VARIES.sub("", _without_tables_of_contents(html))


def _content_between(html: str, before: str, after: str) -> str | None:
    """Return what stands between two parts of HTML, or None if they are not its start and its end.

    The parts are without what depends on the other words of a page.
    """
    shown = _shown(html)
    start, end = len(before), len(shown) - len(after)
    if start > end or not (shown.startswith(before) and shown.endswith(after)):
        return None
    html = _without_tables_of_contents(html)
    return html[_position(html, start) : _position(html, end)]


def _position(html: str, shown: int) -> int:
    """Return the position in HTML before which so many characters of _shown() stand."""
    position = shown
    for varying in _VARIES.finditer(html):
        if varying.start() >= position:
            break
        position += len(varying[0])
    return position


def _differences(found: Sequence[str] | None, expected: Sequence[str]) -> set[int]:
    """Return the numbers of the expected blocks that were read as something else.

    Where other blocks were read than as many, these are all from the first difference to the last
    one, with their neighbours.
    """
    if found is None:  # other markup
        return set(range(len(expected)))
    if len(found) == len(expected):
        pairs = enumerate(zip(found, expected, strict=True))
        return {number for number, (one, other) in pairs if one != other}
    start = common_length(found, expected) - 1
    end = len(expected) - common_length(found[::-1], expected[::-1]) + 1
    return set(range(max(start, 0), min(end, len(expected))))


def _why_not(blocks: Sequence[WrittenBlock], changed: Sequence[int]) -> str:
    """Return why blocks cannot be written, of which those with the numbers `changed` are HTML."""
    if not changed:
        return _NO_PLACE
    html = blocks[changed[0]].html
    words = quoted(" ".join(unescape(re.sub("<[^<>]*>", " ", html)).split()))
    return (
        f"the Markdown extensions of this site change even the HTML of {words}; take out the "
        "extension that does, or change the text with `contentgen review`"
    )


def _describe_blocks(html: str, link: Callable[[str], str]) -> list[str] | None:
    """Return a description of each block of HTML, or None if the HTML is not well-formed.

    Blocks with the same description have the same text in the same elements.
    """
    xml = _VOID_TAG.sub(r"<\1\2/>", html)
    xml = _NAMED_ENTITY.sub(lambda match: escape(unescape(match[0])), xml)
    try:
        root = fromstring(f"<div>{xml}</div>")  # noqa: S314  without a document type
    except ParseError:
        return None
    for anchor in root.iter("a"):
        anchor.set("href", link(anchor.get("href", "")))
    return _describe_content(root)


def _describe_content(parent: Element) -> list[str]:
    """Return a description of each block in an element. Text beside blocks is a paragraph."""
    blocks = []
    line = _describe_text(parent.text)
    for child in parent:
        if child.tag in BLOCK_LEVEL:
            blocks += [_paragraph(line), _describe_block(child)]
            line = ""
        else:
            line += _describe_inline(child)
        line += _describe_text(child.tail)
    blocks.append(_paragraph(line))
    return [block for block in blocks if block]


def _describe_block(element: Element) -> str:
    """Return a description of an element that is a block, or contains blocks."""
    tag = element.tag
    if tag == "pre":
        code = "".join(_describe_code(element)).expandtabs(4).strip("\n").rstrip()
        # A class of its own makes a diagram of it.
        kind = _HIGHLIGHTED.sub("", element.get("class", ""))
        return f"<pre {kind}>{_BLANK_LINE.sub('', code)}</pre>"
    if tag in HEADINGS or tag in CELLS:
        return f"{_start_tag(element)}{_trim(_describe_line(element))}</{tag}>"
    content = "".join(_describe_content(element))
    # Highlighters put code into a `<div>`, and code in HTML can stand in a paragraph.
    is_around_code = [child.tag for child in element] == ["pre"] and tag in ("div", "p")
    if tag == "p" or tag in _TRANSPARENT or is_around_code:
        return content
    if tag == "tr":
        content = _EMPTY_CELLS.sub("", content)
        return f"<tr>{content}</tr>" if content else ""
    return f"{_start_tag(element)}{content}</{tag}>"


def _describe_line(element: Element) -> str:
    """Return a description of what is in an element without blocks."""
    parts = [_describe_text(element.text)]
    for child in element:
        parts += [_describe_inline(child), _describe_text(child.tail)]
    return "".join(parts)


def _describe_inline(element: Element) -> str:
    """Return a description of an element within a line."""
    tag = element.tag
    if tag in VOID:
        return _start_tag(element)
    if tag == "code":
        return f"<code>{_trim(_describe_line(element))}</code>"
    content = _describe_line(element)
    if tag in _TRANSPARENT or _is_automatic_link(element):
        return content
    return f"{_start_tag(element)}{content}</{tag}>"


def _describe_code(element: Element) -> Iterator[str]:
    """Yield the code in an element, with its tags except `<code>` and the `<span>` of colours."""
    yield escape(element.text or "", quote=False)
    for child in element:
        has_tags = child.tag not in ("code", "span")
        if has_tags:
            yield _start_tag(child)
        yield from _describe_code(child)
        if has_tags:
            yield f"</{child.tag}>"
        yield escape(child.tail or "", quote=False)


def _is_automatic_link(element: Element) -> bool:
    """Tell whether this is a link that an extension makes of an address in a text."""
    text = "".join(element.itertext())
    address = element.get("href", "")
    is_same = address in (text, f"http://{text}", f"https://{text}", f"mailto:{text}")
    return element.tag == "a" and is_same and address.startswith(_LINKED)


def _describe_text(text: str | None) -> str:
    return escape(_SPACE.sub(" ", text or "").translate(_PLAIN_PUNCTUATION), quote=False)


def _start_tag(element: Element) -> str:
    """Return the start tag of an element without what extensions add to it."""
    tag = f"<{element.tag}"
    for name, value in sorted(element.items()):
        is_added = name in _ADDED or name.startswith("data-")
        if not is_added and (name, value) not in _DEFAULTS:
            tag += f' {name}="{escape(" ".join(value.split()))}"'
    return f"{tag}>"


def _paragraph(line: str) -> str:
    line = _trim(line)
    return f"<p>{line}</p>" if line else ""


def _trim(line: str) -> str:
    """Return a line without spaces at its ends, in which spaces come before tags, not after them.

    Markdown has no spaces at the edges of emphasis, and moves them out.
    """
    trimmed = ""
    space = ""  # the space since the last word, if any
    tags = ""  # the tags since the last word
    for part in _PART.findall(line):
        if part == " ":
            space = " "
        elif part.startswith("<"):
            tags += part
        else:
            is_first = not trimmed
            trimmed += f"{tags}{part}" if is_first else f"{space}{tags}{part}"
            space = ""
            tags = ""
    return trimmed + tags

"""Read Markdown back as a site does, and compare it with the HTML that it was written from.

No word of an article may become markup in the Markdown of its page. The writer escapes the syntax
that it knows, but only reading the result shows what the extensions of a site make of it. When a
word is read as markup, it is missing in the text. So if all words are there, each in the same
element as before, none was read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
"""Keeps what stands before it and behind it apart. The comparison leaves it out."""

_VOID_TAG = re.compile(rf"<({'|'.join(sorted(VOID))})\b([^<>]*?)/?>")
"""Matches the tag of an element without an end, in HTML or XML."""

_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)\w+;")
"""Matches an entity that XML does not have."""

_SPACE = re.compile(r"[ \t\r\n]+")
_PART = re.compile("<[^<>]*>| |[^<> ]+")
"""Matches a tag, a space or a word."""

_BLANK_LINE = re.compile("^ +$", re.MULTILINE)
"""Matches the spaces of a line that has nothing else."""

_TYPOGRAPHIC = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "…": "..."})
"""What extensions for typography make of quotation marks and dots."""

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

_ANOTHER_TEXT = (
    "the Markdown extensions of this site read it as another text; change the text with "
    "`contentgen review`, or take out the extension that changes it"
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

    def write(self, blocks: Sequence[WrittenBlock]) -> str:
        """Return Markdown that is read as these blocks.

        Each has its first form that is read as the block when it stands alone; blocks that would be
        read as one with their neighbours stand there as HTML. Raises ApprovalError if there is no
        such Markdown.
        """
        tags = [block.tag for block in blocks]
        expected = [self._expected(block) for block in blocks]
        # Most texts need no other forms, and are read once.
        markdown = join_blocks(tags, [block.forms[0] for block in blocks])
        if self._read(markdown) == expected:
            return markdown

        texts = [self._form(block) for block in blocks]
        markdown = join_blocks(tags, texts)
        found = self._read(markdown)
        if found == expected:
            return markdown

        if found is not None:
            for number in _misread(found, expected):
                texts[number] = blocks[number].html
            markdown = join_blocks(tags, texts)
            if self._read(markdown) == expected:
                return markdown
        raise ApprovalError(_ANOTHER_TEXT)

    def check_page(self, template: str, page: str, articles: Mapping[str, str]) -> bool:
        """Tell whether a page is read as its template, with the articles as they are read alone.

        Each article stands in the template as a paragraph that consists of its key.
        """
        expected = self._shown(template)
        for name, markdown in articles.items():
            paragraph = f"<p>{name}</p>"
            if expected.count(paragraph) != 1:
                return False
            expected = expected.replace(paragraph, self._shown(f"{COMMENT}\n\n{markdown}"))
        return self._shown(page) == expected

    def _shown(self, markdown: str) -> str:
        """Return the HTML of Markdown without what depends on the other words of a page."""
        # A table of contents has the headings of the whole page.
        html, *others = self.html(markdown).split(_TOC)
        for part in others:
            _, _, behind = part.partition("</div>")
            html += behind
        # In the first line of a page, colons are escaped.
        return _VARIES.sub("", html.replace(COMMENT, "")).replace("&#58;", ":")

    def _form(self, block: WrittenBlock) -> str:
        """Return the first form of a block that this site reads as its HTML.

        Raises ApprovalError.
        """
        expected = [self._expected(block)]
        for form in block.forms:
            if self._read(form) == expected:
                return form
        words = quoted(" ".join(unescape(re.sub("<[^<>]*>", " ", block.html)).split()))
        raise ApprovalError(
            f"the Markdown extensions of this site change even the HTML of {words}; take out the "
            "extension that does, or change the text with `contentgen review`"
        )

    def _expected(self, block: WrittenBlock) -> str:
        """Return the description of a block, or one that nothing has for HTML that is not valid."""
        descriptions = _describe_blocks(block.html, self._link)
        return "".join(descriptions) if descriptions else "?"

    def _read(self, markdown: str) -> list[str] | None:
        """Return descriptions of the blocks that Markdown is read as, or None for other markup."""
        # Behind a comment, the first line is not read as metadata.
        return _describe_blocks(self.html(f"{COMMENT}\n\n{markdown}"), self._link)


def _misread(found: Sequence[str], expected: Sequence[str]) -> range:
    """Return the numbers of the expected blocks that were not found, with a neighbour on each side.

    They are one range: from the first difference to the last one.
    """
    same_at_start = common_length(found, expected)
    same_at_end = common_length(found[::-1], expected[::-1])
    start = max(same_at_start - 1, 0)
    end = min(len(expected) - same_at_end + 1, len(expected))
    return range(start, end)


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
    """Yield the code in an element, with its tags but for `<code>` and the `<span>` of colours."""
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
    return escape(_SPACE.sub(" ", text or "").translate(_TYPOGRAPHIC), quote=False)


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

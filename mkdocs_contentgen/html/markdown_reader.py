"""Read the light Markdown that a person writes, without losing a word of it.

What is not an element of a text, such as `List<String>` or `<title>`, is text. What the
sanitizer would change, such as an address or a picture, is refused by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from io import StringIO
from typing import Any

from bs4 import BeautifulSoup, Tag
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ..display import escape_controls, shortened
from ..errors import EditError
from .elements import BLOCK_LEVEL, VOID
from .inline_tags import name_of_tag, paired_tags
from .markdown_parser import block_parser, inline_parser
from .sanitizer import TAGS
from .tags import tags_in

_INLINE = TAGS - BLOCK_LEVEL
_UNSEEN = re.compile(r"[\s\x00-\x1f\x7f\ufffe\uffff]+")
_MAX_SHOWN = 80

_MAX_KNOWN = 1_000
"""How many lines are kept that were read."""


@lru_cache(_MAX_KNOWN)
def read_line(markdown: str) -> str:
    """Return the HTML of a line. The desk reads all lines of a text after each change."""
    parser = inline_parser(is_persons=True)
    tokens = parser.parseInline(markdown)
    for token in tokens:
        _keep_tags(token.children or [])
    return str(parser.renderer.render(tokens, parser.options, {}))


def read_blocks(
    markdown: str,
    *,
    has_title: bool = False,
    parser: MarkdownIt | None = None,
    environment: dict[str, Any] | None = None,
) -> str:
    """Return the HTML of paragraphs, headings, lists, tables and code.

    A text has one title, so other headings begin at level 2. With `has_title`, the first heading of
    level 1 is the title. Raises EditError for HTML that a line cannot have.

    `parser` is another one than that of a person's blocks, and `environment` takes what it notes.
    """
    parser = parser or block_parser()
    tokens = parser.parse(markdown, environment)
    tags_of_title = 2 if has_title else 0
    for token in tokens:
        _keep_tags(token.children or [])
        token.attrs.pop("style", None)  # how a column is aligned
        if token.tag == "h1" and tags_of_title > 0:
            tags_of_title -= 1  # its start, and then its end
        elif token.tag == "h1":
            token.tag = "h2"
        if token.type == "fence":
            token.info = ""
    return str(parser.renderer.render(tokens, parser.options, {}))


def check_kept(html: str, element: Tag) -> None:
    """Raise EditError if something of a line's HTML is not in the element made of it."""
    given = BeautifulSoup(
        # As a file, since Beautiful Soup warns of a string that is only an address or a file name.
        StringIO(html),
        "html.parser",
        multi_valued_attributes=None,
        string_containers={},
    )
    pictures = set()
    for image in tags_in(element, ("img",)):
        pictures.add(str(image.get("src")))
    for image in tags_in(given, ("img",)):
        if str(image.get("src")) not in pictures:
            raise EditError(
                f"a text cannot show the picture `{_shown(image.get('src'))}`: its host is not in "
                "`image_hosts`; link to it instead"
            )
    addresses = set()
    for link in tags_in(element, ("a",)):
        addresses.add(str(link.get("href")))
    for link in tags_in(given, ("a",)):
        if str(link.get("href")) not in addresses:
            raise EditError(
                f"a text cannot have the address `{_shown(link.get('href'))}`; write a whole one, "
                "such as https://example.com/page"
            )
    lost_attributes = Counter(_attributes(given)) - Counter(_attributes(element))
    if lost_attributes:
        name, attribute = next(iter(lost_attributes))
        raise EditError(f"a text cannot have `{attribute}` in <{name}>; leave it out")
    if _seen(given) != _seen(element):
        raise EditError("some of these words would be lost; put HTML between backticks")


def _keep_tags(tokens: Sequence[Token]) -> None:
    """Make text of each tag that does not start or end an element of a line."""
    kept: set[int] = set()
    for start, end in paired_tags(tokens):
        kept |= {start, end}
    for index, token in enumerate(tokens):
        if token.type != "html_inline":
            continue
        name = name_of_tag(token)
        if name in TAGS - _INLINE:
            raise EditError(f"<{name}> begins another block; to write of it, write `<{name}>`")
        is_void = name in VOID and not token.content.startswith("</")
        is_element = name in _INLINE and (is_void or index in kept)
        if not is_element:
            token.type = "text"


def _attributes(element: Tag) -> Iterator[tuple[str, str]]:
    """Yield the tag and the name of each attribute in an element."""
    for tag in tags_in(element):
        for name in tag.attrs:
            yield tag.name, name


def _seen(element: Tag) -> str:
    """Return what a person sees of an element, without white space."""
    return _UNSEEN.sub("", element.get_text())


def _shown(address: object) -> str:
    return shortened(escape_controls(str(address or "without an address")), _MAX_SHOWN)

"""Check that a file of HTML is one article, and find the line of what would be lost.

A browser ignores or moves misplaced tags, and this package drops what is not in the article, and
elements that a text cannot have. In a file that people edit, all of this would lose words without a
remark: `Use the <title> element` would keep `Use the`.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from ..errors import UnsafeHTMLError
from .sanitizer import TAGS

_COMMENT_END = re.compile("--!?>")

_KEPT = TAGS | {"input"}
"""The elements whose words are kept. The `<input>` of a task list becomes its tick."""


class MisplacedError(UnsafeHTMLError):
    """Something is missing, or is not in the article. `line` is its line, counted from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def check_surroundings(html: str) -> None:
    """Raise MisplacedError unless HTML is one `<article>` that ends, with nothing beside it.

    Raises it for elements that no text can have, too. White space and comments may be anywhere.
    """
    comment = html.rfind("<!--")
    if comment >= 0 and not _COMMENT_END.search(html, comment):
        line = html.count("\n", 0, comment) + 1
        raise MisplacedError("'<!--' begins a comment that does not end; write '&lt;!--'", line)
    parser = _Parser()
    try:
        parser.feed(html)
        parser.close()
    except AssertionError as error:  # html.parser raises it for `<![x[`
        raise MisplacedError("'<![' begins no tag; write '&lt;!['", parser.getpos()[0]) from error
    last_line = html.rstrip().count("\n") + 1
    if not parser.has_begun:
        raise MisplacedError("there is no <article>", last_line)
    if parser.depth:
        raise MisplacedError(
            "</article> is missing; add it, or restore the end of the file with git", last_line
        )


class _Parser(HTMLParser):
    """Raises MisplacedError for what is outside of the article, or would be left out."""

    has_begun = False
    depth = 0
    """The number of articles that have begun and not ended."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_first = tag == "article" and not self.has_begun
        if self.depth == 0 and not is_first:
            self._refuse(f"<{tag}>", self.getpos()[0])
        if tag not in _KEPT:
            raise MisplacedError(
                f"<{tag[:40]}> is not an element of a text, and would be left out; write "
                f"'&lt;{tag[:40]}&gt;', or delete it",
                self.getpos()[0],
            )
        if tag == "article":
            self.has_begun = True
            self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        if self.depth == 0:
            self._refuse(f"</{tag}>", self.getpos()[0])
        if tag == "article":
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        words = data.lstrip()
        if self.depth == 0 and words:
            lines_before = data[: len(data) - len(words)].count("\n")
            self._refuse(
                f"the text {words.split(maxsplit=1)[0][:40]!r}", self.getpos()[0] + lines_before
            )

    def _refuse(self, what: str, line: int) -> None:
        side = "after </article>" if self.has_begun else "before <article>"
        raise MisplacedError(f"{what} stands {side}; move it into the article, or delete it", line)

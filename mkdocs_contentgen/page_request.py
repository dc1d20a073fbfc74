"""The request of a page, as one record from its front matter to the client that gets the text.

It has a module of its own, so that a site without requests need not import what checks them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .requests import Request
    from .text import Text


@dataclass(frozen=True)
class OriginalText:
    """The text that a translation is made from."""

    text: Text
    language: str
    """Its language as a BCP 47 tag, or an empty string if it is not known."""

    is_draft: bool
    """Whether nobody has approved it."""


@dataclass(frozen=True)
class PageRequest:
    """The request of a page, from its front matter to the client that gets the text."""

    request: Request
    page: str = ""
    """The path of the page in the directory of pages (`src_uri`)."""

    place: str = ""
    """The file and the line in the project, such as `docs/post.md:2`."""

    language: str = ""
    """The language that the site gives the page, as a BCP 47 tag, or an empty string."""

    original: PageRequest | None = None
    """The request of the text that this is a translation of, or None for any other."""

    original_text: OriginalText | None = field(default=None, compare=False)
    """The text of the original, from the time when the translation is asked for."""

    def in_its_language(self) -> Request:
        """Return the request with the language of the page, if it has none of its own."""
        return self.request.with_language(self.request.language or self.language)

    @property
    def name(self) -> str:
        """The page and the id of its article, as `translation_of` has them."""
        if self.request.id == "main":
            return self.page
        return f"{self.page}#{self.request.id}"

    @property
    def noun(self) -> str:
        """What its text is called in messages."""
        return "translation" if self.original else "text"

    @property
    def source_path(self) -> str:
        """The path of the page's file in the project, such as `docs/post.md`."""
        return self.place.rpartition(":")[0]

"""The record of a passage that a text cites, from the writer to the review.

A text keeps what names each passage that it cites, and what that said. A name is the address of a
section of a page, or `file:PATH#PLACE` for a file that is not a page. Only this module takes names
apart.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, structs

from .files import sha256

_FILE_PREFIX = "file:"

NAME = (
    r"^(https?://[\w.-]+(:\d+)?/[\w./%#~+-]{0,300}"
    rf"|{_FILE_PREFIX}[^\x00-\x1f\x7f\"<>\\`]{{1,500}})\Z"
)
"""Matches what may name a passage."""

_GONE = sha256("")
"""Takes the place of the SHA-256 of a passage once an update knows that it is gone."""

MAX_SAID = 10_000
"""The maximum length of what a citation says in a message to a service, in characters."""

MAX_KEPT_OF_ALL = 8000
"""The maximum length of what a text keeps of all passages that it cites, in characters."""

MAX_KEPT = MAX_KEPT_OF_ALL // 4
"""The maximum length of what it keeps of one passage, however few it cites."""


class Citation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A passage that a text cites, as it was and as it is."""

    name: Annotated[str, Meta(max_length=600)]
    """What names it in the text's record; empty for a passage that nothing names."""

    title: Annotated[str, Meta(max_length=1000)]
    now: Annotated[str, Meta(max_length=MAX_SAID)]
    """What it says, or an empty string if it is gone, or if nobody has looked."""

    before: Annotated[str, Meta(max_length=MAX_SAID)] = ""
    """What it said when the text was written, or an empty string if that is not known."""

    has_changed: bool = False
    digest: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] = "0" * 64
    """The SHA-256 of what it says; if nobody has looked, of what it said."""

    @property
    def is_page(self) -> bool:
        """Whether its name is an address, and not a file that is not a page."""
        return self.name.startswith(("http://", "https://"))

    def shown(self, site_url: str) -> str:
        """Return its name as messages show it.

        That is the path of a file, the path of a page in the site with this address, or the whole
        address of a page of another site.
        """
        if self.is_page:
            return self.name.removeprefix(site_url)
        return self.name.removeprefix(_FILE_PREFIX)

    def as_found(self, title: str, said: str, digest: str) -> Citation:
        """Return it with what the passage says now."""
        return structs.replace(
            self,
            title=title,
            now=said[:MAX_SAID],
            has_changed=digest != self.digest,
            digest=digest,
        )

    def as_gone(self, site_url: str) -> Citation:
        """Return it as a passage that is not there any more, with its name as title."""
        title = self.shown(site_url)
        return structs.replace(self, title=title, now="", has_changed=True, digest=_GONE)


def name_of_file(place: str) -> str:
    """Return what names a place in a file that is not a page, such as `src/server.py#start`."""
    return f"{_FILE_PREFIX}{place}"

"""What the clients have in common that stand for a service in tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import Request
from mkdocs_contentgen.service.protocol import Attempt, Translated, Translation, Update, Updated
from mkdocs_contentgen.text import Text


def text_for(request: Request, html: str = "<article><h1>T</h1><p>Text.</p></article>") -> Text:
    """Return a text for a request, which is new."""
    return Text(html, datetime.now(UTC), request.record())


class ClientDouble:
    """A client that has no updates and no translations."""

    warnings: Sequence[str] = ()

    async def update(self, asked: PageRequest, update: Update, attempt: Attempt) -> Updated:
        """Refuse."""
        raise NotImplementedError

    async def translate(
        self, asked: PageRequest, translation: Translation, attempt: Attempt
    ) -> Translated:
        """Refuse."""
        raise NotImplementedError

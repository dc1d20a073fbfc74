"""A text with its document: it is read once, and what decides about it takes both together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..text import Text

if TYPE_CHECKING:
    from ..html.document import Document


@dataclass(frozen=True)
class ReadText:
    """A text with its document."""

    text: Text
    document: Document | None
    """What was read from the HTML of the text; None where no build can show it."""


def with_document(text: Text) -> ReadText:
    """Return a text with its document, which has the images of all hosts."""
    from ..html.document import document_or_none  # most commands read no text

    return ReadText(text, document_or_none(text.html))

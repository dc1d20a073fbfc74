"""The record of a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

MAX_EDIT = 300
"""The maximum length of a statement, a sentence, a name or a reason in edits, in characters."""


@dataclass(frozen=True)
class Edits:
    """What people did with a text on the review desk."""

    confirmed: tuple[str, ...] = ()
    """Statements that were confirmed."""

    removed: tuple[str, ...] = ()
    """Sentences and blocks that were removed."""

    changed_by: Mapping[str, str] = field(default_factory=dict)
    """Who wrote a block, by the SHA-256 of its text."""

    reason: str = ""
    """Why it was approved although statements were left to check."""


@dataclass(frozen=True)
class Text:
    """A text as the service sent it (interface section 2.2), with its request and its time.

    A note about a request is kept as a text too, under its note_key().
    """

    html: str
    generated_at: datetime
    request: dict[str, object]
    model: str = ""
    """The name of the model, or an empty string if the service did not tell."""

    sources: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each cited section by its address."""

    remarks: tuple[str, ...] = ()
    """What is not as requested, although a person can use the text."""

    edits: Edits | None = None
    """What people changed, or None if nobody did."""

    passages: Mapping[str, str] = field(default_factory=dict)
    """What the cited sections said when the text was written, by their addresses."""

    updates: tuple[str, ...] = ()
    """What updates changed and why, or that nothing had to change, the last one at the end."""

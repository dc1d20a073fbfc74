"""The remarks on a translation from elsewhere that a person goes on with."""

from __future__ import annotations

from datetime import UTC, datetime

from mkdocs_contentgen.review.imported_translation import remarks_on_changed
from mkdocs_contentgen.text import Text


def test_remarks_go_with_the_words_that_they_are_about() -> None:
    """What is said of a block goes when a person changes it, and what is said of none stays."""
    remarks = (
        "translation: the original's 'Three' has no translation",
        "translation: 'Eins': the original has 1",
        "translation: 'Zwei': the original has 2",
    )
    when = datetime(2026, 1, 1, tzinfo=UTC)
    before = Text("<article><p>Eins</p><p>Zwei</p></article>", when, {}, remarks=remarks)
    after = "<article><p>Eins (1)</p><p>Zwei</p></article>"
    assert remarks_on_changed(before, after) == (remarks[0], remarks[2])

"""What names the passages that texts cite, and how they are kept."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from mkdocs_contentgen.citation import NAME, Citation, name_of_file
from mkdocs_contentgen.files import sha256
from mkdocs_contentgen.text import Text

SITE = "https://docs.example/"


@pytest.mark.parametrize(
    ("name", "is_page", "shown"),
    [
        (f"{SITE}plan/#speed", True, "plan/#speed"),
        (SITE, True, ""),
        ("https://other.example/plan/", True, "https://other.example/plan/"),
        (name_of_file("src/server.py#start"), False, "src/server.py#start"),
        (name_of_file("https/notes.md"), False, "https/notes.md"),
    ],
)
def test_names(name: str, is_page: bool, shown: str) -> None:
    """A page is named by its address, and any other file by its path."""
    citation = Citation(name, "Title", "text")
    assert re.match(NAME, name)
    assert citation.is_page is is_page
    assert citation.shown(SITE) == shown


def test_what_a_text_keeps() -> None:
    """The parts of a passage are one, and what has no name or is not allowed is not kept."""
    page = f"{SITE}plan/"
    text = Text("<article></article>", datetime.now(UTC), {}).with_citations(
        [
            Citation(page, "Plan", "One.", digest="1" * 64),
            Citation(page, "Plan", "Two.", digest="1" * 64),
            Citation("", "Own", "Three."),
            Citation("javascript:x", "X", "Four."),
        ]
    )
    assert text.sources == {page: "1" * 64}
    assert text.passages == {page: "One.\n\nTwo."}
    assert text.citations() == [Citation(page, "", "", "One.\n\nTwo.", digest="1" * 64)]


def test_what_has_changed_or_is_gone() -> None:
    """What it said stays beside what it says, also where nothing says it any more."""
    kept = Citation(f"{SITE}plan/", "", "", "One.", digest="1" * 64)
    same = kept.as_found("Plan", "One.", "1" * 64)
    changed = kept.as_found("Plan", "Two.", "2" * 64)
    gone = kept.as_gone(SITE)
    assert [same.has_changed, changed.has_changed, gone.has_changed] == [False, True, True]
    assert (changed.title, changed.before, changed.now) == ("Plan", "One.", "Two.")
    assert (gone.title, gone.before, gone.now, gone.digest) == ("plan/", "One.", "", sha256(""))
    text = Text("<article></article>", datetime.now(UTC), {}).with_citations([gone])
    assert text.passages == {gone.name: "One."}

"""Sentences that a person should read beside the sources."""

from __future__ import annotations

import pytest
from golden_file import cases

from mkdocs_contentgen.writer.marks.unsupported import find_sentences_to_read, is_prose

CASES = cases("unsupported")


@pytest.mark.parametrize(("text", "source", "found"), CASES["sentences"])
def test_sentences_to_read(text: str, source: str, found: list[str]) -> None:
    """About half of the content words of a sentence are in no source."""
    assert [part.of(text) for part in find_sentences_to_read(text, source)] == found


@pytest.mark.parametrize(("text", "source", "is_read"), CASES["claims"])
def test_claims_that_no_source_makes(text: str, source: str, is_read: bool) -> None:
    """A reason, and what is so at present, should be read where no source says so of the same."""
    expected = [text] if is_read else []
    assert [part.of(text) for part in find_sentences_to_read(text, source)] == expected


@pytest.mark.parametrize(("source", "prose"), CASES["prose"])
def test_data_are_no_prose(source: str, prose: bool) -> None:
    """On JSON and tables, every sentence in words would be new."""
    assert is_prose(source) == prose

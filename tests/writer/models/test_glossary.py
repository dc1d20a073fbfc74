"""The glossary of a site: what is wrong with its file, and which terms a text has."""

from __future__ import annotations

import pytest
from golden_file import cases

from mkdocs_contentgen.writer.models.glossary import (
    GlossaryError,
    Term,
    glossary_prompt,
    is_kept,
    read_glossary,
)

CASES = cases("glossary")


@pytest.mark.parametrize(("text", "line", "message"), CASES["what_is_wrong"])
def test_what_is_wrong(text: str, line: int, message: str) -> None:
    """A message says what would be right, with the line."""
    with pytest.raises(GlossaryError) as caught:
        read_glossary(text)
    assert message in str(caught.value)
    assert str(caught.value).isprintable()
    assert caught.value.line == line


@pytest.mark.parametrize(("glossary", "text", "language", "terms"), CASES["terms_of_a_text"])
def test_terms_of_a_text(glossary: str, text: str, language: str, terms: str) -> None:
    """Only terms that a text has, and that have a translation, are in the prompt."""
    found = glossary_prompt(read_glossary(glossary).terms_in([text], language))
    assert found == "\n".join(f"- {term}" for term in terms.split("|") if term)


@pytest.mark.parametrize(("target", "text", "expected"), CASES["kept"])
def test_a_term_is_kept(target: str, text: str, expected: bool) -> None:
    """Endings and compounds are no other term."""
    assert is_kept(Term("x", target), text) is expected

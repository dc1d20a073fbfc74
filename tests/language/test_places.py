"""Other names of a place."""

from __future__ import annotations

import pytest

from mkdocs_contentgen.language.places import other_names_of


@pytest.mark.parametrize(
    ("name", "languages", "code", "other_name"),
    [
        ("California", (), "CA", ""),
        ("british columbia", (), "BC", ""),
        ("New South Wales", (), "NSW", ""),
        ("Germany", ("fr",), "DE", "Allemagne"),
        ("Allemagne", ("fr",), "DE", "Germany"),
        ("Vereinigtes Königreich", ("de",), "UK", "Great Britain"),
        ("United States", (), "USA", "United States of America"),
        ("South Korea", ("de-AT",), "KR", "Südkorea"),
        ("德国", ("zh",), "DE", "Germany"),
        ("德國", ("zh-Hant",), "DE", "Germany"),
        ("Germany", ("../../x",), "DE", ""),
    ],
)
def test_codes_and_other_names(
    name: str, languages: tuple[str, ...], code: str, other_name: str
) -> None:
    """A place has codes, and a country names in English and the languages of text and source."""
    found = other_names_of(name, languages)
    assert code in found.codes
    assert not other_name or other_name in found.names


def test_what_is_no_place() -> None:
    """A name of a person has no codes."""
    found = other_names_of("Jane Smith", ("de",))
    assert (found.codes, found.names) == (set(), set())

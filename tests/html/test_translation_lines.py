"""The disclosure lines of translations in many languages."""

from __future__ import annotations

import re

import pytest

from mkdocs_contentgen.html.disclosure import DISCLOSURE_LINES
from mkdocs_contentgen.html.translation_lines import displayed_language_name, find_lines
from mkdocs_contentgen.language.languages import LANGUAGES

OTHERS = sorted(set(LANGUAGES) - {"en"})
OF_TRANSLATIONS = [
    "translated",
    "translated_approved",
    "translated_by",
    "translated_end",
    "original_changed",
    "responsibility",
]


def placeholders(line: str) -> list[str]:
    """Return the placeholders of a line, sorted. In English, a number has its noun."""
    return sorted(re.findall(r"\{\w+\}", line.replace("{paragraphs}", "{count}")))


@pytest.mark.parametrize("language", OTHERS)
def test_each_language_of_texts_has_all_lines(language: str) -> None:
    """A line in each of the languages says whatever the English one says."""
    found = find_lines(language)
    assert found.language == language
    assert set(found.lines) == {*OF_TRANSLATIONS, "another_language"}
    for name in OF_TRANSLATIONS:
        assert placeholders(found.lines[name]) == placeholders(DISCLOSURE_LINES[name]), name
        optional = re.findall(r"\[.*?\]", found.lines[name])
        assert list(map(placeholders, optional)) == [["{language}"]] * len(optional), name
        assert len(optional) == DISCLOSURE_LINES[name].count("[")
        assert found.lines[name] != DISCLOSURE_LINES[name]
    assert found.another_language != find_lines("en").another_language


def test_each_language_of_texts_has_a_name() -> None:
    """The name in English is that which a model is told."""
    for tag, language in LANGUAGES.items():
        assert displayed_language_name(tag, in_english=True) == language.name
        assert displayed_language_name(tag, in_english=False)


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("de-AT", "de"),
        ("PT-br", "pt"),
        ("zh-TW", "zh-hant"),
        ("zh-Hans-HK", "zh"),
        ("en-GB", "en"),
        ("sv", "en"),
        ("ar-Latn", "en"),
        ("", "en"),
    ],
)
def test_the_lines_of_a_tag(tag: str, language: str) -> None:
    """Regions count for nothing, scripts do; what is not known has the lines in English."""
    assert find_lines(tag).language == language


def test_the_name_of_a_language_without_lines() -> None:
    """More languages have a name than have lines, and others have none."""
    assert displayed_language_name("sv-FI", in_english=True) == "Swedish"
    assert displayed_language_name("sv-FI", in_english=False) == "Svenska"
    assert displayed_language_name("tlh", in_english=True) == ""

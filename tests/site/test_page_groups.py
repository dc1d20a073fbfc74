"""The pages that have the same text in several languages."""

from __future__ import annotations

import pytest

from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.site.page_groups import find_groups, name_in_itself


def original(page: str, language: str = "", name: str = "main") -> PageRequest:
    """Return the request of a page for a text that is not a translation."""
    return PageRequest(BlogRequest(topic=page, language=language, id=name), page)


def translation(page: str, of: PageRequest, language: str, name: str = "main") -> PageRequest:
    """Return the request of a page for a translation."""
    request = BlogRequest(topic=of.page, language=language, id=name)
    return PageRequest(request, page, original=of)


BUILDS = original("builds.md")

CASES = {
    "an original and its translations": (
        [translation("b.fr.md", BUILDS, "fr"), BUILDS, translation("b.de.md", BUILDS, "de")],
        {"en": "builds.md", "de": "b.de.md", "fr": "b.fr.md"},
    ),
    "an original that names its language": (
        [original("builds.md", "it"), translation("b.en.md", BUILDS, "en")],
        {"it": "builds.md", "en": "b.en.md"},
    ),
    "no translation": ([BUILDS, original("other.md")], None),
    "the original is not built": ([translation("b.de.md", BUILDS, "de")], None),
    "two translations into a language": (
        [BUILDS, translation("b2.md", BUILDS, "de"), translation("b1.md", BUILDS, "de")],
        {"en": "builds.md", "de": "b1.md"},
    ),
    "a translation into the language that the original has by default": (
        [BUILDS, translation("b.en.md", BUILDS, "en")],
        None,
    ),
    "a page with translations of two pages": (
        [
            BUILDS,
            original("tests.md"),
            translation("both.md", BUILDS, "de"),
            translation("both.md", original("tests.md"), "de", "second"),
        ],
        None,
    ),
    "a page with texts in two languages": (
        [
            BUILDS,
            original("builds.md", "fr", "second"),
            translation("b.de.md", BUILDS, "de"),
        ],
        None,
    ),
    "two texts of a page, translated on another": (
        [
            BUILDS,
            original("builds.md", name="second"),
            translation("b.de.md", BUILDS, "de"),
            translation("b.de.md", BUILDS, "de", "second"),
        ],
        {"en": "builds.md", "de": "b.de.md"},
    ),
}


@pytest.mark.parametrize(("requests", "expected"), CASES.values(), ids=CASES)
def test_groups(requests: list[PageRequest], expected: dict[str, str] | None) -> None:
    """Each page of a group finds it; a page whose language is not certain is in none."""
    groups = find_groups(requests)
    if expected is None:
        assert groups == {}
        return
    assert set(groups) == set(expected.values())
    for language, page in expected.items():
        assert list(groups[page].pages.items()) == list(groups["builds.md"].pages.items())
        assert dict(groups[page].pages) == expected
        assert groups[page].language_of(page) == language
    assert next(iter(groups["builds.md"].pages.values())) == "builds.md"


@pytest.mark.parametrize(
    ("tag", "name"), [("de-AT", "Deutsch"), ("zh-TW", "繁體中文"), ("tlh", "tlh")]
)
def test_names(tag: str, name: str) -> None:
    """A language is called what its speakers call it."""
    assert name_in_itself(tag) == name

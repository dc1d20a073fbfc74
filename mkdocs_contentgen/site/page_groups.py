"""Find the pages that have the same text in several languages, from the requests of a site.

No function here does any I/O.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..html.translation_lines import displayed_language_name
from ..page_request import PageRequest

OF_THEMES = "en"
"""The language of a page for which neither the author nor the theme names one."""


@dataclass(frozen=True)
class PageGroup:
    """A page and its translations."""

    original: str
    """The `src_uri` of the page that the others are translations of."""

    pages: Mapping[str, str]
    """The `src_uri` of each page by its language, a BCP 47 tag. The first is the original."""

    def language_of(self, page: str) -> str:
        """Return the language of a page of this group."""
        for language, other in self.pages.items():
            if other == page:
                return language
        raise KeyError(page)


def find_groups(requests: Sequence[PageRequest]) -> dict[str, PageGroup]:
    """Return the group of each page that is a translation, or has one.

    `requests` are those of the pages of a build. A page is in no group if it has texts in several
    languages, or of several originals. Of two translations into the same language, the first is in
    the group.
    """
    translations: dict[str, list[tuple[str, str]]] = {}
    for page, (original, language) in _single_texts(requests).items():
        translations.setdefault(original, []).append((language, page))
    groups = {}
    for original, found in translations.items():
        found.sort(key=lambda pair: (pair[1] != original, pair))
        if len(found) < 2 or found[0][1] != original:  # the original is not built, or is several
            continue
        pages: dict[str, str] = {}
        for language, page in found:
            pages.setdefault(language, page)
        if len(pages) < 2:
            continue
        group = PageGroup(original, pages)
        for page in pages.values():
            groups[page] = group
    return groups


def _single_texts(requests: Sequence[PageRequest]) -> dict[str, tuple[str, str]]:
    """Return the original's page and the language of each page that has no others."""
    found: dict[str, set[tuple[str, str]]] = {}
    for asked in requests:
        original = asked.original.page if asked.original else asked.page
        language = asked.request.language or asked.language or OF_THEMES
        found.setdefault(asked.page, set()).add((original, language))
    single = {}
    for page, texts in found.items():
        if len(texts) == 1:
            [single[page]] = texts
    return single


def name_in_itself(language: str) -> str:
    """Return the name of a language in that language, or its tag if the name is not known."""
    return displayed_language_name(language, in_english=False) or language

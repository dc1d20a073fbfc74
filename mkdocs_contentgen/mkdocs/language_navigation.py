"""Make a navigation for each language out of that of a site.

The pages of a language stand where their originals do. What is not translated into it is there in
the language of the original.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mkdocs.structure import StructureItem
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

from ..site.page_groups import PageGroup


class LanguageNavigations:
    """The navigations of a site with pages in several languages.

    If the author's own navigation (`nav` in `mkdocs.yml`) has a translation, all languages have
    that.
    """

    def __init__(
        self, groups: Mapping[str, PageGroup], nav: Navigation, written: object, files: Files
    ) -> None:
        self._groups = groups
        self._files = files
        self._by_language: dict[str, Navigation] = {}
        self.of_originals = nav
        if written is not None and any(self._is_translation(page) for page in nav.pages):
            return
        languages: dict[str, None] = {}
        for group in groups.values():
            languages |= dict.fromkeys(list(group.pages)[1:])
        for language in languages:
            self._by_language[language] = self._navigation(nav, language)
        # Last: an original is in the navigation of other languages, too, but its place is here.
        self.of_originals = self._navigation(nav, "")

    def of_language(self, language: str) -> Navigation:
        """Return the navigation for translations into a language."""
        return self._by_language.get(language, self.of_originals)

    def _is_translation(self, page: Page) -> bool:
        group = self._groups.get(page.file.src_uri)
        return group is not None and group.original != page.file.src_uri

    def _navigation(self, nav: Navigation, language: str) -> Navigation:
        """Return a navigation, and set the neighbours and parents of its pages."""
        items = self._items(nav.items, language, None)
        pages = list(_pages(items))
        navigation = Navigation(items, pages)
        if nav.homepage:
            navigation.homepage = self._in_language(nav.homepage, language) or nav.homepage
        before: list[Page | None] = [None, *pages[:-1]]
        after: list[Page | None] = [*pages[1:], None]
        for page, previous_page, next_page in zip(pages, before, after, strict=True):
            page.previous_page = previous_page
            page.next_page = next_page
        return navigation

    def _items(
        self, items: Iterable[StructureItem], language: str, parent: Section | None
    ) -> list[StructureItem]:
        """Return the items of a navigation in a language, without translations into others."""
        found: list[StructureItem] = []
        for item in items:
            shown: StructureItem | None = item
            if isinstance(item, Page):
                shown = self._in_language(item, language)
            elif isinstance(item, Section):
                section = Section(item.title, [])
                section.children = self._items(item.children, language, section)
                shown = section if section.children else None
            if shown is not None:
                shown.parent = parent
                found.append(shown)
        return found

    def _in_language(self, page: Page, language: str) -> Page | None:
        """Return the page that stands for another one, or None for a translation.

        With an empty language, that is the page itself. So is it for a page with pages below it, as
        mkdocs-section-index makes them, which would be lost.
        """
        if page.children:
            return page
        if self._is_translation(page):
            return None
        group = self._groups.get(page.file.src_uri)
        if group is None or language not in group.pages:
            return page
        name = group.pages[language]
        return self._files.src_uris[name].page or page


def _pages(items: Iterable[StructureItem]) -> Iterator[Page]:
    for item in items:
        if isinstance(item, Page):
            yield item
        elif isinstance(item, Section):
            yield from _pages(item.children)

"""Adapt the theme of MkDocs to the language of each page that has translations."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from mkdocs.utils.templates import TemplateContext

from ..language.languages import primary_tag
from ..site.front_matter import language_tag
from ..site.page_groups import PageGroup, name_in_itself
from ..site.page_head import find_theme_texts, with_alternates, with_language
from .language_navigation import LanguageNavigations

_INSTANT = (
    "theme.features: with 'navigation.instant', the language switch and the language of a page "
    "stay those of the page that a reader opened first; take it out of a site with translations"
)


class SiteLanguages:
    """The languages of a build whose pages have translations.

    A theme reads the entries of its language switch, and its own language, from the configuration,
    which is that of the whole site. So these are set before each page is rendered.
    """

    def __init__(
        self, groups: Mapping[str, PageGroup], nav: Navigation, config: MkDocsConfig, files: Files
    ) -> None:
        self._groups = groups
        self._config = config
        self._files = files
        self._navigations = LanguageNavigations(groups, nav, config.nav, files)
        self.navigation = self._navigations.of_originals
        """The navigation of all pages that are not translations."""

        own = config.extra.get("alternate")
        self._switch = own if isinstance(own, list) else None
        """The entries that the author gave the switch, if any."""

        self._theme_language = config.theme.get("language")
        self.warning = ""
        """What keeps the switch from working, if anything does."""

        if "navigation.instant" in (config.theme.get("features") or ()):
            self.warning = _INSTANT

        languages: set[str] = set()
        for group in groups.values():
            languages.update(group.pages)
        _add_search_languages(config, sorted(languages))

    def prepare(self, context: TemplateContext, page: Page) -> None:
        """Set what the theme reads for a page: navigation, switch and language."""
        group = self._groups.get(page.file.src_uri)
        language = group.language_of(page.file.src_uri) if group else ""
        self._set_theme_language(language)
        if group is None:
            self._set_switch(self._switch)
            return
        self._set_switch(self._switch_of(group))
        if page.file.src_uri != group.original:
            context["nav"] = self._navigations.of_language(language)

    def finish(self, output: str, page: Page) -> str:
        """Return the HTML of a page with its language, and with links to its translations."""
        group = self._groups.get(page.file.src_uri)
        if group is None:
            return with_own_language(output, page)
        addresses = {}
        for language, name in group.pages.items():
            addresses[language] = _address(self._file(name), page)
        output = with_language(output, group.language_of(page.file.src_uri))
        return with_alternates(output, addresses)

    def _file(self, name: str) -> File:
        return self._files.src_uris[name]

    def _set_switch(self, entries: object) -> None:
        if entries is None:
            self._config.extra.pop("alternate", None)
        else:
            self._config.extra["alternate"] = entries

    def _switch_of(self, group: PageGroup) -> list[dict[str, object]]:
        """Return the entries of the switch for the pages of a group.

        Those of the author stay, and lead to the translation of the page where there is one.
        """
        left = dict(group.pages)
        entries: list[dict[str, object]] = []
        for entry in self._switch or ():
            language = str(entry.get("lang", ""))
            if language in left:
                entry = {**entry, "link": self._file(left.pop(language)).url}
            entries.append(entry)
        for language, name in left.items():
            # The templates of MkDocs escape nothing.
            shown = html.escape(name_in_itself(language))
            entries.append({"name": shown, "link": self._file(name).url, "lang": language})
        return entries

    def _set_theme_language(self, language: str) -> None:
        """Let a theme with texts for many languages, as Material, use those of this language."""
        if self._theme_language is None:
            return
        theme = self._config.theme
        theme["language"] = self._theme_language
        if language:
            theme["language"] = find_theme_texts(theme.dirs, language) or self._theme_language


def with_own_language(output: str, page: Page) -> str:
    """Return the HTML of a page with the language that its front matter has as `lang`, if any."""
    language = language_tag(page.meta.get("lang"))
    return with_language(output, language) if language else output


def _address(file: File, page: Page) -> str:
    """Return the address of another page, which is absolute if the site has an address."""
    if file.page and file.page.canonical_url:
        return file.page.canonical_url
    return get_relative_url(file.url, page.url)


def _add_search_languages(config: MkDocsConfig, languages: Collection[str]) -> None:
    """Let the search plugin know languages, beside those that the author has named."""
    for plugin in config.plugins.values():
        known = plugin.config.get("lang") if hasattr(plugin, "search_index") else None
        if not isinstance(known, list):
            continue
        from mkdocs.contrib.search import LangOption

        for language in languages:
            supported = primary_tag(language)
            if supported != "en":  # which needs no file
                supported = LangOption().get_lunr_supported_lang(supported)
            if supported and supported not in known:
                known.append(supported)

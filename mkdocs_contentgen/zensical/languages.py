"""Tell the templates of a site that Zensical builds about the languages of a page.

An extension of Markdown reaches neither the head of a page nor the language switch. It can only add
to the metadata of the page, which templates of the author (`custom_dir`) read.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import TypedDict
from urllib.parse import urljoin

from mkdocs.structure.files import File

from ..site.page_groups import PageGroup, name_in_itself
from ..site.page_head import alternates, find_theme_texts

KEY = "contentgen_languages"
"""The key in the metadata of a page."""


class Entry(TypedDict):
    """A page in one language. Zensical's templates escape nothing, so all is HTML."""

    lang: str
    name: str
    """What the language is called by those who speak it."""

    link: str
    """The address of the page within the site."""


class Languages(TypedDict):
    """What templates know about the languages of a page."""

    theme: str
    """The language of the texts of the theme on the page."""

    switch: list[Entry]
    head: list[Entry]
    """The links in the head, with the one for everybody else, which have no names."""


def metadata_of_languages(
    group: PageGroup,
    page: str,
    find_file: Callable[[str], File],
    site_url: str,
    theme_folders: Sequence[str],
) -> Languages:
    """Return what the templates of a page of a group have to know."""
    switch: list[Entry] = []
    addresses = {}
    for language, name in group.pages.items():
        link = find_file(name).url
        addresses[language] = urljoin(site_url, link) if site_url else link
        switch.append(_entry(language, name_in_itself(language), link))
    head = [_entry(language, "", address) for language, address in alternates(addresses)]
    theme = find_theme_texts(theme_folders, group.language_of(page))
    return Languages(theme=theme, switch=switch, head=head)


def metadata_of_language(language: str, theme_folders: Sequence[str]) -> Languages:
    """Return what the templates of a page in a language of its own have to know."""
    return Languages(theme=find_theme_texts(theme_folders, language), switch=[], head=[])


def _entry(language: str, name: str, link: str) -> Entry:
    return Entry(lang=html.escape(language), name=html.escape(name), link=html.escape(link))

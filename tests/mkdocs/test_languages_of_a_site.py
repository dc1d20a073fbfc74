"""A site with translations, as MkDocs builds it: heads, switch, navigation and search."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from bs4 import BeautifulSoup, Tag
from conftest import Project

MATERIAL = {"name": "material", "font": False}
SWITCH = ".md-select__link"

ORIGINALS = {"index.md": "Home", "guide/builds.md": "Faster & better <b>"}
"""The topics of the originals."""


LAYOUTS = ["{page}.{language}.md", "{language}/{page}.md"]
"""Where translations are."""


@dataclass
class Translated:
    """A site in three languages."""

    project: Project
    layout: str

    def path(self, name: str, language: str) -> str:
        """Return the path of a page, or of its translation."""
        if not language:
            return name
        return self.layout.format(page=name.removesuffix(".md"), language=language)

    def build(self, theme: object, **config: object) -> None:
        """Build the site with a theme."""
        plugins = ["search", {"contentgen": {"base_url": "sandbox"}}]
        self.project.configure(**{"theme": theme, "plugins": plugins, **config})
        self.project.built("--strict")

    def page(self, name: str, language: str = "") -> BeautifulSoup:
        """Return the built page of an original, or of a translation."""
        path = self.path(name, language).removesuffix(".md")
        if path == "index" or path.endswith("/index"):
            return self.project.soup(f"{path}.html")
        return self.project.soup(f"{path}/index.html")

    def leads_to_a_page(self, address: str, name: str, language: str) -> bool:
        """Tell whether a relative address on a page is that of a built page."""
        folder = self.path(name, language).removesuffix(".md")
        return (self.project.root / "site" / folder / address / "index.html").is_file()


def write_site(project: Project, layout: str) -> Translated:
    """Write the pages of a site in three languages, with one page that has no text."""
    site = Translated(project, layout)
    for name, topic in ORIGINALS.items():
        project.page(name, {"type": "blog", "topic": topic})
        for language in ("ar", "de"):
            asked = {"translation_of": name, "language": language}
            project.page(site.path(name, language), asked)
    project.write("docs/own.md", "# Own page\n")
    return site


@pytest.fixture
def site(project: Project) -> Translated:
    """Return a site in three languages."""
    return write_site(project, LAYOUTS[0])


def one(page: BeautifulSoup, selector: str) -> Tag:
    """Return the only element of a kind."""
    [tag] = page.select(selector)
    return tag


def alternates(page: BeautifulSoup) -> list[tuple[str, str]]:
    """Return language and address of each alternate in the head of a page."""
    found = []
    for link in page.select("head link[rel=alternate][hreflang]"):
        found.append((str(link["hreflang"]), str(link["href"])))
    return found


def search_languages(project: Project) -> list[str]:
    """Return the languages that the search index names."""
    index = json.loads(project.html("search/search_index.json"))
    languages: list[str] = index["config"]["lang"]
    return languages


def navigation(page: BeautifulSoup) -> list[str]:
    """Return the titles in the navigation of a page of Material."""
    titles = []
    for contents in page.select(".md-nav--secondary"):
        contents.extract()
    for title in page.select(".md-nav--primary .md-nav__link > .md-ellipsis"):
        titles.append(title.get_text(strip=True))
    return list(dict.fromkeys(titles))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_site_of_material(project: Project, layout: str) -> None:
    """Each page names all its languages, leads to them, and is in one of them throughout."""
    site = write_site(project, layout)
    site.build(MATERIAL, site_url="https://docs.example/")
    name = "guide/builds.md"
    addresses = {}
    for language in ("", "ar", "de"):
        path = site.path(name, language).removesuffix(".md")
        addresses[language or "en"] = f"https://docs.example/{path}/"
    expected = [*addresses.items(), ("x-default", addresses["en"])]
    for language in ("", "ar", "de"):
        page = site.page(name, language)
        assert alternates(page) == expected
        assert one(page, "html")["lang"] == (language or "en")
        entries = {}
        for link in page.select(SWITCH):
            entries[link.get_text(strip=True)] = link["hreflang"]
            assert site.leads_to_a_page(str(link["href"]), name, language)
        assert entries == {"English": "en", "العربية": "ar", "Deutsch": "de"}
    arabic = site.page(name, "ar")
    assert (one(arabic, "html")["dir"], one(arabic, "body")["dir"]) == ("rtl", "rtl")
    assert one(site.page(name, "de"), ".md-search__input")["placeholder"] == "Suche"

    own = site.page("own.md")
    assert alternates(own) == []
    assert own.select(SWITCH) == []
    assert one(own, "html")["lang"] == "en"
    assert one(own, ".md-search__input")["placeholder"] == "Search"

    titles = ["Home", "Own page", "Guide", "Faster & better ‹b›"]
    assert navigation(own) == navigation(site.page("index.md")) == titles
    german = ["[de] Home", "Own page", "Guide", "[de] Faster & better ‹b›"]
    for original in ORIGINALS:
        assert navigation(site.page(original, "de")) == german
    page = site.page(name, "de")
    [active] = page.select("a.md-nav__link--active")
    assert active.get_text(strip=True) == "[de] Faster & better ‹b›"
    assert page.select_one("head link[rel=prev]") is not None
    assert search_languages(project) == ["en", "ar", "de"]


@pytest.mark.parametrize("theme", ["mkdocs", "readthedocs"])
def test_a_theme_without_a_switch(site: Translated, theme: str) -> None:
    """Other themes get the head. Without `site_url`, the links are relative, and lead to pages."""
    site.build(theme)
    for language in ("", "ar", "de"):
        page = site.page("guide/builds.md", language)
        links = alternates(page)
        assert [tag for tag, _ in links] == ["en", "ar", "de", "x-default"]
        for _, address in links:
            assert site.leads_to_a_page(address, "guide/builds.md", language)
        assert one(page, "html")["lang"] == (language or "en")
    assert one(site.page("index.md", "ar"), "html")["dir"] == "rtl"
    assert search_languages(site.project) == ["en", "ar", "de"]


def test_what_the_author_has_arranged(site: Translated) -> None:
    """Own entries of the switch, own languages of the search and an own navigation come first."""
    entries = [
        {"name": "Allemand", "link": "/de/", "lang": "de"},
        {"name": "Français", "link": "/fr/", "lang": "fr"},
    ]
    nav = [{"English": ["index.md", "own.md"]}, {"Deutsch": [site.path("index.md", "de")]}]
    plugins = [{"search": {"lang": ["fr"]}}, {"contentgen": {"base_url": "sandbox"}}]
    site.build(MATERIAL, extra={"alternate": entries}, nav=nav, plugins=plugins)
    switch = site.page("guide/builds.md").select(SWITCH)
    names = [link.get_text(strip=True) for link in switch]
    assert names == ["Allemand", "Français", "English", "العربية"]
    assert site.leads_to_a_page(str(switch[0]["href"]), "guide/builds.md", "")
    assert [link["href"] for link in site.page("own.md").select(SWITCH)] == ["/de/", "/fr/"]
    titles = ["English", "Home", "Own page", "Deutsch", "[de] Home"]
    assert navigation(site.page("index.md", "de")) == titles
    assert search_languages(site.project) == ["fr", "ar", "de", "en"]


def test_instant_navigation_is_warned_of(site: Translated) -> None:
    """It leaves the header as it is, so a switch in it would lead to another page's languages."""
    plugins = [{"contentgen": {"base_url": "sandbox"}}]
    theme = {**MATERIAL, "features": ["navigation.instant"]}
    site.project.configure(theme=theme, plugins=plugins)
    assert "theme.features: with 'navigation.instant'" in site.project.built("--strict", code=1)

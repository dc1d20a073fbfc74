"""The navigation of each language of a site."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config import load_config
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Link, Navigation, Section
from mkdocs.structure.pages import Page

from mkdocs_contentgen.mkdocs.language_navigation import LanguageNavigations
from mkdocs_contentgen.site.page_groups import PageGroup


def test_what_has_no_translation_stays(tmp_path: Path) -> None:
    """Links, pages of the author, and pages with pages below them are in each navigation."""
    config_file = tmp_path / "mkdocs.yml"
    config_file.write_text("site_name: Site\ntheme: {name: null, custom_dir: .}\nplugins: []\n")
    (tmp_path / "docs").mkdir()
    config = load_config(str(config_file))
    names = ["a.md", "a.de.md", "own.md", "below/index.md", "below/index.de.md", "below/b.md"]
    files = Files([File(name, "docs", "site", use_directory_urls=True) for name in names])
    pages = {name: Page(name, files.src_uris[name], config) for name in names}
    # As mkdocs-section-index makes it: a page that is a section, too.
    pages["below/index.md"].children = [pages["below/b.md"]]  # type: ignore[assignment]
    link = Link("Elsewhere", "https://docs.example/")
    items = [Section("All", [pages["a.md"], pages["a.de.md"], link]), pages["own.md"]]
    items.append(pages["below/index.md"])
    nav = Navigation(items, list(pages.values()))
    groups: dict[str, PageGroup] = {}
    for name in ("a", "below/index"):
        group = PageGroup(f"{name}.md", {"en": f"{name}.md", "de": f"{name}.de.md"})
        groups |= dict.fromkeys(group.pages.values(), group)
    navigations = LanguageNavigations(groups, nav, None, files)

    def titles(language: str) -> list[str | None]:
        section, *others = navigations.of_language(language).items
        return [item.title for item in (*section.children, *others)]

    assert titles("de") == ["a.de.md", "Elsewhere", "own.md", "below/index.md"]
    assert titles("en") == ["a.md", "Elsewhere", "own.md", "below/index.md"]
    assert pages["a.de.md"].next_page is pages["own.md"]
    assert pages["own.md"].previous_page is pages["a.md"]
    assert pages["a.de.md"].parent is not pages["a.md"].parent

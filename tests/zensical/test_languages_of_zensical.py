"""A site with translations, as Zensical builds it with the templates of `zensical templates`."""

from __future__ import annotations

import pytest
from conftest import Project

pytestmark = pytest.mark.system

PATHS = {"de": "docs/b.de.md", "ar": "docs/ar/b.md"}
"""The translations, one in each layout."""


def write_site(project: Project) -> None:
    """Write a site in three languages, with one page without texts, and the templates."""
    project.ran("mkdocs_contentgen", "zensical", "templates")
    project.configure(
        {"base_url": "sandbox"},
        site_url="https://docs.example/",
        theme={"name": "material", "custom_dir": "overrides", "font": False},
        extra={"alternate": True},
        markdown_extensions=["contentgen"],
    )
    project.page("b.md", {"type": "blog", "topic": "Faster <builds>"})
    for language, path in PATHS.items():
        asked = {"translation_of": "b.md", "language": language}
        project.page(path.removeprefix("docs/"), asked)
    project.write("docs/index.md", "# Own page\n")
    project.write("docs/ejected.md", "---\nlang: ar\n---\n# Own page\n")


def test_each_page_of_a_group_names_all(project: Project) -> None:
    """Head, switch, language and direction are those of the page, with both layouts.

    So they are if Zensical runs alone, and if MkDocs builds the site with the same templates.
    """
    write_site(project)
    expected = [
        ("en", "https://docs.example/b/"),
        ("ar", "https://docs.example/ar/b/"),
        ("de", "https://docs.example/b.de/"),
        ("x-default", "https://docs.example/b/"),
    ]
    commands = [
        ("mkdocs_contentgen", "zensical", "build", "--clean"),
        ("zensical", "build"),
        ("mkdocs", "build", "--strict"),
    ]
    for command in commands:
        project.ran(*command)
        for language, path in {"en": "b/", "ar": "ar/b/", "de": "b.de/"}.items():
            page = project.soup(f"{path}index.html")
            links = page.select("head link[hreflang]")
            assert [(link["hreflang"], link["href"]) for link in links] == expected
            root = page.select_one("html")
            body = page.select_one("body")
            assert root is not None
            assert body is not None
            assert root["lang"] == language
            assert body["dir"] == ("rtl" if language == "ar" else "ltr")
            switch = page.select(".md-select__link")
            names = {link.get_text(strip=True): link["hreflang"] for link in switch}
            assert names == {"English": "en", "العربية": "ar", "Deutsch": "de"}
            for link in switch:
                target = project.root / "site" / path / str(link["href"]) / "index.html"
                assert target.resolve().is_file()
        for path, language in {"": "en", "ejected/": "ar"}.items():
            own = project.soup(f"{path}index.html")
            assert own.select("link[hreflang], .md-select") == []
            root = own.select_one("html")
            assert root is not None
            assert root["lang"] == language


def test_a_page_that_gets_a_translation(project: Project) -> None:
    """The original names a new translation in the next build."""
    write_site(project)
    (project.root / PATHS["ar"]).unlink()
    project.ran("mkdocs_contentgen", "zensical", "build")
    assert 'hreflang="ar"' not in project.html("b/index.html")
    project.page("ar/b.md", {"translation_of": "b.md", "language": "ar"})
    project.ran("mkdocs_contentgen", "zensical", "build")
    assert 'hreflang="ar"' in project.html("b/index.html")


def test_templates_of_the_author_stay(project: Project) -> None:
    """A folder with another template is refused, and nothing is written there."""
    own = project.write("theme/partials/language.html", "Own\n")
    said = project.ran("mkdocs_contentgen", "zensical", "templates", "theme", code=1)
    assert "theme/partials/language.html: is a template of your own, and stays" in said
    assert list((project.root / "theme").rglob("*.html")) == [own]
    assert own.read_text() == "Own\n"
    for _ in range(2):
        assert "Next: " in project.ran("mkdocs_contentgen", "zensical", "templates", "other")

"""Where the cache of a site is that uses Zensical."""

from __future__ import annotations

import pytest
from conftest import Project
from service_double import ServiceDouble

BEFORE, AFTER = ".cache/plugin/contentgen", ".contentgen-cache"


def use_zensical(project: Project, options: object = None) -> None:
    """Add the extension to the configuration."""
    project.configure(options, theme="material", markdown_extensions=["contentgen"])


@pytest.fixture
def site(project: Project) -> Project:
    """Return a site that MkDocs has built with a text, and that uses Zensical from now on."""
    project.page("index.md", {"type": "blog", "topic": "One"})
    project.built()
    use_zensical(project)
    return project


@pytest.mark.parametrize(
    "command", ["mkdocs_contentgen status", "mkdocs_contentgen zensical build", "mkdocs build"]
)
def test_texts_in_the_other_directory(site: Project, service: ServiceDouble, command: str) -> None:
    """Nothing runs until the texts are moved, so that nobody pays for them again."""
    refused = site.ran(*command.split(), code=1)
    assert f"move them with: mv {BEFORE} {AFTER}" in refused
    (site.root / BEFORE).rename(site.root / AFTER)
    site.ran(*command.split())
    assert service.topics == ["One"]


def test_a_cache_that_is_named_stays(site: Project, service: ServiceDouble) -> None:
    """A cache in `.cache` that the site names is not moved, but a warning; --clean is refused."""
    use_zensical(site, {"cache_dir": BEFORE})
    ran = site.ran("mkdocs_contentgen", "zensical", "build")
    assert "is in the directory that `zensical build --clean` deletes" in ran
    site.ran("mkdocs_contentgen", "zensical", "build", "--clean", code=1)
    assert (site.root / BEFORE / "cache.db").exists()
    assert service.topics == ["One"]

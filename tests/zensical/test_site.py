"""The commands of a site that Zensical builds, with `zensical.toml` and with `mkdocs.yml`."""

from __future__ import annotations

import json
import subprocess

import pytest
from conftest import Project
from golden_file import GOLDEN
from service_double import ServiceDouble

pytestmark = pytest.mark.system


@pytest.fixture(params=["zensical.toml", "mkdocs.yml"])
def site(request: pytest.FixtureRequest, project: Project) -> Project:
    """Return a site that only Zensical can build, with two pages that ask for an article."""
    (project.root / "mkdocs.yml").unlink()
    project.write(request.param, (GOLDEN / "zensical" / request.param).read_text())
    project.page("index.md", {"type": "blog", "topic": "One"})
    project.page(
        "two.md", {"type": "news", "topic": "Two"}, "# Two\n\nText.\n\n<!-- contentgen -->\n"
    )
    return project


def run(project: Project, *arguments: str) -> str:
    """Run `contentgen`, and return its output."""
    ran = project.ran("mkdocs_contentgen", *arguments)
    return ran


def states(project: Project) -> dict[str, str]:
    """Return the state of each page's article."""
    return {entry["page"]: entry["state"] for entry in json.loads(run(project, "status", "--json"))}


def test_the_life_of_a_text(site: Project, service: ServiceDouble) -> None:
    """All commands work on the site, and a build shows what they did."""
    assert states(site) == {"index.md": "missing", "two.md": "missing"}
    assert "index.md" in run(site, "generate", "--dry-run")
    assert service.received == []
    run(site, "generate", "index.md")
    assert states(site) == {"index.md": "draft", "two.md": "missing"}
    assert "0 missing" in run(site, "zensical", "build")
    assert "approved in" in run(site, "approve", "--all", "--by", "Ada")
    assert states(site) == {"index.md": "approved", "two.md": "approved"}
    run(site, "generate", "--refresh", "two.md")
    assert "{+" in run(site, "diff", "two.md")
    run(site, "zensical", "build")
    assert "reviewed by Ada" in site.html("two/index.html")
    site.write("docs/index.md", "# No more\n")
    assert "texts dropped: 1" in run(site, "prune")
    assert sorted(set(service.topics)) == ["One", "Two"]
    assert len(service.topics) == 3


def test_an_ejected_page_looks_the_same(site: Project) -> None:
    """The Markdown that takes an article's place is rendered by Zensical as the article was."""
    run(site, "zensical", "build")
    before = site.soup("two/index.html").select(".md-content h1, .md-content h2, .md-content p")
    run(site, "eject", "two.md")
    source = (site.root / "docs/two.md").read_text()
    assert "Text number" in source
    assert "contentgen" not in source
    run(site, "zensical", "build")
    after = site.soup("two/index.html").select(".md-content h1, .md-content h2, .md-content p")
    texts = [element.get_text() for element in before]
    assert [element.get_text() for element in after] == [
        text for text in texts if "AI-generated" not in text
    ]
    run(site, "eject", "index.md")
    run(site, "zensical", "build")
    assert site.html("index.html").count("<h1") == 1


def test_mistakes_are_told_with_page_and_line(site: Project) -> None:
    """A wrong request ends each command with a line that names the place."""
    site.page("two.md", {"type": "nwes", "topic": "Two"})
    for command in (["status"], ["generate"], ["prune"], ["zensical", "build"]):
        ran = site.ran("mkdocs_contentgen", *command, code=1)
        assert "Error: docs/two.md:3: " in ran
        assert "Traceback" not in ran


def test_requests_that_no_page_of_a_build_has(project: Project, service: ServiceDouble) -> None:
    """An excluded page and a file for a whole folder are named; the build succeeds."""
    (project.root / "mkdocs.yml").unlink()
    project.write(
        "zensical.toml",
        '[project]\nsite_name = "Site"\nexclude_docs = "left.md"\n[project.plugins.contentgen]\n'
        "[project.plugins.meta]\n[project.markdown_extensions.contentgen]\n",
    )
    project.write("docs/index.md", "# Home\n")
    project.write("docs/posts/.meta.yml", "contentgen: {type: blog}\n")
    project.write("docs/posts/p.md", "---\ntitle: P\n---\n")
    project.page("left.md", {"type": "blog", "topic": "One"})
    shown = run(project, "status")
    assert "docs/left.md asks for a text, but this build has no such page (excluded" in shown
    assert "docs/posts/.meta.yml:1: 'contentgen' is only read in pages, so docs/posts/p.md" in shown
    assert "docs/posts/.meta.yml:1:" in run(project, "zensical", "build")
    assert service.received == []


def test_the_writer_is_configured_there_too(site: Project) -> None:
    """`writer try` reads the options of the site, as the other commands do."""
    ran = site.ran("mkdocs_contentgen", "writer", "try", "blog", "A topic", code=1)
    assert "Config file" not in ran
    assert "plugin" not in ran


def test_a_configuration_that_is_named(site: Project) -> None:
    """A configuration can be named, and one that does not exist is said."""
    names = [path.name for path in site.root.iterdir() if path.suffix in (".toml", ".yml")]
    assert "One" in run(site, "status", "-f", names[0])
    ran: subprocess.CompletedProcess[str] = site.run("mkdocs_contentgen", "status", "-f", "no.yml")
    assert ran.returncode != 0
    assert "no.yml" in ran.stdout


@pytest.mark.parametrize(
    ("settings", "folder"),
    [
        ({"docs_dir": ".", "exclude_docs": "/contentgen/"}, "."),
        ({"markdown_extensions": ["contentgen", "zensical.extensions.preview"]}, "docs"),
    ],
)
def test_what_mkdocs_cannot_build(
    project: Project, settings: dict[str, object], folder: str
) -> None:
    """The commands read such a file as Zensical does, although theme and plugins are there."""
    project.configure({}, **{"theme": "material", "markdown_extensions": ["contentgen"]} | settings)
    project.page("../page.md" if folder == "." else "page.md", {"type": "blog", "topic": "One"})
    run(project, "generate")
    run(project, "approve", "page.md", "--by", "Jo")
    assert states(project) == {"page.md": "approved"}
    run(project, "eject", "page.md")
    assert "Text number 1" in (project.root / folder / "page.md").read_text()

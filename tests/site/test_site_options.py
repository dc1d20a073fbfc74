"""The writer's options of a site: which of its files the model may get."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from model_double import ModelDouble
from model_writer import writing

from mkdocs_contentgen.cli.main import main
from mkdocs_contentgen.errors import ConfigurationError
from mkdocs_contentgen.mkdocs.loading import load_mkdocs_site
from mkdocs_contentgen.site.site import Site
from mkdocs_contentgen.writer.sources.sources import Passage
from mkdocs_contentgen.zensical.loading import load_zensical_site, read_site

UNPUBLISHED = [
    *("secret.md", "drafts/plan.md", ".hidden.md", ".git/config.md", "templates/page.md"),
    *("sub/README.md", "notes.txt", "hook/plugin.md"),
]
PUBLISHED = ["index.md", "bees/wax.md", "sub/index.md"]
HOOK = """
from mkdocs.structure.files import InclusionLevel

def on_files(files, config):
    files.get_file_from_path("hook/plugin.md").inclusion = InclusionLevel.EXCLUDED
"""

Read = Callable[[Path], list[Passage]]


def write(root: Path, *names: str) -> None:
    """Write files, each with one section about bees."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"# {name}\n\nBees of {name}.\n", encoding="utf-8")


def configure(root: Path, sources: object, **options: object) -> Path:
    """Write a configuration with these sources, and return its path."""
    writer = {"model": "m", "sources": sources, **options}
    plugin = {"base_url": "writer", "on_missing": "placeholder", "writer": writer}
    path = root / "mkdocs.yml"
    config = {
        "site_name": "Site",
        "site_dir": ".site",
        "exclude_docs": "secret.md\n",
        "draft_docs": "drafts/\n",
        "plugins": [{"exclude": {"glob": "hook/*"}}, {"contentgen": plugin}],
        "markdown_extensions": ["contentgen"],
    }
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


def read_with_mkdocs(path: Path) -> list[Passage]:
    """Return the sections about bees that a text gets from a command, for a site of MkDocs."""
    config = yaml.safe_load(path.read_text())
    del config["plugins"][0]  # the hook is in its place
    path.write_text(yaml.safe_dump({**config, "hooks": ["hook.py"]}), encoding="utf-8")
    write(path.parent / "docs", "hook/plugin.md")
    (path.parent / "hook.py").write_text(HOOK)
    with load_mkdocs_site(str(path)) as site:
        return site.writer_options().sources.search("bees")


def read_with_server(path: Path) -> list[Passage]:
    """Return those that it gets from `contentgen zensical serve`, which shows drafts."""
    site = read_site(path, drafts=True)
    return site.writer_options().sources.search("bees")


def read_with_zensical(path: Path) -> list[Passage]:
    """Return those that it gets from a command, for a site that Zensical builds."""
    with load_zensical_site(str(path)) as site:
        return site.writer_options().sources.search("bees")


@pytest.fixture(params=[read_with_mkdocs, read_with_server, read_with_zensical])
def read(request: pytest.FixtureRequest) -> Read:
    """Return a way to read the sources of a site."""
    way: Read = request.param
    return way


def files(sections: list[Passage]) -> list[str]:
    """Return the files of sections."""
    return sorted(section.file for section in sections)


@pytest.mark.parametrize("sources", [True, ["docs"], ["."]])
def test_published_pages(tmp_path: Path, read: Read, sources: object) -> None:
    """Of the site's own folder, those pages are read that the build publishes, and no others."""
    write(tmp_path / "docs", *UNPUBLISHED, *PUBLISHED)
    found = read(configure(tmp_path, sources))
    assert files(found) == sorted(PUBLISHED)
    assert {it.link for it in found} == {"", "bees/wax/", "sub/"}


def test_a_folder_of_the_site(tmp_path: Path, read: Read) -> None:
    """Of a folder in that of the site, the published pages are read too."""
    write(tmp_path / "docs", *UNPUBLISHED, *PUBLISHED)
    assert files(read(configure(tmp_path, ["docs/bees", "docs/drafts"]))) == ["bees/wax.md"]


def test_named_files(tmp_path: Path, read: Read) -> None:
    """Other files and folders are read since they are named, but no hidden file of a folder."""
    write(tmp_path / "docs", *UNPUBLISHED, *PUBLISHED)
    write(tmp_path, "CHANGELOG.md", "wiki/a.md", "wiki/.hidden.md", "wiki/.git/b.md", "wiki/c.py")
    named = ["CHANGELOG.md", "wiki", "wiki/a.md", "docs/notes.txt", "docs/bees/wax.md"]
    found = read(configure(tmp_path, named))
    assert sorted((Path(it.file).name, it.link) for it in found) == [
        ("CHANGELOG.md", ""),
        ("a.md", ""),
        ("notes.txt", ""),
        ("wax.md", "bees/wax/"),
    ]


@pytest.mark.parametrize("sources", [True, ["docs"], ["wiki", "docs"]])
def test_links_within_a_folder(tmp_path: Path, read: Read, sources: object) -> None:
    """No link is followed, wherever it leads; MkDocs shows what it leads to."""
    outside, project = tmp_path / "outside", tmp_path / "project"
    write(outside, "netrc", "folder/deep.md")
    write(project, "docs/index.md", "wiki/a.md", ".env")
    for folder in ("docs", "wiki"):
        (project / folder / "link.md").symlink_to(outside / "netrc")
        (project / folder / "inner.md").symlink_to("../.env")
        (project / folder / "folder").symlink_to(outside / "folder")
    found = read(configure(project, sources))
    assert {Path(it.file).name for it in found} <= {"index.md", "a.md"}
    assert "index.md" in files(found)


@pytest.mark.parametrize(
    ("link", "sources"),
    [
        ("docs", True),
        ("docs", ["CHANGELOG.md"]),
        ("docs/sub", ["docs/sub"]),
        ("wiki", ["wiki/folder"]),
        ("wiki", ["wiki/netrc"]),
        ("link.md", ["link.md"]),
    ],
)
def test_a_named_link(tmp_path: Path, read: Read, link: str, sources: object) -> None:
    """A link in the place of what is named, or on the way to it, is one line that names it."""
    outside, project = tmp_path / "outside", tmp_path / "project"
    write(outside, "netrc", "folder/deep.md", "hook/plugin.md")
    write(project, "CHANGELOG.md")
    if not link.startswith("docs"):
        write(project, "docs/index.md")
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(outside / "netrc" if "." in link else outside)
    with pytest.raises(ConfigurationError) as caught:
        read(configure(project, sources))
    assert str(caught.value).startswith("writer.sources: ")
    assert f"({project / link} is a symbolic link, " in str(caught.value)


def test_the_project_behind_a_link(tmp_path: Path, read: Read) -> None:
    """The folders above the project may be links, such as a home directory."""
    write(tmp_path / "real/docs", *PUBLISHED)
    write(tmp_path, "shared.md")
    (tmp_path / "home").symlink_to("real")
    found = read(configure(tmp_path / "home", [".", "../shared.md"]))
    assert files(found) == sorted([*PUBLISHED, "shared.md"])


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Return what runs `contentgen` in a project that MkDocs builds."""
    for name in [name for name in os.environ if name.startswith("CONTENTGEN_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, **options: object) -> Result:
        path = configure(tmp_path, True, **options)
        config = yaml.safe_load(path.read_text())
        del config["plugins"][0], config["plugins"][0]["contentgen"]["on_missing"]
        path.write_text(yaml.safe_dump(config))
        return CliRunner().invoke(main, arguments)

    return run


def test_a_command(tmp_path: Path, model: ModelDouble, command: Callable[..., Result]) -> None:
    """`writer try` gives the model what a build gives it, and names what it leaves out."""
    model.answer = writing()
    write(tmp_path / "docs", "index.md", "secret.md")
    (tmp_path / "docs/link.md").symlink_to("secret.md")
    topic = ["news", "Bees", "--length", "short"]
    ran = command("writer", "try", *topic, endpoint=model.endpoint)
    assert ran.exit_code == 0, ran.output
    prompt = model.calls[0].body["messages"][-1]["content"]
    assert "Bees of index.md" in prompt
    assert "secret" not in prompt
    assert ran.stderr.count("such as docs/link.md (docs/link.md ") == 1


def test_a_page_with_many_comments(
    tmp_path: Path, model: ModelDouble, command: Callable[..., Result]
) -> None:
    """The text around an article has no comments, and a page full of them takes no time."""
    model.answer = writing()
    write(tmp_path / "docs", "index.md")
    (tmp_path / "docs/link.md").symlink_to("index.md")
    front_matter = "---\ncontentgen: {type: news, topic: Bees, length: short}\n---\n"
    text = f"One <!-- two\n--> three <!-- four <!-- five --> six {'<!-- ' * 50_000}"
    (tmp_path / "docs/page.md").write_text(front_matter + text)
    started = time.process_time()
    ran = command("generate", endpoint=model.endpoint)
    assert ran.exit_code == 0, ran.output
    assert time.process_time() - started < 5
    assert "Warning: writer.sources: " in ran.stderr
    assert "\nOne  three  six \n" in model.calls[0].body["messages"][-1]["content"]


@pytest.mark.parametrize("load", [load_mkdocs_site, load_zensical_site])
def test_the_names_of_a_site(
    tmp_path: Path, load: Callable[[str], AbstractContextManager[Site]]
) -> None:
    """The writer knows the name of the site, and what its navigation names."""
    write(tmp_path / "docs", "index.md", "a.md", "hook/plugin.md")
    path = configure(tmp_path, sources=True)
    nav = [{"First Steps": "index.md"}, {"More": [{"Tips and Tricks": "a.md"}, "a.md"]}]
    config = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**config, "plugins": config["plugins"][1:], "nav": nav}))
    with load(str(path)) as site:
        names = site.writer_options().site_names.split("\n")
    assert names == ["Site", "First Steps", "More", "Tips and Tricks"]

"""The completion of the shell, asked as bash does."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mkdocs_contentgen.cli.main import main

PAGES = ("alpha.md", "alps/one.md", "alps/two.md", "beta.md", "zwölf.md")
OTHERS = ("alpha.png", ".alpha.md", "a$(touch ran).md", "a b.md", "a\nb.md", "a\x1b[31m.md")
"""Files that are no pages, and names that a shell would not take as they are."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of a site with pages, and change into it."""
    monkeypatch.chdir(tmp_path)
    write_pages(tmp_path / "docs")
    # Neither the plugin nor the theme is installed.
    (tmp_path / "mkdocs.yml").write_text(
        "theme: none\nplugins: [none]\nx: !!python/name:no.no ''\n"
    )
    return tmp_path


def write_pages(docs: Path) -> None:
    """Write pages and other files."""
    for name in (*PAGES, *OTHERS):
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def complete(words: str) -> list[str]:
    """Return what the shell offers after `contentgen` and these words."""
    environment = {
        "_CONTENTGEN_COMPLETE": "bash_complete",
        "COMP_WORDS": f"contentgen {words}",
        "COMP_CWORD": str(len(words.split(" "))),
    }
    ran = CliRunner().invoke(main, prog_name="contentgen", env=environment)
    assert ran.stderr == ""
    lines = ran.stdout.strip().splitlines()
    assert all(line.startswith("plain,") for line in lines)
    return [line.removeprefix("plain,") for line in lines]


def test_a_directory_with_a_command_in_its_name(site: Path) -> None:
    """Nothing that a shell might execute comes from the directory of pages either."""
    (site / "mkdocs.yml").write_text("docs_dir: $(touch ran)")
    write_pages(site / "$(touch ran)")
    assert "$" not in "".join(complete("eject "))


@pytest.mark.parametrize("command", ["generate", "diff", "approve", "approve beta.md", "eject"])
def test_pages(site: Path, command: str) -> None:
    """All commands that take pages complete them."""
    assert complete(f"{command} docs/alp") == [
        "docs/alpha.md",
        "docs/alps/one.md",
        "docs/alps/two.md",
    ]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", [f"docs/{page}" for page in PAGES]),
        ("docs/alps/t", ["docs/alps/two.md"]),
        ("./docs/alps/t", ["./docs/alps/two.md"]),
        ("alps/t", ["alps/two.md"]),
        ("zw", ["zwölf.md"]),
        ("docs/none", []),
    ],
)
def test_forms_of_paths(site: Path, typed: str, offered: list[str]) -> None:
    """A path is completed as it was begun: from here, or in the directory of pages."""
    assert complete(f"approve {typed}") == offered


def test_an_absolute_path(site: Path) -> None:
    """It is completed, too."""
    assert complete(f"approve {site}/docs/b") == [f"{site}/docs/beta.md"]


@pytest.mark.parametrize("name", ["mkdocs.yml", "mkdocs.yaml", "zensical.toml"])
def test_another_directory_of_pages(site: Path, name: str) -> None:
    """The configuration names it."""
    (site / "mkdocs.yml").unlink()
    text = '[project]\ndocs_dir = "pages"\n' if name.endswith("toml") else "docs_dir: pages\n"
    (site / name).write_text(text)
    write_pages(site / "pages")
    assert complete("diff b") == ["beta.md"]
    assert complete("diff pages/b") == ["pages/beta.md"]


def test_a_configuration_elsewhere(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With -f, the paths lead from here to the pages of that site."""
    (site / "here").mkdir()
    monkeypatch.chdir(site / "here")
    assert complete("diff -f ../mkdocs.yml ../docs/b") == ["../docs/beta.md"]
    monkeypatch.chdir(site / "docs")
    assert complete("diff -f ../mkdocs.yml b") == ["beta.md"]


@pytest.mark.parametrize(
    "config", ["a: [", "docs_dir: 2026-99-99", "- a", "INHERIT: mkdocs.yml", "docs_dir: [a]", "\0"]
)
def test_a_configuration_that_cannot_be_read(site: Path, config: str) -> None:
    """It is no reason for an error, and pages are looked for in `docs`."""
    (site / "mkdocs.yml").write_text(config)
    assert complete("approve docs/b") == ["docs/beta.md"]


def test_no_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere, nothing is offered."""
    monkeypatch.chdir(tmp_path)
    assert complete("approve docs/b") == []

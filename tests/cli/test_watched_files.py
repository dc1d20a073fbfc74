"""The field `watch`: texts are due again after changes of the files that they are about."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from repository import commit, git
from sandbox_site import Site, enter_site, make_site

WATCHING = "---\ncontentgen: {{type: blog, topic: Alpha, owner: jo, watch: {watch}}}\n---\n"


@pytest.fixture(scope="module")
def made_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with a site in a folder, whose approved text watches `src`."""
    root = tmp_path_factory.mktemp("made")
    project = root / "project"
    project.mkdir()
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(root / "no-such-file"))
        git(root, "init", "-q", "-b", "main")
        site = make_site(project, monkeypatch)
        write(site, "src/tool/cli.py", "one\n")
        watch(site, "['src/tool/**']")
        site.draft("<article><h1>Alpha</h1><p>Two cores.</p></article>")
        site.run("approve", "index.md", "--by", "Jo")
        commit(root)
    return root


@pytest.fixture
def site(made_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return the site in a copy of the repository, for one test."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    shutil.copytree(made_site, tmp_path, dirs_exist_ok=True)
    return enter_site(tmp_path / "project", monkeypatch)


def watch(site: Site, patterns: str) -> None:
    """Write the page with the files to watch."""
    write(site, "docs/index.md", WATCHING.format(watch=patterns))


def write(site: Site, name: str, content: str) -> None:
    """Write a file of the project."""
    path = site.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def row(site: Site) -> dict[str, Any]:
    """Return what `status --json` says of the text."""
    [text] = json.loads(site.run("status", "--json"))
    return dict(text)


def test_changed_files(site: Site) -> None:
    """Commits since the approval count for each file, and other files do not."""
    assert row(site)["watched"] == []
    for number in range(3):
        write(site, "src/tool/cli.py", f"{number}\n")
        write(site, "src/other.py", f"{number}\n")
        commit(site.root)
    write(site, "src/tool/deep/new.py", "")
    commit(site.root)
    found = row(site)
    assert found["state"] == "approved"
    assert found["watched"] == [
        {"file": "project/src/tool/cli.py", "commits": 3},
        {"file": "project/src/tool/deep/new.py", "commits": 1},
    ]
    said = "project/src/tool/cli.py (3 commits), project/src/tool/deep/new.py (1 commit)"
    assert found["reason"].endswith(f"; watched files changed: {said}, ask jo")
    assert "Due for another review" in site.run("report")
    site.run("approve", "index.md", "--by", "Kim")  # not committed, and newer than all commits
    assert row(site)["watched"] == []
    commit(site.root)
    assert row(site)["watched"] == []


def test_builds_say_it(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """A build names what has changed, and does not fail."""
    write(site, "src/tool/cli.py", "two\n")
    commit(site.root)
    with caplog.at_level("INFO", "mkdocs"):
        build(load_config(str(site.root / "mkdocs.yml"), strict=True))
    said = "docs/index.md:2: watched files changed: project/src/tool/cli.py (1 commit)"
    assert said in caplog.text


def test_a_branch_that_is_merged_later(site: Site) -> None:
    """Its commits may be older than the approval, which did not know them."""
    git(site.root, "checkout", "-q", "-b", "work", "HEAD")
    write(site, "src/tool/cli.py", "two\n")
    commit(site.root)
    git(site.root, "checkout", "-q", "main")
    site.run("approve", "index.md", "--by", "Kim")
    commit(site.root)
    assert row(site)["watched"] == []
    git(site.root, "merge", "-q", "work", "-m", "x")
    assert row(site)["watched"] == [{"file": "project/src/tool/cli.py", "commits": 1}]


def test_a_deleted_file(site: Site) -> None:
    """That a file is gone is a change."""
    (site.root / "src/tool/cli.py").unlink()
    commit(site.root)
    assert row(site)["watched"] == [{"file": "project/src/tool/cli.py", "commits": 1}]


@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        ("['src/toool/**']", "`src/toool/**` matches no file that git tracks"),
        ("[../../x]", "`../../x` is outside of the repository"),
        ("['src/tool/*.py', '*.go']", "`*.go` matches no file that git tracks"),
    ],
)
def test_patterns_that_match_nothing(site: Site, patterns: str, said: str) -> None:
    """A mistake in a pattern is said, since no change would ever be."""
    watch(site, patterns)
    commit(site.root)
    assert row(site)["reason"].endswith(f"; watched files are not known: {said}")


def test_files_beside_the_project(site: Site) -> None:
    """Paths are relative to `mkdocs.yml`, and lead anywhere in the repository."""
    write(site, "../tool.toml", "")
    watch(site, "[../tool.toml]")
    commit(site.root.parent)
    assert row(site)["watched"] == [{"file": "tool.toml", "commits": 1}]


def test_a_shallow_clone(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the commit of the approval, nobody knows; that is said, and is not "unchanged"."""
    write(site, "src/tool/cli.py", "two\n")
    commit(site.root)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}", str(clone))
    monkeypatch.chdir(clone / "project")
    [found] = json.loads(Site(clone / "project").run("status", "--json"))
    assert "git does not have the commit of the approval" in found["reason"]


def test_what_is_watched_is_not_part_of_the_request(site: Site) -> None:
    """The text stays approved when other files are watched."""
    key = row(site)["key"]
    watch(site, "['docs/*']")
    found = row(site)
    assert (found["state"], found["key"]) == ("approved", key)

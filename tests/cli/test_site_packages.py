"""The packages that `contentgen init` lists for other machines."""

from __future__ import annotations

import json
from importlib.metadata import PathDistribution
from pathlib import Path

import msgspec
import pytest
from golden_file import cases
from repository import git

from mkdocs_contentgen.cli.site_packages import (
    DirectUrl,
    find_site_packages,
    own_requirement,
    requirement_from,
)
from mkdocs_contentgen.cli.yaml_edits import read_nodes

CASES = cases("site_packages")

ADDRESS = "https://git.example/a/mkdocs-contentgen.git"


@pytest.mark.parametrize(("direct", "clone", "line"), CASES["requirement_from"])
def test_requirement_from(direct: dict[str, object], clone: str, line: str) -> None:
    """It names what every machine can install, and neither a path nor a password."""
    assert requirement_from(msgspec.convert(direct, DirectUrl), clone) == line


@pytest.mark.parametrize(("text", "names", "unknown"), CASES["theme_plugins_and_extensions"])
def test_theme_plugins_and_extensions(text: str, names: list[str], unknown: list[str]) -> None:
    """Each comes from a package of this environment, or is named as unknown."""
    found = find_site_packages(read_nodes(text), "mkdocs")
    assert (found.names, found.unknown) == (names, unknown)


def test_properdocs() -> None:
    """Its own package is needed, too, since this one installs MkDocs."""
    assert find_site_packages({}, "properdocs").names == ["properdocs"]


def installed(directory: Path, folder: Path | None) -> PathDistribution:
    """Return this package as it is after an installation from a folder or from an index."""
    info = directory / "mkdocs_contentgen-1.dist-info"
    info.mkdir()
    if folder:
        direct = {"url": folder.as_uri(), "dir_info": {}}
        (info / "direct_url.json").write_text(json.dumps(direct))
    return PathDistribution(info)


def test_installed_from_an_index(tmp_path: Path) -> None:
    """The name is enough."""
    assert own_requirement(installed(tmp_path, None)) == "mkdocs-contentgen"


def test_installed_from_a_clone(tmp_path: Path) -> None:
    """Its address is named, but not that of a repository that only contains the folder."""
    clone = tmp_path / "my clone"
    (clone / "copied").mkdir(parents=True)
    git(clone, "init", "-q")
    git(clone, "remote", "add", "origin", ADDRESS)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    line = own_requirement(installed(tmp_path / "one", clone))
    assert line == f"mkdocs-contentgen @ git+{ADDRESS}"
    assert own_requirement(installed(tmp_path / "two", clone / "copied")) == ""

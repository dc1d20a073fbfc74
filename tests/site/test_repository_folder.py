"""Where readers find the files of a project on the web."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mkdocs_contentgen.mkdocs.loading import load_mkdocs_site

HUB = "https://github.com/o/r"


@pytest.mark.parametrize(
    ("options", "file", "expected"),
    [
        ({"repo_url": HUB}, "src/a b.py", f"{HUB}/blob/master/src/a%20b.py#L7"),
        ({"repo_url": f"{HUB}/", "edit_uri": "edit/main/docs"}, "a.py", f"{HUB}/blob/main/a.py#L7"),
        (
            {"repo_url": HUB, "edit_uri": "edit/x/edit/site/docs/"},
            "../src/a.py",
            f"{HUB}/blob/x/edit/src/a.py#L7",
        ),
        (
            {"repo_url": "https://git.example/o/r", "edit_uri": "-/edit/main/docs/"},
            "a.py",
            "https://git.example/o/r/-/blob/main/a.py#L7",
        ),
        (
            {"repo_url": "https://git.example/o/r", "edit_uri": "_edit/main/docs/"},
            "a.py",
            "https://git.example/o/r/src/branch/main/a.py#L7",
        ),
        ({}, "a.py", None),
        ({"repo_url": "https://git.example/o/r"}, "a.py", None),
        ({"repo_url": HUB, "edit_uri": ""}, "a.py", None),
        ({"repo_url": HUB, "edit_uri": "edit/main/handbook/"}, "a.py", None),
        ({"repo_url": HUB, "edit_uri": "?query=root/docs/"}, "a.py", None),
    ],
)
def test_the_address_of_a_line(
    tmp_path: Path, options: dict[str, str], file: str, expected: str | None
) -> None:
    """It is that of `edit_uri`, to view and not to edit; without one that fits, there is none."""
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    settings = {"site_name": "Site", "plugins": ["contentgen"], **options}
    (project / "mkdocs.yml").write_text(yaml.safe_dump(settings))
    with load_mkdocs_site(str(project / "mkdocs.yml")) as site:
        repository = site.reading_options().repository
        found = repository and repository.address_of((project / file).resolve(), 7)
    assert found == expected

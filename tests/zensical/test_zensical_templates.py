"""The templates that a command writes into a folder of the repository."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mkdocs_contentgen.errors import ConfigurationError
from mkdocs_contentgen.zensical.templates import write_templates


@pytest.mark.parametrize("name", ["main.html", "partials"])
def test_links_are_not_followed(tmp_path: Path, name: str) -> None:
    """Nothing is written outside of the folder, and nothing into it before that is known."""
    folder = tmp_path / "overrides"
    folder.mkdir()
    outside = tmp_path / "outside"
    (folder / name).symlink_to(outside)
    with pytest.raises(ConfigurationError, match="is a symbolic link, which is not followed"):
        write_templates(folder)
    assert not outside.exists()
    assert [path.name for path in folder.iterdir()] == [name]


def test_templates_are_written_once(tmp_path: Path) -> None:
    """A second run changes nothing."""
    written = write_templates(tmp_path / "overrides")
    assert written == write_templates(tmp_path / "overrides")
    assert all(Path(path).is_file() for path in written)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_only_files_are_read(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A pipe in the place of a template hangs nobody."""
    make(tmp_path / "main.html")
    with pytest.raises(ConfigurationError, match=r"main\.html: the template cannot be written"):
        write_templates(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["main.html"]

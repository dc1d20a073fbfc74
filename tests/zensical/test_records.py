"""What is remembered of pages that Zensical has rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkdocs_contentgen.zensical.records import Record, read_record, write_record


def test_a_record_is_deleted(tmp_path: Path) -> None:
    """A page that has no articles any more has no record."""
    write_record(tmp_path, "index.md", Record("digest", ["problem"]))
    assert read_record(tmp_path, "index.md") == Record("digest", ["problem"])
    write_record(tmp_path, "index.md", Record("", []))
    assert read_record(tmp_path, "index.md") is None


@pytest.mark.parametrize("link", [".cache", ".cache/contentgen"])
def test_a_link_is_not_followed(tmp_path: Path, link: str) -> None:
    """A directory that a pull request has linked elsewhere loses no file there."""
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "root"
    write_record(elsewhere, "index.md", Record("digest", []))
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(elsewhere / link)
    for digest in ("", "other"):
        with pytest.raises(OSError, match="symbolic link"):
            write_record(root, "index.md", Record(digest, []))
    assert read_record(elsewhere, "index.md") == Record("digest", [])

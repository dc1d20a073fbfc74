"""What is remembered of pages that Zensical has rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkdocs_contentgen.zensical.records import (
    Record,
    delete_entries,
    forget,
    put_back,
    read_record,
    set_aside,
    write_record,
)


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


@pytest.mark.parametrize(
    ("entry", "left"),
    [('{"route": {"source": "a.md"}}', {"2", "notes"}), ('{"path": "a.md"}', {"notes"})],
    ids=["known-form", "other-form"],
)
def test_pages_are_set_aside_and_forgotten(tmp_path: Path, entry: str, left: set[str]) -> None:
    """Zensical alone does not find pages with a record, and our next build has them again.

    What is forgotten is deleted, and so are all entries where pages cannot be told apart.
    """
    cache = tmp_path / ".cache"

    def entries() -> dict[str, str]:
        return {path.name: path.read_text() for path in cache.iterdir() if path.is_file()}

    write_record(tmp_path, "a.md", Record("digest", []))
    before = {"1": entry, "2": entry.replace("a.md", "b.md"), "notes": entry}
    for name, content in before.items():
        (cache / name).write_text(content)
    set_aside(tmp_path)
    assert set(entries()) == left
    put_back(tmp_path)
    assert entries() == before
    forget(tmp_path, ["a.md"])
    assert set(entries()) == left
    delete_entries(tmp_path, ["b.md"])
    assert set(entries()) == {"notes"}


def test_nothing_is_set_aside_behind_a_link(tmp_path: Path) -> None:
    """A pull request can link the directory elsewhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write_record(tmp_path, "a.md", Record("digest", []))
    (tmp_path / ".cache/contentgen/pages").symlink_to(elsewhere)
    (tmp_path / ".cache/1").write_text('{"route": {"source": "a.md"}}')
    (elsewhere / "2").write_text("")
    set_aside(tmp_path)
    put_back(tmp_path)
    assert [path.name for path in elsewhere.iterdir()] == ["2"]
    assert (tmp_path / ".cache/1").exists()

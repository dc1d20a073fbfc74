"""Pages that leave Zensical's cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkdocs_contentgen.errors import StoreError
from mkdocs_contentgen.zensical.page_cache import delete_entries


@pytest.mark.parametrize(
    ("entry", "left"),
    [('{"route": {"source": "a.md"}}', {"2", "notes"}), ('{"path": "a.md"}', {"notes"})],
    ids=["known-form", "other-form"],
)
def test_entries_of_pages(tmp_path: Path, entry: str, left: set[str]) -> None:
    """Those of a page are deleted, and all where pages cannot be told apart."""
    cache = tmp_path / ".cache"
    cache.mkdir()
    for name, content in {"1": entry, "2": entry.replace("a.md", "b.md"), "notes": entry}.items():
        (cache / name).write_text(content)
    delete_entries(tmp_path, [])
    assert len(list(cache.iterdir())) == 3
    delete_entries(tmp_path, ["a.md"])
    assert {it.name for it in cache.iterdir()} == left


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A directory that a pull request has linked elsewhere loses no file there."""
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "root"
    for folder in (elsewhere, root):
        folder.mkdir()
    (elsewhere / "1").write_text('{"route": {"source": "a.md"}}')
    (root / ".cache").symlink_to(elsewhere)
    delete_entries(root, [])
    with pytest.raises(StoreError, match=r"\.cache is a symbolic link"):
        delete_entries(root, ["a.md"])
    assert [path.name for path in elsewhere.iterdir()] == ["1"]

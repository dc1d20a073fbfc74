"""Which files of the folder of approved files are texts of pages."""

from __future__ import annotations

from pathlib import Path

from mkdocs_contentgen.texts.approved_dir import list_files

FILES = (
    *("z.md/main.html", "b.md/side.html", "b.md/main.html", "b.md/c.md/main.html", "a.md/m.html"),
    *("guide/y.md/main.html", "guide/x.md/main.html", "B.md/main.html", "0.md/main.html"),
)
OTHERS = ("main.html", "a.md/notes.txt", "guide/main.html", "a.md.bak/main.html")


def test_approved_files_are_in_order(tmp_path: Path) -> None:
    """They are listed by their paths, whatever order the file system has."""
    for name in (*FILES, *OTHERS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = [path.relative_to(tmp_path).as_posix() for path in list_files(tmp_path)]
    assert found == sorted(FILES)
    assert list_files(tmp_path / "none") == []

"""What counts as a change of a site."""

from __future__ import annotations

import os
from pathlib import Path

from mkdocs_contentgen.site.watching import stamp_of, stamp_of_pages, stamp_of_texts
from mkdocs_contentgen.zensical.loading import read_site


def test_pages_beside_what_is_built(tmp_path: Path) -> None:
    """What a build or an approval writes beside the pages changes none: it would build for ever."""
    path = tmp_path / "zensical.toml"
    path.write_text(
        '[project]\nsite_name = "S"\ndocs_dir = "."\nexclude_docs = "/contentgen/"\n'
        "[project.plugins.contentgen]\n[project.markdown_extensions.contentgen]\n"
    )
    (tmp_path / "index.md").write_text("# Home\n")
    site = read_site(path, drafts=True)
    pages, texts = stamp_of_pages(site), stamp_of_texts(site)
    for name in ("site/index.html", ".cache/123", "contentgen/index.md/main.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert stamp_of_pages(site) == pages
    assert stamp_of_texts(site) != texts
    (tmp_path / "more.md").write_text("# More\n")
    assert stamp_of_pages(site) != pages


def test_what_a_file_shows(tmp_path: Path) -> None:
    """Another time, name or number of files is a change, and what is not there is none."""
    nowhere = stamp_of([tmp_path / "a"])
    folder = tmp_path / "a/b"
    folder.mkdir(parents=True)
    assert stamp_of([tmp_path / "a"]) == nowhere
    (folder / "c").write_text("1")
    first = stamp_of([tmp_path / "a"])
    os.utime(folder / "c", (1, 1))
    second = stamp_of([tmp_path / "a"])
    (folder / "c").rename(folder / "d")
    assert len({nowhere, first, second, stamp_of([tmp_path / "a"])}) == 4

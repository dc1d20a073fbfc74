"""Sources: which files are read, how they are divided, and what is found for a topic."""

from __future__ import annotations

from pathlib import Path

import pytest
from mkdocs.structure.files import File
from recall import recall

from mkdocs_contentgen.service.writer.retrieval import (
    MAX_CHARACTERS,
    MAX_SECTIONS,
    Index,
    Sources,
)
from mkdocs_contentgen.service.writer.sources import (
    MAX_SECTION,
    Section,
    page_path,
    read_sources,
    split_sections,
)

GUIDE = Path(__file__).parents[3] / "example_site/docs"


def sections(markdown: str) -> list[tuple[str, str, str]]:
    """Return title, text and link of each section."""
    return [(it.title, it.text, it.link) for it in split_sections(markdown, "page.md", "a/page/")]


def read(*paths: Path, site: Path | None = None) -> list[Section]:
    """Return the sections of files and folders."""
    return list(read_sources(list(paths), frozenset([site] if site else [])))


class TestSections:
    """How a page is divided."""

    def test_headings(self) -> None:
        """Each heading begins a section with the title of the page and the id of the heading."""
        markdown = "Before.\n# Start\nFirst.\n## Install *it*\nPip.\n### On Windows\nOther.\n"
        assert sections(markdown) == [
            ("page", "Before.", "a/page/"),
            ("Start", "First.", "a/page/"),
            ("Start › Install it", "Pip.", "a/page/#install-it"),
            ("Start › On Windows", "Other.", "a/page/#on-windows"),
        ]

    def test_front_matter(self) -> None:
        """The title comes from the front matter, which is no text."""
        assert sections("---\ntitle: 'A title'\ntags: [x]\n---\nText.\n## B\nMore.\n") == [
            ("A title", "Text.", "a/page/"),
            ("A title › B", "More.", "a/page/#b"),
        ]

    def test_code(self) -> None:
        """A comment in a code block is no heading."""
        markdown = "# T\n```sh\n# no heading\n```\n~~~\n```\n# nor this\n~~~\n## Yes\nText.\n"
        assert [title for title, _, _ in sections(markdown)] == ["T", "T › Yes"]

    @pytest.mark.parametrize(
        ("heading", "anchor"),
        [
            ("## Twice\nx\n## Twice", "twice_1"),
            ("## Own { #own-id .c }", "own-id"),
            ("## Own {: #own-id }", "own-id"),
            ("## With [a link](b.md) and `code`", "with-a-link-and-code"),
            ("## Über die Größe", "uber-die-groe"),
            ("## 安装", "_1"),
            ("## Closed ##", "closed"),
        ],
    )
    def test_ids(self, heading: str, anchor: str) -> None:
        """The ids of headings are those of Python-Markdown."""
        assert sections(f"{heading}\nText.")[-1][2] == f"a/page/#{anchor}"

    @pytest.mark.parametrize("directory_urls", [True, False])
    @pytest.mark.parametrize(
        "file", ["index.md", "a/index.md", "a/README.md", "README.md", "a/b.md", "a b/ü.md"]
    )
    def test_pages(self, file: str, directory_urls: bool) -> None:
        """A page has the path that MkDocs gives it."""
        url = File(file, "docs", "site", directory_urls).url
        expected = "" if url == "./" else url
        assert page_path(file, directory_urls=directory_urls) == expected

    def test_long_sections(self) -> None:
        """A long section is divided between paragraphs, and a line without any anywhere."""
        markdown = "# T\n" + "\n\n".join(["word " * 100] * 20) + "\n## Line\n" + "x" * 10_000
        found = sections(markdown)
        assert all(len(text) <= MAX_SECTION for _, text, _ in found)
        assert sum(text.count("word") for _, text, _ in found) == 2000
        assert sum(text.count("x") for _, text, _ in found) == 10_000


class TestFiles:
    """What is read."""

    def test_folder(self, tmp_path: Path) -> None:
        """Of a folder, Markdown and text files are read; of a file, itself."""
        (tmp_path / "docs/sub").mkdir(parents=True)
        (tmp_path / "docs/.hidden").mkdir()
        for name in ("a.md", "sub/b.txt", "c.py", ".hidden/d.md"):
            (tmp_path / "docs" / name).write_text(f"# {name}\nText of {name}.")
        (tmp_path / "CHANGELOG.md").write_text("# Changes\nA change.")
        found = read(tmp_path / "docs", tmp_path / "CHANGELOG.md", site=tmp_path / "docs")
        assert [(it.file, it.link) for it in found] == [
            ("a.md", "a/"),
            ("sub/b.txt", "sub/b/"),
            ("CHANGELOG.md", ""),
        ]

    def test_generated_pages(self, tmp_path: Path) -> None:
        """A page with a request is no source."""
        (tmp_path / "a.md").write_text("---\ncontentgen: {type: blog, topic: T}\n---\nOwn text.")
        (tmp_path / "b.md").write_text("---\ntitle: B\n---\nThe word contentgen: is no request.")
        assert [it.file for it in read(tmp_path, site=tmp_path)] == ["b.md"]

    def test_hostile_files(self, tmp_path: Path) -> None:
        """Links out of the folder, binary and huge files are left out, and pipes do not block."""
        import os

        secret = tmp_path / "secret.md"
        secret.write_text("# Secret\nNot for the model.")
        docs = tmp_path / "docs"
        docs.mkdir()
        (docs / "link.md").symlink_to(secret)
        (docs / "folder").symlink_to(tmp_path)
        (docs / "binary.md").write_bytes(b"# A\n\x00\x01")
        (docs / "latin.md").write_bytes(b"# \xe9\nText.")
        (docs / "huge.md").write_text("x" * 10_000_000)
        os.mkfifo(docs / "pipe.md")
        (docs / "good.md").write_text("# Good\nText.")
        assert [it.file for it in read(docs, site=docs)] == ["good.md"]

    def test_changed_files(self, tmp_path: Path) -> None:
        """A changed, new or deleted file is noticed at the next search."""
        sources = Sources([tmp_path], [tmp_path])
        page = tmp_path / "a.md"
        assert sources.search("bees") == []
        page.write_text("# Bees\nBees make honey.")
        assert [it.text for it in sources.search("bees")] == ["Bees make honey."]
        page.write_text("# Bees\nBees make wax as well.")
        assert [it.text for it in sources.search("bees")] == ["Bees make wax as well."]
        page.unlink()
        assert sources.search("bees") == []


class TestSearch:
    """What is found."""

    @pytest.mark.parametrize(
        "topic",
        ["", "?!", '"', "a OR b", "NEAR(x)", "x*", "^x", "-x", "col:x", "'; DROP", "\x00", "缓存"],
    )
    def test_any_topic(self, topic: str) -> None:
        """A topic is never a query of its own."""
        Index([Section("a.md", "A", "text")]).search(topic)

    def test_chinese(self) -> None:
        """Words without spaces between them are found too."""
        index = Index([Section("a.md", "A", "如何使用缓存"), Section("b.md", "B", "别的内容")])
        assert index.search("缓存的工作原理")[0].file == "a.md"

    def test_limits(self) -> None:
        """The sections for a text have a number and a size."""
        index = Index(Section(f"{n}.md", "Bees", "bees " * 390) for n in range(50))
        found = index.search("bees")
        assert 4 <= len(found) <= MAX_SECTIONS
        assert sum(len(it.text) for it in found) <= MAX_CHARACTERS

    def test_the_right_page(self) -> None:
        """For most first sentences of this guide's sections, the rest of the page is found."""
        number, share = recall(read(GUIDE, site=GUIDE))
        assert number > 20
        assert share >= 0.75

"""Sources: which files are read, how they are divided, and what is found for a topic."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from golden_file import cases
from growth import LINEAR, growth, seconds
from mkdocs.structure.files import File
from recall import recall

from mkdocs_contentgen.globs import Glob
from mkdocs_contentgen.writer.sources.retrieval import (
    MAX_FILES_OF_GLOB,
    MAX_FOUND,
    MAX_SOURCE_CHARACTERS,
    Index,
    Sources,
)
from mkdocs_contentgen.writer.sources.sources import (
    MAX_FILE,
    MAX_HEADING,
    PASSAGE_LENGTH,
    Location,
    Passage,
    SitePages,
    find_files,
    page_path,
    read_sources,
    split_passages,
)

CASES = cases("sources")

GUIDE = Path(__file__).parents[3] / "example_site/docs"


def sections(markdown: str) -> list[tuple[str, str, str]]:
    """Return title, text and link of each section."""
    return [(it.title, it.text, it.link) for it in split_passages(markdown, "page.md", "a/page/")]


def read(*paths: Path) -> list[Passage]:
    """Return the sections of files and folders that have no site."""
    return read_all(*paths)[0]


def read_all(*paths: Path) -> tuple[list[Passage], list[str]]:
    """Return the sections of files and folders, and what is left out."""
    files = find_files([Location(path, path.parent) for path in paths])
    return read_sources(file for file in files if file.is_searched)


def a_site_with_code(root: Path) -> Sources:
    """Return the sources of a project with pages, a draft, a file of code, notes, and a link."""
    project = root / "project"
    docs = project / "docs"
    texts = {
        root / "secret.md": "A secret.",
        docs / "cache.md": "# Cache\n\nA cache keeps.",
        docs / "guide/upgrading.md": "# Upgrading\n\nFirst.",
        docs / "draft.md": "# Draft",
        docs / "secret-page.md": "---\npassword: x\n---\nFor few.",
        project / "src/cli.py": "def main(): ...",
        project / "notes/x.bin": "Data.",
        project / "notes/.hidden.md": "Hidden.",
        project / "notes/empty.md": "",
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (project / "notes/link.md").symlink_to(root / "secret.md")
    (project / "notes/latin.md").write_bytes(b"\xe4")
    published = {
        docs / "cache.md": "cache/",
        docs / "guide/upgrading.md": "guide/upgrading/",
        docs / "secret-page.md": "secret-page/",
    }
    paths = [docs, project / "src/cli.py", project / "notes"]
    return Sources(
        [Location(path, project) for path in paths], SitePages(Location(docs, project), published)
    )


@pytest.mark.parametrize(
    ("path", "places"),
    [("notes.md", ["notes.md", "notes.md#b"]), ("", ["../notes.md", "../notes.md#b"])],
)
def test_the_place_of_a_passage_of_no_page(path: str, places: list[str]) -> None:
    """It is the file as a request names it, with the anchor of the section."""
    passages = list(split_passages("# A\n\na\n\n## B\n\nb", "../notes.md", None, path))
    assert [passage.place for passage in passages] == places
    assert {passage.link for passage in passages} == {""}


class TestSections:
    """How a page is divided."""

    @pytest.mark.parametrize(
        ("markdown", "expected"),
        [
            (
                "Before.\n# Start\nFirst.\n## Install *it*\nPip.\n### On Windows\nOther.\n",
                [
                    ("Start", "Before.", "a/page/"),
                    ("Start", "First.", "a/page/"),
                    ("Start › Install it", "Pip.", "a/page/#install-it"),
                    ("Start › On Windows", "Other.", "a/page/#on-windows"),
                ],
            ),
            (
                "---\ntitle: 'A title'\ntags: [x]\n---\nText.\n## B\nMore.\n",
                [("A title", "Text.", "a/page/"), ("A title › B", "More.", "a/page/#b")],
            ),
            (
                "# T\n```sh\n# no\n```\n~~~\n```\n# no\n~~~\n## Yes\nText.\n",
                [
                    ("T", "```sh\n# no\n```\n~~~\n```\n# no\n~~~", "a/page/"),
                    ("T › Yes", "Text.", "a/page/#yes"),
                ],
            ),
        ],
        ids=["headings", "front-matter", "code"],
    )
    def test_sections(self, markdown: str, expected: list[tuple[str, str, str]]) -> None:
        """Headings begin sections, front matter has the title, and code has no headings."""
        assert sections(markdown) == expected

    @pytest.mark.parametrize(
        ("markdown", "titles"),
        [
            ("---\ntitle: Mine\n---\nText.\n## B\nMore.", ["Mine", "Mine › B"]),
            ("Text.\n### B\nMore.\n## C\nEnd.", ["B", "B", "C"]),
            ("Text.", ["In the navigation"]),
            ("# { #start }\nText.", ["In the navigation"]),
        ],
    )
    def test_titles(self, markdown: str, titles: list[str]) -> None:
        """What has no title above it is called as a reader would, and not by its file."""
        nav_title = "In the navigation"
        found = split_passages(markdown, "page.md", "a/page/", nav_title=nav_title)
        assert [passage.title for passage in found] == titles

    @pytest.mark.parametrize(("heading", "anchor"), CASES["ids"])
    def test_ids(self, heading: str, anchor: str) -> None:
        """The ids of headings are those of Python-Markdown."""
        assert sections(f"{heading}\nText.")[-1][2] == f"a/page/#{anchor}"

    @pytest.mark.parametrize(
        "file", ["index.md", "a/index.md", "a/README.md", "README.md", "a/b.md", "a b/ü.md"]
    )
    def test_pages(self, file: str) -> None:
        """A page has the path that MkDocs gives it."""
        url = File(file, "docs", "site", use_directory_urls=True).url
        assert page_path(file) == ("" if url == "./" else url)

    def test_long_sections(self) -> None:
        """A long section is divided between paragraphs, and a line without any anywhere."""
        markdown = "# T\n" + "\n\n".join(["word " * 100] * 20) + "\n## Line\n" + "x" * 10_000
        found = sections(markdown)
        assert all(len(text) <= PASSAGE_LENGTH for _, text, _ in found)
        assert sum(text.count("word") for _, text, _ in found) == 2000
        assert sum(text.count("x") for _, text, _ in found) == 10_000


class TestTime:
    """No file takes long, whatever is in it."""

    @pytest.mark.parametrize(("start", "piece", "end"), CASES["growth"])
    def test_growth(self, start: str, piece: str, end: str) -> None:
        """A file of twice the size takes about twice as long, and a small one no time."""

        def split(markdown: str) -> None:
            for _ in split_passages(markdown, "a.md", "a/"):
                pass

        def make(size: int) -> str:
            return start + piece * (size // len(piece)) + end

        assert seconds(lambda: split(make(40_000)), times=1) < 1
        assert growth(split, make, 20_000) < LINEAR

    def test_long_headings(self) -> None:
        """A long line is text, since each section below it would repeat it."""
        heading = "x" * MAX_HEADING
        markdown = f"# {heading}\nA.\n## {heading}y\nB.\n"
        assert sections(markdown) == [(heading, f"A.\n## {heading}y\nB.", "a/page/")]
        (section,) = sections(f"---\ntitle: {heading}y\n---\nText.")
        assert section[0] == heading


class TestFiles:
    """What is read."""

    def test_folder(self, tmp_path: Path) -> None:
        """Of a folder, Markdown and text files are read; of a file, itself."""
        for name in ("a.md", "sub/b.txt", "sub/c.markdown", "d.py", ".hidden/e.md", ".f.md"):
            (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "docs" / name).write_text(f"# {name}\nText of {name}.")
        (tmp_path / "CHANGELOG.md").write_text("# Changes\nA change.")
        found = read(tmp_path / "docs", tmp_path / "CHANGELOG.md", tmp_path / "docs/a.md")
        assert [(it.file, it.link) for it in found] == [
            ("a.md", "a/"),
            ("sub/b.txt", ""),
            ("sub/c.markdown", "sub/c/"),
            ("CHANGELOG.md", ""),
        ]

    def test_a_site(self, tmp_path: Path) -> None:
        """Of the folder of a site, its pages are read, with the addresses that they have."""
        for name in ("docs/a.md", "docs/draft.md", "b.md"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(f"Text of {name}.")
        root = Location(tmp_path, tmp_path)
        site = SitePages(Location(tmp_path / "docs", tmp_path), {tmp_path / "docs/a.md": "x/"})
        found, left_out = read_sources(find_files([root], site))
        assert [(it.file, it.link) for it in found] == [("b.md", ""), ("a.md", "x/")]
        assert left_out == []

    def test_generated_pages(self, tmp_path: Path) -> None:
        """A page with a request is not a source."""
        (tmp_path / "a.md").write_text("---\ncontentgen: {type: blog, topic: T}\n---\nOwn text.")
        (tmp_path / "b.md").write_text("---\ntitle: B\n---\nThe word contentgen: is no request.")
        assert [it.file for it in read(tmp_path)] == ["b.md"]

    def test_hostile_files(self, tmp_path: Path) -> None:
        """What cannot be read is left out with a reason, and pipes do not block."""
        secret = tmp_path / "secret.md"
        secret.write_text("# Secret\nNot for the model.")
        docs = tmp_path / "docs"
        docs.mkdir()
        (docs / "link.md").symlink_to(secret)
        (docs / "folder").symlink_to(tmp_path)
        (docs / "binary.md").write_bytes(b"# A\n\x00\x01")
        (docs / "latin.md").write_bytes(b"# \xe9\nText.")
        (docs / "huge.md").write_text("x" * (MAX_FILE + 1))
        (docs / os.fsdecode(b"\xff.md")).write_text("Text.")
        (docs / "a\x1b[31m.md").symlink_to(secret)
        os.mkfifo(docs / "pipe.md")
        (docs / "good.md").write_text("# Good\nText.")
        found, left_out = read_all(docs)
        assert [it.file for it in found] == ["good.md"]
        shown = (re.sub(r"^(\S+) \(\1 .*", r"\1 (\1 is a link)", line) for line in left_out)
        assert {re.sub(r"(pipe\.md) \(.*", r"\1 (…)", line) for line in shown} == {
            f"{docs}/a\\x1b[31m.md ({docs}/a\\x1b[31m.md is a link)",
            f"{docs}/binary.md (it is not text)",
            f"{docs}/folder ({docs}/folder is a link)",
            f"{docs}/huge.md (it has more than 2097152 characters)",
            f"{docs}/latin.md (it is not UTF-8)",
            f"{docs}/link.md ({docs}/link.md is a link)",
            f"{docs}/pipe.md (…)",
            f"{docs}/\\udcff.md (it is not UTF-8)",
        }

    def test_a_link_on_the_way(self, tmp_path: Path) -> None:
        """A folder on the way to a source that becomes a link later is not followed either."""
        (tmp_path / "a/docs").mkdir(parents=True)
        (tmp_path / "a/docs/page.md").write_text("Bees.")
        paths = [
            Location(tmp_path / "b/docs", tmp_path),
            Location(tmp_path / "b/docs/page.md", tmp_path),
        ]
        (tmp_path / "b").symlink_to("a")
        found, left_out = read_sources(find_files(paths))
        assert found == []
        (line,) = left_out
        assert line.startswith(f"{tmp_path}/b/docs/page.md ({tmp_path}/b ")

    def test_programs(self, tmp_path: Path) -> None:
        """A program without symbols is one section, or divided; no line of it is a heading."""
        (tmp_path / "src").mkdir()
        (tmp_path / "src/a.sh").write_text("# Not a heading\n\n" + "x = 1\n\n" * 500)
        found = Sources([Location(tmp_path / "src/a.sh", tmp_path)])
        parts = found.passages_of("src/a.sh")
        assert len(parts) == 2
        assert {(it.title, it.place) for it in parts} == {("src/a.sh", "src/a.sh")}

    def test_symbols(self, tmp_path: Path) -> None:
        """Each symbol of a program is a section, whose anchor is its name."""
        (tmp_path / "src").mkdir()
        (tmp_path / "src/a.py").write_text("LIMIT = 5\n\n\ndef main(limit: int = LIMIT): ...\n")
        found = Sources([Location(tmp_path / "src/a.py", tmp_path)]).passages_of("src/a.py")
        assert [(it.title, it.text, it.place, it.line) for it in found] == [
            ("src/a.py › module-constants", "LIMIT = 5", "src/a.py#module-constants", 1),
            ("src/a.py › main", "def main(limit: int=LIMIT)", "src/a.py#main", 4),
        ]

    def test_code_in_a_folder(self, tmp_path: Path) -> None:
        """It is read for a request that names it, and searched for others if a glob names it."""
        for name in ("src/a.py", "src/in/b.py", "src/in/c.go", "src/node_modules/d.py"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text('"Bees make honey."')
        folder = Sources([Location(tmp_path / "src", tmp_path)])
        assert folder.search("bees") == []
        by_path = folder.search("bees", ["src/a.py"])
        assert [it.place for it in by_path] == ["src/a.py"]
        by_glob = folder.search("bees", ["src/**/*.py", "src/*.py"])
        assert [it.place for it in by_glob] == ["src/a.py", "src/in/b.py"]
        assert folder.problem("src/node_modules/d.py").startswith("is not a source")
        glob = Sources([Location(tmp_path / "src", tmp_path, Glob("*/*.go"))])
        assert [it.place for it in glob.search("bees")] == ["src/in/c.go"]
        assert glob.problem("src/a.py").startswith("is not a source")

    def test_a_glob_that_matches_too_much(self, tmp_path: Path) -> None:
        """The number of files that a request can choose with one name has a limit."""
        for number in range(MAX_FILES_OF_GLOB + 1):
            (tmp_path / f"{number}.py").write_text('"Bees."')
        sources = Sources([Location(tmp_path, tmp_path)])
        assert sources.problem("1*.py") == ""
        assert "matches more than 500 files" in sources.problem("*.py")

    def test_globs_find_published_pages(self, tmp_path: Path) -> None:
        """In the directory of a site, a glob finds no draft and no page that others cannot read."""
        sources = a_site_with_code(tmp_path)
        found = sources.search("nothing", ["**/*.md"])
        assert {it.file for it in found} == {"cache.md", "guide/upgrading.md"}

    def test_the_warning(self, tmp_path: Path) -> None:
        """One line names the first file that is left out, and counts all."""
        sources = Sources([Location(tmp_path, tmp_path)])
        sources.search("bees")
        assert sources.warnings == []
        for name in "abcde":
            (tmp_path / f"{name}.md").write_bytes(b"\xff")
        sources.search("bees")
        assert sources.warnings == [
            f"writer.sources: files left out: 5, such as {tmp_path}/a.md (it is not UTF-8)"
        ]
        for name in "abcde":
            (tmp_path / f"{name}.md").unlink()
        sources.search("bees")
        assert sources.warnings == []

    def test_changed_files(self, tmp_path: Path) -> None:
        """A changed, new or deleted file is noticed at the next search."""
        sources = Sources([Location(tmp_path, tmp_path)])
        page = tmp_path / "a.md"
        for text in ("", "Bees make honey.", "Bees make wax as well.", ""):
            page.write_text(f"# Bees\n{text}") if text else page.unlink(missing_ok=True)
            assert [it.text for it in sources.search("bees")] == ([text] if text else [])


class TestSearch:
    """What is found."""

    @pytest.mark.parametrize(
        "topic",
        ["", "?!", '"', "a OR b", "NEAR(x)", "x*", "^x", "-x", "col:x", "'; DROP", "\x00", "缓存"],
    )
    def test_any_topic(self, topic: str) -> None:
        """A topic is never a query of its own."""
        Index([Passage("a.md", "A", "text")]).search(topic)

    def test_named_files(self, tmp_path: Path) -> None:
        """They come first and whole, also without paths to search, and the rest is searched."""
        sources = a_site_with_code(tmp_path)
        found = sources.search("cache upgrading", ["guide/upgrading.md", "src/cli.py"])
        assert [it.file for it in found] == ["guide/upgrading.md", "src/cli.py", "cache.md"]
        assert (found[0].link, found[1].link) == ("guide/upgrading/", "")
        only_pages = Sources((), sources._site)
        assert [it.file for it in only_pages.search("cache", ["cache.md"])] == ["cache.md"]
        assert only_pages.search("cache") == []

    def test_many_small_sections(self, tmp_path: Path) -> None:
        """Titles count too."""
        (tmp_path / "a.md").write_text("".join(f"# {n} {'T' * 280}\n\nx\n\n" for n in range(900)))
        (tmp_path / "b.md").write_text("".join(f"## {n}\n\nx\n\n" for n in range(900)))
        sources = Sources([Location(tmp_path / name, tmp_path) for name in ("a.md", "b.md")])
        for names in (["a.md"], ["b.md"], ["a.md", "b.md"]):
            found = sources.search("nothing of this", names)
            assert 0 < sum(len(it.title) + len(it.text) for it in found) <= MAX_SOURCE_CHARACTERS

    def test_a_large_named_file(self, tmp_path: Path) -> None:
        """Its sections that suit the topic are taken, or else the first ones."""
        text = "".join(f"## Part {n}\n\n{'word ' * 100}number{n}\n\n" for n in range(60))
        (tmp_path / "large.md").write_text(text)
        sources = Sources([Location(tmp_path / "large.md", tmp_path)])
        assert sources.search("number33", ["large.md"])[0].title.endswith("Part 33")
        first = sources.search("nothing like it", ["large.md"])
        assert first[0].title.endswith("Part 0")
        assert sum(len(it.text) for it in first) <= MAX_SOURCE_CHARACTERS

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            *(
                (name, "is not a source; ")
                for name in "draft.md docs/draft.md docs/cache.md ../secret.md /etc/hostname "
                "src/../../secret.md src notes/x.bin notes/.hidden.md".split()
            ),
            ("x" * 300, "is not a source; name a page"),
            ("notes/link.md", "cannot be read: "),
            ("notes/latin.md", "cannot be read: "),
            ("notes/empty.md", "cannot be read: it has no text for others to read"),
            ("secret-page.md", "cannot be read: it has no text for others to read"),
        ],
    )
    def test_what_cannot_be_named(self, tmp_path: Path, name: str, reason: str) -> None:
        """Nothing is read but published pages and what the paths have, also not through a link."""
        sources = a_site_with_code(tmp_path)
        assert sources.search("nothing", [name]) == []
        assert sources.problem(name).startswith(reason)

    def test_a_file_that_no_option_names(self, tmp_path: Path) -> None:
        """The message says where to add it."""
        (tmp_path / "config.py").write_text('"Bees."')
        assert "add the file to writer.sources" in Sources().problem("config.py")

    def test_an_index(self) -> None:
        """Words without spaces are found too, and at most so many sections."""
        index = Index([Passage("a.md", "A", "如何使用缓存"), Passage("b.md", "B", "别的内容")])
        assert index.search("缓存的工作原理")[0].file == "a.md"
        index = Index(Passage(f"{n}.md", "Bees", "bees " * 390) for n in range(50))
        found = index.search("bees")
        assert len(found) == MAX_FOUND

    def test_a_title_counts_more_than_a_text(self) -> None:
        """Of two sections that are otherwise the same, the one that is about the topic is first."""
        by_text = Passage("a.md", "Wasps", "Bees fly")
        by_title = Passage("b.md", "Bees", "Wasps fly")
        for sections in ([by_text, by_title], [by_title, by_text]):
            assert [it.file for it in Index(sections).search("bees")] == ["b.md", "a.md"]

    def test_the_right_page(self) -> None:
        """For most first sentences of this guide's sections, the rest of the page is found."""
        number, share = recall(read(GUIDE))
        assert number >= 15  # so that the share is not that of a few
        assert share >= 0.7

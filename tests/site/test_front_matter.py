"""What pages ask for, as golden files: `NAME.md` is a page, `NAME.txt` what is read from it.

`NAME.yml`, if it is there, is the plugin option `defaults`. UPDATE_GOLDEN=1 rewrites `NAME.txt`.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import yaml
from golden_file import GOLDEN, expect
from hypothesis import given
from hypothesis import strategies as st
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import File, get_files
from mkdocs.utils.meta import get_data

from mkdocs_contentgen.requests import check_defaults
from mkdocs_contentgen.site.front_matter import place_of, read_requests, unbuilt_page_problem
from mkdocs_contentgen.site.options import ContentgenConfig
from mkdocs_contentgen.site.site import Site

CASES = sorted((GOLDEN / "front_matter").glob("*.md"))


def site_of(root: Path, **options: object) -> MkDocsConfig:
    """Return the configuration of a site below `root`, as MkDocs loads it."""
    config: dict[str, object] = {"site_name": "Site", "docs_dir": "docs", "plugins": []}
    config |= {"theme": {"name": None, "custom_dir": "."}, **options}
    (root / str(config["docs_dir"])).mkdir(parents=True)
    file = root / "mkdocs.yml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return load_config(str(file))


def pages_of(site: MkDocsConfig) -> list[File]:
    """Return the pages of a site, in the order of their names."""
    return sorted(get_files(site).documentation_pages(), key=lambda file: file.src_uri)


def read(
    config: MkDocsConfig, pages: list[File], defaults: dict[str, object] | None = None
) -> Site:
    """Return a site with what its pages ask for, with these defaults."""
    options = ContentgenConfig()
    options.defaults = defaults or {}
    return read_requests(Site(config=config, options=options), pages)


@pytest.mark.parametrize("page", CASES, ids=[case.stem for case in CASES])
def test_front_matter_reads_as_expected(page: Path, tmp_path: Path) -> None:
    """A page's requests and problems are those of its golden file."""
    option = page.with_suffix(".yml")
    defaults = yaml.safe_load(option.read_text(encoding="utf-8")) if option.exists() else {}
    site = site_of(tmp_path)
    shutil.copy(page, tmp_path / "docs" / "page.md")

    reading = read(site, pages_of(site), defaults)

    def lines() -> Iterator[str]:
        for asked in reading.requests:
            assert asked.page == "page.md"
            yield asked.place
            for name, value in msgspec.structs.asdict(asked.request).items():
                if name in ("level", "owner", "watch") and not value:
                    continue
                yield f"  {name}: {json.dumps(value, ensure_ascii=False)}"
        yield from (f"mkdocs.yml: {problem}" for problem in check_defaults(defaults))
        yield from (problem.message for problem in reading.problems)
        yield from (f"warning: {warning}" for warning in reading.warnings)

    expect("".join(f"{line}\n" for line in lines()), page.with_suffix(".txt"))


def test_problems_of_all_pages_come_together(tmp_path: Path) -> None:
    """Every problem names its page, and a bad page hides neither another's nor the good ones."""
    site = site_of(tmp_path / "project", docs_dir="text/pages")
    docs = tmp_path / "project" / "text" / "pages"
    (docs / "deep").mkdir(parents=True)
    (docs / "a.md").write_text("---\ncontentgen: 5\n---\n")
    (docs / "deep" / "b.md").write_text("---\ncontentgen: {type: news, topic: B}\n---\n")
    (docs / "deep" / "c.md").write_text("---\ntitle: C\n\ncontentgen: {type: nwes}\n---\n")

    reading = read(site, pages_of(site))
    requests, problems = reading.requests, reading.problems

    assert [(asked.page, asked.place) for asked in requests] == [
        ("deep/b.md", "text/pages/deep/b.md:2")
    ]
    assert [problem.message.split(" ")[0] for problem in problems] == [
        "text/pages/a.md:2:",
        "text/pages/deep/c.md:4:",
    ]


def test_a_page_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are named, and no reason to forget the other pages."""
    site = site_of(tmp_path)
    (tmp_path / "docs" / "bad.md").write_bytes(b"---\ncontentgen: \xff\n---\n")
    (tmp_path / "docs" / "gone.md").symlink_to(tmp_path / "nowhere.md")
    (tmp_path / "docs" / "good.md").write_text("---\ncontentgen: {type: news, topic: T}\n---\n")
    reading = read(site, pages_of(site))
    requests, problems = reading.requests, reading.problems
    assert [asked.page for asked in requests] == ["good.md"]
    assert [problem.message for problem in problems] == [
        "docs/bad.md: cannot be read (it is not UTF-8)",
        "docs/gone.md: cannot be read (No such file or directory)",
    ]


def test_pages_that_other_plugins_make_count_too(tmp_path: Path) -> None:
    """A page that exists in memory only asks for its article as any other does."""
    site = site_of(tmp_path)
    source = "---\ncontentgen: {type: article, topic: T}\n---\n"
    page = File("made/up.md", src_dir=None, dest_dir=site.site_dir, use_directory_urls=True)
    page.content_string = source
    reading = read(site, [page])
    requests, problems = reading.requests, reading.problems
    assert [(asked.page, asked.place) for asked in requests] == [
        ("made/up.md", "docs/made/up.md:2")
    ]
    assert problems == []


@pytest.mark.parametrize(
    ("theme", "front_matter", "locale", "language"),
    [
        ({}, "", "", ""),
        ({"language": "en"}, "", "", ""),
        ({"language": "de"}, "", "", "de"),
        ({"locale": "fr_CA"}, "", "", "fr-CA"),
        ({"language": "de"}, "lang: en", "", "en"),
        ({"language": "de"}, "lang: it", "", "it"),
        ({"language": "de"}, "lang: it", "es", "es"),
        ({"language": "de"}, "lang: 5", "", "de"),
    ],
)
def test_the_language_of_a_page(
    tmp_path: Path, theme: dict[str, str], front_matter: str, locale: str, language: str
) -> None:
    """A plugin for languages says it, or the page, or the theme, whose `en` says nothing."""
    config = site_of(tmp_path)
    page = tmp_path / "docs" / "page.md"
    page.write_text(f"---\ncontentgen: {{type: news, topic: T}}\n{front_matter}\n---\n")
    [file] = pages_of(config)
    file.locale = locale  # type: ignore[attr-defined]  # mkdocs-static-i18n sets it
    site = Site(config=config, options=ContentgenConfig(), theme=theme)
    [asked] = read_requests(site, [file]).requests
    assert asked.language == language


def test_pages_that_a_build_does_not_have(tmp_path: Path) -> None:
    """Those that ask for a text are named, but for hidden ones and those that nobody can read."""
    config = site_of(tmp_path)
    site = Site(config=config, options=ContentgenConfig())
    asking = "---\ncontentgen: {type: news, topic: T}\n---\n"
    for name, content in (("b.md", asking), ("a.md", asking), (".c/d.md", asking), ("e.md", "E")):
        (tmp_path / "docs" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(content)
    (tmp_path / "docs/f.md").write_bytes(b"\xff")
    files = {}
    for name in ("a.md", "b.md", ".c/d.md", "e.md", "f.md"):
        files[name] = File(name, config.docs_dir, config.site_dir, use_directory_urls=True)
    others = [files[name] for name in (".c/d.md", "e.md", "f.md")]
    assert unbuilt_page_problem(site, others) == ""
    problem = unbuilt_page_problem(site, [files["b.md"], files["a.md"], *others])
    assert re.findall(r"docs/[.\w/]+\.md", problem) == ["docs/a.md", "docs/b.md"]


class Copying(BasePlugin):  # type: ignore[type-arg]  # it has no options
    """Copies pages into a temporary folder, as mkdocs-monorepo-plugin does."""

    def __init__(self, config: MkDocsConfig, target: Path) -> None:
        self.originalDocsDir = config.docs_dir
        self.files_source_dir: dict[str, str] = {}
        root = Path(config.docs_dir).parent
        for source, name in (("docs/a.md", "a.md"), ("api/docs/b.md", "api/b.md")):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / source, target / name)
            self.files_source_dir[str(target / name)] = str(root / source)
        (target / "made.md").write_text("---\ncontentgen: 7\n---\n")
        config.docs_dir = str(target)


def test_copied_pages_are_named_as_in_the_repository(tmp_path: Path) -> None:
    """Messages and names of pages have the files that an author can open."""
    site = site_of(tmp_path / "project")
    project = tmp_path / "project"
    (project / "api/docs").mkdir(parents=True)
    (project / "docs/a.md").write_text("---\ncontentgen: 5\n---\n")
    (project / "api/docs/b.md").write_text("---\ncontentgen: {type: news, topic: B}\n---\n")
    site.plugins["monorepo"] = Copying(site, tmp_path / "copies")
    pages = pages_of(site)

    reading = read(site, pages)

    assert [problem.message.partition(" ")[0] for problem in reading.problems] == [
        "docs/a.md:2:",
        "docs/made.md:2:",
    ]
    [request] = reading.requests
    assert (request.page, request.place) == ("api/b.md", "api/docs/b.md:2")
    for name in ("api/b.md", "api/docs/b.md", str(project / "api/docs/b.md")):
        assert reading.select_requests([name]) == [request]
    assert place_of(pages[1], site, "news") == "api/docs/b.md:2"


@pytest.mark.parametrize(("text", "line"), [("three", 3), ("one", 1), ("", 1), ("absent", 1)])
def test_place_of_finds_the_line(text: str, line: int, tmp_path: Path) -> None:
    """A text's place is its first line; what stands nowhere has the page's first."""
    site = site_of(tmp_path)
    (tmp_path / "docs" / "page.md").write_bytes(b"one\r\ntwo\r\nthree\r\nthree")
    (page,) = pages_of(site)
    assert place_of(page, site, text) == f"docs/page.md:{line}"


@pytest.fixture(scope="module")
def a_site(tmp_path_factory: pytest.TempPathFactory) -> MkDocsConfig:
    """Return a site for pages in memory."""
    return site_of(tmp_path_factory.mktemp("site"))


pieces = st.sampled_from(
    [
        *("---\n", "...\n", "\n", "  ", "\t", "- ", "? ", ": ", ", ", "{", "}", "[", "]", "'", '"'),
        *("title: T\n", "contentgen:\n", "  topic: U\n", "    id: x\n", "# no\n", "|\n", ">-\n"),
        *("&a ", "*a ", "<<: *a\n", "!!int ", "!!set ", "!!timestamp ", "!!float ", "!x "),
        *("2024-01-01", "0x1f", "1e9", "~", "yes", "\x07", "\ufeff", "\u2028", "\r", "\\ud800"),
    ]
)
right = st.sampled_from(
    [
        "title: T\n\ncontentgen:\n  type: blog\n  length: short\n  revision: 2\n",
        "contentgen:\n  - type: news\n    topic: &a T\n  - type: blog\n    id: x\n    topic: *a\n",
        '{"contentgen": {"type": "news", "topic": "T"}, "draft": true}\n',
    ]
)


@st.composite
def nearly_right(draw: st.DrawFn) -> str:
    """Make a front matter that is right but for a few places."""
    source = draw(right)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(source)))
        end = at + draw(st.integers(0, 3))
        source = source[:at] + draw(pieces | st.text(max_size=3)) + source[end:]
    return source


@given(source=nearly_right())
def test_any_source_is_requests_or_problems(source: str, a_site: MkDocsConfig) -> None:
    """Whatever a page begins with, nothing is raised, and every problem has a line of the page."""
    page = File("page.md", src_dir=None, dest_dir=a_site.site_dir, use_directory_urls=True)
    page.content_string = f"---\n{source}---\n"
    reading = read(a_site, [page])
    requests, problems = reading.requests, reading.problems
    if "contentgen" in get_data(page.content_string)[1]:
        assert bool(requests) != bool(problems)
    for problem in problems:
        match = re.fullmatch(r"docs/page\.md:([0-9]+): .+", problem.message)
        assert match, problem
        assert 1 <= int(match[1]) <= page.content_string.count("\n") + 1

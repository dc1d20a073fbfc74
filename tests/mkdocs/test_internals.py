"""What is used of MkDocs though it is not public: each fails where a release changes it."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from mkdocs_contentgen.mkdocs.internals import (
    file_of_page,
    set_title_before_rendering,
    set_title_found,
)


class Spy(Extension):
    """Does something to the Markdown of each page, once MkDocs has looked for its title."""

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self.files: list[File | None] = []
        self.title = title

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  the name is Python-Markdown's
        """Register the processor."""
        spy = self

        class Look(Treeprocessor):
            def run(self, root: Element) -> None:
                spy.files.append(file_of_page(md))
                set_title_found(md, root, spy.title)

        md.treeprocessors.register(Look(md), "spy", 0.5)


@pytest.fixture
def config(tmp_path: Path) -> MkDocsConfig:
    """Return the configuration of a site with one page."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/page.md").write_text("# Own\n\nText.\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: Site\nplugins: []\n")
    return load_config(str(tmp_path / "mkdocs.yml"))


def rendered(config: MkDocsConfig, spy: Spy) -> Page:
    """Return the page, rendered by MkDocs."""
    config.markdown_extensions.append(spy)  # type: ignore[arg-type]  # it is handed to Markdown
    file = File("page.md", config.docs_dir, config.site_dir, use_directory_urls=True)
    page = Page(None, file, config)
    page.read_source(config)
    set_title_before_rendering(page, "Before & after")
    assert page.title == "Before &amp; after"
    page.render(config, Files([file]))
    return page


def test_the_file_of_the_page(config: MkDocsConfig) -> None:
    """A processor of the tree can tell which file is rendered, if it is that of a page."""
    spy = Spy()
    page = rendered(config, spy)
    assert spy.files == [page.file]
    Markdown(extensions=[spy]).convert("Text")
    assert spy.files == [page.file, None]


def test_the_title_that_was_found(config: MkDocsConfig) -> None:
    """MkDocs takes a title for the one that it found, and else has the heading's."""
    assert rendered(config, Spy("New")).title == "New"


def test_the_title_before_rendering(config: MkDocsConfig) -> None:
    """A title that was set is the page's until it is rendered."""
    assert rendered(config, Spy()).title == "Own"

"""Inputs that nobody thought of, for everything that reads what others made.

A few of each with every run of the tests. `FUZZ_SECONDS=3600 pytest tests/fuzz` takes an hour,
shared by the tests; Hypothesis keeps what it finds in `.hypothesis` and shrinks it.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import tostring

import pytest
from approved_texts import approve, save_approved
from drafts import TOPIC, draft, request
from harmless import violations, wrong_with_style
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mkdocs.config import load_config
from mkdocs.structure.files import get_files
from msgspec import structs
from remarks import said
from test_inline_styles import styles
from test_markdown import DAY, PIECES
from test_sanitizer import soups

from mkdocs_contentgen.errors import ConfigurationError, UnsafeHTMLError
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.html.inline_styles import adapted_classes, sanitize_style
from mkdocs_contentgen.html.sanitizer import sanitize
from mkdocs_contentgen.mkdocs.plugin import ContentgenPlugin
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.review.approving import document_of_file
from mkdocs_contentgen.site.options import ContentgenConfig
from mkdocs_contentgen.site.site import Site
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.approved_dir import read_approved
from mkdocs_contentgen.writer.answers.markdown import to_html

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
TESTS = 12
"""The tests of this folder that share the time."""


def fuzz(test: Callable[[], None]) -> None:
    """Run a test of Hypothesis once, or for its share of FUZZ_SECONDS."""
    deadline = time.monotonic() + SECONDS / TESTS
    test()
    while time.monotonic() < deadline:
        test()


few = settings(max_examples=20, suppress_health_check=list(HealthCheck), derandomize=not SECONDS)


def test_sanitizer() -> None:
    """Nothing harmful is left of any HTML, and sanitizing it again changes nothing."""

    @few
    @given(soups)
    def test(source: str) -> None:
        try:
            clean = tostring(sanitize(source), encoding="unicode", method="html")
        except UnsafeHTMLError:
            return
        assert list(violations(clean)) == []
        assert tostring(sanitize(clean), encoding="unicode", method="html") == f"<div>{clean}</div>"

    fuzz(test)


def test_approved_files() -> None:
    """What is approved is read as the same text, however its lines are indented and spread."""
    options = ContentgenConfig()
    request = BlogRequest(topic="T")

    @few
    @given(soups)
    def test(source: str) -> None:
        draft = Text(f"<article><h1>T</h1>{source}", datetime.now(UTC), request.record())
        try:
            html = document_of_file(Document(draft.html), options).source
        except UnsafeHTMLError:
            return
        approved = approve(structs.replace(draft, html=html), "key", "sandbox", "Jo")
        with TemporaryDirectory() as name:
            directory = Path(name)
            path = directory / "main.html"
            save_approved(path, directory, approved)
            found = read_approved(path, directory)
            assert found is not None
            assert (found.text, found.is_changed) == (approved.text, False)
            before, code, end = path.read_text().partition("<pre")
            header, text = before.split("---\n<article", 1)
            spread = text.replace("\n<", "\n\n   <")
            path.write_text(f"{header}---  \n\n<article{spread}{code}{end}\n")
            found = read_approved(path, directory)
            assert found is not None
            assert (found.text, found.is_changed) == (approved.text, False)

    fuzz(test)


def test_inline_styles() -> None:
    """Nothing harmful is left of any style, and judging it again changes nothing."""

    @few
    @given(styles | st.text())
    def test(style: str) -> None:
        kept = sanitize_style(style)
        assert kept == "" or list(wrong_with_style(kept)) == []
        assert sanitize_style(kept) == kept
        assert all(name.startswith("cg-") for name in adapted_classes("p", kept))

    fuzz(test)


def test_sources(tmp_path: Path) -> None:
    """A text gets nothing of other folders, behind a link, hidden or unpublished."""
    config = tmp_path / "mkdocs.yml"
    config.write_text(
        "{site_name: Site, exclude_docs: secret*, draft_docs: drafts/, plugins: [contentgen]}"
    )
    segments = st.sampled_from(["a", "b", ".hidden", "templates", "secret", "drafts"])
    ends = st.sampled_from(["a.md", "index.md", ".h.md", "secret.md", "b.txt"])
    folders = st.lists(segments, max_size=2)
    places = st.builds(
        lambda top, folders, end: Path(top, *folders, end),
        st.sampled_from(["docs", "docs", "wiki", ""]),
        folders,
        ends,
    )
    targets = st.sampled_from(["../outside", "../outside/a.md", "wiki", "docs/a/a.md", ".hidden"])
    links = st.tuples(places | places.map(lambda place: place.parent), targets)
    names = ["docs", ".", "wiki", "a.md", "wiki/a.md", "docs/a", "docs/secret", "../project/docs"]
    sources = st.just(True) | st.lists(st.sampled_from(names), min_size=1, max_size=3)

    @few
    @given(st.lists(places, max_size=6), st.lists(links, max_size=2), sources)
    def test(files: list[Path], links: list[tuple[Path, str]], sources: bool | list[str]) -> None:
        with TemporaryDirectory(dir=tmp_path) as directory:
            project = make_tree(Path(directory), files, links)
            shutil.copy(config, project)
            site = load_config(str(project / "mkdocs.yml"))
            plugin = site.plugins["contentgen"]
            assert isinstance(plugin, ContentgenPlugin)
            pages = get_files(site).documentation_pages()
            plugin.config.writer = {"model": "m", "sources": sources}
            try:
                options = Site(config=site, options=plugin.config, pages=pages).writer_options()
            except ConfigurationError as error:
                assert re.search("symbolic link|No such file", str(error))
                return
            for section in options.sources.search("bees"):
                file = Path(section.text.removeprefix("bees of "))
                assert str(file).endswith(f"/{section.file}")
                assert not [part for part in file.relative_to(project).parts if part[0] == "."]
                if file.is_relative_to(project / "docs"):
                    top, *others = file.relative_to(project / "docs").parts
                    assert top not in ("templates", "drafts")
                    assert not {"secret", "secret.md", "drafts", "b.txt"} & {top, *others}

    fuzz(test)


def make_tree(directory: Path, files: list[Path], links: list[tuple[Path, str]]) -> Path:
    """Make a project in a directory, and return its path. Each file says where it is."""
    project = directory / "project"
    for file in (
        directory / "outside/a.md",
        project / "docs/index.md",
        *map(project.joinpath, files),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"bees of {file.resolve()}")
    for place, target in links:
        # Neither in another link nor a loop, in which MkDocs would go round.
        path = project / place
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.parent.resolve() == path.parent and not place.is_relative_to(target):
                path.symlink_to(project / target)
    return project


CHARACTERS = 32 * 1024


@pytest.mark.system
def test_model() -> None:
    """No text of a model takes more than seconds to read, to check and to write as HTML."""
    pieces = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=6)

    @settings(few, max_examples=5)
    @given(pieces.map("".join).filter(bool), st.integers(1, 10_000))
    def test(piece: str, length: int) -> None:
        paragraph = piece * (length // len(piece) + 1)
        answer = "\n\n".join([paragraph] * (CHARACTERS // len(paragraph) + 1))[:CHARACTERS]
        started = time.process_time()
        found = draft(answer, request("blog"), words=10)
        if not found.problem:
            assert len(said(found)) < 30
        to_html(found.document, "blog", given=TOPIC, day=DAY, names=True)
        assert time.process_time() - started < 10, ascii(piece)

    fuzz(test)

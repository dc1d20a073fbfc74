"""`contentgen zensical serve`, driven for real: edits, slow answers, failures, the end."""

from __future__ import annotations

import shutil
import signal
from contextlib import AbstractContextManager, suppress

import pytest
import served_site
from conftest import Project, wait_until
from served_site import ServedSite
from service_double import ServiceDouble

from mkdocs_contentgen.html.disclosure import DISCLOSURE_LINES


@pytest.fixture
def site(project: Project) -> Project:
    """Return a site for Zensical with one request."""
    configure(project)
    project.page("index.md", {"type": "blog", "topic": "One"}, "First words.\n")
    return project


def configure(project: Project, options: object = None) -> None:
    """Write a configuration with the extension."""
    project.configure(options, theme="material", markdown_extensions=["contentgen"])


def serving(project: Project, *command: str) -> AbstractContextManager[ServedSite]:
    """Serve the project until the block ends, by default with `contentgen zensical serve`."""
    command = command or ("mkdocs_contentgen", "zensical", "serve")
    return served_site.serving(project, *command)


@pytest.mark.system
def test_a_new_page_gets_its_text(site: Project) -> None:
    """A page that is added while the server runs gets its text, and then nothing happens."""
    with serving(site) as server:
        wait_until(lambda: "Text number 1" in server.page())
        site.page("new.md", {"type": "news", "topic": "New"})
        wait_until(lambda: "Text number 2" in server.page("new/"))
        reports = []
        for words in ("Other words", "Still others", "Even more"):
            site.page("index.md", {"type": "blog", "topic": "One"}, words)
            wait_until(lambda: words in server.page())  # noqa: B023
            reports.append(site.output.count("texts:") + site.output.count("text:"))
        assert reports[-1] == reports[-2]  # that of the new page can come after the first edit


@pytest.mark.system
def test_options_are_read_again(site: Project) -> None:
    """A change of the configuration is seen, and a broken one ends neither server."""
    with serving(site) as server:
        wait_until(lambda: "not reviewed" in server.page())
        configure(site, {"disclosure": "loud"})
        wait_until(lambda: "disclosure" in site.output)

        def is_shown() -> bool:
            page = server.page()
            return "Text" in page and "reviewed" not in page

        # Zensical misses a change while it renders; whoever sees that saves the file again.
        for _ in range(5):
            configure(site, {"disclosure": False})
            with suppress(AssertionError):
                wait_until(is_shown, timeout=12)
                break
        assert is_shown()
        assert server.process.poll() is None


@pytest.mark.system
def test_zensical_alone_shows_a_placeholder(site: Project, service: ServiceDouble) -> None:
    """`zensical serve` shows what is missing, asks nobody, and lives on."""
    with serving(site, "zensical", "serve") as server:
        wait_until(lambda: "`contentgen generate`" in server.page())
        site.page("index.md", {"type": "blog", "topic": "Two"}, "Other words.\n")
        wait_until(lambda: "Other words" in server.page())
        assert service.received == []
        assert server.process.poll() is None


@pytest.mark.system
def test_an_edit_leaves_other_pages_alone(site: Project) -> None:
    """After an edit, no other page is written to or rendered, also on a site that was built."""
    other = site.page("other.md", {"type": "news", "topic": "Other"})
    assert site.run("mkdocs_contentgen", "zensical", "build").returncode == 0
    before = other.stat().st_mtime_ns
    with serving(site) as server:
        wait_until(lambda: "Text number" in server.page("other/"))
        site.page("index.md", {"type": "blog", "topic": "One"}, "Other words.\n")
        wait_until(lambda: "Other words" in server.page())
        site.page("index.md", {"type": "blog", "topic": "One"}, "Still others.\n")
        wait_until(lambda: "Still others" in server.page())
        assert other.stat().st_mtime_ns == before


@pytest.mark.system
def test_a_configuration_that_is_replaced(site: Project) -> None:
    """An editor that renames a new file over the configuration is noticed."""
    with serving(site) as server:
        wait_until(lambda: "not reviewed" in server.page())
        text = (site.root / "mkdocs.yml").read_text()
        new = site.write("new.yml", text.replace("contentgen: {}", "contentgen: {disclosure: no}"))
        assert new.read_text() != text
        new.rename(site.root / "mkdocs.yml")
        wait_until(lambda: (page := server.page()) and "Text" in page and "reviewed" not in page)


@pytest.mark.system
def test_a_background_job_ends_too(site: Project) -> None:
    """SIGTERM ends both servers where Ctrl-C is ignored, as in a background job of a script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with serving(site) as server:
            signal.signal(signal.SIGINT, before)
            wait_until(lambda: "Text number 1" in server.page())
            server.process.terminate()
            assert server.process.wait(60) == 128 + signal.SIGTERM
            assert server.page() == ""
    finally:
        signal.signal(signal.SIGINT, before)


def is_in_cache(project: Project, page: bytes) -> bool:
    """Return whether Zensical's cache has a page now, which can be deleted meanwhile."""
    for entry in (project.root / ".cache").glob("[0-9]*"):
        with suppress(FileNotFoundError):
            if page in entry.read_bytes():
                return True
    return False


@pytest.mark.system
def test_zensical_alone_keeps_no_page_when_it_is_interrupted(site: Project) -> None:
    """Its Ctrl-C runs no function at its end, and the next build shows what is true. 3 s."""
    assert site.run("mkdocs_contentgen", "zensical", "build").returncode == 0
    assert site.run("mkdocs_contentgen", "approve", "index.md", "--by", "Jo").returncode == 0
    with serving(site, "zensical", "serve") as server:
        wait_until(lambda: "reviewed by Jo" in server.page())
        wait_until(lambda: not is_in_cache(site, b"index.md"))
        server.process.send_signal(signal.SIGINT)
        server.process.wait(30)
    shutil.rmtree(site.root / "contentgen")
    assert site.run("zensical", "build").returncode == 0
    assert DISCLOSURE_LINES["draft"] in site.html("index.html")

"""`contentgen zensical serve`, driven for real: edits, slow answers, failures, the end."""

from __future__ import annotations

import shutil
import signal
import threading
from contextlib import AbstractContextManager

import pytest
import served_site
from conftest import Project, wait_until
from served_site import ServedSite
from service_double import Handler, Received, ServiceDouble, generated, raw


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


def hold(service: ServiceDouble) -> threading.Event:
    """Let the service answer when the event is set."""
    release = threading.Event()

    def answer(request: Received, handler: Handler) -> None:
        release.wait(60)
        generated()(request, handler)

    service.answer = answer
    return release


def test_a_page_comes_before_its_text(site: Project, service: ServiceDouble) -> None:
    """The server does not wait for the service, and renders the page when the text is there."""
    release = hold(service)
    with serving(site) as server:
        wait_until(lambda: "Generating …" in server.page())
        assert service.answered == []
        release.set()
        wait_until(lambda: "Text number 1" in server.page())
        assert service.topics == ["One"]
        assert server.process.poll() is None


@pytest.mark.system
def test_a_save_without_a_new_request_sends_none(site: Project, service: ServiceDouble) -> None:
    """Editing a page's text is free; a new request is sent once it has stood for three seconds."""
    with serving(site) as server:
        wait_until(lambda: "Text number 1" in server.page())
        site.page("index.md", {"type": "blog", "topic": "One"}, "Other words.\n")
        wait_until(lambda: "Other words" in server.page())
        assert "Text number 1" in server.page()
        for topic in ("Tw", "Two"):
            site.page("index.md", {"type": "blog", "topic": topic}, "Other words.\n")
            wait_until(lambda: "Generating …" in server.page())
        wait_until(lambda: "Text number 2" in server.page())
        assert service.topics == ["One", "Two"]


@pytest.mark.system
def test_a_new_page_gets_its_text(site: Project) -> None:
    """A page that is added while the server runs gets its text, and then nothing happens."""
    with serving(site) as server:
        wait_until(lambda: "Text number 1" in server.page())
        site.page("new.md", {"type": "news", "topic": "New"})
        wait_until(lambda: "Text number 2" in server.page("new/"))
        reports = set()
        for words in ("Other words", "Still others"):
            site.page("index.md", {"type": "blog", "topic": "One"}, words)
            wait_until(lambda: words in server.page())  # noqa: B023
            reports.add(site.output.count("texts:") + site.output.count("text:"))
        assert len(reports) == 1


@pytest.mark.system
def test_reviews_are_shown(site: Project) -> None:
    """An approval is shown at once, also the first one, and so is an edit of the approved file."""
    with serving(site) as server:
        wait_until(lambda: "Text number 1" in server.page())
        approved = site.run("mkdocs_contentgen", "approve", "index.md", "--by", "Ada")
        assert approved.returncode == 0, approved.stdout
        wait_until(lambda: "reviewed by Ada" in server.page())
        file = site.root / "contentgen/index.md/main.html"
        file.write_text(file.read_text().replace("Text number 1", "By hand"))
        wait_until(lambda: "By hand" in server.page())


@pytest.mark.system
def test_options_are_read_again(site: Project) -> None:
    """A change of the configuration is seen, and a broken one ends neither server."""
    with serving(site) as server:
        wait_until(lambda: "not reviewed" in server.page())
        configure(site, {"disclosure": "loud"})
        wait_until(lambda: "disclosure" in site.output)
        configure(site, {"disclosure": False})
        wait_until(lambda: (page := server.page()) and "Text" in page and "reviewed" not in page)
        assert server.process.poll() is None


@pytest.mark.system
def test_a_failure_shows_in_the_page(site: Project, service: ServiceDouble) -> None:
    """A failed request is shown with its reason, and not repeated with each save."""
    service.answer = raw(b"{}", 500)
    with serving(site) as server:
        wait_until(lambda: "the service answered 500" in server.page())
        site.page("index.md", {"type": "blog", "topic": "One"}, "Other words.\n")
        wait_until(lambda: "Other words" in server.page())
        assert "the service answered 500" in server.page()
        assert service.topics == ["One"]


@pytest.mark.system
def test_a_mistake_shows_in_the_page(site: Project) -> None:
    """A wrong request is shown in its page, and mended without a new start."""
    site.page("index.md", {"type": "blgo", "topic": "One"})
    with serving(site) as server:
        wait_until(lambda: "blgo" in server.page())
        site.page("index.md", {"type": "blog", "topic": "One"})
        wait_until(lambda: "Text number 1" in server.page())


@pytest.mark.system
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_end_waits_for_what_is_paid_for(
    site: Project, service: ServiceDouble, number: signal.Signals
) -> None:
    """Ctrl-C and SIGTERM wait for requests in flight, save their texts, and leave no program."""
    release = hold(service)
    with serving(site) as server:
        wait_until(lambda: "Generating …" in server.page() and service.in_flight)
        server.process.send_signal(number)
        wait_until(lambda: server.page() == "")
        release.set()
        status = server.process.wait(20)
        assert status == (0 if number == signal.SIGINT else 128 + signal.SIGTERM)
        assert service.answered == ["One"]
    ran = site.run("mkdocs_contentgen", "zensical", "build")
    assert ran.returncode == 0, ran.stdout
    assert service.topics == ["One"]


@pytest.mark.system
def test_the_exit_status_is_that_of_zensical(site: Project) -> None:
    """If Zensical cannot serve, the command ends with its status."""
    process = site.start("mkdocs_contentgen", "zensical", "serve", "--no-such-option")
    assert process.wait(20) == 2


@pytest.mark.system
def test_zensical_alone_shows_a_placeholder(site: Project, service: ServiceDouble) -> None:
    """`zensical serve` shows what is missing, asks nobody, and lives on."""
    with serving(site, "zensical", "serve") as server:
        wait_until(lambda: "`contentgen generate` requests it" in server.page())
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
            assert server.process.wait(20) == 128 + signal.SIGTERM
            assert server.page() == ""
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.system
@pytest.mark.parametrize("arguments", [("-s",), ("--strict",)])
def test_all_arguments_of_zensical_are_accepted(site: Project, arguments: tuple[str, ...]) -> None:
    """Arguments that mean nothing to contentgen are passed on."""
    with serving(site, "mkdocs_contentgen", "zensical", "serve", *arguments) as server:
        wait_until(lambda: "Text number 1" in server.page())


@pytest.mark.system
def test_zensical_alone_keeps_no_page_when_it_is_interrupted(site: Project) -> None:
    """Its Ctrl-C runs no function at its end, and the next build shows what is true. 3 s."""
    assert site.run("mkdocs_contentgen", "zensical", "build").returncode == 0
    assert site.run("mkdocs_contentgen", "approve", "index.md", "--by", "Jo").returncode == 0
    with serving(site, "zensical", "serve") as server:
        wait_until(lambda: "reviewed by Jo" in server.page())
        cache = site.root / ".cache"
        wait_until(lambda: not any("index.md" in it.read_text() for it in cache.glob("[0-9]*")))
        server.process.send_signal(signal.SIGINT)
        server.process.wait(30)
    shutil.rmtree(site.root / "contentgen")
    assert site.run("zensical", "build").returncode == 0
    assert "AI-generated, not reviewed" in site.html("index.html")

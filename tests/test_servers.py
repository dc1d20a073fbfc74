"""`mkdocs serve` and `contentgen zensical serve`, driven for real: what is the same for both."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import pytest
import served_site
from conftest import Project, wait_until
from served_site import ServedSite
from service_double import ServiceDouble, hold, raw

COMMANDS = {"mkdocs": ("mkdocs", "serve"), "zensical": ("mkdocs_contentgen", "zensical", "serve")}
ONE = {"type": "blog", "topic": "One"}

Serving = Callable[[], AbstractContextManager[ServedSite]]


@pytest.fixture(params=COMMANDS)
def serving(request: pytest.FixtureRequest, project: Project) -> Serving:
    """Return what serves a project with one request, until the block ends."""
    configure(project)
    project.page("index.md", ONE, "First words.\n")
    return partial(served_site.serving, project, *COMMANDS[request.param])


def configure(project: Project, options: object = None) -> None:
    """Write a configuration that both can read."""
    project.configure(options, theme="material", markdown_extensions=["contentgen"])


def test_a_page_comes_before_its_text(serving: Serving, service: ServiceDouble) -> None:
    """The server does not wait for the service, and renders the page when the text is there."""
    release = hold(service)
    with serving() as server:
        wait_until(lambda: "Generating …" in server.page())
        assert service.answered == []
        release.set()
        wait_until(lambda: "Text number 1" in server.page())
        assert service.topics == ["One"]
        assert server.process.poll() is None


@pytest.mark.system
def test_a_save_without_a_new_request_sends_none(
    project: Project, serving: Serving, service: ServiceDouble
) -> None:
    """Editing a page's text is free; a new request is sent once it has stood for three seconds."""
    with serving() as server:
        wait_until(lambda: "Text number 1" in server.page())
        project.page("index.md", ONE, "Other words.\n")
        wait_until(lambda: "Other words" in server.page())
        assert "Text number 1" in server.page()
        for topic in ("Tw", "Two"):
            project.page("index.md", {"type": "blog", "topic": topic}, "Other words.\n")
            wait_until(lambda: "Generating …" in server.page())
        wait_until(lambda: "Two" in service.topics)
        wait_until(lambda: f"Text number {len(service.topics)}" in server.page())
        # Where building takes longer than three seconds, the half one has stood for as long.
        assert [topic for topic in service.topics if topic != "Tw"] == ["One", "Two"]


@pytest.mark.system
def test_reviews_are_shown(project: Project, serving: Serving) -> None:
    """An approval is shown at once, also the first one, and so is an edit of the approved file."""
    with serving() as server:
        wait_until(lambda: "Text number 1" in server.page())
        project.ran("mkdocs_contentgen", "approve", "index.md", "--by", "Ada")
        wait_until(lambda: "reviewed by Ada" in server.page())
        file = project.root / "contentgen/index.md/main.html"
        file.write_text(file.read_text().replace("Text number 1", "By hand"))
        wait_until(lambda: "By hand" in server.page())


@pytest.mark.system
def test_a_failure_shows_in_the_page(
    project: Project, serving: Serving, service: ServiceDouble
) -> None:
    """A failed request is shown, not repeated with each save, and the server lives on."""
    service.answer = raw(b"{}", 500)
    with serving() as server:
        wait_until(lambda: "500 Internal Server Error" in server.page())
        project.page("index.md", ONE, "Other words.\n")
        wait_until(lambda: "Other words" in server.page())
        assert "500 Internal Server Error" in server.page()
        assert service.topics == ["One"]


@pytest.mark.system
def test_a_wrong_front_matter_shows_in_the_page(
    project: Project, serving: Serving, service: ServiceDouble
) -> None:
    """A mistake is shown where the article would be, and mending it brings the article."""
    project.page("index.md", {"type": "blgo", "topic": "One"})
    with serving() as server:
        wait_until(lambda: "expected one of article" in server.page())
        project.page("index.md", ONE)
        wait_until(lambda: "Text number 1" in server.page())
        assert service.topics == ["One"]


@pytest.mark.system
def test_without_credentials_the_page_says_so(project: Project, serving: Serving) -> None:
    """What cannot be asked for is shown in the page as well."""
    del project.environment["CONTENTGEN_TOKEN"]
    with serving() as server:
        wait_until(lambda: "CONTENTGEN_TOKEN" in server.page())


@pytest.mark.system
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_end_awaits_what_is_in_flight(
    project: Project, serving: Serving, service: ServiceDouble, number: signal.Signals
) -> None:
    """A text that is being generated when the server is stopped is kept, and no program is left."""
    release = hold(service)
    with serving() as server:
        wait_until(lambda: "Generating …" in server.page() and service.in_flight)
        server.process.send_signal(number)
        wait_until(lambda: server.page() == "")
        release.set()
        status = server.process.wait(60)
        assert status == (0 if number == signal.SIGINT else 128 + signal.SIGTERM)
    assert "Traceback" not in project.output
    assert "One" in project.run("mkdocs_contentgen", "status").stdout
    assert project.build("--strict").returncode == 0
    assert service.answered == service.topics == ["One"]

"""`mkdocs serve`, driven for real: edits, slow answers, failures, the end."""

from __future__ import annotations

import signal
import threading
from contextlib import AbstractContextManager

import pytest
import served_site
from conftest import Project, wait_until
from model_double import ModelDouble
from model_writer import writing
from served_site import ServedSite
from service_double import Handler, Received, ServiceDouble, generated, raw


def serving(project: Project, *arguments: str) -> AbstractContextManager[ServedSite]:
    """Serve the project with MkDocs until the block ends."""
    return served_site.serving(project, "mkdocs", "serve", *arguments)


@pytest.mark.parametrize("arguments", [(), pytest.param(("--dirty",), marks=pytest.mark.system)])
def test_a_page_comes_before_its_text(
    project: Project, service: ServiceDouble, arguments: tuple[str, ...]
) -> None:
    """The server does not wait for the service, and makes the page anew when the text is there."""
    seen = threading.Event()

    def answer(request: Received, handler: Handler) -> None:
        seen.wait(300)
        generated()(request, handler)

    service.answer = answer
    project.page("index.md", {"type": "blog", "topic": "Slow"}, "Of the author.\n")
    with serving(project, *arguments) as site:
        wait_until(lambda: "Generating …" in site.page())
        seen.set()
        wait_until(lambda: "Text number 1" in site.page())
        assert service.topics == ["Slow"]
        assert site.process.poll() is None


@pytest.mark.system
def test_a_save_without_a_new_request_sends_none(project: Project, service: ServiceDouble) -> None:
    """Editing a page's text is free; a new request is sent once."""
    asked = {"type": "blog", "topic": "One"}
    project.page("index.md", asked, "First words.\n")
    with serving(project) as site:
        wait_until(lambda: "Text number 1" in site.page())
        project.page("index.md", asked, "Other words.\n")
        wait_until(lambda: "Other words" in site.page())
        assert "Text number 1" in site.page()
        assert service.topics == ["One"]
        project.page("index.md", {"type": "blog", "topic": "Two"}, "Other words.\n")
        wait_until(lambda: "Text number 2" in site.page())
        assert service.topics == ["One", "Two"]


@pytest.mark.system
def test_a_request_that_has_gone_is_not_sent(project: Project, service: ServiceDouble) -> None:
    """Taking a new request out again within three seconds costs nothing."""
    project.page("index.md", {"type": "blog", "topic": "First"})
    with serving(project) as site:
        wait_until(lambda: "Text number 1" in site.page())
        project.page("index.md", {"type": "blog", "topic": "Second"})
        wait_until(lambda: "Generating …" in site.page())
        project.write("docs/index.md", "By hand.\n")
        wait_until(lambda: "By hand." in site.page())
        project.page("other.md", {"type": "blog", "topic": "Third"})
        wait_until(lambda: "Text number 2" in site.page("other/"))
        assert service.topics == ["First", "Third"]


@pytest.mark.system
@pytest.mark.parametrize("round_", range(4))
def test_a_text_that_comes_at_once_is_shown(project: Project, round_: int) -> None:
    """The text of the sandbox is there before the server watches, and is shown all the same."""
    project.configure({"base_url": "sandbox"})
    project.page("index.md", {"type": "blog", "topic": "Fast"})
    with serving(project) as site:
        wait_until(lambda: "sample text" in site.page().lower())


@pytest.mark.system
def test_reviews_are_shown(project: Project) -> None:
    """An approval is shown at once, also the first one. 3 s."""
    project.page("index.md", {"type": "blog", "topic": "First"})
    with serving(project) as site:
        wait_until(lambda: "Text number 1" in site.page())
        approved = project.run("mkdocs_contentgen", "approve", "index.md", "--by", "Ada")
        assert approved.returncode == 0, approved.stdout
        wait_until(lambda: "reviewed by Ada" in site.page())


@pytest.mark.system
def test_many_texts_cause_few_rebuilds(project: Project, service: ServiceDouble) -> None:
    """While texts keep arriving, the pauses between rebuilds grow."""
    service.answer = generated(delay=1)
    project.configure({"concurrency": 2})
    for number in range(24):
        project.page(f"{number}.md", {"type": "blog", "topic": f"Topic {number}"})
    project.write("docs/index.md", "Home\n")
    with serving(project) as site:
        wait_until(lambda: "Text number" in site.page("0/"))
        wait_until(lambda: len(service.answered) == 24)
        wait_until(lambda: "Text number" in site.page("23/"))
        assert project.output.count("Building documentation") <= 6


@pytest.mark.system
def test_a_failure_shows_in_the_page(project: Project, service: ServiceDouble) -> None:
    """A failed request is shown, not repeated with each save, and the server lives on."""
    service.answer = raw(b"{}", 500)
    asked = {"type": "blog", "topic": "One"}
    project.page("index.md", asked, "First words.\n")
    with serving(project) as site:
        wait_until(lambda: "the service answered 500" in site.page())
        project.page("index.md", asked, "Other words.\n")
        wait_until(lambda: "Other words" in site.page())
        assert "the service answered 500" in site.page()
        assert service.topics == ["One"]


@pytest.mark.system
def test_a_wrong_front_matter_shows_in_the_page(project: Project, service: ServiceDouble) -> None:
    """A mistake is shown where the article would be, and mending it brings the article."""
    project.page("index.md", {"type": "blgo", "topic": "One"})
    with serving(project) as site:
        wait_until(
            lambda: "did you mean &#x27;blog&#x27;?" in site.page() or "'blog'?" in site.page()
        )
        project.page("index.md", {"type": "blog", "topic": "One"})
        wait_until(lambda: "Text number 1" in site.page())
        assert service.topics == ["One"]


@pytest.mark.system
def test_without_credentials_the_page_says_so(project: Project) -> None:
    """What cannot be asked for is shown in the page as well."""
    del project.environment["CONTENTGEN_TOKEN"]
    project.page("index.md", {"type": "blog", "topic": "One"})
    with serving(project) as site:
        wait_until(lambda: "token: is not set" in site.page())


@pytest.mark.system
def test_a_budget_holds_for_the_server(project: Project, service: ServiceDouble) -> None:
    """All rebuilds together send no more than `max_requests`."""
    project.configure({"max_requests": 1})
    project.page("index.md", {"type": "blog", "topic": "One"})
    with serving(project) as site:
        wait_until(lambda: "Text number 1" in site.page())
        project.page("index.md", {"type": "blog", "topic": "Two"})
        wait_until(lambda: "max_requests leaves 0" in site.page())
        assert service.topics == ["One"]


@pytest.mark.system
def test_a_model_of_ones_own(project: Project, model: ModelDouble) -> None:
    """The writer's texts come in the background too, and all rebuilds together keep `max_cost`."""
    model.answer = writing(cost=0.5)
    writer = {"model": "large:8b", "endpoint": model.endpoint, "max_cost": 0.4}
    project.configure({"base_url": "writer", "writer": writer})
    project.page("index.md", {"type": "blog", "topic": "One"})
    with serving(project) as site:
        wait_until(lambda: "not reviewed · large:8b" in site.page())
        project.page("index.md", {"type": "blog", "topic": "Two"})
        wait_until(lambda: "max_cost is reached: 0.50 of 0.40" in site.page())
        assert len(model.calls) == 1


@pytest.mark.system
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_end_awaits_what_is_in_flight(
    project: Project, service: ServiceDouble, number: signal.Signals
) -> None:
    """A text that is being generated when the server is stopped is kept."""
    service.answer = generated(delay=2)
    project.page("index.md", {"type": "blog", "topic": "One"})
    with serving(project) as site:
        wait_until(lambda: service.received and "Generating …" in site.page())
        site.process.send_signal(number)
        site.process.wait(60)
    assert project.cached() == {"One"}
    assert "Waiting for the requests in flight (Ctrl-C gives them up)" in project.output
    assert "Traceback" not in project.output


def test_a_server_does_not_pay_for_a_failed_text(project: Project, service: ServiceDouble) -> None:
    """What failed in an earlier build is shown, and not asked for again."""
    service.answer = raw(b'{"success": true, "content": "no article"}')
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    project.build()
    shown = project.build_as_server()
    assert shown.returncode == 0, shown.stdout
    assert "asks (and pays) again" in shown.stdout
    assert "expected one &lt;article&gt;, found none (on " in project.html("index.html")
    assert len(service.received) == 1

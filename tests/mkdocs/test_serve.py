"""`mkdocs serve`, driven for real: edits, slow answers, failures, the end."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager

import pytest
import served_site
from conftest import Project, wait_until
from model_double import ModelDouble
from model_writer import writing
from served_site import ServedSite
from service_double import ServiceDouble, generated, hold, raw

from mkdocs_contentgen.site.background import REBUILD_INTERVAL


def serving(project: Project, *arguments: str) -> AbstractContextManager[ServedSite]:
    """Serve the project with MkDocs until the block ends."""
    return served_site.serving(project, "mkdocs", "serve", *arguments)


@pytest.mark.system
def test_a_page_that_lacks_its_text_is_dirty(project: Project, service: ServiceDouble) -> None:
    """With `--dirty`, a page is made again too when its text is there."""
    release = hold(service)
    project.page("index.md", {"type": "blog", "topic": "Slow"}, "Of the author.\n")
    with serving(project, "--dirty") as site:
        wait_until(lambda: "Generating …" in site.page())
        release.set()
        wait_until(lambda: "Text number 1" in site.page())
        assert service.topics == ["Slow"]
        assert site.process.poll() is None


@pytest.mark.system
def test_a_text_that_comes_at_once_is_shown(project: Project) -> None:
    """The text of the sandbox is there before the server watches, and is shown all the same."""
    project.configure({"base_url": "sandbox"})
    project.page("index.md", {"type": "blog", "topic": "Fast"})
    with serving(project) as site:
        wait_until(lambda: "sample text" in site.page().lower())


@pytest.mark.system
def test_many_texts_cause_few_rebuilds(project: Project, service: ServiceDouble) -> None:
    """While texts keep arriving, there is time between rebuilds."""
    service.answer = generated(delay=1)
    project.configure({"concurrency": 2})
    for number in range(24):
        project.page(f"{number}.md", {"type": "blog", "topic": f"Topic {number}"})
    project.write("docs/index.md", "Home\n")
    started = time.monotonic()
    with serving(project) as site:
        wait_until(lambda: "Text number" in site.page("0/"))
        wait_until(lambda: len(service.answered) == 24)
        wait_until(lambda: "Text number" in site.page("23/"))
        seconds = time.monotonic() - started
        assert project.output.count("Building documentation") <= 4 + seconds / REBUILD_INTERVAL


@pytest.mark.system
def test_a_new_text_costs_one_rebuild(project: Project, service: ServiceDouble) -> None:
    """It is besides that of the edit, however long the site takes to be configured and built."""
    service.answer = generated(delay=0.5)
    project.configure(hooks=["slow.py"])
    slow = "import time\n\n\ndef on_{}(*args, **kwargs):\n    time.sleep({})\n"
    project.write("slow.py", slow.format("config", 1) + slow.format("env", 2).partition("\n")[2])
    project.write("docs/index.md", "Home\n")
    with serving(project) as site:
        wait_until(lambda: "Home" in site.page())
        project.page("index.md", {"type": "blog", "topic": "New"})
        wait_until(lambda: "Text number 1" in site.page())
        with pytest.raises(AssertionError):
            wait_until(lambda: project.output.count("Building documentation") > 3, 2)


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
        wait_until(lambda: "max_cost" in site.page())
        assert len(model.calls) == 1


def test_a_server_does_not_pay_for_a_failed_text(project: Project, service: ServiceDouble) -> None:
    """What failed in an earlier build is shown, and not asked for again."""
    service.answer = raw(b'{"success": true, "content": "no article"}')
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    project.build()
    shown = project.build_as_server()
    assert shown.returncode == 0, shown.stdout
    assert "expected one &lt;article&gt;, found none (on " in project.html("index.html")
    assert len(service.received) == 1

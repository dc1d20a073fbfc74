"""What `-v` adds: where each text came from, and what happened in each try."""

from __future__ import annotations

import re

import pytest
from conftest import Project
from service_double import Handler, Received, ServiceDouble, generated, raw
from test_output import run, write_approved

ARTICLE = "<article><h1>T</h1><p>Text.</p></article>"


@pytest.fixture
def site(project: Project, service: ServiceDouble) -> Project:
    """Return a site with a text from each source, whose service is busy at the first try."""
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    write_approved(project, ARTICLE)
    project.page("cached.md", {"type": "blog", "topic": "Beta"})
    run(project, "mkdocs_contentgen", "generate")
    project.page("new.md", {"type": "news", "topic": "[31mGamma"})
    project.page("bad.md", {"type": "news", "topic": "Delta"})
    asked: list[str] = []

    def answer(received: Received, handler: Handler) -> None:
        asked.append(received.topic)
        if received.topic == "Delta":
            raw(b"{}", status=404)(received, handler)
        elif asked.count(received.topic) == 1:
            raw(b"{}", status=503, headers={"Retry-After": "0"})(received, handler)
        else:
            generated(ARTICLE)(received, handler)

    service.answer = answer
    return project


@pytest.mark.parametrize("command", ["mkdocs build", "contentgen generate", "contentgen status"])
def test_sources_and_tries(site: Project, command: str) -> None:
    """Each request has a line for its source, and each try one that says what happened."""
    program, subcommand = command.split()
    name = {"contentgen": "mkdocs_contentgen"}.get(program, program)
    arguments = (name, subcommand, "-v")
    site.configure({"on_error": "placeholder"})
    printed = run(site, *arguments, code=int(subcommand == "generate"))
    lines = [line.partition("contentgen: ")[2] or line for line in printed.splitlines()]

    def said(start: str) -> list[str]:
        return [line.removeprefix(start) for line in lines if line.startswith(start)]

    assert "approved" in said("docs/index.md:2: ")[0]
    assert "cache" in said("docs/cached.md:2: ")[0]
    if subcommand == "status":
        return
    assert said("docs/new.md:2: ")[-1] == "service"
    tries = said("news '[31mGamma', ")
    assert re.fullmatch(r"try 1 of 3: .*503.* after \d+\.\d s; next in 0\.0 s", tries[0])
    assert re.fullmatch(r"try 2 of 3: answered after \d+\.\d s, [\d,]+ characters", tries[1])
    assert len(tries) == 2
    (only,) = said("news 'Delta', ")
    assert re.fullmatch(r"try 1 of 3: .*404.* after \d+\.\d s; not tried again", only)


def test_without_it(site: Project) -> None:
    """Without `-v` there is none of this, and with it no token."""
    site.configure({"on_error": "placeholder"})
    assert "try 1" not in run(site, "mkdocs", "build")
    site.page("new.md", {"type": "news", "topic": "Epsilon"})
    printed = run(site, "mkdocs_contentgen", "-v", "generate", code=1)
    assert "try 1 of 3" in printed
    assert site.environment["CONTENTGEN_TOKEN"] not in printed


def test_a_waiting_time_that_cannot_be_read(site: Project, service: ServiceDouble) -> None:
    """With `-v`, one learns why a request waits for another time than the service asked for."""
    busy = raw(b"", status=529, headers={"Retry-After": "a moment"})
    answers = {"Delta": iter([busy, generated(ARTICLE)])}

    def answer(received: Received, handler: Handler) -> None:
        next(answers.get(received.topic, iter([generated(ARTICLE)])))(received, handler)

    service.answer = answer
    printed = run(site, "mkdocs_contentgen", "generate", "-v")
    assert "529 Overloaded (the header `Retry-After: a moment` cannot be read), after" in printed

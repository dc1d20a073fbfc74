"""Variables of the plugin macros in requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import Project
from service_double import ServiceDouble

EXTRA = {"product": "Acme Docs", "version": 2}


def status(project: Project) -> list[dict[str, Any]]:
    """Return the rows of `contentgen status --json`."""
    ran = project.ran("mkdocs_contentgen", "status", "--json")
    rows: list[dict[str, Any]] = json.loads(ran[ran.index("[") :])
    return rows


def with_macros(project: Project, **options: object) -> None:
    """Write a configuration with the plugin macros."""
    macros = {"macros": {"render_by_default": True, **options}}
    project.configure(plugins=["search", macros, "contentgen"], extra=EXTRA)


def test_variables_are_filled_in(project: Project, service: ServiceDouble) -> None:
    """Topic, title and brief get their values, also those of the page, before anything is sent."""
    with_macros(project)
    request = {"type": "blog", "topic": "{{ product }} {{ version + 1 }} is {{ mood }}"}
    project.page("index.md", request, mood="here")
    project.page("other.md", {"type": "blog"}, title="Why {{ product }}?")
    project.built("--strict")
    assert sorted(service.topics) == ["Acme Docs 3 is here", "Why Acme Docs?"]
    assert [row["topic"] for row in status(project)] == ["Acme Docs 3 is here", "Why Acme Docs?"]


def test_nothing_fills_them_in(project: Project, service: ServiceDouble) -> None:
    """Without the plugin, a warning says what would go to the model."""
    project.page("index.md", {"type": "blog", "topic": "News of {{ product }}"})
    message = (
        "docs/index.md:2: contentgen.topic: nothing fills in '{{ product }}', which goes to the "
        "model as it stands; write the words themselves, or add the plugin macros"
    )
    assert f"Warning: {message}" in project.ran("mkdocs_contentgen", "status")
    assert f"WARNING -  contentgen: {message}" in project.built("--strict", code=1)


def test_an_unknown_variable(project: Project, service: ServiceDouble) -> None:
    """The plugin keeps it, which is a warning."""
    with_macros(project)
    project.page("index.md", {"type": "blog", "topic": "News of {{ prodct }}"})
    assert "nothing fills in '{{ prodct }}'" in project.built("--strict", code=1)


@pytest.mark.parametrize("place", ["site", "page"])
def test_pages_that_are_not_rendered(project: Project, place: str) -> None:
    """Where the plugin leaves the page as it is, so does this."""
    with_macros(project, render_by_default=place == "page")
    renders = {"render_macros": False} if place == "page" else {}
    front = {**renders, "contentgen": {"type": "blog", "topic": "News of {{ product }}"}}
    project.write("docs/index.md", f"---\n{json.dumps(front)}\n---\n")
    assert [row["topic"] for row in status(project)] == ["News of {{ product }}"]


def test_a_template_that_fails(project: Project, service: ServiceDouble) -> None:
    """It is an error with its line, and nothing is sent."""
    with_macros(project)
    project.page("index.md", {"type": "blog", "topic": "{{ 1 / 0 }}"})
    ran = project.ran("mkdocs_contentgen", "generate", code=1)
    assert "Error: docs/index.md:4: contentgen.topic: cannot be filled in by" in ran
    assert service.topics == []


def test_a_request_of_nothing(project: Project, service: ServiceDouble) -> None:
    """What is filled in is checked as if the author had written it."""
    with_macros(project)
    project.page("index.md", {"type": "blog", "topic": "{{ '' }}"})
    ran = project.ran("mkdocs_contentgen", "generate", code=1)
    assert "docs/index.md:4: contentgen.topic: expected visible, valid text" in ran

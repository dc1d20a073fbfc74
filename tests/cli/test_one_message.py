"""What fails for one reason on many pages is one message: the reason, the cure, the pages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from conftest import Project
from model_double import ModelDouble
from model_double import raw as model_raw
from service_double import ServiceDouble, raw

PAGES = 50


def write_pages(project: Project, number: int = PAGES) -> None:
    """Write pages that each ask for a text of their own."""
    for index in range(number):
        project.page(f"p{index:02}.md", {"type": "blog", "topic": f"T{index}"})


def wrong_token(project: Project, service: ServiceDouble, model: ModelDouble) -> None:
    """Let the service refuse the token."""
    service.answer = raw(b'{"message": "unknown token"}', 401)


def wrong_address(project: Project, service: ServiceDouble, model: ModelDouble) -> None:
    """Let the service answer as the start page of a site does."""
    service.answer = raw(b"", 307, {"Location": "/login"})


def stopped_service(project: Project, service: ServiceDouble, model: ModelDouble) -> None:
    """Let nobody listen."""
    project.configure({"base_url": "http://127.0.0.1:9", "retries": 0})


def wrong_model(project: Project, service: ServiceDouble, model: ModelDouble) -> None:
    """Let the model server not know the model."""
    model.answer = model_raw(b'{"error": {"message": "model not found"}}', 404)
    project.configure({"base_url": "writer", "writer": {"model": "m", "endpoint": model.endpoint}})


def stopped_model(project: Project, service: ServiceDouble, model: ModelDouble) -> None:
    """Let no model server listen."""
    writer = {"model": "m", "endpoint": "http://127.0.0.1:9/v1"}
    project.configure({"base_url": "writer", "retries": 0, "writer": writer})


CAUSES: dict[Callable[[Project, ServiceDouble, ModelDouble], None], str] = {
    wrong_token: "the service answered 401 Unauthorized: unknown token; check token and user_id, ",
    wrong_address: "the service answered 307 Temporary Redirect; is base_url right? http://127.0.0.1:",
    stopped_service: "no connection to 127.0.0.1:9 (",
    wrong_model: "404 Not Found: model not found; write the name of another one as writer.model; ",
    stopped_model: "no connection to the model server 127.0.0.1:9 (",
}


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.__name__)
def test_one_message(
    project: Project,
    service: ServiceDouble,
    model: ModelDouble,
    cause: Callable[[Project, ServiceDouble, ModelDouble], None],
) -> None:
    """The command and the build name the cause once, and say which requests were not sent."""
    write_pages(project)
    cause(project, service, model)
    ran = project.ran("mkdocs_contentgen", "generate", code=1)
    [error] = re.findall("(?m)^Error: .*", ran)
    assert CAUSES[cause] in error
    assert error.count(CAUSES[cause]) == 1
    named = re.search(
        r"; 50 pages: docs/p00\.md, docs/p01\.md and 48 more; (\d+) texts were", error
    )
    assert named, error
    not_requested = int(named[1])
    assert f"failed: {PAGES - not_requested}; not requested: {not_requested}\n" in ran
    if cause in (wrong_token, wrong_address):
        assert not_requested == PAGES - len(service.received)
    assert ran.endswith("50 texts are still missing\n")
    built = project.built(code=1)
    errors = [line for line in built.splitlines() if line.startswith(("ERROR", "Error"))]
    assert len(errors) == 1, built
    assert CAUSES[cause] in errors[0]
    assert "and 48 more" in errors[0]


def test_one_page(project: Project, service: ServiceDouble) -> None:
    """A reason that concerns one page has its place, also where that has two articles."""
    requests = [{"type": "blog", "topic": "A"}, {"type": "blog", "topic": "B", "id": "b"}]
    project.page("index.md", requests)
    project.configure({"concurrency": 1})
    service.answer = raw(b"", 403)
    ran = project.ran("mkdocs_contentgen", "generate", code=1)
    [error] = re.findall("(?m)^Error: .*", ran)
    assert error.startswith("Error: docs/index.md:3: the service answered 403 Forbidden; check ")
    assert error.endswith("; 1 text was not requested for this reason")
    assert ran.endswith("\n2 texts are still missing\n")


def test_different_reasons(project: Project, service: ServiceDouble) -> None:
    """Pages whose reasons differ have a message each."""
    write_pages(project, 3)

    def answer(request: object, handler: object) -> None:
        topic = getattr(request, "topic", "")
        body = {"message": "a forbidden word" if topic == "T1" else "too strange"}
        raw(json.dumps(body).encode(), 422)(request, handler)  # type: ignore[arg-type]

    service.answer = answer
    ran = project.ran("mkdocs_contentgen", "generate", code=1)
    errors = re.findall("(?m)^Error: .*", ran)
    assert len(errors) == 2
    assert errors[0].endswith(": too strange; 2 pages: docs/p00.md, docs/p02.md")
    assert errors[1].startswith("Error: docs/p01.md:2: the service answered 422 ")
    assert ran.endswith("\n3 texts are still missing\n")


def test_a_problem_of_a_page_is_the_error(project: Project) -> None:
    """The line with the problem has the word *Error*, and no further one counts problems."""
    project.page("index.md", {"type": "blog", "topic": "x", "length": "long-ish"})
    for command in (("mkdocs_contentgen", "status"), ("mkdocs", "build")):
        ran = project.ran(*command, code=1)
        errors = re.findall("(?mi)^error.*", ran)
        assert len(errors) == 1, ran
        assert "docs/index.md:5: contentgen.length: " in errors[0]
        assert "named above" not in ran


def test_updates(project: Project, service: ServiceDouble) -> None:
    """Updates that fail for one reason are one message, too."""
    write_pages(project, 4)
    project.ran("mkdocs_contentgen", "generate")
    options = {"service_fields": ["update"], "concurrency": 1, "retries": 0}
    project.configure({"base_url": "http://127.0.0.1:9", **options})
    ran = project.ran("mkdocs_contentgen", "update", "--note", "shorter", "p*.md", code=1)
    [error] = re.findall("(?m)^Error: .*", ran)
    assert error.startswith("Error: not updated: no connection to 127.0.0.1:9 (")
    pages = "; 4 pages: docs/p00.md, docs/p01.md and 2 more"
    assert error.endswith(f"{pages}; 3 texts were not requested for this reason")

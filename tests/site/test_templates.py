"""Templates of themes that show the text of their page, and such that do not."""

from __future__ import annotations

import pytest
from conftest import Project
from mkdocs.config import load_config
from service_double import ServiceDouble

from mkdocs_contentgen.site.front_matter import hides_content

TEMPLATES = {
    "shows.html": '{% extends "main.html" %}{% block content %}Hi{{ super() }}{% endblock %}',
    "says.html": '{% extends "main.html" %}{% block content %}{{ page.content }}{% endblock %}',
    "other.html": '{% extends "main.html" %}{% block libs %}{% endblock %}',
    "hides.html": '{% extends "main.html" %}{% block content %}Hi{% endblock %}',
    "alone.html": "<h1>Hi</h1>",
    "child.html": '{% extends "hides.html" %}{% block extra %}{% endblock %}',
    "broken.html": "{% extends %}",
}


@pytest.mark.parametrize("theme", ["mkdocs", "readthedocs", "material"])
def test_what_surely_hides_the_text(project: Project, theme: str) -> None:
    """A template hides the text where no block that is left prints it, also by an include."""
    for name, source in TEMPLATES.items():
        project.write(f"overrides/{name}", source)
    project.configure({}, theme={"name": theme, "custom_dir": "overrides"})
    environment = load_config(str(project.root / "mkdocs.yml")).theme.get_env()
    names = [*TEMPLATES, "main.html", "404.html", "nowhere.html"]
    hiding = {name for name in names if hides_content(environment, name)}
    assert hiding == {"hides.html", "alone.html", "child.html", "404.html"}


def test_a_text_that_nobody_would_see_is_not_asked_for(
    project: Project, service: ServiceDouble
) -> None:
    """A request on a page with such a template is a problem, before anything is sent."""
    project.write("overrides/home.html", TEMPLATES["hides.html"])
    project.configure({}, theme={"name": "mkdocs", "custom_dir": "overrides"})
    project.page("index.md", {"type": "blog", "topic": "T"}, template="home.html")
    built = project.built(code=1)
    assert "docs/index.md:3: the template 'home.html' does not show the text" in built
    assert service.received == []


def test_a_text_that_nobody_sees_is_a_warning(project: Project) -> None:
    """Where only the built page tells, a warning names it."""
    project.write("overrides/main.html", "<h1>Hi</h1>")
    project.configure({}, theme={"name": "mkdocs", "custom_dir": "overrides"})
    project.page("index.md", {"type": "blog", "topic": "T"})
    built = project.built("--strict", code=1)
    assert "docs/index.md:2: the template of the page shows neither its text" in built

"""Templates that do not show the text of their page."""

from __future__ import annotations

from conftest import Project


def test_a_text_that_nobody_sees_is_a_warning(project: Project) -> None:
    """A page whose template shows no article is named once it is built."""
    project.write("overrides/main.html", "<h1>Hi</h1>")
    project.configure({}, theme={"name": "mkdocs", "custom_dir": "overrides"})
    project.page("index.md", {"type": "blog", "topic": "T"})
    built = project.built("--strict", code=1)
    assert "docs/index.md:2: the template of the page shows neither its text" in built

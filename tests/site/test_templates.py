"""Templates that do not show the text of their page."""

from __future__ import annotations

import pytest
from conftest import Project


@pytest.mark.parametrize(
    ("template", "left_out"),
    [("<h1>Hi</h1>", 2), ("{{ page.content.split('</article>')[0] }}</article>", 1)],
)
def test_a_text_that_nobody_sees_is_a_warning(
    project: Project, template: str, left_out: int
) -> None:
    """A page whose template leaves out an article is named; one without any has no JSON-LD."""
    project.write("overrides/main.html", f"<head></head>{template}")
    project.configure({}, theme={"name": "mkdocs", "custom_dir": "overrides"})
    project.page("index.md", [{"type": "blog", "topic": it, "id": it} for it in ("one", "two")])
    built = project.built("--strict", code=1)
    problem = f"the template of the page leaves out {left_out} of its 2 articles"
    assert f"docs/index.md:2: {problem}" in built
    assert ("ld+json" in project.html("index.html")) == (left_out < 2)

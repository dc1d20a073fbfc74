"""What the search finds in which section of a page."""

from __future__ import annotations

import json

import pytest
from conftest import Project
from golden_file import cases
from service_double import ServiceDouble, generated

from mkdocs_contentgen.mkdocs.internals import move_articles_last

CASES = cases("search")

ARTICLE = "<article><h1>Generated</h1><h2>Below</h2><p>theirs</p></article>"


@pytest.mark.parametrize("theme", ["mkdocs", "readthedocs", "material"])
def test_the_search_knows_whose_text_is_whose(
    theme: str, project: Project, service: ServiceDouble
) -> None:
    """The author's text behind an article is found in the author's section, in each theme."""
    service.answer = generated(ARTICLE)
    requests = [{"type": "blog", "topic": name, "id": name} for name in ("one", "two")]
    text = (
        "# Page\n\nmine\n\n## Own\n\nalso\n\n<!-- contentgen one -->\n\n<!-- contentgen two -->\n\n"
    )
    project.page("page.md", requests, f"{text}mine too\n\n## Last\n\nlast\n")
    project.page("lead.md", {"type": "blog", "topic": "lead"}, "<!-- contentgen -->\n\nmine\n")
    project.configure(plugins=["search", "contentgen"], theme={"name": theme})
    project.built("--strict")
    entries = json.loads((project.root / "site/search/search_index.json").read_text())["docs"]
    texts = {entry["location"]: entry["text"] for entry in entries}
    assert "mine too" in texts["page/#own"]
    assert "theirs" not in texts["page/#own"]
    for address in ("page/#below", "page/#below_1", "lead/#below"):
        assert "theirs" in texts[address]
        assert "mine" not in texts[address]
    assert "mine" in texts["lead/" if theme == "material" else "lead/#generated"]
    assert "mine" not in texts["page/#last"]


@pytest.mark.parametrize(
    ("html", "expected"), CASES["articles_move_behind_the_text_of_their_section"]
)
def test_articles_move_behind_the_text_of_their_section(html: str, expected: str) -> None:
    """`G` is an article with another one in it; all else keeps its order."""
    article = (
        '<article ai-disclosure="ai-autonomous"><h3>x</h3><article><p>y</p></article>z</article>'
    )
    assert move_articles_last(html.replace("G", article)) == expected.replace("G", article)

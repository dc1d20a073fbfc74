"""The article that the desk puts into a page is the one that the build puts there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from commands import like_a_process
from conftest import Project
from desk_site import WHEN, front_matter, make_site, save
from golden_file import GOLDEN
from model_double import ModelDouble, written
from test_browser_desk import THEMES, ZENSICAL
from test_sanitizer import cases_of

from mkdocs_contentgen.cli.common import open_site
from mkdocs_contentgen.desk.acts import Desk
from mkdocs_contentgen.desk.rendering import find_parts, render
from mkdocs_contentgen.errors import UnsafeHTMLError
from mkdocs_contentgen.requests import ArticleRequest
from mkdocs_contentgen.site.options import ONLY_CACHED
from mkdocs_contentgen.text import Text

TEXTS = [
    html
    for file in (GOLDEN / "presentation/articles.html", *sorted(GOLDEN.glob("sanitizer/*.html")))
    if not file.name.endswith(".out.html")
    for _, html in cases_of(file)
]
"""All texts of the golden files."""

LAYOUTS = ["", "# Own title\n\n## Below\n\n<!-- contentgen -->\n\nBehind it.\n", "Before.\n\n- a\n"]


def make_pages(root: Path, shown: list[str]) -> None:
    """Write a page for each text: alone, below a heading, or behind the author's text."""
    texts = {}
    for number, html in enumerate(shown):
        request = ArticleRequest(topic=f"Text {number}", level=(None, 3)[number % 2])
        page = root / f"docs/text{number}.md"
        asked = request.record() | ({"level": request.level} if request.level else {})
        page.write_text(front_matter(asked) + LAYOUTS[number % 3])
        wrapped = html if "<article" in html else f"<article><h1>T</h1><p>One.</p>{html}</article>"
        texts[request.key(sandbox=False)] = Text(wrapped, WHEN, request.record(), "m")
    save(root, texts)


def without_numbers(shown: Mapping[str, str | int]) -> tuple[str, str]:
    """Return title and article as a build has them."""
    title, article = (
        re.sub(r' data-contentgen-(?:text|block)="\d*"', "", str(shown[name]))
        for name in ("title", "article")
    )
    return title, article


@pytest.mark.system
@pytest.mark.parametrize("theme", ["small", *THEMES])
def test_each_golden_text_is_shown_as_the_build_shows_it(project: Project, theme: str) -> None:
    """Byte for byte, for both generators, and for a few texts whatever a theme puts around them."""
    texts = TEXTS if theme == "small" else TEXTS[list(THEMES).index(theme) :: 10]
    make_site(project.root, THEMES.get(theme), plugins=[{"contentgen": {"base_url": "writer"}}])
    make_pages(project.root, texts)
    environment = {**project.environment, ONLY_CACHED: "1"}
    if is_zensical := theme in ("modern", "classic"):
        (project.root / "mkdocs.yml").unlink()
        project.write("zensical.toml", f"{ZENSICAL}[project.theme]\n{THEMES[theme]}\n")
        (project.root / ".cache/plugin/contentgen").rename(project.root / ".contentgen-cache")
        command = ["mkdocs_contentgen", "zensical", "build"]
    else:
        command = ["mkdocs", "build", "--quiet"]
    project.environment.update(environment)
    ran = project.run(*command)
    assert ran.returncode == 0, ran.stdout
    compared = 0
    with like_a_process(project.root, environment), open_site(None, drafts=True) as site:
        assert site.generator == ("zensical" if is_zensical else "mkdocs")
        desk = Desk(site, "Jo")
        for article in desk.articles.values():
            page = project.root / "site" / desk.addresses[article.page][1:] / "index.html"
            title, articles = find_parts(page.read_text())
            try:
                blocks = desk.read(article.newest.html).blocks()  # type: ignore[union-attr]  # each has one
            except UnsafeHTMLError:
                assert not articles
                continue
            shown = render(site, article, [article], blocks)
            assert shown is not None
            assert without_numbers(shown) == (title, articles[0])
            assert (shown["index"], shown["count"], len(articles)) == (0, 1, 1)
            compared += 1
    assert compared >= 0.9 * len(texts)


def test_a_title_that_the_page_leaves_out_is_shown(project: Project) -> None:
    """The desk shows the title with the text, since a person approves both."""
    make_site(project.root, plugins=[{"contentgen": {"base_url": "writer"}}])
    request = ArticleRequest(topic="x", level="none")
    page = project.write("docs/untitled.md", front_matter({**request.record(), "level": "none"}))
    html = "<article><h1>The title</h1><p>One.</p></article>"
    save(project.root, {request.key(sandbox=False): Text(html, WHEN, request.record(), "m")})
    environment = {**project.environment, ONLY_CACHED: "1"}
    with like_a_process(project.root, environment), open_site(None, drafts=True) as site:
        desk = Desk(site, "Jo")
        article = next(it for it in desk.articles.values() if it.page == page.name)
        shown = render(site, article, [article], desk.read(html).blocks())
        assert shown is not None
        assert "The title" in str(shown["title"])
        assert 'data-contentgen-block="0"' in str(shown["title"])


@pytest.mark.parametrize("generator", ["mkdocs", "zensical"])
def test_one_unusable_text_stops_no_review(
    project: Project, model: ModelDouble, generator: str
) -> None:
    """The site is built although a text failed and a file is damaged: others can be approved."""
    writer = {"model": "m", "endpoint": model.endpoint}
    make_site(project.root, plugins=[{"contentgen": {"base_url": "writer", "writer": writer}}])
    project.page("failed.md", {"type": "blog", "topic": "A text that failed"})
    model.answer = written("I am sorry, but I cannot help with that.")
    assert project.run("mkdocs_contentgen", "generate", "failed.md").returncode == 1
    project.ran("mkdocs_contentgen", "approve", "post.md", "--by=Ann")
    file = project.root / "contentgen/post.md/main.html"
    file.write_text(file.read_text().replace("</article>", ""))
    command = ["mkdocs", "build", "--quiet"]
    if generator == "zensical":
        (project.root / "mkdocs.yml").unlink()
        project.write("zensical.toml", f"{ZENSICAL}[project.theme]\n{THEMES['classic']}\n")
        (project.root / ".cache/plugin/contentgen").rename(project.root / ".contentgen-cache")
        command = ["mkdocs_contentgen", "zensical", "build"]
    project.environment[ONLY_CACHED] = "1"
    ran = project.run(*command)
    assert ran.returncode == 0, ran.stdout
    assert "Thrown away" in project.html("report/index.html")
    assert "is missing" in project.html("post/index.html")
    assert "cannot be used" in project.html("failed/index.html")

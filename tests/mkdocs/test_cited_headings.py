"""Where the links of citations lead, in real builds with ids of headings of several kinds."""

from __future__ import annotations

import re
from datetime import date
from urllib.parse import urljoin

import pytest
from bs4 import BeautifulSoup
from conftest import Project
from model_double import ModelDouble
from model_writer import sentences, writing

from mkdocs_contentgen.mkdocs.loading import load_mkdocs_site
from mkdocs_contentgen.site.build import page_content

NEWS = {"type": "news", "topic": "Town opens library", "length": "short", "sources": ["guide.md"]}

HEADINGS = (
    "Über die Größe",
    "Use `<tag>` &amp; *more* of it",
    "Note[^1] here",
    "Rocket :rocket: start",
    "Own { #my-id }",
    "Same",
    "Same",
)
GUIDE = "# Guide\n\n{}\n\n[^1]: A footnote.\n".format(
    "\n\n".join(f"## {text}\n\nFact {n} is known." for n, text in enumerate(HEADINGS, start=1))
)

UNICODE = "!!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}"
WAYS = {
    "default": "[]",
    "pymdownx": f"[toc: {{slugify: {UNICODE}}}]",
    "percent": "[toc: {slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: "
    "{case: lower, percent_encode: true}}}]",
    "unicode": "[toc: {slugify: !!python/name:markdown.extensions.toc.slugify_unicode ''}]",
    "separator": "[toc: {separator: _, permalink: true}]",
    "levels": "[toc: {baselevel: 2, permalink: Link to this, toc_depth: 1}]",
    "more": f"[toc: {{slugify: {UNICODE}}}, footnotes, attr_list, smarty, pymdownx.emoji]",
    "attributes": "[footnotes, attr_list, pymdownx.emoji]",
}
"""Markdown extensions as `mkdocs.yml` has them."""


def configure(
    project: Project, model: ModelDouble, extensions: str, more: str = "", *, plugins: str = ""
) -> None:
    """Write a configuration with Markdown extensions."""
    writer = f"{{model: 'large:8b', endpoint: '{model.endpoint}'}}"
    project.write(
        "mkdocs.yml",
        f"site_name: Site\nsite_url: https://docs.example/en/\n{more}\n"
        f"markdown_extensions: {extensions}\n"
        f"plugins:\n- contentgen: {{base_url: writer, writer: {writer}}}\n{plugins}",
    )


def cite(number: int) -> str:
    """Return a text that cites so many sources, each with its fact."""
    facts = " ".join(f"Fact {n} is known [{n}]." for n in range(1, number + 1))
    return f"# A text\n\n{facts} {sentences(380, 1)}"


def said_there(site: Project, page: str) -> dict[str, str]:
    """Return what stands below the heading that each citation on a page leads to."""
    found = {}
    for link in site.soup(page).find_all("a", string=re.compile(r"^\[\d\]$")):
        address = urljoin(f"/{page}", str(link["href"]))
        path, _, anchor = address.partition("#")
        file = path.lstrip("/") + ("index.html" if path.endswith("/") else "")
        target = BeautifulSoup(site.html(file), "html.parser").find(id=anchor)
        assert target is not None, f"{link['href']} leads nowhere"
        text = target.find_next("p")
        assert text is not None
        found[link.text] = text.text
    return found


@pytest.fixture
def site(project: Project, model: ModelDouble) -> Project:
    """Return a site with a page to cite."""
    model.answer = writing(lambda conversation: cite(len(HEADINGS)))
    project.write("docs/guide.md", GUIDE)
    return project


def expected() -> dict[str, str]:
    """Return what stands below each cited heading."""
    return {f"[{n}]": f"Fact {n} is known." for n in range(1, len(HEADINGS) + 1)}


@pytest.mark.parametrize("extensions", WAYS.values(), ids=WAYS.keys())
def test_each_link_leads_to_its_heading(site: Project, model: ModelDouble, extensions: str) -> None:
    """However ids are made, with a text that was just written, and with one from the cache.

    The pages that cite the guide are built before it and after it.
    """
    for page in ("index.md", "zoo/page.md"):
        site.page(page, NEWS)
    configure(site, model, extensions, "validation: {links: {anchors: warn}}")
    for _ in range(2):
        site.built("--strict")
        for html in ("index.html", "zoo/page/index.html"):
            assert said_there(site, html) == expected()
    assert len(model.calls) == 1


def test_ids_can_change_after_the_text_was_written(site: Project, model: ModelDouble) -> None:
    """A text that was paid for or approved stays, and its links follow the configuration."""
    site.page("index.md", NEWS)
    for way in ("default", "unicode", "separator"):
        configure(site, model, WAYS[way])
        site.built("--strict")
        assert said_there(site, "index.html") == expected()
        site.ran("mkdocs_contentgen", "approve", "--all", "--by", "Ada")
    assert len(model.calls) == 1


def test_addresses_of_files(site: Project, model: ModelDouble) -> None:
    """It holds without directory addresses, and for a page in a folder with spaces, too."""
    site.write("docs/a b/guide.md", GUIDE)
    site.page("c/index.md", {**NEWS, "sources": ["a b/guide.md"]})
    configure(site, model, WAYS["unicode"], "use_directory_urls: false")
    site.built("--strict")
    links = site.soup("c/index.html").select("article a")
    assert links[0]["href"] == "../a%20b/guide.html#über-die-größe"


def test_plugins_make_headings(site: Project, model: ModelDouble) -> None:
    """A plugin can change the Markdown: the ids of the page count, as it is rendered."""
    site.write(
        "docs/guide.md",
        GUIDE.replace("## Same", "{{ more() }}\n\n## Same", 1).replace("Own", "{{ 'Own' }} word"),
    )
    site.write(
        "main.py",
        "def define_env(env):\n"
        "    @env.macro\n"
        "    def more():\n"
        "        return '## Of a macro\\n\\nFrom it.\\n\\n### Below\\n\\nFrom a macro.'\n",
    )
    site.page("index.md", NEWS)
    configure(site, model, WAYS["attributes"], plugins="- macros\n")
    site.built("--strict")
    assert said_there(site, "index.html") == expected()


def test_a_heading_that_is_gone_is_said(site: Project, model: ModelDouble) -> None:
    """`mkdocs build --strict` fails, and names page, line, heading and what to do."""
    site.page("index.md", NEWS, title="T")
    configure(site, model, "[]")
    site.built("--strict")
    site.write("docs/guide.md", GUIDE.replace("## Same", "## Other"))
    built = site.built("--strict", code=1)
    assert (
        "docs/index.md:3: the text cites guide.md#same, but that page has no such heading any "
        "more; run `contentgen update index.md`, or change the link" in built
    )
    assert built.count("cites guide.md#same_1") == 1
    assert "#note1-here" not in built
    site.built()
    # A person keeps the address.
    kept = GUIDE.replace("## Same", "<span id='same'></span><span id=\"same_1\"></span>\n\n## X")
    site.write("docs/guide.md", kept.replace("'", '"'))
    site.built("--strict")
    assert len(model.calls) == 1


def test_links_of_the_author_stay(site: Project, model: ModelDouble) -> None:
    """An author's own link to the same address does not change."""
    mine = "[Mine](guide.md#uber-die-groe)"
    site.page("index.md", NEWS, f"# My page\n\n{mine}\n\n<!-- contentgen -->\n\n{mine}\n")
    configure(site, model, WAYS["unicode"])
    site.built("--strict")
    soup = site.soup("index.html")
    for article in soup.select("article"):
        assert article.select("a[href='guide/#über-die-größe']")
        article.decompose()
    assert len(soup.select("a[href='guide/#uber-die-groe']")) == 2


@pytest.mark.parametrize("way", ["unicode", "attributes"])
def test_commands_know_the_ids(site: Project, model: ModelDouble, way: str) -> None:
    """An ejected text links to the headings as they are."""
    site.page("index.md", NEWS)
    configure(site, model, WAYS[way])
    site.built("--strict")
    site.ran("mkdocs_contentgen", "eject", "index.md")
    assert "contentgen:" not in (site.root / "docs/index.md").read_text(encoding="utf-8")
    configure(site, model, WAYS[way], "validation: {links: {anchors: warn}}")
    site.built("--strict")
    assert said_there(site, "index.html") == expected()


def test_the_preview_knows_the_ids(site: Project, model: ModelDouble) -> None:
    """The desk shows the links of a text as a build makes them, also after an edit of the page."""
    site.page("index.md", NEWS)
    configure(site, model, WAYS["unicode"])
    site.built("--strict")
    with load_mkdocs_site(str(site.root / "mkdocs.yml")) as loaded:
        assert loaded.render
        presentation = loaded.options.presentation()
        for anchor in ("über-die-größe", "uber-die-groe"):
            (article,), _ = loaded.articles()
            content = page_content(article, presentation, show_errors=True)
            html = loaded.render("index.md", {"main": content})
            assert f'href="guide/#{anchor}"' in html
            site.write("docs/guide.md", GUIDE.replace("## Über die Größe", "## Another"))


def use_zensical(site: Project, model: ModelDouble, extensions: str) -> None:
    """Write a configuration for both generators."""
    configure(site, model, extensions.replace("[", "[contentgen, ", 1), "theme: material")


@pytest.mark.system
@pytest.mark.parametrize("extensions", WAYS.values(), ids=WAYS.keys())
def test_zensical(site: Project, model: ModelDouble, extensions: str) -> None:
    """Zensical's links lead to the headings, too, with the command and alone."""
    site.page("index.md", NEWS)
    use_zensical(site, model, extensions)
    site.ran("mkdocs_contentgen", "zensical", "build", "--strict")
    assert said_there(site, "index.html") == expected()
    site.ran("zensical", "build", "--clean")
    assert said_there(site, "index.html") == expected()
    assert len(model.calls) == 1


@pytest.mark.system
def test_zensical_says_what_is_gone(site: Project, model: ModelDouble) -> None:
    """`contentgen zensical build --strict` fails, as `mkdocs build --strict` does."""
    site.page("index.md", NEWS)
    use_zensical(site, model, "[]")
    site.ran("mkdocs_contentgen", "zensical", "build", "--strict")
    site.write("docs/guide.md", GUIDE.replace("## Same", "## Other"))
    ran = site.ran("mkdocs_contentgen", "zensical", "build", "--strict", code=1)
    assert "the text cites guide.md#same, but that page has no such heading any more" in ran


@pytest.mark.parametrize("way", ["default", "unicode"])
def test_excerpts_of_a_blog(site: Project, model: ModelDouble, way: str) -> None:
    """Material's blog renders excerpts anew, whose links lead to the headings, too."""
    site.page("blog/posts/one.md", NEWS, date=date(2026, 1, 2), slug="one")
    site.write("docs/blog/index.md", "# Blog\n")
    site.write("docs/index.md", "# Home\n")
    configure(site, model, WAYS[way], "theme: material", plugins="- blog\n")
    site.built("--strict")
    assert said_there(site, "blog/index.html") == expected()
    assert said_there(site, "blog/2026/01/02/one/index.html") == expected()

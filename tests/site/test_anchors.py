"""The ids of cited headings: read from the HTML of a page, whoever made it."""

from __future__ import annotations

from pathlib import Path

import pytest
from growth import LINEAR, growth, seconds
from markdown import Markdown
from mkdocs.structure.files import File

from mkdocs_contentgen.site.anchors import CitedHeading, SiteIds, read_ids, replace_anchors


def ids(markdown: str, html: str) -> dict[str, str]:
    """Return the ids of the headings of a page by the anchors that texts cite."""
    return dict(read_ids(markdown, html).headings)


@pytest.mark.parametrize(
    ("markdown", "html", "expected"),
    [
        ("## A\n## B", '<h2 id="1">A</h2><h2 id="2">B</h2>', {"a": "1", "b": "2"}),
        ("## A b", '<h2 class="x" id="1">A&nbsp;<b>b</b></h2>', {"a-b": "1"}),
        ("## A", '<h3 id="1">A<a class="headerlink" href="#1">Link</a></h3>', {"a": "1"}),
        ("## A\n## :x:\n## B", '<h2 id="1">A</h2><h2 id="2">☺</h2><h2 id="3">B</h2>',
         {"a": "1", "x": "2", "b": "3"}),
        ("## A\n## B", '<h2 id="0">New</h2><h2 id="1">A</h2><h4 id="x">New</h4><h2 id="2">B</h2>',
         {"a": "1", "b": "2"}),
        ("## :x:", '<h1 id="0">T</h1><h2 id="1">☺</h2><h3 id="3">New</h3>', {"x": "1"}),
        ("## :x:\n## :y:", '<h2 id="1">☺</h2>', {}),
        ("## A", "<h2>A</h2>", {}),
        ("## A", '<h2 id="a&amp;b">A</h2>', {"a": "a&b"}),
        ("---\n# a: 1\n---\n## B", '<h2 id="1">B</h2>', {"b": "1"}),
        ("## Same\n## Same", '<h2 id="s">Same</h2><h2 id="s-2">Same</h2>',
         {"same": "s", "same_1": "s-2"}),
        ("", '<h2 id="1">A</h2>', {}),
        ("## A", "", {}),
    ],
)  # fmt: skip
def test_headings_are_found(markdown: str, html: str, expected: dict[str, str]) -> None:
    """By their texts, and between two that are the same, by their places or levels."""
    assert ids(markdown, html) == expected


def test_what_is_found() -> None:
    """A heading goes before another element, which counts where there is no such heading."""
    found = read_ids("## A", '<h2 id="1">A</h2><p id="a">x</p><p id="b&lt;c">x</p>')
    assert [found.find(anchor) for anchor in ("a", "b<c", "c")] == ["1", "b<c", None]


def test_python_markdown_makes_the_ids_that_texts_cite() -> None:
    """By default, the ids of the guide's headings are those that texts cite."""
    guide = Path(__file__).parents[2] / "example_site/docs"
    for page in sorted(guide.glob("*.md")):
        markdown = page.read_text(encoding="utf-8")
        content = Markdown(extensions=EXTENSIONS).convert(markdown)
        found = ids(markdown, content)
        assert found, page
        assert all(anchor == name for anchor, name in found.items())


EXTENSIONS = ["attr_list", "meta", "pymdownx.superfences", "toc"]

LINK = '<a href="{}">x</a>'


@pytest.mark.parametrize(
    ("url", "href", "expected"),
    [
        ("a/", "../b/#old", "../b/#n&lt;w"),
        ("", "b/#old", "b/#n&lt;w"),
        ("a/", "../b/#other", None),
        ("a/", "../c/#old", None),
        ("a/", "https://x.example/b/#old", None),
        ("a/", "#old", None),
        ("b/", "#old", "#n&lt;w"),
        ("a/", "../b/", None),
    ],
)
def test_links_are_replaced(url: str, href: str, expected: str | None) -> None:
    """Only in generated articles, and only those to the cited heading."""
    link = LINK.format(href)
    article = '<article ai-disclosure="x"><article>{0}</article>{0}</article>'
    html = f"{link}</article><article>{link}</article>{article.format(link)}{link}"
    new = LINK.format(expected or href)
    assert replace_anchors(html, url, {("/b/", "old"): "n<w"}) == html.replace(
        article.format(link), article.format(new)
    )


def test_pages_are_rendered_once(tmp_path: Path) -> None:
    """And again when they have changed; of what is not there, the cited anchor stays."""
    rendered: list[str] = []

    def render(file: File) -> str | None:
        rendered.append(file.src_uri)
        return None if file.src_uri == "not-built.md" else '<h2 id="1">A</h2><h2 id="2">B</h2>'

    def find_file(name: str) -> File | None:
        file = File(name, str(tmp_path), str(tmp_path), use_directory_urls=True)
        return None if name == "unknown.md" else file

    for name in ("page.md", "not-built.md"):
        (tmp_path / name).write_text("## A")
    site_ids = SiteIds(find_file, render)
    citations = [CitedHeading("page.md", "a"), CitedHeading("page.md", "b")]
    assert list(site_ids.find_all(citations).values()) == ["1", None]
    (tmp_path / "page.md").write_text("## A\n## B")
    assert list(site_ids.find_all(citations).values()) == ["1", "2"]
    for name in ("not-built.md", "unknown.md", "gone.md"):
        assert site_ids.find(CitedHeading(name, "a")) == "a"
    assert rendered == ["page.md", "page.md", "not-built.md"]


@pytest.mark.parametrize(
    "piece", ["<h2>", "<h2 ", '<h2 id="1">x</h2>', "<a ", '<a class="headerlink">', '" id="']
)
def test_a_page_of_twice_the_size_takes_twice_as_long(piece: str) -> None:
    """Whatever is in it."""

    def read(html: str) -> None:
        read_ids("## x", f"<h2>{html}</h2>")

    def replace(html: str) -> None:
        replace_anchors(f"<article ai-disclosure=''>{html}</article>", "", {})

    assert growth(read, piece.__mul__, 10_000) < LINEAR
    assert growth(replace, piece.__mul__, 10_000) < LINEAR


def test_a_long_changelog_takes_no_time() -> None:
    """Thousands of headings with few texts, of which one is not the same, are compared at once."""
    names = ["Added", "Fixed", "Removed"] * 2000
    names[3000] = ":x:"
    html = "".join(f'<h2 id="{n}">{name}</h2>' for n, name in enumerate(names)).replace(":x:", "☺")
    markdown = "".join(f"## {name}\n" for name in names)
    assert ids(markdown, html)["x"] == "3000"
    assert seconds(lambda: ids(markdown, html)) < 1

"""What is written is read as what it was written from, or another form of it is, or none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from mkdocs.config.defaults import MkDocsConfig
from pymdownx.superfences import fence_code_format  # type: ignore[import-untyped]  # it has no types

from mkdocs_contentgen.errors import ApprovalError, ConfigurationError
from mkdocs_contentgen.html.article import parse_article
from mkdocs_contentgen.html.markdown_writer import write_blocks
from mkdocs_contentgen.review.reading_back import MarkdownReader
from mkdocs_contentgen.site.options import ContentgenConfig
from mkdocs_contentgen.site.site import MarkdownExtensions, Site

HARMFUL = "&lt;img src=x onerror=alert(1)&gt;"


class Changed(Extension):
    """Changes the source of each page."""

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__()
        self.change = change

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  the name is Python-Markdown's
        """Register a preprocessor."""
        preprocessor = Preprocessor(md)
        preprocessor.run = lambda lines: [*map(self.change, lines)]  # type: ignore[method-assign]
        md.preprocessors.register(preprocessor, "changed", 100)


def reader(*extensions: str | Extension, **options: dict[str, object]) -> MarkdownReader:
    """Return a reader for a site with these extensions, and those with these options."""
    names = ["tables", "fenced_code", *extensions, *options]
    return MarkdownReader(MarkdownExtensions(names, options))  # type: ignore[arg-type]


def written(html: str, *extensions: str | Extension, **options: dict[str, object]) -> str:
    """Return the Markdown of an article for a site with these extensions."""
    blocks = write_blocks(parse_article(f"<article>{html}</article>"))
    return reader(*extensions, **options).write(blocks)


def test_what_is_read_the_same_is_markdown() -> None:
    """Spaces, automatic links, typography and highlighting make no difference."""
    html = (
        '<h2>A <b> bold </b> one</h2><p>See https://x.example/a, "it\'s"… <i>so</i></p>'
        "<ul><li>a<ul><li>b</li></ul></li><li><p>c</p></li></ul>"
        "<pre><code class='language-python'>if a:\n\tb = 1\n\n    \nc</code></pre>"
        "<table><tr><th>d</th><th>e</th></tr><tr><td>f</td></tr></table>"
    )
    extensions = ["smarty", "pymdownx.magiclink", "pymdownx.superfences", "sane_lists"]
    markdown = written(html, *extensions, toc={"permalink": True, "baselevel": 2})
    assert "<" not in markdown
    assert markdown == written(html, codehilite={"linenums": True})


def test_a_picture_is_markdown() -> None:
    """In the HTML of Markdown, its attributes have another order."""
    html = '<article><p>a <img src="https://x.example/a.png" alt="b" title="c"></p></article>'
    blocks = write_blocks(parse_article(html, ["x.example"]))
    assert reader().write(blocks) == 'a ![b](https://x.example/a.png "c")'


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (f"<p><code>{HARMFUL}</code><code>``</code></p><p><b>a</b></p>",
         "<code>&lt;img src&#61;x onerror&#61;alert(1)&gt;</code><code>&#96;&#96;</code>\n\n**a**"),
        ("<h2><code>a</code><code>b</code></h2>", "## <code>a</code><code>b</code>"),
        ("<ul><li><pre>a</pre></li></ul>",
         "<ul>\n<li>\n<pre><code>a</code></pre>\n</li>\n</ul>"),
        ("<ol start='3'><li>a</li></ol>", '<ol start="3">\n<li>\n<p>a</p>\n</li>\n</ol>'),
        ("<p>a</p><ol type='a'><li>b</li></ol>",
         'a\n\n<ol type="a">\n<li>\n<p>b</p>\n</li>\n</ol>'),
    ],
)  # fmt: skip
def test_what_is_read_differently_is_html(html: str, markdown: str) -> None:
    """A block is HTML within its lines, and as a whole if that does not help."""
    assert written(html) == markdown


def test_markdown_depends_on_the_extensions() -> None:
    """The same block is Markdown on one site, and HTML on another one."""
    html = "<ol start='3'><li>a</li></ol>"
    assert written(html, "sane_lists") == "3. a"
    assert written("<p>1st</p>", "pymdownx.smartsymbols") == "<p>1st</p>"
    assert written("<p>1st</p>") == "1st"


def test_code_stays_code() -> None:
    """A language that the site makes diagrams of is no fence."""
    fences = [{"name": "mermaid", "class": "mermaid", "format": fence_code_format}]
    options: dict[str, dict[str, object]] = {"pymdownx.superfences": {"custom_fences": fences}}
    html = "<pre><code class='language-{}'>a</code></pre>"
    assert written(html.format("python"), **options) == "```python\na\n```"
    assert written(html.format("mermaid"), **options) == (
        '<pre><code class="language-mermaid">a</code></pre>'
    )
    options = {"pymdownx.highlight": {"css_class": "colours"}, "pymdownx.superfences": {}}
    assert written(html.format("python"), **options) == "```python\na\n```"


def test_a_text_that_cannot_be_written() -> None:
    """An extension that changes even HTML is named as the reason, with the block."""
    with pytest.raises(ApprovalError) as caught:
        written("<p>a</p><p>Press the key.</p>", Changed(lambda line: line.replace("key", "KEY")))
    assert str(caught.value).startswith(
        "the Markdown extensions of this site change even the HTML of 'Press the key.'; "
    )


def test_an_extension_that_fails() -> None:
    """An extension can raise anything: the message has it."""
    with pytest.raises(ApprovalError, match=r"an extension .* fails \(ZeroDivisionError: "):
        written("<p>a</p>", Changed(lambda line: str(1 // 0)))


def test_pages() -> None:
    """The text of a page around an article is the same as without it."""
    site = reader("abbr", "footnotes")
    text = "- HTML\n- b"

    def is_read(page: str) -> bool:
        return site.check_page(page, page.replace("PLACE", text), {"PLACE": text})

    assert is_read(
        "# Own\n\n[TOC]\n\nA note.[^1]\n\nPLACE\n\n[^1]: It.\n\n*[HTML]: markup\n\n## Own"
    )
    assert not is_read("- a\n\nPLACE")
    assert not is_read("PLACE\n\n- c")
    assert not is_read("<div>\nPLACE\n</div>")
    assert not is_read("```\nPLACE\n```")
    assert is_read("<!-- -->\n\nPLACE\n\n<!-- -->\n\n    code")


def test_a_site_whose_extensions_are_not_known() -> None:
    """Without Zensical, nobody knows what it adds to the extensions of a site."""
    site = Site(config=MkDocsConfig(), options=ContentgenConfig(), generator="zensical")
    with pytest.raises(ConfigurationError, match="it is not installed; install it with: pip "):
        site.markdown_extensions()

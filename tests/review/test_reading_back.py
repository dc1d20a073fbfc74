"""What is written is read as what it was written from, or another form of it is, or none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from mkdocs.config.defaults import MkDocsConfig
from pymdownx.superfences import fence_code_format  # type: ignore[import-untyped]  # it has no types

from mkdocs_contentgen.errors import ApprovalError, ConfigurationError
from mkdocs_contentgen.html.markdown_writer import write_blocks
from mkdocs_contentgen.html.sanitizer import parse_article
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
    return reader(*extensions, **options).write(blocks, str, "PLACE")


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
    assert reader().write(blocks, str, "PLACE") == 'a ![b](https://x.example/a.png "c")'


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ul><li><pre>a</pre></li></ul>",
         "<ul>\n<li>\n<pre><code>a</code></pre>\n</li>\n</ul>"),
        ("<ol start='3'><li>a</li></ol>", '<ol start="3">\n<li>\n<p>a</p>\n</li>\n</ol>'),
        ("<p>a</p><ol type='a'><li>b</li></ol>",
         'a\n\n<ol type="a">\n<li>\n<p>b</p>\n</li>\n</ol>'),
    ],
)  # fmt: skip
def test_what_is_read_differently_is_html(html: str, markdown: str) -> None:
    """A block that its Markdown is not read as stands there as HTML, and no other block does."""
    assert written(html) == markdown


def test_code_that_touches_code() -> None:
    """It is no code with backticks in it, whatever it says."""
    assert written(f"<p><code>{HARMFUL}</code><code>``</code></p>") == (
        "`<img src=x onerror=alert(1)>`<code>&#96;&#96;</code>"
    )


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


OWN = "# Own\n\n[TOC]\n\nA note.[^1]\n\nPLACE\n\n[^1]: It.\n\n*[HTML]: markup\n\n## Own"
APART = "<!-- -->\n\n- HTML\n- b\n\n<!-- -->"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (OWN, "- HTML\n- b"),
        ("- a\n\nPLACE", APART),
        ("PLACE\n\n- c", APART),
        ("<div markdown>\n\n- a\n\nPLACE\n\n</div>", APART),
        ("<div>\nPLACE\n</div>", None),
        ("```\nPLACE\n```", None),
        ("PLACE\n\nPLACE", None),
    ],
)
def test_the_text_of_a_page_around_an_article(page: str, text: str | None) -> None:
    """It is the same as without the article, which comments keep apart from it, or none is put."""
    article = parse_article("<article><ul><li>HTML</li><li>b</li></ul></article>")
    blocks = write_blocks(article)
    site = reader("abbr", "footnotes", "toc", "md_in_html")
    if text:
        assert site.write(blocks, partial(page.replace, "PLACE"), "PLACE") == text
    else:
        with pytest.raises(ApprovalError, match="Markdown is not read at the place of the text"):
            site.write(blocks, partial(page.replace, "PLACE"), "PLACE")


def test_blocks_that_are_read_as_one() -> None:
    """They become HTML with their neighbours."""
    join = Changed(lambda line: "" if line == "## b" else line)
    assert written("<p>a</p><h2>b</h2><p>c</p><p>d</p>", join) == (
        "<p>a</p>\n\n<h2>b</h2>\n\n<p>c</p>\n\nd"
    )


def test_a_site_whose_extensions_are_not_known() -> None:
    """Without Zensical, nobody knows what it adds to the extensions of a site."""
    site = Site(config=MkDocsConfig(), options=ContentgenConfig(), generator="zensical")
    with pytest.raises(ConfigurationError, match="it is not installed; install it with: pip "):
        site.markdown_extensions()

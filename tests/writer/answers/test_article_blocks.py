"""The article of a text as a document: its blocks and their words, as its Markdown would have."""

from __future__ import annotations

from mkdocs_contentgen.html.plain_markdown import to_plain_markdown
from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.writer.answers.article_blocks import read_article
from mkdocs_contentgen.writer.answers.document import MarkdownDocument
from mkdocs_contentgen.writer.answers.markdown import is_quote, read_markdown
from mkdocs_contentgen.writer.marks.marking import inline_text

HTML = """<article class="news-article"><header><h1>Builds <em>are</em> fast</h1>
<p class="byline">By Ann</p></header><p class="lead">A <mark>build</mark> takes <code>4 s</code>,
<a href="https://e.example/">it</a> is<br>fast.</p><div class="article-body">loose words<h2>Why</h2>
<ul><li>One<ul><li>inner</li></ul></li><li><p>Two</p></li></ul>
<table><tr><th>Name</th><td>5 s</td></tr></table><hr>
<blockquote><p>Said so.</p></blockquote><pre><code>a = 1</code></pre>
<p>It is \\(x = 1\\) then.</p><p> </p></div></article>"""


def shown(document: MarkdownDocument) -> list[tuple[str, list[str]]]:
    """Return the kinds and the words of the blocks."""
    return [(block.kind, block.words) for block in document.blocks]


def test_blocks_are_those_of_its_markdown() -> None:
    """Both ways lead to the same kinds, words, headings and title."""
    direct = read_article(parse_article(HTML))
    by_markdown = read_markdown(to_plain_markdown(HTML))
    assert shown(direct) == shown(by_markdown)
    assert direct.words == by_markdown.words
    assert direct.headings == by_markdown.headings == ["Why"]
    assert inline_text(direct.title) == inline_text(by_markdown.title) == "Builds are fast"


def test_code_and_formulas_are_no_prose() -> None:
    """They are words of the text all the same."""
    document = read_article(parse_article(HTML))
    assert "4 s" in document.text
    assert "4 s" not in document.prose
    assert "x = 1" in document.text
    assert "x = 1" not in document.prose
    assert "a = 1" not in document.text


def test_a_quotation_is_one_also_in_a_list() -> None:
    """What a list quotes is looked for in the sources as well."""
    html = "<article><h1>T</h1><ul><li>a<blockquote>b</blockquote></li></ul><p>c</p></article>"
    items, paragraph = read_article(parse_article(html)).blocks
    assert is_quote(items)
    assert not is_quote(paragraph)

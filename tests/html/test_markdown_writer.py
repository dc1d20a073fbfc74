"""HTML becomes the Markdown that a person would write; see also `golden/ejection`."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth

from mkdocs_contentgen.html.markdown_writer import WrittenBlock, join_blocks, write_blocks
from mkdocs_contentgen.html.sanitizer import parse_article


def blocks_of(html: str) -> list[WrittenBlock]:
    """Return the blocks of an article."""
    return write_blocks(parse_article(f"<article>{html}</article>"))


def to_markdown(html: str) -> str:
    """Return the blocks of an article as Markdown."""
    blocks = blocks_of(html)
    return join_blocks([block.tag for block in blocks], [block.markdown for block in blocks])


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>A <b>b</b>, <i>c</i>.</p>", "A **b**, *c*."),
        ("<p>a<b>b</b>c <b>d<i>e</i></b></p>", "a<strong>b</strong>c <strong>d<em>e</em></strong>"),
        ("<div class='pro-tip'><p>a</p><p>b</p></div>", "> a\n>\n> b"),
        ("<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n<!-- -->\n\n> b"),
        ("<ul><li>a</li></ul><ol start='3'><li>b</li></ol>", "- a\n\n<!-- -->\n\n3. b"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n    - b\n- c"),
        ("<ul><li>a<pre>b</pre></li><li>c</li></ul>", "- a\n\n        b\n\n- c"),
        ("<p>Wow!<a href='https://x.example/a_(b)'>c</a></p>",
         "Wow&#33;[c](https://x.example/a_%28b%29)"),
        ("<p>Wow!</p><h2>C#</h2>", "Wow!\n\n## C\\#"),
        ("<p><code>a ` b</code> <code>{{ c }}</code></p>",
         "`` a ` b `` <code>&#123;&#123; c &#125;&#125;</code>"),
        ("<p><code>a <mark>--b</mark></code></p>",
         "<code>a <mark>&#45;-b</mark></code>"),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
        ("<pre><code class='language-python'>a <mark>b</mark>\n</code></pre>",
         '<pre><code class="language-python">a <mark>b</mark></code></pre>'),
        ("<a href='https://x.example/'><p>a</p><p>b</p></a>", "[a b](https://x.example/)"),
    ],
)  # fmt: skip
def test_html_as_markdown(html: str, markdown: str) -> None:
    """Each element has one form, and needs no extension."""
    assert to_markdown(html) == markdown


def test_a_block_is_html_too() -> None:
    """Where its Markdown is ambiguous, its HTML is not."""
    html = "<ul><li><code>a|b</code><code>c</code><code>d</code> <b>e</b> <a href='https://x.example/'>f</a></li></ul>"
    [block] = blocks_of(html)
    assert (
        block.markdown == "- <code>a&#124;b</code>`c`<code>d</code> **e** [f](https://x.example/)"
    )
    assert block.html == (
        "<ul>\n<li>\n<p><code>a|b</code><code>c</code><code>d</code> <strong>e</strong> "
        '<a href="https://x.example/">f</a></p>\n</li>\n</ul>'
    )


def test_html_has_no_other_syntax() -> None:
    """What reads code in Markdown finds nothing in HTML."""
    [block] = blocks_of("<pre>{{ a }}\n```\n\n--8&lt;-- 'x'\n~~~\n\tb</pre>")
    assert block.html == (
        "<pre><code>&#123;&#123; a }}\n&#96;&#96;&#96;\n\n--8&lt;-- 'x'\n"
        "&#126;&#126;&#126;\n&#9;b</code></pre>"
    )


def test_a_large_table_is_html() -> None:
    """As Markdown, each row of a table has as many cells as the widest."""
    rows = f"<tr>{'<td>a</td>' * 900}</tr>" + "<tr><td>b</td></tr>" * 900
    [block] = blocks_of(f"<table>{rows}</table>")
    assert block.markdown == block.html
    assert block.html.count("<td>") == 1800


@pytest.mark.parametrize(
    "part",
    [
        "<ul><li>It is <b>one</b></li></ul>",
        "<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        "<p>*_[x]{{ *_[x]{{</p>",
        "<div><hr></div>",
        f"{'<ul><li>a' * 45}{'</li></ul>' * 45}",
    ],
    ids=["list", "table", "punctuation", "rules", "nested"],
)
def test_twice_the_text_takes_twice_the_time(part: str) -> None:
    """The largest articles take seconds."""

    def make(size: int) -> str:
        return part * (size // part.count("<"))

    assert growth(to_markdown, lambda size: f"<p>a</p>{make(size)}", 1_500) < LINEAR

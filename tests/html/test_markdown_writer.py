"""HTML becomes the Markdown that a person would write; see also `golden/ejection`."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth

from mkdocs_contentgen.errors import UnsafeHTMLError
from mkdocs_contentgen.html.article import parse_article
from mkdocs_contentgen.html.markdown_writer import (
    WrittenBlock,
    join_blocks,
    to_plain_markdown,
    to_readable_markdown,
    write_blocks,
)


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


def test_powers_and_indices_stay() -> None:
    """`10<sup>6</sup>` is not 106, in what a model or a person gives, and in what `show` prints."""
    line = "10<sup>6</sup> molecules of H<sub>2</sub>O"
    assert to_plain_markdown(f"<div><p>{line}</p></div>").strip() == line
    assert to_readable_markdown(f"<p>{line}</p>") == line


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<p><code>&lt;b&gt;</code><code>c</code><kbd>d</kbd> <code>e</code></p>",
            "`<b>c` `d` `e`",
        ),
        ("<p><code>a ` b</code><code>``</code></p>", "``` a ` b`` ```"),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
    ],
)
def test_code_stays_code(html: str, markdown: str) -> None:
    """What a model gives and what `show` prints is code still, and nothing else is."""
    assert to_plain_markdown(html).strip() == markdown
    assert to_readable_markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("- Set `a_b` and **c** by *d*.<script>e</script>", "- Set `a_b` and **c** by *d*."),
        ("__e__ `a*b`<!-- c_d --> f_g", "__e__ `a*b` f_g"),
        ("<p>Set `a_b*c*` to 2*3*4</p>", r"Set `a_b*c*` to 2\*3\*4"),
        ("<p>One ` tick and a_b</p>", r"One ` tick and a\_b"),
    ],
)
def test_markdown_beside_html_stays(html: str, markdown: str) -> None:
    """What a model writes beside an element, or in backticks, gets no backslashes."""
    assert to_plain_markdown(html).strip() == markdown


@pytest.mark.parametrize("piece", [" ", "\t", "\n", " \n", "<b>a</b>", "<p>a</p>"])
def test_what_repeats_takes_linear_time(piece: str) -> None:
    """An answer of a model may be anything, and so may a text that `show` prints."""

    def write(text: str) -> None:
        to_readable_markdown(f"<ul><li>{text}</li></ul>")
        to_plain_markdown(f"<ul><li>{text}</li></ul>")

    assert growth(write, lambda size: piece * (size // len(piece)), 4_000) < LINEAR


def test_nested_html_is_not_converted() -> None:
    """Each level would be written once more."""
    with pytest.raises(UnsafeHTMLError, match="nested more than 100 deep"):
        to_plain_markdown("<div>" * 101)


def test_code_keeps_its_spaces() -> None:
    """Of a hundred and more together, one is left."""
    code = f"<pre>a{' ' * 99}b{' ' * 100}c\n    d</pre>"
    assert to_plain_markdown(code).strip() == f"```\na{' ' * 99}b c\n    d\n```"


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

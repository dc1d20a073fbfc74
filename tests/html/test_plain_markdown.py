"""HTML of models becomes what the writer reads, and texts what people read in a terminal."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth

from mkdocs_contentgen.errors import UnsafeHTMLError
from mkdocs_contentgen.html.plain_markdown import to_plain_markdown, to_readable_markdown


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
        ("<h2><pre>&lt;b&gt;</pre><pre>``</pre></h2>", "## ``` <b>`` ```"),
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


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<dl><dt><i>A</i> </dt><dd>b</dd><dt>C:</dt><dd><p>d</p><p>e</p></dd><dd>f</dd></dl>",
         "***A*:** b\n\n**C:**\n\nd\n\ne\n\nf"),
        ("<table><tr><th>a</th></tr><tr><td>b<br>c <i>d</i></td></tr></table>",
         "| a |\n| --- |\n| b c *d* |"),
        ("<pre><code class='language-python'>a\n\n  b</code></pre>", "```python\na\n\n  b\n```"),
        ("<ol start='3'><li>a<p>b</p></li><li>c<ul><li>d</li></ul></li></ol>",
         "3. a\n\n   b\n4. c\n   - d"),
        ("<p>a<br>\n b</p><blockquote>c<hr></blockquote>", "a  \nb\n\n> c\n>\n> ---"),
        ("<p>a<b> b </b>c<i> </i><del>d</del><q>e</q></p>", 'a **b** c ~~d~~"e"'),
    ],
)  # fmt: skip
def test_elements_as_markdown(html: str, markdown: str) -> None:
    """For the writer and for people, each element has the same Markdown, but for the bullets."""
    assert to_plain_markdown(html) == markdown
    assert to_readable_markdown(html) == markdown.replace("- d", "• d")


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("a<table><tr><th>b|c</th></tr></table>- d\n- e", "a\n\n| b\\|c |\n| --- |\n\n- d\n- e"),
        ("<div><li>a <li>b</div><li>c</li> d", "- a\n- b\n\n- c\n\nd"),
        ("<a href='https://a.example/'><h2>b</h2><p>c <img src='d' alt='e'></p></a>", "## b\n\nc"),
        ("<title>a</title><p>b</p><think>c</think><script>'<!--'</script>d", "# a\n\nb\n\nd"),
        ("<title>a</title><h1>b</h1>", "# b"),
        ("<details><summary>a</summary>b</details><hr>", "a\n\nb\n\n---"),
        ("<p><mark>a</mark> <u>b</u></p>", "a b"),
    ],
)
def test_html_of_models(html: str, markdown: str) -> None:
    """The writer gets no links, no thoughts, and lists also where their own tags are missing."""
    assert to_plain_markdown(html) == markdown


def test_what_people_read() -> None:
    """Nothing is escaped, links have their addresses, and all statements to check are marked."""
    html = (
        "<p>a_b* <mark class='same-words'>c</mark> <code>d <mark>e</mark></code> "
        "<a href='https://a.example/f' title='g'>h</a> "
        "<a href='https://a.example/f'>https://a.example/f</a></p>"
        "<table><tr><th>i|j</th></tr></table>"
    )
    assert to_readable_markdown(html) == (
        'a_b* ==c== `d ==e==` [h](https://a.example/f "g") <https://a.example/f>'
        "\n\n| i|j |\n| --- |"
    )


PIECES = [
    *(
        " ",
        "\t",
        "\n",
        " \n",
        "<b>a</b>",
        "<p>a</p>",
        "<!--",
        "<a ",
        "<li> ",
        "*",
        "<title>",
    ),
    *("<code>a</code>", "<tr><td>a|b</td></tr>", "<dt>a<dd>b", "<br>", "&lt;", "`"),
]


@pytest.mark.parametrize("piece", PIECES)
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
    """However many they are."""
    code = f"<pre>a{' ' * 200}b\n    c</pre>"
    assert to_plain_markdown(code) == f"```\na{' ' * 200}b\n    c\n```"

"""HTML becomes the Markdown that a person would write; see also `golden/ejection`."""

from __future__ import annotations

import pytest
from growth import growth

from mkdocs_contentgen.html.markdown_writer import (
    to_markdown,
    to_plain_markdown,
    to_readable_markdown,
)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>A <b>b</b>, <i>c</i>.</p>", "A **b**, *c*."),
        ("<p>a<b>b</b>c <b>d<i>e</i></b></p>", "a<strong>b</strong>c <strong>d<em>e</em></strong>"),
        ("<div class='pro-tip'><p>a</p><p>b</p></div>", "> a\n>\n> b"),
        ("<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n<!-- -->\n\n> b"),
        ("<ul><li>a</li></ul><ol start='3'><li>b</li></ol>", "- a\n\n<!-- -->\n\n3. b"),
        ("<p>Wow!<a href='https://x.example/a_(b)'>c</a></p>",
         "Wow&#33;[c](https://x.example/a_%28b%29)"),
        ("<p>Wow!</p><h2>C#</h2>", "Wow!\n\n## C\\#"),
        ("<p><code>a ` b</code> <code>{{ c }}</code></p>",
         "`` a ` b `` <code>&#123;&#123; c &#125;&#125;</code>"),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
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
    "part",
    [
        "<ul><li>It is <b>one</b></li></ul>",
        "<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        "<p>*_[x]{{ *_[x]{{</p>",
        f"{'<ul><li>a' * 45}{'</li></ul>' * 45}",
    ],
    ids=["list", "table", "punctuation", "nested"],
)
def test_twice_the_text_takes_twice_the_time(part: str) -> None:
    """The largest articles take seconds."""
    assert growth(to_markdown, lambda size: part * (size // part.count("<")), 1_500) < 3.2

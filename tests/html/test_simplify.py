"""An article becomes elements that Markdown has, whatever contains what."""

from __future__ import annotations

from xml.etree.ElementTree import tostring

import pytest

from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.html.simplify import simplify


def simplified(html: str, *, has_admonitions: bool = False) -> str:
    """Return the blocks of an article as HTML."""
    blocks = simplify(parse_article(f"<article>{html}</article>"), has_admonitions=has_admonitions)
    return "".join(tostring(block, "unicode", "html") for block in blocks)


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        ("<section>a<div>b</div>c<hr></section>", "<p>a</p><p>b</p><p>c</p><hr>"),
        ("<b>a<ul><li>b</li></ul></b>", "<p>a</p><ul><li><p>b</p></li></ul>"),
        ("<ul>a<li></li><li>b</li>c<ul><li>d</li></ul></ul>",
         "<ul><li><p>a</p></li><li><p>b</p><p>c</p><ul><li><p>d</p></li></ul></li></ul>"),
        ("<div><li>a<pre>b</pre></li></div>", "<p>a</p><pre><code>b</code></pre>"),
        ("<dl><dt>a<br>b</dt><dd>c</dd></dl>", "<p><strong>a<br>b</strong></p><p>c</p>"),
        ("<dl><dt><ul><li>a</li></ul></dt></dl>", "<ul><li><p>a</p></li></ul>"),
        ("<figure><figcaption><blockquote>a</blockquote></figcaption></figure>",
         "<blockquote><p>a</p></blockquote>"),
        ("<h2>a<br>b<ul><li>c</li></ul></h2>", "<h2>a b  c  </h2>"),
        ("<p>a<i></i> <b> </b><i><b></b></i>b</p><p> </p>", "<p>a  b</p>"),
        ("<p><samp>a <b>b</b></samp> <b><i>c</i></b></p>",
         "<p><code>a b</code> <strong><em>c</em></strong></p>"),
        ("<pre>\n\n a<br>b <mark>c</mark>\n</pre>",
         "<pre><code> a\nb <mark>c</mark></code></pre>"),
        ("<ol start='1' reversed><li value='3' class='x'>a</li></ol>",
         '<ol reversed=""><li value="3"><p>a</p></li></ol>'),
        ("<table><caption>a</caption><tr><td colspan='2'>b</td></tr><tr><th>c</th></tr></table>",
         "<p>a</p><table><thead><tr><th></th><th></th></tr></thead>"
         "<tbody><tr><td>b</td><td></td></tr><tr><td>c</td></tr></tbody></table>"),
        ("<table><thead><tr><td>a</td></tr></thead><tbody><tr><td><p>b</p></td></tr></tbody></table>",
         "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td> b </td></tr></tbody></table>"),
        ("<p>a</p><table><tr><td></td></tr></table><div class='pro-tip'> </div>", "<p>a</p>"),
    ],
)  # fmt: skip
def test_blocks(html: str, blocks: str) -> None:
    """What only groups blocks is gone, and what is left has one form."""
    assert simplified(html) == blocks


def test_tips() -> None:
    """A tip is what the site has for it."""
    tip = "<aside><p>a</p></aside>"
    assert simplified(tip) == "<blockquote><p>a</p></blockquote>"
    assert simplified(tip, has_admonitions=True) == (
        '<div class="admonition tip"><p class="admonition-title">Tip</p><p>a</p></div>'
    )

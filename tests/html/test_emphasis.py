"""Asterisks are read as people mean them, also where CommonMark does not read them so."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth

from mkdocs_contentgen.html.markdown_parser import inline_parser


@pytest.mark.parametrize(
    ("line", "html"),
    [
        ("它是**“慢工”**的结果", "它是<strong>“慢工”</strong>的结果"),
        ("**注意：**先看清单", "<strong>注意：</strong>先看清单"),
        ("**캐시(cache)**는 **것**", "<strong>캐시(cache)</strong>는 <strong>것</strong>"),
        ("**Cost:**five", "<strong>Cost:</strong>five"),
        ("**“One”**、**“two”**", "<strong>“One”</strong>、<strong>“two”</strong>"),
        ("***Both:***so", "<em><strong>Both:</strong></em>so"),
        ("It leads to** relief (release)**.", "It leads to<strong> relief (release)</strong>."),
        ("**A heading\nwords", "<strong>A heading</strong>\nwords"),
        ("words**\nwords", "words\nwords"),
        ("`**kwargs` and **kwargs here", "<code>**kwargs</code> and **kwargs here"),
        ("2 ** 3, x**2 + y**2", "2 ** 3, x**2 + y**2"),
        ("3*4 and (a)*(b), x*y and v*w", "3*4 and (a)*(b), x*y and v*w"),
        ("「P*」和「Q*」", "「P*」和「Q*」"),
        (r"\*\*plain\*\*", "**plain**"),
        ("*a* **b *c* d** e", "<em>a</em> <strong>b <em>c</em> d</strong> e"),
    ],
)
@pytest.mark.parametrize("is_persons", [False, True])
def test_emphasis(line: str, html: str, is_persons: bool) -> None:
    """White space decides, not punctuation; code, powers and products stay."""
    assert inline_parser(is_persons=is_persons).renderInline(line) == html


@pytest.mark.parametrize("piece", ["a** ", "**a", "** ", "*a* **", "x**2 ", "**：a", "*****"])
def test_asterisks_take_linear_time(piece: str) -> None:
    """No line of asterisks keeps a build busy."""
    parser = inline_parser()
    assert growth(parser.renderInline, lambda size: piece * size, 400) < LINEAR

"""Formulas in TeX stay as they came."""

from __future__ import annotations

from datetime import date

import pytest

from mkdocs_contentgen.writer.answers.markdown import read_markdown, to_html

DAY = date(2026, 2, 3)


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        (r"So \(a_1 * b_1 * c\) it is.", [r"\(a_1 * b_1 * c\)"]),
        (r"\[ a_{1}*b_{2}*c \]", [r"\[ a_{1}*b_{2}*c \]"]),
        ("$$a*b*c$$", ["$$a*b*c$$"]),
        ("Then:\n\\[\na\n= b\n- 4*c*d\n\\]\nand so on", ["\\[\na\n= b\n- 4*c*d\n\\]"]),
        ("1. One:\n   \\[\n   a\n   - b\n   \\]\n2. Two", ["\\[\na\n- b\n\\]"]),
    ],
)
def test_a_formula_stays(text: str, formulas: list[str]) -> None:
    """Nothing in a formula is Markdown, and no figure in it is a statement."""
    document = read_markdown(text)
    shown = to_html(document, "article", given="", day=DAY)
    assert "<em>" not in shown
    assert "<mark>" not in shown
    assert "a" not in document.prose.split()
    for formula in formulas:
        assert formula in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"Write to \[Company Name\].", "[Company Name]"),
        ("\\[\n\nNo formula.", "[</p>"),
        (r"An end \) and a start \(.", "An end ) and a start (."),
    ],
)
def test_escaped_brackets_are_brackets(text: str, shown: str) -> None:
    """A backslash before a bracket can mean that it is not a link."""
    assert shown in to_html(read_markdown(text), "article", given="", day=DAY).replace("<mark>", "")

"""What of a text is marked on its page."""

from __future__ import annotations

from datetime import date

import pytest
from golden_file import cases

from mkdocs_contentgen.html.html_reader import read_content
from mkdocs_contentgen.language.ranges import Range
from mkdocs_contentgen.writer.answers.markdown import read_markdown, to_html
from mkdocs_contentgen.writer.marks.marking import mark_element

CASES = cases("marking")


@pytest.mark.parametrize(("markdown", "source", "html"), CASES["marks"])
def test_marks(markdown: str, source: str, html: str) -> None:
    """Statements are marked as a whole, code without a change of it, and forms as weak ones."""
    document = read_markdown(f"# Topic\n\n{markdown}")
    page = to_html(document, "article", given=source, day=date(2026, 1, 1), names=True)
    assert html in page


def test_code_and_names_without_sources() -> None:
    """Where a text has no sources, no name and nothing in code is marked."""
    document = read_markdown("# Topic\n\nRun `pip deploy` with Miller.\n\n```\npip deploy\n```")
    assert "<mark" not in to_html(document, "article", given="", day=date(2026, 1, 1))


@pytest.mark.parametrize(
    ("part", "marked"),
    [
        ("5 kg", "It has <mark><strong>5</strong> kg</mark> &amp; <em>a <code>b c</code></em>."),
        ("has 5", "It <mark>has <strong>5</strong></mark> kg &amp; <em>a <code>b c</code></em>."),
        ("& a", "It has <strong>5</strong> kg <mark>&amp; </mark><em><mark>a</mark> "),
        ("a b c", "kg &amp; <em><mark>a <code>b c</code></mark></em>."),
        ("b", "kg &amp; <em>a <code>b c</code></em>."),
    ],
)
def test_marks_in_html(part: str, marked: str) -> None:
    """A range is one mark with the emphasis in it, unless that reaches beyond it."""
    element = read_content("It has <strong>5</strong> kg &amp; <em>a <code>b c</code></em>.")
    start = element.get_text().index(part)
    mark_element(element, [Range(start, start + len(part))])
    assert marked in str(element)

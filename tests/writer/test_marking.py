"""What of a text is marked on its page."""

from __future__ import annotations

from datetime import date

import pytest
from golden_file import cases

from mkdocs_contentgen.writer.markdown import read_markdown, to_html

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

"""Reports on texts of which sources say much that is new."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.review.report_markdown import ReportForm, report_markdown
from mkdocs_contentgen.review.source_changes import SourceChange
from mkdocs_contentgen.stale import StaleSentence, StaleSource
from mkdocs_contentgen.texts.articles import Article

SIGNS = "<@a>`*" * 100


def stale_articles(number: int) -> list[Article]:
    """Return articles with long sentences that may be wrong now."""
    sentences = (StaleSentence(SIGNS, (SIGNS,) * 5, SIGNS),) * 10
    source = StaleSource(SIGNS, "wrong", sentences)
    asked = PageRequest(BlogRequest(topic="Alpha"), "index.md")
    return [Article(asked, key="0" * 64, directory=Path(), stale=(source,))] * number


@pytest.mark.parametrize("number", [1, 20])
def test_a_source_of_many_texts(number: int) -> None:
    """The report is no longer than GitHub takes, and says how many it leaves out."""
    articles = stale_articles(number)
    changes = [SourceChange(article, article.stale) for article in articles]
    said = report_markdown([], ReportForm(), changes=changes, stale=articles)
    assert len(said) <= 60_000
    assert f"This change makes {number * 10} sentences in index.md wrong" in said
    assert said.count("10 sentences may be wrong now") >= 2
    assert ("more" in said) == (number > 1)

"""What a build puts into a page in place of a text that there is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkdocs_contentgen.errors import ContentgenError, FailedTextError, MissingReason
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.site.build import page_content
from mkdocs_contentgen.site.options import ContentgenConfig
from mkdocs_contentgen.texts.articles import Article
from mkdocs_contentgen.texts.lookup import Outcome

NOT_GENERATED = "“Tides” is not generated yet; `contentgen generate tides.md` generates it"


@pytest.mark.parametrize(
    ("error", "on_a_server"),
    [
        (MissingReason("missing", "never generated"), NOT_GENERATED),
        (
            MissingReason("over_budget", "max_requests is reached"),
            "“Tides”: max_requests is reached",
        ),
        (FailedTextError("at /home/jo"), "“Tides”: at /home/jo"),
        (None, "“Tides”: None"),
    ],
)
def test_a_missing_text(error: MissingReason | ContentgenError | None, on_a_server: str) -> None:
    """A page of a server says what is wrong; that of a build, which can be public, does not."""
    asked = PageRequest(BlogRequest(topic="Tides"), "tides.md")
    article = Article(asked, key="0" * 64, directory=Path(), draft_outcome=Outcome(error=error))
    options = ContentgenConfig()
    presentation = options.presentation()
    assert page_content(article, presentation, show_errors=True).source.decode() == on_a_server
    assert page_content(article, presentation, show_errors=False).source.decode() == NOT_GENERATED

"""The pages that a name stands for."""

from __future__ import annotations

import unicodedata

import pytest
from mkdocs.config.defaults import MkDocsConfig

from mkdocs_contentgen.errors import ConfigurationError
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.site.options import ContentgenConfig
from mkdocs_contentgen.site.site import Site

PAGES = ("[slug].md", "s.md", "a/[id]/b.md", "a/i/b.md", "what?.md", "whats.md", "café.md")


def selected(*names: str, pages: tuple[str, ...] = PAGES) -> list[str]:
    """Return the pages that these names select among `pages`."""
    requests = [
        PageRequest(BlogRequest(topic=page), page=page, place=f"docs/{page}:2") for page in pages
    ]
    site = Site(config=MkDocsConfig(), options=ContentgenConfig(), requests=requests)
    return [request.page for request in site.select_requests(names)]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("form", ["{}", "docs/{}", "./docs/{}", "/home/jo/site/docs/{}"])
def test_the_path_of_a_page_is_no_pattern(page: str, form: str) -> None:
    """A page is selected by its exact path, whatever characters it has, and no other page is."""
    assert selected(form.format(page)) == [page]


def test_patterns_select_where_no_path_is_meant() -> None:
    """Brackets, `*` and `?` match several pages if no page has exactly this path."""
    assert selected("[sw]*.md") == ["s.md", "what?.md", "whats.md"]
    assert selected("a/[ix]/b.md") == ["a/i/b.md"]
    assert selected("docs/a/*") == ["a/[id]/b.md", "a/i/b.md"]


def test_a_name_matches_in_each_normal_form() -> None:
    """A keyboard and a file system can write the same letter in two ways."""
    for form in ("NFC", "NFD"):
        assert selected(unicodedata.normalize(form, "café.md")) == ["café.md"]
        assert selected(unicodedata.normalize(form, "caf?.md")) == ["café.md"]


def test_two_pages_that_look_the_same_are_two() -> None:
    """The one with exactly this path goes before the one that only looks so."""
    both = ("caf\u00e9.md", "cafe\u0301.md")
    assert selected("caf\u00e9.md", pages=both) == ["caf\u00e9.md"]
    assert selected("cafe\u0301.md", pages=both) == ["cafe\u0301.md"]


def test_a_name_of_no_page_is_named() -> None:
    """Also where another name selects something."""
    with pytest.raises(ConfigurationError, match=r"^gone\.md: there is no such page"):
        selected("s.md", "gone.md")

"""What the head of a page says about its language and its translations."""

from __future__ import annotations

import pytest

from mkdocs_contentgen.site.page_head import with_alternates, with_language

PAGE = "<!doctype html>\n<html{}><head><title>T</title></head><body{}>text</body></html>"


def test_links_to_each_language_and_for_everybody_else() -> None:
    """The first address is also that for readers of other languages."""
    addresses = {"en": "https://docs.example/b/", "de": "https://docs.example/b.de/"}
    assert with_alternates(PAGE.format("", ""), addresses) == PAGE.format("", "").replace(
        "</head>",
        '<link rel="alternate" hreflang="en" href="https://docs.example/b/">'
        '<link rel="alternate" hreflang="de" href="https://docs.example/b.de/">'
        '<link rel="alternate" hreflang="x-default" href="https://docs.example/b/"></head>',
    )


def test_links_of_the_theme_are_replaced() -> None:
    """No language is there twice; other links stay."""
    kept = (
        '<link rel="alternate" href="../fr/" hreflang="fr">'
        '<link rel="alternate" type="application/rss+xml" title="hreflang" href="feed.xml">'
    )
    theme = '<link rel="alternate" href="b/" hreflang="EN">\n<link hreflang=de rel=alternate>'
    head = PAGE.format("", "").replace("</head>", f"{kept}{theme}</head>")
    output = with_alternates(head, {"en": "b/", "de": "b.de/"})
    assert output.count("hreflang=") == 4
    assert kept in output
    assert 'href="b/" hreflang="EN"' not in output


def test_hostile_addresses_are_escaped() -> None:
    """An address cannot leave its attribute."""
    output = with_alternates(PAGE.format("", ""), {"en": '"><script>', "de": "d/"})
    assert "<script>" not in output


def test_a_template_without_a_head() -> None:
    """What is no whole page stays as it is."""
    assert with_alternates("<p>text</p>", {"en": "a/", "de": "b/"}) == "<p>text</p>"


@pytest.mark.parametrize(
    ("root", "body", "language", "new_root", "new_body"),
    [
        (' lang="en"', "", "de-AT", ' lang="de-AT"', ""),
        ("", "", "de", ' lang="de"', ""),
        (" lang=en class='no-js'", ' dir="ltr"', "de", " lang=\"de\" class='no-js'", ' dir="ltr"'),
        (' lang="en"', ' dir="ltr"', "ar", ' lang="ar" dir="rtl"', ' dir="rtl"'),
        (' lang="ar" dir="rtl"', "", "en", ' lang="en" dir="ltr"', ""),
        (' data-lang="x"', ' data-dir="x"', "fr", ' data-lang="x" lang="fr"', ' data-dir="x"'),
    ],
)
def test_language_and_direction(
    root: str, body: str, language: str, new_root: str, new_body: str
) -> None:
    """The root has the language; a direction is there where one is needed."""
    output = with_language(PAGE.format(root, body), language)
    assert output == PAGE.format(new_root, new_body)

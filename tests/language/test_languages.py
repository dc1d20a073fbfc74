"""Languages: their names, words and scripts."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date

import pytest
from drafts import draft, request
from golden_file import cases

from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.language.languages import LANGUAGES, find_language, language_name
from mkdocs_contentgen.writer.answers.markdown import read_markdown, to_html
from mkdocs_contentgen.writer.answers.parser import TIP
from mkdocs_contentgen.writer.sources.citations import sources_list
from mkdocs_contentgen.writer.sources.sources import Passage

CASES = cases("languages")

DAY = date(2026, 1, 2)


def test_the_table() -> None:
    """It has twenty languages, two scripts of Chinese, and all words of each."""
    assert len({tag.partition("-")[0] for tag in LANGUAGES}) == 20
    assert all(all(asdict(language).values()) for language in LANGUAGES.values())
    assert all(TIP.match(f"{language.tip}: look") for language in LANGUAGES.values())


@pytest.mark.parametrize(("tag", "name"), CASES["names"])
def test_names(tag: str, name: str) -> None:
    """Regions belong to their language, except where the script is another."""
    assert language_name(tag) == name


@pytest.mark.parametrize("tag", [*LANGUAGES, "pt-BR", "sw"])
def test_the_words_of_a_text(tag: str) -> None:
    """Byline, "Sources" and the label of a tip are in the language, and the root names it."""
    words = find_language(tag) or LANGUAGES["en"]
    tip = read_markdown("# T\n\nFirst.\n\nTip: look.\n\nLast.")
    blog = parse_article(to_html(tip, "blog", given="", day=DAY, language=tag))
    label = words.tip if find_language(tag) else "Tip"
    assert (blog.get("lang"), blog.findtext(".//strong")) == (tag, f"{label}:")
    after = sources_list([Passage("a.md", "A", "")], "", tag)
    report = to_html(
        read_markdown("# T\n\nLead."), "news", given="", day=DAY, after=after, language=tag
    )
    news = parse_article(report)
    byline = news.find(".//p[@class='byline']")
    assert byline is not None
    assert (byline.text or "").strip(" ·") == words.byline
    assert news.findtext(".//h2") == words.sources


@pytest.mark.parametrize(("tag", "text", "unusable"), CASES["the_script_of_a_text"])
def test_the_script_of_a_text(tag: str, text: str, unusable: bool) -> None:
    """It is that of the language, and no longer that of the topic."""
    found = draft(f"# T\n\n{text} {text}.", request(topic="Docs as code", language=tag))
    assert bool(found.problem) == unusable, found.problem

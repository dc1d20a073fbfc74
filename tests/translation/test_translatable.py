"""A translator gets and gives words; all else of a block stays, whatever is answered."""

from __future__ import annotations

import pytest
from golden_file import GOLDEN, cases

from mkdocs_contentgen.errors import EditError, UnsafeHTMLError
from mkdocs_contentgen.html.block import Block
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.translation.translatable import (
    has_words,
    read_translated,
    set_translated,
    to_translatable,
)

CASES = cases("translatable")
HOSTS = ["img.example"]


def block(html: str) -> Block:
    """Return the block that has this content."""
    return Document(f"<article><h1>T</h1><p>{html}</p></article>", HOSTS).blocks()[1]


@pytest.mark.parametrize(("html", "expected"), CASES["words"])
def test_the_words_of_a_block(html: str, expected: str) -> None:
    """What stays is a number, or stands as it is."""
    assert to_translatable(block(html)) == expected


@pytest.mark.parametrize(("html", "translation", "expected"), CASES["translations"])
def test_a_translation(html: str, translation: str, expected: str) -> None:
    """Its words stand in the elements of the original, which are wherever it has their numbers."""
    translated = block(html)
    set_translated(translated, translation)
    assert translated.html.replace(' rel="nofollow noopener noreferrer"', "") == expected


@pytest.mark.parametrize(("html", "translation", "problem"), CASES["refused"])
def test_an_answer_that_is_no_translation(html: str, translation: str, problem: str) -> None:
    """What has not exactly the parts of the original is refused, and the block stays as it was."""
    refused = block(html)
    before = refused.html
    with pytest.raises(EditError) as caught:
        set_translated(refused, translation)
    assert problem in str(caught.value)
    assert refused.html == before


@pytest.mark.parametrize(("html", "expected"), CASES["without_words"])
def test_blocks_with_words(html: str, expected: bool) -> None:
    """Figures, code, keys and formulas alone need no translation."""
    assert has_words(block(html)) is expected


@pytest.mark.parametrize("html", ["The sign ⟦ is rare.", "See https://part.invalid/2 and more."])
def test_a_block_that_nobody_can_translate(html: str) -> None:
    """Where the original has the placeholders of parts, they would be taken for parts."""
    with pytest.raises(EditError, match="which stands for something else here"):
        to_translatable(block(html))


def test_a_block_that_is_too_long() -> None:
    """A block of more characters than a service takes is not sent."""
    assert len(to_translatable(block("word " * 3999))) == 19_994
    with pytest.raises(EditError, match="more than 20,000 characters"):
        to_translatable(block("word " * 4001))


def test_a_block_with_too_many_links() -> None:
    """What no translation could be read of is not sent."""
    link = '<a href="https://a.example">a</a> '
    assert to_translatable(block(link * 500))
    with pytest.raises(EditError, match="more than 500 delimiters"):
        to_translatable(block(link * 501))


def test_a_translator_is_told_what_is_wrong() -> None:
    """Who has only the Markdown of both gets the same answer as who has the block."""
    original = to_translatable(block('See <a href="https://a.example">the guide</a>.'))
    assert read_translated("Siehe [das Heft](1).", original).get_text() == "Siehe das Heft."
    with pytest.raises(EditError, match="of the original is missing"):
        read_translated("Siehe das Heft.", original)


def test_characters_that_turn_the_direction() -> None:
    """They are left out, also as references, which are not cleaned with the text of an answer."""
    new = block("See it.")
    set_translated(new, "Siehe &#x202e;dort\u2066hin&#8297;.")
    assert new.html == "Siehe dorthin."


def articles() -> list[str]:
    """Return the golden articles of sandbox, writer and browser tests."""
    paths = sorted((GOLDEN / "writer").glob("*.html"))
    found = []
    for path in paths:
        html = path.read_text(encoding="utf-8")
        if "<article" in html:
            found.append(html)
    return found


def test_articles_come_back_as_they_were() -> None:
    """The words of each block of real articles are a translation of it that changes nothing."""
    number = 0
    for html in articles():
        try:
            document = Document(html, HOSTS)
        except UnsafeHTMLError:
            continue
        before = Document(document.to_lines(marks=False), HOSTS).to_lines()
        for found in document.blocks():
            if has_words(found) and not found.element.find("rt"):
                number += 1
                set_translated(found, to_translatable(found))
        after = Document(document.to_lines(marks=False), HOSTS).to_lines()
        assert after == before
    assert number > 150

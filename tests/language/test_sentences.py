"""Where sentences end."""

from __future__ import annotations

import re

import pytest
from golden_file import cases
from growth import LINEAR, growth

from mkdocs_contentgen.language.sentences import (
    SENTENCE_SIGNS,
    rough_end,
    sentence_ends,
    sentence_ranges,
)

CASES = cases("sentences")


def split(text: str, language: str = "") -> list[str]:
    """Return the sentences of a text."""
    return [sentence.of(text) for sentence in sentence_ranges(text, language)]


@pytest.mark.parametrize("marked", CASES["where_sentences_end"])
def test_where_sentences_end(marked: str) -> None:
    """Each `|` is where a sentence ends."""
    sentences = split(marked.replace("|", ""))
    assert [it.strip() for it in sentences] == [it.strip() for it in marked.split("|")]


@pytest.mark.parametrize("sign", SENTENCE_SIGNS)
@pytest.mark.parametrize("closing", ["", "”"])
def test_signs_of_all_scripts(sign: str, closing: str) -> None:
    """Each sign ends a sentence, roughly looked at, too, and closing marks belong to it."""
    text = f"Words{sign}{closing} Words"
    assert [part.strip() for part in split(text)] == [f"Words{sign}{closing}", "Words"]
    end = re.search(rough_end(), text)
    assert end
    assert text[: end.end()].strip() == f"Words{sign}{closing}"


@pytest.mark.parametrize(
    ("text", "colons", "first"),
    [
        ("Dr. Who came.", False, "Dr. "),
        ("Here it is: a text", False, "Here it is: a text"),
        ("Here it is: a text", True, "Here it is: "),
        ("以下は記事です：本文", True, "以下は記事です："),
        ("「はい。」と", False, "「はい。」"),
        ("**はい。** 次", False, "**はい。**"),
        ("はい。**次**", False, "はい。"),
        ("He said “no.” Then", False, "He said “no.” "),
        ("version 2.5 of", False, "version 2.5 of"),
    ],
)
def test_rough_ends(text: str, colons: bool, first: str) -> None:
    """A period is not judged, and emphasis that ends with a sentence belongs to it."""
    end = re.search(rough_end(colons=colons), text)
    assert text[: end.end() if end else len(text)] == first


def test_ordinals_are_german() -> None:
    """In a text of another language, a figure before a capital letter ends a sentence."""
    text = "Builds end by the 12. September is next. Es ist am 12. September."
    assert len(split(text, "en-GB")) == 4
    assert len(split(text, "de-AT")) == 2


@pytest.mark.parametrize(
    "part", [".", '."', ". ", "a.", "!?", "。", "。」", "؟", "1. ", ".[1]", "A. B. "]
)
def test_twice_the_text_takes_twice_the_time_to_split(part: str) -> None:
    """Whatever is repeated, each sign is read once."""
    assert growth(lambda text: list(sentence_ends(text)), lambda size: part * size, 10_000) < LINEAR

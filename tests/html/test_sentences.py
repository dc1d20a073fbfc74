"""Where sentences end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from golden_file import cases
from growth import LINEAR, growth

from mkdocs_contentgen.html.sentences import sentence_ends

CASES = cases("sentences")


def split(text: str, language: str = "") -> list[str]:
    """Return the sentences of a text."""
    ends = [0, *sentence_ends(text, language), len(text)]
    return [text[begin:end] for begin, end in pairwise(ends)]


@pytest.mark.parametrize("marked", CASES["where_sentences_end"])
def test_where_sentences_end(marked: str) -> None:
    """Each `|` is where a sentence ends."""
    sentences = split(marked.replace("|", ""))
    assert [it.strip() for it in sentences] == [it.strip() for it in marked.split("|")]


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

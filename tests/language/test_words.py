"""How the words of a text are counted, and its scripts."""

from __future__ import annotations

import pytest
from golden_file import cases

from mkdocs_contentgen.language.words import (
    count_scripts,
    count_words,
    plain_case,
    singular,
    split_words,
)

CASES = cases("words")


@pytest.mark.parametrize(("text", "words"), CASES["words"])
def test_words(text: str, words: int) -> None:
    """Vowel signs and accents are parts of words."""
    assert count_words(split_words(text)) == words


def test_scripts_are_counted() -> None:
    """A word counts as much as two Chinese characters, and kana are in the same script."""
    assert count_scripts("Docker 入门 5") == {"Latin": 2, "Chinese or Japanese": 2}
    assert count_scripts("サーバー") == {"Chinese or Japanese": 4}
    assert count_scripts("12 — 3") == {}


def test_singular_words() -> None:
    """A final `s` is that of a plural, but in short words."""
    assert [singular(word) for word in ("pools", "pool", "gas")] == ["pool", "pool", "gas"]


def test_words_are_compared_in_plain_case() -> None:
    """Words are alike whatever their case and their apostrophe."""
    assert plain_case("Don’t") == plain_case("don't")
